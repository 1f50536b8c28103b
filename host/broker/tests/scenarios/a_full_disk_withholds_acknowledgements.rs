//! A database that cannot grow keeps its messages unacknowledged and says so; once there is room all are stored.

use rusqlite::Connection;
use tidegate_codec::{Ack, Packet, QoS, Version};

use crate::common::client::Client;
use crate::common::http::get;
use crate::common::streams::RAW;
use crate::common::{Broker, WORKERS, wait_for};

const MESSAGES: usize = 100;

#[test]
fn until_there_is_room() {
    for workers in WORKERS {
        // 20 pages of 4 KiB hold some 50 of the messages, and a batch fits into what is freed.
        let small = "batch_records = 10\ncreate = \"PRAGMA max_page_count = 20; CREATE";
        let broker = Broker::start(workers, &RAW.replace("create = \"CREATE", small));
        let mut client = Client::connect(broker.mqtt, Version::V5, "c");
        let payload = |number: usize| format!("{number:0>1000}");
        let ids: Vec<_> = (0..MESSAGES)
            .map(|number| {
                client
                    .publish("raw/c", QoS::AtLeastOnce, payload(number))
                    .unwrap()
            })
            .collect();
        let sink = wait_for("the sink to say that the disk is full", || {
            let sinks = get(broker.admin, "/api/v1/sinks").json();
            let sink = sinks["sinks"][0].clone();
            sink["error"]
                .as_str()
                .is_some_and(|error| error.contains("disk is full"))
                .then_some(sink)
        });
        assert_eq!(
            (&sink["name"], &sink["state"]),
            (&"raw".into(), &"retrying".into())
        );
        assert_eq!(get(broker.admin, "/readyz").status, 503);

        let file = Connection::open(broker.file("raw.db")).unwrap();
        file.busy_timeout(crate::common::DEADLINE).unwrap();
        let mut moved: Vec<String> = Vec::new();
        wait_for("all messages to be stored", || {
            let mut statement = file
                .prepare_cached("DELETE FROM raw RETURNING CAST(payload AS TEXT)")
                .unwrap();
            moved.extend(
                statement
                    .query_map([], |row| row.get::<_, String>(0))
                    .unwrap()
                    .map(Result::unwrap),
            );
            (moved.len() >= MESSAGES).then_some(())
        });
        for id in ids {
            assert_eq!(client.receive(), Packet::PubAck(Ack::success(id)));
        }
        moved.sort();
        assert_eq!(moved, (0..MESSAGES).map(payload).collect::<Vec<_>>());
        wait_for("a healthy sink", || {
            (get(broker.admin, "/readyz").status == 200).then_some(())
        });
    }
}
