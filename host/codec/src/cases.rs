//! Named byte cases, a file per packet: what each version reads from them, or the one fact for which it refuses them.
//!
//! The same rows check decoding and encoding, and are the first corpus of the fuzz targets (feature `cases`).
//! Invariant: a row names the statement it proves where there is one.

#![allow(clippy::expect_used)] // The rows are constants; a wrong one must fail at once.
#![allow(clippy::too_many_lines)] // A table is as long as it has rows.

mod acks;
mod connack;
mod connect;
mod fixed_header;
mod properties;
mod publish;
mod sign_off;
mod subscribe;
mod unsubscribe;

use crate::{
    DecodeError, Packet, PacketId, Properties, PropertiesBuilder, Property, TopicFilter, TopicName, Version,
};

/// One row of a table.
#[derive(Debug)]
pub struct Case {
    /// What is special about these bytes.
    pub name: &'static str,
    /// Version of the connection; `None` before CONNECT.
    pub version: Option<Version>,
    /// What arrives.
    pub bytes: &'static [u8],
    /// What becomes of it.
    pub expected: Expected,
}

/// What becomes of the bytes of a [`Case`].
#[derive(Debug)]
pub enum Expected {
    /// They are this packet, and it is written as these bytes.
    Same(Packet),
    /// They are this packet, which is written in a shorter form.
    Reads(Packet),
    /// They are no packet.
    Refused(DecodeError),
}

/// Every row of every table.
pub fn all() -> Vec<Case> {
    let tables = [
        fixed_header::cases(),
        connect::cases(),
        connack::cases(),
        publish::cases(),
        acks::cases(),
        subscribe::cases(),
        unsubscribe::cases(),
        sign_off::cases(),
        properties::cases(),
    ];
    tables.into_iter().flatten().collect()
}

const V3: Option<Version> = Some(Version::V311);
const V5: Option<Version> = Some(Version::V5);

const fn same(name: &'static str, version: Option<Version>, bytes: &'static [u8], packet: Packet) -> Case {
    Case {
        name,
        version,
        bytes,
        expected: Expected::Same(packet),
    }
}

const fn reads(name: &'static str, version: Option<Version>, bytes: &'static [u8], packet: Packet) -> Case {
    Case {
        name,
        version,
        bytes,
        expected: Expected::Reads(packet),
    }
}

const fn refused(
    name: &'static str,
    version: Option<Version>,
    bytes: &'static [u8],
    error: DecodeError,
) -> Case {
    Case {
        name,
        version,
        bytes,
        expected: Expected::Refused(error),
    }
}

fn id(value: u16) -> PacketId {
    PacketId::new(value).expect("the tables use no packet identifier 0")
}

fn topic(text: &str) -> TopicName {
    TopicName::new(text).expect("the tables use valid topics")
}

fn filter(text: &str) -> TopicFilter {
    TopicFilter::new(text).expect("the tables use valid filters")
}

fn properties(list: &[Property<'_>]) -> Properties {
    let mut builder = PropertiesBuilder::default();
    builder.extend(list.iter().copied());
    builder.build().expect("the tables use valid properties")
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};

    use super::*;
    use crate::{Decoder, encode};

    /// What is wrong with the decoding of `case`, if anything.
    fn decodes_wrongly(case: &Case) -> Option<String> {
        let decoder = Decoder {
            version: case.version,
            packet_bytes_max: 4096,
        };
        let mut input = Bytes::from_static(case.bytes);
        let decoded = decoder.decode(&mut input);
        let expected = match &case.expected {
            Expected::Same(packet) | Expected::Reads(packet) => Ok(Some(packet.clone())),
            Expected::Refused(error) => Err(*error),
        };
        let left = if expected.is_ok() { 0 } else { case.bytes.len() };
        if decoded != expected || input.len() != left {
            return Some(format!("{case:?}: got {decoded:?}, {} bytes left", input.len()));
        }
        if expected.is_err() {
            return None;
        }
        // A byte less must leave everything in place.
        let cut = &case.bytes[..case.bytes.len() - 1];
        let mut input = Bytes::from_static(cut);
        let incomplete = decoder.decode(&mut input) == Ok(None) && input == cut;
        (!incomplete).then(|| format!("{case:?}: a byte less is not incomplete"))
    }

    /// What is wrong with the encoding of `case`, if anything.
    fn encodes_wrongly(case: &Case) -> Option<String> {
        let mut out = BytesMut::from(&b"before"[..]);
        let (packet, shorter) = match &case.expected {
            Expected::Same(packet) => (packet, false),
            Expected::Reads(packet) => (packet, true),
            Expected::Refused(_) => return None,
        };
        let encoded = encode(packet, case.version.unwrap_or(Version::V5), &mut out);
        let written = &out[6..];
        let right = if shorter {
            written.len() < case.bytes.len()
        } else {
            written == case.bytes
        };
        let right = right && encoded.is_ok() && out.starts_with(b"before");
        (!right).then(|| format!("{case:?}: {encoded:?}, {written:02X?}"))
    }

    #[test]
    fn every_row_decodes_as_it_says() {
        let wrong: Vec<_> = all().iter().filter_map(decodes_wrongly).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_row_encodes_as_it_says() {
        let wrong: Vec<_> = all().iter().filter_map(encodes_wrongly).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn no_two_rows_have_one_name() {
        let mut names: Vec<_> = all()
            .iter()
            .map(|case| (case.name, case.version.map(Version::level)))
            .collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
