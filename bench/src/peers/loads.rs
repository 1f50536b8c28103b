//! The loads under which peers are compared. Each shows one cost; together they bound what a broker takes.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use tidegate_codec::QoS;

use crate::load::template::{PayloadTemplate, Template};
use crate::load::{LoadPlan, Pace};

/// A load by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// QoS 1, 200 clients with 20 messages of 200 B in flight each.
    Qos1,
    /// QoS 1, 200 clients with one message in flight each: a batch forms only across clients.
    OneInFlight,
    /// QoS 0, 200 clients.
    Qos0,
    /// QoS 2, 200 clients with 20 messages in flight each.
    Qos2,
    /// QoS 1 as above, and one subscriber that receives everything.
    Wildcard,
    /// The same with that subscriber at QoS 1.
    WildcardQos1,
    /// 15,000 clients with one message a second each, QoS 1.
    Paced,
    /// 1,000 publishers with one message of 50 B a second each, QoS 1, to 1,000 subscribers.
    PubSub,
    /// 15,000 clients connect and stay idle.
    Idle,
}

/// How long loads run and how large they are.
#[derive(Debug, Clone)]
pub struct Scale {
    /// Publishing before measuring.
    pub warm_up: Duration,
    /// Publishing that is measured.
    pub duration: Duration,
    /// Clients of the loads with many.
    pub clients: u32,
    /// Generator threads.
    pub threads: usize,
    /// Cores of the generator.
    pub cores: Vec<usize>,
}

/// A load by a name that none has.
#[derive(Debug, thiserror::Error)]
#[error("unknown load {0:?}: use {names}", names = Load::ALL.map(Load::name).join(", "))]
pub struct UnknownLoad(String);

impl FromStr for Load {
    type Err = UnknownLoad;

    fn from_str(text: &str) -> Result<Self, UnknownLoad> {
        Self::ALL
            .into_iter()
            .find(|load| load.name() == text)
            .ok_or_else(|| UnknownLoad(text.to_owned()))
    }
}

impl Load {
    /// All of them, in the order in which they are run.
    pub const ALL: [Self; 9] = [
        Self::Qos1,
        Self::OneInFlight,
        Self::Qos0,
        Self::Qos2,
        Self::Wildcard,
        Self::WildcardQos1,
        Self::Paced,
        Self::PubSub,
        Self::Idle,
    ];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qos1 => "qos1",
            Self::OneInFlight => "one-in-flight",
            Self::Qos0 => "qos0",
            Self::Qos2 => "qos2",
            Self::Wildcard => "wildcard",
            Self::WildcardQos1 => "wildcard-qos1",
            Self::Paced => "paced",
            Self::PubSub => "pubsub",
            Self::Idle => "idle",
        }
    }

    /// What it is, in words.
    pub fn description(self, scale: &Scale) -> String {
        let clients = scale.clients;
        match self {
            Self::Qos1 => "200 clients x 20 in flight, QoS 1, 200 B".to_owned(),
            Self::OneInFlight => "200 clients x 1 in flight, QoS 1, 200 B".to_owned(),
            Self::Qos0 => "200 clients, QoS 0, 200 B, as fast as the broker reads".to_owned(),
            Self::Qos2 => "200 clients x 20 in flight, QoS 2, 200 B".to_owned(),
            Self::Wildcard => {
                "200 clients x 20 in flight, QoS 1, 200 B, one subscriber to all at QoS 0".to_owned()
            }
            Self::WildcardQos1 => "the same, the subscriber at QoS 1".to_owned(),
            Self::Paced => format!("{clients} clients x 1 message/s, QoS 1, 200 B"),
            Self::PubSub => "1000 publishers x 1 message/s, QoS 1, 50 B, to 1000 subscribers".to_owned(),
            Self::Idle => format!("{clients} clients connect and stay idle"),
        }
    }

    /// The plan of the load against `target`.
    pub fn plan(self, target: SocketAddr, scale: &Scale) -> LoadPlan {
        let mut plan = LoadPlan::new(target);
        (plan.warm_up, plan.duration) = (scale.warm_up, scale.duration);
        (plan.threads, plan.cores) = (scale.threads, scale.cores.clone());
        plan.settle = Duration::from_millis(200);
        plan.publish.clients = 200;
        match self {
            Self::Qos1 => {}
            Self::OneInFlight => plan.publish.window = 1,
            Self::Qos0 => plan.publish.qos = QoS::AtMostOnce,
            Self::Qos2 => plan.publish.qos = QoS::ExactlyOnce,
            Self::Wildcard | Self::WildcardQos1 => {
                plan.subscribe.clients = 1;
                plan.subscribe.filter = Template::constant("bench/#");
                if self == Self::Wildcard {
                    plan.subscribe.qos = QoS::AtMostOnce;
                }
            }
            Self::Paced => {
                plan.publish.clients = scale.clients;
                plan.publish.pace = Pace::Every(Duration::from_secs(1));
            }
            Self::PubSub => {
                plan.publish.clients = 1000;
                plan.subscribe.clients = 1000;
                plan.publish.pace = Pace::Every(Duration::from_secs(1));
                plan.publish.payload = PayloadTemplate::Fixed(50);
            }
            Self::Idle => {
                plan.publish.clients = scale.clients;
                plan.duration = Duration::ZERO;
                plan.settle = Duration::from_secs(1);
            }
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_is_found_by_its_name_and_can_be_carried_out() {
        let scale = Scale {
            warm_up: Duration::from_secs(1),
            duration: Duration::from_secs(1),
            clients: 500,
            threads: 1,
            cores: Vec::new(),
        };
        for load in Load::ALL {
            assert_eq!(load.name().parse::<Load>().unwrap(), load);
            load.plan("127.0.0.1:1883".parse().unwrap(), &scale)
                .check()
                .unwrap();
        }
        assert!(
            "x".parse::<Load>()
                .unwrap_err()
                .to_string()
                .contains("one-in-flight")
        );
    }
}
