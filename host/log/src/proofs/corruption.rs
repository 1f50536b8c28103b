//! Bytes that rot anywhere: noticed, located, and no dearer than the record they are in.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, prop_assert_eq, proptest};

use crate::disk::sim::SimDisk;
use crate::frame::Checksum;
use crate::open::{open_checked, open_core};
use crate::segment::{HEADER_BYTES, name};
use crate::step::Omitted;
use crate::{Batch, CursorId, Entry, EntryId, Options, ReadLimit, Recovery, Timestamp, inspect_disk};

const CURSOR: CursorId = CursorId(4);
const APPENDS: u64 = 60;

fn options() -> Options {
    Options {
        segment_bytes: 16 << 10,
        seed: Some(77),
        ..Options::default()
    }
}

/// A log of several segments, closed in order. Returns the bytes of every body.
fn written(disk: &SimDisk) -> Vec<Vec<u8>> {
    let (core, _) = open_core(
        Arc::new(disk.clone()),
        options(),
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap();
    let mut bodies = Vec::new();
    for number in 1..=APPENDS {
        let body = vec![number as u8; 100 + (number as usize * 37) % 900];
        let mut batch = Batch::default();
        batch
            .push(
                Timestamp(number),
                &[Entry {
                    lanes: &[CURSOR],
                    body: &body,
                }],
                &[],
            )
            .unwrap();
        core.prepare();
        core.append(&mut batch).unwrap();
        if number % 3 == 0 {
            core.commit();
        }
        bodies.push(body);
    }
    core.close();
    bodies
}

/// What can be read after a recovery: sequences and bodies.
fn recovered(disk: &SimDisk, checksum: fn(u32) -> Checksum) -> (Vec<(u64, Vec<u8>)>, Recovery) {
    let proof = (Omitted::default(), checksum);
    let (core, report) = open_checked(Arc::new(disk.clone()), options(), Box::new(|_| {}), proof).unwrap();
    let limit = ReadLimit {
        entries: 1_000,
        bytes: usize::MAX,
    };
    let batch = core.read(CURSOR, EntryId::START, limit).unwrap();
    assert!(batch.lost.is_empty(), "{:?}", batch.lost);
    (
        batch
            .deliveries
            .into_iter()
            .map(|one| (one.entry.sequence.0, one.body.to_vec()))
            .collect(),
        report,
    )
}

/// Segments with frames, and where these end.
fn segments(disk: &SimDisk) -> Vec<(u64, u64)> {
    let used = |number| {
        let bytes = disk.bytes(&name(number))?;
        let end = bytes.iter().rposition(|byte| *byte != 0)? as u64 + 1;
        (end > HEADER_BYTES as u64).then_some((number, end))
    };
    (1..100).filter_map(used).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rotten_byte_costs_its_record_and_is_located(pick in any::<u64>(), at in any::<u64>(), bits in 1u8..) {
        let disk = SimDisk::new();
        let bodies = written(&disk);
        let numbers = segments(&disk);
        let (number, used) = numbers[pick as usize % numbers.len()];
        let offset = at % used;
        prop_assert!(disk.corrupt(&name(number), offset, bits));

        let mut text = Vec::new();
        inspect_disk(Arc::new(disk.clone()), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (found, report) = recovered(&disk, Checksum::new);

        let kept: BTreeSet<u64> = found.iter().map(|(sequence, _)| *sequence).collect();
        let lost: Vec<u64> = (1..=APPENDS).filter(|sequence| !kept.contains(sequence)).collect();
        prop_assert!(lost.len() <= 1, "lost {:?}", lost);
        for (sequence, body) in &found {
            prop_assert_eq!(body, &bodies[*sequence as usize - 1]);
        }
        // The very last mark may be what was hit: then the end is cut there, and nothing is missing.
        match (report.damage.as_slice(), report.torn) {
            ([damage], None) => {
                prop_assert_eq!(damage.segment, number);
                prop_assert!(damage.offset <= offset && offset < damage.offset + damage.bytes, "{}", damage);
                let told: Vec<u64> = damage.lost.map(|(first, last)| (first.0..=last.0).collect()).unwrap_or_default();
                prop_assert_eq!(lost, told);
                let line = format!("damage: segment {number} at offset {}", damage.offset);
                prop_assert!(text.contains(&line), "{}", text);
            }
            ([], Some(torn)) => {
                prop_assert_eq!(torn.segment, number);
                prop_assert!(lost.is_empty() && text.contains("torn tail"));
            }
            other => prop_assert!(false, "{:?} for byte {} of {}", other, offset, used),
        }
    }
}

#[test]
fn without_checksums_rot_goes_unnoticed() {
    let disk = SimDisk::new();
    let bodies = written(&disk);
    disk.corrupt(&name(1), HEADER_BYTES as u64 + 80, 1);
    let (found, _) = recovered(&disk, |seed| Checksum { seed, ignored: true });
    assert_ne!(found[0].1, bodies[0], "the proof above rests on the checksum");
}

#[test]
fn a_frame_inside_a_body_is_never_taken_for_one() {
    let disk = SimDisk::new();
    let other = SimDisk::new();
    written(&other);
    // A body that is a whole segment of frames: another log's, so with another seed, and this log's record is damaged.
    let stranger = other.bytes(&name(1)).unwrap()[HEADER_BYTES..HEADER_BYTES + 8_000].to_vec();
    let mine = Options {
        seed: Some(78),
        ..options()
    };
    let (core, _) = open_core(Arc::new(disk.clone()), mine, Box::new(|_| {}), Omitted::default()).unwrap();
    for body in [&stranger[..], b"next"] {
        let mut batch = Batch::default();
        batch
            .push(
                Timestamp(1),
                &[Entry {
                    lanes: &[CURSOR],
                    body,
                }],
                &[],
            )
            .unwrap();
        core.append(&mut batch).unwrap();
    }
    core.close();
    disk.corrupt(&name(1), HEADER_BYTES as u64 + 30, 1);
    let (found, report) = recovered(&disk, Checksum::new);
    assert_eq!(found, [(2, b"next".to_vec())]);
    assert_eq!(report.damage.len(), 1);
}

#[test]
fn rot_under_an_open_log_is_told_by_entry_and_place() {
    let disk = SimDisk::new();
    let bodies = written(&disk);
    let (core, _) = open_core(
        Arc::new(disk.clone()),
        options(),
        Box::new(|_| {}),
        Omitted::default(),
    )
    .unwrap();
    disk.corrupt(&name(1), HEADER_BYTES as u64 + 70, 1);
    let limit = ReadLimit {
        entries: 5,
        bytes: usize::MAX,
    };
    let batch = core.read(CURSOR, EntryId::START, limit).unwrap();
    assert_eq!(batch.lost.len(), 1);
    assert_eq!(batch.lost[0].entry, EntryId::new(1, 0));
    assert_eq!(
        (batch.lost[0].damage.segment, batch.lost[0].damage.offset),
        (1, HEADER_BYTES as u64)
    );
    let read: Vec<_> = batch.deliveries.iter().map(|one| one.body.to_vec()).collect();
    assert_eq!(read, bodies[1..5]);
}
