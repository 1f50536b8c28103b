//! The floor: a server that reads, frames and acknowledges, and nothing else. No routing, no sessions, no checks.
//!
//! What it costs is what the kernel takes for the same traffic, so every broker's figure is given as a ratio to it.
//!
//! ```text
//!   poll -> every ready socket: one read, answers into one buffer -> one write per socket -> poll
//! ```

mod answer;
mod server;

pub use server::{Floor, start};
