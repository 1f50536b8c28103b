//! CONNECT (3.1).

use bytes::{BufMut, Bytes, BytesMut};

use super::Message;
use crate::decode::{Fields, share};
use crate::encode::{frame, put_binary, put_properties, put_text};
use crate::properties::Carrier;
use crate::{ClientId, DecodeError, EncodeError, PacketType, Properties, QoS, TopicName, Version};

const PACKET: PacketType = PacketType::Connect;

/// CONNECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// Level 4 or 5; any other is [`crate::DecodeError::UnsupportedVersion`].
    pub version: Version,
    /// `None` when the client sends an empty one and asks the server to assign it [MQTT-3.1.3-6].
    pub client_id: Option<ClientId>,
    /// Clean Session (3.1.1) or Clean Start (5.0).
    pub clean_start: bool,
    /// Seconds; 0 turns keep-alive off.
    pub keep_alive: u16,
    /// Message to publish when the connection is lost.
    pub will: Option<Will>,
    /// User name and password, either may be absent.
    pub credentials: Credentials,
    /// Session expiry, Receive Maximum and the rest.
    pub properties: Properties,
}

/// User name and password of a CONNECT.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Credentials {
    /// UTF-8, checked.
    pub username: Option<Box<str>>,
    /// Any bytes.
    pub password: Option<Bytes>,
}

/// A password never reaches a log by way of `{:?}`.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let password = self.password.as_ref().map(|_| "***");
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .field("password", &password)
            .finish()
    }
}

/// Will of a CONNECT. Its properties are those of the will, with the Will Delay Interval among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Will {
    /// Topic, payload, QoS, retain and properties.
    pub message: Message,
}

impl Connect {
    pub(crate) fn decode(frame: &Bytes, mut fields: Fields<'_>) -> Result<Self, DecodeError> {
        let version = version(&mut fields)?;
        let flags = Flags::check(fields.byte()?, version)?;
        let keep_alive = fields.two_bytes()?;
        let properties = match version {
            Version::V311 => Properties::empty(),
            Version::V5 => Properties::decode(Carrier::Packet(PACKET), frame, &mut fields)?,
        };
        // [MQTT-3.1.3-1], [MQTT-3.1.3-3]: the fields of the payload, in this order.
        let client_id = ClientId::new(fields.text()?);
        if client_id.is_none() && !flags.has(Flags::CLEAN_START) && version == Version::V311 {
            return Err(DecodeError::EmptyClientId); // [MQTT-3.1.3-8] (3.1.1)
        }
        let will = match flags.has(Flags::WILL) {
            true => Some(Will::decode(flags, frame, &mut fields, version)?),
            false => None,
        };
        let username = match flags.has(Flags::USERNAME) {
            true => Some(Box::from(fields.text()?)), // [MQTT-3.1.2-17], [MQTT-3.1.3-12]
            false => None,
        };
        let password = match flags.has(Flags::PASSWORD) {
            true => Some(share(frame, fields.binary()?)), // [MQTT-3.1.2-19]
            false => None,
        };
        fields.end()?; // [MQTT-3.1.2-16], [MQTT-3.1.2-18]
        Ok(Self {
            version,
            client_id,
            clean_start: flags.has(Flags::CLEAN_START),
            keep_alive,
            will,
            credentials: Credentials { username, password },
            properties,
        })
    }

    /// Writes the packet in its own version.
    pub(crate) fn encode(&self, out: &mut BytesMut) -> Result<(), EncodeError> {
        let Self {
            client_id,
            credentials,
            ..
        } = self;
        if self.version == Version::V311 {
            if credentials.password.is_some() && credentials.username.is_none() {
                return Err(EncodeError::PasswordWithoutUserName); // [MQTT-3.1.2-22] (3.1.1)
            }
            if client_id.is_none() && !self.clean_start {
                return Err(EncodeError::EmptyClientId); // [MQTT-3.1.3-7] (3.1.1)
            }
        }
        frame(PACKET, out, |out| {
            put_binary(b"MQTT", out)?;
            out.put_slice(&[self.version.level(), Flags::of(self).0]);
            out.put_u16(self.keep_alive);
            if self.version == Version::V5 {
                put_properties(&self.properties, Carrier::Packet(PACKET), out)?;
            }
            put_binary(client_id.as_ref().map_or("", ClientId::as_str).as_bytes(), out)?;
            if let Some(will) = &self.will {
                will.encode(self.version, out)?;
            }
            if let Some(username) = &credentials.username {
                put_text(username, out)?;
            }
            credentials
                .password
                .as_ref()
                .map_or(Ok(()), |password| put_binary(password, out))
        })
    }
}

