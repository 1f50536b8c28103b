//! Arguments that say which broker is measured, and on which cores.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::load::LoadPlan;
use crate::measure::{Cores, Watch};
use crate::peers::{Peer, Stage};
use crate::scenario::Target;

/// How peers are started, and which cores are used.
#[derive(Debug, clap::Args)]
pub struct StageArgs {
    /// The tidegate program [default: this program, or the one beside it]
    #[arg(long, value_name = "PROGRAM")]
    pub tidegate: Option<PathBuf>,
    /// A further argument for tidegate; may be repeated
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub tidegate_arg: Vec<String>,
    /// Threads of brokers that can be told
    #[arg(long, default_value_t = 1)]
    pub workers: usize,
    /// Cores of the broker, as in 0 or 0-1 [default: the first, where there are several and one worker]
    #[arg(long, value_name = "CORES", conflicts_with = "unpinned")]
    pub broker_cores: Option<Cores>,
    /// Cores of the load generator [default: the second, where there are several and one worker]
    #[arg(long, value_name = "CORES", conflicts_with = "unpinned")]
    pub load_cores: Option<Cores>,
    /// Leave broker and load generator to the scheduler
    #[arg(long)]
    pub unpinned: bool,
    /// Threads of the load generator
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
}

/// The broker of a scenario with one broker.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// A broker that runs already
    #[arg(long, value_name = "ADDRESS", conflicts_with = "peer")]
    pub target: Option<SocketAddr>,
    /// Process of that broker, to measure its processor time and memory
    #[arg(long, requires = "target")]
    pub pid: Option<u32>,
    /// A broker to start: tidegate, tidegate=CONFIG.toml, floor, mosquitto, rumqttd or nats; may be repeated
    #[arg(long, value_name = "NAME")]
    pub peer: Vec<Peer>,
}

impl StageArgs {
    /// How peers are started.
    pub fn stage(&self) -> Stage {
        Stage {
            cores: self.cores(&self.broker_cores, 0),
            workers: self.workers.max(1),
            tidegate: self.tidegate.clone().unwrap_or_else(tidegate_program),
            tidegate_args: self.tidegate_arg.clone(),
        }
    }

    /// A load without clients, on the generator's threads and cores.
    pub fn plan(&self) -> LoadPlan {
        let mut plan = LoadPlan::new(SocketAddr::from(([127, 0, 0, 1], 1883)));
        plan.threads = self.threads.max(1);
        plan.cores = self.cores(&self.load_cores, 1).0;
        plan
    }

    /// The cores asked for, or core `own` where broker and generator can each have one.
    fn cores(&self, asked: &Option<Cores>, own: usize) -> Cores {
        let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        match asked {
            Some(cores) => cores.clone(),
            None if self.unpinned || self.workers > 1 || available < 2 => Cores::default(),
            None => Cores(vec![own]),
        }
    }
}

impl TargetArgs {
    /// Does `each` with every broker asked for, one after the other; Tidegate if none is named.
    pub fn each(
        &self,
        stage: &Stage,
        mut each: impl FnMut(&Target) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(address) = self.target {
            return each(&Target::Existing {
                address,
                watch: self.pid.map(Watch::new),
            });
        }
        let default = [Peer::Tidegate];
        let peers = if self.peer.is_empty() {
            &default[..]
        } else {
            &self.peer
        };
        for peer in peers {
            let target =
                Target::start(peer, stage).with_context(|| format!("{} cannot be measured", peer.name()))?;
            each(&target)?;
        }
        Ok(())
    }
}

/// This program if it is tidegate, else the one beside it.
fn tidegate_program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    match own.file_stem().is_some_and(|name| name == "tidegate") {
        true => own,
        false => own.with_file_name("tidegate"),
    }
}
