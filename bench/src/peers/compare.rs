//! Runs every load on every peer, in turns, and puts figures beside each other.
//!
//! ```text
//!   round 1: load a: A B C   load b: A B C     each time a fresh process
//!   round 2: load a: A B C   ...               ratio of a peer = median over rounds of (peer / floor of that round)
//! ```
//! Invariant: a ratio is only made of runs of the same load and round, so that what the machine does meanwhile falls out.

use serde::{Deserialize, Serialize};

use super::running::Stage;
use super::{Load, Peer, Recipe, Running, StartError, loads::Scale};
use crate::load::{LoadError, Outcome, Second, run};

/// What is compared.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The peers, in the order of each round.
    pub peers: Vec<Peer>,
    /// The loads.
    pub loads: Vec<Load>,
    /// How often all of it is repeated.
    pub rounds: u32,
    /// How peers are started.
    pub stage: Stage,
    /// How long and large loads are.
    pub scale: Scale,
}

/// One load on one peer, once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// Name of the peer.
    pub peer: String,
    /// Name of the load.
    pub load: String,
    /// Which repetition, from 1.
    pub round: u32,
    /// What it showed.
    pub outcome: Outcome,
}

/// What happens during a comparison.
#[derive(Debug)]
pub enum Event<'a> {
    /// A peer runs.
    Started {
        /// Its name.
        peer: &'a str,
        /// The load that begins.
        load: Load,
        /// Which repetition, from 1.
        round: u32,
        /// How the peer was started.
        recipe: &'a Recipe,
    },
    /// An interval has passed.
    Second(&'a Second),
    /// The load has ended.
    Ended(&'a Run),
    /// The load did not get that far.
    Failed {
        /// Name of the peer.
        peer: &'a str,
        /// The load.
        load: Load,
        /// Why.
        error: &'a RunError,
    },
}

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The peer does not run.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The load could not be carried out.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A figure over all rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The middle one.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// One number of a run.
pub type Metric = fn(&Outcome) -> Option<f64>;

impl Comparison {
    /// Runs everything. What fails is told and left out.
    pub fn run(&self, observe: &mut dyn FnMut(Event<'_>)) -> Vec<Run> {
        let mut runs = Vec::new();
        for round in 1..=self.rounds {
            for &load in &self.loads {
                for peer in &self.peers {
                    match self.one(peer, load, round, observe) {
                        Ok(run) => {
                            observe(Event::Ended(&run));
                            runs.push(run);
                        }
                        Err(error) => observe(Event::Failed {
                            peer: &peer.name(),
                            load,
                            error: &error,
                        }),
                    }
                }
            }
        }
        runs
    }

    /// Runs in all.
    pub fn len(&self) -> usize {
        usize::try_from(self.rounds).unwrap_or(0) * self.loads.len() * self.peers.len()
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn one(
        &self,
        peer: &Peer,
        load: Load,
        round: u32,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<Run, RunError> {
        let running = Running::start(peer, &self.stage)?;
        let name = peer.name();
        observe(Event::Started {
            peer: &name,
            load,
            round,
            recipe: &running.recipe,
        });
        let plan = load.plan(running.address, &self.scale);
        let watch = running.watch();
        let outcome = run(&plan, Some(&watch), &mut |second| observe(Event::Second(second)))?;
        Ok(Run {
            peer: name,
            load: load.name().to_owned(),
            round,
            outcome,
        })
    }
}

impl Figure {
    /// Of these numbers; `None` of none.
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (min, max) = (*numbers.first()?, *numbers.last()?);
        let middle = |from_end: usize| numbers.get(numbers.len().checked_sub(from_end)?).copied();
        let upper = *numbers.get(numbers.len() / 2)?;
        let lower = middle(numbers.len() / 2 + 1)?;
        Some(Self {
            median: f64::midpoint(lower, upper),
            min,
            max,
        })
    }

    /// `metric` of `peer` under `load`, over the rounds.
    pub fn over(runs: &[Run], peer: &str, load: &str, metric: Metric) -> Option<Self> {
        Self::of(
            runs.iter()
                .filter(|run| run.peer == peer && run.load == load)
                .filter_map(|run| metric(&run.outcome))
                .collect(),
        )
    }

    /// `metric` of `peer` as a multiple of that of `base` in the same round.
    pub fn ratio(runs: &[Run], (peer, base): (&str, &str), load: &str, metric: Metric) -> Option<Self> {
        let of = |name: &str, round| {
            let is_it = |run: &&Run| run.peer == name && run.load == load && run.round == round;
            runs.iter().find(is_it).and_then(|run| metric(&run.outcome))
        };
        let last = runs.iter().map(|run| run.round).max()?;
        let ratio = |round| {
            let base = of(base, round).filter(|base| *base > 0.0)?;
            Some(of(peer, round)? / base)
        };
        Self::of((1..=last).filter_map(ratio).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Published, Totals};

    fn run_of(peer: &str, round: u32, cpu: f64) -> Run {
        Run {
            peer: peer.to_owned(),
            load: "qos1".to_owned(),
            round,
            outcome: Outcome {
                connected: Default::default(),
                published: Some(Published {
                    broker_cpu_us: Some(cpu),
                    ..Published::default()
                }),
                totals: Totals::default(),
                seconds: Vec::new(),
            },
        }
    }

    const CPU: Metric = |outcome| outcome.published?.broker_cpu_us;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let figure = Figure::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((figure.median, figure.min, figure.max), (2.5, 1.0, 4.0));
        assert_eq!(Figure::of(vec![7.0]).unwrap().median, 7.0);
        assert_eq!(Figure::of(vec![]), None);
    }

    #[test]
    fn ratios_compare_within_a_round_only() {
        let runs = [
            run_of("floor", 1, 1.0),
            run_of("a", 1, 2.0),
            run_of("floor", 2, 10.0),
            run_of("a", 2, 30.0),
            run_of("a", 3, 99.0),
        ];
        let ratio = Figure::ratio(&runs, ("a", "floor"), "qos1", CPU).unwrap();
        assert_eq!((ratio.median, ratio.min, ratio.max), (2.5, 2.0, 3.0));
        assert_eq!(Figure::over(&runs, "a", "qos1", CPU).unwrap().median, 30.0);
        assert_eq!(Figure::ratio(&runs, ("b", "floor"), "qos1", CPU), None);
    }
}
