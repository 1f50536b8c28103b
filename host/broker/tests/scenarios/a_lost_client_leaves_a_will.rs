//! A client that is lost leaves its will, which passes through the rules like any message; one that says goodbye
//! leaves none.

use tidegate_codec::{Disconnect, Message, Packet, Properties, QoS, ReasonCode, TopicName, Version, Will};

use crate::common::client::{Client, connect};
use crate::common::modules::telemetry;
use crate::common::streams::{TELEMETRY, reading};
use crate::common::{Broker, WORKERS, wait_for};

fn client_with_will(broker: &Broker, version: Version, id: &str, keep_alive: u16) -> Client {
    let mut request = connect(version, id);
    request.keep_alive = keep_alive;
    let message = Message {
        topic: TopicName::new(&format!("stations/{id}/telemetry")).unwrap(),
        payload: reading(id, 0, 50.0).into(),
        properties: Properties::empty(),
        qos: QoS::AtLeastOnce,
        retain: false,
    };
    request.will = Some(Will { message });
    Client::connect_with(broker.mqtt, request).0
}

fn disconnect(client: &mut Client, reason: ReasonCode) {
    client.send(&Packet::Disconnect(Box::new(Disconnect::with_reason(reason))));
    client.is_closed();
}

#[test]
fn that_a_rule_turns_into_a_row_and_an_alarm() {
    for workers in WORKERS {
        let broker = Broker::start(workers, TELEMETRY);
        broker.deploy("telemetry", "1.0.0", &telemetry("1.0.0"));
        let mut watcher = Client::connect(broker.mqtt, Version::V5, "watcher");
        watcher.subscribe("alarms/#", QoS::AtLeastOnce);
        let mut alarm_of = |id: &str| {
            assert_eq!(watcher.message().topic.unwrap().as_str(), format!("alarms/{id}"));
            let query = format!("SELECT count(*) FROM rows WHERE station = '{id}'");
            wait_for("the row of the will", || {
                (broker.query("rows.db", &query) == [["1"]]).then_some(())
            });
        };
        for version in [Version::V311, Version::V5] {
            // [MQTT-3.14.4-3], [MQTT-3.1.2-10]
            disconnect(
                &mut client_with_will(&broker, version, &format!("bye-{version:?}"), 0),
                ReasonCode::Success,
            );
            drop(client_with_will(
                &broker,
                version,
                &format!("lost-{version:?}"),
                0,
            ));
            alarm_of(&format!("lost-{version:?}"));
        }
        disconnect(
            &mut client_with_will(&broker, Version::V5, "with-will", 0),
            ReasonCode::DisconnectWithWill,
        );
        alarm_of("with-will");
        // [MQTT-3.1.2-22] silence for one and a half keep-alives
        let mut silent = client_with_will(&broker, Version::V5, "silent", 1);
        silent.is_disconnected(ReasonCode::KeepAliveTimeout);
        alarm_of("silent");
        assert_eq!(broker.query("rows.db", "SELECT count(*) FROM rows"), [["4"]]);
    }
}
