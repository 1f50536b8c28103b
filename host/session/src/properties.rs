//! Rewrites property blocks at the border of the session: what is meant for one hop does not travel on.

use tidegate_codec::{Properties, PropertiesBuilder, Property};

/// `properties` without those that `drop` picks.
pub(crate) fn without(properties: &Properties, drop: impl Fn(&Property<'_>) -> bool) -> Properties {
    let mut builder = PropertiesBuilder::default();
    for property in properties.iter().filter(|property| !drop(property)) {
        builder.push(property);
    }
    builder.build()
}
