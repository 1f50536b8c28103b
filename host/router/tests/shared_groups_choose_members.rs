//! Each strategy chooses an eligible member whenever there is one, and in its own way.

#![allow(clippy::expect_used)] // outside test functions too

mod common;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU8;

use common::filter;
use proptest::prelude::*;
use tidegate_router::{Draw, GroupId, ShareGroups, Strategy, WorkerId, share_owner};

const STRATEGIES: [Strategy; 5] = [
    Strategy::RoundRobin,
    Strategy::Random,
    Strategy::Sticky,
    Strategy::HashClient,
    Strategy::HashTopic,
];

fn draw(random: u64) -> Draw<'static> {
    Draw {
        random,
        client: "c",
        topic: "t",
    }
}

/// A well-mixed sequence of 64-bit numbers.
fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB) ^ mixed >> 31
}

fn group_of(strategy: Strategy, members: u32) -> (ShareGroups<u32, ()>, GroupId) {
    let mut groups = ShareGroups::new(strategy);
    let group = groups
        .join(&filter("$share/g/a/+"), 0, ())
        .expect("a shared filter")
        .group;
    for member in 1..members {
        groups.join(&filter("$share/g/a/+"), member, ());
    }
    (groups, group)
}

fn counts(chosen: impl Iterator<Item = u32>) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    chosen.for_each(|member| *counts.entry(member).or_default() += 1);
    counts
}

