//! A subscriber that does not read costs its own QoS 0 messages, which are counted; publishers and other subscribers
//! do not notice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};

/// The outbox is small; the good subscriber may fall behind as far as it likes.
const LIMITS: &str =
    "[mqtt]\noutbox_max = \"64KiB\"\nqueue_messages_max = 100000\nqueue_bytes_max = \"256MiB\"\n";
const PAYLOAD_BYTES: usize = 16 << 10;

#[test]
fn and_its_qos_0_messages_are_shed_and_counted() {
    for workers in WORKERS {
        let broker = Broker::start(workers, LIMITS);
        let mut slow = Client::connect(broker.mqtt, Version::V5, "slow");
        slow.subscribe("s/all", QoS::AtMostOnce);
        slow.subscribe("s/end", QoS::AtLeastOnce);
        let mut good = Client::connect(broker.mqtt, Version::V5, "good");
        good.subscribe("s/#", QoS::AtLeastOnce);
        let shed = || broker.metric("tidegate_dropped_deliveries_total{cause=\"qos0\"}");
        let done = AtomicBool::new(false);
        let sent = thread::scope(|scope| {
            let publisher = scope.spawn(|| {
                let mut client = Client::connect(broker.mqtt, Version::V5, "publisher");
                let mut sent = 0u32;
                while !done.load(Ordering::Relaxed) {
                    let mut payload = vec![0; PAYLOAD_BYTES];
                    payload[..4].copy_from_slice(&sent.to_be_bytes());
                    client.publish_acked("s/all", QoS::AtLeastOnce, payload);
                    sent += 1;
                }
                client.publish_acked("s/end", QoS::AtLeastOnce, "end");
                sent
            });
            let mut next = 0u32;
            loop {
                let message = good.message();
                if message.topic.unwrap().as_str() == "s/end" {
                    break;
                }
                assert_eq!(
                    message.payload[..4],
                    next.to_be_bytes(),
                    "the good subscriber misses nothing"
                );
                next += 1;
                if next.is_multiple_of(64) && shed() > 20 {
                    done.store(true, Ordering::Relaxed);
                }
            }
            let sent = publisher.join().unwrap();
            assert_eq!(next, sent);
            sent
        });
        // What the slow one gets is in order, and with what was shed it is everything.
        let (mut got, mut last) = (0u32, None);
        loop {
            let message = slow.message();
            if message.topic.unwrap().as_str() == "s/end" {
                break;
            }
            let number = u32::from_be_bytes(message.payload[..4].try_into().unwrap());
            assert!(last.is_none_or(|last| last < number));
            last = Some(number);
            got += 1;
        }
        assert_eq!(u64::from(got) + shed(), u64::from(sent));
        slow.ping();
    }
}
