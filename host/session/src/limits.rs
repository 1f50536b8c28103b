//! The bounds of a session, shared by all sessions of a listener.
//!
//! Invariant: what CONNACK announces and what the state machine enforces are the same fields.

use std::num::NonZeroU16;
use std::time::Duration;

use tidegate_codec::QoS;

/// Bounds and features of the server towards one client. Shared: `Arc<Limits>` in every session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Inbound QoS 1 and 2 messages not yet completed (3.2.2.3.3). Version 5 clients are disconnected over it, the
    /// PUBLISHes of 3.1.1 clients are to be parked while [`crate::Session::has_room`] is false.
    pub receive_maximum: NonZeroU16,
    /// Outbound QoS 1 and 2 messages not yet completed; the client's own Receive Maximum may lower it.
    pub inflight_maximum: NonZeroU16,
    /// Messages waiting for the client (offline, or its in-flight window is full). Over it the oldest is dropped.
    pub queued_messages_max: u32,
    /// Bytes of topic, payload and properties of these messages. Over it the oldest is dropped.
    pub queued_bytes_max: u64,
    /// Longest packet accepted, fixed header included, in bytes (3.2.2.3.6). Enforced by the decoder.
    pub packet_bytes_max: u32,
    /// Highest topic alias a client may set; 0 allows none (3.2.2.3.8).
    pub topic_alias_maximum: u16,
    /// Longest keep-alive in seconds. A version 5 client that asks for more, or for none, is told this one
    /// [MQTT-3.1.2-21]; a 3.1.1 client cannot be told and keeps its own.
    pub keep_alive_max: Option<NonZeroU16>,
    /// Longest time a session is kept without connection, for both versions. `None`: as long as the client asks.
    pub session_expiry_max: Option<Duration>,
    /// Subscriptions of one session. A SUBSCRIBE that would pass it is refused with "quota exceeded".
    pub subscriptions_max: u32,
    /// In which order PUBACK and PUBREC leave.
    pub ack_order: AckOrder,
    /// Highest QoS accepted from clients (3.2.2.3.4).
    pub maximum_qos: QoS,
    /// Whether RETAIN may be set (3.2.2.3.5).
    pub retain_available: bool,
    /// Whether `$share/…` filters are accepted (3.2.2.3.13).
    pub shared_subscriptions: bool,
}

/// In which order the server acknowledges what a client publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AckOrder {
    /// As the PUBLISHes of one QoS arrived [MQTT-4.6.0-2], [MQTT-4.6.0-3].
    #[default]
    InOrder,
    /// As they settle. Outside the standard: for clients that do not mind, when one sink is much slower than others.
    Any,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            receive_maximum: NonZeroU16::new(1024).unwrap_or(NonZeroU16::MAX),
            inflight_maximum: NonZeroU16::new(128).unwrap_or(NonZeroU16::MAX),
            queued_messages_max: 1000,
            queued_bytes_max: 1 << 20,
            packet_bytes_max: 1 << 20,
            topic_alias_maximum: 16,
            keep_alive_max: None,
            session_expiry_max: None,
            subscriptions_max: 1000,
            ack_order: AckOrder::InOrder,
            maximum_qos: QoS::ExactlyOnce,
            retain_available: true,
            shared_subscriptions: true,
        }
    }
}
