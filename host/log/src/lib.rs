//! The write-ahead log of a node: one log that holds together what belongs together, and lists over it.
//!
//! Workers append batches without waiting and learn from a callback up to which sequence everything is durable. An append
//! is one frame with any number of entries and acknowledgements: they become visible and durable together or not at all.
//! Each entry goes to one or more *cursors*: lists of entries not yet acknowledged, which sessions and sinks read. Entries
//! are opaque; this crate knows nothing of MQTT, sockets, sessions or sinks.
//!
//! # Promises
//!
//! * What was reported as durable is there after any crash, with its identity: epoch, sequence, index.
//! * What was not reported is kept only as far as it follows without a gap.
//! * An entry ends by being acknowledged or by a configured limit, which is counted. Nothing else takes it.
//! * A slow cursor pins the room of its own entries, not of others.
//! * Damage is found by checksum, reported with segment and offset, and costs the frame it is in.
//! * A failed write or fsync is never repeated: the log is poisoned until it is opened again.
//! * A full disk and a full hand-over are values. Reading and acknowledging go on, and appending resumes by itself.
//!
//! # What it deliberately does not do
//!
//! No replication, no transactions over several appends, no reading of what is not durable, no index by anything but
//! cursor and sequence. It never asks for the time, but to pace commits.
//!
//! # The walk of an append
//!
//! ```text
//! worker    Batch::push: encode            no lock
//!           Log::append: checksum          no lock
//!                        sequence, copy    staging, a mutex held for a copy; bounded, full is a value
//! commit    write, fdatasync               one thread for all workers
//!           show to cursors                index, a mutex held for 512 frames at most
//!           report: Commit::Durable        the callback given at open
//! reader    Log::read                      index, then the disk without a lock
//! cleaner   prepare, remove, rewrite       a thread of its own, never in the way of a commit
//! ```
//!
//! # Format, version 1
//!
//! Numbers are little-endian. A log is a directory of segments, `NNNNNNNNNNNNNNNN.segment` with the number in
//! hexadecimal, read in the order of their numbers. `cleaned.unfinished` is a leftover of cleaning, `lock` is locked by the
//! process that has the log open, `*.unreadable` was set aside by a recovery.
//!
//! ```text
//! segment   0     header, first copy          2,048 bytes
//!           2048  header, second copy         2,048 bytes, as it was when the segment was prepared
//!           4096  frames, each at a multiple of 8; zeros behind the last
//!
//! header    0  "TIDEGLOG"                     40  1 if the segment was cleaned
//!           8  format version  u32            48  cleaned: last number it stands for
//!          12  checksum seed   u32            56  cleaned: last sequence it stands for
//!          16  number          u64            64  cleaned: acknowledgements up to this sequence are in effect
//!          24  epoch           u64            72  1 if `after` is exactly the sequence before the first
//!          32  after           u64          2044  CRC32C of the 2,044 bytes before
//!
//! frame     0  length of payload  u32
//!           4  checksum           u32         CRC32C, begun with the seed, of payload, padding, then bytes 0..4, 8..24
//!           8  sequence           u64
//!          16  time in ms         u48
//!          22  kind               u16         1 append, 2 mark
//!          24  payload, padded with zeros to a multiple of 8
//!
//! append    0  entries            u16         mark: no payload. States that everything up to
//!           2  reserved           u16         its sequence was fsynced. Tells a torn tail from damage.
//!           4  acknowledgements   u32
//!           8  entries, then acknowledgements
//!
//! entry     0  index              u16         kept when a cleaned frame has lost its neighbours
//!           2  reserved           u16
//!           4  lanes              u32
//!           8  length of body     u32
//!          12  lanes, u32 each, then the body
//!
//! ack       0  cursor             u32
//!           4  first index        u16
//!           6  last index         u16
//!           8  first sequence     u64
//!          16  last sequence      u64
//! ```
//!
//! # Bounds
//!
//! | what | bound |
//! |---|---|
//! | bytes waiting for the disk | [`Options::queue_bytes_max`] |
//! | disk | pending entries x 2, and [`Options::spare_segments`] + 1 segments |
//! | memory of a cursor | 32 B with nothing or one run of entries pending, 24 B for each further run |
//! | memory of a segment | 12 B for every 16 KiB |
//! | acknowledgements not logged on a full disk | 65,536 |

#![deny(missing_docs)]

mod id;

mod batch;
mod frame;

mod append;
mod commit;
mod prepare;
mod staging;

mod cursor;
mod index;
mod read;
mod scan;
mod segment;

mod cleaner;
mod limits;
mod rewrite;

mod damage;
mod pass;
mod recovery;

mod core;
mod error;
mod log;
mod open;
mod options;
mod step;
mod threads;

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
