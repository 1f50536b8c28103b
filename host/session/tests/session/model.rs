//! The session against a conforming client, under any order of packets, settles and link losses: QoS 1 at least once,
//! QoS 2 exactly once, and the order of each QoS, in both directions.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use proptest::prelude::*;
use tidegate_codec::{Packet, Property, QoS, ReasonCode, Version};
use tidegate_session::{AckOrder, Input, Limits, Settlement, Slot};

use crate::client::Client;
use crate::pair::{Pair, delivery, lasting_with};

/// Inbound Receive Maximum; small, so that it is reached.
const SERVER_RECEIVES: u16 = 5;
/// Outbound Receive Maximum of the client.
const CLIENT_RECEIVES: u16 = 3;

#[derive(Debug, Clone, Copy)]
enum Action {
    /// The client publishes.
    Publish(QoS),
    /// A message is routed to the client.
    Deliver(QoS),
    /// The pipeline is done with one of its messages.
    Settle(prop::sample::Index),
    /// A packet arrives at the server.
    ToServer,
    /// A packet arrives at the client.
    ToClient,
    /// The link is lost.
    Lose,
    /// The client connects.
    Link,
}

fn action() -> impl Strategy<Value = Action> {
    let qos = || prop_oneof![Just(QoS::AtLeastOnce), Just(QoS::ExactlyOnce)];
    prop_oneof![
        4 => qos().prop_map(Action::Publish),
        4 => qos().prop_map(Action::Deliver),
        6 => any::<prop::sample::Index>().prop_map(Action::Settle),
        10 => Just(Action::ToServer),
        10 => Just(Action::ToClient),
        1 => Just(Action::Lose),
        2 => Just(Action::Link),
    ]
}

struct World {
    pair: Pair,
    client: Client,
    /// Admitted and not settled.
    open: Vec<Slot>,
    /// How many of the pair's admitted messages are in `open` or settled.
    seen: usize,
    published: Vec<(QoS, String)>,
    delivered: Vec<(QoS, String)>,
}

/// The pipeline refuses every fifth message, each time it sees it.
fn refused(text: &str) -> bool {
    text.ends_with(['0', '5'])
}

impl World {
    fn new(version: Version, ack_order: AckOrder) -> Self {
        let connect = lasting_with(version, &[Property::ReceiveMaximum(CLIENT_RECEIVES)]);
        let mut pair = Pair::new(Limits {
            receive_maximum: NonZeroU16::new(SERVER_RECEIVES).unwrap(),
            inflight_maximum: NonZeroU16::new(4).unwrap(),
            ack_order,
            ..Limits::default()
        });
        pair.connect(connect.clone());
        Self {
            pair,
            client: Client::new(connect),
            open: Vec::new(),
            seen: 0,
            published: Vec::new(),
            delivered: Vec::new(),
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Publish(qos) if self.client.sending() < usize::from(SERVER_RECEIVES) => {
                let text = format!("up {}", self.published.len());
                self.client.publish(qos, &text);
                self.published.push((qos, text));
            }
            Action::Publish(_) => {}
            Action::Deliver(qos) => {
                let text = format!("down {}", self.delivered.len());
                let entry = self.delivered.len() as u64 + 1;
                self.delivered.push((qos, text.clone()));
                self.give(Input::Deliver(delivery(&text, qos, self.pair.now, entry)));
            }
            Action::Settle(index) if !self.open.is_empty() => {
                let slot = self.open.remove(index.index(self.open.len()));
                self.settle(slot);
            }
            Action::Settle(_) => {}
            Action::ToServer => drop(self.client.step_server(&mut self.pair)),
            Action::ToClient => drop(self.client.step_client()),
            Action::Lose if self.client.is_linked() => {
                self.pair.vanish();
                self.client.unlink();
            }
            Action::Link if !self.client.is_linked() => self.client.link(&mut self.pair),
            Action::Lose | Action::Link => {}
        }
        self.open.extend(
            self.pair.admitted[self.seen..]
                .iter()
                .filter_map(|(slot, _)| *slot),
        );
        self.seen = self.pair.admitted.len();
    }

