//! Arbitrary property blocks, by the identifiers that table 2-4 gives each packet.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tidegate_codec::{Properties, PropertiesBuilder, Property, PropertyId as Id};

use super::fields::{text, topic};

pub const CONNECT: &[u8] = &[0x11, 0x15, 0x16, 0x17, 0x19, 0x21, 0x22, 0x26, 0x27];
pub const CONNACK: &[u8] = &[
    0x11, 0x12, 0x13, 0x15, 0x16, 0x1A, 0x1C, 0x1F, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A,
];
pub const PUBLISH: &[u8] = &[0x01, 0x02, 0x03, 0x08, 0x09, 0x0B, 0x23, 0x26];
pub const WILL: &[u8] = &[0x01, 0x02, 0x03, 0x08, 0x09, 0x18, 0x26];
pub const ACK: &[u8] = &[0x1F, 0x26];
pub const SUBSCRIBE: &[u8] = &[0x0B, 0x26];
pub const UNSUBSCRIBE: &[u8] = &[0x26];
pub const DISCONNECT: &[u8] = &[0x11, 0x1C, 0x1F, 0x26];
pub const AUTH: &[u8] = &[0x15, 0x16, 0x1F, 0x26];

/// What values are made of: each property takes what its type needs.
#[derive(Debug, Clone)]
struct Seed {
    number: u32,
    text: String,
    topic: String,
    bytes: Vec<u8>,
}

fn seed() -> impl Strategy<Value = Seed> {
    let number = prop_oneof![any::<u32>(), 0..300u32];
    (number, text(), topic(), vec(any::<u8>(), 0..12)).prop_map(|(number, text, topic, bytes)| Seed {
        number,
        text,
        topic: topic.as_str().to_owned(),
        bytes,
    })
}

/// A block of properties among `ids`.
pub fn of(ids: &'static [u8]) -> impl Strategy<Value = Properties> {
    vec((select(ids), seed()), 0..6).prop_map(|list| build(&list, false))
}

/// The same, with an authentication method in any case.
pub fn with_method(ids: &'static [u8]) -> impl Strategy<Value = Properties> {
    vec((select(ids), seed()), 0..6).prop_map(|list| build(&list, true))
}

fn build(list: &[(u8, Seed)], method: bool) -> Properties {
    let mut seen = Vec::new();
    let mut builder = PropertiesBuilder::default();
    for (byte, seed) in list {
        let id = Id::from_byte(*byte).expect("an identifier of table 2-4");
        // More than one subscription identifier is PUBLISH's alone; the byte tables have those.
        if id == Id::UserProperty || !seen.contains(&id) {
            builder.push(property(id, seed));
            seen.push(id);
        }
    }
    let wanted = method || seen.contains(&Id::AuthenticationData);
    if wanted && !seen.contains(&Id::AuthenticationMethod) {
        builder.push(Property::AuthenticationMethod("method"));
    }
    builder.build().expect("every value is one that MQTT can carry")
}

fn property(id: Id, seed: &Seed) -> Property<'_> {
    let Seed {
        number,
        text,
        topic,
        bytes,
    } = seed;
    let (number, short, flag) = (*number, *number as u16, (*number % 2) as u8);
    match id {
        Id::PayloadFormatIndicator => Property::PayloadFormatIndicator(flag),
        Id::MessageExpiryInterval => Property::MessageExpiryInterval(number),
        Id::ContentType => Property::ContentType(text),
        Id::ResponseTopic => Property::ResponseTopic(topic),
        Id::CorrelationData => Property::CorrelationData(bytes),
        Id::SubscriptionIdentifier => Property::SubscriptionIdentifier(number % 268_435_455 + 1),
        Id::SessionExpiryInterval => Property::SessionExpiryInterval(number),
        Id::AssignedClientIdentifier => Property::AssignedClientIdentifier(text),
        Id::ServerKeepAlive => Property::ServerKeepAlive(short),
        Id::AuthenticationMethod => Property::AuthenticationMethod(text),
        Id::AuthenticationData => Property::AuthenticationData(bytes),
        Id::RequestProblemInformation => Property::RequestProblemInformation(flag),
        Id::WillDelayInterval => Property::WillDelayInterval(number),
        Id::RequestResponseInformation => Property::RequestResponseInformation(flag),
        Id::ResponseInformation => Property::ResponseInformation(text),
        Id::ServerReference => Property::ServerReference(text),
        Id::ReasonString => Property::ReasonString(text),
        Id::ReceiveMaximum => Property::ReceiveMaximum(short.max(1)),
        Id::TopicAliasMaximum => Property::TopicAliasMaximum(short),
        Id::TopicAlias => Property::TopicAlias(short.max(1)),
        Id::MaximumQoS => Property::MaximumQoS(flag),
        Id::RetainAvailable => Property::RetainAvailable(flag),
        Id::UserProperty => Property::UserProperty(text, topic),
        Id::MaximumPacketSize => Property::MaximumPacketSize(number.max(1)),
        Id::WildcardSubscriptionAvailable => Property::WildcardSubscriptionAvailable(flag),
        Id::SubscriptionIdentifierAvailable => Property::SubscriptionIdentifierAvailable(flag),
        Id::SharedSubscriptionAvailable => Property::SharedSubscriptionAvailable(flag),
    }
}
