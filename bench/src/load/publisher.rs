//! One publisher: what it has sent, what waits for an acknowledgement, and what it is behind with.

use tidegate_codec::QoS;

use super::pace::Schedule;
use super::tally::Tally;
use super::window::Window;
use crate::wire::scan::kind;
use crate::wire::{Frame, PublishFrame, Stamp};

/// A publisher's state; the socket is its client's.
#[derive(Debug)]
pub struct Publisher {
    /// Index over all threads: what its stamps carry.
    pub index: u32,
    /// Messages sent: the next one's sequence.
    pub sent: u32,
    /// Messages that the schedule has called for.
    pub due: u32,
    /// Subscribers that each message should reach.
    pub recipients: u32,
    qos: QoS,
    frame: PublishFrame,
    window: Window,
    batch: u16,
    ping_unanswered: bool,
}

impl Publisher {
    /// A publisher that has at most `window` messages in flight or, at QoS 0, puts as many into a write.
    pub fn new(index: u32, qos: QoS, frame: PublishFrame, window: u16, recipients: u32) -> Self {
        Self {
            index,
            sent: 0,
            due: 0,
            recipients,
            qos,
            frame,
            window: Window::new(if qos == QoS::AtMostOnce { 0 } else { window }),
            batch: window,
            ping_unanswered: false,
        }
    }

    /// Obeys the server's Receive Maximum [MQTT-3.3.4-7].
    pub fn welcome(&mut self, receive_maximum: u16) {
        self.window.shrink(receive_maximum);
    }

    /// Appends as many messages as may be in flight, meant to be sent now. At QoS 0: one batch.
    #[inline]
    pub fn saturate(&mut self, now: u64, out: &mut Vec<u8>) {
        if self.qos == QoS::AtMostOnce {
            for _ in 0..self.batch {
                self.append(0, now, out);
            }
            return;
        }
        while let Some(packet_id) = self.window.take(now) {
            self.append(packet_id, now, out);
        }
    }

    /// Appends what the schedule has called for, as far as the window allows.
    #[inline]
    pub fn catch_up(&mut self, schedule: &Schedule, out: &mut Vec<u8>) {
        while self.sent < self.due {
            let intended = schedule.due(self.index, self.sent);
            let packet_id = match self.qos {
                QoS::AtMostOnce => 0,
                _ => match self.window.take(intended) {
                    Some(packet_id) => packet_id,
                    None => return,
                },
            };
            self.append(packet_id, intended, out);
        }
    }

    /// Takes in one packet of the broker; what is to be answered goes to `out`.
    #[inline]
    pub fn on_frame(&mut self, frame: &Frame<'_>, now: u64, tally: &mut Tally, out: &mut Vec<u8>) {
        let Some(packet_id) = frame.packet_id() else {
            match frame.kind() {
                kind::PINGRESP => self.ping_unanswered = false,
                kind::DISCONNECT => {}
                _ => tally.counters.malformed += 1,
            }
            return;
        };
        match (frame.kind(), self.qos) {
            (kind::PUBACK, QoS::AtLeastOnce) | (kind::PUBCOMP, QoS::ExactlyOnce) => {
                self.settle(packet_id, frame.reason(), now, tally);
            }
            (kind::PUBREC, QoS::ExactlyOnce) if frame.reason() >= 0x80 => {
                self.settle(packet_id, frame.reason(), now, tally);
            }
            (kind::PUBREC, QoS::ExactlyOnce) => match self.window.release(packet_id) {
                true => {
                    let [high, low] = packet_id.to_be_bytes();
                    out.extend_from_slice(&[(kind::PUBREL << 4) | 2, 2, high, low]);
                }
                false => tally.counters.stray_acknowledgements += 1,
            },
            (kind::DISCONNECT, _) => {}
            _ => tally.counters.malformed += 1,
        }
    }

    /// Asks for a PINGRESP, which comes when the broker has read everything before it: at QoS 0 the only sign of that.
    pub fn ping_behind_the_last(&mut self, out: &mut Vec<u8>) {
        if self.qos == QoS::AtMostOnce {
            self.ping_unanswered = true;
            out.extend_from_slice(&[kind::PINGREQ << 4, 0]);
        }
    }

    /// Whether the broker has answered for everything sent.
    pub fn is_quiet(&self) -> bool {
        self.window.open() == 0 && !self.ping_unanswered
    }

    /// Messages that wait for an acknowledgement.
    pub fn in_flight(&self) -> u64 {
        u64::try_from(self.window.open()).unwrap_or(u64::MAX)
    }

    /// Whether its messages are not acknowledged at all.
    pub fn is_unacknowledged(&self) -> bool {
        self.qos == QoS::AtMostOnce
    }

    /// Whether the schedule has called for more than was sent.
    pub fn is_behind(&self) -> bool {
        self.sent < self.due
    }

    fn append(&mut self, packet_id: u16, intended: u64, out: &mut Vec<u8>) {
        let stamp = Stamp {
            intended,
            publisher: self.index,
            sequence: self.sent,
        };
        self.frame.append(packet_id, &stamp, out);
        self.sent += 1;
    }

    fn settle(&mut self, packet_id: u16, reason: u8, now: u64, tally: &mut Tally) {
        let Some(intended) = self.window.settle(packet_id) else {
            tally.counters.stray_acknowledgements += 1;
            return;
        };
        if reason >= 0x80 {
            tally.counters.refused += 1;
            return;
        }
        tally.counters.acknowledged += 1;
        tally.acknowledge.record(now.saturating_sub(intended));
    }
}
