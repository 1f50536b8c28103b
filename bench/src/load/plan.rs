//! What a load is: how many clients connect how fast, and what they publish and subscribe to.
//!
//! Invariant: a plan that passed [`LoadPlan::check`] can be carried out on this machine as far as its own limits go.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tidegate_codec::{Credentials, QoS, Version};

use super::template::{PayloadTemplate, Template};

/// Files that a process needs besides its connections.
const FILES_RESERVED: u64 = 64;
/// Connections that one source address can open to one target: the kernel's default port range, rounded down.
pub const CONNECTIONS_PER_SOURCE: u64 = 28_000;

/// Why a plan cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Neither publishers nor subscribers.
    #[error("the load has no clients: ask for at least one publisher or subscriber")]
    NoClients,
    /// A number that must not be zero.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// RLIMIT_NOFILE.
    #[error(
        "{clients} connections need {needed} open files, this process may have {limit}: raise `ulimit -n`, or lower the number of clients"
    )]
    Files {
        /// Connections asked for.
        clients: u64,
        /// Files that takes.
        needed: u64,
        /// Hard limit of this process.
        limit: u64,
    },
    /// Ports.
    #[error(
        "{clients} connections need {needed} source addresses, {given} are given: use --sources 127.0.0.1-127.0.0.{needed}"
    )]
    Sources {
        /// Connections asked for.
        clients: u64,
        /// Addresses that takes.
        needed: u64,
        /// Addresses given, counting the default one.
        given: u64,
    },
    /// A packet that MQTT cannot carry.
    #[error("client {client}: its packets cannot be encoded: {source}")]
    Encode {
        /// Place in the order of connecting.
        client: u32,
        /// What is wrong.
        source: tidegate_codec::EncodeError,
    },
    /// A template that renders to something that is not a topic.
    #[error("{what} {text:?}: {source}")]
    Topic {
        /// "topic" or "filter".
        what: &'static str,
        /// As rendered.
        text: String,
        /// What is wrong with it.
        source: tidegate_codec::InvalidTopic,
    },
}

/// A load against one broker.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    /// The broker.
    pub target: SocketAddr,
    /// Protocol version of every client.
    pub version: Version,
    /// How clients connect.
    pub connect: ConnectPlan,
    /// What publishers do.
    pub publish: PublishPlan,
    /// What subscribers do.
    pub subscribe: SubscribePlan,
    /// Threads that carry the clients.
    pub threads: usize,
    /// Cores that the threads are pinned to, in turn; empty leaves them to the scheduler.
    pub cores: Vec<usize>,
    /// Seed of everything drawn at random.
    pub seed: u64,
    /// Time between the last connection and the first message, in which memory is read.
    pub settle: Duration,
    /// Publishing that is not measured yet.
    pub warm_up: Duration,
    /// Publishing that is measured; zero publishes nothing.
    pub duration: Duration,
    /// Longest wait, after the last message, for what is still on its way, as long as nothing moves.
    pub drain: Duration,
    /// Length of one interval of the report.
    pub interval: Duration,
}

/// How clients connect.
#[derive(Debug, Clone)]
pub struct ConnectPlan {
    /// New connections a second over all threads; 0 connects as fast as the broker answers.
    pub per_second: u32,
    /// Connections per thread that may be unanswered at once.
    pub unanswered_max: usize,
    /// Keep-alive in seconds; 0 for none.
    pub keep_alive: u16,
    /// Local addresses to connect from, in turn; empty lets the kernel choose.
    pub sources: Vec<IpAddr>,
    /// User name and password of every client.
    pub credentials: Credentials,
}

/// When a publisher sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As soon as its window allows.
    Saturated,
    /// One message every so often, all publishers evenly staggered.
    Every(Duration),
}

/// What publishers do.
#[derive(Debug, Clone)]
pub struct PublishPlan {
    /// How many.
    pub clients: u32,
    /// Client ids.
    pub client_id: Template,
    /// QoS of every message.
    pub qos: QoS,
    /// When they send.
    pub pace: Pace,
    /// Messages that a publisher has in flight at most; at QoS 0, messages a write.
    pub window: u16,
    /// Topic of each publisher.
    pub topic: Template,
    /// Payload of each publisher.
    pub payload: PayloadTemplate,
}

/// What subscribers do.
#[derive(Debug, Clone)]
pub struct SubscribePlan {
    /// How many.
    pub clients: u32,
    /// Client ids.
    pub client_id: Template,
    /// QoS asked for.
    pub qos: QoS,
    /// Filter of each subscriber.
    pub filter: Template,
}

