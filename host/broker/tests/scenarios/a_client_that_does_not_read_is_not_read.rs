//! A client that sends and never reads its answers is left waiting in its socket, not answered into memory without
//! bound; once it reads, it gets every answer.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use tidegate_codec::{QoS, Version};

use crate::common::client::Client;
use crate::common::{Broker, WORKERS};

/// Far more than both sockets' buffers and the outbox take.
const SENT_MAX: usize = 256 << 20;
const PINGREQ: [u8; 2] = [0xc0, 0];
const PINGRESP: [u8; 2] = [0xd0, 0];

#[test]
fn until_it_does() {
    for workers in WORKERS {
        let broker = Broker::start(workers, "[mqtt]\noutbox_max = \"64KiB\"\n");
        let mut client = Client::connect(broker.mqtt, Version::V5, "deaf");
        client
            .socket
            .set_write_timeout(Some(Duration::from_secs(2)))
            .unwrap();
        let pings = PINGREQ.repeat(32 << 10);
        let mut sent = 0;
        let stopped = loop {
            match client.socket.write(&pings[sent % 2..]) {
                Ok(count) if sent < SENT_MAX => sent += count,
                Ok(_) => break None,
                Err(error) => break Some(error.kind()),
            }
        };
        assert_eq!(stopped, Some(ErrorKind::WouldBlock), "{sent} bytes were taken in");
        Client::connect(broker.mqtt, Version::V311, "other").publish_acked("t", QoS::ExactlyOnce, "served");

        let mut answers = vec![0; sent / 2 * 2];
        client.socket.read_exact(&mut answers).unwrap();
        assert!(answers.chunks(2).all(|answer| answer == PINGRESP));
        if sent % 2 == 1 {
            client.socket.write_all(&PINGREQ[1..]).unwrap();
            client.socket.read_exact(&mut answers[..2]).unwrap();
        }
        client.ping();
    }
}
