//! Cost of the hot path: one PUBLISH and its acknowledgement, in and out.
//!
//! `cargo bench -p tidegate-codec`. rumqttc's codec runs beside as the yardstick: trust the ratio, not the figure.

#![allow(clippy::unwrap_used)] // A wrong set-up must stop the run.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rumqttc::v5::mqttbytes::v5::Packet as Peer;
use tidegate_codec::{
    Ack, Decoder, Delivery, EncodedPublish, Message, Packet, PacketId, Properties, PropertiesBuilder,
    Property, Publish, QoS, TopicName, Version, encode,
};

/// Packets in one read buffer: a socket under load delivers many at once.
const PACKETS: usize = 64;

fn publish(properties: Properties) -> Packet {
    Packet::Publish(Publish {
        topic: Some(TopicName::new("plant/7/line/3/telemetry").unwrap()),
        payload: Bytes::from(vec![b'x'; 200]),
        properties,
        qos: QoS::AtLeastOnce,
        packet_id: PacketId::new(77),
        retain: false,
        dup: false,
    })
}

fn four_properties() -> Properties {
    let mut builder = PropertiesBuilder::default();
    builder
        .push(Property::MessageExpiryInterval(3600))
        .push(Property::ContentType("application/json"))
        .push(Property::UserProperty("source", "sensor-7"))
        .push(Property::UserProperty("unit", "celsius"));
    builder.build().unwrap()
}

fn written(packet: &Packet, count: usize) -> Bytes {
    let mut out = BytesMut::new();
    for _ in 0..count {
        encode(packet, Version::V5, &mut out).unwrap();
    }
    out.freeze()
}

fn decode(criterion: &mut Criterion, name: &str, packet: &Packet) {
    let bytes = written(packet, PACKETS);
    let decoder = Decoder {
        version: Some(Version::V5),
        packet_bytes_max: 1 << 20,
    };
    let mut group = criterion.benchmark_group(format!("decode/{name}"));
    group.throughput(Throughput::Elements(PACKETS as u64));
    let fresh = || Bytes::copy_from_slice(&bytes);
    let ours = |mut input: Bytes| {
        while let Some(packet) = decoder.decode(&mut input).unwrap() {
            black_box(&packet);
        }
    };
    group.bench_function("tidegate", |bencher| {
        bencher.iter_batched(fresh, ours, BatchSize::SmallInput);
    });
    let fresh = || BytesMut::from(&bytes[..]);
    let peer = |mut input: BytesMut| {
        while !input.is_empty() {
            black_box(&Peer::read(&mut input, None).unwrap());
        }
    };
    group.bench_function("rumqttc", |bencher| {
        bencher.iter_batched(fresh, peer, BatchSize::SmallInput);
    });
}

fn encode_one(criterion: &mut Criterion, name: &str, packet: &Packet) {
    let mut out = BytesMut::with_capacity(1 << 16);
    let mut group = criterion.benchmark_group(format!("encode/{name}"));
    group.throughput(Throughput::Elements(PACKETS as u64));
    group.bench_function("tidegate", |bencher| {
        bencher.iter(|| {
            out.clear();
            for _ in 0..PACKETS {
                encode(black_box(packet), Version::V5, &mut out).unwrap();
            }
        });
    });
    let peer = Peer::read(&mut BytesMut::from(&written(packet, 1)[..]), None).unwrap();
    group.bench_function("rumqttc", |bencher| {
        bencher.iter(|| {
            out.clear();
            for _ in 0..PACKETS {
                black_box(&peer).write(&mut out, None).unwrap();
            }
        });
    });
}

fn fan_out(criterion: &mut Criterion, packet: &Packet) {
    let Packet::Publish(publish) = packet else { return };
    let message: Message = publish.clone().into_message(publish.topic.clone().unwrap());
    let delivery = Delivery::of(&message, QoS::AtLeastOnce, PacketId::new(1));
    let encoded = EncodedPublish::new(&delivery, Version::V5).unwrap();
    let mut out = BytesMut::with_capacity(1 << 16);
    let mut group = criterion.benchmark_group("fan-out/publish");
    group.throughput(Throughput::Elements(PACKETS as u64));
    group.bench_function("tidegate", |bencher| {
        bencher.iter(|| {
            out.clear();
            for id in 1..=PACKETS as u16 {
                black_box(&encoded)
                    .put(PacketId::new(id), false, &mut out)
                    .unwrap();
            }
        });
    });
}

fn benches(criterion: &mut Criterion) {
    let plain = publish(Properties::empty());
    let rich = publish(four_properties());
    let puback = Packet::PubAck(Ack::success(PacketId::new(77).unwrap()));
    for (name, packet) in [
        ("publish", &plain),
        ("publish with four properties", &rich),
        ("puback", &puback),
    ] {
        decode(criterion, name, packet);
        encode_one(criterion, name, packet);
    }
    fan_out(criterion, &plain);
}

criterion_group! {
    name = codec;
    config = Criterion::default().warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = benches
}
criterion_main!(codec);
