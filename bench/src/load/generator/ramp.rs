//! Connecting: who is due, who got through, who is gone. And keep-alive, which keeps them connected.

use mio::{Interest, Token};

use super::Generator;
use crate::clock::{self, SECOND};
use crate::load::client::{Client, Stage};
use crate::load::link::Link;
use crate::load::phase::Phase;
use crate::wire::scan::kind;

impl Generator {
    /// When the next client is to connect; `None` when none is, or too many are unanswered.
    pub(super) fn next_connect(&self) -> Option<u64> {
        if self.phase != Phase::Connect || self.unanswered >= self.plan.connect.unanswered_max {
            return None;
        }
        let client = self.clients.get(self.next_client)?;
        match u64::from(self.plan.connect.per_second) {
            0 => Some(0),
            per_second => Some(self.ramp_start + u64::from(client.seat.order) * SECOND / per_second),
        }
    }

    /// Starts the connections that are due at `now`.
    pub(super) fn connect_due(&mut self, now: u64) {
        while let Some(due) = self.next_connect().filter(|due| *due <= now) {
            let at = self.next_client;
            self.next_client += 1;
            self.connect(at, due);
        }
    }

    fn connect(&mut self, at: usize, due: u64) {
        let Some(client) = self.clients.get_mut(at) else {
            return;
        };
        // Without a rate there is no schedule: the connection was meant for when it was made.
        client.seat.intended = if due == 0 { clock::now() } else { due };
        let sources = &self.plan.connect.sources;
        let turn = usize::try_from(client.seat.order)
            .unwrap_or(0)
            .checked_rem(sources.len());
        let source = turn.and_then(|turn| sources.get(turn)).copied();
        let linked = Link::connect(self.plan.target, source).and_then(|mut link| {
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll
                .registry()
                .register(&mut link.stream, Token(at), interest)?;
            Ok(link)
        });
        match linked {
            Ok(link) => {
                client.link = Some(link);
                client.seat.stage = Stage::Connecting;
                self.unanswered += 1;
            }
            Err(_) => {
                client.seat.stage = Stage::Gone;
                self.tally.counters.failed += 1;
            }
        }
    }

    /// Sends CONNECT once the kernel has connected.
    pub(super) fn greet(&mut self, at: usize) {
        let Some(Client {
            link: Some(link),
            seat,
        }) = self.clients.get_mut(at)
        else {
            return;
        };
        match link.is_connected() {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotConnected => return,
            Err(_) => return self.lose(at),
        }
        seat.stage = Stage::Greeting;
        let connect = seat
            .opening
            .as_mut()
            .map(|opening| std::mem::take(&mut opening.connect));
        self.send(at, &connect.unwrap_or_default());
    }

    /// Drops a client's socket and counts it as failed or disconnected.
    pub(super) fn lose(&mut self, at: usize) {
        let Some(client) = self.clients.get_mut(at) else {
            return;
        };
        let Some(mut link) = client.link.take() else {
            return;
        };
        // Closing removes it from the poll anyway; what counts is that it is gone.
        let _ = self.poll.registry().deregister(&mut link.stream);
        link.close_at_once();
        match client.seat.stage {
            Stage::Ready if self.phase != Phase::Close => self.tally.counters.disconnected += 1,
            Stage::Ready => {}
            _ => {
                self.unanswered = self.unanswered.saturating_sub(1);
                self.tally.counters.failed += 1;
            }
        }
        client.seat.stage = Stage::Gone;
    }

    /// Counts everyone who is still connecting as failed: publishing begins without them.
    pub(super) fn give_up_connecting(&mut self) {
        for at in 0..self.clients.len() {
            if self
                .clients
                .get(at)
                .is_some_and(|client| client.seat.is_unanswered())
            {
                self.lose(at);
            }
        }
        let never_tried = self.clients.len() - self.next_client;
        self.tally.counters.failed += u64::try_from(never_tried).unwrap_or(u64::MAX);
        self.next_client = self.clients.len();
    }

    /// Looks at a share of the clients every second, all of them within a quarter of the keep-alive, and pings for
    /// those that were silent for half of it [MQTT-3.1.2-20].
    pub(super) fn keep_alive(&mut self, now: u64) {
        let keep_alive = u64::from(self.plan.connect.keep_alive);
        if keep_alive == 0 {
            self.next_sweep = u64::MAX;
            return;
        }
        self.next_sweep = now + SECOND.min(keep_alive * SECOND / 8);
        let quarter = usize::try_from(keep_alive / 4).unwrap_or(1).max(1);
        for _ in 0..self.clients.len().div_ceil(quarter) {
            self.swept = (self.swept + 1) % self.clients.len().max(1);
            let is_silent = |client: &Client| {
                client.seat.stage == Stage::Ready
                    && now.saturating_sub(client.seat.spoke) > keep_alive * SECOND / 2
            };
            if self.clients.get(self.swept).is_some_and(is_silent) {
                self.send(self.swept, &[kind::PINGREQ << 4, 0]);
            }
        }
    }
}
