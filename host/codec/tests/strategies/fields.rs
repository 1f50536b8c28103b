//! Arbitrary fields.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tidegate_codec::{ClientId, PacketId, QoS, ReasonCode, RetainHandling, TopicFilter, TopicName};

/// Text of every UTF-8 length, without U+0000.
pub fn text() -> impl Strategy<Value = String> {
    "[ -~é漢\u{FEFF}\u{FFFF}😀]{0,12}"
}

pub fn client_id() -> impl Strategy<Value = ClientId> {
    text().prop_filter_map("not empty", |text| ClientId::new(&text))
}

pub fn topic() -> impl Strategy<Value = TopicName> {
    "[a-c$/ é漢😀]{1,12}".prop_map(|text| TopicName::new(&text).expect("no wildcard"))
}

pub fn filter() -> impl Strategy<Value = TopicFilter> {
    let level = prop_oneof![Just("+".to_owned()), "[a-c$ é😀]{0,3}".prop_map(String::from)];
    let share = prop_oneof![4 => Just(""), 1 => Just("$share/group/")];
    (share, vec(level, 1..4), any::<bool>()).prop_filter_map("not empty", |(share, levels, all)| {
        let tail = if all { "/#" } else { "" };
        TopicFilter::new(&format!("{share}{}{tail}", levels.join("/"))).ok()
    })
}

/// Mostly short; sometimes long enough for a Remaining Length of two or three bytes.
pub fn payload() -> impl Strategy<Value = Bytes> {
    let long = prop_oneof![100..140usize, 16_300..16_400usize].prop_map(|length| vec![0xA5; length]);
    prop_oneof![6 => vec(any::<u8>(), 0..40), 1 => long].prop_map(Bytes::from)
}

pub fn packet_id() -> impl Strategy<Value = PacketId> {
    (1..=u16::MAX).prop_map(|value| PacketId::new(value).expect("above 0"))
}

pub fn qos() -> impl Strategy<Value = QoS> {
    select(vec![QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce])
}

pub fn retain_handling() -> impl Strategy<Value = RetainHandling> {
    select(vec![
        RetainHandling::Send,
        RetainHandling::SendIfNew,
        RetainHandling::DoNotSend,
    ])
}

pub fn reason(codes: &'static [u8]) -> impl Strategy<Value = ReasonCode> {
    select(codes).prop_map(|code| ReasonCode::from_byte(code).expect("a code of the standard"))
}
