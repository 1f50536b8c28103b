//! Starts the worker threads.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

use anyhow::{Context as _, anyhow};
use mio::net::TcpListener;
use mio::{Poll, Waker};
use tidegate_router::WorkerId;
use tidegate_session::{AckOrder, Limits};
use tokio::sync::mpsc;

use crate::config::{MqttSettings, Settings};
use crate::pipeline::{Guest, Link, Outlet, Pipeline, RecordIds};
use crate::worker::{Clock, Letter, Mailbox, Rings, Routes, SharedFilters, WAKER, Worker, WorkerParts};

use super::sinks::Sinks;

/// Mailboxes and polls, made before the workers: sinks need the mailboxes to start.
pub struct Berths {
    polls: Vec<(Poll, Receiver<Letter>)>,
    rings: Vec<Rings>,
    /// One per worker.
    pub mailboxes: Vec<Mailbox>,
}

impl Berths {
    /// Room for `count` workers.
    pub fn new(count: usize) -> io::Result<Self> {
        let (mut polls, mut mailboxes, mut wakers) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
            let (mailbox, letters) = Mailbox::new(Arc::clone(&waker));
            polls.push((poll, letters));
            mailboxes.push(mailbox);
            wakers.push(waker);
        }
        Ok(Self {
            polls,
            rings: Rings::between(&wakers),
            mailboxes,
        })
    }
}

/// Tells how each worker thread ended.
pub type Ends = mpsc::Receiver<Result<(), String>>;

/// What all workers of a node are made from.
pub struct Crew<'a> {
    /// The configuration.
    pub settings: &'a Settings,
    /// Running.
    pub sinks: &'a Sinks,
    /// One per worker.
    pub listeners: Vec<TcpListener>,
    /// By rule, one per worker or none.
    pub guests: Vec<Vec<Guest>>,
    /// Of the record ids.
    pub epoch: u64,
    /// The time.
    pub clock: Clock,
}

/// Starts one thread per berth.
pub fn start_workers(berths: Berths, crew: Crew<'_>) -> anyhow::Result<(Vec<thread::JoinHandle<()>>, Ends)> {
    let Crew {
        settings,
        sinks,
        listeners,
        mut guests,
        epoch,
        clock,
    } = crew;
    let count = listeners.len();
    let shared = SharedFilters::new();
    let mqtt = Arc::new(settings.mqtt.clone());
    let limits = Arc::new(limits_of(&settings.mqtt));
    let (ended, ends) = mpsc::channel(count.max(1));
    let mut threads = Vec::with_capacity(count);
    let parts = berths
        .polls
        .into_iter()
        .zip(berths.rings)
        .zip(listeners)
        .enumerate();
    for (number, (((poll, letters), rings), listener)) in parts {
        let number = u16::try_from(number).context("too many workers")?;
        let id = u8::try_from(number)
            .ok()
            .and_then(WorkerId::new)
            .context("too many workers")?;
        let links = settings.rules.iter().zip(&mut guests).map(|(rule, guests)| {
            let mut link = Link::new(rule);
            link.guest = guests.pop();
            link
        });
        let outlets = sinks.configured.iter().cloned().map(Outlet::new).collect();
        let dead_letters = Outlet::new(sinks.dead_letters.clone());
        let ids = RecordIds::new(epoch, number);
        let worker = Worker::new(WorkerParts {
            number,
            poll,
            listener,
            letters,
            rings,
            routes: Routes::new(id, Arc::clone(&shared)),
            pipeline: Pipeline::new(number, links.collect(), outlets, dead_letters, ids),
            settings: Arc::clone(&mqtt),
            limits: Arc::clone(&limits),
            clock,
            workers: count,
        })?;
        threads.push(spawn(number, worker, ended.clone())?);
    }
    Ok((threads, ends))
}

fn spawn(
    number: u16,
    worker: Worker,
    ended: mpsc::Sender<Result<(), String>>,
) -> anyhow::Result<thread::JoinHandle<()>> {
    let body = move || {
        let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker.run()));
        let told = match end {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("worker {number} cannot go on: {error}")),
            Err(_) => Err(format!("worker {number} has panicked; the reason is above")),
        };
        // There is room for one message per worker; the receiver outlives the workers.
        let _ = ended.try_send(told);
    };
    thread::Builder::new()
        .name(format!("worker-{number}"))
        .spawn(body)
        .map_err(|error| anyhow!("cannot start worker {number}: {error}"))
}

fn limits_of(mqtt: &MqttSettings) -> Limits {
    let nonzero = |value: u16| std::num::NonZeroU16::new(value).unwrap_or(std::num::NonZeroU16::MIN);
    Limits {
        receive_maximum: nonzero(mqtt.receive_maximum),
        inflight_maximum: nonzero(mqtt.inflight_max),
        queued_messages_max: u32::try_from(mqtt.queue_messages_max).unwrap_or(u32::MAX),
        queued_bytes_max: mqtt.queue_bytes_max as u64,
        packet_bytes_max: mqtt.packet_bytes_max,
        topic_alias_maximum: mqtt.topic_alias_max,
        keep_alive_max: mqtt
            .keep_alive_max
            .map(|span| nonzero(u16::try_from(span.as_secs()).unwrap_or(u16::MAX))),
        session_expiry_max: Some(mqtt.session_expiry_max),
        ack_order: if mqtt.acks_in_order {
            AckOrder::InOrder
        } else {
            AckOrder::Any
        },
        retain_available: mqtt.retained_messages_max > 0,
        shared_subscriptions: true,
        ..Limits::default()
    }
}
