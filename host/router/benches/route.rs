//! Time to find who gets a message, by number of filters; and to change the filter map.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // criterion's macros; all texts are valid

mod common;

use std::collections::HashMap;
use std::hint::black_box;

use common::{SHAPES, Shape, topics};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tidegate_codec::TopicFilter;
use tidegate_router::WorkerId;

const SIZES: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// What one lookup of a whole text costs at that size: the measure for all that follows.
fn hash_map(c: &mut Criterion) {
    let mut group = c.benchmark_group("std_hash_map");
    for size in SIZES {
        let map: HashMap<String, usize> = (0..size)
            .map(|device| ((SHAPES[0].filter)(device), device))
            .collect();
        let topics = topics(size);
        let mut next = topics.iter().cycle();
        group.bench_function(BenchmarkId::new("exact", size), |b| {
            b.iter(|| black_box(map.get(next.next().unwrap().as_str())));
        });
    }
}

fn subscriptions(c: &mut Criterion) {
    let mut group = c.benchmark_group("subscription_trie");
    for (shape, size) in cases() {
        let trie = shape.trie(size);
        let topics = topics(size);
        let mut next = topics.iter().cycle();
        group.bench_function(BenchmarkId::new(shape.name, size), |b| {
            b.iter(|| {
                let mut found = 0;
                trie.matches(next.next().unwrap(), &mut |key, _| found += key);
                black_box(found)
            });
        });
    }
}

fn workers(c: &mut Criterion) {
    let mut group = c.benchmark_group("filter_map");
    for (shape, size) in cases() {
        let map = shape.map(size);
        let topics = topics(size);
        let mut next = topics.iter().cycle();
        group.bench_function(BenchmarkId::new(shape.name, size), |b| {
            b.iter(|| black_box(map.workers(next.next().unwrap())));
        });
    }
}

/// A filter added to a map that readers hold, and so copied on the way.
fn changes(c: &mut Criterion) {
    let mut group = c.benchmark_group("filter_map_with");
    let worker = WorkerId::new(0).unwrap();
    for (shape, size) in cases().filter(|(_, size)| *size >= 10_000) {
        let map = shape.map(size);
        let added: Vec<_> = (size..size + 1_000)
            .map(|device| TopicFilter::new(&(shape.filter)(device)).unwrap())
            .collect();
        let mut next = added.iter().cycle();
        group.bench_function(BenchmarkId::new(shape.name, size), |b| {
            b.iter(|| black_box(map.with(next.next().unwrap(), worker)));
        });
    }
}

fn cases() -> impl Iterator<Item = (Shape, usize)> {
    SHAPES
        .into_iter()
        .flat_map(|shape| SIZES.map(|size| (shape, size)))
}

criterion_group!(benches, hash_map, subscriptions, workers, changes);
criterion_main!(benches);
