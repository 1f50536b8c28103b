//! Every QoS of MQTT 3.1.1 and 5.0 reaches subscribers of every QoS and version, wherever they are at home.

use std::collections::BTreeMap;

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};

const VERSIONS: [Version; 2] = [Version::V311, Version::V5];
const ALL_QOS: [QoS; 3] = [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce];

fn kinds() -> impl Iterator<Item = (Version, QoS)> {
    VERSIONS
        .into_iter()
        .flat_map(|version| ALL_QOS.map(|qos| (version, qos)))
}

#[test]
fn all_pairs_of_version_and_qos() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        let subscribe = |(version, qos)| {
            let mut client = Client::connect(broker.mqtt, version, &format!("sub-{version:?}-{qos:?}"));
            client.subscribe("t/#", qos);
            (qos, client)
        };
        let mut subscribers: Vec<_> = kinds().map(subscribe).collect();
        for (version, qos) in kinds() {
            let id = format!("pub-{version:?}-{qos:?}");
            let mut publisher = Client::connect(broker.mqtt, version, &id);
            publisher.publish_acked(&format!("t/{id}"), qos, id.clone());
        }
        for (granted, client) in &mut subscribers {
            let mut wanted: BTreeMap<String, QoS> = kinds()
                .map(|(version, qos)| (format!("pub-{version:?}-{qos:?}"), qos.min(*granted))) // [MQTT-3.8.4-8]
                .collect();
            while !wanted.is_empty() {
                let message = client.message();
                let payload = String::from_utf8(message.payload.to_vec()).unwrap();
                assert_eq!(wanted.remove(&payload), Some(message.qos), "{payload}");
                assert_eq!(message.topic.unwrap().as_str(), format!("t/{payload}"));
            }
            client.ping();
        }
        let crossed = broker.metric("tidegate_forwarded_messages_total");
        assert_eq!(
            crossed > 0,
            workers > 1,
            "{crossed} messages went to another worker"
        );
    }
}
