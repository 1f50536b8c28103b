//! Any bytes in two reads: the packets are the same as in one.

#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use tidegate_codec::{Decoder, Packet, Version};

/// The packets at the start of `input`, and whether an error ends them.
fn packets(decoder: Decoder, input: &mut Bytes) -> (Vec<Packet>, bool) {
    let mut packets = Vec::new();
    loop {
        match decoder.decode(input) {
            Ok(Some(packet)) => packets.push(packet),
            Ok(None) => return (packets, false),
            Err(_) => return (packets, true),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [level, bytes @ .., cut] = data else { return };
    let decoder = Decoder {
        version: Version::from_level(*level),
        packet_bytes_max: 1 << 20,
    };
    let whole = packets(decoder, &mut Bytes::copy_from_slice(bytes));
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let mut rest = Bytes::copy_from_slice(first);
    let (mut parts, mut failed) = packets(decoder, &mut rest);
    if !failed {
        let mut joined = BytesMut::from(rest);
        joined.extend_from_slice(second);
        let (more, late) = packets(decoder, &mut joined.freeze());
        parts.extend(more);
        failed = late;
    }
    assert_eq!((parts, failed), whole);
});