#[test]
fn joining_and_leaving_say_when_a_group_begins_and_ends() {
    let mut groups = ShareGroups::new(Strategy::default());
    let (one, other_name) = (filter("$share/one/a/+"), filter("$share/two/a/+"));
    assert_eq!(
        groups.join(&filter("a/+"), 1_u32, 'x'),
        None,
        "not a shared subscription"
    );
    let joined = groups.join(&one, 1, 'x').unwrap();
    assert!(joined.created && joined.replaced.is_none());
    let again = groups.join(&one, 1, 'y').unwrap();
    assert!(!again.created && again.replaced == Some('x') && again.group == joined.group);
    assert!(!groups.join(&one, 2, 'z').unwrap().created);
    assert_ne!(
        groups.join(&other_name, 1, 'x').unwrap().group,
        joined.group,
        "NAME is part of the group"
    );
    assert_eq!(groups.filter(joined.group), Some(&one));
    assert_eq!(
        groups
            .members(joined.group)
            .map(|(member, _)| member)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(groups.len(), 2);

    assert_eq!(groups.leave(&one, 3), None);
    assert_eq!(
        groups.leave(&one, 1).map(|left| (left.ended, left.value)),
        Some((false, 'y'))
    );
    assert_eq!(
        groups.leave(&one, 2).map(|left| (left.ended, left.value)),
        Some((true, 'z'))
    );
    assert_eq!(
        (
            groups.find(&one),
            groups.choose(joined.group, &draw(0), |_, _| true)
        ),
        (None, None)
    );
    assert_eq!(
        groups.iter().map(|(_, filter)| filter).collect::<Vec<_>>(),
        [&other_name]
    );
}

#[test]
fn round_robin_is_even_and_passes_over_the_ineligible() {
    let (mut groups, group) = group_of(Strategy::RoundRobin, 5);
    let mut turns = |count, skip| {
        let turn = |_| {
            groups
                .choose(group, &draw(0), |member, ()| Some(member) != skip)
                .unwrap()
                .0
        };
        (0..count).map(turn).collect::<Vec<_>>()
    };
    assert_eq!(turns(7, None), [0, 1, 2, 3, 4, 0, 1]);
    assert_eq!(turns(5, Some(3)), [2, 4, 0, 1, 2]);
    assert_eq!(
        counts(turns(500, None).into_iter()),
        BTreeMap::from([(0, 100), (1, 100), (2, 100), (3, 100), (4, 100)])
    );
}

#[test]
fn random_gives_every_eligible_member_the_same_chance() {
    let (mut groups, group) = group_of(Strategy::Random, 8);
    let chosen = (0..40_000).map(|draws| {
        groups
            .choose(group, &draw(mix(draws)), |member, ()| member < 5)
            .unwrap()
            .0
    });
    let counts = counts(chosen);
    assert_eq!(counts.len(), 5);
    assert!(
        counts.values().all(|count| (7_500..8_500).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn sticky_keeps_its_member_until_it_leaves_or_is_not_eligible() {
    let (mut groups, group) = group_of(Strategy::Sticky, 4);
    let choose = |groups: &mut ShareGroups<u32, ()>, skip| {
        groups
            .choose(group, &draw(0), |member, ()| Some(member) != skip)
            .unwrap()
            .0
    };
    let first = choose(&mut groups, None);
    assert!((0..10).all(|_| choose(&mut groups, None) == first));
    let second = choose(&mut groups, Some(first));
    assert_ne!(second, first);
    assert_eq!(choose(&mut groups, None), second, "the first does not come back");
    groups.leave(&filter("$share/g/a/+"), second);
    let third = choose(&mut groups, None);
    assert_ne!(third, second);
    assert_eq!(choose(&mut groups, None), third);
}

#[test]
fn hash_strategies_move_only_what_they_must() {
    for strategy in [Strategy::HashClient, Strategy::HashTopic] {
        let (mut groups, group) = group_of(strategy, 10);
        let keys: Vec<String> = (0..2_000).map(|number| format!("key-{number}")).collect();
        let place = |groups: &mut ShareGroups<u32, ()>, eligible: fn(u32) -> bool| -> HashMap<String, u32> {
            let mut choose = |key: &str| {
                let (client, topic) = if strategy == Strategy::HashClient {
                    (key, "t")
                } else {
                    ("c", key)
                };
                let draw = Draw {
                    random: 0,
                    client,
                    topic,
                };
                groups
                    .choose(group, &draw, |member, ()| eligible(member))
                    .unwrap()
                    .0
            };
            keys.iter().map(|key| (key.clone(), choose(key))).collect()
        };
        let before = place(&mut groups, |_| true);
        let counts = counts(before.values().copied());
        assert!(
            counts.len() == 10 && counts.values().all(|count| (120..300).contains(count)),
            "{counts:?}"
        );
        let away = place(&mut groups, |member| member != 3);
        let back = place(&mut groups, |_| true);
        groups.leave(&filter("$share/g/a/+"), 3);
        let left = place(&mut groups, |_| true);
        assert_eq!(before, back);
        assert_eq!(away, left);
        for (key, member) in &before {
            assert!(
                away[key] != 3 && (*member == 3 || away[key] == *member),
                "{key} moved without need"
            );
        }
    }
}

proptest! {
    #[test]
    fn every_strategy_chooses_an_eligible_member_if_there_is_one(
        steps in proptest::collection::vec((any::<bool>(), 0..24_u32, any::<u64>(), any::<u32>()), 1..200),
    ) {
        for strategy in STRATEGIES {
            let mut groups = ShareGroups::new(strategy);
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            let filter = filter("$share/g/a");
            for (join, member, random, mask) in &steps {
                match join {
                    true => prop_assert_eq!(groups.join(&filter, *member, *random).unwrap().replaced, model.insert(*member, *random)),
                    false => prop_assert_eq!(groups.leave(&filter, *member).map(|left| left.value), model.remove(member)),
                }
                let Some(group) = groups.find(&filter) else {
                    prop_assert!(model.is_empty());
                    continue;
                };
                let eligible = |member: u32| mask >> member & 1 == 1;
                let expected = model.keys().any(|member| eligible(*member));
                let chosen = groups.choose(group, &draw(*random), |member, _| eligible(member));
                prop_assert_eq!(chosen.is_some(), expected, "{:?}", strategy);
                if let Some((member, value)) = chosen {
                    prop_assert!(eligible(member) && model.get(&member) == Some(value));
                }
            }
        }
    }
}

#[test]
fn groups_are_spread_over_the_workers() {
    let workers = NonZeroU8::new(4).unwrap();
    let owners =
        (0..4_000).map(|number| share_owner(&filter(&format!("$share/g{number}/a")), workers).index() as u32);
    let counts = counts(owners);
    assert!(
        counts.len() == 4 && counts.values().all(|count| (850..1_150).contains(count)),
        "{counts:?}"
    );
    let name = filter("$share/g/a/#");
    assert_eq!(share_owner(&name, workers), share_owner(&name, workers));
    assert_eq!(share_owner(&name, NonZeroU8::MIN), WorkerId::new(0).unwrap());
    assert!(share_owner(&name, NonZeroU8::MAX).index() < usize::from(WorkerId::COUNT_MAX));
}
