//! A full disk: a value for whoever appends, nothing for whoever reads and acknowledges, over when there is room.

use std::sync::Arc;

use crate::disk::sim::SimDisk;
use crate::open::open_core;
use crate::step::Omitted;
use crate::{Ack, AppendError, Batch, CursorId, Entry, EntryId, Options, ReadLimit, Timestamp};

const FAST: CursorId = CursorId(0);
const SLOW: CursorId = CursorId(1);

fn options() -> Options {
    Options {
        segment_bytes: 16 << 10,
        spare_segments: 1,
        ..Options::default()
    }
}

fn batch(lane: CursorId) -> Batch {
    let mut batch = Batch::default();
    batch
        .push(
            Timestamp(1),
            &[Entry {
                lanes: &[lane],
                body: &[7; 500],
            }],
            &[],
        )
        .unwrap();
    batch
}

#[test]
fn a_full_disk_refuses_appends_serves_the_rest_and_recovers() {
    let disk = SimDisk::new();
    let (core, _) = open_core(
        Arc::new(disk.clone()),
        options(),
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap();
    disk.set_capacity(Some(100 << 10));
    let mut taken = 0;
    let refused = loop {
        core.prepare();
        match core.append(&mut batch(if taken == 0 { SLOW } else { FAST })) {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
        core.commit();
    };
    assert!(matches!(refused, AppendError::NoRoom { .. }), "{refused}");
    assert!(taken > 100, "only {taken} appends fit");

    // Reading and acknowledging go on, and what they free is enough to go on appending.
    let limit = ReadLimit {
        entries: 1_000,
        bytes: usize::MAX,
    };
    assert_eq!(
        core.read(FAST, EntryId::START, limit).unwrap().deliveries.len(),
        taken - 1
    );
    assert_eq!(core.ack(&[Ack::one(SLOW, EntryId::new(1, 0))]), 1);
    assert_eq!(core.ack(&[Ack::all(FAST)]), taken as u64 - 1);
    core.commit();
    while core.clean().unwrap() != crate::cleaner::Cleaned::Nothing {}
    core.prepare();
    core.append(&mut batch(FAST)).unwrap();
    core.commit();

    // The acknowledgements were durable on the full disk.
    core.close();
    drop(core);
    let (core, report) = open_core(Arc::new(disk), options(), Box::new(|_| {}), Omitted::default()).unwrap();
    assert_eq!(report.damage, []);
    assert_eq!(
        core.read(FAST, EntryId::START, limit).unwrap().deliveries.len(),
        1
    );
    assert_eq!(
        core.read(SLOW, EntryId::START, limit).unwrap().deliveries.len(),
        0
    );
}

#[test]
fn a_disk_that_is_full_when_the_log_is_opened_can_still_be_read() {
    let disk = SimDisk::new();
    let (core, _) = open_core(
        Arc::new(disk.clone()),
        options(),
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap();
    core.append(&mut batch(FAST)).unwrap();
    core.close();
    drop(core);
    disk.set_capacity(Some(1));
    let (core, _) = open_core(
        Arc::new(disk.clone()),
        options(),
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap();
    assert!(matches!(
        core.append(&mut batch(FAST)),
        Err(AppendError::NoRoom { .. })
    ));
    let limit = ReadLimit {
        entries: 10,
        bytes: usize::MAX,
    };
    assert_eq!(
        core.read(FAST, EntryId::START, limit).unwrap().deliveries.len(),
        1
    );
    // The acknowledgement takes effect at once and is logged once there is room.
    assert_eq!(core.ack(&[Ack::all(FAST)]), 1);
    disk.set_capacity(None);
    core.prepare();
    core.maintain(Timestamp(2));
    core.close();
    drop(core);
    let (core, _) = open_core(Arc::new(disk), options(), Box::new(|_| {}), Omitted::default()).unwrap();
    assert_eq!(
        core.read(FAST, EntryId::START, limit).unwrap().deliveries.len(),
        0
    );
}

#[test]
fn a_slow_cursor_pins_its_own_entries_only() {
    let disk = SimDisk::new();
    let (core, _) = open_core(
        Arc::new(disk.clone()),
        options(),
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap();
    let mut slow = Vec::new();
    for round in 0..3_000 {
        core.prepare();
        let lane = if round % 100 == 0 { SLOW } else { FAST };
        let appended = core.append(&mut batch(lane)).unwrap();
        core.commit();
        match lane {
            SLOW => slow.push(EntryId {
                sequence: appended.first,
                index: 0,
            }),
            _ => assert_eq!(core.ack(&[Ack::all(FAST)]), 1),
        }
        core.clean().unwrap();
    }
    // 1.7 MB were appended; 30 entries of 0.5 KB are pending.
    assert!(disk.used() < 100 << 10, "{} bytes on the disk", disk.used());
    let limit = ReadLimit {
        entries: 1_000,
        bytes: usize::MAX,
    };
    let read: Vec<_> = core.read(SLOW, EntryId::START, limit).unwrap().deliveries;
    assert_eq!(
        read.iter().map(|one| one.entry).collect::<Vec<_>>(),
        slow,
        "identities are kept"
    );
}
