//! The broker process: workers and their tick, the pipeline of a message, admin API, configuration, command line.
//!
//! Owns every socket, thread and clock of the node. The walk of one PUBLISH is described in `host/ARCHITECTURE.md`.

mod admin;
pub mod cli;
pub mod config;
mod modules;
pub mod node;
mod pipeline;
mod serve;
mod telemetry;
mod worker;
