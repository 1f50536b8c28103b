//! `load`: every knob of the load generator.

use std::time::Duration;

use anyhow::Context as _;
use tidegate_codec::{Credentials, QoS, Version};

use super::broker::{StageArgs, TargetArgs};
use super::output::{OutputArgs, check};
use super::value::{self, Addresses};
use crate::load::template::{PayloadTemplate, Template};
use crate::load::{LoadPlan, Pace};
use crate::report::Screen;
use crate::scenario::free;

/// A load of the user's own.
#[derive(Debug, clap::Args)]
pub struct LoadArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    connect: ConnectArgs,
    #[command(flatten)]
    publish: PublishArgs,
    #[command(flatten)]
    subscribe: SubscribeArgs,
    #[command(flatten)]
    time: TimeArgs,
}

/// How clients connect.
#[derive(Debug, clap::Args)]
pub struct ConnectArgs {
    /// Protocol version: 3.1.1 or 5
    #[arg(long, default_value = "3.1.1", value_parser = value::version)]
    protocol: Version,
    /// New connections a second; 0 connects as fast as the broker answers
    #[arg(long, default_value_t = 0, value_name = "PER_SECOND")]
    connect_rate: u32,
    /// Connections of a thread that may be unanswered at once
    #[arg(long, default_value_t = 64)]
    unanswered: usize,
    /// Keep-alive in seconds; 0 for none
    #[arg(long, default_value_t = 300)]
    keep_alive: u16,
    /// Addresses to connect from, in turn, as in 127.0.0.1-127.0.0.9: each has ports for 28,000 connections
    #[arg(long, value_parser = value::addresses)]
    sources: Option<Addresses>,
    /// User name
    #[arg(long)]
    username: Option<String>,
    /// Password
    #[arg(long, requires = "username")]
    password: Option<String>,
}

#[derive(Debug, clap::Args)]
struct PublishArgs {
    /// Publishers
    #[arg(long, default_value_t = 200)]
    publishers: u32,
    /// QoS of messages
    #[arg(long, default_value = "1", value_parser = value::qos)]
    qos: QoS,
    /// Time between two messages of a publisher, as in 1s [default: as fast as the window allows]
    #[arg(long, value_parser = value::duration)]
    every: Option<Duration>,
    /// Messages that a publisher may have in flight; at QoS 0, messages a write [default: 20; with --every, 100]
    #[arg(long)]
    window: Option<u16>,
    /// Topic, with {i}, {i%N} and {rand}
    #[arg(long, default_value = "bench/{i}")]
    topic: Template,
    /// Payload: fixed:BYTES, random:BYTES, json:BYTES or file:PATH (with {i}, {rand} and {stamp})
    #[arg(long, default_value = "fixed:200")]
    payload: PayloadTemplate,
    /// Client id of publishers
    #[arg(long, default_value = "bench-pub-{i}")]
    publisher_id: Template,
}

#[derive(Debug, clap::Args)]
struct SubscribeArgs {
    /// Subscribers
    #[arg(long, default_value_t = 0)]
    subscribers: u32,
    /// QoS of subscriptions
    #[arg(long, default_value = "1", value_parser = value::qos)]
    subscribe_qos: QoS,
    /// Filter of each subscriber, with {i}, {i%N} and {rand}
    #[arg(long, default_value = "bench/{i}")]
    filter: Template,
    /// Client id of subscribers
    #[arg(long, default_value = "bench-sub-{i}")]
    subscriber_id: Template,
}

#[derive(Debug, clap::Args)]
struct TimeArgs {
    /// Publishing that is measured
    #[arg(long, default_value = "10s", value_parser = value::duration)]
    duration: Duration,
    /// Publishing before that
    #[arg(long, default_value = "1s", value_parser = value::duration)]
    warm_up: Duration,
    /// Longest wait for what is still on its way, while nothing moves
    #[arg(long, default_value = "5s", value_parser = value::duration)]
    drain: Duration,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Carries out a load of the user's own on each broker.
pub fn load(args: &LoadArgs) -> anyhow::Result<()> {
    let stage = args.stage.stage();
    args.target.each(&stage, |target| {
        let mut plan = args.plan();
        plan.target = target.address();
        let mut screen = Screen::new(1, args.output.json);
        let name = target.server().name;
        let outcome = target
            .run(&plan, &name, &mut screen)
            .with_context(|| name.clone())?;
        let report = free::report(&plan, target, &outcome);
        args.output.deliver(&screen, &report, outcome.published)?;
        check(&name, &outcome.totals)
    })
}

impl ConnectArgs {
    /// Sets what these arguments say in `plan`.
    pub fn apply(&self, plan: &mut LoadPlan) {
        plan.version = self.protocol;
        plan.connect.per_second = self.connect_rate;
        plan.connect.unanswered_max = self.unanswered;
        plan.connect.keep_alive = self.keep_alive;
        plan.connect.sources = self.sources.clone().map(|sources| sources.0).unwrap_or_default();
        plan.connect.credentials = Credentials {
            username: self.username.as_deref().map(Into::into),
            password: self.password.clone().map(Into::into),
        };
    }
}

impl LoadArgs {
    fn plan(&self) -> LoadPlan {
        let mut plan = self.stage.plan();
        self.connect.apply(&mut plan);
        let (publish, subscribe) = (&self.publish, &self.subscribe);
        plan.publish.clients = publish.publishers;
        plan.publish.qos = publish.qos;
        plan.publish.pace = publish.every.map_or(Pace::Saturated, Pace::Every);
        plan.publish.window = publish
            .window
            .unwrap_or(if publish.every.is_some() { 100 } else { 20 });
        plan.publish.topic = publish.topic.clone();
        plan.publish.payload = publish.payload.clone();
        plan.publish.client_id = publish.publisher_id.clone();
        plan.subscribe.clients = subscribe.subscribers;
        plan.subscribe.qos = subscribe.subscribe_qos;
        plan.subscribe.filter = subscribe.filter.clone();
        plan.subscribe.client_id = subscribe.subscriber_id.clone();
        plan.duration = self.time.duration;
        plan.warm_up = self.time.warm_up;
        plan.drain = self.time.drain;
        plan.seed = self.time.seed;
        plan
    }
}
