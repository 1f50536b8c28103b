//! Nanoseconds per message through a pass-through module, by batch size: `cargo run --release --example pass_through
//! [component.wasm]`. Without an argument a minimal component stands in, so that the figure is the host's own.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)] // it measures and prints

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_codec::{QoS, TopicFilter, TopicName};
use tidegate_rules::{
    Batch, Engine, EngineSettings, Grants, Instance, InstanceSettings, Level, MessageView, Outcome, SinkIndex,
};

#[path = "../tests/support/mod.rs"]
mod support;

/// Long enough to be steady, short enough not to disturb.
const RUN: Duration = Duration::from_millis(150);
const ROUNDS: usize = 5;

fn main() {
    let wasm = match std::env::args().nth(1) {
        Some(path) => std::fs::read(path).unwrap(),
        None => support::Guest::new(PASS).with_answer().wasm(),
    };
    let engine = Engine::new(EngineSettings {
        instances_max: 8,
        ..EngineSettings::default()
    })
    .unwrap();
    let start = Instant::now();
    let module = engine.load(&wasm).unwrap();
    println!(
        "{}: {} bytes, loaded in {:.1?}",
        module.label(),
        wasm.len(),
        start.elapsed()
    );
    let settings = InstanceSettings {
        rule_name: "bench".to_owned(),
        grants: Grants {
            publish: vec![TopicFilter::new("#").unwrap()],
            sinks: module
                .manifest()
                .sinks
                .iter()
                .cloned()
                .zip((0..).map(SinkIndex))
                .collect(),
        },
        config: BTreeMap::new(),
        log_level: Level::Warn,
        log: Arc::new(|line| println!("{}: {}", line.rule, line.message)),
        seed: [0; 32],
        now_ms: 0,
    };
    let start = Instant::now();
    let mut instance = Instance::new(&module, settings).unwrap();
    println!("instantiated in {:.1?}", start.elapsed());
    println!(
        "{:>6} {:>12} {:>12} {:>12}",
        "batch", "pack ns/msg", "call ns/msg", "both ns/msg"
    );
    for size in [1, 16, 64, 256] {
        let [pack, call] = measure(&mut instance, size);
        println!("{size:>6} {pack:>12.1} {call:>12.1} {:>12.1}", pack + call);
    }
}

/// The best of some rounds, of packing and of calling.
fn measure(instance: &mut Instance, size: u32) -> [f64; 2] {
    let topic = TopicName::new("plant/7/telemetry").unwrap();
    let payload = [b'1'; 200];
    let projection = instance.module().manifest().input;
    let (mut batch, mut outcome) = (Batch::new(), Outcome::new());
    let mut best = [f64::MAX; 2];
    for _ in 0..ROUNDS {
        let (mut pack, mut call, mut messages) = (Duration::ZERO, Duration::ZERO, 0u32);
        let end = Instant::now() + RUN;
        while Instant::now() < end {
            // Some hundred calls for one look at the clock, whose price would otherwise show.
            let repeat = 256;
            let start = Instant::now();
            for _ in 0..repeat {
                batch.clear();
                for client in 0..size {
                    let view = MessageView {
                        topic: &topic,
                        payload: &payload,
                        qos: QoS::AtLeastOnce,
                        retain: false,
                        client,
                        received_ms: 1_700_000_000_000,
                        client_id: "meter-7",
                        username: "",
                        properties: &[],
                    };
                    batch.push(&view, &projection).unwrap();
                }
            }
            let packed = Instant::now();
            for _ in 0..repeat {
                instance.handle(&batch, &mut outcome).unwrap();
            }
            pack += packed - start;
            call += packed.elapsed();
            messages += size * repeat;
        }
        for (best, spent) in best.iter_mut().zip([pack, call]) {
            *best = best.min(spent.as_nanos() as f64 / f64::from(messages));
        }
    }
    best
}

/// One code per message, all zero, from a buffer that is never written.
const PASS: &str = "
    (i32.store (i32.const 1028) (i32.const 2048))
    (i32.store (i32.const 1032) (i32.div_u (local.get $words) (i32.const 14)))
    i32.const 1024";
