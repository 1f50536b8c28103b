//! One change of keyed state, as the body of an entry for [`crate::CursorId::KEYED`].
//!
//! ```text
//! put     1  key length u32 LE  key  value
//! delete  2  key length u32 LE  key
//! ```

const PUT: u8 = 1;
const DELETE: u8 = 2;

/// A change of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// `key` has `value` from now on.
    Put {
        /// 1 to 65,535 bytes.
        key: &'a [u8],
        /// Up to 4 GiB.
        value: &'a [u8],
    },
    /// `key` has no value from now on.
    Delete {
        /// 1 to 65,535 bytes.
        key: &'a [u8],
    },
}

/// Bytes that are no change, or a key that cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a change of keyed state: {0}")]
pub struct Malformed(pub &'static str);

impl<'a> Change<'a> {
    /// Adds the entry's body to `body`.
    pub fn encode(&self, body: &mut Vec<u8>) -> Result<(), Malformed> {
        let (kind, key, value) = match *self {
            Self::Put { key, value } => (PUT, key, value),
            Self::Delete { key } => (DELETE, key, &[][..]),
        };
        check_key(key)?;
        body.push(kind);
        body.extend_from_slice(&(key.len() as u32).to_le_bytes());
        body.extend_from_slice(key);
        body.extend_from_slice(value);
        Ok(())
    }

    /// Reads an entry's body.
    pub fn decode(body: &'a [u8]) -> Result<Self, Malformed> {
        let (kind, rest) = body.split_first().ok_or(Malformed("an empty body"))?;
        let (length, rest) = rest.split_first_chunk().ok_or(Malformed("cut before the key"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let (key, value) = rest
            .split_at_checked(length)
            .ok_or(Malformed("cut within the key"))?;
        check_key(key)?;
        match *kind {
            PUT => Ok(Self::Put { key, value }),
            DELETE if value.is_empty() => Ok(Self::Delete { key }),
            DELETE => Err(Malformed("a deletion with a value")),
            _ => Err(Malformed("an unknown kind of change")),
        }
    }
}

fn check_key(key: &[u8]) -> Result<(), Malformed> {
    match key.len() {
        0 => Err(Malformed("an empty key")),
        1..=0xffff => Ok(()),
        _ => Err(Malformed("a key over 65,535 bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_read_back_as_written() {
        for change in [
            Change::Put {
                key: b"k",
                value: b"",
            },
            Change::Put {
                key: b"key",
                value: b"value",
            },
            Change::Delete { key: b"key" },
        ] {
            let mut body = Vec::new();
            change.encode(&mut body).unwrap();
            assert_eq!(Change::decode(&body), Ok(change));
            let cut = &body[..4];
            assert!(Change::decode(cut).is_err());
        }
        assert!(Change::Delete { key: b"" }.encode(&mut Vec::new()).is_err());
        assert!(Change::decode(&[3, 1, 0, 0, 0, b'k']).is_err());
    }
}
