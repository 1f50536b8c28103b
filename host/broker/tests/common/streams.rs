//! The two lines that most scenarios run: measurements through the telemetry module into rows, and raw messages into
//! rows without any module. Messages are numbered by their publisher.

use bytes::Bytes;
use tidegate_codec::{Ack, Packet, QoS};

use super::client::Client;

/// Measurements: module `telemetry`, sink `rows`, file `rows.db`. The reading's number stands in column `time`.
pub const TELEMETRY: &str = r#"
[sinks.rows]
type = "sqlite"
path = "rows.db"
create = "CREATE TABLE IF NOT EXISTS rows (id TEXT PRIMARY KEY, station TEXT, time TEXT, celsius REAL, module_version TEXT)"
statement = "INSERT INTO rows VALUES (:id, :station, :time, :celsius, :module_version)"
[[rules]]
name = "telemetry"
module = "telemetry"
topics = ["stations/+/telemetry"]
sinks = ["rows"]
publish = ["alarms/+"]
"#;

/// Raw messages on `raw/#`: sink `raw`, file `raw.db`, no module.
pub const RAW: &str = r#"
[sinks.raw]
type = "sqlite"
path = "raw.db"
create = "CREATE TABLE IF NOT EXISTS raw (id TEXT PRIMARY KEY, topic TEXT, qos INTEGER, client_id TEXT, payload BLOB)"
statement = "INSERT INTO raw VALUES (:id, :topic, :qos, :client_id, :payload)"
retry_max = "200ms"
[[rules]]
name = "keep"
topics = ["raw/#"]
emit = ["raw"]
"#;

/// A reading of `station`.
pub fn reading(station: &str, number: usize, celsius: f64) -> String {
    format!("{{\"station\":\"{station}\",\"time\":\"{number}\",\"temperature\":{celsius},\"unit\":\"C\"}}")
}

impl Client {
    /// Publishes `payloads` without waiting in between, and takes every acknowledgement, which must come in order.
    pub fn publish_all(
        &mut self,
        topic: &str,
        qos: QoS,
        payloads: impl IntoIterator<Item = impl Into<Bytes>>,
    ) {
        let ids: Vec<_> = payloads
            .into_iter()
            .filter_map(|payload| self.publish(topic, qos, payload))
            .collect();
        match qos {
            QoS::AtMostOnce => {}
            QoS::AtLeastOnce => {
                for id in ids {
                    assert_eq!(self.receive(), Packet::PubAck(Ack::success(id)));
                }
            }
            QoS::ExactlyOnce => {
                for id in &ids {
                    assert_eq!(self.receive(), Packet::PubRec(Ack::success(*id)));
                }
                for id in &ids {
                    self.send(&Packet::PubRel(Ack::success(*id)));
                }
                for id in ids {
                    assert_eq!(self.receive(), Packet::PubComp(Ack::success(id)));
                }
            }
        }
    }
}
