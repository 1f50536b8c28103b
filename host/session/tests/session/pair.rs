//! The two-ended harness: a [`Session`] with a broker that notes what it is told, and a link that carries packets as
//! bytes. Time passes only in [`Pair::wait`], and every deadline on the way is met.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tidegate_codec::{
    Ack, ClientId, ConnAck, Connect, Credentials, Decoder, Disconnect, Message, Packet, PacketId, Properties,
    PropertiesBuilder, Property, Publish, QoS, ReasonCode, Subscribe, SubscribeOptions, Subscription,
    TopicFilter, TopicName, Unsubscribe, Version, Will, encode,
};
use tidegate_session::{
    Delivery, DropReason, Input, Limits, Output, Session, Settlement, Slot, Stored, Time,
};

/// A session, its link, and all that the broker was told since a test last took it.
pub struct Pair {
    pub now: Time,
    pub session: Session,
    version: Version,
    pub admitted: Vec<(Option<Slot>, Message)>,
    pub routed: Vec<Message>,
    pub wills: Vec<Message>,
    pub dropped: Vec<(QoS, DropReason)>,
    /// Log entries and the identifiers under which they are sent.
    pub sending: Vec<(u64, u16)>,
    pub releasing: Vec<u64>,
    pub finished: Vec<u64>,
    pub returned: Vec<Delivery>,
    pub subscribes: Vec<Subscribe>,
    pub unsubscribes: Vec<Unsubscribe>,
    pub discarded: Vec<Vec<TopicFilter>>,
    /// How often the link was closed by the session.
    pub closed: usize,
    /// How often the session ended.
    pub ended: usize,
}

impl Pair {
    /// A pair without a link.
    pub fn new(limits: Limits) -> Self {
        Self {
            now: Time(1_000_000),
            session: Session::new(ClientId::new("pump-7").unwrap(), Arc::new(limits)),
            version: Version::V5,
            admitted: Vec::new(),
            routed: Vec::new(),
            wills: Vec::new(),
            dropped: Vec::new(),
            sending: Vec::new(),
            releasing: Vec::new(),
            finished: Vec::new(),
            returned: Vec::new(),
            subscribes: Vec::new(),
            unsubscribes: Vec::new(),
            discarded: Vec::new(),
            closed: 0,
            ended: 0,
        }
    }

    /// A pair of `version` whose client has connected for a session that does not expire.
    pub fn connected(version: Version, limits: Limits) -> Self {
        let mut pair = Self::new(limits);
        let connack = pair.connect(lasting(version));
        assert_eq!(connack.reason, ReasonCode::Success);
        pair
    }

    /// Opens a link; returns the CONNACK.
    pub fn connect(&mut self, connect: Connect) -> ConnAck {
        let mut received = self.reconnect(connect);
        match received.remove(0) {
            Packet::ConnAck(connack) if received.is_empty() => *connack,
            other => panic!("{other:?} before {received:?}"),
        }
    }

    /// Opens a link; returns the CONNACK and what comes right behind it.
    pub fn reconnect(&mut self, connect: Connect) -> Vec<Packet> {
        self.version = connect.version;
        let Packet::Connect(connect) = over_the_wire(&Packet::Connect(Box::new(connect)), self.version)
        else {
            panic!("CONNECT decodes to another packet");
        };
        self.give(Input::Connect(connect))
    }

