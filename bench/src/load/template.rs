//! Templates for topics, client ids and payloads, rendered once per client before the run.
//!
//! Placeholders: `{i}` the client's index, `{i%N}` the index modulo N, `{rand}` eight hexadecimal digits drawn per
//! client, `{stamp}` (payloads only) the place of the stamp. The same seed gives the same text again.
//! Deliberately not a language: what varies per message is the stamp alone, so that a message costs one copy.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::wire::{StampForm, StampPlace};

/// Why a template is not one.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// A brace that is not closed, or a name that means nothing.
    #[error("unknown placeholder {{{0}}}: use {{i}}, {{i%N}} or {{rand}}")]
    UnknownPlaceholder(String),
    /// The kind before the colon.
    #[error("unknown payload {0:?}: use fixed:BYTES, random:BYTES, json:BYTES or file:PATH")]
    UnknownPayload(String),
    /// The number behind the colon.
    #[error("payload size {0:?} is not a number of bytes up to 268435455")]
    BadSize(String),
    /// A file that cannot be read.
    #[error("payload file {path} cannot be read: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Index { modulo: Option<u32> },
    Random,
}

/// What messages carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadTemplate {
    /// The same byte throughout.
    Fixed(usize),
    /// Bytes drawn per client.
    Random(usize),
    /// A JSON telemetry record, padded to the size; at least 78 bytes, so that a small size is exceeded.
    Json(usize),
    /// Text of a file, with placeholders.
    Text(Vec<u8>),
}

/// A payload for one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// Its bytes; those of the stamp are still blank.
    pub bytes: Vec<u8>,
    /// Where the stamp goes; `None` when the payload has no room for one, so that its messages are not traced.
    pub stamp: Option<StampPlace>,
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else {
                return Err(TemplateError::UnknownPlaceholder(after.to_owned()));
            };
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(placeholder(name)?);
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }
}

