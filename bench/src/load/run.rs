//! Carries out a plan: starts the threads, leads them through the phases, and puts together what they report.

mod collector;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mio::Waker;
use tidegate_codec::QoS;

use self::collector::Collector;
use super::client::{Client, Role};
use super::generator::{Generator, Wiring};
use super::outcome::{Connected, Outcome, Percentiles, Published, Second, Totals};
use super::phase::{Command, Finished};
use super::plan::{LoadPlan, PlanError};
use super::roster::roster;
use super::tally::Tally;
use crate::clock::{self, MILLISECOND};
use crate::measure::{Cores, ProcessError, ProcessUse, Watch};

/// Connecting is given up when no client got through for this long.
const CONNECT_STALL_MAX: Duration = Duration::from_secs(10);
/// Reports that may wait for the controller.
const REPORTS_MAX: usize = 64;
/// From the command to publish to the first slot of the schedule.
const START_DELAY: u64 = 5 * MILLISECOND;

/// Why a load could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The plan itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The broker's process.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Threads, polls or timers.
    #[error("the generator cannot run: {0}")]
    Generator(#[from] io::Error),
    /// Nobody got through.
    #[error("none of {clients} clients could connect to {target}: is a broker listening there?")]
    NobodyConnected {
        /// How many tried.
        clients: u64,
        /// Where.
        target: std::net::SocketAddr,
    },
    /// A thread ended by itself.
    #[error("a generator thread ended before the run did")]
    ThreadEnded,
}

/// Runs `plan`, watching the broker's process if it is given, and shows every interval to `observe`.
pub fn run(
    plan: &LoadPlan,
    broker: Option<&Watch>,
    observe: &mut dyn FnMut(&Second),
) -> Result<Outcome, LoadError> {
    plan.check()?;
    let before = broker.map(Watch::read).transpose()?;
    let (crew, mut collector) = start(plan, broker)?;
    let result = lead(plan, before, &crew, &mut collector, observe);
    crew.tell(Command::Close);
    let mut finished = crew.join()?;
    let (connected, published) = result?;
    for thread in &mut finished {
        collector.run_total.merge(&mut thread.tally);
    }
    Ok(Outcome {
        connected,
        published,
        totals: totals(&finished, &collector.run_total, collector.expected()),
        seconds: collector.seconds,
    })
}

/// The threads of a run.
struct Crew(Vec<Member>);

struct Member {
    commands: SyncSender<Command>,
    waker: Waker,
    thread: JoinHandle<io::Result<Finished>>,
}

impl Crew {
    fn tell(&self, command: Command) {
        for member in &self.0 {
            // A thread that is gone shows when it is joined.
            let _ = member.commands.try_send(command);
            let _ = member.waker.wake();
        }
    }

    fn join(self) -> Result<Vec<Finished>, LoadError> {
        let join = |member: Member| match member.thread.join() {
            Ok(finished) => Ok(finished?),
            Err(_) => Err(LoadError::ThreadEnded),
        };
        self.0.into_iter().map(join).collect()
    }
}

fn start<'a>(plan: &LoadPlan, broker: Option<&'a Watch>) -> Result<(Crew, Collector<'a>), LoadError> {
    let shared = Arc::new(plan.clone());
    let (report, reports) = sync_channel(REPORTS_MAX * plan.threads);
    let cores = Cores(plan.cores.clone());
    let mut members = Vec::new();
    for (turn, clients) in roster(plan, clock::now())?.into_iter().enumerate() {
        let (commands, receiver) = sync_channel(4);
        let wiring = Wiring {
            commands: receiver,
            reports: report.clone(),
        };
        let (generator, waker) = Generator::new(Arc::clone(&shared), clients, wiring)?;
        let cores = cores.one(turn);
        let thread = thread::Builder::new()
            .name(format!("load-{turn}"))
            .spawn(move || {
                cores.pin_thread()?;
                generator.run()
            })?;
        members.push(Member {
            commands,
            waker,
            thread,
        });
    }
    Ok((Crew(members), Collector::new(reports, plan, broker)?))
}

