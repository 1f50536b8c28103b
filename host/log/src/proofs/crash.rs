//! Random lives of a log, with crashes at any point, against the reference.

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::action::actions;
use super::world::World;
use crate::frame::Checksum;
use crate::step::Omitted;

/// Lives tried in a test run; `TIDEGATE_LOG_LIVES` asks for more.
const LIVES: u32 = 400;

/// Tries `lives` random lives of a log from `seed` on. The error is the smallest failing one.
pub(super) fn try_lives(seed: u64, lives: u32, proof: (Omitted, fn(u32) -> Checksum)) -> Result<(), String> {
    // Where a failure is what is asked for, nobody reads it.
    let sound = proof.0.step.is_none();
    let max_shrink_iters = if sound { 2_000 } else { 0 };
    let config = Config {
        cases: lives,
        failure_persistence: None,
        max_shrink_iters,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let run = runner.run(&actions(120), |actions| {
        World::new(proof)
            .run(&actions)
            .map_err(proptest::test_runner::TestCaseError::fail)
    });
    run.map_err(|failure| failure.to_string())
}

/// The seed of this run: `TIDEGATE_SEED`, or a new one.
fn seed() -> u64 {
    let given = std::env::var("TIDEGATE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| {
        std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id())
    });
    println!("TIDEGATE_SEED={seed}");
    seed
}

#[test]
fn no_life_of_a_log_breaks_a_promise() {
    let lives = std::env::var("TIDEGATE_LOG_LIVES")
        .ok()
        .and_then(|lives| lives.parse().ok())
        .unwrap_or(LIVES);
    let result = try_lives(seed(), lives, (Omitted::default(), Checksum::new));
    assert_eq!(result, Ok(()));
}