    fn settle(&mut self, slot: Slot) {
        let admitted = self.pair.admitted.iter().find(|(of, _)| *of == Some(slot));
        let message = admitted.unwrap().1.clone();
        let text = String::from_utf8(message.payload.to_vec()).unwrap();
        let outcome = match refused(&text) {
            true => Settlement::Refused(ReasonCode::NotAuthorized),
            false => Settlement::Accepted {
                route: (slot.qos == QoS::ExactlyOnce).then_some(message),
            },
        };
        self.give(Input::Settled { slot, outcome });
    }

    fn give(&mut self, input: Input) {
        let packets: Vec<Packet> = self.pair.give(input);
        self.client.under_way(packets);
    }

    /// The link holds and everything comes to its end.
    fn finish(&mut self) {
        self.act(Action::Link);
        loop {
            self.client.pump(&mut self.pair);
            self.act(Action::ToServer);
            if self.open.is_empty() {
                break;
            }
            for slot in std::mem::take(&mut self.open).into_iter().rev() {
                self.settle(slot);
            }
        }
    }

    fn texts(list: &[(QoS, String)], qos: QoS) -> Vec<&str> {
        list.iter()
            .filter(|(of, _)| *of == qos)
            .map(|(_, text)| text.as_str())
            .collect()
    }

    fn check(&self, in_order: bool) {
        let texts = |messages: Vec<&[u8]>| -> Vec<String> {
            messages
                .into_iter()
                .map(|text| String::from_utf8(text.to_vec()).unwrap())
                .collect()
        };
        let admitted = texts(
            self.pair
                .admitted
                .iter()
                .map(|(_, message)| &message.payload[..])
                .collect(),
        );
        let mut routed = texts(
            self.pair
                .routed
                .iter()
                .map(|message| &message.payload[..])
                .collect(),
        );

        // Inbound, QoS 1 at least once, QoS 2 exactly once unless it was refused.
        let up = |qos| Self::texts(&self.published, qos);
        assert_eq!(firsts(&admitted, &up(QoS::AtLeastOnce)), up(QoS::AtLeastOnce));
        let mut expected: Vec<_> = up(QoS::ExactlyOnce)
            .into_iter()
            .filter(|text| !refused(text))
            .collect();
        if !in_order {
            routed.sort();
            expected.sort_unstable();
        }
        assert_eq!(routed, expected);
        assert_eq!((self.client.sending(), self.pair.session.inbound_len()), (0, 0));

        // Outbound.
        let received = &self.client.received;
        let down = |qos| Self::texts(&self.delivered, qos);
        assert_eq!(firsts(received, &down(QoS::AtLeastOnce)), down(QoS::AtLeastOnce));
        let twice: Vec<_> = received
            .iter()
            .map(String::as_str)
            .filter(|text| down(QoS::ExactlyOnce).contains(text))
            .collect();
        assert_eq!(twice, down(QoS::ExactlyOnce));
        assert_eq!(
            (self.pair.session.outbound_lens(), self.pair.dropped.len()),
            ((0, 0), 0)
        );
        let mut finished = self.pair.finished.clone();
        finished.sort_unstable();
        assert!(
            finished.into_iter().eq(1..=self.delivered.len() as u64),
            "each log entry is finished once"
        );
    }
}

/// Those of `texts` that are in `wanted`, each at its first place.
fn firsts<'a>(texts: &'a [String], wanted: &[&str]) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let wanted: BTreeSet<&str> = wanted.iter().copied().collect();
    texts
        .iter()
        .map(String::as_str)
        .filter(|text| wanted.contains(text) && seen.insert(*text))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// [MQTT-4.3.2-2], [MQTT-4.3.3-10], [MQTT-4.6.0-1] to [MQTT-4.6.0-6]
    #[test]
    fn every_message_arrives_as_its_qos_promises(
        five in any::<bool>(),
        in_order in any::<bool>(),
        actions in prop::collection::vec(action(), 0..300),
    ) {
        let version = if five { Version::V5 } else { Version::V311 };
        let order = if in_order { AckOrder::InOrder } else { AckOrder::Any };
        let mut world = World::new(version, order);
        for action in actions {
            world.act(action);
        }
        world.finish();
        world.check(in_order);
    }
}
