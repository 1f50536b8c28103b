//! Properties (2.2.2): a validated block of bytes, parsed again only by who asks.
//!
//! ```text
//! on the wire:  length | id value | id value | ...      length is not kept
//! in memory:             id value | id value | ...      + one bit per identifier that occurs
//! ```
//! Invariant: the block is well formed, no property repeats that must not, and the bits are true. Decode and the
//! builder are the only ways to one. Afterwards it is carried, cloned and forwarded as bytes in the sender's order
//! [MQTT-3.3.2-18]; the bits answer "is there a topic alias?" without looking. Does not know what a property means.

mod builder;
mod forward;
mod getters;
mod id;
mod property;
#[cfg(test)]
mod tests;

use std::fmt;

use bytes::Bytes;

use crate::decode::{Fields, share};
use crate::{DecodeError, EncodeError};

pub use builder::PropertiesBuilder;
pub(crate) use forward::put_seconds;
pub(crate) use id::Carrier;
pub use id::PropertyId;
pub use property::Property;

/// A well-formed property block without its length prefix. Empty in MQTT 3.1.1. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Properties {
    block: Bytes,
    present: Present,
}

/// Which properties a block holds: bit `n` for identifier `n`, bit 0 (no identifier) for a second subscription
/// identifier, which PUBLISH may carry and SUBSCRIBE may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Present(u64);

impl Present {
    const SECOND_SUBSCRIPTION_ID: u64 = 1;

    /// Adds `id`; false if it is there and may not repeat.
    fn add(&mut self, id: PropertyId) -> bool {
        let again = self.0 & id.bit() != 0;
        self.0 |= id.bit();
        match id {
            PropertyId::UserProperty => true,
            PropertyId::SubscriptionIdentifier => {
                self.0 |= if again { Self::SECOND_SUBSCRIPTION_ID } else { 0 };
                true
            }
            _ => !again,
        }
    }

    const fn has(self, id: PropertyId) -> bool {
        self.0 & id.bit() != 0
    }
}

impl Properties {
    /// No properties; costs nothing.
    pub const fn empty() -> Self {
        Self {
            block: Bytes::new(),
            present: Present(0),
        }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.present.0 == 0
    }

    /// The block as it stands on the wire, without its length.
    pub const fn block(&self) -> &Bytes {
        &self.block
    }

    /// Whether `id` occurs. Costs a bit test.
    #[inline]
    pub const fn contains(&self, id: PropertyId) -> bool {
        self.present.has(id)
    }

    /// The properties in the sender's order.
    pub fn iter(&self) -> impl Iterator<Item = Property<'_>> {
        let mut fields = Fields(&self.block);
        // The block is checked, so that the first error is its end.
        std::iter::from_fn(move || {
            (!fields.is_empty())
                .then(|| Property::read(&mut fields).ok())
                .flatten()
        })
    }

    /// The first property with the identifier `id`.
    pub fn get(&self, id: PropertyId) -> Option<Property<'_>> {
        if !self.contains(id) {
            return None;
        }
        let mut fields = Fields(self.block.get(self.position(id)?..)?);
        Property::read(&mut fields).ok()
    }

    /// The same properties in memory of their own, so that they do not keep a read buffer alive.
    #[must_use]
    pub fn detached(&self) -> Self {
        self.moved_to(Bytes::copy_from_slice(&self.block))
    }

    /// The same properties in `block`, which holds the same bytes.
    pub(crate) const fn moved_to(&self, block: Bytes) -> Self {
        Self {
            block,
            present: self.present,
        }
    }

    /// Takes the length and the block off `fields`, which are part of `frame`, and checks what `carrier` may carry.
    #[inline]
    pub(crate) fn decode(
        carrier: Carrier,
        frame: &Bytes,
        fields: &mut Fields<'_>,
    ) -> Result<Self, DecodeError> {
        let length = fields.variable()?;
        if length == 0 {
            return Ok(Self::empty());
        }
        let block = fields.take(length as usize)?;
        let present = check(block, carrier)?;
        Ok(Self {
            block: share(frame, block),
            present,
        })
    }

    /// Whether `carrier` may carry all of them.
    #[inline]
    pub(crate) fn check_for(&self, carrier: Carrier) -> Result<(), EncodeError> {
        match self.is_empty() {
            true => Ok(()),
            false => self.check_each_for(carrier),
        }
    }

    fn check_each_for(&self, carrier: Carrier) -> Result<(), EncodeError> {
        let misplaced = self.present.0 & !carrier.allowed() & !Present::SECOND_SUBSCRIPTION_ID;
        if let Some(property) = PropertyId::from_byte(misplaced.trailing_zeros() as u8) {
            return Err(EncodeError::MisplacedProperty {
                carrier: carrier.name(),
                property,
            });
        }
        if self.present.0 & Present::SECOND_SUBSCRIPTION_ID != 0 && !carrier.repeats_subscription_id() {
            return Err(EncodeError::RepeatedProperty(PropertyId::SubscriptionIdentifier));
        }
        match self.authentication_data_alone() {
            true => Err(EncodeError::AuthenticationDataAlone),
            false => Ok(()),
        }
    }

    /// Where the first property `id` begins in the block. Passes over the others without reading them.
    fn position(&self, id: PropertyId) -> Option<usize> {
        let mut fields = Fields(&self.block);
        while let Some(byte) = fields.0.first() {
            if *byte == id as u8 {
                return Some(self.block.len() - fields.0.len());
            }
            Property::skip(&mut fields).ok()?;
        }
        None
    }

    const fn authentication_data_alone(&self) -> bool {
        self.present.has(PropertyId::AuthenticationData)
            && !self.present.has(PropertyId::AuthenticationMethod)
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Checks every property of `block`; says which there are.
fn check(block: &[u8], carrier: Carrier) -> Result<Present, DecodeError> {
    let mut fields = Fields(block);
    let mut present = Present::default();
    while !fields.is_empty() {
        let id = Property::read(&mut fields)?.id();
        if carrier.allowed() & id.bit() == 0 {
            return Err(DecodeError::MisplacedProperty(id)); // 2.2.2.2
        }
        if !present.add(id) {
            return Err(DecodeError::RepeatedProperty(id));
        }
    }
    if present.0 & Present::SECOND_SUBSCRIPTION_ID != 0 && !carrier.repeats_subscription_id() {
        return Err(DecodeError::RepeatedProperty(PropertyId::SubscriptionIdentifier)); // 3.8.2.1.2
    }
    match present.has(PropertyId::AuthenticationData) && !present.has(PropertyId::AuthenticationMethod) {
        true => Err(DecodeError::AuthenticationDataAlone), // 3.1.2.11.10
        false => Ok(present),
    }
}
