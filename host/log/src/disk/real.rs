//! The real file system: `fallocate`, `pread`, `pwrite`, `fdatasync`, and `fsync` of the directory.
//!
//! Invariant: an interrupted call is repeated, a failed fsync never is.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, fdatasync, flock};

use super::{Disk, DiskFile};

/// A file that whoever uses the directory holds a lock on. The system frees it with the process.
const LOCK_NAME: &str = "lock";

/// A directory of the real file system.
#[derive(Debug)]
pub struct RealDisk {
    directory: PathBuf,
    _lock: Option<File>,
}

impl RealDisk {
    /// Uses `directory`, which is created if it is missing, alone.
    pub fn new(directory: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        // The directory's own name must survive too, or the first commit would be lost with it.
        if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            File::open(parent)?.sync_all()?;
        }
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(directory.join(LOCK_NAME))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self {
                directory: directory.to_path_buf(),
                _lock: Some(lock),
            }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "it is open in another process",
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// Uses `directory` as it is, for looking only.
    pub fn existing(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
            _lock: None,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

impl Disk for RealDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.directory)? {
            // A name that is not text is none of the log's files.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.path(name))?;
        match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            // No way to reserve room here: a write may then find the disk full, which the commit survives.
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(bytes)?,
            Err(error) => {
                // Half a reservation must not keep the disk full.
                let _ = std::fs::remove_file(self.path(name));
                return Err(error.into());
            }
        }
        Ok(Arc::new(RealFile(file)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.path(name);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            // Enough to inspect a log one may not change.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(&path)?,
            Err(error) => return Err(error),
        };
        Ok(Arc::new(RealFile(file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(fdatasync(&self.0)?)
    }
}
