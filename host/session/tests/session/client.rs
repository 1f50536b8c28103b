//! A client that keeps to the protocol, on a link where packets are under way until a test lets them arrive.
//!
//! It knows only what section 4 of the standard says of a sender and of a receiver, and nothing of the session.

use std::collections::{BTreeSet, VecDeque};

use tidegate_codec::{Ack, Connect, Packet, PacketId, Publish, QoS};

use crate::pair::{Pair, ack, published};

/// The client's side of a session.
pub struct Client {
    connect: Connect,
    linked: bool,
    /// Under way to the server.
    to_server: VecDeque<Packet>,
    /// Under way to the client.
    to_client: VecDeque<Packet>,
    /// Own messages not completed, in the order they were published.
    sending: Vec<Sending>,
    /// Identifiers of QoS 2 messages received and not released.
    receiving: BTreeSet<u16>,
    /// Identifiers of PUBLISHes that the server sent over this link and that count against the Receive Maximum.
    counted: BTreeSet<u16>,
    /// Messages handed to the application.
    pub received: Vec<String>,
}

struct Sending {
    packet_id: u16,
    qos: QoS,
    text: String,
    /// PUBREC has come.
    released: bool,
}

impl Client {
    pub fn new(connect: Connect) -> Self {
        Self {
            connect,
            linked: true,
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            sending: Vec::new(),
            receiving: BTreeSet::new(),
            counted: BTreeSet::new(),
            received: Vec::new(),
        }
    }

    pub fn is_linked(&self) -> bool {
        self.linked
    }

    /// Own messages not completed.
    pub fn sending(&self) -> usize {
        self.sending.len()
    }

    /// Publishes; the PUBLISH is under way if there is a link.
    pub fn publish(&mut self, qos: QoS, text: &str) {
        let in_use: BTreeSet<u16> = self.sending.iter().map(|sending| sending.packet_id).collect();
        let packet_id = (1..).find(|id| !in_use.contains(id)).unwrap();
        self.sending.push(Sending {
            packet_id,
            qos,
            text: text.to_owned(),
            released: false,
        });
        if self.linked {
            self.to_server
                .push_back(Packet::Publish(crate::pair::publish(qos, packet_id, text)));
        }
    }

    /// The link is gone, and with it what was under way.
    pub fn unlink(&mut self) {
        self.linked = false;
        self.to_server.clear();
        self.to_client.clear();
    }

    /// Opens a link and sends again what is not completed [MQTT-4.4.0-1].
    pub fn link(&mut self, pair: &mut Pair) {
        self.linked = true;
        self.counted.clear();
        let mut received = pair.reconnect(self.connect.clone());
        let Packet::ConnAck(connack) = received.remove(0) else {
            panic!("{received:?}")
        };
        assert!(connack.session_present);
        self.under_way(received);
        for sending in &self.sending {
            self.to_server.push_back(match sending.released {
                true => Packet::PubRel(ack(sending.packet_id)),
                false => Packet::Publish(Publish {
                    dup: true,
                    ..crate::pair::publish(sending.qos, sending.packet_id, &sending.text)
                }),
            });
        }
    }

    /// The server has sent `packets`.
    pub fn under_way(&mut self, packets: Vec<Packet>) {
        for packet in packets {
            if let Packet::Publish(Publish {
                packet_id: Some(packet_id),
                ..
            }) = &packet
            {
                assert!(
                    self.counted.insert(packet_id.get()),
                    "{packet_id:?} was in use [MQTT-2.2.1-4]"
                );
                let maximum = self.connect.properties.receive_maximum().unwrap_or(u16::MAX);
                assert!(
                    self.counted.len() <= usize::from(maximum),
                    "over the Receive Maximum"
                );
            }
            self.to_client.push_back(packet);
        }
    }

    /// The next packet arrives at the server; `false` if none is under way.
    pub fn step_server(&mut self, pair: &mut Pair) -> bool {
        let Some(packet) = self.to_server.pop_front() else {
            return false;
        };
        if let Packet::PubAck(ack) | Packet::PubComp(ack) = &packet {
            self.counted.remove(&ack.packet_id.get());
        }
        let answers = pair.send(packet);
        assert!(
            pair.session.is_connected(),
            "a conforming client was disconnected"
        );
        self.under_way(answers);
        true
    }

    /// The next packet arrives at the client; `false` if none is under way.
    pub fn step_client(&mut self) -> bool {
        let Some(packet) = self.to_client.pop_front() else {
            return false;
        };
        let answer = self.answer(&packet);
        self.to_server.extend(answer);
        true
    }

    /// All that is under way arrives, and what follows from it.
    pub fn pump(&mut self, pair: &mut Pair) {
        while self.step_server(pair) || self.step_client() {}
    }

    fn answer(&mut self, packet: &Packet) -> Option<Packet> {
        match packet {
            Packet::Publish(publish) => self.receive(publish, published(packet).0),
            Packet::PubRel(release) => {
                self.receiving.remove(&release.packet_id.get());
                Some(Packet::PubComp(Ack::success(release.packet_id)))
            }
            Packet::PubAck(done) | Packet::PubComp(done) => {
                let id = done.packet_id.get();
                let known = self.sending.iter().position(|sending| sending.packet_id == id);
                self.sending
                    .remove(known.unwrap_or_else(|| panic!("{packet:?} answers nothing")));
                None
            }
            Packet::PubRec(received) if received.reason.is_error() => {
                self.sending
                    .retain(|sending| sending.packet_id != received.packet_id.get());
                None
            }
            Packet::PubRec(received) => {
                let id = received.packet_id.get();
                let sending = self.sending.iter_mut().find(|sending| sending.packet_id == id);
                sending
                    .unwrap_or_else(|| panic!("{packet:?} answers nothing"))
                    .released = true;
                Some(Packet::PubRel(Ack::success(received.packet_id)))
            }
            other => panic!("unexpected {other:?}"),
        }
    }

    fn receive(&mut self, publish: &Publish, text: String) -> Option<Packet> {
        let id = publish.packet_id.map_or(0, PacketId::get);
        match publish.qos {
            QoS::AtMostOnce => {
                self.received.push(text);
                None
            }
            QoS::AtLeastOnce => {
                self.received.push(text);
                Some(Packet::PubAck(ack(id)))
            }
            QoS::ExactlyOnce => {
                if self.receiving.insert(id) {
                    self.received.push(text);
                }
                Some(Packet::PubRec(ack(id)))
            }
        }
    }
}
