//! One level of a filter, as a trie node keeps it.
//!
//! Invariant: 16 bytes; a level of up to [`SHORT`] bytes, as nearly all are, lies in the node itself, so that comparing
//! it reads no other memory. Deliberately does not know wildcards.

/// Longest level kept in place, bytes.
const SHORT: usize = 14;

/// The text of a level.
pub(crate) enum Level {
    Short {
        len: u8,
        bytes: [u8; SHORT],
    },
    /// Boxed twice: a pointer to text alone takes 16 bytes.
    Long(Box<Box<str>>),
}

impl Level {
    pub(crate) fn new(text: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Self::Short {
                    len: text.len() as u8,
                    bytes,
                }
            }
            None => Self::Long(Box::new(Box::from(text))),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            // Both are as `new` took them from a text.
            Self::Short { .. } => str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Self::Long(text) => text,
        }
    }

    /// Whether its text is `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.as_bytes() == text.as_bytes()
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Long(text) => text.as_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_any_length() {
        assert_eq!(size_of::<Level>(), 16);
        for text in [
            "",
            "a",
            "14-bytes-long-",
            "15-bytes-long--",
            "ééééééé",
            "éééééééé",
        ] {
            let level = Level::new(text);
            assert_eq!(level.as_str(), text);
            assert!(level.is(text) && !level.is("14-bytes-long") && !level.is("b"));
            assert_eq!(matches!(level, Level::Short { .. }), text.len() <= SHORT);
        }
    }
}
