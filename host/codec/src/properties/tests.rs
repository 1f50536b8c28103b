//! Getters, builder and forwarding of property blocks; what a block may hold is in the byte tables.

use super::*;

fn block(list: &[Property<'_>]) -> Properties {
    let mut builder = PropertiesBuilder::default();
    builder.extend(list.iter().copied());
    builder.build().unwrap()
}

/// Every property with a value of its own.
const EVERY: [Property<'static>; 27] = [
    Property::PayloadFormatIndicator(1),
    Property::MessageExpiryInterval(2),
    Property::ContentType("content"),
    Property::ResponseTopic("response"),
    Property::CorrelationData(b"\0\xFF"),
    Property::SubscriptionIdentifier(268_435_455),
    Property::SessionExpiryInterval(11),
    Property::AssignedClientIdentifier("client"),
    Property::ServerKeepAlive(13),
    Property::AuthenticationMethod("method"),
    Property::AuthenticationData(b"data"),
    Property::RequestProblemInformation(0),
    Property::WillDelayInterval(18),
    Property::RequestResponseInformation(1),
    Property::ResponseInformation("information"),
    Property::ServerReference("server"),
    Property::ReasonString("reason"),
    Property::ReceiveMaximum(21),
    Property::TopicAliasMaximum(22),
    Property::TopicAlias(23),
    Property::MaximumQoS(1),
    Property::RetainAvailable(0),
    Property::UserProperty("name", "value"),
    Property::MaximumPacketSize(27),
    Property::WildcardSubscriptionAvailable(0),
    Property::SubscriptionIdentifierAvailable(1),
    Property::SharedSubscriptionAvailable(0),
];

#[test]
fn every_property_is_found_behind_all_others() {
    let forwards = block(&EVERY);
    assert_eq!(forwards.iter().collect::<Vec<_>>(), EVERY);
    let mut reversed = EVERY;
    reversed.reverse();
    let backwards = block(&reversed);
    for property in EVERY {
        assert_eq!(forwards.get(property.id()), Some(property));
        assert_eq!(backwards.get(property.id()), Some(property));
        assert_eq!(Properties::empty().get(property.id()), None);
        assert_eq!(PropertyId::from_byte(property.id() as u8), Some(property.id()));
    }
    assert_eq!(EVERY.map(|property| property.id()), PropertyId::ALL);
}

#[test]
fn getters_give_values_in_their_own_types() {
    let all = block(&EVERY);
    assert_eq!(all.payload_is_text(), Some(true));
    assert_eq!(all.message_expiry_interval(), Some(2));
    assert_eq!(all.correlation_data(), Some(&b"\0\xFF"[..]));
    assert_eq!(all.subscription_identifier(), Some(268_435_455));
    assert_eq!(all.session_expiry_interval(), Some(11));
    assert_eq!(all.request_problem_information(), Some(false));
    assert_eq!(all.receive_maximum(), Some(21));
    assert_eq!(all.topic_alias_maximum(), Some(22));
    assert_eq!(all.topic_alias(), Some(23));
    assert_eq!(all.maximum_qos(), Some(crate::QoS::AtLeastOnce));
    assert_eq!(all.maximum_packet_size(), Some(27));
    assert_eq!(all.shared_subscription_available(), Some(false));
    assert_eq!(all.user_properties().collect::<Vec<_>>(), [("name", "value")]);
    let none = Properties::empty();
    assert_eq!(
        (none.topic_alias(), none.subscription_identifiers().count()),
        (None, 0)
    );
}

#[test]
fn without_shares_the_block_unless_what_stays_is_torn_apart() {
    let alias = Property::TopicAlias(1);
    let (first, second) = (Property::ContentType("t"), Property::UserProperty("k", "v"));
    let strip = |list: &[Property<'_>]| {
        let whole = block(list);
        let left = whole.without(&[PropertyId::TopicAlias, PropertyId::SubscriptionIdentifier]);
        let range = whole.block().as_ptr_range();
        let shared = left.is_empty() || range.contains(&left.block().as_ptr());
        (left, shared)
    };
    let expected = block(&[first, second]);
    assert_eq!(strip(&[first, second]), (expected.clone(), true));
    assert_eq!(strip(&[alias, first, second]), (expected.clone(), true));
    assert_eq!(
        strip(&[first, second, alias, Property::SubscriptionIdentifier(300)]),
        (expected.clone(), true)
    );
    assert_eq!(strip(&[first, alias, second]), (expected.clone(), false));
    let torn = [
        Property::SubscriptionIdentifier(1),
        first,
        alias,
        second,
        Property::SubscriptionIdentifier(2),
    ];
    assert_eq!(strip(&torn), (expected, false));
    assert_eq!(strip(&[alias]), (Properties::empty(), true));
}

#[test]
fn message_expiry_is_replaced_in_place_or_added() {
    let expiry = |seconds| Property::MessageExpiryInterval(seconds);
    let text = Property::ContentType("t");
    let replaced = block(&[text, expiry(100), text_pair()]).with_message_expiry_interval(5);
    assert_eq!(replaced, block(&[text, expiry(5), text_pair()]));
    assert_eq!(
        block(&[text]).with_message_expiry_interval(5),
        block(&[text, expiry(5)])
    );
}

const fn text_pair() -> Property<'static> {
    Property::UserProperty("k", "v")
}

#[test]
fn detached_has_memory_of_its_own() {
    let all = block(&EVERY);
    let own = all.detached();
    assert_eq!(own, all);
    assert!(!all.block().as_ptr_range().contains(&own.block().as_ptr()));
}

#[test]
fn the_builder_refuses_what_mqtt_cannot_carry() {
    let long = "x".repeat(65_536);
    let cases = [
        (
            vec![Property::ContentType(&long)],
            EncodeError::FieldTooLong { bytes: 65_536 },
        ),
        (
            vec![Property::UserProperty("k", &long)],
            EncodeError::FieldTooLong { bytes: 65_536 },
        ),
        (vec![Property::ReasonString("a\0b")], EncodeError::NullCharacter),
        (
            vec![Property::TopicAlias(0)],
            EncodeError::PropertyValue(PropertyId::TopicAlias),
        ),
        (
            vec![Property::SubscriptionIdentifier(268_435_456)],
            EncodeError::PropertyValue(PropertyId::SubscriptionIdentifier),
        ),
        (
            vec![
                Property::ContentType("a"),
                Property::ContentType("b"),
                Property::ReceiveMaximum(0),
            ],
            EncodeError::RepeatedProperty(PropertyId::ContentType),
        ),
    ];
    for (list, error) in cases {
        let mut builder = PropertiesBuilder::default();
        builder.extend(list.iter().copied());
        assert_eq!(builder.build(), Err(error));
    }
    let longest = "x".repeat(65_535);
    assert_eq!(
        block(&[Property::ContentType(&longest)]).content_type(),
        Some(longest.as_str())
    );
}

#[test]
fn a_builder_goes_on_where_a_block_ends() {
    let mut builder = PropertiesBuilder::from_properties(&block(&[Property::ContentType("t")]));
    builder
        .push(Property::SubscriptionIdentifier(1))
        .push(Property::SubscriptionIdentifier(2));
    let properties = builder.build().unwrap();
    assert_eq!(properties.subscription_identifiers().collect::<Vec<_>>(), [1, 2]);
    let mut builder = PropertiesBuilder::from_properties(&properties);
    builder.push(Property::ContentType("u"));
    assert_eq!(
        builder.build(),
        Err(EncodeError::RepeatedProperty(PropertyId::ContentType))
    );
}
