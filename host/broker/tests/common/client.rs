//! A client that sends what it is told and shows what it gets, packet by packet.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tidegate_codec::{
    Ack, ClientId, ConnAck, Connect, Credentials, Decoder, Disconnect, Packet, PacketId, Properties, Publish,
    QoS, ReasonCode, Subscribe, SubscribeOptions, Subscription, TopicFilter, TopicName, Version, encode,
};

use super::DEADLINE;

/// A connection and what was read beyond the last packet.
pub struct Client {
    pub socket: TcpStream,
    pub version: Version,
    /// Read while something else was waited for.
    received: VecDeque<Packet>,
    input: BytesMut,
    next_id: u16,
}

/// A CONNECT as most tests want it; change what matters.
pub fn connect(version: Version, client_id: &str) -> Connect {
    Connect {
        version,
        client_id: ClientId::new(client_id),
        clean_start: true,
        keep_alive: 0,
        will: None,
        credentials: Credentials::default(),
        properties: Properties::empty(),
    }
}

impl Client {
    /// Opens a connection and says nothing.
    pub fn open(address: SocketAddr, version: Version) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        Self {
            socket,
            version,
            received: VecDeque::new(),
            input: BytesMut::new(),
            next_id: 0,
        }
    }

    /// A second end of the same connection, to write while this one reads.
    pub fn clone_writer(&self) -> Self {
        let socket = self.socket.try_clone().unwrap();
        Self {
            socket,
            version: self.version,
            received: VecDeque::new(),
            input: BytesMut::new(),
            next_id: self.next_id,
        }
    }

    /// Connects with a clean session.
    pub fn connect(address: SocketAddr, version: Version, client_id: &str) -> Self {
        Self::connect_with(address, connect(version, client_id)).0
    }

    /// Connects as `connect` says; the CONNACK must be a success.
    pub fn connect_with(address: SocketAddr, connect: Connect) -> (Self, ConnAck) {
        let mut client = Self::open(address, connect.version);
        client.send(&Packet::Connect(Box::new(connect)));
        match client.receive() {
            Packet::ConnAck(connack) if connack.reason == ReasonCode::Success => (client, *connack),
            other => panic!("expected a CONNACK, got {other:?}"),
        }
    }

    pub fn send(&mut self, packet: &Packet) {
        let mut bytes = BytesMut::new();
        encode(packet, self.version, &mut bytes).unwrap();
        self.socket.write_all(&bytes).unwrap();
    }

    /// The next packet.
    pub fn receive(&mut self) -> Packet {
        self.try_receive()
            .unwrap_or_else(|| panic!("the broker closed the connection"))
    }

    /// The next packet; `None` when the broker closes.
    pub fn try_receive(&mut self) -> Option<Packet> {
        if let Some(packet) = self.received.pop_front() {
            return Some(packet);
        }
        let decoder = Decoder {
            version: Some(self.version),
            packet_bytes_max: 256 << 20,
        };
        loop {
            let mut bytes: Bytes = self.input.split().freeze();
            let packet = decoder.decode(&mut bytes).unwrap();
            self.input = BytesMut::from(&*bytes);
            if packet.is_some() {
                return packet;
            }
            let mut chunk = [0; 16 << 10];
            match self.socket.read(&mut chunk) {
                Ok(0) => return None,
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing came: {error}"),
            }
        }
    }

    /// Whether nothing comes within `span`.
    pub fn is_silent_for(&mut self, span: Duration) -> bool {
        assert_eq!(self.received, [], "packets not yet received");
        assert!(
            self.input.is_empty(),
            "bytes of an unread packet: {:?}",
            self.input
        );
        self.socket.set_read_timeout(Some(span)).unwrap();
        let mut one = [0];
        let silent = matches!(self.socket.peek(&mut one), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
        self.socket.set_read_timeout(Some(DEADLINE)).unwrap();
        silent
    }

    /// The broker says DISCONNECT with `reason` and closes.
    pub fn is_disconnected(&mut self, reason: ReasonCode) {
        assert_eq!(
            self.receive(),
            Packet::Disconnect(Box::new(Disconnect::with_reason(reason)))
        );
        self.is_closed();
    }

    /// The broker closes without another word.
    pub fn is_closed(&mut self) {
        assert_eq!(self.try_receive(), None);
    }

    /// Proof that everything sent before has been read, and that nothing was waiting to be received: the answer to a
    /// PINGREQ comes next.
    pub fn ping(&mut self) {
        self.send(&Packet::PingReq);
        assert_eq!(self.receive(), Packet::PingResp);
    }

    pub fn subscribe(&mut self, filter: &str, qos: QoS) {
        self.subscribe_with(
            filter,
            SubscribeOptions {
                qos,
                ..SubscribeOptions::default()
            },
            Properties::empty(),
        );
    }

    pub fn subscribe_with(&mut self, filter: &str, options: SubscribeOptions, properties: Properties) {
        let packet_id = self.packet_id();
        let subscriptions = vec![Subscription {
            filter: TopicFilter::new(filter).unwrap(),
            options,
        }];
        self.send(&Packet::Subscribe(Box::new(Subscribe {
            packet_id,
            subscriptions,
            properties,
        })));
        match self.receive() {
            Packet::SubAck(suback) => {
                assert_eq!(suback.packet_id, packet_id);
                assert!(!suback.reasons[0].is_error(), "{suback:?}");
            }
            other => panic!("expected a SUBACK, got {other:?}"),
        }
    }

    pub fn packet_id(&mut self) -> PacketId {
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        PacketId::new(self.next_id).unwrap()
    }

    /// Sends a PUBLISH and returns its id.
    pub fn publish(&mut self, topic: &str, qos: QoS, payload: impl Into<Bytes>) -> Option<PacketId> {
        let packet_id = (qos != QoS::AtMostOnce).then(|| self.packet_id());
        self.send(&Packet::Publish(Publish {
            topic: Some(TopicName::new(topic).unwrap()),
            payload: payload.into(),
            properties: Properties::empty(),
            qos,
            packet_id,
            retain: false,
            dup: false,
        }));
        packet_id
    }

    /// Publishes and waits for the last acknowledgement of its QoS.
    pub fn publish_acked(&mut self, topic: &str, qos: QoS, payload: impl Into<Bytes>) {
        let Some(packet_id) = self.publish(topic, qos, payload) else {
            return;
        };
        match qos {
            QoS::ExactlyOnce => {
                assert_eq!(self.receive(), Packet::PubRec(Ack::success(packet_id)));
                self.send(&Packet::PubRel(Ack::success(packet_id)));
                assert_eq!(self.receive(), Packet::PubComp(Ack::success(packet_id)));
            }
            _ => assert_eq!(self.receive(), Packet::PubAck(Ack::success(packet_id))),
        }
    }

    /// Waits for the PUBREL of `packet_id` and answers it; what comes before it is received later.
    fn finish(&mut self, packet_id: PacketId) {
        let mut earlier = VecDeque::new();
        loop {
            match self.receive() {
                Packet::PubRel(ack) if ack.packet_id == packet_id => break,
                other => earlier.push_back(other),
            }
        }
        self.send(&Packet::PubComp(Ack::success(packet_id)));
        earlier.append(&mut self.received);
        self.received = earlier;
    }

    /// The next message, acknowledged as its QoS asks.
    pub fn message(&mut self) -> Publish {
        let publish = match self.receive() {
            Packet::Publish(publish) => publish,
            other => panic!("expected a PUBLISH, got {other:?}"),
        };
        match (publish.qos, publish.packet_id) {
            (QoS::AtLeastOnce, Some(packet_id)) => self.send(&Packet::PubAck(Ack::success(packet_id))),
            (QoS::ExactlyOnce, Some(packet_id)) => {
                self.send(&Packet::PubRec(Ack::success(packet_id)));
                self.finish(packet_id);
            }
            _ => {}
        }
        publish
    }
}
