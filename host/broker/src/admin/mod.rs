//! The HTTP side: health, metrics, modules and sinks. Runs on its own threads; workers hear of it by letter.
//!
//! Invariant: nothing here runs on a worker's thread, and no request can stop a message.
//! Deliberately does not: decide anything about modules; it calls [`crate::modules`] and tells the result.

mod access;
mod api;
mod health;
mod problem;
mod server;

pub use server::{Node, serve};
