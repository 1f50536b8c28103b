//! The validated configuration. Whoever holds a [`Settings`] may trust every value in it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tidegate_codec::TopicFilter;
use tidegate_router::Strategy;

use super::SinkSpec;

/// All that the process needs to start.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where modules, dead letters and (relative) sink files live. Default `./tidegate-data`.
    pub data_dir: PathBuf,
    /// Worker threads. Default: one per core.
    pub workers: usize,
    /// Listeners and limits of the MQTT side.
    pub mqtt: MqttSettings,
    /// The HTTP side.
    pub admin: AdminSettings,
    /// In the order of the file.
    pub sinks: Vec<SinkSpec>,
    /// In chain order.
    pub rules: Vec<RuleSettings>,
}

/// `[mqtt]`: each limit has a stated meaning when it is reached.
#[derive(Debug, Clone)]
pub struct MqttSettings {
    /// `[mqtt.tcp] bind`. Default `127.0.0.1:1883`.
    pub tcp: SocketAddr,
    /// Longest rest between two ticks under unbatched load; 0 turns resting off. Default `500us`.
    pub tick_max: Duration,
    /// Connections of the whole process; above, a connection is closed at accept. Default 1,000,000.
    pub connections_max: usize,
    /// Time for the CONNECT to arrive. Default `10s`.
    pub connect_timeout: Duration,
    /// Longest packet in bytes; above: 0x95. Default `1MiB`.
    pub packet_bytes_max: u32,
    /// Inbound QoS 1 and 2 messages in flight per client; above: 0x93 for version 5. Default 1,024.
    pub receive_maximum: u16,
    /// Outbound QoS 1 and 2 messages in flight per client, however many it would take. Default 1,024.
    pub inflight_max: u16,
    /// Messages queued per client behind the in-flight ones; full drops the oldest, counted. Default 1,000.
    pub queue_messages_max: usize,
    /// Bytes of the same. Default `1MiB`.
    pub queue_bytes_max: usize,
    /// Bytes waiting for one socket; full sheds QoS 0, counted. Default `1MiB`.
    pub outbox_bytes_max: usize,
    /// Bytes of messages parked per client while a sink has no room; full stops reading its socket. Default `64KiB`.
    pub park_bytes_max: usize,
    /// Topic aliases a client may use. Default 16.
    pub topic_alias_max: u16,
    /// Longest keep-alive; a client asking for more, or for none, is told this one. Default: the client's own.
    pub keep_alive_max: Option<Duration>,
    /// Longest session expiry. Default `7d`.
    pub session_expiry_max: Duration,
    /// Whether acknowledgements leave in the order of arrival (`true`, the standard's) or as they come.
    pub acks_in_order: bool,
    /// Retained messages of the node, an equal part on each worker, in memory; 0 turns them off. Full: a version 5
    /// publisher of QoS 1 or 2 is told 0x97; of others the message is routed and not retained, counted. Default 1,000,000.
    pub retained_messages_max: usize,
    /// Bytes of the same: topics, payloads, properties and 256 for each message. Default `256MiB`.
    pub retained_bytes_max: usize,
    /// Which member of a shared subscription gets a message: `round-robin` (default), `random`, `sticky`, `hash-client` or
    /// `hash-topic`.
    pub shared_strategy: Strategy,
    /// Messages waiting on `$delayed/SECONDS/TOPIC`, an equal part on each worker. They wait in memory, already
    /// acknowledged: a restart loses them. Full: a version 5 publisher is told 0x97, others lose the message, counted.
    /// Default 100,000.
    pub delayed_messages_max: usize,
    /// Bytes of the same. Default `64MiB`.
    pub delayed_bytes_max: usize,
    /// Longest delay; a longer one is refused with 0x90. Default `7d`.
    pub delayed_max: Duration,
    /// How often `$SYS/broker/…` is published; 0 turns it off. Default `60s`.
    pub sys_interval: Duration,
}

impl Default for MqttSettings {
    fn default() -> Self {
        Self {
            tcp: SocketAddr::from((Ipv4Addr::LOCALHOST, 1883)),
            tick_max: Duration::from_micros(500),
            connections_max: 1_000_000,
            connect_timeout: Duration::from_secs(10),
            packet_bytes_max: 1 << 20,
            receive_maximum: 1_024,
            inflight_max: 1_024,
            queue_messages_max: 1_000,
            queue_bytes_max: 1 << 20,
            outbox_bytes_max: 1 << 20,
            park_bytes_max: 64 << 10,
            topic_alias_max: 16,
            keep_alive_max: None,
            session_expiry_max: Duration::from_hours(7 * 24),
            acks_in_order: true,
            retained_messages_max: 1_000_000,
            retained_bytes_max: 256 << 20,
            shared_strategy: Strategy::RoundRobin,
            delayed_messages_max: 100_000,
            delayed_bytes_max: 64 << 20,
            delayed_max: Duration::from_hours(7 * 24),
            sys_interval: Duration::from_mins(1),
        }
    }
}

/// `[admin]`.
#[derive(Debug, Clone)]
pub struct AdminSettings {
    /// Default `127.0.0.1:8080`. Anything but loopback needs a key.
    pub bind: SocketAddr,
    /// Bearer key asked of every request but the health checks.
    pub key: Option<String>,
}

impl Default for AdminSettings {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            key: None,
        }
    }
}

/// One link of the chain.
#[derive(Debug, Clone)]
pub struct RuleSettings {
    /// Names the rule in metrics and messages; unique.
    pub name: String,
    /// The guest code; `None` for a rule that only emits.
    pub module: Option<ModuleSource>,
    /// Messages whose topic matches one of these pass through the rule.
    pub topics: Vec<TopicFilter>,
    /// Sinks (by position in [`Settings::sinks`]) the module may write to.
    pub sinks: Vec<usize>,
    /// Topics the module may publish to or rewrite to.
    pub publish: Vec<TopicFilter>,
    /// Sinks that store every message that passes.
    pub emit: Vec<usize>,
    /// Values the module may read; they override the manifest's defaults.
    pub config: BTreeMap<String, String>,
}

/// Where the guest code of a rule comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleSource {
    /// A file, read at start.
    File(PathBuf),
    /// The registry: the named version, or whichever is active.
    Registry {
        /// Name under which it is uploaded.
        name: String,
        /// `NAME@VERSION` pins it.
        version: Option<String>,
    },
}

impl Settings {
    /// What runs without a file: MQTT and admin on loopback, no sinks, no rules.
    pub fn new(workers: usize) -> Self {
        Self {
            data_dir: PathBuf::from("tidegate-data"),
            workers,
            mqtt: MqttSettings::default(),
            admin: AdminSettings::default(),
            sinks: Vec::new(),
            rules: Vec::new(),
        }
    }
}
