//! A failed fsync ends appending for good; what was committed stays readable.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![cfg(feature = "sim")]

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use tidegate_log::sim::SimDisk;
use tidegate_log::{
    AppendError, Batch, Commit, CursorId, Entry, EntryId, Log, Options, ReadLimit, Timestamp,
};

const SINK: CursorId = CursorId(0);

fn batch() -> Batch {
    let mut batch = Batch::default();
    batch
        .push(
            Timestamp(1),
            &[Entry {
                lanes: &[SINK],
                body: b"body",
            }],
            &[],
        )
        .unwrap();
    batch
}

#[test]
fn a_failed_fsync_poisons_the_log() {
    let disk = SimDisk::new();
    let (told, receipts) = sync_channel(100);
    let options = Options {
        segment_bytes: 64 << 10,
        ..Options::default()
    };
    let on_commit = Box::new(move |commit| told.try_send(commit).unwrap());
    let (log, _) = Log::open_on(Arc::new(disk.clone()), options, on_commit).unwrap();
    let wait = || receipts.recv_timeout(Duration::from_secs(30)).unwrap();

    let first = log.append(&mut batch()).unwrap().last;
    assert_eq!(wait(), Commit::Durable { through: first });
    disk.fail_syncs(true);
    log.append(&mut batch()).unwrap();
    assert!(matches!(wait(), Commit::Poisoned { .. }));
    // The disk being well again changes nothing: what it kept of the failed fsync is unknown.
    disk.fail_syncs(false);
    let refused = log.append(&mut batch()).unwrap_err();
    assert!(matches!(refused, AppendError::Poisoned { .. }), "{refused}");
    assert_eq!(log.durable(), first);
    let read = log
        .read(
            SINK,
            EntryId::START,
            ReadLimit {
                entries: 10,
                bytes: 1_000,
            },
        )
        .unwrap();
    assert_eq!(read.deliveries.len(), 1);
}
