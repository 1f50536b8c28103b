//! Packs messages into the two lists that go into a module. `wit/tidegate-broker/handler.wit` has the layout.
//!
//! Invariant: every offset and length in `index` lies in `arena`, and texts are UTF-8. Does not copy what the manifest's
//! projection does not ask for.

use std::ops::Range;

use tidegate_codec::{QoS, TopicName};

use crate::blocks;
use crate::{PayloadKind, Projection};

/// Words of `index` per message.
pub(crate) const MESSAGE_WORDS: usize = 14;

/// Messages that one batch holds at most. A larger batch gains nothing: the cost of a call is spread out long before.
pub const BATCH_MESSAGES_MAX: usize = 1024;

/// Bytes that one batch holds at most, unless it is one single larger message: what a call copies into a module, so
/// that neither its deadline nor its memory depends on how full a tick was.
pub const BATCH_BYTES_MAX: usize = 256 * 1024;

const FLAG_RETAIN: u32 = 1 << 2;
const PAYLOAD_BYTES: u32 = 1 << 4;
const PAYLOAD_TEXT: u32 = 2 << 4;

/// A published message as a module may see it.
#[derive(Debug, Clone, Copy)]
pub struct MessageView<'a> {
    /// Topic as it stands now in the chain.
    pub topic: &'a TopicName,
    /// The payload.
    pub payload: &'a [u8],
    /// QoS it was published with.
    pub qos: QoS,
    /// Retain flag.
    pub retain: bool,
    /// The broker's number of the publishing connection; 0 for the broker's own messages.
    pub client: u32,
    /// When the broker received it, milliseconds since the Unix epoch.
    pub received_ms: u64,
    /// Client id of the publisher; empty for the broker's own messages.
    pub client_id: &'a str,
    /// User name of the publisher; empty if it gave none.
    pub username: &'a str,
    /// Checked MQTT 5.0 property block, without its length in front. A topic alias in it is left out.
    pub properties: &'a [u8],
}

/// No room: call with what is there, clear, and push again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the batch is full")]
pub struct BatchFull;

/// Messages for one call. Meant to be cleared and filled again: its memory is kept.
#[derive(Debug, Default)]
pub struct Batch {
    index: Vec<u32>,
    arena: Vec<u8>,
    newest_ms: u64,
}

impl Batch {
    /// An empty batch.
    pub const fn new() -> Self {
        Self {
            index: Vec::new(),
            arena: Vec::new(),
            newest_ms: 0,
        }
    }

    /// Forgets the messages. Keeps the memory, except for what a single large message took.
    pub fn clear(&mut self) {
        self.index.clear();
        self.arena.clear();
        self.arena.shrink_to(2 * BATCH_BYTES_MAX);
        self.newest_ms = 0;
    }

    /// Number of messages.
    pub fn len(&self) -> usize {
        self.index.len() / MESSAGE_WORDS
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// When the newest of its messages was received: the time that the module sees during the call.
    pub fn newest_ms(&self) -> u64 {
        self.newest_ms
    }

    /// Appends what `projection` asks for of a message. A batch takes at least one message, whatever its size.
    ///
    /// # Errors
    /// [`BatchFull`]; the batch is as it was.
    pub fn push(&mut self, message: &MessageView<'_>, projection: &Projection) -> Result<(), BatchFull> {
        let start = self.arena.len();
        let bytes = message.projected_bytes(projection);
        let full = self.len() >= BATCH_MESSAGES_MAX || start.saturating_add(bytes) > BATCH_BYTES_MAX;
        let end = u32::try_from(start.saturating_add(bytes)).map_err(|_| BatchFull)?;
        if full && !self.is_empty() {
            return Err(BatchFull);
        }
        self.arena.reserve(bytes);
        let mut at = u32::try_from(start).map_err(|_| BatchFull)?;
        let mut put = |part: &[u8]| {
            self.arena.extend_from_slice(part);
            let offset = at;
            // Cannot cut: `end`, the sum of all parts, fits.
            at += part.len() as u32;
            [offset, at - offset]
        };
        let [topic, topic_len] = put(message.topic.as_str().as_bytes());
        let [payload, payload_len] = put(projection.payload_of(message));
        let [client_id, client_id_len] = put(if projection.client_id {
            message.client_id.as_bytes()
        } else {
            &[]
        });
        let [username, username_len] = put(if projection.username {
            message.username.as_bytes()
        } else {
            &[]
        });
        let properties = at;
        if projection.properties {
            blocks::copy_properties(message.properties, &mut self.arena);
        }
        let properties_len = (self.arena.len() as u32).saturating_sub(properties);
        debug_assert!(properties + properties_len <= end);
        self.index.extend_from_slice(&[
            topic,
            topic_len,
            payload,
            payload_len,
            message.flags(projection),
            message.client,
            message.received_ms as u32,
            (message.received_ms >> 32) as u32,
            client_id,
            client_id_len,
            username,
            username_len,
            properties,
            properties_len,
        ]);
        self.newest_ms = self.newest_ms.max(message.received_ms);
        Ok(())
    }

    /// The two lists for the messages in `range`. Offsets count from the start of the whole arena.
    pub(crate) fn lists(&self, range: Range<usize>) -> (&[u32], &[u8]) {
        let words = range.start * MESSAGE_WORDS..range.end * MESSAGE_WORDS;
        (self.index.get(words).unwrap_or_default(), &self.arena)
    }
}

impl MessageView<'_> {
    /// At most so many bytes go into the arena.
    fn projected_bytes(&self, projection: &Projection) -> usize {
        let part = |asked: bool, bytes: usize| if asked { bytes } else { 0 };
        self.topic.as_str().len()
            + projection.payload_of(self).len()
            + part(projection.client_id, self.client_id.len())
            + part(projection.username, self.username.len())
            + part(projection.properties, self.properties.len())
    }