fn placeholder(name: &str) -> Result<Part, TemplateError> {
    let unknown = || TemplateError::UnknownPlaceholder(name.to_owned());
    match (name, name.strip_prefix("i%")) {
        ("i", _) => Ok(Part::Index { modulo: None }),
        ("rand", _) => Ok(Part::Random),
        (_, Some(modulo)) => match modulo.parse() {
            Ok(modulo) if modulo > 0 => Ok(Part::Index { modulo: Some(modulo) }),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

impl Template {
    /// `prefix` with the client's index behind it.
    pub fn prefixed(prefix: &str) -> Self {
        Self(vec![Part::Text(prefix.to_owned()), Part::Index { modulo: None }])
    }

    /// `text` as it is.
    pub fn constant(text: &str) -> Self {
        Self(vec![Part::Text(text.to_owned())])
    }

    /// The text of client `index`.
    pub fn render(&self, index: u32, seed: u64) -> String {
        let mut text = String::new();
        let mut random = Random::new(seed, index);
        for part in &self.0 {
            // Writing to a String cannot fail.
            let _ = match part {
                Part::Text(fixed) => text.write_str(fixed),
                Part::Index { modulo: None } => write!(text, "{index}"),
                Part::Index { modulo: Some(modulo) } => write!(text, "{}", index % modulo),
                Part::Random => write!(text, "{:08x}", random.next() >> 32),
            };
        }
        text
    }

    /// Whether every client gets the same text.
    pub fn is_constant(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Text(_)))
    }
}

impl FromStr for PayloadTemplate {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let size = || match rest.parse() {
            Ok(size) if size <= 268_435_455 => Ok(size),
            _ => Err(TemplateError::BadSize(rest.to_owned())),
        };
        match kind {
            "fixed" => Ok(Self::Fixed(size()?)),
            "random" => Ok(Self::Random(size()?)),
            "json" => Ok(Self::Json(size()?)),
            "file" => read(Path::new(rest)).map(Self::Text),
            _ => Err(TemplateError::UnknownPayload(text.to_owned())),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TemplateError> {
    std::fs::read(path).map_err(|source| TemplateError::File {
        path: path.to_owned(),
        source,
    })
}

impl PayloadTemplate {
    /// The payload of client `index`.
    pub fn render(&self, index: u32, seed: u64) -> Payload {
        let binary = |size: usize| {
            (size >= StampForm::Binary.bytes()).then_some(StampPlace {
                offset: 0,
                form: StampForm::Binary,
            })
        };
        match self {
            Self::Fixed(size) => Payload {
                bytes: vec![b'.'; *size],
                stamp: binary(*size),
            },
            Self::Random(size) => {
                let mut random = Random::new(seed, index);
                Payload {
                    bytes: (0..*size).map(|_| (random.next() >> 56) as u8).collect(),
                    stamp: binary(*size),
                }
            }
            Self::Json(size) => json(*size, index, seed),
            Self::Text(text) => fill(text, index, seed),
        }
    }
}

fn json(size: usize, index: u32, seed: u64) -> Payload {
    let value = Random::new(seed, index).next() % 1000;
    let head = format!(
        "{{\"stamp\":\"{{stamp}}\",\"device\":{index},\"value\":{}.{}",
        value / 10,
        value % 10
    );
    let stamp_growth = StampForm::Hex.bytes() - "{stamp}".len();
    let padding = size.saturating_sub(head.len() + stamp_growth + ",\"pad\":\"\"}".len());
    fill(
        format!("{head},\"pad\":\"{}\"}}", "x".repeat(padding)).as_bytes(),
        index,
        seed,
    )
}

/// Replaces `{i}`, `{rand}` and the first `{stamp}`; other braces stay, because payloads are full of them.
fn fill(text: &[u8], index: u32, seed: u64) -> Payload {
    let mut random = Random::new(seed, index);
    let mut bytes = Vec::with_capacity(text.len() + StampForm::Hex.bytes());
    let mut stamp = None;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(b"{stamp}")
            && stamp.is_none()
        {
            stamp = Some(StampPlace {
                offset: bytes.len(),
                form: StampForm::Hex,
            });
            bytes.extend_from_slice(&[b'0'; 32]);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(b"{i}") {
            bytes.extend_from_slice(index.to_string().as_bytes());
            rest = after;
        } else if let Some(after) = rest.strip_prefix(b"{rand}") {
            bytes.extend_from_slice(format!("{:08x}", random.next() >> 32).as_bytes());
            rest = after;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    Payload { bytes, stamp }
}

/// splitmix64: enough for filler bytes, and the same everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64, index: u32) -> Self {
        Self(seed ^ (u64::from(index) << 20))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_per_client() {
        let template: Template = "plant/{i%4}/device-{i}".parse().unwrap();
        assert_eq!(template.render(6, 0), "plant/2/device-6");
        assert!(!template.is_constant());
        let random: Template = "{rand}".parse().unwrap();
        assert_eq!(random.render(1, 5), random.render(1, 5));
        assert_ne!(random.render(1, 5), random.render(2, 5));
        assert!("bench/#".parse::<Template>().unwrap().is_constant());
    }

    #[test]
    fn unknown_placeholders_are_named() {
        for text in ["{x}", "{i%0}", "{i%a}", "open {i"] {
            assert!(text.parse::<Template>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_json_payload_is_json_of_the_size_asked_for_and_carries_its_stamp() {
        let payload = "json:200".parse::<PayloadTemplate>().unwrap().render(7, 1);
        assert_eq!(payload.bytes.len(), 200);
        let value: serde_json::Value = serde_json::from_slice(&payload.bytes).unwrap();
        assert_eq!(value["device"], 7);
        let place = payload.stamp.unwrap();
        assert_eq!(&payload.bytes[place.offset..place.offset + 32], [b'0'; 32]);
    }

    #[test]
    fn a_payload_too_small_for_a_stamp_has_none() {
        assert_eq!(PayloadTemplate::Fixed(15).render(0, 0).stamp, None);
        assert!(PayloadTemplate::Random(16).render(0, 0).stamp.is_some());
        assert!("fixed:many".parse::<PayloadTemplate>().is_err());
        assert!("file:/does/not/exist".parse::<PayloadTemplate>().is_err());
    }
}
