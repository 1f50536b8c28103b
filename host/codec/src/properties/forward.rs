//! What happens to properties on the way from publisher to subscriber.
//!
//! Invariant: nothing is copied unless a byte must change, and what stays keeps its order [MQTT-3.3.2-18].

use bytes::{BufMut, BytesMut};

use super::{Present, Properties, Property, PropertyId};
use crate::decode::Fields;

impl Properties {
    /// These properties without those whose identifier is among `ids`. Shares the block where none occurs, or where
    /// what remains lies together.
    #[must_use]
    pub fn without(&self, ids: &[PropertyId]) -> Self {
        let out = ids.iter().fold(0, |set, id| set | id.bit());
        if self.present.0 & out == 0 {
            return self.clone();
        }
        let mut present = Present(self.present.0 & !out);
        if !present.has(PropertyId::SubscriptionIdentifier) {
            present.0 &= !Present::SECOND_SUBSCRIPTION_ID;
        }
        let mut kept = Kept::default();
        let mut fields = Fields(&self.block);
        while let Some(id) = fields.0.first().and_then(|&byte| PropertyId::from_byte(byte)) {
            let start = self.block.len() - fields.0.len();
            if Property::skip(&mut fields).is_err() {
                break; // The block is checked: there is no error before its end.
            }
            if out & id.bit() == 0 {
                kept.add(&self.block, start, self.block.len() - fields.0.len());
            }
        }
        match kept.copied {
            Some(copied) => Self {
                block: copied.freeze(),
                present,
            },
            None => Self {
                block: self.block.slice(kept.start..kept.end),
                present,
            },
        }
    }

    /// These properties with the Message Expiry Interval `seconds` in place of theirs [MQTT-3.3.2-6]; added at the
    /// end if they had none.
    #[must_use]
    pub fn with_message_expiry_interval(&self, seconds: u32) -> Self {
        let mut block = BytesMut::with_capacity(self.block.len() + 5);
        block.put_slice(&self.block);
        let mut present = self.present;
        match self.message_expiry_position() {
            Some(position) => put_seconds(&mut block, position, seconds),
            None => {
                present.add(PropertyId::MessageExpiryInterval);
                block.put_u8(PropertyId::MessageExpiryInterval as u8);
                block.put_u32(seconds);
            }
        }
        Self {
            block: block.freeze(),
            present,
        }
    }

    /// Where the four bytes of the Message Expiry Interval stand in the block.
    pub(crate) fn message_expiry_position(&self) -> Option<usize> {
        let id = PropertyId::MessageExpiryInterval;
        self.contains(id)
            .then(|| self.position(id))
            .flatten()
            .map(|position| position + 1)
    }
}

/// Writes `seconds` over the four bytes at `position`.
pub(crate) fn put_seconds(bytes: &mut [u8], position: usize, seconds: u32) {
    if let Some(place) = bytes.get_mut(position..position + 4) {
        place.copy_from_slice(&seconds.to_be_bytes());
    }
}

/// The properties that stay: a run of the old block, or a copy once they lie in more than one.
#[derive(Default)]
struct Kept {
    start: usize,
    end: usize,
    copied: Option<BytesMut>,
}

impl Kept {
    /// Adds the property at `start..end` of `block`.
    fn add(&mut self, block: &[u8], start: usize, end: usize) {
        let part = |from: usize, to: usize| block.get(from..to).unwrap_or_default();
        match &mut self.copied {
            Some(copied) => copied.put_slice(part(start, end)),
            None if self.start == self.end => (self.start, self.end) = (start, end),
            None if self.end == start => self.end = end,
            None => {
                let mut copied = BytesMut::with_capacity(block.len());
                copied.put_slice(part(self.start, self.end));
                copied.put_slice(part(start, end));
                self.copied = Some(copied);
            }
        }
    }
}
