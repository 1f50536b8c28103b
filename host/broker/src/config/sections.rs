//! `[mqtt]` and `[admin]`, validated.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tidegate_router::Strategy;
use toml::Spanned;

use super::problem::Collector;
use super::raw::{RawAdmin, RawMqtt};
use super::units::Size;
use super::{AdminSettings, MqttSettings};

/// Smallest key that may open the admin API: 16 characters are hard to guess over a network.
const KEY_CHARS_MIN: usize = 16;

/// Largest packet the protocol can carry [MQTT-1.5.5]: four bytes of length and the fixed header.
const PACKET_BYTES_MAX: u64 = 268_435_455 + 5;

/// Longest rest a tick may take: beyond it latency is what users notice.
const TICK_MAX: Duration = Duration::from_millis(100);

pub fn read_mqtt(raw: RawMqtt, mqtt: &mut MqttSettings, problems: &mut Collector<'_>) {
    if let Some(listener) = raw.tcp
        && let Some(bind) = address("mqtt.tcp.bind", &listener.bind, problems)
    {
        mqtt.tcp = bind;
    }
    if let Some(tick) = raw.tick_max {
        mqtt.tick_max = tick.0.min(TICK_MAX);
    }
    if let Some(count) = nonzero("mqtt.connections_max", raw.connections_max, problems) {
        mqtt.connections_max = usize::try_from(count).unwrap_or(usize::MAX);
    }
    if let Some(max) = raw.packet_max {
        match max.get_ref().0 {
            bytes @ 64..=PACKET_BYTES_MAX => mqtt.packet_bytes_max = u32::try_from(bytes).unwrap_or(u32::MAX),
            _ => problems.at(
                max.span(),
                "mqtt.packet_max must be 64B to 256MiB less one byte, the protocol's own limit",
            ),
        }
    }
    if let Some(maximum) = nonzero("mqtt.receive_maximum", raw.receive_maximum, problems) {
        mqtt.receive_maximum = maximum;
    }
    if let Some(maximum) = nonzero("mqtt.inflight_max", raw.inflight_max, problems) {
        mqtt.inflight_max = maximum;
    }
    if let Some(keep_alive) = raw.keep_alive_max {
        match keep_alive.get_ref().0 {
            span if (1..=65_535).contains(&span.as_secs()) => mqtt.keep_alive_max = Some(span),
            _ => problems.at(keep_alive.span(), "mqtt.keep_alive_max must be 1s to 65535s"),
        }
    }
    if let Some(order) = raw.ack_order {
        match order.get_ref().as_str() {
            "arrival" => mqtt.acks_in_order = true,
            "any" => mqtt.acks_in_order = false,
            other => problems.at(
                order.span(),
                format!("mqtt.ack_order: \"{other}\" is neither \"arrival\" nor \"any\""),
            ),
        }
    }
    if let Some(name) = raw.shared_strategy
        && let Some(strategy) = strategy(&name, problems)
    {
        mqtt.shared_strategy = strategy;
    }
    mqtt.connect_timeout = raw.connect_timeout.map_or(mqtt.connect_timeout, |span| span.0);
    mqtt.session_expiry_max = raw
        .session_expiry_max
        .map_or(mqtt.session_expiry_max, |span| span.0);
    mqtt.queue_messages_max = raw.queue_messages_max.unwrap_or(mqtt.queue_messages_max);
    mqtt.queue_bytes_max = bytes(raw.queue_bytes_max, mqtt.queue_bytes_max);
    mqtt.outbox_bytes_max = bytes(raw.outbox_max, mqtt.outbox_bytes_max);
    mqtt.park_bytes_max = bytes(raw.park_max, mqtt.park_bytes_max);
    mqtt.topic_alias_max = raw.topic_alias_max.unwrap_or(mqtt.topic_alias_max);
    mqtt.retained_messages_max = raw.retained_messages_max.unwrap_or(mqtt.retained_messages_max);
    mqtt.retained_bytes_max = bytes(raw.retained_bytes_max, mqtt.retained_bytes_max);
    mqtt.delayed_messages_max = raw.delayed_messages_max.unwrap_or(mqtt.delayed_messages_max);
    mqtt.delayed_bytes_max = bytes(raw.delayed_bytes_max, mqtt.delayed_bytes_max);
    mqtt.delayed_max = raw.delayed_max.map_or(mqtt.delayed_max, |span| span.0);
    mqtt.sys_interval = raw.sys_interval.map_or(mqtt.sys_interval, |span| span.0);
}

