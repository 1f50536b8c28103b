//! A message on which its module traps, loops, eats memory or recurses ends as a dead letter; all others pass.

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};
use crate::support::Guest;

/// A rule whose module does what the first byte of a payload says.
pub const HOSTILE: &str = "[[rules]]\nname = \"hostile\"\nmodule = \"guest\"\ntopics = [\"g/#\"]\n";

/// That module.
pub fn guest() -> Vec<u8> {
    let mut guest = Guest::obeying();
    // Generous for a good message on a busy machine, short for an endless one.
    guest.manifest =
        "name = \"guest\"\nversion = \"1.0.0\"\n[limits]\nmemory = \"4MiB\"\ndeadline = \"100ms\"\n"
            .to_owned();
    guest.wasm()
}

#[test]
fn bad_ones_are_dead_letters_and_good_ones_pass() {
    for workers in WORKERS {
        let broker = Broker::start(workers, HOSTILE);
        broker.deploy("guest", "1.0.0", &guest());
        let mut subscriber = Client::connect(broker.mqtt, Version::V5, "subscriber");
        subscriber.subscribe("g/#", QoS::AtLeastOnce);
        let ids = ["p0", "p1", "p2", "p3"];
        for id in ids {
            let mut client = Client::connect(broker.mqtt, Version::V311, id);
            let sent = [
                "good 0",
                "Trap",
                "good 1",
                "Loop",
                "good 2",
                "Memory",
                "good 3",
                "Recursion",
                "good 4",
            ];
            client.publish_all(&format!("g/{id}"), QoS::AtLeastOnce, sent);
            client.publish_acked(&format!("g/{id}"), QoS::ExactlyOnce, "good 5");
            for number in 0..6 {
                assert_eq!(subscriber.message().payload, format!("good {number}"));
            }
            let query = format!(
                "SELECT CAST(payload AS TEXT), sink, reason FROM dead_letters WHERE client_id = '{id}' ORDER BY position"
            );
            let letters = broker.query("dead-letters.sqlite", &query);
            let expected = [
                ("Trap", "unreachable"),
                ("Loop", "did not return within its deadline of 100 ms"),
                ("Memory", "memory limit of 4194304 bytes"),
                ("Recursion", "call stack exhausted"),
            ];
            assert_eq!(letters.len(), expected.len(), "{letters:?}");
            for (letter, (payload, reason)) in letters.iter().zip(expected) {
                assert_eq!(letter[..2], [payload, "hostile"]);
                assert!(
                    letter[2].contains("guest@1.0.0") && letter[2].contains(reason),
                    "{}",
                    letter[2]
                );
            }
        }
        subscriber.ping();
        let count = |outcome| {
            broker.metric(&format!(
                "tidegate_rule_messages_total{{rule=\"hostile\",outcome=\"{outcome}\"}}"
            ))
        };
        assert_eq!((count("matched"), count("passed"), count("failed")), (40, 24, 16));
    }
}
