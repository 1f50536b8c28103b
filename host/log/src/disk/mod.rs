//! The files the log needs, as a trait: the real file system, and a simulated one that loses what was not synced.

mod real;
#[cfg(any(test, feature = "sim"))]
pub mod sim;

use std::io;
use std::sync::Arc;

pub use real::RealDisk;

/// One directory of files.
///
/// Contract: what [`DiskFile::sync`] covered survives a crash once the file's name was covered by [`Disk::sync_names`].
/// Everything else may be lost, torn or kept, in any combination.
pub trait Disk: Send + Sync + 'static {
    /// Names of all files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Creates `name`, replacing a file of that name, with `bytes` zeros for which room is reserved.
    fn create(&self, name: &str, bytes: u64) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens `name` for reading and writing.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Renames `from` to `to`, replacing it. Open files stay readable.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes `name`. Open files stay readable.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the creations, renames and removals so far durable.
    fn sync_names(&self) -> io::Result<()>;
}

/// An open file, shared by the writer and any number of readers.
pub trait DiskFile: Send + Sync {
    /// Bytes of the file.
    fn size(&self) -> io::Result<u64>;

    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to `bytes`.
    fn set_size(&self, bytes: u64) -> io::Result<()>;

    /// Makes the content so far durable. An error means that nothing is known about it.
    fn sync(&self) -> io::Result<()>;
}
