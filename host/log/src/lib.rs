//! The write-ahead log of a node.
#![deny(missing_docs)]

mod append;
mod batch;
mod cleaner;
mod commit;
mod core;
mod cursor;
mod damage;
mod disk;
mod error;
mod frame;
mod id;
mod index;
mod inspect;
#[cfg(feature = "keyed")]
pub mod keyed;
mod limits;
mod log;
mod open;
mod options;
mod pass;
mod prepare;
#[cfg(test)]
mod proofs;
mod read;
mod recovery;
mod rewrite;
mod scan;
mod segment;
mod staging;
mod step;
mod threads;

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
