//! The session of one client: dispatch of inputs to the files that know them.

use std::sync::Arc;

use tidegate_codec::{ClientId, Connect, Packet, ReasonCode, Subscription, Version};

use crate::{Input, Limits, Output, Time};

/// What one client and the server remember about each other, with or without a link.
#[derive(Debug)]
pub struct Session {
    client_id: ClientId,
    limits: Arc<Limits>,
    epoch: u32,
}

impl Session {
    /// A session that knows nothing yet; its first input is [`Input::Connect`].
    pub fn new(client_id: ClientId, limits: Arc<Limits>) -> Self {
        Self {
            client_id,
            limits,
            epoch: 0,
        }
    }

    /// Takes one input at `now` and appends what is to be done to `out`. `now` never goes back.
    pub fn on(&mut self, _input: Input, _now: Time, _out: &mut Vec<Output>) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// When to give [`Input::Tick`] at the latest; may move with every input, mostly to later.
    pub fn deadline(&self) -> Option<Time> {
        None
    }

    /// Whether there is a link.
    pub fn is_connected(&self) -> bool {
        false
    }

    /// Version of the current or last link; `None` before the first.
    pub fn version(&self) -> Option<Version> {
        None
    }

    /// Counts the links: one more with every [`Input::Connect`].
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whose session it is.
    pub fn client_id(&self) -> &ClientId {
        &self.client_id
    }

    /// Whether one more PUBLISH of QoS 1 or 2 is within the Receive Maximum. While it is not, the PUBLISHes of a 3.1.1
    /// link are to be parked; version 5 is disconnected by the next one [MQTT-3.3.4-9].
    pub fn has_room(&self) -> bool {
        self.limits.receive_maximum.get() > 0
    }

    /// What the client is subscribed to, in the order of subscribing, with subscription identifiers.
    pub fn subscriptions(&self) -> impl Iterator<Item = (&Subscription, Option<u32>)> {
        std::iter::empty()
    }
}

/// What of a CONNECT needs no credentials to be refused: run it before taking over an earlier link.
pub fn check(_connect: &Connect, _limits: &Limits) -> Result<(), ReasonCode> {
    Ok(())
}

/// The CONNACK that refuses `connect`; close the link after it. Reason codes that 3.1.1 lacks are mapped by the
/// encoder.
pub fn refusal(_connect: &Connect, _reason: ReasonCode) -> Packet {
    Packet::PingResp
}
