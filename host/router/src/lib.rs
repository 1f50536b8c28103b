//! Topic tries and the shared filter map: pure data structures.
