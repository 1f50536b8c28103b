//! Starts a node: what can be wrong is found before the first client is let in.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use tidegate_rules::{Engine, EngineSettings};
use tidegate_sinks::ReceiptPort;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::data_dir::DataDir;
use super::sinks::Sinks;
use super::stop::Signals;
use super::workers::{Berths, Crew, Ends, start_workers};
use crate::admin;
use crate::config::Settings;
use crate::modules::{Modules, ModulesSettings};
use crate::worker::{Clock, Mailbox, listen};

/// Guests kept per rule and worker at a time: the one that serves, the next one, and one that replaces a failed one.
const GUESTS_PER_LINK: usize = 3;

/// A node that serves.
pub struct Running {
    /// Where MQTT clients connect.
    pub mqtt: SocketAddr,
    /// Where the admin API answers.
    pub admin: SocketAddr,
    pub(super) ends: Ends,
    /// Watched from the start, so that none is missed.
    pub(super) signals: Signals,
    pub(super) threads: Vec<thread::JoinHandle<()>>,
    pub(super) mailboxes: Vec<Mailbox>,
    pub(super) sinks: Sinks,
    pub(super) stop_admin: oneshot::Sender<()>,
    pub(super) runtime: Runtime,
    pub(super) _data_dir: DataDir,
}

/// Starts everything that `settings` asks for.
pub fn start(settings: &Settings) -> anyhow::Result<Running> {
    let data_dir = DataDir::open(&settings.data_dir)?;
    let clock = Clock::start();
    let modules = open_modules(settings, &data_dir)?;
    let guests = modules.first_guests()?;
    let bound = |what: &str, address: SocketAddr| format!("cannot listen for {what} on {address}");
    let listeners =
        listen(settings.mqtt.tcp, settings.workers).with_context(|| bound("MQTT", settings.mqtt.tcp))?;
    let mqtt = listeners.first().context("no workers")?.local_addr()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("admin")
        .enable_all()
        .build()
        .context("cannot start the threads of the admin API")?;
    let admin_listener = runtime
        .block_on(tokio::net::TcpListener::bind(settings.admin.bind))
        .with_context(|| bound("the admin API", settings.admin.bind))?;
    let admin = admin_listener.local_addr()?;
    let signals = runtime.block_on(async { Signals::watch() })?;
    let berths = Berths::new(settings.workers).context("cannot set up the workers' event queues")?;
    let mailboxes = berths.mailboxes.clone();
    let ports: Vec<Arc<dyn ReceiptPort>> = mailboxes
        .iter()
        .cloned()
        .map(|mailbox| Arc::new(mailbox) as Arc<dyn ReceiptPort>)
        .collect();
    let sinks = Sinks::start(&settings.sinks, &data_dir.path, &ports, clock)?;
    let (threads, ends) = start_workers(
        berths,
        Crew {
            settings,
            sinks: &sinks,
            listeners,
            guests,
            epoch: data_dir.epoch,
            clock,
        },
    )?;
    modules.attach(mailboxes.clone());
    let mut all_sinks = sinks.configured.clone();
    all_sinks.push(sinks.dead_letters.clone());
    let node = Arc::new(admin::Node {
        key: settings.admin.key.clone(),
        modules,
        sinks: all_sinks,
        mailboxes: mailboxes.clone(),
    });
    let (stop_admin, stopped) = oneshot::channel();
    runtime.spawn(async move {
        if let Err(error) = admin::serve(node, admin_listener, stopped).await {
            tracing::error!(%error, "the admin API has ended");
        }
    });
    Ok(Running {
        mqtt,
        admin,
        ends,
        signals,
        threads,
        mailboxes,
        sinks,
        stop_admin,
        runtime,
        _data_dir: data_dir,
    })
}

fn open_modules(settings: &Settings, data_dir: &DataDir) -> anyhow::Result<Arc<Modules>> {
    let guests = settings.rules.len().max(1) * settings.workers * GUESTS_PER_LINK;
    let defaults = EngineSettings::default();
    let engine = Engine::new(EngineSettings {
        instances_max: u32::try_from(guests)
            .unwrap_or(u32::MAX)
            .max(defaults.instances_max),
        cache_dir: Some(data_dir.path.join("cache")),
        ..defaults
    })?;
    let modules = Modules::open(
        engine,
        ModulesSettings {
            data_dir: data_dir.path.clone(),
            rules: settings.rules.clone(),
            sinks: settings.sinks.iter().map(|sink| sink.name.clone()).collect(),
            workers: settings.workers,
        },
    )?;
    Ok(Arc::new(modules))
}