fn lead(
    plan: &LoadPlan,
    before: Option<ProcessUse>,
    crew: &Crew,
    collector: &mut Collector<'_>,
    observe: &mut dyn FnMut(&Second),
) -> Result<(Connected, Option<Published>), LoadError> {
    let started = clock::now();
    collector.until_settled(CONNECT_STALL_MAX, observe)?;
    let seconds = (clock::now() - started) as f64 / 1e9;
    let connected_use = collector.read_broker()?;
    if collector.run_total.counters.ready == 0 {
        return Err(LoadError::NobodyConnected {
            clients: plan.clients(),
            target: plan.target,
        });
    }
    collector.for_duration(plan.settle, observe)?;
    let idle_use = collector.read_broker()?;
    let ready = collector.run_total.counters.ready;
    let per_client = |value: u64| value as f64 / ready as f64;
    let connected = Connected {
        ready,
        failed: plan.clients() - ready,
        seconds,
        latency_us: Percentiles::of(&mut collector.run_total.connect),
        broker_cpu_us: before
            .zip(connected_use)
            .map(|(before, after)| per_client(after.cpu_since(&before)) / 1e3),
        private_bytes: before
            .zip(idle_use)
            .map(|(before, after)| per_client(after.private_bytes.saturating_sub(before.private_bytes))),
        broker: idle_use,
    };
    if plan.duration.is_zero() || plan.publish.clients == 0 {
        collector.finish(observe)?;
        return Ok((connected, None));
    }
    let published = publish(plan, crew, collector, observe)?;
    Ok((connected, Some(published)))
}

fn publish(
    plan: &LoadPlan,
    crew: &Crew,
    collector: &mut Collector<'_>,
    observe: &mut dyn FnMut(&Second),
) -> Result<Published, LoadError> {
    let start = clock::now() + START_DELAY;
    crew.tell(Command::Publish { start });
    collector.publish(start, plan.warm_up, observe)?;
    let (from, mut before) = (collector.seconds.len(), collector.read_broker()?);
    collector.window_total = Tally::default();
    let warm_cpu = collector.generator_cpu;
    collector.publish(start, plan.warm_up + plan.duration, observe)?;
    let after = collector.read_broker()?;
    crew.tell(Command::Drain);
    let generator_cpu = collector.generator_cpu - warm_cpu;
    let mut window = std::mem::take(&mut collector.window_total);
    let measured = collector.seconds.get(from..).unwrap_or_default();
    let seconds: f64 = measured.iter().map(|second| second.seconds).sum();
    let busiest = measured
        .iter()
        .filter_map(|second| second.broker_cores)
        .fold(0.0, f64::max);
    let messages = match plan.publish.qos {
        QoS::AtMostOnce => window.counters.sent,
        _ => window.counters.acknowledged,
    };
    let per_message = |nanoseconds: u64| nanoseconds as f64 / 1e3 / messages.max(1) as f64;
    let spent = before.take().zip(after);
    let published = Published {
        seconds,
        counters: window.counters,
        messages,
        rate: messages as f64 / seconds.max(f64::MIN_POSITIVE),
        acknowledge_us: Percentiles::of(&mut window.acknowledge),
        deliver_us: Percentiles::of(&mut window.deliver),
        broker_cpu_us: spent.map(|(before, after)| per_message(after.cpu_since(&before))),
        broker_cores: spent.map(|(before, after)| (after.cores_since(&before), busiest)),
        generator_cpu_us: per_message(generator_cpu),
        broker: after,
    };
    collector.until_drained(plan.drain, observe)?;
    Ok(published)
}

fn totals(finished: &[Finished], run_total: &Tally, expected: u64) -> Totals {
    let clients = || finished.iter().flat_map(|thread| &thread.clients);
    let mut sent_by = std::collections::HashMap::new();
    let mut unacknowledged = 0;
    for client in clients() {
        if let Role::Publisher(publisher) = &client.seat.role {
            sent_by.insert(publisher.index, publisher.sent);
            unacknowledged += publisher.in_flight();
        }
    }
    let lost = |client: &Client| match &client.seat.role {
        Role::Subscriber(subscriber) if subscriber.is_traced() => {
            Some(subscriber.lost(|publisher| sent_by.get(&publisher).copied().unwrap_or(0)))
        }
        _ => None,
    };
    let counters = run_total.counters;
    Totals {
        sent: sent_by.values().map(|sent| u64::from(*sent)).sum(),
        acknowledged: counters.acknowledged,
        refused: counters.refused,
        unacknowledged,
        expected,
        delivered: counters.delivered,
        lost: clients()
            .filter_map(lost)
            .fold(None, |sum, lost| Some(sum.unwrap_or(0) + lost)),
        duplicated: counters.duplicated,
        reordered: counters.reordered,
        foreign: counters.foreign,
        stray_acknowledgements: counters.stray_acknowledgements,
        disconnected: counters.disconnected,
        malformed: counters.malformed,
    }
}