impl Will {
    fn decode(
        flags: Flags,
        frame: &Bytes,
        fields: &mut Fields<'_>,
        version: Version,
    ) -> Result<Self, DecodeError> {
        let properties = match version {
            Version::V311 => Properties::empty(),
            Version::V5 => Properties::decode(Carrier::Will, frame, fields)?,
        };
        let topic = TopicName::from_bytes(share(frame, fields.binary()?)).map_err(DecodeError::TopicName)?;
        let payload = share(frame, fields.binary()?);
        let qos = QoS::from_bits(flags.will_qos()).ok_or(DecodeError::WillQoS3)?; // [MQTT-3.1.2-12]
        let retain = flags.has(Flags::WILL_RETAIN);
        Ok(Self {
            message: Message {
                topic,
                payload,
                properties,
                qos,
                retain,
            },
        })
    }

    fn encode(&self, version: Version, out: &mut BytesMut) -> Result<(), EncodeError> {
        if version == Version::V5 {
            put_properties(&self.message.properties, Carrier::Will, out)?;
        }
        put_binary(self.message.topic.bytes(), out)?;
        put_binary(&self.message.payload, out)
    }
}

/// Protocol name and level (3.1.2.1, 3.1.2.2).
fn version(fields: &mut Fields<'_>) -> Result<Version, DecodeError> {
    let name = fields.binary()?;
    let level = fields.byte()?;
    match name {
        b"MQTT" => Version::from_level(level).ok_or(DecodeError::UnsupportedVersion(level)), // [MQTT-3.1.2-2]
        // MQTT 3.1 and before: such a client understands return code 1.
        b"MQIsdp" => Err(DecodeError::UnsupportedVersion(level)),
        _ => Err(DecodeError::ProtocolName), // [MQTT-3.1.2-1]
    }
}

/// The Connect Flags (3.1.2.3).
#[derive(Clone, Copy)]
struct Flags(u8);

impl Flags {
    const RESERVED: u8 = 0x01;
    const CLEAN_START: u8 = 0x02;
    const WILL: u8 = 0x04;
    const WILL_QOS: u8 = 0x18;
    const WILL_RETAIN: u8 = 0x20;
    const PASSWORD: u8 = 0x40;
    const USERNAME: u8 = 0x80;

    const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    const fn will_qos(self) -> u8 {
        (self.0 & Self::WILL_QOS) >> 3
    }

    const fn check(bits: u8, version: Version) -> Result<Self, DecodeError> {
        let flags = Self(bits);
        if flags.has(Self::RESERVED) {
            return Err(DecodeError::ReservedConnectFlag); // [MQTT-3.1.2-3]
        }
        if !flags.has(Self::WILL) && flags.has(Self::WILL_QOS | Self::WILL_RETAIN) {
            return Err(DecodeError::WillFlagsWithoutWill); // [MQTT-3.1.2-11], [MQTT-3.1.2-13]
        }
        if flags.will_qos() == 3 {
            return Err(DecodeError::WillQoS3); // [MQTT-3.1.2-12]
        }
        if matches!(version, Version::V311) && flags.has(Self::PASSWORD) && !flags.has(Self::USERNAME) {
            return Err(DecodeError::PasswordWithoutUserName); // [MQTT-3.1.2-22] (3.1.1)
        }
        Ok(flags)
    }

    fn of(connect: &Connect) -> Self {
        let will = connect.will.as_ref().map_or(0, |Will { message }| {
            let retain = if message.retain { Self::WILL_RETAIN } else { 0 };
            Self::WILL | (message.qos as u8) << 3 | retain
        });
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        Self(
            flag(connect.clean_start, Self::CLEAN_START)
                | will
                | flag(connect.credentials.password.is_some(), Self::PASSWORD)
                | flag(connect.credentials.username.is_some(), Self::USERNAME),
        )
    }
}
