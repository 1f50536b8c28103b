//! The broker of a scenario: one that already runs, or a peer that is started for it.

use std::net::SocketAddr;

use crate::load::{LoadError, LoadPlan, Outcome, run};
use crate::measure::Watch;
use crate::peers::{Peer, Running, Stage, StartError};
use crate::report::{Screen, Server};

/// A broker under test.
#[derive(Debug)]
pub enum Target {
    /// Runs already; its process is watched if its number is known.
    Existing {
        /// Where it accepts MQTT.
        address: SocketAddr,
        /// Its process.
        watch: Option<Watch>,
    },
    /// Started for this.
    Started {
        /// Its name.
        name: String,
        /// Its process.
        running: Box<Running>,
        /// Cores it may use.
        cores: String,
    },
}

impl Target {
    /// Starts `peer`.
    pub fn start(peer: &Peer, stage: &Stage) -> Result<Self, StartError> {
        Ok(Self::Started {
            name: peer.name(),
            running: Box::new(Running::start(peer, stage)?),
            cores: stage.cores.to_string(),
        })
    }

    /// Where it accepts MQTT.
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::Existing { address, .. } => *address,
            Self::Started { running, .. } => running.address,
        }
    }

    /// How a report names it.
    pub fn server(&self) -> Server {
        match self {
            Self::Existing { address, .. } => Server {
                name: address.to_string(),
                version: "started by its user".to_owned(),
                cores: "not known".to_owned(),
                settings: Vec::new(),
            },
            Self::Started { name, running, cores } => Server {
                name: name.clone(),
                version: running.recipe.version.clone(),
                cores: cores.clone(),
                settings: running.recipe.shown.clone(),
            },
        }
    }

    /// Carries out `plan` on it, shown as `what`.
    pub fn run(&self, plan: &LoadPlan, what: &str, screen: &mut Screen) -> Result<Outcome, LoadError> {
        let watch = match self {
            Self::Existing { watch, .. } => watch.clone(),
            Self::Started { running, .. } => Some(running.watch()),
        };
        screen.begin(what);
        let outcome = run(plan, watch.as_ref(), &mut |second| screen.second(second))?;
        screen.end(&outcome);
        Ok(outcome)
    }
}
