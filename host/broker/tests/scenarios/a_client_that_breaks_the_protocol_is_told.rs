//! Bytes that are no packet, packets out of place and broken limits end the connection with the standard's reason.

use std::io::Write;

use tidegate_codec::{ConnAck, Packet, Properties, QoS, ReasonCode, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};

#[test]
fn malformed_and_misplaced_packets() {
    let cases: [(&str, &[u8], ReasonCode); 8] = [
        ("reserved type", &[0x00, 0x00], ReasonCode::MalformedPacket),
        (
            "QoS 3",
            &[0x36, 0x05, 0x00, 0x01, b'a', 0x00, 0x00],
            ReasonCode::MalformedPacket,
        ), // [MQTT-3.3.1-4]
        (
            "length of five bytes",
            &[0x30, 0xff, 0xff, 0xff, 0xff, 0x01],
            ReasonCode::MalformedPacket,
        ),
        (
            "topic with wildcard",
            &[0x30, 0x04, 0x00, 0x01, b'#', 0x00],
            ReasonCode::TopicNameInvalid,
        ),
        (
            "SUBSCRIBE without filter",
            &[0x82, 0x03, 0x00, 0x01, 0x00],
            ReasonCode::ProtocolError,
        ), // [MQTT-3.8.3-2]
        ("too large", &[0x30, 0xff, 0xff, 0x7f], ReasonCode::PacketTooLarge),
        (
            "second CONNECT",
            b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x01x",
            ReasonCode::ProtocolError,
        ), // [MQTT-3.1.0-2]
        (
            "CONNACK from a client",
            &[0x20, 0x03, 0x00, 0x00, 0x00],
            ReasonCode::ProtocolError,
        ),
    ];
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        for (number, (name, bytes, reason)) in cases.into_iter().enumerate() {
            let mut new = Client::connect(broker.mqtt, Version::V5, &format!("n{number}"));
            new.socket.write_all(bytes).unwrap();
            match new.receive() {
                Packet::Disconnect(disconnect) => assert_eq!(disconnect.reason, reason, "{name}"),
                other => panic!("{name}: expected DISCONNECT, got {other:?}"),
            }
            new.is_closed();
            // A 3.1.1 server has no DISCONNECT to send.
            if name != "second CONNECT" && name != "SUBSCRIBE without filter" {
                let mut old = Client::connect(broker.mqtt, Version::V311, &format!("o{number}"));
                old.socket.write_all(bytes).unwrap();
                old.is_closed();
            }
        }
        Client::connect(broker.mqtt, Version::V5, "other").publish_acked("t", QoS::ExactlyOnce, "served");
    }
}

#[test]
fn a_first_packet_that_is_no_connect() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "");
        for bytes in [
            &[0xc0, 0x00][..],
            &[0x30, 0x04, 0x00, 0x01, b'a', 0x00],
            b"GET / HTTP/1.1\r\n\r\n",
        ] {
            let mut client = Client::open(broker.mqtt, Version::V5);
            client.socket.write_all(bytes).unwrap();
            client.is_closed(); // [MQTT-3.1.0-1]
        }
        let mut future = Client::open(broker.mqtt, Version::V311);
        future
            .socket
            .write_all(b"\x10\x0d\x00\x04MQTT\x09\x02\x00\x00\x00\x01x")
            .unwrap();
        let reason = ReasonCode::UnsupportedProtocolVersion; // [MQTT-3.1.2-2]
        let connack = ConnAck {
            session_present: false,
            reason,
            properties: Properties::empty(),
        };
        assert_eq!(future.receive(), Packet::ConnAck(Box::new(connack)));
        future.is_closed();
    }
}

#[test]
fn a_connection_that_says_nothing() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "[mqtt]\nconnect_timeout = \"300ms\"\n");
        let mut served = Client::connect(broker.mqtt, Version::V5, "served");
        let mut silent = Client::open(broker.mqtt, Version::V5);
        let mut halting = Client::open(broker.mqtt, Version::V5);
        halting.socket.write_all(&[0x10]).unwrap();
        silent.is_closed();
        halting.is_closed();
        served.ping();
        assert_eq!(
            broker.metric("tidegate_connection_attempts_total{outcome=\"turned_away\"}"),
            2
        );
    }
}

#[test]
fn a_client_over_its_receive_maximum() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "[mqtt]\nreceive_maximum = 3\n");
        let mut client = Client::connect(broker.mqtt, Version::V5, "c");
        // QoS 2 exchanges count until PUBCOMP, which needs the client's PUBREL.
        for _ in 0..4 {
            client.publish("t", QoS::ExactlyOnce, "x");
        }
        let mut last = client.receive();
        while matches!(last, Packet::PubRec(_)) {
            last = client.receive();
        }
        let Packet::Disconnect(disconnect) = last else {
            panic!("expected DISCONNECT, got {last:?}")
        };
        assert_eq!(disconnect.reason, ReasonCode::ReceiveMaximumExceeded); // [MQTT-3.3.4-7]
        client.is_closed();
    }
}
