//! The data directory: one broker at a time, and a count of its lives.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::modules::replace;

/// The directory while this process owns it.
#[derive(Debug)]
pub struct DataDir {
    /// Absolute.
    pub path: PathBuf,
    /// Which start of a broker on this directory this is: the epoch of record ids.
    pub epoch: u64,
    /// Locked for as long as it is open.
    _lock: File,
}

impl DataDir {
    /// Creates the directory if need be, locks it, and counts this life.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot create the data directory {}", path.display()))?;
        let path = path
            .canonicalize()
            .with_context(|| format!("cannot find the data directory {}", path.display()))?;
        let lock_path = path.join("lock");
        let lock =
            File::create(&lock_path).with_context(|| format!("cannot write {}", lock_path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                bail!(
                    "another broker runs on the data directory {}: stop it, or give this one its own",
                    path.display()
                )
            }
            Err(fs::TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", lock_path.display()));
            }
        }
        let epoch_path = path.join("epoch");
        let last = match fs::read_to_string(&epoch_path) {
            Ok(text) => text
                .trim()
                .parse::<u64>()
                .with_context(|| format!("{} is not a number", epoch_path.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", epoch_path.display())),
        };
        let epoch = last + 1;
        replace(&epoch_path, format!("{epoch}\n").as_bytes())
            .with_context(|| format!("cannot write {}", epoch_path.display()))?;
        Ok(Self {
            path,
            epoch,
            _lock: lock,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belongs_to_one_broker_and_counts_its_lives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/data");
        let first = DataDir::open(&path).unwrap();
        let error = DataDir::open(&path).unwrap_err().to_string();
        assert!(error.contains("another broker"), "{error}");
        let epoch = first.epoch;
        drop(first);
        assert_eq!(DataDir::open(&path).unwrap().epoch, epoch + 1);
    }
}
