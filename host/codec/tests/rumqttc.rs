//! The same bytes through rumqttc's codec, an implementation that shares no code with this one.
//!
//! Two properties: what we write it reads as the same packet, and what we accept of damaged bytes it accepts too.
//! Where it differs, [`DIFFERENCES`] says how and why; a difference that is not in the table fails the test.
//! (That it accepts more than we do is no difference: it leaves most checks of the standard to the broker.)

#![allow(clippy::expect_used)] // What is arbitrary here is still a valid packet; if not, the test fails.

mod strategies;

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use rumqttc::mqttbytes::v4;
use rumqttc::v5::mqttbytes::v5;
use tidegate_codec::{Connect, Decoder, Packet, Properties, PropertiesBuilder, Version, encode};

/// A way in which rumqttc differs, and the packets it holds for.
struct Difference {
    /// What it does and what the standard says.
    what: &'static str,
    holds: fn(&Packet, Version) -> bool,
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        what: "does not read AUTH (3.15)",
        holds: |packet, _| matches!(packet, Packet::Auth(_)),
    },
    Difference {
        what: "refuses a DISCONNECT of version 5 without a property length, which 3.14.2.2.1 allows",
        holds: |packet, version| {
            version == Version::V5 && matches!(packet, Packet::Disconnect(it) if it.properties.is_empty())
        },
    },
    Difference {
        what: "reads the password as text (3.1.3.6: binary data) and drops a user name or password that is empty",
        holds: |packet, _| matches!(packet, Packet::Connect(connect) if odd_login(connect)),
    },
];

fn odd_login(connect: &Connect) -> bool {
    let username = connect.credentials.username.as_ref();
    let password = connect.credentials.password.as_ref();
    username.is_some_and(|name| name.is_empty())
        || password.is_some_and(|bytes| bytes.is_empty() || str::from_utf8(bytes).is_err())
}

/// The bytes as rumqttc reads and writes them again, or its error.
fn through_rumqttc(bytes: &[u8], version: Version) -> Result<Bytes, String> {
    let mut input = BytesMut::from(bytes);
    let mut out = BytesMut::new();
    match version {
        Version::V311 => {
            let packet = v4::Packet::read(&mut input, 1 << 20).map_err(|error| error.to_string())?;
            packet
                .write(&mut out, 1 << 20)
                .map_err(|error| error.to_string())?;
        }
        Version::V5 => {
            let packet = v5::Packet::read(&mut input, None).map_err(|error| error.to_string())?;
            packet.write(&mut out, None).map_err(|error| error.to_string())?;
        }
    }
    Ok(out.freeze())
}

fn read(bytes: &Bytes, packet: &Packet, version: Version) -> Option<Packet> {
    let version = if matches!(packet, Packet::Connect(_)) {
        None
    } else {
        Some(version)
    };
    let decoder = Decoder {
        version,
        packet_bytes_max: 1 << 20,
    };
    decoder.decode(&mut bytes.clone()).ok().flatten()
}

/// rumqttc writes properties in an order of its own: sorted by identifier they compare.
fn sorted(properties: &Properties) -> Properties {
    let mut list: Vec<_> = properties.iter().collect();
    list.sort_by_key(|property| property.id());
    let mut builder = PropertiesBuilder::default();
    builder.extend(list);
    builder.build().expect("they come from a block")
}

fn normal(mut packet: Packet) -> Packet {
    let properties = match &mut packet {
        Packet::Connect(it) => {
            if let Some(will) = &mut it.will {
                will.message.properties = sorted(&will.message.properties);
            }
            &mut it.properties
        }
        Packet::ConnAck(it) => &mut it.properties,
        Packet::Publish(it) => &mut it.properties,
        Packet::PubAck(it) | Packet::PubRec(it) | Packet::PubRel(it) | Packet::PubComp(it) => {
            &mut it.properties
        }
        Packet::Subscribe(it) => &mut it.properties,
        Packet::SubAck(it) => &mut it.properties,
        Packet::Unsubscribe(it) => &mut it.properties,
        Packet::UnsubAck(it) => &mut it.properties,
        Packet::Disconnect(it) => &mut it.properties,
        Packet::Auth(it) => &mut it.properties,
        Packet::PingReq | Packet::PingResp => return packet,
    };
    *properties = sorted(properties);
    packet
}

fn written(packet: &Packet, version: Version) -> Bytes {
    let mut out = BytesMut::new();
    encode(packet, version, &mut out).expect("an arbitrary packet is one that MQTT can carry");
    out.freeze()
}

/// `bytes`, which we read as `packet`, mean the same to rumqttc.
fn agrees(bytes: &Bytes, packet: Packet, version: Version) -> Result<(), TestCaseError> {
    if DIFFERENCES
        .iter()
        .any(|difference| (difference.holds)(&packet, version))
    {
        return Ok(());
    }
    match through_rumqttc(bytes, version) {
        Ok(again) => {
            let theirs = read(&again, &packet, version).map(normal);
            prop_assert_eq!(
                theirs,
                Some(normal(packet)),
                "{:02X?} became {:02X?}",
                &bytes[..],
                &again[..]
            );
        }
        Err(error) => prop_assert!(false, "{error}: {packet:?} as {:02X?}", &bytes[..]),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn what_we_write_it_reads_alike((version, packet) in strategies::versioned()) {
        let bytes = written(&packet, version);
        agrees(&bytes, packet, version)?;
    }

    #[test]
    fn what_we_accept_it_reads_alike(
        (version, packet) in strategies::versioned(),
        damage in vec((any::<Index>(), any::<u8>()), 1..3),
    ) {
        let mut bytes = written(&packet, version).to_vec();
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let bytes = Bytes::from(bytes);
        // Damage may shorten the packet or change its version; what is read decides.
        let Some(read) = read(&bytes, &packet, version) else { return Ok(()) };
        let version = match &read {
            Packet::Connect(connect) => connect.version,
            _ => version,
        };
        let length = tidegate_codec::frame_length(&bytes).ok().flatten().unwrap_or(0);
        agrees(&bytes.slice(..length), read, version)?;
    }
}

/// A packet for every row of the table that shows it: no row outlives its repair in rumqttc.
#[test]
fn every_difference_still_shows() {
    let cases: [(&[u8], Version); 3] = [
        (b"\xF0\x06\x19\x04\x15\x00\x01M", Version::V5),
        (b"\xE0\x01\x04", Version::V5),
        (
            b"\x10\x0F\x00\x04MQTT\x04\x82\x00\x3C\x00\x01a\x00\x00",
            Version::V311,
        ),
    ];
    assert_eq!(cases.len(), DIFFERENCES.len());
    for ((bytes, version), difference) in cases.into_iter().zip(DIFFERENCES) {
        let bytes = Bytes::from_static(bytes);
        let decoder = Decoder {
            version: Some(version).filter(|_| bytes[0] != 0x10),
            packet_bytes_max: 100,
        };
        let packet = decoder.decode(&mut bytes.clone()).expect("valid").expect("whole");
        assert!(
            (difference.holds)(&packet, version),
            "{packet:?}: {}",
            difference.what
        );
        let alike = through_rumqttc(&bytes, version).is_ok_and(|again| again == bytes);
        assert!(!alike, "rumqttc no longer {}", difference.what);
    }
}
