//! `connections`, `latency` and `peers`: parameters with the published ones, and those that fit two cores.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tidegate_codec::QoS;

use super::broker::{StageArgs, TargetArgs};
use super::output::{OutputArgs, check};
use super::value::{self, Addresses};
use crate::peers::{Absent, Comparison, Load, Peer, Setting, Stage, loads::Scale};
use crate::report::Screen;
use crate::scenario::connections::Connections;
use crate::scenario::latency::Latency;
use crate::scenario::{self, published};

/// How much of a scenario is run.
#[derive(Debug, clap::Args)]
struct SizeArgs {
    /// With the parameters of the published benchmark
    #[arg(long, conflicts_with = "quick")]
    published: bool,
    /// In under a minute
    #[arg(long)]
    quick: bool,
}

/// Many idle connections.
#[derive(Debug, clap::Args)]
pub struct ConnectionsArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    size: SizeArgs,
    /// Clients [default: 15000; --quick 5000; --published 5000000]
    #[arg(long)]
    clients: Option<u32>,
    /// New connections a second [default: 2500; --published 5000]
    #[arg(long, value_name = "PER_SECOND")]
    connect_rate: Option<u32>,
    /// How long all of them stay [default: 60s; --quick 10s; --published 30m]
    #[arg(long, value_parser = value::duration)]
    hold: Option<Duration>,
    /// Keep-alive in seconds
    #[arg(long, default_value_t = published::connections::KEEP_ALIVE)]
    keep_alive: u16,
    /// Addresses to connect from, in turn, as in 127.0.0.1-127.0.0.9: each has ports for 28,000 connections
    #[arg(long, value_parser = value::addresses)]
    sources: Option<Addresses>,
}

/// Latency under light load.
#[derive(Debug, clap::Args)]
pub struct LatencyArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    size: SizeArgs,
    /// Publishers, and as many subscribers
    #[arg(long, default_value_t = published::latency::CLIENTS)]
    clients: u32,
    /// Publishing that is measured, for each QoS [default: 30s; --quick 8s; --published 30m]
    #[arg(long, value_parser = value::duration)]
    duration: Option<Duration>,
    /// A QoS to measure; may be repeated [default: 0, 1 and 2]
    #[arg(long, value_parser = value::qos)]
    qos: Vec<QoS>,
}

/// The same loads on several brokers.
#[derive(Debug, clap::Args)]
pub struct PeersArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// In under a minute: three brokers, three loads, one round
    #[arg(long)]
    quick: bool,
    /// A broker: floor, tidegate, tidegate=CONFIG.toml, mosquitto, rumqttd or nats; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    peer: Vec<Peer>,
    /// A load; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    load: Vec<Load>,
    /// How often everything is repeated [default: 3; --quick 1]
    #[arg(long)]
    rounds: Option<u32>,
    /// Publishing that is measured [default: 5s; --quick 2s]
    #[arg(long, value_parser = value::duration)]
    duration: Option<Duration>,
    /// Publishing before that
    #[arg(long, default_value = "1s", value_parser = value::duration)]
    warm_up: Duration,
    /// Clients of the loads with many [default: 15000; --quick 5000]
    #[arg(long)]
    clients: Option<u32>,
}

/// Runs `connections` on each broker.
pub fn connections(args: &ConnectionsArgs) -> anyhow::Result<()> {
    let mut scenario = match (args.size.published, args.size.quick) {
        (true, _) => Connections::published(),
        (false, quick) => Connections {
            clients: if quick { 5_000 } else { 15_000 },
            per_second: 2_500,
            keep_alive: args.keep_alive,
            hold: Duration::from_secs(if quick { 10 } else { 60 }),
        },
    };
    scenario.clients = args.clients.unwrap_or(scenario.clients);
    scenario.per_second = args.connect_rate.unwrap_or(scenario.per_second);
    scenario.hold = args.hold.unwrap_or(scenario.hold);
    scenario.keep_alive = args.keep_alive;
    args.target.each(&args.stage.stage(), |target| {
        let mut plan = args.stage.plan();
        plan.connect.sources = args.sources.clone().map(|sources| sources.0).unwrap_or_default();
        let mut screen = Screen::new(1, args.output.json);
        let outcome = scenario.run(target, plan, &mut screen)?;
        args.output
            .deliver(&screen, &scenario.report(target, &outcome), outcome.connected)?;
        if outcome.connected.failed > 0 {
            bail!(
                "{} of {} clients could not connect",
                outcome.connected.failed,
                scenario.clients
            );
        }
        check("connections", &outcome.totals)
    })
}

