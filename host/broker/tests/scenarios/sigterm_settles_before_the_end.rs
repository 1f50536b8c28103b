//! SIGTERM: what is admitted is stored and acknowledged, every client is told, and the process ends well.

use rusqlite::Connection;
use tidegate_codec::{Ack, Packet, QoS, ReasonCode, Version};

use crate::common::client::Client;
use crate::common::http::{get, metric};
use crate::common::process::Process;
use crate::common::streams::RAW;
use crate::common::{WORKERS, query_file, wait_for};

#[test]
fn with_a_row_still_to_be_stored() {
    for workers in WORKERS {
        let dir = tempfile::tempdir().unwrap();
        let mut broker = Process::serve(dir.path(), workers, RAW);
        let mut subscribers = ["s0", "s1", "s2", "s3"].map(|id| {
            let mut client = Client::connect(broker.mqtt, Version::V5, id);
            client.subscribe("#", QoS::AtLeastOnce);
            client
        });
        let mut publisher = Client::connect(broker.mqtt, Version::V311, "publisher");
        publisher.publish_acked("raw/x", QoS::AtLeastOnce, "first");
        subscribers
            .iter_mut()
            .for_each(|subscriber| assert_eq!(subscriber.message().payload, "first"));
        let file = dir.path().join("data/raw.db");
        let lock = Connection::open(&file).unwrap();
        lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let id = publisher.publish("raw/x", QoS::AtLeastOnce, "second").unwrap();
        wait_for("the row to wait for its database", || {
            (metric(broker.admin, "tidegate_unsettled_messages{state=\"pending\"}") == 1).then_some(())
        });
        assert_eq!(get(broker.admin, "/healthz").status, 200);

        broker.terminate();
        // Workers without anything to settle say goodbye first.
        lock.execute_batch("COMMIT").unwrap();
        assert_eq!(publisher.receive(), Packet::PubAck(Ack::success(id)));
        publisher.is_closed();
        for subscriber in &mut subscribers {
            assert_eq!(subscriber.message().payload, "second");
            subscriber.is_disconnected(ReasonCode::ServerShuttingDown);
        }
        let status = broker.end();
        assert_eq!(status.code(), Some(0), "{status}");
        assert_eq!(
            query_file(&file, "SELECT CAST(payload AS TEXT) FROM raw"),
            [["first"], ["second"]]
        );
    }
}
