//! What the log costs on this machine's disk.
//!
//! ```text
//! cargo run --release -p tidegate-log --example append_bench -- DIRECTORY [SECONDS]
//! ```
//!
//! Prints, one line each: the bare fdatasync; appends per second with every batch fsynced, CPU per append and the time to
//! durability, for 200 B and 1 KiB; the same with a cleaner at work; recovery; memory for a million cursors.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a measurement: it prints, asks for the time and gives up on the first error"
)]

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tidegate_log::{
    Ack, AppendError, Batch, Commit, CursorId, Entry, EntryId, Log, Options, ReadLimit, Sequence, Timestamp,
};

const SINK: CursorId = CursorId(0);
const SLOW: CursorId = CursorId(1);
/// Appends in a batch: a busy worker's tick.
const BATCH: u64 = 100;
/// Appends not yet durable at which the load waits for a receipt, as a window of clients would.
const IN_FLIGHT: u64 = 40_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().expect("a directory to measure in"));
    let seconds: u64 = arguments
        .next()
        .map_or(3, |seconds| seconds.parse().expect("a number of seconds"));
    let run = Run {
        directory: directory.join("append-bench"),
        time: Duration::from_secs(seconds),
    };
    bare_fdatasync(&run.directory);
    for size in [200, 1024] {
        run.appends("appends", size, Consumer::None);
        run.appends("appends, consumed", size, Consumer::Acks);
        run.appends("appends, cleaned", size, Consumer::Most);
    }
    run.latency();
    run.recovery();
    run.cursors();
    std::fs::remove_dir_all(&run.directory).unwrap();
}

/// What happens to the entries during the load.
#[derive(Clone, Copy, PartialEq)]
enum Consumer {
    /// Nothing: the log only grows.
    None,
    /// All are acknowledged.
    Acks,
    /// All but every thousandth are acknowledged: every segment has survivors to be copied.
    Most,
}

type Told = (Sequence, Instant);

/// Batches handed over and not yet durable.
#[derive(Default)]
struct Load {
    handed: VecDeque<Told>,
    durable: u64,
    /// From hand-over to durability.
    times: Vec<Duration>,
}

impl Load {
    fn handed(&mut self, last: Sequence) {
        self.handed.push_back((last, Instant::now()));
    }

    /// A receipt that is there, or the next one if too much is in flight.
    fn next_receipt(&self, receipts: &Receiver<Told>) -> Option<Told> {
        let last = self.handed.back().map_or(0, |(last, _)| last.0);
        match last.saturating_sub(self.durable) > IN_FLIGHT {
            true => receipts.recv().ok(),
            false => receipts.try_recv().ok(),
        }
    }

    fn settle(&mut self, (through, at): &Told) {
        self.durable = through.0;
        while let Some((_, handed)) = self.handed.pop_front_if(|(last, _)| *last <= *through) {
            self.times.push(at.saturating_duration_since(handed));
        }
    }
}

struct Run {
    directory: PathBuf,
    time: Duration,
}

fn bare_fdatasync(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    let file = File::create(directory.join("bare")).unwrap();
    file.write_all_at(&vec![1; 16 << 20], 0).unwrap();
    file.sync_all().unwrap();
    for (name, bytes) in [("4 KiB", 4 << 10), ("1 MiB", 1 << 20)] {
        let block = vec![2; bytes];
        let mut times = Vec::new();
        for round in 0..100u64 {
            file.write_all_at(&block, (round % 16) * bytes as u64).unwrap();
            let begun = Instant::now();
            file.sync_data().unwrap();
            times.push(begun.elapsed());
        }
        println!("bare fdatasync after {name}: {}", percentiles(&mut times));
    }
}

impl Run {
    fn open(&self, name: &str) -> (Arc<Log>, Receiver<Told>) {
        let (told, receipts) = sync_channel(1 << 16);
        let on_commit = move |commit| match commit {
            Commit::Durable { through } => told.try_send((through, Instant::now())).unwrap(),
            Commit::Poisoned { reason } => panic!("poisoned: {reason}"),
        };
        let (log, _) = Log::open(
            &self.directory.join(name),
            Options::default(),
            Box::new(on_commit),
        )
        .unwrap();
        (Arc::new(log), receipts)
    }

    fn appends(&self, what: &str, size: usize, consumer: Consumer) {
        let (log, receipts) = self.open("appends");
        let body = vec![7; size];
        let (mut batch, mut sent, mut load) = (Batch::default(), 0u64, Load::default());
        let (begun, before) = (Instant::now(), cpu());
        while begun.elapsed() < self.time {
            for _ in 0..BATCH {
                sent += 1;
                let kept = consumer == Consumer::Most && sent.is_multiple_of(1000);
                let lanes: &[CursorId] = if kept { &[SINK, SLOW] } else { &[SINK] };
                batch
                    .push(Timestamp(1), &[Entry { lanes, body: &body }], &[])
                    .unwrap();
            }
            loop {
                match log.append(&mut batch) {
                    Ok(appended) => break load.handed(appended.last),
                    Err(AppendError::Full { .. }) => load.settle(&receipts.recv().unwrap()),
                    Err(error) => panic!("{error}"),
                }
            }
            while let Some(receipt) = load.next_receipt(&receipts) {
                load.settle(&receipt);
                if consumer != Consumer::None {
                    log.ack(&[Ack::all(SINK)]);
                }
            }
        }
        let rate = sent as f64 / begun.elapsed().as_secs_f64();
        let each = cpu_since(before).as_secs_f64() * 1e6 / sent as f64;
        let latency = percentiles(&mut load.times);
        let stats = log.stats();
        println!(
            "{what}, {size} B: {rate:.0}/s, {each:.2} us of CPU each, durable in {latency}, {} segments, {} live",
            stats.segments, stats.live_entries
        );
        drop(log);
        std::fs::remove_dir_all(self.directory.join("appends")).unwrap();
    }