impl LoadPlan {
    /// A load of no clients, on one thread, that runs for ten seconds after one of warm-up.
    pub fn new(target: SocketAddr) -> Self {
        Self {
            target,
            version: Version::V311,
            connect: ConnectPlan {
                per_second: 0,
                unanswered_max: 64,
                keep_alive: 300,
                sources: Vec::new(),
                credentials: Credentials::default(),
            },
            publish: PublishPlan {
                clients: 0,
                client_id: Template::prefixed("bench-pub-"),
                qos: QoS::AtLeastOnce,
                pace: Pace::Saturated,
                window: 20,
                topic: Template::prefixed("bench/"),
                payload: PayloadTemplate::Fixed(200),
            },
            subscribe: SubscribePlan {
                clients: 0,
                client_id: Template::prefixed("bench-sub-"),
                qos: QoS::AtLeastOnce,
                filter: Template::prefixed("bench/"),
            },
            threads: 1,
            cores: Vec::new(),
            seed: 1,
            settle: Duration::from_millis(500),
            warm_up: Duration::from_secs(1),
            duration: Duration::from_secs(10),
            drain: Duration::from_secs(5),
            interval: Duration::from_secs(1),
        }
    }

    /// Connections of the plan.
    pub fn clients(&self) -> u64 {
        u64::from(self.publish.clients) + u64::from(self.subscribe.clients)
    }

    /// Checks the plan against itself and this process' limits, raising the soft limit of open files as far as needed.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.clients() == 0 {
            return Err(PlanError::NoClients);
        }
        let numbers = [
            ("the number of threads", self.threads == 0),
            ("the window", self.publish.window == 0),
            (
                "the number of unanswered connections",
                self.connect.unanswered_max == 0,
            ),
            ("the reporting interval", self.interval.is_zero()),
            (
                "the publishing interval",
                self.publish.pace == Pace::Every(Duration::ZERO),
            ),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, is_zero)| *is_zero) {
            return Err(PlanError::Zero(name));
        }
        let (needed, given) = (
            self.clients().div_ceil(CONNECTIONS_PER_SOURCE),
            u64::try_from(self.connect.sources.len())
                .unwrap_or(u64::MAX)
                .max(1),
        );
        if needed > given {
            let clients = self.clients();
            return Err(PlanError::Sources {
                clients,
                needed,
                given,
            });
        }
        allow_files(self.clients())
    }
}

/// Raises the soft limit of open files to the hard one: for a server, which cannot know how many will come.
pub fn allow_all_files() {
    let limits = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limits.maximum,
        maximum: limits.maximum,
    };
    // Failing leaves the limit as it was, and connections beyond it are refused.
    let _ = setrlimit(Resource::Nofile, raised);
}

fn allow_files(clients: u64) -> Result<(), PlanError> {
    let needed = clients + FILES_RESERVED;
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(needed),
        maximum: limits.maximum,
    };
    let within = limits.maximum.is_none_or(|maximum| maximum >= needed);
    match within && setrlimit(Resource::Nofile, raised).is_ok() {
        true => Ok(()),
        false => Err(PlanError::Files {
            clients,
            needed,
            limit: limits.maximum.unwrap_or(u64::MAX),
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small load that every test changes to its needs.
    pub(crate) fn small(target: SocketAddr) -> LoadPlan {
        let mut plan = LoadPlan::new(target);
        plan.publish.clients = 4;
        plan
    }

    #[test]
    fn what_cannot_be_carried_out_is_refused_with_the_way_out() {
        let mut plan = small("127.0.0.1:1".parse().unwrap());
        plan.publish.clients = 0;
        assert!(matches!(plan.check(), Err(PlanError::NoClients)));
        plan.publish.clients = 5_000_000;
        let text = plan.check().unwrap_err().to_string();
        assert!(text.contains("--sources 127.0.0.1-127.0.0.179"), "{text}");
        plan.connect.sources = vec![IpAddr::from([127, 0, 0, 1]); 179];
        let limit = getrlimit(Resource::Nofile).maximum;
        assert_eq!(
            plan.check().is_err(),
            limit.is_some_and(|limit| limit < 5_000_064)
        );
        plan.publish.clients = 1;
        plan.publish.window = 0;
        assert_eq!(
            plan.check().unwrap_err().to_string(),
            "the window must be at least 1"
        );
    }
}
