//! Writing a property block.

use bytes::BytesMut;

use super::{Present, Properties, Property};
use crate::EncodeError;

/// Writes a block, property by property. The first property that MQTT cannot carry makes [`Self::build`] fail.
#[derive(Debug, Default)]
pub struct PropertiesBuilder {
    block: BytesMut,
    present: Present,
    error: Option<EncodeError>,
}

impl PropertiesBuilder {
    /// A builder that begins with `properties`.
    pub fn from_properties(properties: &Properties) -> Self {
        Self {
            block: BytesMut::from(&properties.block[..]),
            present: properties.present,
            error: None,
        }
    }

    /// Appends one property.
    pub fn push(&mut self, property: Property<'_>) -> &mut Self {
        let written = property.write(&mut self.block);
        let repeated = !self.present.add(property.id());
        let repeated = repeated.then_some(EncodeError::RepeatedProperty(property.id()));
        self.error = self.error.or(written.err()).or(repeated);
        self
    }

    /// The block, or why it has no encoding: a text over 65,535 bytes or with U+0000, a property twice that may stand
    /// only once, or a value its section forbids. Which packet may carry the block is checked when that is encoded.
    pub fn build(self) -> Result<Properties, EncodeError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Properties {
                block: self.block.freeze(),
                present: self.present,
            }),
        }
    }
}

impl<'a> Extend<Property<'a>> for PropertiesBuilder {
    fn extend<T: IntoIterator<Item = Property<'a>>>(&mut self, properties: T) {
        for property in properties {
            self.push(property);
        }
    }
}
