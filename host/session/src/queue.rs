//! Messages that wait for the client: it is offline, or its in-flight window is full.
//!
//! Invariant: never more messages or bytes than the limits; room is made by dropping the oldest.

use std::collections::VecDeque;

use crate::turn::Turn;
use crate::{Delivery, DropReason, Limits};

/// Deliveries in the order they came, and their size.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    deliveries: VecDeque<Delivery>,
    bytes: u64,
}

impl Queue {
    pub(crate) fn is_empty(&self) -> bool {
        self.deliveries.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.deliveries.len()
    }

    /// Appends `delivery`, dropping the oldest until it fits; itself if it never can.
    pub(crate) fn push(&mut self, delivery: Delivery, turn: &mut Turn<'_>) {
        let size = size(&delivery);
        while !self.fits(size, turn.limits) {
            match self.pop() {
                Some(oldest) => turn.drop(&oldest, DropReason::QueueFull),
                None => return turn.drop(&delivery, DropReason::QueueFull),
            }
        }
        self.bytes += size;
        self.deliveries.push_back(delivery);
    }

    /// Removes the oldest.
    pub(crate) fn pop(&mut self) -> Option<Delivery> {
        let delivery = self.deliveries.pop_front()?;
        self.bytes -= size(&delivery);
        if self.deliveries.is_empty() {
            self.deliveries.shrink_to(KEPT_CAPACITY);
        }
        Some(delivery)
    }

    fn fits(&self, size: u64, limits: &Limits) -> bool {
        let messages = u64::try_from(self.deliveries.len()).unwrap_or(u64::MAX);
        messages < u64::from(limits.queued_messages_max) && self.bytes + size <= limits.queued_bytes_max
    }
}

/// Places an empty queue keeps, so that a client which lags a little does not allocate each time, and one that was
/// away for long does not hold the memory of its backlog.
const KEPT_CAPACITY: usize = 8;

fn size(delivery: &Delivery) -> u64 {
    let message = &delivery.message;
    let bytes = message.topic.as_str().len() + message.payload.len() + message.properties.block().len();
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
