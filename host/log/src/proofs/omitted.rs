//! The proof that the proofs notice: with any one step left out, some life of a log breaks a promise.

use super::action::Action;
use super::crash::{seed, try_lives};
use super::world::World;
use crate::frame::Checksum;
use crate::step::{Omitted, Step};

/// Lives in which a missing step has to show.
const LIVES: u32 = 20_000;

fn noticed(step: Step) {
    let omitted = Omitted { step: Some(step) };
    let result = try_lives(seed(), LIVES, (omitted, Checksum::new));
    assert!(result.is_err(), "{step:?} was left out and nothing was noticed");
}

#[test]
fn a_missing_fsync_of_frames_is_noticed() {
    noticed(Step::SyncFrames);
}

#[test]
fn a_missing_fsync_of_the_mark_left_behind_is_noticed() {
    // Rare among random lives: a mark has to stand across two sectors, right before a new segment.
    let omitted = Omitted {
        step: Some(Step::SyncLeftMark),
    };
    let mut group = vec![Action::Append(vec![(1, 1400, 1), (1, 1400, 1)], None); 2];
    group.push(Action::Append(vec![(1, 1270, 1)], None));
    group.push(Action::Commit);
    let next = [Action::Append(vec![(1, 1400, 1)], None), Action::Commit];
    let life: Vec<Action> = group
        .into_iter()
        .chain(next.iter().cloned())
        .chain(next.iter().cloned())
        .collect();
    let noticed = |omitted| {
        (0..64).any(|seed| {
            let mut world = World::new((omitted, Checksum::new));
            let lived = world.live(&life);
            lived.and_then(|()| world.crash(seed, None)).is_err()
        })
    };
    assert!(
        noticed(omitted),
        "{omitted:?} was left out and nothing was noticed"
    );
    assert!(!noticed(Omitted::default()));
}

#[test]
fn a_missing_fsync_of_a_prepared_segments_name_is_noticed() {
    noticed(Step::SyncPreparedName);
}

#[test]
fn a_missing_fsync_of_a_cleaned_segment_is_noticed() {
    noticed(Step::SyncCleaned);
}

#[test]
fn a_missing_fsync_of_a_cleaned_segments_name_is_noticed() {
    noticed(Step::SyncCleanedName);
}

#[test]
fn a_missing_fsync_between_removals_is_noticed() {
    noticed(Step::SyncRemoved);
}

#[test]
fn a_missing_fsync_of_what_was_recovered_is_noticed() {
    noticed(Step::SyncRecovered);
}

#[test]
fn a_missing_fsync_of_the_names_found_is_noticed() {
    noticed(Step::SyncNamesFirst);
}

#[test]
fn a_missing_fsync_after_removing_what_was_torn_is_noticed() {
    noticed(Step::SyncCutNames);
}

#[test]
fn a_report_before_the_fsync_is_noticed() {
    noticed(Step::ReportAfterSync);
}

#[test]
fn keeping_frames_behind_a_gap_is_noticed() {
    noticed(Step::CutAtGap);
}

#[test]
fn an_unchecked_checksum_is_noticed() {
    let unchecked = |seed| Checksum { seed, ignored: true };
    let result = try_lives(seed(), LIVES, (Omitted::default(), unchecked));
    assert!(result.is_err(), "checksums were ignored and nothing was noticed");
}
