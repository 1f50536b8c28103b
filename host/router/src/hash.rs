//! The hash of text that clients choose: seeded once per process from the operating system.
//!
//! Invariant: all 64 bits are well mixed, so that callers may split a hash into parts.
//! Deliberately does not promise the same values in another process: nothing hashed here is stored or sent.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use foldhash::SharedSeed;
use foldhash::quality::SeedableRandomState;

/// Random from the operating system: foldhash alone would seed from addresses, which a client may learn.
static SEED: LazyLock<SharedSeed> = LazyLock::new(|| SharedSeed::from_u64(RandomState::new().hash_one(0_u8)));

/// Hashes topics, filters and their levels. The same text has the same hash throughout the process.
#[derive(Clone)]
pub(crate) struct TextHash {
    state: SeedableRandomState,
    /// All ones, but for tests that provoke collisions.
    mask: u64,
}

impl TextHash {
    /// The process's own hash.
    pub(crate) fn seeded() -> Self {
        Self {
            state: SeedableRandomState::with_seed(0, &SEED),
            mask: u64::MAX,
        }
    }

    /// A hash that keeps the bits of `mask` alone, so that texts collide.
    #[cfg(test)]
    pub(crate) fn colliding(mask: u64) -> Self {
        Self {
            mask,
            ..Self::seeded()
        }
    }

    /// Of a whole topic or filter.
    pub(crate) fn text(&self, text: &str) -> u64 {
        self.state.hash_one(text) & self.mask
    }

    /// Of the level `level` below the node `parent`.
    pub(crate) fn child(&self, parent: u64, level: &str) -> u64 {
        self.state.hash_one((parent, level)) & self.mask
    }

    /// The state itself, for maps of the standard library.
    pub(crate) fn state(&self) -> &SeedableRandomState {
        &self.state
    }
}
