//! What a session costs: bytes when it is idle, allocations when it is busy.

use std::sync::Arc;

use allocation_counter::measure;
use tidegate_codec::{ClientId, Packet, QoS, Version};
use tidegate_session::{Delivery, Input, Limits, Output, Session, Settlement, Time};

use crate::pair::{ack, delivery, lasting, passing, publish, subscribe};

/// A session with a link, and the outputs of its last input.
struct Busy {
    session: Session,
    out: Vec<Output>,
}

impl Busy {
    fn new() -> Self {
        let client_id = ClientId::new("pump-7").unwrap();
        let session = Session::new(client_id, Arc::new(Limits::default()));
        let mut busy = Self {
            session,
            out: Vec::with_capacity(8),
        };
        busy.give(Input::Connect(Box::new(lasting(Version::V5))));
        busy
    }

    fn give(&mut self, input: Input) {
        self.out.clear();
        self.session.on(input, Time(5), &mut self.out);
    }

    fn send(&mut self, packet: Packet) {
        self.give(Input::Packet(packet));
    }

    fn publish_and_settle(&mut self, qos: QoS, packet: Packet) {
        self.send(packet);
        let Some(Output::Admit {
            slot: Some(slot),
            message,
        }) = self.out.pop()
        else {
            panic!("not admitted");
        };
        let route = (qos == QoS::ExactlyOnce).then_some(message);
        let outcome = Settlement::Accepted { route };
        self.give(Input::Settled { slot, outcome });
    }
}

/// Five million of them fit in 3 GiB beside what their links need.
#[test]
fn an_idle_client_takes_less_than_200_bytes() {
    let limits = Arc::new(Limits::default());
    let client_id = ClientId::new("pump-7").unwrap();
    let connect = Box::new(passing(Version::V5));
    let mut sessions = Vec::new();
    let mut out = Vec::with_capacity(8);
    let kept = measure(|| {
        let mut session = Session::new(client_id, limits);
        session.on(Input::Connect(connect), Time(5), &mut out);
        out.clear();
        session.on(Input::Packet(Packet::PingReq), Time(6), &mut out);
        sessions.reserve_exact(1);
        sessions.push(session);
    });
    assert!(sessions[0].is_connected());
    assert!(kept.bytes_current <= 200, "{kept:?}");
}

/// One filter adds its text and less than 100 bytes.
#[test]
fn an_idle_subscriber_takes_less_than_250_bytes() {
    let mut busy = Busy::new();
    let request = subscribe(1, &["plant/1/+"]);
    let kept = measure(|| {
        busy.send(request);
        busy.out.clear();
    });
    assert!(kept.bytes_current <= 100, "{kept:?}");
}

/// PUBLISH in, settled, acknowledged: no allocation once the windows have their size.
#[test]
fn publishing_does_not_allocate() {
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut busy = Busy::new();
        let packet_id = u16::from(qos != QoS::AtMostOnce);
        let packet = Packet::Publish(publish(qos, packet_id, "a"));
        let once = |busy: &mut Busy| match qos {
            QoS::AtMostOnce => busy.send(packet.clone()),
            QoS::AtLeastOnce => busy.publish_and_settle(qos, packet.clone()),
            QoS::ExactlyOnce => {
                busy.publish_and_settle(qos, packet.clone());
                busy.send(Packet::PubRel(ack(1)));
            }
        };
        (0..100).for_each(|_| once(&mut busy));
        let counted = measure(|| (0..1000).for_each(|_| once(&mut busy)));
        assert_eq!(counted.count_total, 0, "{qos:?}");
        assert_eq!(busy.session.inbound_len(), 0);
    }
}

/// A message out and its acknowledgements in: the same.
#[test]
fn delivering_does_not_allocate() {
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut busy = Busy::new();
        let message: Delivery = delivery("a", qos, Time(5), 1);
        let once = |busy: &mut Busy| {
            busy.give(Input::Deliver(message.clone()));
            match qos {
                QoS::AtMostOnce => {}
                QoS::AtLeastOnce => busy.send(Packet::PubAck(ack(1))),
                QoS::ExactlyOnce => {
                    busy.send(Packet::PubRec(ack(1)));
                    busy.send(Packet::PubComp(ack(1)));
                }
            }
        };
        (0..100).for_each(|_| once(&mut busy));
        let counted = measure(|| (0..1000).for_each(|_| once(&mut busy)));
        assert_eq!(counted.count_total, 0, "{qos:?}");
        assert_eq!(busy.session.outbound_lens(), (0, 0));
    }
}
