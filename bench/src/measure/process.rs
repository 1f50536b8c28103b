//! Processor time and memory of another process, from /proc.
//!
//! Processor time is the sum over the process' threads of what the scheduler counted, in nanoseconds. A thread that ends
//! takes its share with it; then, and where the kernel has no schedstat, it is utime + stime of the whole process, in
//! clock ticks. Memory is what smaps_rollup says.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::clock::{self, SECOND};

/// Why a process could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It has ended, or was never there.
    #[error("process {pid} cannot be read ({path}): {source}; has it ended?")]
    Gone {
        /// Its number.
        pid: u32,
        /// The file that could not be read.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of /proc in an unknown form.
    #[error("{0} is not in the form that this kernel interface is documented to have")]
    Format(PathBuf),
}

/// What a process has used up to an instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// When, in nanoseconds of the clock.
    pub at: u64,
    /// Processor time, user and system, of the threads that live, in nanoseconds.
    pub cpu: u64,
    /// The same of the whole process, by clock ticks, in nanoseconds.
    pub ticks: u64,
    /// Share of that in user code.
    pub user: u64,
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Memory that is this process' own, in bytes: what would be freed if it ended.
    pub private_bytes: u64,
    /// Threads.
    pub threads: u64,
}

/// A process that is measured.
#[derive(Debug, Clone)]
pub struct Watch {
    pid: u32,
}

impl Watch {
    /// Watches process `pid`.
    pub fn new(pid: u32) -> Self {
        Self { pid }
    }

    /// Reads everything.
    pub fn read(&self) -> Result<ProcessUse, ProcessError> {
        let stat = self.stat()?;
        let (resident_bytes, private_bytes) = self.memory()?;
        let (scheduled, threads) = self.scheduled()?;
        Ok(ProcessUse {
            at: clock::now(),
            cpu: scheduled.unwrap_or(stat.user + stat.system),
            ticks: stat.user + stat.system,
            user: stat.user,
            resident_bytes,
            private_bytes,
            threads,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }

    fn text(&self, name: &str) -> Result<String, ProcessError> {
        let path = self.path(name);
        std::fs::read_to_string(&path).map_err(|source| ProcessError::Gone {
            pid: self.pid,
            path,
            source,
        })
    }

    fn stat(&self) -> Result<Stat, ProcessError> {
        parse_stat(&self.text("stat")?).ok_or_else(|| ProcessError::Format(self.path("stat")))
    }

    fn memory(&self) -> Result<(u64, u64), ProcessError> {
        let text = self.text("smaps_rollup")?;
        let resident = kibibytes(&text, &["Rss:"]);
        let private = kibibytes(&text, &["Private_Clean:", "Private_Dirty:", "Swap:"]);
        Ok((resident * 1024, private * 1024))
    }

    fn scheduled(&self) -> Result<(Option<u64>, u64), ProcessError> {
        let path = self.path("task");
        let tasks = std::fs::read_dir(&path).map_err(|source| ProcessError::Gone {
            pid: self.pid,
            path,
            source,
        })?;
        let (mut sum, mut threads) = (Some(0), 0);
        for task in tasks.flatten() {
            threads += 1;
            // A thread may end between the listing and the reading.
            let Ok(text) = std::fs::read_to_string(task.path().join("schedstat")) else {
                continue;
            };
            let ran = text
                .split_ascii_whitespace()
                .next()
                .and_then(|field| field.parse::<u64>().ok());
            sum = sum.zip(ran).map(|(sum, ran)| sum + ran);
        }
        Ok((sum.filter(|sum| *sum > 0), threads))
    }
}

impl ProcessUse {
    /// Processor time since `earlier`, in nanoseconds.
    pub fn cpu_since(&self, earlier: &Self) -> u64 {
        let (living, whole) = (
            self.cpu.saturating_sub(earlier.cpu),
            self.ticks.saturating_sub(earlier.ticks),
        );
        // Both ends of the coarser count are rounded; more than that apart means that a thread has ended.
        match whole > living + 2 * tick() {
            true => whole,
            false => living,
        }
    }

    /// Cores kept busy since `earlier`.
    pub fn cores_since(&self, earlier: &Self) -> f64 {
        let elapsed = self.at.saturating_sub(earlier.at).max(1);
        self.cpu_since(earlier) as f64 / elapsed as f64
    }
}

struct Stat {
    user: u64,
    system: u64,
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The name in parentheses may itself hold spaces and parentheses: count from its end.
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    Some(Stat {
        user: fields.next()?.parse::<u64>().ok()? * tick(),
        system: fields.next()?.parse::<u64>().ok()? * tick(),
    })
}

/// A clock tick in nanoseconds.
fn tick() -> u64 {
    SECOND / rustix::param::clock_ticks_per_second().max(1)
}

fn kibibytes(text: &str, names: &[&str]) -> u64 {
    let value = |line: &str| -> Option<u64> {
        let mut fields = line.split_ascii_whitespace();
        let name = fields.next()?;
        names
            .contains(&name)
            .then(|| fields.next()?.parse().ok())
            .flatten()
    };
    text.lines().filter_map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 250 50 0 0 20 0 3 0 1 2 3";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.user, stat.system), (250 * tick(), 50 * tick()));
        assert!(parse_stat("nothing").is_none());
    }

    #[test]
    fn this_process_uses_time_and_memory_and_a_missing_one_is_named() {
        let watch = Watch::new(std::process::id());
        let before = watch.read().unwrap();
        let mut sum = 0_u64;
        while watch.read().unwrap().cpu_since(&before) < 20_000_000 {
            sum = std::hint::black_box(sum + (0..100_000_u64).sum::<u64>());
        }
        let after = watch.read().unwrap();
        assert!(after.cores_since(&before) > 0.0);
        assert!(after.private_bytes > 0 && after.resident_bytes >= after.private_bytes);
        let text = Watch::new(u32::MAX).read().unwrap_err().to_string();
        assert!(text.contains("4294967295"), "{text}");
    }

    #[test]
    fn what_an_ended_thread_used_still_counts() {
        let used = |cpu: u64, ticks: u64| ProcessUse {
            cpu: cpu * tick(),
            ticks: ticks * tick(),
            ..ProcessUse::default()
        };
        assert_eq!(
            used(15, 16).cpu_since(&used(10, 10)),
            5 * tick(),
            "rounding is not a thread"
        );
        assert_eq!(used(4, 30).cpu_since(&used(10, 10)), 20 * tick());
    }

    #[test]
    fn private_memory_is_the_sum_of_its_parts() {
        let text = "Rss:  100 kB\nPrivate_Clean:  7 kB\nPrivate_Dirty: 30 kB\nSwap: 1 kB\nSwapPss: 9 kB\n";
        assert_eq!(
            kibibytes(text, &["Private_Clean:", "Private_Dirty:", "Swap:"]),
            38
        );
    }
}
