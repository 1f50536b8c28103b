//! What can happen to a log, as values that proptest can make and shrink.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;

/// An entry: which of the lanes get it, the size of its body, the byte that fills it.
pub(super) type EntryShape = (u8, u16, u8);

/// One step. Numbers that pick something are taken modulo what there is to pick from.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// One append, perhaps with an acknowledgement in the same frame.
    Append(Vec<EntryShape>, Option<(u8, u8)>),
    Commit,
    Prepare,
    Clean,
    AckOne(u8, u8),
    AckThrough(u8, u8),
    AckAll(u8),
    /// A limit of so many bytes for one cursor.
    Expire(u8, u16),
    /// An orderly end and a new beginning.
    Reopen,
    /// The process is killed, perhaps where [`Action::CutIn`] stopped it; the system keeps what it was given.
    Kill,
    /// A crash, and perhaps another one so many disk operations into the recovery.
    Crash(u64, Option<u8>),
    /// A power cut so many disk operations ahead, and the crash that follows when the actions are over.
    CutIn(u8),
    /// Every fsync fails from now on, until the crash.
    FailSyncs(u64),
    /// The disk is full, or not.
    Full(bool),
}

pub(super) fn actions(most: usize) -> impl Strategy<Value = Vec<Action>> {
    vec(action(), 1..most)
}

fn action() -> impl Strategy<Value = Action> {
    let entry = (1u8..32, prop_oneof![3 => 0u16..300, 1 => 0u16..1500], any::<u8>());
    prop_oneof![
        20 => (vec(entry, 0..4), option::weighted(0.2, any::<(u8, u8)>()))
            .prop_map(|(entries, ack)| Action::Append(entries, ack)),
        12 => Just(Action::Commit),
        6 => Just(Action::Prepare),
        6 => Just(Action::Clean),
        4 => any::<(u8, u8)>().prop_map(|(lane, pick)| Action::AckOne(lane, pick)),
        6 => any::<(u8, u8)>().prop_map(|(lane, pick)| Action::AckThrough(lane, pick)),
        3 => any::<u8>().prop_map(Action::AckAll),
        1 => (any::<u8>(), 0u16..4000).prop_map(|(lane, bytes)| Action::Expire(lane, bytes)),
        1 => Just(Action::Reopen),
        1 => Just(Action::Kill),
        2 => (any::<u64>(), option::weighted(0.5, 0u8..12)).prop_map(|(seed, cut)| Action::Crash(seed, cut)),
        2 => (0u8..16).prop_map(Action::CutIn),
        1 => any::<u64>().prop_map(Action::FailSyncs),
        1 => any::<bool>().prop_map(Action::Full),
    ]
}