    /// One append at a time: what an idle log answers with.
    fn latency(&self) {
        let (log, receipts) = self.open("latency");
        let mut times = Vec::new();
        let mut batch = Batch::default();
        let begun = Instant::now();
        while begun.elapsed() < self.time.min(Duration::from_secs(2)) {
            batch
                .push(
                    Timestamp(1),
                    &[Entry {
                        lanes: &[SINK],
                        body: &[1; 200],
                    }],
                    &[],
                )
                .unwrap();
            let handed = Instant::now();
            log.append(&mut batch).unwrap();
            times.push(receipts.recv().unwrap().1.saturating_duration_since(handed));
        }
        println!(
            "one append at a time, 200 B: durable in {}",
            percentiles(&mut times)
        );
    }

    fn recovery(&self) {
        for (size, appends) in [(200, 2_000_000u64), (1024, 600_000)] {
            let (log, receipts) = self.open("recovery");
            let body = vec![7; size];
            let mut batch = Batch::default();
            let mut last = Sequence(0);
            while last.0 < appends {
                for _ in 0..1000 {
                    batch
                        .push(
                            Timestamp(1),
                            &[Entry {
                                lanes: &[SINK],
                                body: &body,
                            }],
                            &[],
                        )
                        .unwrap();
                }
                loop {
                    match log.append(&mut batch) {
                        Ok(appended) => break last = appended.last,
                        Err(_) => drop(receipts.recv().unwrap()),
                    }
                }
                while receipts.try_recv().is_ok() {}
            }
            drop(log);
            let (begun, before) = (Instant::now(), cpu());
            let (log, report) = Log::open(
                &self.directory.join("recovery"),
                Options::default(),
                Box::new(|_| {}),
            )
            .unwrap();
            let time = begun.elapsed().as_secs_f64();
            let gigabytes = report.bytes as f64 / 1e9;
            let (rate, of_cpu) = (gigabytes / time, gigabytes / cpu_since(before).as_secs_f64());
            println!(
                "recovery, {size} B: {gigabytes:.2} GB in {time:.2} s: {rate:.2} GB/s, {of_cpu:.2} GB/s of CPU"
            );
            let begun = Instant::now();
            let read = log
                .read(
                    SINK,
                    EntryId::START,
                    ReadLimit {
                        entries: 200_000,
                        bytes: usize::MAX,
                    },
                )
                .unwrap();
            let each = begun.elapsed().as_secs_f64() * 1e6 / read.deliveries.len() as f64;
            println!("reading, {size} B: {each:.2} us an entry");
            drop(log);
            std::fs::remove_dir_all(self.directory.join("recovery")).unwrap();
        }
    }

    /// A million sessions, each with one message waiting.
    fn cursors(&self) {
        let (log, receipts) = self.open("cursors");
        let before = resident();
        let durable = Mutex::new(Sequence(0));
        let mut batch = Batch::default();
        let mut last = Sequence(0);
        for first in (0..1_000_000u32).step_by(1000) {
            for cursor in first..first + 1000 {
                let lanes = [CursorId(cursor)];
                batch
                    .push(
                        Timestamp(1),
                        &[Entry {
                            lanes: &lanes,
                            body: &[1; 100],
                        }],
                        &[],
                    )
                    .unwrap();
            }
            loop {
                match log.append(&mut batch) {
                    Ok(appended) => break last = appended.last,
                    Err(_) => *durable.lock().unwrap() = receipts.recv().unwrap().0,
                }
            }
            while let Ok((through, _)) = receipts.try_recv() {
                *durable.lock().unwrap() = through;
            }
        }
        while *durable.lock().unwrap() < last {
            *durable.lock().unwrap() = receipts.recv().unwrap().0;
        }
        let counted = log.stats().cursor_memory as f64 / 1e6;
        let grown = resident().saturating_sub(before) as f64 / 1e6;
        println!(
            "1,000,000 cursors with an entry each: {counted:.1} B each; the process grew by {grown:.0} B each"
        );
    }
}

fn percentiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| {
        times
            .get((times.len() as f64 * share) as usize)
            .copied()
            .unwrap_or_default()
    };
    format!(
        "p50 {:.2} ms p99 {:.2} ms",
        at(0.5).as_secs_f64() * 1e3,
        at(0.99).as_secs_f64() * 1e3
    )
}

/// CPU time of the whole process.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn cpu_since(before: Duration) -> Duration {
    cpu().saturating_sub(before)
}

/// Resident bytes of the process.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
