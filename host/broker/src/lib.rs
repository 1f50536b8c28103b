//! The broker process: workers and their tick, the pipeline of a message, admin API, configuration, command line.
//!
//! Owns every socket, thread and clock of the node. The walk of one PUBLISH is described in `host/ARCHITECTURE.md`.

pub mod config;
mod admin;
mod modules;
mod pipeline;
mod telemetry;
mod worker;
