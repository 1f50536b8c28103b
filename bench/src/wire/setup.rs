//! The packets of a connection's beginning and end: CONNECT, SUBSCRIBE, DISCONNECT, and the answers to them.
//!
//! They pass through the strict codec, because they are rare and their refusals must be readable.

use bytes::{Bytes, BytesMut};
use tidegate_codec::{
    ClientId, Connect, Credentials, Decoder, Disconnect, EncodeError, Packet, PacketId, Properties, Property,
    QoS, ReasonCode, Subscribe, SubscribeOptions, Subscription, TopicFilter, Version, encode,
};

/// Longest answer to a CONNECT or SUBSCRIBE that is accepted, in bytes.
const ANSWER_BYTES_MAX: u32 = 1 << 20;

/// Why a broker's answer ended a connection's set-up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// CONNACK or SUBACK with a failure.
    #[error("the broker refused with {0:?}")]
    Reason(ReasonCode),
    /// Anything else than the answer that must come next.
    #[error("the broker answered with something that is not {0}")]
    Unexpected(&'static str),
}

/// What a CONNACK allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    /// Publishes that may be unacknowledged at once (3.2.2.3.3).
    pub receive_maximum: u16,
    /// Keep-alive that the server sets instead of ours, in seconds (3.2.2.3.14).
    pub server_keep_alive: Option<u16>,
}

/// CONNECT without will; `keep_alive` in seconds.
pub fn connect(
    version: Version,
    client_id: &str,
    keep_alive: u16,
    credentials: Credentials,
) -> Result<Vec<u8>, EncodeError> {
    to_bytes(
        &Packet::Connect(Box::new(Connect {
            version,
            client_id: ClientId::new(client_id),
            clean_start: true,
            keep_alive,
            will: None,
            credentials,
            properties: Properties::empty(),
        })),
        version,
    )
}

/// SUBSCRIBE to one filter, with identifier 1.
pub fn subscribe(version: Version, filter: TopicFilter, qos: QoS) -> Result<Vec<u8>, EncodeError> {
    let options = SubscribeOptions {
        qos,
        ..SubscribeOptions::default()
    };
    to_bytes(
        &Packet::Subscribe(Box::new(Subscribe {
            packet_id: PacketId(std::num::NonZeroU16::MIN),
            subscriptions: vec![Subscription { filter, options }],
            properties: Properties::empty(),
        })),
        version,
    )
}

/// DISCONNECT, normal.
pub fn disconnect(version: Version) -> Result<Vec<u8>, EncodeError> {
    to_bytes(
        &Packet::Disconnect(Box::new(Disconnect {
            reason: ReasonCode::Success,
            properties: Properties::empty(),
        })),
        version,
    )
}

/// Reads a whole CONNACK.
pub fn read_connack(version: Version, raw: &[u8]) -> Result<Welcome, Refusal> {
    let Some(Packet::ConnAck(connack)) = decode(version, raw) else {
        return Err(Refusal::Unexpected("CONNACK"));
    };
    if connack.reason.is_error() {
        return Err(Refusal::Reason(connack.reason));
    }
    let mut welcome = Welcome {
        receive_maximum: u16::MAX,
        server_keep_alive: None,
    };
    for property in connack.properties.iter() {
        match property {
            Property::ReceiveMaximum(maximum) => welcome.receive_maximum = maximum,
            Property::ServerKeepAlive(seconds) => welcome.server_keep_alive = Some(seconds),
            _ => {}
        }
    }
    Ok(welcome)
}

/// Reads a whole SUBACK.
pub fn read_suback(version: Version, raw: &[u8]) -> Result<(), Refusal> {
    let Some(Packet::SubAck(suback)) = decode(version, raw) else {
        return Err(Refusal::Unexpected("SUBACK"));
    };
    match suback.reasons.iter().find(|reason| reason.is_error()) {
        Some(reason) => Err(Refusal::Reason(*reason)),
        None => Ok(()),
    }
}

fn decode(version: Version, raw: &[u8]) -> Option<Packet> {
    let decoder = Decoder {
        version: Some(version),
        packet_bytes_max: ANSWER_BYTES_MAX,
    };
    decoder.decode(&mut Bytes::copy_from_slice(raw)).ok().flatten()
}

fn to_bytes(packet: &Packet, version: Version) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = BytesMut::new();
    encode::encode(packet, version, &mut bytes)?;
    Ok(bytes.to_vec())
}
