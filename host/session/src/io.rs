//! What goes into a session and what comes out of it.
//!
//! ```text
//!              Connect  Packet  Lost  Tick                Send  Close
//!   link   ─────────────────────────────►  ┌─────────┐ ───────────────►  link
//!                                          │ Session │
//!   broker ─────────────────────────────►  └─────────┘ ───────────────►  broker
//!              Settled  Deliver  Subscribed               Admit  Route  Subscribe  Will
//! ```
//! Deliberately does not: name sockets, workers or the log.

use std::num::{NonZeroU32, NonZeroU64};

use tidegate_codec::{
    Connect, Message, Packet, PacketId, QoS, ReasonCode, Subscribe, TopicFilter, Unsubscribe,
};

use crate::Time;

/// Something that happened to a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A link opened and its CONNECT is welcome: [`crate::check`] passed, credentials are good, and an earlier link of
    /// the same client has been given [`Input::TakenOver`].
    Connect(Box<Connect>),
    /// A packet of the current link.
    Packet(Packet),
    /// The pipeline is done with an admitted message. Comes in any order, also after its link is gone.
    Settled {
        /// As given by [`Output::Admit`].
        slot: Slot,
        /// What became of it.
        outcome: Settlement,
    },
    /// A message was routed to this session.
    Deliver(Delivery),
    /// The broker has applied a [`Output::Subscribe`].
    Subscribed {
        /// [`crate::Session::epoch`] when the request came out.
        epoch: u32,
        /// The request, as it came out.
        request: Box<Subscribe>,
        /// One per filter, same order [MQTT-3.9.3-1].
        reasons: Vec<ReasonCode>,
    },
    /// The broker has applied an [`Output::Unsubscribe`].
    Unsubscribed {
        /// [`crate::Session::epoch`] when the request came out.
        epoch: u32,
        /// The request, as it came out.
        request: Box<Unsubscribe>,
        /// One per filter, same order [MQTT-3.11.3-1].
        reasons: Vec<ReasonCode>,
    },
    /// The server ends the link: bytes that are no packet, a limit broken, an order of the operator.
    Fault(ReasonCode),
    /// The link closed without DISCONNECT.
    Lost,
    /// A new link brought a CONNECT with this client id; give it before that CONNECT [MQTT-3.1.4-3].
    TakenOver,
    /// The server shuts down.
    Shutdown,
    /// The broker stops (`false`) or resumes (`true`) reading the link: keep-alive stands still in between.
    Reading(bool),
    /// [`crate::Session::deadline`] has come. Harmless at any other time.
    Tick,
}

/// What the session wants done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Write to the current link.
    Send(Packet),
    /// Hand to the pipeline. Answered by [`Input::Settled`] when there is a slot; QoS 0 has none.
    Admit {
        /// Its place in the ack window.
        slot: Option<Slot>,
        /// What the client published, topic alias resolved.
        message: Message,
    },
    /// A QoS 2 message whose turn has come: route it. Its PUBREC follows as a [`Output::Send`].
    Route(Message),
    /// Subscribe; answer with [`Input::Subscribed`].
    Subscribe(Box<Subscribe>),
    /// Unsubscribe; answer with [`Input::Unsubscribed`].
    Unsubscribe(Box<Unsubscribe>),
    /// Publish the client's will [MQTT-3.1.2-8].
    Will(Message),
    /// Close the link once what was sent is flushed. The session has no link from here on: no [`Input::Lost`] follows.
    Close,
    /// A message will not reach the client.
    Dropped {
        /// QoS of its delivery.
        qos: QoS,
        /// Why.
        reason: DropReason,
    },
    /// A QoS 2 delivery with a log entry is about to leave for the first time. To be in the log before what follows is
    /// written to the link, so that after a restart it is sent again under the same identifier [MQTT-4.4.0-1].
    Sending {
        /// Where the log keeps the message.
        log_entry: NonZeroU64,
        /// Its identifier until [`Output::Finished`].
        packet_id: PacketId,
    },
    /// The client has such a message, and its PUBREL follows: from here on the PUBLISH must never be sent again
    /// [MQTT-4.3.3-6]. To be in the log before what follows is written to the link.
    Releasing(NonZeroU64),
    /// A delivery with a log entry is over: acknowledged, refused by the client, dropped or discarded.
    Finished(NonZeroU64),
    /// A delivery of a shared subscription that ends with the session before the client got it: any member of the
    /// group may have it now. QoS 2 messages that were sent once are never among them [MQTT-4.8.2-5].
    Return(Delivery),
    /// The state kept so far is discarded [MQTT-3.1.2-4]: remove these filters from the router.
    Discarded {
        /// All the session was subscribed to.
        filters: Vec<TopicFilter>,
    },
    /// The session is over; follows a [`Output::Discarded`]. Drop it, or give it the client's next [`Input::Connect`].
    End,
}

/// Place of an inbound QoS 1 or 2 message in the ack window of its QoS. Numbers go on across links and wrap at 2^32,
/// so that one of an earlier link is recognised and ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Which window.
    pub qos: QoS,
    /// Position in the order of arrival.
    pub number: u32,
    /// Identifier of the PUBLISH. Of QoS 2 it belongs into the log together with the message, so that after a restart
    /// the message is not admitted again.
    pub packet_id: PacketId,
}

/// What became of an admitted message.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// All it was to do is done.
    Accepted {
        /// QoS 2: the message, as the rules left it, to route when its slot leaves the window; `None` routes nothing.
        route: Option<Message>,
    },
    /// It was refused and nothing was routed. Version 5 clients are told the reason, 3.1.1 has no way to tell.
    Refused(ReasonCode),
}

/// A message on its way to a subscriber.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// What the publisher sent, as the rules left it.
    pub message: Message,
    /// Lower of the publisher's and the granted QoS [MQTT-3.8.4-8].
    pub qos: QoS,
    /// RETAIN flag to send [MQTT-3.3.1-12], [MQTT-3.3.1-13].
    pub retain: bool,
    /// Identifiers of the matching subscriptions [MQTT-3.3.4-3].
    pub identifiers: Box<[u32]>,
    /// When the server got the message: its expiry counts from here [MQTT-3.3.2-6].
    pub received: Time,
    /// Where the log keeps it; comes back as [`Output::Finished`].
    pub log_entry: Option<NonZeroU64>,
    /// The broker's own number of the shared subscription it was picked from.
    pub group: Option<NonZeroU32>,
}

/// Why a message will not reach the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue is at [`crate::Limits::queued_messages_max`] or [`crate::Limits::queued_bytes_max`].
    QueueFull,
    /// Its Message Expiry Interval has passed [MQTT-3.3.2-5].
    Expired,
    /// It is longer than the client's Maximum Packet Size [MQTT-3.1.2-25].
    PacketTooLarge,
    /// There is no link, and the message is of QoS 0 or the session is over.
    Offline,
}
