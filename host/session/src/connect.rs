//! CONNECT and CONNACK: a link opens (3.1, 3.2).
//!
//! Invariant: what CONNACK announces is what the session enforces.
//! Deliberately does not: check credentials, choose client identifiers, or find the link to take over.

use tidegate_codec::{
    ConnAck, Connect, Packet, Properties, PropertiesBuilder, Property, QoS, ReasonCode, Version,
};

use crate::expiry::SessionExpiry;
use crate::keepalive::{self, KeepAlive};
use crate::link::{Link, Peer};
use crate::session::{Phase, Session};
use crate::will::PendingWill;
use crate::{Limits, Output, Time};

/// What in a CONNECT is to be refused whatever the credentials: run it before taking over an earlier link.
pub fn check(connect: &Connect, limits: &Limits) -> Result<(), ReasonCode> {
    // [MQTT-3.1.3-8] of 3.1.1; version 5 lets the server name any client.
    if connect.version == Version::V311 && connect.client_id.is_none() && !connect.clean_start {
        return Err(ReasonCode::ClientIdentifierNotValid);
    }
    // [MQTT-4.12.0-1] no method of enhanced authentication is supported.
    if connect.properties.authentication_method().is_some() {
        return Err(ReasonCode::BadAuthenticationMethod);
    }
    let Some(will) = &connect.will else {
        return Ok(());
    };
    // [MQTT-3.2.2-12]
    if will.message.qos > limits.maximum_qos {
        return Err(ReasonCode::QoSNotSupported);
    }
    // [MQTT-3.2.2-13]
    if will.message.retain && !limits.retain_available {
        return Err(ReasonCode::RetainNotSupported);
    }
    Ok(())
}

/// The CONNACK that refuses a CONNECT of `version`; close the link after it [MQTT-3.2.2-7]. `None`: 3.1.1 has no return
/// code for `reason` and the link closes without a CONNACK [MQTT-3.2.2-6] (3.1.1).
pub fn refusal(version: Version, reason: ReasonCode) -> Option<Packet> {
    let connack = ConnAck {
        session_present: false, // [MQTT-3.2.2-6]
        reason,
        properties: Properties::empty(),
    };
    (version == Version::V5 || reason.return_code().is_some()).then(|| Packet::ConnAck(Box::new(connack)))
}

impl Session {
    /// A link opens with `connect`.
    pub(crate) fn connect(&mut self, connect: &Connect, now: Time, out: &mut Vec<Output>) {
        if let Err(reason) = check(connect, &self.limits) {
            out.extend(refusal(connect.version, reason).map(Output::Send));
            out.push(Output::Close);
            return;
        }
        // Without notice of a takeover nothing may be sent: it would go to the new link.
        self.lost(now, out);
        out.pop_if(|last| matches!(last, Output::End));
        let resumed = self.resume_or_discard(connect.clean_start, now, out);
        self.epoch = self.epoch.wrapping_add(1);
        let asked = SessionExpiry::asked(connect);
        self.expiry = asked.granted(&self.limits);
        let (interval, imposed) = keepalive::granted(connect.keep_alive, connect.version, &self.limits);
        // Of a session that goes on, the will of the last link is never published [MQTT-3.1.3-9].
        self.will = connect.will.as_ref().map(|will| Box::new(PendingWill::new(will)));
        let peer = Peer::of(connect);
        self.phase = Phase::Linked(Link {
            peer,
            keep_alive: KeepAlive::new(interval, now),
            aliases: None,
        });
        let mut builder = PropertiesBuilder::default();
        if connect.version == Version::V5 {
            if self.expiry != asked {
                builder.push(Property::SessionExpiryInterval(self.expiry.0));
            }
            if imposed {
                builder.push(Property::ServerKeepAlive(interval));
            }
            if connect.client_id.is_none() {
                builder.push(Property::AssignedClientIdentifier(self.client_id.as_str())); // [MQTT-3.2.2-16]
            }
            announce(&self.limits, &mut builder);
        }
        out.push(Output::Send(Packet::ConnAck(Box::new(ConnAck {
            session_present: resumed, // [MQTT-3.2.2-2], [MQTT-3.2.2-3]
            reason: ReasonCode::Success,
            // Numbers always have an encoding, and the identifier is the server's own.
            properties: builder.build().unwrap_or_default(),
        }))));
        if resumed {
            self.resume(&peer, now, out);
        }
    }

    /// Whether an earlier session goes on; if it must not, it ends here [MQTT-3.1.2-4], [MQTT-3.1.2-5].
    fn resume_or_discard(&mut self, clean_start: bool, now: Time, out: &mut Vec<Output>) -> bool {
        let Phase::Kept { ends } = self.phase else {
            return false;
        };
        let over = ends.is_some_and(|ends| ends <= now);
        if over || clean_start {
            self.discard(now, out);
            return false;
        }
        // A will whose time has come belongs to the link that was lost, even if no tick came in between.
        self.publish_due_will(now, out);
        true
    }
}

/// What version 5 is told about the server (3.2.2.3), as far as it differs from the defaults.
fn announce(limits: &Limits, builder: &mut PropertiesBuilder) {
    let receive_maximum = limits.receive_maximum.get();
    if receive_maximum != u16::MAX {
        builder.push(Property::ReceiveMaximum(receive_maximum));
    }
    if limits.maximum_qos != QoS::ExactlyOnce {
        builder.push(Property::MaximumQoS(limits.maximum_qos as u8));
    }
    if !limits.retain_available {
        builder.push(Property::RetainAvailable(0));
    }
    builder.push(Property::MaximumPacketSize(limits.packet_bytes_max));
    if limits.topic_alias_maximum > 0 {
        builder.push(Property::TopicAliasMaximum(limits.topic_alias_maximum));
    }
    if !limits.shared_subscriptions {
        builder.push(Property::SharedSubscriptionAvailable(0));
    }
}
