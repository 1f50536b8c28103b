//! The stamp in a payload: when the message was meant to be sent, by which publisher, and as its how manieth.
//!
//! ```text
//!   binary  | intended send time, ns: 8 | publisher: 4 | sequence: 4 |     big-endian, 16 bytes
//!   hex     the same as 32 lower-case hexadecimal digits, for payloads that must stay text or JSON
//! ```
//! The time is of the monotonic clock, so stamps are only comparable on one machine.

/// What a stamp says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Intended send time, in nanoseconds of the monotonic clock.
    pub intended: u64,
    /// Index of the publisher in its load.
    pub publisher: u32,
    /// Counts the publisher's messages from 0.
    pub sequence: u32,
}

/// How a stamp is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampForm {
    /// 16 bytes.
    Binary,
    /// 32 hexadecimal digits.
    Hex,
}

/// Where in a payload its stamp stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StampPlace {
    /// Bytes from the start of the payload.
    pub offset: usize,
    /// How it is written there.
    pub form: StampForm,
}

impl StampForm {
    /// Bytes that a stamp of this form takes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Binary => 16,
            Self::Hex => 32,
        }
    }
}

impl Stamp {
    /// Writes the stamp over `place`, as much of it as there is.
    pub fn write(&self, form: StampForm, place: &mut [u8]) {
        let bytes = self.to_bytes();
        match form {
            StampForm::Binary => place.iter_mut().zip(bytes).for_each(|(to, from)| *to = from),
            StampForm::Hex => {
                let digits = bytes
                    .into_iter()
                    .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
                place.iter_mut().zip(digits).for_each(|(to, from)| *to = from);
            }
        }
    }

    /// Reads the stamp of `payload`; `None` when there is none at that place.
    pub fn read(place: StampPlace, payload: &[u8]) -> Option<Self> {
        let bytes = payload.get(place.offset..place.offset + place.form.bytes())?;
        match place.form {
            StampForm::Binary => Some(Self::from_bytes(bytes.first_chunk()?)),
            StampForm::Hex => {
                let mut binary = [0; 16];
                for (to, pair) in binary.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *to = (value(pair[0])? << 4) | value(pair[1])?;
                }
                Some(Self::from_bytes(&binary))
            }
        }
    }

    fn to_bytes(self) -> [u8; 16] {
        let all = (u128::from(self.intended) << 64)
            | (u128::from(self.publisher) << 32)
            | u128::from(self.sequence);
        all.to_be_bytes()
    }

    fn from_bytes(bytes: &[u8; 16]) -> Self {
        let all = u128::from_be_bytes(*bytes);
        Self {
            intended: (all >> 64) as u64,
            publisher: (all >> 32) as u32,
            sequence: all as u32,
        }
    }
}

fn digit(nibble: u8) -> u8 {
    match nibble {
        0..=9 => b'0' + nibble,
        _ => b'a' + (nibble - 10),
    }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_back_what_was_written() {
        let stamp = Stamp {
            intended: 0x0123_4567_89ab_cdef,
            publisher: 14_999,
            sequence: u32::MAX,
        };
        for form in [StampForm::Binary, StampForm::Hex] {
            let place = StampPlace { offset: 3, form };
            let mut payload = vec![b'.'; 3 + form.bytes() + 2];
            stamp.write(form, &mut payload[3..]);
            assert_eq!(Stamp::read(place, &payload), Some(stamp));
            assert_eq!(
                (&payload[..3], &payload[3 + form.bytes()..]),
                (&b"..."[..], &b".."[..])
            );
        }
    }

    #[test]
    fn a_payload_without_a_stamp_has_none() {
        let place = StampPlace {
            offset: 0,
            form: StampForm::Hex,
        };
        assert_eq!(Stamp::read(place, b"short"), None);
        assert_eq!(Stamp::read(place, &[b'z'; 32]), None);
    }
}