fn strategy(name: &Spanned<String>, problems: &mut Collector<'_>) -> Option<Strategy> {
    let strategy = match name.get_ref().as_str() {
        "round-robin" => Strategy::RoundRobin,
        "random" => Strategy::Random,
        "sticky" => Strategy::Sticky,
        "hash-client" => Strategy::HashClient,
        "hash-topic" => Strategy::HashTopic,
        other => {
            let all = "round-robin, random, sticky, hash-client, hash-topic";
            problems.at(
                name.span(),
                format!("mqtt.shared_strategy: \"{other}\" is none of {all}"),
            );
            return None;
        }
    };
    Some(strategy)
}

pub fn read_admin(raw: RawAdmin, path: &Path, admin: &mut AdminSettings, problems: &mut Collector<'_>) {
    let bind_span = raw.bind.as_ref().map(Spanned::span);
    if let Some(bind) = raw.bind.and_then(|bind| address("admin.bind", &bind, problems)) {
        admin.bind = bind;
    }
    match (raw.key, raw.key_file) {
        (Some(_), Some(file)) => problems.at(file.span(), "admin: give key or key_file, not both"),
        (Some(key), None) => set_key(admin, key.get_ref(), key.span(), problems),
        (None, Some(file)) => {
            let full = path.parent().unwrap_or(Path::new("")).join(file.get_ref());
            match std::fs::read_to_string(&full) {
                Ok(key) => set_key(admin, key.trim(), file.span(), problems),
                Err(error) => problems.at(file.span(), format!("admin.key_file {}: {error}", full.display())),
            }
        }
        (None, None) => {}
    }
    if !admin.bind.ip().is_loopback() && admin.key.is_none() {
        let text = format!(
            "admin.bind {} is not loopback: that needs key or key_file in [admin]",
            admin.bind
        );
        problems.at(bind_span.unwrap_or(0..0), text);
    }
}

fn set_key(admin: &mut AdminSettings, key: &str, span: std::ops::Range<usize>, problems: &mut Collector<'_>) {
    match key.len() >= KEY_CHARS_MIN {
        true => admin.key = Some(key.to_owned()),
        false => problems.at(
            span,
            format!("admin: the key must have at least {KEY_CHARS_MIN} characters"),
        ),
    }
}

fn address(key: &str, text: &Spanned<String>, problems: &mut Collector<'_>) -> Option<SocketAddr> {
    match text.get_ref().parse() {
        Ok(address) => Some(address),
        Err(_) => {
            let told = format!(
                "{key}: \"{}\" is not ADDRESS:PORT, as in \"127.0.0.1:1883\" or \"[::1]:1883\"",
                text.get_ref()
            );
            problems.at(text.span(), told);
            None
        }
    }
}

fn nonzero<T: PartialEq + Default + Copy>(
    key: &str,
    value: Option<Spanned<T>>,
    problems: &mut Collector<'_>,
) -> Option<T> {
    let value = value?;
    if *value.get_ref() == T::default() {
        problems.at(value.span(), format!("{key} must be at least 1"));
        return None;
    }
    Some(value.into_inner())
}

fn bytes(value: Option<Size>, default: usize) -> usize {
    value.map_or(default, |size| usize::try_from(size.0).unwrap_or(usize::MAX))
}
