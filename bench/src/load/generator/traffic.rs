//! Reading and publishing: what happens for every message.

use tidegate_codec::QoS;

use super::Generator;
use crate::clock;
use crate::load::client::{Client, Role, Seat, Stage};
use crate::load::phase::Phase;
use crate::load::plan::Pace;
use crate::load::subscriber::Turn;
use crate::stream::Received;

impl Generator {
    /// Reads a client's socket once, takes in all packets, and writes what they call for at once.
    pub(super) fn read(&mut self, at: usize) {
        let Some(Client {
            link: Some(link),
            seat,
        }) = self.clients.get_mut(at)
        else {
            return;
        };
        let count = match link.receive(&mut self.buffer) {
            Ok(Received::Bytes { count, more }) => {
                if more {
                    self.again.push(at);
                }
                count
            }
            Ok(Received::Nothing) => return,
            Ok(Received::End) | Err(_) => return self.lose(at),
        };
        let now = clock::now();
        self.out.clear();
        let (tally, out, version) = (&mut self.tally, &mut self.out, self.plan.version);
        let was_unanswered = seat.is_unanswered();
        let read = link.frames(self.buffer.get(..count).unwrap_or_default(), |frame| {
            seat.on_frame(&frame, version, &mut Turn { now, tally, out });
        });
        if read.is_err() {
            self.tally.counters.malformed += 1;
        }
        if read.is_err() || seat.stage == Stage::Gone {
            // How it is counted depends on how far it had come before this read.
            seat.stage = if was_unanswered {
                Stage::Greeting
            } else {
                Stage::Ready
            };
            return self.lose(at);
        }
        if was_unanswered && !seat.is_unanswered() {
            self.unanswered -= 1;
        }
        if link.is_clear() {
            Self::feed(
                seat,
                &self.plan.publish.pace,
                (self.phase, now, &self.schedule),
                &mut self.out,
            );
        }
        if !self.out.is_empty() {
            seat.spoke = now;
            if link.send(&self.out).is_err() {
                self.lose(at);
            }
        }
    }

    /// Writes what was kept back, and publishes again when all of it went.
    pub(super) fn on_writable(&mut self, at: usize) {
        let Some(Client {
            link: Some(link),
            seat,
        }) = self.clients.get_mut(at)
        else {
            return;
        };
        if seat.stage == Stage::Connecting {
            return self.greet(at);
        }
        if link.is_clear() {
            return;
        }
        match link.flush() {
            Err(_) => self.lose(at),
            Ok(()) if link.is_clear() => self.publish(at),
            Ok(()) => {}
        }
    }

    /// When the next message is due, if publishing runs on a schedule.
    pub(super) fn next_publish(&self) -> Option<u64> {
        if self.phase != Phase::Publish || self.plan.publish.pace == Pace::Saturated {
            return None;
        }
        let (place, sequence) = self.schedule.next()?;
        match &self.clients.get(self.publishers_from + place)?.seat.role {
            Role::Publisher(publisher) => Some(self.schedule.due(publisher.index, sequence)),
            Role::Subscriber(_) => None,
        }
    }

    /// Sends what is due at `now`, and one batch of everyone who waits for nothing.
    pub(super) fn publish_due(&mut self, now: u64) {
        while self.next_publish().is_some_and(|due| due <= now) {
            let Some((place, _)) = self.schedule.next() else {
                break;
            };
            self.schedule.served += 1;
            let at = self.publishers_from + place;
            if let Some(Client { seat, .. }) = self.clients.get_mut(at)
                && let Role::Publisher(publisher) = &mut seat.role
                && seat.stage == Stage::Ready
            {
                publisher.due += 1;
                self.publish(at);
            }
        }
        for at in std::mem::take(&mut self.writers) {
            if let Some(client) = self.clients.get_mut(at) {
                client.seat.is_writing = false;
            }
            self.publish(at);
        }
    }

    /// Sets every publisher going.
    pub(super) fn start_publishing(&mut self) {
        if self.plan.publish.pace == Pace::Saturated {
            for at in self.publishers_from..self.clients.len() {
                self.publish(at);
            }
        }
    }

    /// Publishes whatever a client may publish now, unless earlier bytes still wait.
    pub(super) fn publish(&mut self, at: usize) {
        let now = clock::now();
        let Some(Client {
            link: Some(link),
            seat,
        }) = self.clients.get_mut(at)
        else {
            return;
        };
        if !link.is_clear() {
            return;
        }
        self.out.clear();
        let is_free = self.phase == Phase::Publish
            && self.plan.publish.pace == Pace::Saturated
            && self.plan.publish.qos == QoS::AtMostOnce;
        match (&mut seat.role, is_free && seat.stage == Stage::Ready) {
            (Role::Publisher(publisher), true) => publisher.saturate(now, &mut self.out),
            _ => Self::feed(
                seat,
                &self.plan.publish.pace,
                (self.phase, now, &self.schedule),
                &mut self.out,
            ),
        }
        if self.out.is_empty() {
            return;
        }
        seat.spoke = now;
        match link.send(&self.out) {
            Err(_) => self.lose(at),
            Ok(()) if is_free && link.is_clear() && !seat.is_writing => {
                seat.is_writing = true;
                self.writers.push(at);
            }
            Ok(()) => {}
        }
    }

    /// Appends what acknowledgements have made room for.
    #[inline]
    fn feed(
        seat: &mut Seat,
        pace: &Pace,
        (phase, now, schedule): (Phase, u64, &super::Schedule),
        out: &mut Vec<u8>,
    ) {
        let Role::Publisher(publisher) = &mut seat.role else {
            return;
        };
        if seat.stage != Stage::Ready {
            return;
        }
        let was_behind = publisher.is_behind();
        match (pace, phase) {
            (Pace::Saturated, Phase::Publish) if !publisher.is_unacknowledged() => {
                publisher.saturate(now, out);
            }
            (Pace::Every(_), Phase::Publish | Phase::Drain) => publisher.catch_up(schedule, out),
            _ => {}
        }
        if phase == Phase::Drain && was_behind && !publisher.is_behind() {
            publisher.ping_behind_the_last(out);
        }
    }

    /// Ends the schedule; whoever has sent everything asks whether it was read.
    pub(super) fn drain(&mut self) {
        for at in self.publishers_from..self.clients.len() {
            self.out.clear();
            if let Some(Client { seat, .. }) = self.clients.get_mut(at)
                && let Role::Publisher(publisher) = &mut seat.role
                && seat.stage == Stage::Ready
                && !publisher.is_behind()
            {
                publisher.ping_behind_the_last(&mut self.out);
                let ping = std::mem::take(&mut self.out);
                self.send(at, &ping);
                self.out = ping;
            }
        }
    }

    /// Sends `bytes` on a client's socket, if it has one.
    pub(super) fn send(&mut self, at: usize, bytes: &[u8]) {
        let Some(Client {
            link: Some(link),
            seat,
        }) = self.clients.get_mut(at)
        else {
            return;
        };
        seat.spoke = clock::now();
        if link.send(bytes).is_err() {
            self.lose(at);
        }
    }
}
