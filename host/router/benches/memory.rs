//! Resident memory per filter of a subscription trie and of a filter map with a million filters. Linux only.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a bench: its output is the figure

mod common;

use common::{SHAPES, topics};

const FILTERS: usize = 1_000_000;

fn main() {
    println!("bytes per filter, {FILTERS} filters with one subscriber each");
    let mut kept = Vec::new(); // freed memory would be used again and not be counted
    for shape in SHAPES {
        let (trie, trie_bytes) = grown_by(|| shape.trie(FILTERS));
        let (map, map_bytes) = grown_by(|| shape.map(FILTERS));
        let name = topics(FILTERS).swap_remove(0);
        let mut found = 0;
        trie.matches(&name, &mut |_, _| found += 1);
        assert!(found == 1 && map.workers(&name).len() == 1);
        println!(
            "{:<6} trie {:>4}   filter map {:>4}",
            shape.name,
            trie_bytes / FILTERS,
            map_bytes / FILTERS
        );
        kept.push((trie, map));
    }
}

/// What `build` returns and by how much the process has grown with it.
fn grown_by<T>(build: impl FnOnce() -> T) -> (T, usize) {
    let before = resident();
    let built = build();
    (built, resident().saturating_sub(before))
}

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}
