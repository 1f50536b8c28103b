//! Messages of one publisher arrive in the order in which it sent them, on every worker. [MQTT-4.6.0-5]

use std::collections::HashMap;
use std::thread;

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};

const MESSAGES: usize = 1_000;
/// Nothing may be shed here: the order is the question.
const ROOMY: &str =
    "[mqtt]\nqueue_messages_max = 100000\nqueue_bytes_max = \"64MiB\"\noutbox_max = \"64MiB\"\n";

#[test]
fn a_thousand_numbered_messages_each() {
    for workers in WORKERS {
        let broker = Broker::start(workers, ROOMY);
        let publishers = [
            ("p-0", Version::V5, QoS::AtMostOnce),
            ("p-1", Version::V311, QoS::AtLeastOnce),
            ("p-2", Version::V5, QoS::ExactlyOnce),
            ("p-3", Version::V5, QoS::AtLeastOnce),
        ];
        let subscribers = [
            ("s-a", QoS::AtMostOnce),
            ("s-b", QoS::AtLeastOnce),
            ("s-c", QoS::ExactlyOnce),
        ];
        let clients: Vec<_> = subscribers
            .into_iter()
            .map(|(id, qos)| {
                let mut client = Client::connect(broker.mqtt, Version::V5, id);
                client.subscribe("n/+", qos);
                client
            })
            .collect();
        thread::scope(|scope| {
            for client in clients {
                scope.spawn(|| expect_in_order(client, publishers.len() * MESSAGES));
            }
            for (id, version, qos) in publishers {
                let mut client = Client::connect(broker.mqtt, version, id);
                scope.spawn(move || {
                    let numbers: Vec<usize> = (0..MESSAGES).collect();
                    for window in numbers.chunks(100) {
                        client.publish_all(&format!("n/{id}"), qos, window.iter().map(usize::to_string));
                    }
                });
            }
        });
    }
}

fn expect_in_order(mut client: Client, messages: usize) {
    let mut next: HashMap<String, usize> = HashMap::new();
    for _ in 0..messages {
        let message = client.message();
        let number: usize = String::from_utf8(message.payload.to_vec())
            .unwrap()
            .parse()
            .unwrap();
        let expected = next
            .entry(message.topic.unwrap().as_str().to_owned())
            .or_default();
        assert_eq!(number, *expected);
        *expected += 1;
    }
    client.ping();
}
