//! A link closes: DISCONNECT either way, loss, takeover, silence (3.14, 3.1.2.10); and the end of a session.
//!
//! Invariant: every way a link can close passes through `unlink`, so that will, windows and expiry agree.

use tidegate_codec::{Disconnect, Packet, PacketType, ReasonCode, Version};

use crate::expiry::SessionExpiry;
use crate::reason::{allowed, server_only};
use crate::session::{Phase, Session};
use crate::turn::Turn;
use crate::{Output, Time};

impl Session {
    /// The client says good-bye.
    pub(crate) fn disconnected(
        &mut self,
        disconnect: &Disconnect,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<(), ReasonCode> {
        // [MQTT-3.14.2-1]
        if server_only(disconnect.reason) {
            return Err(ReasonCode::ProtocolError);
        }
        if let Some(seconds) = disconnect.properties.session_expiry_interval() {
            // 3.14.2.2.2: a session that was to end with its link cannot be kept after all.
            if self.expiry == SessionExpiry::WITH_LINK && seconds != 0 {
                return Err(ReasonCode::ProtocolError);
            }
            self.expiry = SessionExpiry(seconds).granted(&self.limits);
        }
        if disconnect.reason == ReasonCode::Success {
            self.will = None; // [MQTT-3.14.4-3], [MQTT-3.1.2-10]
        }
        out.push(Output::Close); // [MQTT-3.14.4-2]: the client does so too
        self.unlink(now, out);
        Ok(())
    }

    /// The server ends the link: version 5 is told why [MQTT-4.13.2-1], 3.1.1 has no DISCONNECT from the server.
    pub(crate) fn fault(&mut self, reason: ReasonCode, now: Time, out: &mut Vec<Output>) {
        let Phase::Linked(link) = &self.phase else {
            return;
        };
        if link.peer.version == Version::V5 {
            let reason = allowed(reason, PacketType::Disconnect);
            out.push(Output::Send(Packet::Disconnect(Box::new(
                Disconnect::with_reason(reason),
            ))));
        }
        out.push(Output::Close);
        self.unlink(now, out);
    }

    /// Another link of this client opens [MQTT-3.1.4-3].
    pub(crate) fn taken_over(&mut self, now: Time, out: &mut Vec<Output>) {
        self.fault(ReasonCode::SessionTakenOver, now, out);
    }

    /// The link closed without a word.
    pub(crate) fn lost(&mut self, now: Time, out: &mut Vec<Output>) {
        if matches!(self.phase, Phase::Linked(_)) {
            self.unlink(now, out);
        }
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, now: Time, out: &mut Vec<Output>) {
        match &self.phase {
            Phase::Linked(link) => {
                if link.keep_alive.deadline().is_some_and(|deadline| deadline <= now) {
                    self.fault(ReasonCode::KeepAliveTimeout, now, out); // [MQTT-3.1.2-22]
                }
            }
            Phase::Kept { ends } => {
                if ends.is_some_and(|ends| ends <= now) {
                    self.discard(now, out); // [MQTT-4.1.0-2]
                    out.push(Output::End);
                } else {
                    self.publish_due_will(now, out);
                }
            }
            Phase::Fresh => {}
        }
    }

    /// Forgets all that outlives a link. A will that waits is published now, because its session ends [MQTT-3.1.2-8].
    pub(crate) fn discard(&mut self, now: Time, out: &mut Vec<Output>) {
        self.phase = Phase::Fresh;
        out.extend(self.will.take().map(|will| Output::Will(will.into_message())));
        self.inbound = None;
        if let Some(mut outbound) = self.outbound.take() {
            outbound.discard(&mut Turn {
                now,
                limits: &self.limits,
                out,
            });
        }
        let filters = self.subscriptions.take();
        out.push(Output::Discarded { filters });
    }

    /// Publishes the will if the link is lost and its delay has passed [MQTT-3.1.2-8].
    pub(crate) fn publish_due_will(&mut self, now: Time, out: &mut Vec<Output>) {
        if self
            .will
            .as_ref()
            .and_then(|will| will.due())
            .is_some_and(|due| due <= now)
        {
            out.extend(self.will.take().map(|will| Output::Will(will.into_message())));
        }
    }

    /// There is no link from here on; the session waits for the next one, or ends at once.
    fn unlink(&mut self, now: Time, out: &mut Vec<Output>) {
        let ends = self.expiry.ends(now);
        self.phase = Phase::Kept { ends };
        if self.inbound.as_mut().is_some_and(|inbound| inbound.unlink()) {
            self.inbound = None;
        }
        if self.outbound.as_ref().is_some_and(|outbound| outbound.is_empty()) {
            self.outbound = None;
        }
        if let Some(will) = &mut self.will {
            will.unlink(now);
        }
        self.tick(now, out);
    }
}
