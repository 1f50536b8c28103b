//! SUBSCRIBE and UNSUBSCRIBE.

use tidegate_codec::{
    Packet, Properties, QoS, ReasonCode, SubAck, TopicFilter, UnsubAck, Unsubscribe, Version,
};
use tidegate_session::{Input, Limits};

use crate::pair::{Pair, disconnect, id, lasting, passing, subscribe};

fn suback(packet_id: u16, reasons: &[ReasonCode]) -> Packet {
    Packet::SubAck(Box::new(SubAck {
        packet_id: id(packet_id),
        reasons: reasons.to_vec(),
        properties: Properties::empty(),
    }))
}

/// The broker answers the request it got last.
fn grant(pair: &mut Pair, epoch: u32, reasons: &[ReasonCode]) -> Vec<Packet> {
    let request = Box::new(pair.subscribes.pop().unwrap());
    let reasons = reasons.to_vec();
    pair.give(Input::Subscribed {
        epoch,
        request,
        reasons,
    })
}

fn filters(pair: &Pair) -> Vec<(String, QoS)> {
    let held = pair.session.subscriptions();
    held.map(|(filter, granted)| (filter.as_str().to_owned(), granted.options.qos))
        .collect()
}

/// [MQTT-3.8.4-1], [MQTT-3.8.4-2], [MQTT-3.8.4-6]
#[test]
fn suback_follows_when_the_broker_has_subscribed() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    assert_eq!(pair.send(subscribe(9, &["a", "b", "c"])), []);
    assert!(filters(&pair).is_empty());
    let reasons = [
        ReasonCode::GrantedQoS1,
        ReasonCode::NotAuthorized,
        ReasonCode::Success,
    ];
    assert_eq!(grant(&mut pair, 1, &reasons), [suback(9, &reasons)]);
    assert_eq!(
        filters(&pair),
        [
            ("a".to_owned(), QoS::AtLeastOnce),
            ("c".to_owned(), QoS::AtMostOnce)
        ]
    );
}

#[test]
fn a_grant_for_an_earlier_link_is_kept_and_not_answered() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(subscribe(9, &["a"]));
    pair.vanish();
    pair.connect(lasting(Version::V5));
    assert_eq!(grant(&mut pair, 1, &[ReasonCode::GrantedQoS2]), []);
    assert_eq!(filters(&pair), [("a".to_owned(), QoS::ExactlyOnce)]);
}

/// The broker is told to remove even what it has not granted yet.
#[test]
fn a_session_that_ends_names_the_filters_still_asked_for() {
    let mut pair = Pair::new(Limits::default());
    pair.connect(passing(Version::V5));
    pair.send(subscribe(9, &["a"]));
    pair.vanish();
    assert_eq!(pair.discarded, [[TopicFilter::new("a").unwrap()]]);
    assert_eq!(grant(&mut pair, 1, &[ReasonCode::GrantedQoS2]), []);
    assert!(filters(&pair).is_empty());
}

/// [MQTT-3.10.4-4], [MQTT-3.10.4-5]
#[test]
fn unsuback_follows_when_the_broker_has_unsubscribed() {
    let mut pair = Pair::connected(Version::V5, Limits::default());
    pair.send(subscribe(9, &["a", "b"]));
    grant(&mut pair, 1, &[ReasonCode::GrantedQoS2; 2]);
    let request = Box::new(Unsubscribe {
        packet_id: id(10),
        filters: ["a", "z"]
            .map(|filter| TopicFilter::new(filter).unwrap())
            .to_vec(),
        properties: Properties::empty(),
    });
    assert_eq!(pair.send(Packet::Unsubscribe(request)), []);
    assert_eq!(filters(&pair), [("b".to_owned(), QoS::ExactlyOnce)]);
    let reasons = vec![ReasonCode::Success, ReasonCode::NoSubscriptionExisted];
    let answer = pair.give(Input::Unsubscribed {
        epoch: 1,
        request: Box::new(pair.unsubscribes[0].clone()),
        reasons: reasons.clone(),
    });
    let unsuback = UnsubAck {
        packet_id: id(10),
        reasons,
        properties: Properties::empty(),
    };
    assert_eq!(answer, [Packet::UnsubAck(Box::new(unsuback))]);
}

#[test]
fn subscriptions_are_bounded() {
    let limits = Limits {
        subscriptions_max: 2,
        ..Limits::default()
    };
    let mut pair = Pair::connected(Version::V5, limits);
    pair.send(subscribe(1, &["a", "b"]));
    grant(&mut pair, 1, &[ReasonCode::GrantedQoS2; 2]);
    assert_eq!(
        pair.send(subscribe(2, &["c"])),
        [suback(2, &[ReasonCode::QuotaExceeded])]
    );
    // Replacing is not adding.
    assert_eq!(pair.send(subscribe(3, &["b"])), []);
    assert_eq!(pair.subscribes.len(), 1);
}

/// 3.2.2.3.13
#[test]
fn shared_subscriptions_that_are_not_available_are_refused() {
    let limits = Limits {
        shared_subscriptions: false,
        ..Limits::default()
    };
    let reason = ReasonCode::SharedSubscriptionsNotSupported;
    let mut pair = Pair::connected(Version::V5, limits.clone());
    assert_eq!(pair.send(subscribe(1, &["$share/g/a"])), [disconnect(reason)]);
    let mut pair = Pair::connected(Version::V311, limits);
    assert_eq!(
        pair.send(subscribe(1, &["$share/g/a"])),
        [suback(1, &[ReasonCode::UnspecifiedError])]
    );
    assert!(pair.session.is_connected());
}
