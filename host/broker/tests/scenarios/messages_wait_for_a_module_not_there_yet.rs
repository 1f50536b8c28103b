//! Messages of a rule whose module is not active yet wait unacknowledged, and flow in their order once it is.

use tidegate_codec::{Ack, Packet, QoS, Version};

use crate::common::client::Client;
use crate::common::http::get;
use crate::common::modules::telemetry;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{Broker, WORKERS};

fn waits_then_flows(config: &str) {
    for workers in WORKERS {
        let broker = Broker::start(workers, config);
        let ready = get(broker.admin, "/readyz");
        assert_eq!(ready.status, 503);
        assert!(
            ready.body.contains("rule telemetry: module telemetry"),
            "{}",
            ready.body
        );
        let mut clients =
            [("c0", Version::V311), ("c1", Version::V5), ("c2", Version::V5)].map(|(id, version)| {
                let mut client = Client::connect(broker.mqtt, version, id);
                let topic = format!("stations/{id}/telemetry");
                let ids: Vec<_> = (0..10)
                    .map(|number| {
                        client
                            .publish(&topic, QoS::AtLeastOnce, reading(id, number, 20.0))
                            .unwrap()
                    })
                    .collect();
                client.ping();
                (client, ids)
            });
        assert_eq!(broker.metric("tidegate_unsettled_messages{state=\"held\"}"), 30);
        Client::connect(broker.mqtt, Version::V5, "other").publish_acked("other", QoS::ExactlyOnce, "flows");

        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        for (client, ids) in &mut clients {
            for id in ids {
                assert_eq!(client.receive(), Packet::PubAck(Ack::success(*id)));
            }
        }
        for station in ["c0", "c1", "c2"] {
            let query = format!(
                "SELECT group_concat(time, ' ') FROM (SELECT time FROM rows WHERE station = '{station}' ORDER BY rowid)"
            );
            assert_eq!(broker.query("rows.db", &query), [["0 1 2 3 4 5 6 7 8 9"]]);
        }
        assert_eq!(get(broker.admin, "/readyz").status, 200);
    }
}

#[test]
fn whichever_version_is_activated() {
    waits_then_flows(TELEMETRY);
}

#[test]
fn the_version_that_the_rule_names() {
    waits_then_flows(&TELEMETRY.replace("module = \"telemetry\"", "module = \"telemetry@1.0.0\""));
}
