//! A session that comes back after a restart of the server.
//!
//! What has to be stored passes by as outputs: filters with [`crate::Output::Subscribe`], inbound QoS 2 identifiers with
//! [`crate::Slot::packet_id`] until PUBCOMP, deliveries from [`crate::Output::Sending`] to [`crate::Output::Finished`].
//! Deliberately does not: know how or where it is stored.

use std::num::NonZeroU64;
use std::sync::Arc;

use tidegate_codec::{ClientId, Message, PacketId, TopicFilter};

use crate::expiry::SessionExpiry;
use crate::inbound::Inbound;
use crate::inflight::Stage;
use crate::outbound::Outbound;
use crate::session::{Phase, Session};
use crate::turn::Turn;
use crate::will::PendingWill;
use crate::{Delivery, Granted, Limits, Output, Time};

/// What is known of a session whose link is gone: the session state of section 4.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// As [`Session::expiry_seconds`].
    pub expiry_seconds: u32,
    /// When the session ends; `None` never. Counts from the restart if its link was open until then.
    pub ends: Option<Time>,
    /// What the client is subscribed to.
    pub subscriptions: Vec<(TopicFilter, Granted)>,
    /// Identifiers of inbound QoS 2 messages that are in the log and whose PUBREL has not come.
    pub received: Vec<PacketId>,
    /// Outbound messages under way, in the order of their first sending.
    pub in_flight: Vec<(PacketId, Exchange)>,
    /// Outbound messages behind them. Their time of receipt is at most now: of one that has waited longer than the
    /// process lives, the expiry is to be shortened instead.
    pub queued: Vec<Delivery>,
    /// A will not published yet, without its Will Delay Interval, and when it is due.
    pub will: Option<(Message, Time)>,
}

/// How far an outbound message had come.
#[derive(Debug, Clone, PartialEq)]
pub enum Exchange {
    /// PUBLISH may have been sent.
    Sent(Delivery),
    /// PUBREL may have been sent, for the message of this log entry.
    Released(NonZeroU64),
}

impl Session {
    /// The session as it was stored. It has no link; give it [`crate::Input::Tick`] at its deadline, which may have
    /// passed. Queued messages over the limits are dropped and named in `out`.
    pub fn restore(
        client_id: ClientId,
        limits: Arc<Limits>,
        stored: Stored,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Self {
        let mut session = Self::new(client_id, limits);
        session.expiry = SessionExpiry(stored.expiry_seconds);
        session.phase = Phase::Kept { ends: stored.ends };
        session.will = stored
            .will
            .map(|(message, due)| Box::new(PendingWill::restore(message, due)));
        for (filter, granted) in stored.subscriptions {
            session.subscriptions.request(&filter);
            session.subscriptions.grant(&filter, granted);
        }
        if !stored.received.is_empty() {
            let mut inbound = Inbound::new(&session.limits, session.slots);
            stored
                .received
                .into_iter()
                .for_each(|packet_id| inbound.restore(packet_id));
            session.inbound = Some(Box::new(inbound));
        }
        if !stored.in_flight.is_empty() || !stored.queued.is_empty() {
            let in_flight = stored
                .in_flight
                .into_iter()
                .map(|(packet_id, exchange)| (packet_id, stage(exchange)));
            let mut turn = Turn {
                now,
                limits: &session.limits,
                out,
            };
            let outbound = Outbound::restore(in_flight.collect(), stored.queued, &mut turn);
            session.outbound = Some(Box::new(outbound));
        }
        session
    }
}

fn stage(exchange: Exchange) -> Stage {
    let counted = false;
    match exchange {
        Exchange::Sent(delivery) => Stage::Published { delivery, counted },
        Exchange::Released(log_entry) => Stage::Released {
            log_entry: Some(log_entry),
            counted,
        },
    }
}