    fn flags(&self, projection: &Projection) -> u32 {
        let payload = match projection.payload {
            PayloadKind::None => 0,
            PayloadKind::Bytes => PAYLOAD_BYTES,
            PayloadKind::Text if std::str::from_utf8(self.payload).is_ok() => PAYLOAD_TEXT,
            PayloadKind::Text => PAYLOAD_BYTES,
        };
        self.qos as u32 | if self.retain { FLAG_RETAIN } else { 0 } | payload
    }
}

impl Projection {
    fn payload_of<'a>(&self, message: &MessageView<'a>) -> &'a [u8] {
        match self.payload {
            PayloadKind::None => &[],
            PayloadKind::Bytes | PayloadKind::Text => message.payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Projection = Projection {
        payload: PayloadKind::Text,
        client_id: true,
        username: true,
        properties: true,
    };

    fn view<'a>(topic: &'a TopicName, payload: &'a [u8]) -> MessageView<'a> {
        MessageView {
            topic,
            payload,
            qos: QoS::ExactlyOnce,
            retain: true,
            client: 9,
            received_ms: 0x1_0000_0002,
            client_id: "meter",
            username: "ann",
            // Topic alias 1, then payload format indicator 1.
            properties: &[0x23, 0, 1, 0x01, 1],
        }
    }

    fn part(batch: &Batch, message: usize, word: usize) -> &[u8] {
        let (index, arena) = batch.lists(message..message + 1);
        let (offset, length) = (index[word] as usize, index[word + 1] as usize);
        &arena[offset..offset + length]
    }

    #[test]
    fn every_part_lies_where_the_index_says() {
        let (first, second) = (TopicName::new("a/b").unwrap(), TopicName::new("c").unwrap());
        let mut batch = Batch::new();
        batch.push(&view(&first, b"21.5"), &ALL).unwrap();
        batch.push(&view(&second, b"\xff"), &ALL).unwrap();
        assert_eq!(batch.len(), 2);
        assert_eq!(batch.newest_ms(), 0x1_0000_0002);
        assert_eq!(part(&batch, 0, 0), b"a/b");
        assert_eq!(part(&batch, 0, 2), b"21.5");
        assert_eq!(part(&batch, 1, 0), b"c");
        assert_eq!(part(&batch, 1, 2), b"\xff");
        for message in 0..2 {
            assert_eq!(part(&batch, message, 8), b"meter");
            assert_eq!(part(&batch, message, 10), b"ann");
            assert_eq!(part(&batch, message, 12), [0x01, 1], "without the topic alias");
        }
        let (index, _) = batch.lists(0..2);
        assert_eq!(index[4], 2 | 1 << 2 | 2 << 4, "QoS 2, retain, text");
        assert_eq!(index[MESSAGE_WORDS + 4], 2 | 1 << 2 | 1 << 4, "not UTF-8: bytes");
        assert_eq!(index[5..8], [9, 2, 1]);
    }

    #[test]
    fn what_is_not_asked_for_is_not_copied() {
        let topic = TopicName::new("a").unwrap();
        let none = Projection {
            payload: PayloadKind::None,
            ..Projection::default()
        };
        let mut batch = Batch::new();
        batch.push(&view(&topic, b"payload"), &none).unwrap();
        let (index, arena) = batch.lists(0..1);
        assert_eq!(arena, b"a");
        assert_eq!(index[4] >> 4, 0);
        assert_eq!([index[3], index[9], index[11], index[13]], [0; 4]);
    }

    #[test]
    fn a_full_batch_says_so_but_takes_one_large_message() {
        let topic = TopicName::new("a").unwrap();
        let large = vec![0; 2 * BATCH_BYTES_MAX];
        let mut batch = Batch::new();
        batch.push(&view(&topic, &large), &Projection::default()).unwrap();
        assert_eq!(
            batch.push(&view(&topic, b""), &Projection::default()),
            Err(BatchFull)
        );
        batch.clear();
        assert!(batch.is_empty() && batch.newest_ms() == 0);
        for _ in 0..BATCH_MESSAGES_MAX {
            batch.push(&view(&topic, b""), &Projection::default()).unwrap();
        }
        assert_eq!(
            batch.push(&view(&topic, b""), &Projection::default()),
            Err(BatchFull)
        );
        assert_eq!(batch.len(), BATCH_MESSAGES_MAX);
    }
}
