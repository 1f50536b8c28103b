//! What is encoded decodes to the same packet, however the bytes arrive; and no bytes make the decoder panic.

#![allow(clippy::expect_used)] // What is arbitrary here is still a valid packet; if not, the test fails.

mod strategies;

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tidegate_codec::{Decoder, Packet, Version, encode, frame_length};

fn written(packet: &Packet, version: Version) -> Bytes {
    let mut out = BytesMut::new();
    encode(packet, version, &mut out).expect("an arbitrary packet is one that MQTT can carry");
    out.freeze()
}

/// A decoder for `packet`: CONNECT comes where no version is known.
fn decoder(packet: &Packet, version: Version) -> Decoder {
    let version = if matches!(packet, Packet::Connect(_)) {
        None
    } else {
        Some(version)
    };
    Decoder {
        version,
        packet_bytes_max: u32::MAX,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn decode_after_encode_is_the_same_packet((version, packet) in strategies::versioned()) {
        let bytes = written(&packet, version);
        prop_assert_eq!(frame_length(&bytes), Ok(Some(bytes.len())));
        let mut input = bytes;
        let decoded = decoder(&packet, version).decode(&mut input);
        prop_assert_eq!(decoded, Ok(Some(packet)));
        prop_assert!(input.is_empty());
    }

    #[test]
    fn every_cut_is_incomplete_and_untouched((version, packet) in strategies::versioned(), cut: Index) {
        let bytes = written(&packet, version);
        let part = bytes.slice(..cut.index(bytes.len()));
        let mut input = part.clone();
        prop_assert_eq!(decoder(&packet, version).decode(&mut input), Ok(None));
        prop_assert_eq!(&input, &part);
        let length = frame_length(&part).expect("a cut header is no error");
        prop_assert!(length.is_none_or(|length| length == bytes.len()));
    }

    #[test]
    fn the_largest_packet_accepted_is_the_limit((version, packet) in strategies::versioned()) {
        let bytes = written(&packet, version);
        let length = bytes.len() as u32;
        let exact = Decoder { packet_bytes_max: length, ..decoder(&packet, version) };
        prop_assert_eq!(exact.decode(&mut bytes.clone()), Ok(Some(packet)));
        let less = Decoder { packet_bytes_max: length - 1, ..exact };
        // Known from the header alone, before the rest is there.
        let mut header = bytes.slice(..bytes.len().min(5));
        prop_assert!(less.decode(&mut header).is_err());
    }
}

/// Packets of one connection and the sizes of the reads they arrive in.
fn stream() -> impl Strategy<Value = (Version, Vec<Packet>, Vec<usize>)> {
    prop_oneof![Just(Version::V311), Just(Version::V5)].prop_flat_map(|version| {
        (
            Just(version),
            vec(strategies::packet(version), 1..8),
            vec(1..64usize, 1..20),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_decodes_whatever_the_reads((version, packets, reads) in stream()) {
        let mut bytes = BytesMut::new();
        for packet in &packets {
            encode(packet, version, &mut bytes).expect("an arbitrary packet is one that MQTT can carry");
        }
        // The version is known: a CONNECT decodes in any place, its sequence is the session's matter.
        let decoder = Decoder { version: Some(version), packet_bytes_max: u32::MAX };
        let mut arrived = BytesMut::new();
        let mut decoded = Vec::new();
        let mut sizes = reads.iter().cycle();
        while !bytes.is_empty() {
            let size = sizes.next().map_or(1, |&size| size.min(bytes.len()));
            arrived.extend_from_slice(&bytes.split_to(size));
            let mut input = arrived.split().freeze();
            while let Some(packet) = decoder.decode(&mut input).expect("only packets were written") {
                decoded.push(packet);
            }
            arrived = BytesMut::from(input);
        }
        prop_assert_eq!(decoded, packets);
        prop_assert!(arrived.is_empty());
    }
}

/// Whatever `bytes` are: no panic, untouched unless a packet comes out, and a packet that comes out is one that
/// encodes and decodes to itself.
fn holds_for_any_bytes(bytes: &[u8], version: Option<Version>) -> Result<(), TestCaseError> {
    let decoder = Decoder {
        version,
        packet_bytes_max: 1 << 20,
    };
    let mut input = Bytes::copy_from_slice(bytes);
    let Ok(Some(packet)) = decoder.decode(&mut input) else {
        prop_assert_eq!(&input[..], bytes);
        return Ok(());
    };
    let taken = bytes.len() - input.len();
    prop_assert_eq!(frame_length(bytes), Ok(Some(taken)));
    let version = match &packet {
        Packet::Connect(connect) => connect.version,
        _ => version.unwrap_or(Version::V5),
    };
    let mut again = written(&packet, version);
    prop_assert!(again.len() <= taken, "the encoder's form is the shortest");
    prop_assert_eq!(decoder.decode(&mut again), Ok(Some(packet)));
    Ok(())
}

fn any_version() -> impl Strategy<Value = Option<Version>> {
    prop_oneof![Just(None), Just(Some(Version::V311)), Just(Some(Version::V5))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_packet_or_an_error(bytes in vec(any::<u8>(), 0..120), version in any_version()) {
        holds_for_any_bytes(&bytes, version)?;
    }

    /// Bytes with a true length reach deeper than arbitrary ones.
    #[test]
    fn any_body_is_a_packet_or_an_error(
        first: u8,
        body in vec(any::<u8>(), 0..100),
        version in any_version(),
    ) {
        let mut bytes = vec![first, body.len() as u8];
        bytes.extend(body);
        holds_for_any_bytes(&bytes, version)?;
    }

    /// A packet with a few bytes changed reaches deepest.
    #[test]
    fn any_damaged_packet_is_a_packet_or_an_error(
        (version, packet) in strategies::versioned(),
        damage in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = written(&packet, version).to_vec();
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        holds_for_any_bytes(&bytes, decoder(&packet, version).version)?;
        holds_for_any_bytes(&bytes, Some(version))?;
    }
}
