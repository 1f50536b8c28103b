//! Messages for a rule under test, and their packing as the broker does it.

use serde::Serialize;

use super::manifest::{Projection, Projections};
use crate::QoS;
use crate::wire::{MessageWords, Span, payload_kind, word};

/// A message to run a rule on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Input {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
    qos: QoS,
    retain: bool,
    client: u32,
    client_id: String,
    username: String,
    received_at_ms: u64,
    properties: Vec<u8>,
}

/// A message of QoS 1 to `topic`, from client `client-1`, with an empty payload.
pub fn message(topic: &str) -> Input {
    Input {
        topic: topic.to_owned(),
        payload: Vec::new(),
        qos: QoS::AtLeastOnce,
        retain: false,
        client: 1,
        client_id: "client-1".to_owned(),
        username: String::new(),
        received_at_ms: 0,
        properties: Vec::new(),
    }
}

impl Input {
    /// Sets the payload.
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Self {
        self.payload = payload.into();
        self
    }

    /// Sets the payload to a text.
    pub fn text(self, text: &str) -> Self {
        self.payload(text)
    }

    /// Sets the payload to a value as JSON.
    ///
    /// # Panics
    /// If the value has no JSON form.
    #[track_caller]
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Self {
        match serde_json::to_vec(value) {
            Ok(payload) => self.payload(payload),
            Err(error) => panic!("no JSON form: {error}"),
        }
    }

    /// Sets the QoS it was published with.
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Sets the retain flag.
    pub fn retain(mut self, retain: bool) -> Self {
        self.retain = retain;
        self
    }

    /// Sets the broker's number for the connection.
    pub fn client(mut self, client: u32) -> Self {
        self.client = client;
        self
    }

    /// Sets the publisher's client identifier; the rule sees it if its manifest asks for it.
    pub fn client_id(mut self, client_id: &str) -> Self {
        client_id.clone_into(&mut self.client_id);
        self
    }

    /// Sets the publisher's user name; the rule sees it if its manifest asks for it.
    pub fn username(mut self, username: &str) -> Self {
        username.clone_into(&mut self.username);
        self
    }

    /// Sets when the broker received it, in milliseconds since the Unix epoch.
    pub fn received_at_ms(mut self, at: u64) -> Self {
        self.received_at_ms = at;
        self
    }

    /// Sets the MQTT 5.0 property block, without its length; the rule sees it if its manifest asks for it.
    pub fn properties(mut self, block: impl Into<Vec<u8>>) -> Self {
        self.properties = block.into();
        self
    }
}

/// Index and arena of a batch, with what the manifest asks for.
pub(super) fn pack(messages: &[Input], asked: &Projections) -> (Vec<u32>, Vec<u8>) {
    let (mut index, mut arena) = (Vec::new(), Vec::new());
    for message in messages {
        index.extend_from_slice(&words(message, asked, &mut arena));
    }
    (index, arena)
}

fn words(message: &Input, asked: &Projections, arena: &mut Vec<u8>) -> MessageWords {
    let mut put = |wanted: bool, bytes: &[u8]| {
        let start = arena.len();
        arena.extend_from_slice(if wanted { bytes } else { &[] });
        Span::since(start, arena)
    };
    let is_text = std::str::from_utf8(&message.payload).is_ok();
    let kind = match asked.payload {
        Projection::None => payload_kind::OMITTED,
        Projection::Text if is_text => payload_kind::TEXT,
        Projection::Text | Projection::Bytes => payload_kind::BYTES,
    };
    let topic = put(true, message.topic.as_bytes());
    let payload = put(kind != payload_kind::OMITTED, &message.payload);
    let client_id = put(asked.client_id, message.client_id.as_bytes());
    let username = put(asked.username, message.username.as_bytes());
    let properties = put(asked.properties, &message.properties);
    let high = message.received_at_ms >> 32;
    let low = message.received_at_ms & u64::from(u32::MAX);
    [
        topic.offset,
        topic.length,
        payload.offset,
        payload.length,
        message.qos.bits() | u32::from(message.retain) << 2 | kind << 4,
        message.client,
        word(usize::try_from(low).unwrap_or(usize::MAX)),
        word(usize::try_from(high).unwrap_or(usize::MAX)),
        client_id.offset,
        client_id.length,
        username.offset,
        username.length,
        properties.offset,
        properties.length,
    ]
}
