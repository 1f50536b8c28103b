//! Two packed formats that cross the module boundary: property blocks of PUBLISH (2.2.2) and header pairs.
//!
//! Invariant: what passes [`check_properties`] may stand in any PUBLISH that the broker sends. Properties that belong to
//! one network connection never cross: a topic alias is left out on the way in and refused on the way out.

const PAYLOAD_FORMAT_INDICATOR: u8 = 0x01;
const MESSAGE_EXPIRY_INTERVAL: u8 = 0x02;
const CONTENT_TYPE: u8 = 0x03;
const RESPONSE_TOPIC: u8 = 0x08;
const CORRELATION_DATA: u8 = 0x09;
const TOPIC_ALIAS: u8 = 0x23;
const USER_PROPERTY: u8 = 0x26;

/// Appends a block to `arena`, without the topic alias, which means nothing outside the publisher's connection.
/// The block comes from the decoder, which has checked it.
pub(crate) fn copy_properties(block: &[u8], arena: &mut Vec<u8>) {
    let mut rest = block;
    while let Some((property, tail)) = split_property(rest) {
        if property.first() != Some(&TOPIC_ALIAS) {
            arena.extend_from_slice(property);
        }
        rest = tail;
    }
}

/// Whether a module's block may stand in a PUBLISH from server to client; else why not.
pub(crate) fn check_properties(block: &[u8]) -> Result<(), String> {
    let mut seen = 0u64;
    let mut rest = block;
    while let Some(&id) = rest.first() {
        if !matches!(
            id,
            PAYLOAD_FORMAT_INDICATOR
                | MESSAGE_EXPIRY_INTERVAL
                | CONTENT_TYPE
                | RESPONSE_TOPIC
                | CORRELATION_DATA
                | USER_PROPERTY
        ) {
            return Err(format!("a module may not set property 0x{id:02x} of a message"));
        }
        let (property, tail) =
            split_property(rest).ok_or_else(|| format!("property 0x{id:02x} is cut short"))?;
        // Only user properties may stand there twice (3.3.2.3).
        if id != USER_PROPERTY && seen & (1 << id) != 0 {
            return Err(format!("property 0x{id:02x} stands there twice"));
        }
        seen |= 1 << id;
        check_value(id, property).map_err(|problem| format!("property 0x{id:02x} {problem}"))?;
        rest = tail;
    }
    Ok(())
}

/// Whether a module's headers are pairs of UTF-8 name and value; else why not.
pub(crate) fn check_headers(block: &[u8]) -> Result<(), String> {
    let mut rest = block;
    while !rest.is_empty() {
        let (name, tail) = split_prefixed(rest).ok_or("a header name is cut short")?;
        let (_, tail) = split_prefixed(tail).ok_or("a header value is cut short")?;
        std::str::from_utf8(name).map_err(|_| "a header name is not UTF-8")?;
        rest = tail;
    }
    Ok(())
}

/// The first property, identifier included, and what follows it.
fn split_property(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&id, value) = block.split_first()?;
    let rest = match id {
        PAYLOAD_FORMAT_INDICATOR => value.get(1..)?,
        TOPIC_ALIAS => value.get(2..)?,
        MESSAGE_EXPIRY_INTERVAL => value.get(4..)?,
        CONTENT_TYPE | RESPONSE_TOPIC | CORRELATION_DATA => split_prefixed(value)?.1,
        USER_PROPERTY => split_prefixed(split_prefixed(value)?.1)?.1,
        _ => return None,
    };
    block.split_at_checked(block.len() - rest.len())
}

/// What a two-byte big-endian length announces, and what follows it.
fn split_prefixed(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = block.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

fn check_value(id: u8, property: &[u8]) -> Result<(), &'static str> {
    let value = property.get(1..).unwrap_or_default();
    let text = |block| split_prefixed(block).map(|(text, rest)| (std::str::from_utf8(text).ok(), rest));
    let is_text = |text: Option<&str>| text.is_some_and(|text| !text.contains('\0'));
    match id {
        // 0 unspecified bytes, 1 UTF-8 (3.3.2.3.2).
        PAYLOAD_FORMAT_INDICATOR if !matches!(value, [0 | 1]) => Err("must be 0 or 1"),
        CONTENT_TYPE if !text(value).is_some_and(|(text, _)| is_text(text)) => Err("is not UTF-8 text"),
        // [MQTT-3.3.2-14] no wildcards.
        RESPONSE_TOPIC => match text(value) {
            Some((Some(topic), _)) if is_text(Some(topic)) && !topic.contains(['+', '#']) => Ok(()),
            _ => Err("is not a topic name"),
        },
        USER_PROPERTY => {
            let (name, rest) = text(value).unwrap_or_default();
            let (value, _) = text(rest).unwrap_or_default();
            if is_text(name) && is_text(value) {
                Ok(())
            } else {
                Err("is not a pair of UTF-8 texts")
            }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_properties_pass() {
        for block in [
            &b""[..],
            b"\x01\x01",
            b"\x02\0\0\0\x0a\x03\0\x04json\x08\0\x03a/b\x09\0\x02\xff\xff",
            b"\x26\0\x01k\0\x01v\x26\0\x01k\0\x00",
        ] {
            assert_eq!(check_properties(block), Ok(()), "{block:?}");
        }
    }

    #[test]
    fn bad_properties_are_refused_with_their_reason() {
        for (block, reason) in [
            (&b"\x01\x02"[..], "0 or 1"),
            (b"\x01\x01\x01\x01", "twice"),
            (b"\x02\0\0\0", "cut short"),
            (b"\x03\0\x05json", "cut short"),
            (b"\x03\0\x01\xff", "UTF-8"),
            (b"\x08\0\x03a/#", "topic name"),
            (b"\x0b\x01", "may not set property 0x0b"),
            (b"\x23\0\x01", "may not set property 0x23"),
            (b"\x26\0\x01k\0\x01\0", "pair"),
            (b"\xff", "may not set"),
        ] {
            let text = check_properties(block).unwrap_err();
            assert!(text.contains(reason), "{block:?}: {text}");
        }
    }

    #[test]
    fn headers_are_pairs() {
        assert_eq!(check_headers(b""), Ok(()));
        assert_eq!(check_headers(b"\0\x01k\0\x02\xff\xff\0\x01l\0\0"), Ok(()));
        for block in [&b"\0"[..], b"\0\x01k", b"\0\x01k\0\x02v", b"\0\x01\xff\0\0"] {
            assert!(check_headers(block).is_err(), "{block:?}");
        }
    }
}