    /// The client sends a packet; returns what it gets for it.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the packet is gone from the client's hands"
    )]
    pub fn send(&mut self, packet: Packet) -> Vec<Packet> {
        let packet = over_the_wire(&packet, self.version);
        self.give(Input::Packet(packet))
    }

    /// The server restarts: everything is gone but `stored`.
    pub fn restart(limits: Limits, stored: Stored) -> Self {
        let mut pair = Self::new(limits.clone());
        let client_id = ClientId::new("pump-7").unwrap();
        let mut outputs = Vec::new();
        pair.session = Session::restore(client_id, Arc::new(limits), stored, pair.now, &mut outputs);
        assert!(outputs.into_iter().all(|output| pair.note(output).is_none()));
        pair
    }

    /// The broker gives an input; returns what the client gets for it.
    pub fn give(&mut self, input: Input) -> Vec<Packet> {
        let mut outputs = Vec::new();
        self.session.on(input, self.now, &mut outputs);
        outputs
            .into_iter()
            .filter_map(|output| self.note(output))
            .collect()
    }

    /// The pipeline accepts `slot`; a QoS 2 message is routed as it came.
    pub fn accept(&mut self, slot: Slot) -> Vec<Packet> {
        let admitted = self.admitted.iter().find(|(of, _)| *of == Some(slot));
        let route = admitted.map(|(_, message)| message.clone());
        let outcome = Settlement::Accepted {
            route: route.filter(|_| slot.qos == QoS::ExactlyOnce),
        };
        self.give(Input::Settled { slot, outcome })
    }

    /// The pipeline refuses `slot`.
    pub fn refuse(&mut self, slot: Slot, reason: ReasonCode) -> Vec<Packet> {
        let outcome = Settlement::Refused(reason);
        self.give(Input::Settled { slot, outcome })
    }

    /// The slot of the message admitted last.
    pub fn last_slot(&self) -> Slot {
        self.admitted.last().unwrap().0.unwrap()
    }

    /// Time passes; returns what the client gets meanwhile.
    pub fn wait(&mut self, duration: Duration) -> Vec<Packet> {
        let until = self.now + duration;
        let mut received = Vec::new();
        while let Some(deadline) = self.session.deadline().filter(|&deadline| deadline <= until) {
            self.now = self.now.max(deadline);
            received.extend(self.give(Input::Tick));
            assert_ne!(
                self.session.deadline(),
                Some(deadline),
                "a deadline outlives its tick"
            );
        }
        self.now = until;
        received
    }

    /// The link goes down without a word.
    pub fn vanish(&mut self) {
        assert_eq!(self.give(Input::Lost), []);
    }

    fn note(&mut self, output: Output) -> Option<Packet> {
        match output {
            Output::Send(packet) => return Some(over_the_wire(&packet, self.version)),
            Output::Admit { slot, message } => self.admitted.push((slot, message)),
            Output::Route(message) => self.routed.push(message),
            Output::Subscribe(request) => self.subscribes.push(*request),
            Output::Unsubscribe(request) => self.unsubscribes.push(*request),
            Output::Will(message) => self.wills.push(message),
            Output::Close => self.closed += 1,
            Output::Dropped { qos, reason } => self.dropped.push((qos, reason)),
            Output::Sending { log_entry, packet_id } => self.sending.push((log_entry.get(), packet_id.get())),
            Output::Releasing(entry) => self.releasing.push(entry.get()),
            Output::Finished(entry) => self.finished.push(entry.get()),
            Output::Return(delivery) => self.returned.push(delivery),
            Output::Discarded { filters } => self.discarded.push(filters),
            Output::End => self.ended += 1,
        }
        None
    }
}

/// `packet` as the other side reads it.
pub fn over_the_wire(packet: &Packet, version: Version) -> Packet {
    let mut bytes = BytesMut::new();
    encode(packet, version, &mut bytes).unwrap_or_else(|error| panic!("{packet:?}: {error}"));
    let decoder = Decoder {
        version: (!matches!(packet, Packet::Connect(_))).then_some(version),
        packet_bytes_max: u32::MAX,
    };
    let mut bytes = bytes.freeze();
    let decoded = decoder.decode(&mut bytes).unwrap().expect("a whole packet");
    assert!(bytes.is_empty());
    decoded
}

pub const SECOND: Duration = Duration::from_secs(1);

pub fn id(value: u16) -> PacketId {
    PacketId::new(value).unwrap()
}

