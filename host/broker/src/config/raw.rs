//! The file as written: names, types and spans, nothing validated yet.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::units::{Size, Span};

/// `[mqtt]` with its listeners.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawMqtt {
    pub tcp: Option<RawListener>,
    pub tick_max: Option<Span>,
    pub connections_max: Option<Spanned<u32>>,
    pub connect_timeout: Option<Span>,
    pub packet_max: Option<Spanned<Size>>,
    pub receive_maximum: Option<Spanned<u16>>,
    pub inflight_max: Option<Spanned<u16>>,
    pub queue_messages_max: Option<usize>,
    pub queue_bytes_max: Option<Size>,
    pub outbox_max: Option<Size>,
    pub park_max: Option<Size>,
    pub topic_alias_max: Option<u16>,
    pub keep_alive_max: Option<Spanned<Span>>,
    pub session_expiry_max: Option<Span>,
    pub ack_order: Option<Spanned<String>>,
    pub retained_messages_max: Option<usize>,
    pub retained_bytes_max: Option<Size>,
    pub shared_strategy: Option<Spanned<String>>,
    pub delayed_messages_max: Option<usize>,
    pub delayed_bytes_max: Option<Size>,
    pub delayed_max: Option<Span>,
    pub sys_interval: Option<Span>,
}

/// `[mqtt.tcp]` and the like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawListener {
    pub bind: Spanned<String>,
}

/// `[admin]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawAdmin {
    pub bind: Option<Spanned<String>>,
    pub key: Option<Spanned<String>>,
    pub key_file: Option<Spanned<String>>,
}

/// `[sinks.NAME]`: what every kind has, and what one kind needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSink {
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    pub gate: Option<Spanned<String>>,
    pub batch_records: Option<Spanned<usize>>,
    pub batch_bytes: Option<Size>,
    pub linger: Option<Span>,
    pub queue_records: Option<Spanned<usize>>,
    pub queue_bytes: Option<Size>,
    pub retry_min: Option<Span>,
    pub retry_max: Option<Span>,
    pub on_rejected: Option<Spanned<String>>,
    // SQLite
    pub path: Option<Spanned<String>>,
    pub create: Option<Spanned<String>>,
    pub statement: Option<Spanned<String>>,
}

/// One entry of `[[rules]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRule {
    pub name: Spanned<String>,
    pub module: Option<Spanned<String>>,
    pub topics: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub sinks: Vec<Spanned<String>>,
    #[serde(default)]
    pub publish: Vec<Spanned<String>>,
    #[serde(default)]
    pub emit: Vec<Spanned<String>>,
    #[serde(default)]
    pub config: BTreeMap<String, String>,
}
