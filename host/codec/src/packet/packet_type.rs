//! The control packet types (table 2-1) and the fixed header flags each must have (table 2-2).

/// Which of the fifteen control packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the standard's own
pub enum PacketType {
    Connect = 1,
    ConnAck = 2,
    Publish = 3,
    PubAck = 4,
    PubRec = 5,
    PubRel = 6,
    PubComp = 7,
    Subscribe = 8,
    SubAck = 9,
    Unsubscribe = 10,
    UnsubAck = 11,
    PingReq = 12,
    PingResp = 13,
    Disconnect = 14,
    Auth = 15,
}

impl PacketType {
    /// The type of the four bits `bits`; `None` for the reserved 0.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            1 => Self::Connect,
            2 => Self::ConnAck,
            3 => Self::Publish,
            4 => Self::PubAck,
            5 => Self::PubRec,
            6 => Self::PubRel,
            7 => Self::PubComp,
            8 => Self::Subscribe,
            9 => Self::SubAck,
            10 => Self::Unsubscribe,
            11 => Self::UnsubAck,
            12 => Self::PingReq,
            13 => Self::PingResp,
            14 => Self::Disconnect,
            15 => Self::Auth,
            _ => return None,
        })
    }

    /// The flags it must have: [MQTT-3.6.1-1], [MQTT-3.8.1-1] and [MQTT-3.10.1-1] ask for 0b0010, the others for 0,
    /// and those of PUBLISH have a meaning.
    #[inline]
    pub const fn flags(self) -> u8 {
        match self {
            Self::PubRel | Self::Subscribe | Self::Unsubscribe => 0b0010,
            _ => 0,
        }
    }

    /// First byte of such a packet (for PUBLISH: with no flag set).
    #[inline]
    pub const fn first_byte(self) -> u8 {
        (self as u8) << 4 | self.flags()
    }
}
