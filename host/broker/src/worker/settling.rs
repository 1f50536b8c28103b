//! Runs a tick's messages through the pipeline and settles them: at once, or when their receipts come.

use tidegate_codec::{Message, QoS, ReasonCode};
use tidegate_session::{Input, Settlement};
use tidegate_sinks::Receipt;

use super::clients::{Backlog, ClientKey};
use super::tick::Worker;
use crate::pipeline::{Admitted, Arrival, Fate, Now, Origin, Settled};

impl Worker {
    /// Admits what has arrived. Settling one message can bring new ones (a will, a QoS 2 turn): they go in the next
    /// round of the same tick, so that nothing is left behind when the worker goes to sleep.
    pub(super) fn admit(&mut self) {
        while !self.arrivals.is_empty() || self.pipeline.is_due() {
            let mut arrivals = std::mem::take(&mut self.arrivals);
            let mut admitted = std::mem::take(&mut self.admitted);
            let mut waiting = Vec::new();
            let now = Now {
                elapsed: self.clock.elapsed(),
                unix_ms: self.unix_ms,
            };
            self.pipeline
                .admit(&mut arrivals, now, &mut admitted, &mut |arrival, waits| {
                    waiting.extend(
                        arrival
                            .origin
                            .map(|origin| (origin.client, arrival.cost(), waits)),
                    );
                });
            // The list keeps its memory; what a settled message brought in meanwhile goes behind.
            arrivals.append(&mut self.arrivals);
            self.arrivals = arrivals;
            for (client, cost, waits) in waiting {
                match waits {
                    true => self.charge(client, cost),
                    false => self.discharge(client, cost),
                }
            }
            for message in admitted.drain(..) {
                self.conclude(message);
            }
            self.admitted = admitted;
        }
    }

    /// Routes a message and settles it, or leaves that to its last receipt.
    fn conclude(&mut self, admitted: Admitted) {
        let Admitted {
            arrival,
            fate,
            pending,
        } = admitted;
        if arrival.message.retain && fate == Fate::Route {
            return self.conclude_retained(arrival, pending);
        }
        let is_exactly_once = arrival.message.qos == QoS::ExactlyOnce
            && arrival.origin.is_some_and(|origin| origin.slot.is_some());
        // QoS 2 is routed when its slot leaves the window, so that a refusal in between has routed nothing.
        let later = match fate {
            Fate::Route if is_exactly_once => Some(arrival.message),
            Fate::Route => {
                self.route_arrival(&arrival);
                None
            }
            Fate::Ended | Fate::Refused(_) => None,
        };
        match (pending, arrival.origin) {
            (Some(key), _) => self.pipeline.conclude(key, later, fate),
            (None, Some(origin)) => {
                let outcome = match fate {
                    Fate::Refused(reason) => Settlement::Refused(reason),
                    Fate::Route | Fate::Ended => Settlement::Accepted { route: later },
                };
                self.settle(origin, outcome);
            }
            (None, None) => {}
        }
    }

    pub(super) fn route_arrival(&mut self, arrival: &Arrival) {
        self.route(&arrival.message, arrival.publisher.as_deref(), arrival.received);
    }

    /// Takes receipts in; the last one of a message settles it.
    pub(super) fn take_receipts(&mut self, receipts: &[Receipt]) {
        for receipt in receipts {
            if let Some(Settled { origin, outcome }) = self.pipeline.receive(receipt) {
                match outcome {
                    // A QoS 2 message is retained once nothing can refuse it any more.
                    Ok(Some(message)) if message.retain => {
                        self.retain_exactly_once(origin, &message, self.now);
                    }
                    outcome => self.settle_with(origin, outcome),
                }
            }
        }
    }

    /// Settles a message whose answers are all in.
    pub(super) fn settle_with(&mut self, origin: Origin, outcome: Result<Option<Message>, ReasonCode>) {
        let outcome = match outcome {
            Ok(route) => Settlement::Accepted { route },
            Err(reason) => Settlement::Refused(reason),
        };
        self.settle(origin, outcome);
    }

    pub(super) fn settle(&mut self, origin: Origin, outcome: Settlement) {
        let Some(slot) = origin.slot else { return };
        self.input(origin.client, Input::Settled { slot, outcome });
        if self
            .clients
            .get(origin.client)
            .is_some_and(|client| client.backlog.is_some())
        {
            self.unpark(origin.client);
        }
    }

    /// More of a client's messages wait: beyond its bound its socket is left unread, and TCP pushes back.
    pub(super) fn charge(&mut self, key: ClientKey, cost: usize) {
        let park_bytes_max = self.settings.park_bytes_max;
        // A backlog belongs to a connection: one begun without would leave the next one unbounded.
        let Some(client) = self
            .clients
            .get_mut(key)
            .filter(|client| client.connection.is_some())
        else {
            return;
        };
        let backlog: &mut Backlog = client.backlog.get_or_insert_default();
        backlog.bytes = backlog.bytes.saturating_add(cost);
        if backlog.bytes <= park_bytes_max || backlog.paused {
            return;
        }
        backlog.paused = true;
        if let Some(connection) = client
            .connection
            .and_then(|connection| self.net.get_mut(connection))
        {
            connection.is_paused = true;
            self.input(key, Input::Reading(false));
        }
    }

    /// Fewer of a client's messages wait: within its bound its socket is read again.
    pub(super) fn discharge(&mut self, key: ClientKey, cost: usize) {
        let park_bytes_max = self.settings.park_bytes_max;
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let Some(backlog) = &mut client.backlog else {
            return;
        };
        backlog.bytes = backlog.bytes.saturating_sub(cost);
        let resumes = backlog.paused && backlog.bytes <= park_bytes_max;
        backlog.paused &= !resumes;
        if backlog.bytes == 0 && backlog.parked.is_empty() {
            client.backlog = None;
        }
        if !resumes {
            return;
        }
        if let Some(key) = client.connection
            && let Some(connection) = self.net.get_mut(key)
        {
            connection.is_paused = false;
            self.net.read_again(key);
        }
        self.input(key, Input::Reading(true));
    }
}
