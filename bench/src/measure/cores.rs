//! Which cores a thread, and every process it starts, may run on.

use std::io;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A set of cores, by their numbers; empty means any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cores(pub Vec<usize>);

/// A list of cores that is none.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a list of cores such as 0 or 0,2 or 0-3")]
pub struct InvalidCores(String);

impl FromStr for Cores {
    type Err = InvalidCores;

    fn from_str(text: &str) -> Result<Self, InvalidCores> {
        let invalid = || InvalidCores(text.to_owned());
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to): (usize, usize) = match (from.parse(), to.parse()) {
                (Ok(from), Ok(to)) if from <= to && to < CpuSet::MAX_CPU => (from, to),
                _ => return Err(invalid()),
            };
            cores.extend(from..=to);
        }
        Ok(Self(cores))
    }
}

impl std::fmt::Display for Cores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("any"),
            false => f.write_str(&self.0.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

impl Cores {
    /// Restricts the calling thread to these cores; does nothing when the set is empty.
    pub fn pin_thread(&self) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut set = CpuSet::new();
        self.0.iter().for_each(|core| set.set(*core));
        Ok(sched_setaffinity(None, &set)?)
    }

    /// Does `start` on these cores: a process started in it inherits them. The thread then gets back what it had.
    pub fn pinned<T>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let before = sched_getaffinity(None)?;
        self.pin_thread()?;
        let started = start();
        sched_setaffinity(None, &before)?;
        started
    }

    /// The `turn`th core of the set, for the `turn`th of several threads.
    pub fn one(&self, turn: usize) -> Self {
        let core = turn.checked_rem(self.0.len()).and_then(|turn| self.0.get(turn));
        Self(core.copied().into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!("0,2-4".parse::<Cores>().unwrap(), Cores(vec![0, 2, 3, 4]));
        for text in ["", "a", "3-1", "0-", "99999"] {
            assert!(text.parse::<Cores>().is_err(), "{text}");
        }
        assert_eq!(Cores(vec![1, 3]).one(3), Cores(vec![3]));
        assert_eq!(Cores::default().one(3), Cores::default());
    }

    #[test]
    fn a_process_inherits_the_cores_and_the_thread_gets_its_own_back() {
        let before = sched_getaffinity(None).unwrap();
        let only = (0..CpuSet::MAX_CPU).find(|core| before.is_set(*core)).unwrap();
        let inside = Cores(vec![only]).pinned(|| Ok(sched_getaffinity(None)?)).unwrap();
        assert_eq!((inside.count(), inside.is_set(only)), (1, true));
        assert_eq!(sched_getaffinity(None).unwrap().count(), before.count());
    }
}
