//! What the tests of whole runs share: a short plan.

use std::net::SocketAddr;
use std::time::Duration;

use tidegate_bench::load::LoadPlan;

/// A load that takes a fraction of a second.
pub fn short(target: SocketAddr) -> LoadPlan {
    let mut plan = LoadPlan::new(target);
    plan.settle = Duration::ZERO;
    plan.warm_up = Duration::ZERO;
    plan.duration = Duration::from_millis(300);
    plan.interval = Duration::from_millis(100);
    plan.drain = Duration::from_secs(3);
    plan
}
