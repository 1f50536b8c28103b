//! Who gets a message: topic tries, the filter map that workers share, shared groups and retained messages.
//!
//! Owns: the data structures of routing, each usable and tested alone.
//! Invariant: for every structure, what it answers equals what [`TopicFilter::matches`] says of each filter or topic
//! put into it ([`FilterMap`] may, with negligible probability, name a worker too many, never one too few).
//! Deliberately does not: open sockets, start threads, read a clock, draw random numbers, or know what a session is.
//! Keys and values are the caller's.
//!
//! [`TopicFilter::matches`]: tidegate_codec::TopicFilter::matches

#![deny(missing_docs)]

mod hash;
mod index;
mod level;
mod subscribers;
mod walk;

mod exact;
mod trie;
mod wild;

mod filter_map;
mod hash_trie;
mod holders;
mod worker_set;

mod choice;
mod share;

mod retained;
mod retained_cursor;

pub use choice::{Draw, Strategy};
pub use filter_map::FilterMap;
pub use retained::{Retained, RetainedLimits, RetainedStore, SetOutcome, retained_owner};
pub use retained_cursor::{Replay, RetainedCursor};
pub use share::{GroupId, Joined, Left, ShareGroups, share_owner};
pub use trie::SubscriptionTrie;
pub use worker_set::{WorkerId, WorkerSet};
