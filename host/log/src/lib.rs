//! The write-ahead log of a node.
