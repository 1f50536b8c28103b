//! The proof that the proofs notice: with any one step left out, some life of a log breaks a promise.

use super::action::Action;
use super::crash::try_lives;
use super::cuts::killed_at;
use super::world::World;
use crate::frame::Checksum;
use crate::step::{Omitted, Step};

/// Always the same lives: that these notice is the proof, luck has no part in it.
const SEED: u64 = 1;
/// Lives in which a missing step has to show.
const LIVES: u32 = 20_000;

fn noticed(step: Step) {
    let omitted = Omitted { step: Some(step) };
    let result = try_lives(SEED, LIVES, (omitted, Checksum::new));
    assert!(result.is_err(), "{step:?} was left out and nothing was noticed");
}

#[test]
fn a_missing_fsync_of_frames_is_noticed() {
    noticed(Step::SyncFrames);
}

#[test]
fn a_missing_fsync_of_the_mark_left_behind_is_noticed() {
    // Rare among random lives: the last mark of a segment has to stand across two sectors.
    let life = |size| {
        let large = Action::Append(vec![(1, 1400, 1), (1, 1400, 1)], None);
        let filling = [
            large.clone(),
            large.clone(),
            Action::Append(vec![(1, size, 1)], None),
        ];
        let next = [
            Action::Commit,
            large.clone(),
            Action::Commit,
            large,
            Action::Commit,
        ];
        filling.into_iter().chain(next).collect::<Vec<Action>>()
    };
    let noticed = |omitted| {
        (0..520).step_by(8).any(|size| {
            (0..16).any(|seed| {
                let mut world = World::new((omitted, Checksum::new));
                world
                    .live(&life(size))
                    .and_then(|()| world.crash(seed, None))
                    .is_err()
            })
        })
    };
    assert!(
        noticed(Omitted {
            step: Some(Step::SyncLeftMark)
        }),
        "left out and not noticed"
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
    // The acknowledgements in the second segment end the entries of the first, and both segments go.
    let large = Action::Append(vec![(1, 1400, 1), (1, 1400, 1)], None);
    let round = [
        large.clone(),
        large.clone(),
        large,
        Action::Commit,
        Action::AckAll(0),
        Action::Prepare,
    ];
    let mut life: Vec<Action> = round.iter().chain(&round).chain(&round).cloned().collect();
    life.extend([Action::Commit, Action::Clean, Action::Clean, Action::Clean]);
    let noticed = |omitted| {
        (0..64).any(|seed| {
            let mut world = World::new((omitted, Checksum::new));
            world.live(&life).and_then(|()| world.crash(seed, None)).is_err()
        })
    };
    assert!(
        noticed(Omitted {
            step: Some(Step::SyncRemoved)
        }),
        "left out and not noticed"
    );
    assert!(!noticed(Omitted::default()));
}

#[test]
fn a_missing_fsync_of_what_was_recovered_is_noticed() {
    noticed(Step::SyncRecovered);
}

#[test]
fn a_missing_fsync_of_the_names_found_is_noticed() {
    let omitted = Omitted {
        step: Some(Step::SyncNamesFirst),
    };
    let noticed = (0..400).any(|operation| {
        (0..24).any(|case| killed_at(operation, (case % 6, u64::from(case)), omitted).is_err())
    });
    assert!(noticed, "{omitted:?} was left out and nothing was noticed");
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
    let result = try_lives(SEED, LIVES, (Omitted::default(), unchecked));
    assert!(result.is_err(), "checksums were ignored and nothing was noticed");
}
