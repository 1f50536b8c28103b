//! A broker of few lines that makes mistakes on demand.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use tidegate_bench::wire::scan::kind;
use tidegate_bench::wire::take_frame;

/// What the faulty broker does with the messages of its publishers, each counted by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Every so manieth message is acknowledged but not delivered.
    pub lose: Option<u32>,
    /// Every so manieth is delivered twice.
    pub duplicate: Option<u32>,
    /// Every so manieth is delivered after its successor.
    pub delay: Option<u32>,
    /// Every so manieth is not acknowledged.
    pub withhold: Option<u32>,
}

/// A broker for QoS 1 and 3.1.1 that delivers everything to its last subscriber, at QoS 0, with faults.
pub fn faulty_broker(faults: Faults) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let subscriber: Arc<Mutex<Option<TcpStream>>> = Arc::default();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, subscriber) = (stream.unwrap(), Arc::clone(&subscriber));
            thread::spawn(move || serve(stream, &subscriber, faults));
        }
    });
    address
}

fn serve(mut stream: TcpStream, subscriber: &Mutex<Option<TcpStream>>, faults: Faults) {
    let (mut buffer, mut bytes) = ([0; 4096], Vec::new());
    let (mut count, mut held) = (0, None);
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..read]);
        let mut input = &bytes[..];
        while let Some(frame) = take_frame(&mut input).unwrap() {
            let answer = match frame.kind() {
                kind::CONNECT => vec![0x20, 2, 0, 0],
                kind::SUBSCRIBE => {
                    *subscriber.lock().unwrap() = Some(stream.try_clone().unwrap());
                    vec![0x90, 3, frame.body[0], frame.body[1], 0]
                }
                kind::PUBLISH => {
                    count += 1;
                    deliver(subscriber, faults, (count, frame.raw), &mut held);
                    let id = frame.publish_packet_id().unwrap().to_be_bytes();
                    match every(faults.withhold, count) {
                        true => vec![],
                        false => vec![0x40, 2, id[0], id[1]],
                    }
                }
                kind::PINGREQ => vec![0xD0, 0],
                _ => {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
            };
            stream.write_all(&answer).unwrap();
        }
        let rest = input.to_vec();
        bytes = rest;
    }
}

fn deliver(
    subscriber: &Mutex<Option<TcpStream>>,
    faults: Faults,
    (count, raw): (u32, &[u8]),
    held: &mut Option<Vec<u8>>,
) {
    let mut subscriber = subscriber.lock().unwrap();
    let Some(stream) = subscriber.as_mut() else { return };
    // The same message at QoS 0: no identifier behind the topic.
    let topic = usize::from(u16::from_be_bytes([
        raw[raw.len() - body(raw)],
        raw[raw.len() - body(raw) + 1],
    ]));
    let start = raw.len() - body(raw);
    let mut message = vec![0x30];
    let mut length = body(raw) - 2;
    while length >= 0x80 {
        message.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    message.push(length as u8);
    message.extend_from_slice(&raw[start..start + 2 + topic]);
    message.extend_from_slice(&raw[start + 2 + topic + 2..]);
    if every(faults.lose, count) {
        return;
    }
    if every(faults.delay, count) {
        *held = Some(message);
        return;
    }
    let copies = 1 + usize::from(every(faults.duplicate, count));
    for _ in 0..copies {
        stream.write_all(&message).unwrap();
    }
    if let Some(late) = held.take() {
        stream.write_all(&late).unwrap();
    }
}

fn body(raw: &[u8]) -> usize {
    let mut input = raw;
    take_frame(&mut input).unwrap().unwrap().body.len()
}

fn every(number: Option<u32>, count: u32) -> bool {
    number.is_some_and(|number| count.is_multiple_of(number))
}
