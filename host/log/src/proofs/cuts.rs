//! The power cut at every single disk operation of a life that has all of them in it.

use super::action::Action;
use super::world::World;
use crate::frame::Checksum;
use crate::step::Omitted;

/// Appends, commits, rotations, cleanings and restarts.
fn life() -> Vec<Action> {
    let mut actions = Vec::new();
    for round in 0..12u8 {
        actions.push(Action::Prepare);
        for size in [0u16, 200, 900, 1400] {
            actions.push(Action::Append(
                vec![(1 << (round % 5), size, round), (16, 40, 0)],
                None,
            ));
            actions.push(Action::Append(vec![(7, 300, 255)], Some((round, 3))));
        }
        actions.push(Action::Commit);
        actions.push(Action::AckThrough(round, 200));
        actions.push(Action::AckAll(round + 1));
        actions.push(Action::Commit);
        actions.push(Action::Clean);
        if round % 4 == 3 {
            actions.push(Action::Reopen);
        }
    }
    actions
}

#[test]
fn no_cut_between_two_operations_breaks_a_promise() {
    let proof: (Omitted, fn(u32) -> Checksum) = (Omitted::default(), Checksum::new);
    let whole = World::new(proof);
    let disk = whole.disk.clone();
    let begun = disk.operations();
    whole.run(&life()).unwrap();
    let operations = disk.operations() - begun;
    assert!(operations > 100, "only {operations} operations");
    for operation in 0..operations {
        for seed in 0..2 {
            let mut world = World::new(proof);
            world.disk.cut_at(world.disk.operations() + operation);
            let result = world
                .live(&life())
                .and_then(|()| world.crash(seed, Some(operation as u8 % 16)));
            result
                .unwrap_or_else(|violation| panic!("cut at operation {operation}, seed {seed}: {violation}"));
            let case = ((operation % 6) as u8, seed);
            let result = killed_at(operation, case, Omitted::default());
            result.unwrap_or_else(|violation| panic!("killed at {operation}, {case:?}: {violation}"));
        }
    }
}

/// A life whose process dies before disk operation `operation`. The power is cut so many operations into the recovery,
/// and the seed decides what that keeps.
pub(super) fn killed_at(operation: u64, cut: (u8, u64), omitted: Omitted) -> Result<(), String> {
    let mut world = World::new((omitted, Checksum::new));
    world.disk.cut_at(world.disk.operations() + operation);
    world.live(&life())?;
    world.kill(Some(cut))
}
