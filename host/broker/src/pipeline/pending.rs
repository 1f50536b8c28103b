//! Messages whose acknowledgement waits for receipts.
//!
//! Invariant: a message settles exactly when the last of its gated records has ended.

use slab::Slab;
use tidegate_codec::{Message, ReasonCode};
use tidegate_sinks::{Outcome, Receipt};

use super::Origin;

struct Pending {
    origin: Origin,
    receipts: u32,
    refused: Option<ReasonCode>,
    /// QoS 2: what to route once it settles.
    route: Option<Message>,
}

/// A message whose receipts are all in.
#[derive(Debug)]
pub struct Settled {
    /// Who waits.
    pub origin: Origin,
    /// `Err`: a sink refused it and the publisher is to be told.
    pub outcome: Result<Option<Message>, ReasonCode>,
}

/// The waiting messages of one worker, by the number in their tokens.
#[derive(Default)]
pub struct PendingMessages(Slab<Pending>);

impl PendingMessages {
    /// Messages that wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One more record for the message of `key`, or the first one for a new key.
    pub fn expect_receipt(&mut self, key: &mut Option<u64>, origin: Origin) -> u64 {
        let found = key.and_then(|key| Some((key, self.0.get_mut(usize::try_from(key).ok()?)?)));
        if let Some((key, pending)) = found {
            pending.receipts += 1;
            return key;
        }
        let new = self.0.insert(Pending {
            origin,
            receipts: 1,
            refused: None,
            route: None,
        }) as u64;
        *key = Some(new);
        new
    }

    /// Keeps what to route, or whom to refuse, until the receipts are in.
    pub fn conclude(&mut self, key: u64, route: Option<Message>, refused: Option<ReasonCode>) {
        let found = usize::try_from(key).ok().and_then(|index| self.0.get_mut(index));
        if let Some(pending) = found {
            pending.route = route;
            pending.refused = pending.refused.or(refused);
        }
    }

    /// Takes a receipt in; `Some` when it was the message's last.
    pub fn receive(&mut self, receipt: &Receipt) -> Option<Settled> {
        let refused = match receipt.outcome {
            // 0x83: valid MQTT, but the receiver of the data does not take it (3.4.2.1).
            Outcome::Refused(_) => Some(ReasonCode::ImplementationSpecificError),
            _ => None,
        };
        self.count_down(receipt.token.message, refused)
    }

    /// One of the answers that the message of `key` waits for is in; `Some` when it was the last.
    pub fn count_down(&mut self, key: u64, refused: Option<ReasonCode>) -> Option<Settled> {
        let index = usize::try_from(key).ok()?;
        let pending = self.0.get_mut(index)?;
        pending.receipts -= 1;
        pending.refused = refused.or(pending.refused);
        if pending.receipts > 0 {
            return None;
        }
        let Pending {
            origin,
            refused,
            route,
            ..
        } = self.0.remove(index);
        Some(Settled {
            origin,
            outcome: refused.map_or(Ok(route), Err),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::ClientKey;
    use tidegate_sinks::Token;

    const ORIGIN: Origin = Origin {
        client: ClientKey {
            index: 0,
            generation: 1,
        },
        slot: None,
    };

    fn receipt(message: u64, outcome: Outcome) -> Receipt {
        Receipt {
            token: Token { worker: 0, message },
            outcome,
        }
    }

    #[test]
    fn settles_with_the_last_receipt_only() {
        let mut messages = PendingMessages::default();
        let mut key = None;
        let first = messages.expect_receipt(&mut key, ORIGIN);
        assert_eq!(messages.expect_receipt(&mut key, ORIGIN), first);
        assert!(messages.receive(&receipt(first, Outcome::Stored)).is_none());
        let settled = messages
            .receive(&receipt(first, Outcome::DeadLettered("bad".into())))
            .unwrap();
        assert_eq!(settled.origin, ORIGIN);
        assert!(settled.outcome.is_ok());
        assert_eq!(messages.len(), 0);
        assert!(
            messages.receive(&receipt(first, Outcome::Stored)).is_none(),
            "nobody waits any more"
        );
    }

    #[test]
    fn one_refused_record_refuses_the_message() {
        let mut messages = PendingMessages::default();
        let mut key = None;
        let first = messages.expect_receipt(&mut key, ORIGIN);
        messages.expect_receipt(&mut key, ORIGIN);
        assert!(
            messages
                .receive(&receipt(first, Outcome::Refused("no".into())))
                .is_none()
        );
        let settled = messages.receive(&receipt(first, Outcome::Stored)).unwrap();
        assert_eq!(settled.outcome, Err(ReasonCode::ImplementationSpecificError));
    }
}
