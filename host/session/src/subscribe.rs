//! SUBSCRIBE and UNSUBSCRIBE: handed to the broker, answered when it has applied them.
//!
//! Invariant: every request is answered exactly once, over the link it came by or not at all [MQTT-3.8.4-1],
//! [MQTT-3.10.4-4].
//! Deliberately does not: match topics, check rights, or send retained messages.

use tidegate_codec::{
    Packet, Properties, QoS, ReasonCode, SubAck, Subscribe, SubscribeOptions, UnsubAck, Unsubscribe, Version,
};

use crate::Output;
use crate::session::Session;
use crate::subscriptions::{Granted, Subscriptions};
use crate::turn::Turn;

impl Session {
    /// The broker has applied a SUBSCRIBE; the answer goes to the link it came by.
    pub(crate) fn subscribed(
        &mut self,
        epoch: u32,
        request: &Subscribe,
        reasons: Vec<ReasonCode>,
        out: &mut Vec<Output>,
    ) {
        record(&mut self.subscriptions, request, &reasons);
        if self.is_connected() && epoch == self.epoch {
            out.push(Output::Send(suback(request, reasons)));
        }
    }

    /// The broker has applied an UNSUBSCRIBE.
    pub(crate) fn unsubscribed(
        &self,
        epoch: u32,
        request: &Unsubscribe,
        reasons: Vec<ReasonCode>,
        out: &mut Vec<Output>,
    ) {
        if self.is_connected() && epoch == self.epoch {
            out.push(Output::Send(unsuback(request, reasons)));
        }
    }
}

/// A SUBSCRIBE came by a link of `version`.
pub(crate) fn subscribe(
    subscriptions: &mut Subscriptions,
    request: Box<Subscribe>,
    version: Version,
    turn: &mut Turn<'_>,
) -> Result<(), ReasonCode> {
    let shared = request
        .subscriptions
        .iter()
        .any(|asked| asked.filter.shared().is_some());
    if shared && !turn.limits.shared_subscriptions {
        // 3.2.2.3.13: a protocol error of version 5; 3.1.1 has never been told.
        if version == Version::V5 {
            return Err(ReasonCode::SharedSubscriptionsNotSupported);
        }
        refuse_all(&request, ReasonCode::SharedSubscriptionsNotSupported, turn);
        return Ok(());
    }
    let new = request
        .subscriptions
        .iter()
        .filter(|asked| !subscriptions.contains(&asked.filter))
        .count();
    let max = usize::try_from(turn.limits.subscriptions_max).unwrap_or(usize::MAX);
    if subscriptions.len() + new > max {
        refuse_all(&request, ReasonCode::QuotaExceeded, turn);
        return Ok(());
    }
    for asked in &request.subscriptions {
        subscriptions.request(&asked.filter);
    }
    turn.out.push(Output::Subscribe(request));
    Ok(())
}

/// What the broker granted and refused.
fn record(subscriptions: &mut Subscriptions, request: &Subscribe, reasons: &[ReasonCode]) {
    let identifier = request.properties.subscription_identifiers().next();
    for (asked, &reason) in request.subscriptions.iter().zip(reasons) {
        match granted_qos(reason) {
            None => subscriptions.refuse(&asked.filter),
            Some(qos) => {
                let options = SubscribeOptions { qos, ..asked.options };
                subscriptions.grant(&asked.filter, Granted { options, identifier });
            }
        }
    }
}

/// An UNSUBSCRIBE came: from here on the session does not hold its filters [MQTT-3.10.4-1].
pub(crate) fn unsubscribe(subscriptions: &mut Subscriptions, request: Box<Unsubscribe>, turn: &mut Turn<'_>) {
    for filter in &request.filters {
        subscriptions.remove(filter);
    }
    turn.out.push(Output::Unsubscribe(request));
}

/// [MQTT-3.8.4-2], [MQTT-3.8.4-6]
fn suback(request: &Subscribe, reasons: Vec<ReasonCode>) -> Packet {
    Packet::SubAck(Box::new(SubAck {
        packet_id: request.packet_id,
        reasons,
        properties: Properties::empty(),
    }))
}

/// [MQTT-3.10.4-5]
fn unsuback(request: &Unsubscribe, reasons: Vec<ReasonCode>) -> Packet {
    Packet::UnsubAck(Box::new(UnsubAck {
        packet_id: request.packet_id,
        reasons,
        properties: Properties::empty(),
    }))
}

fn refuse_all(request: &Subscribe, reason: ReasonCode, turn: &mut Turn<'_>) {
    turn.send(suback(request, vec![reason; request.subscriptions.len()]));
}

fn granted_qos(reason: ReasonCode) -> Option<QoS> {
    match reason {
        ReasonCode::Success => Some(QoS::AtMostOnce),
        ReasonCode::GrantedQoS1 => Some(QoS::AtLeastOnce),
        ReasonCode::GrantedQoS2 => Some(QoS::ExactlyOnce),
        _ => None,
    }
}
