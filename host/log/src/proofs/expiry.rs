//! Limits: what is beyond expires, nothing else does, and every entry is counted once.

use std::sync::Arc;
use std::time::Duration;

use crate::core::Core;
use crate::disk::sim::SimDisk;
use crate::open::open_core;
use crate::step::Omitted;
use crate::{Batch, Cause, CursorId, Entry, EntryId, Expired, Limits, Options, Timestamp};

const SINK: CursorId = CursorId(0);
const SESSION: CursorId = CursorId(9);

fn log(disk: &SimDisk, limits: Limits) -> Core {
    let options = Options {
        segment_bytes: 16 << 10,
        limits,
        ..Options::default()
    };
    open_core(
        Arc::new(disk.clone()),
        options,
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap()
    .0
}

/// One append a second for each of `lanes`, up to `seconds`.
fn fill(core: &Core, seconds: u64, lanes: &[CursorId]) {
    for second in 1..=seconds {
        let mut batch = Batch::default();
        batch
            .push(
                Timestamp(second * 1_000),
                &[Entry {
                    lanes,
                    body: &[1; 400],
                }],
                &[],
            )
            .unwrap();
        core.prepare();
        core.append(&mut batch).unwrap();
        core.commit();
    }
}

fn pending(core: &Core, cursor: CursorId) -> u64 {
    core.index.lock().unwrap().cursors.pending(cursor).entries
}

fn age(seconds: u64) -> Limits {
    Limits {
        age_max: Some(Duration::from_secs(seconds)),
        bytes_max: None,
    }
}

#[test]
fn entries_expire_by_age_and_are_counted() {
    let disk = SimDisk::new();
    let core = log(&disk, age(30));
    fill(&core, 100, &[SINK, SESSION, CursorId::KEYED]);
    let mut expired = core.maintain(Timestamp(100_000));
    expired.sort_unstable_by_key(|event| event.cursor);
    let event = |cursor| Expired {
        cursor,
        entries: 69,
        bytes: 69 * 400,
        through: EntryId::new(69, 0),
        cause: Cause::Age,
    };
    assert_eq!(expired, [event(SINK), event(SESSION)]);
    assert_eq!(core.maintain(Timestamp(100_000)), []);
    assert_eq!((pending(&core, SINK), pending(&core, CursorId::KEYED)), (31, 100));
    // It lasts.
    core.close();
    drop(core);
    let core = log(&disk, age(30));
    assert_eq!(pending(&core, SESSION), 31);
    assert_eq!(core.maintain(Timestamp(100_000)), []);
}

#[test]
fn a_cursors_own_limits_replace_the_logs() {
    let core = log(&SimDisk::new(), age(10));
    fill(&core, 100, &[SINK, SESSION, CursorId::KEYED]);
    core.set_limits(
        SINK,
        Some(Limits {
            bytes_max: Some(50 * 400),
            age_max: None,
        }),
    );
    let expired = core.maintain(Timestamp(100_000));
    assert_eq!((pending(&core, SINK), pending(&core, SESSION)), (50, 11));
    let of_sink = expired.iter().find(|event| event.cursor == SINK).unwrap();
    assert_eq!(
        (of_sink.entries, of_sink.bytes, of_sink.cause),
        (50, 50 * 400, Cause::Bytes)
    );
}

#[test]
fn the_oldest_segments_expire_when_the_log_is_too_large() {
    let core = log(
        &SimDisk::new(),
        Limits {
            bytes_max: Some(60 << 10),
            age_max: None,
        },
    );
    fill(&core, 600, &[SINK]);
    fill(&core, 20, &[CursorId::KEYED]);
    let expired = core.maintain(Timestamp(600_000));
    let lost: u64 = expired
        .iter()
        .filter(|event| event.cursor == SINK)
        .map(|event| event.entries)
        .sum();
    assert_eq!(lost + pending(&core, SINK), 600);
    assert!(lost > 0 && pending(&core, SINK) > 0, "{lost} expired");
    assert_eq!(pending(&core, CursorId::KEYED), 20);
}
