//! The session of one client: dispatch of inputs to the files that know them.
//!
//! Invariant: an idle session is small, because millions of them are held: what only some clients use is allocated
//! when they first use it.

use std::sync::Arc;

use tidegate_codec::{ClientId, Packet, ReasonCode, TopicFilter, Version};

use crate::expiry::SessionExpiry;
use crate::inbound::Inbound;
use crate::link::{Link, Peer};
use crate::outbound::Outbound;
use crate::subscriptions::{Granted, Subscriptions};
use crate::turn::Turn;
use crate::will::PendingWill;
use crate::{Input, Limits, Output, Time, subscribe};

/// What one client and the server remember about each other, with or without a link.
#[derive(Debug)]
pub struct Session {
    pub(crate) client_id: ClientId,
    pub(crate) limits: Arc<Limits>,
    pub(crate) phase: Phase,
    pub(crate) expiry: SessionExpiry,
    pub(crate) epoch: u32,
    /// Slots given so far, so that a new window continues where the last one ended.
    pub(crate) slots: u32,
    pub(crate) will: Option<Box<PendingWill>>,
    pub(crate) inbound: Option<Box<Inbound>>,
    pub(crate) outbound: Option<Box<Outbound>>,
    pub(crate) subscriptions: Subscriptions,
}

/// Whether there is a link, and whether there is state without one.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Nothing to remember.
    Fresh,
    /// A link is open.
    Linked(Link),
    /// The client is away; the session ends at `ends`, or never.
    Kept { ends: Option<Time> },
}

impl Session {
    /// A session that knows nothing yet; its first input is [`Input::Connect`].
    pub fn new(client_id: ClientId, limits: Arc<Limits>) -> Self {
        Self {
            client_id,
            limits,
            phase: Phase::Fresh,
            expiry: SessionExpiry::WITH_LINK,
            epoch: 0,
            slots: 0,
            will: None,
            inbound: None,
            outbound: None,
            subscriptions: Subscriptions::default(),
        }
    }

    /// Takes one input at `now` and appends what is to be done to `out`. `now` never goes back.
    pub fn on(&mut self, input: Input, now: Time, out: &mut Vec<Output>) {
        match input {
            Input::Packet(packet) => {
                if let Err(reason) = self.packet(packet, now, out) {
                    self.fault(reason, now, out);
                }
            }
            Input::Settled { slot, outcome } => self.settled(slot, outcome, out),
            Input::Deliver(delivery) => self.deliver(delivery, now, out),
            Input::Subscribed {
                epoch,
                request,
                reasons,
            } => self.subscribed(epoch, &request, reasons, out),
            Input::Unsubscribed {
                epoch,
                request,
                reasons,
            } => self.unsubscribed(epoch, &request, reasons, out),
            Input::Connect(connect) => self.connect(&connect, now, out),
            Input::Fault(reason) => self.fault(reason, now, out),
            Input::Lost => self.lost(now, out),
            Input::TakenOver => self.taken_over(now, out),
            Input::Shutdown => self.fault(ReasonCode::ServerShuttingDown, now, out),
            Input::Reading(reading) => {
                if let Phase::Linked(link) = &mut self.phase {
                    link.keep_alive.reading(reading, now);
                }
            }
            Input::Tick => self.tick(now, out),
        }
    }

    /// When to give [`Input::Tick`] at the latest; may move with every input, mostly to later.
    pub fn deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Fresh => None,
            Phase::Linked(link) => link.keep_alive.deadline(),
            Phase::Kept { ends } => {
                let will = self.will.as_ref().and_then(|will| will.due());
                will.into_iter().chain(*ends).min()
            }
        }
    }

    /// Whether there is a link.
    pub fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Linked(_))
    }

    /// Version of the current link.
    pub fn version(&self) -> Option<Version> {
        self.phase.peer().map(|peer| peer.version)
    }

    /// Counts the links: one more with every [`Input::Connect`].
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Session Expiry Interval in seconds: 0 ends with the link, 0xFFFFFFFF does not expire.
    pub fn expiry_seconds(&self) -> u32 {
        self.expiry.0
    }

    /// Whose session it is.
    pub fn client_id(&self) -> &ClientId {
        &self.client_id
    }

    /// Whether one more PUBLISH of QoS 1 or 2 is within the Receive Maximum. While it is not, the PUBLISHes of a 3.1.1
    /// link are to be parked; version 5 is disconnected by the next one [MQTT-3.3.4-7].
    pub fn has_room(&self) -> bool {
        self.inbound_len() < usize::from(self.limits.receive_maximum.get())
    }

    /// Inbound QoS 1 and 2 messages that are not completed.
    pub fn inbound_len(&self) -> usize {
        self.inbound.as_ref().map_or(0, |inbound| inbound.len())
    }

    /// Messages waiting for the client, and messages in flight to it.
    pub fn outbound_lens(&self) -> (usize, usize) {
        self.outbound.as_ref().map_or((0, 0), |outbound| outbound.lens())
    }

    /// What the client is subscribed to, in no particular order.
    pub fn subscriptions(&self) -> impl Iterator<Item = (&TopicFilter, Granted)> {
        self.subscriptions.granted()
    }

    /// A packet of the current link; the error is the reason to close it.
    fn packet(&mut self, packet: Packet, now: Time, out: &mut Vec<Output>) -> Result<(), ReasonCode> {
        let Phase::Linked(link) = &mut self.phase else {
            return Ok(());
        };
        link.keep_alive.heard(now);
        let peer = link.peer;
        let mut turn = Turn {
            now,
            limits: &self.limits,
            out,
        };
        match packet {
            Packet::Publish(publish) => self.publish(publish, out),
            Packet::PubRel(ack) => self.pubrel(ack.packet_id, peer.version, out),
            Packet::PubAck(ack) => self
                .outbound
                .get_or_insert_default()
                .puback(&ack, &peer, &mut turn),
            Packet::PubRec(ack) => self
                .outbound
                .get_or_insert_default()
                .pubrec(&ack, &peer, &mut turn),
            Packet::PubComp(ack) => self
                .outbound
                .get_or_insert_default()
                .pubcomp(&ack, &peer, &mut turn),
            Packet::Subscribe(request) => {
                subscribe::subscribe(&mut self.subscriptions, request, peer.version, &mut turn)
            }
            Packet::Unsubscribe(request) => {
                subscribe::unsubscribe(&mut self.subscriptions, request, &mut turn);
                Ok(())
            }
            Packet::PingReq => {
                turn.send(Packet::PingResp); // [MQTT-3.12.4-1]
                Ok(())
            }
            Packet::Disconnect(disconnect) => self.disconnected(&disconnect, now, out),
            // A second CONNECT [MQTT-3.1.0-2], AUTH without an authentication method [MQTT-4.12.0-7], or what only
            // servers send.
            Packet::Connect(_)
            | Packet::Auth(_)
            | Packet::ConnAck(_)
            | Packet::SubAck(_)
            | Packet::UnsubAck(_)
            | Packet::PingResp => Err(ReasonCode::ProtocolError),
        }
    }
}

impl Phase {
    /// The client at the other end of the link.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Linked(link) => Some(&link.peer),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five million idle sessions have to fit in 3 GiB together with the links' own state.
    #[test]
    fn an_idle_session_is_small() {
        assert!(size_of::<Session>() <= 144, "{} bytes", size_of::<Session>());
    }
}
