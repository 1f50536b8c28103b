//! Any bytes: no panic, the input is untouched unless a packet comes out, and that packet encodes and decodes to itself.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use tidegate_codec::{Decoder, Packet, Version, encode, frame_length};

fuzz_target!(|data: &[u8]| {
    let Some((&level, bytes)) = data.split_first() else {
        return;
    };
    let decoder = Decoder {
        version: Version::from_level(level),
        packet_bytes_max: 1 << 20,
    };
    let mut input = Bytes::copy_from_slice(bytes);
    let Ok(Some(packet)) = decoder.decode(&mut input) else {
        assert_eq!(input, bytes);
        return;
    };
    let taken = bytes.len() - input.len();
    assert_eq!(frame_length(bytes), Ok(Some(taken)));
    let version = match &packet {
        Packet::Connect(connect) => connect.version,
        _ => decoder.version.unwrap_or(Version::V5),
    };
    let mut out = BytesMut::new();
    encode(&packet, version, &mut out).expect("what was read can be written");
    assert!(out.len() <= taken);
    assert_eq!(decoder.decode(&mut out.freeze()), Ok(Some(packet)));
});
