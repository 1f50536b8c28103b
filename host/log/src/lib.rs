//! The write-ahead log of a node.
#![deny(missing_docs)]

mod id;
mod damage;
mod error;
mod options;
mod frame;
mod batch;
mod segment;
mod scan;
mod cursor;
mod index;
mod staging;
mod step;
mod core;
mod append;
mod commit;
mod prepare;
mod read;
mod limits;
mod cleaner;
mod rewrite;
mod recovery;
mod open;
mod threads;
mod log;
mod disk;
mod inspect;
#[cfg(feature = "keyed")]
pub mod keyed;
#[cfg(test)]
mod proofs;

pub use crate::batch::{Ack, Batch, Entry};
pub use crate::commit::{Commit, OnCommit};
pub use crate::cursor::Pending;
pub use crate::damage::{Damage, TornTail};
#[cfg(any(test, feature = "sim"))]
pub use crate::disk::sim;
pub use crate::disk::{Disk, DiskFile, RealDisk};
pub use crate::error::{AppendError, BatchError, Lost, OpenError, ReadError};
pub use crate::id::{CursorId, EntryId, Sequence, Timestamp};
pub use crate::inspect::{InspectError, inspect, inspect_disk};
pub use crate::limits::{Cause, Expired, Limits};
pub use crate::log::{Log, Stats};
pub use crate::options::Options;
pub use crate::read::{Delivery, ReadBatch, ReadLimit};
pub use crate::recovery::Recovery;
pub use crate::staging::Appended;