pub fn ack(value: u16) -> Ack {
    Ack::success(id(value))
}

pub fn failing(value: u16, reason: ReasonCode) -> Ack {
    Ack::with_reason(id(value), reason)
}

pub fn properties(list: &[Property<'_>]) -> Properties {
    let mut builder = PropertiesBuilder::default();
    for &property in list {
        builder.push(property);
    }
    builder.build().unwrap()
}

/// A CONNECT of a client that asks for nothing: its session ends with the link.
pub fn passing(version: Version) -> Connect {
    Connect {
        version,
        client_id: ClientId::new("pump-7"),
        clean_start: true,
        keep_alive: 0,
        will: None,
        credentials: Credentials::default(),
        properties: Properties::empty(),
    }
}

/// A CONNECT that continues a session, which does not expire.
pub fn lasting(version: Version) -> Connect {
    lasting_with(version, &[])
}

/// The same with further properties.
pub fn lasting_with(version: Version, more: &[Property<'_>]) -> Connect {
    let mut list = vec![Property::SessionExpiryInterval(u32::MAX)];
    list.extend_from_slice(more);
    Connect {
        clean_start: false,
        properties: match version {
            Version::V311 => Properties::empty(),
            Version::V5 => properties(&list),
        },
        ..passing(version)
    }
}

pub fn message(text: &str, qos: QoS) -> Message {
    Message {
        topic: TopicName::new("plant/1/pump").unwrap(),
        payload: text.to_owned().into(),
        properties: Properties::empty(),
        qos,
        retain: false,
    }
}

/// A will with a Will Delay Interval in seconds.
pub fn will(delay: u32) -> Will {
    let mut message = message("gone", QoS::AtLeastOnce);
    if delay > 0 {
        message.properties = properties(&[Property::WillDelayInterval(delay), Property::ContentType("text")]);
    }
    Will { message }
}

/// A PUBLISH of the client.
pub fn publish(qos: QoS, packet_id: u16, text: &str) -> Publish {
    Publish {
        topic: TopicName::new("plant/1/pump").ok(),
        payload: text.to_owned().into(),
        properties: Properties::empty(),
        qos,
        packet_id: PacketId::new(packet_id),
        retain: false,
        dup: false,
    }
}

/// The same, sent again.
pub fn again(qos: QoS, packet_id: u16, text: &str) -> Packet {
    Packet::Publish(Publish {
        dup: true,
        ..publish(qos, packet_id, text)
    })
}

/// A message routed to the session at `now`, kept by the log as `entry`.
pub fn delivery(text: &str, qos: QoS, now: Time, entry: u64) -> Delivery {
    Delivery {
        message: message(text, qos),
        qos,
        retain: false,
        identifiers: Box::default(),
        received: now,
        log_entry: NonZeroU64::new(entry),
        group: None,
    }
}

pub fn subscribe(packet_id: u16, filters: &[&str]) -> Packet {
    Packet::Subscribe(Box::new(Subscribe {
        packet_id: id(packet_id),
        subscriptions: filters
            .iter()
            .map(|filter| Subscription {
                filter: TopicFilter::new(filter).unwrap(),
                options: SubscribeOptions {
                    qos: QoS::ExactlyOnce,
                    ..SubscribeOptions::default()
                },
            })
            .collect(),
        properties: Properties::empty(),
    }))
}

pub fn disconnect(reason: ReasonCode) -> Packet {
    Packet::Disconnect(Box::new(Disconnect::with_reason(reason)))
}

/// The payload of a PUBLISH, its identifier and DUP.
pub fn published(packet: &Packet) -> (String, u16, bool) {
    match packet {
        Packet::Publish(publish) => (
            String::from_utf8(publish.payload.to_vec()).unwrap(),
            publish.packet_id.map_or(0, PacketId::get),
            publish.dup,
        ),
        other => panic!("not a PUBLISH: {other:?}"),
    }
}
