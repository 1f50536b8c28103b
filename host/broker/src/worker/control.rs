//! What comes from other threads, and what comes with time.

use tidegate_session::{Input, Time};

use super::clients::ClientKey;
use super::mailbox::Letter;
use super::rings::Parcel;
use super::shares::Routed;
use super::tick::{Timer, Worker};
use crate::telemetry::WorkerSnapshot;

impl Worker {
    /// Opens every letter there is.
    pub(super) fn open_letters(&mut self) {
        while let Ok(letter) = self.letters.try_recv() {
            match letter {
                Letter::Receipts(receipts) => self.take_receipts(&receipts),
                Letter::Room => self.pipeline.recheck(),
                Letter::Install { rule, guest, done } => {
                    if let Some(link) = self.pipeline.links.get_mut(rule) {
                        link.guest = Some(*guest);
                    }
                    self.pipeline.recheck();
                    // Nobody listens any more if the request was given up; the guest serves all the same.
                    let _ = done.send(());
                }
                Letter::Snapshot(reply) => {
                    let _ = reply.send(self.snapshot());
                }
                Letter::Drain => self.start_drain(),
            }
        }
    }

    /// Takes in what other workers have sent.
    pub(super) fn receive_parcels(&mut self) {
        while let Some(parcels) = self.rings.receive() {
            for parcel in parcels {
                match parcel {
                    Parcel::Forward {
                        message,
                        publisher,
                        received,
                    } => {
                        self.route_here(&message, publisher.as_ref(), received);
                    }
                    Parcel::Adopt(adoption) => self.adopt(*adoption),
                    Parcel::Keep(keep) => self.keep(*keep),
                    Parcel::Kept { key, refused } => self.kept(key, refused),
                    Parcel::Replay(request) => self.retained.ask(*request),
                    Parcel::Replayed(chunk) => self.replay(*chunk),
                    Parcel::Join(join) => self.join(*join),
                    Parcel::Joined { ticket } => self.joined(ticket),
                    Parcel::Leave { filter, member } => self.leave(filter, member),
                    Parcel::Share(share) => {
                        let shared = Routed {
                            message: &share.message,
                            publisher: share.publisher.as_ref(),
                            received: share.received,
                        };
                        self.deliver_shared(&share.filter, share.member.client, shared);
                    }
                    Parcel::Reshare(share) => self.share_again(&share),
                    Parcel::AskTally => self.tell_tally(),
                    Parcel::Tally(tally) => self.count_tally(tally),
                }
            }
        }
    }

    fn snapshot(&self) -> WorkerSnapshot {
        let (pending, held) = self.pipeline.waiting();
        WorkerSnapshot {
            counters: self.counters,
            connections: self.net.connections.len(),
            sessions: self.clients.len(),
            subscriptions: self.routes.len() + self.members.len(),
            delayed: self.delayed.len(),
            pending,
            held,
            retained: self.retained.store.len(),
            retained_bytes: self.retained.store.bytes(),
            rules: self.pipeline.links.iter().map(|link| link.counts).collect(),
        }
    }

    /// Looks at every timer that is due.
    pub(super) fn fire_timers(&mut self) {
        let mut due = Vec::new();
        self.timers.expire(self.now, &mut due);
        for timer in due {
            match timer {
                Timer::Client(key, deadline) => {
                    if let Some(client) = self.clients.get_mut(key)
                        && client.armed == Some(deadline)
                    {
                        client.armed = None;
                        self.input(key, Input::Tick);
                        self.rearm(key);
                    }
                }
                Timer::Delayed => self.release_delayed(),
                Timer::Sys => self.begin_sys(),
                Timer::Connection(usize::MAX, _) => self.retry_accept(),
                Timer::Connection(key, serial) => self.expire_connection(key, serial),
            }
        }
    }

    /// Makes sure the wheel looks at the session no later than it wants to be looked at. Later is left alone: packets
    /// move keep-alives all the time, and the wheel asks again when it fires.
    pub(super) fn rearm(&mut self, key: ClientKey) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let Some(deadline) = client.session.deadline() else {
            return;
        };
        if client.armed.is_some_and(|armed: Time| armed <= deadline) {
            return;
        }
        client.armed = Some(deadline);
        self.timers.arm(deadline, Timer::Client(key, deadline));
    }
}