/// Runs `latency` on each broker, into one report.
pub fn latency(args: &LatencyArgs) -> anyhow::Result<()> {
    let seconds = match (args.size.published, args.size.quick) {
        (true, _) => published::latency::SECONDS,
        (false, true) => 8,
        (false, false) => 30,
    };
    let mut scenario = Latency::lasting(args.duration.unwrap_or(Duration::from_secs(seconds)));
    scenario.clients = args.clients;
    if !args.qos.is_empty() {
        scenario.qos.clone_from(&args.qos);
    }
    let brokers = args.target.peer.len().max(1);
    let mut screen = Screen::new(brokers * scenario.qos.len(), args.output.json);
    let (mut measured, mut servers) = (Vec::new(), Vec::new());
    args.target.each(&args.stage.stage(), |target| {
        measured.extend(scenario.run(target, &args.stage.plan(), &mut screen)?);
        servers.push(target.server());
        Ok(())
    })?;
    let mut report = scenario.report(&measured);
    servers.into_iter().for_each(|server| report.add_server(server));
    let figures: Vec<_> = measured
        .iter()
        .map(|one| (&one.name, one.qos as u8, &one.outcome.published))
        .collect();
    args.output.deliver(&screen, &report, figures)?;
    measured
        .iter()
        .try_for_each(|one| check(&one.name, &one.outcome.totals))
}

/// Runs `peers`.
pub fn peers(args: &PeersArgs) -> anyhow::Result<()> {
    let comparison = args.comparison();
    let mut screen = Screen::new(comparison.len(), args.output.json);
    let (present, absent) = present(&comparison.peers, &comparison.stage);
    for reason in absent {
        screen.say(&format!("left out: {reason}"));
    }
    let comparison = Comparison {
        peers: present,
        ..comparison
    };
    let (runs, servers) = scenario::peers::run(&comparison, &mut screen);
    if runs.is_empty() {
        bail!("no broker could be measured");
    }
    let report = scenario::peers::report(&comparison, &runs, servers);
    args.output
        .deliver(&screen, &report, scenario::peers::lines(&runs))
        .context("the runs ended, but")
}

impl PeersArgs {
    fn comparison(&self) -> Comparison {
        let (seconds, clients, rounds) = if self.quick { (2, 5_000, 1) } else { (5, 15_000, 3) };
        let named = [
            Peer::Floor,
            Peer::Tidegate,
            Peer::Mosquitto,
            Peer::Rumqttd,
            Peer::Nats,
        ];
        let peers = if self.quick { 3 } else { named.len() };
        let loads = if self.quick {
            vec![Load::Qos1, Load::OneInFlight, Load::Paced]
        } else {
            Load::ALL.to_vec()
        };
        let scale = Scale {
            warm_up: self.warm_up,
            duration: self.duration.unwrap_or(Duration::from_secs(seconds)),
            clients: self.clients.unwrap_or(clients),
            threads: self.stage.threads.max(1),
            cores: self.stage.plan().cores,
        };
        Comparison {
            peers: if self.peer.is_empty() {
                named.into_iter().take(peers).collect()
            } else {
                self.peer.clone()
            },
            loads: if self.load.is_empty() {
                loads
            } else {
                self.load.clone()
            },
            rounds: self.rounds.unwrap_or(rounds).max(1),
            stage: self.stage.stage(),
            scale,
        }
    }
}

/// The peers that are on this machine, and why the others are not.
fn present(peers: &[Peer], stage: &Stage) -> (Vec<Peer>, Vec<Absent>) {
    let nowhere = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let setting = Setting {
        mqtt: nowhere,
        other: nowhere,
        directory: std::env::temp_dir(),
        workers: stage.workers,
        tidegate: stage.tidegate.clone(),
        tidegate_args: stage.tidegate_args.clone(),
    };
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    for peer in peers {
        match peer.recipe(&setting) {
            Ok(_) => present.push(peer.clone()),
            Err(reason) => absent.push(reason),
        }
    }
    (present, absent)
}
