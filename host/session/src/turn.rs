//! What every step of a session is given besides its own state.

use tidegate_codec::Packet;

use crate::{Delivery, DropReason, Limits, Output, Time};

/// One input being worked on.
pub(crate) struct Turn<'a> {
    pub(crate) now: Time,
    pub(crate) limits: &'a Limits,
    pub(crate) out: &'a mut Vec<Output>,
}

impl Turn<'_> {
    pub(crate) fn send(&mut self, packet: Packet) {
        self.out.push(Output::Send(packet));
    }

    /// `delivery` is over.
    pub(crate) fn finish(&mut self, delivery: &Delivery) {
        self.out.extend(delivery.log_entry.map(Output::Finished));
    }

    /// `delivery` will not reach the client.
    pub(crate) fn drop(&mut self, delivery: &Delivery, reason: DropReason) {
        let qos = delivery.qos;
        self.out.push(Output::Dropped { qos, reason });
        self.finish(delivery);
    }
}
