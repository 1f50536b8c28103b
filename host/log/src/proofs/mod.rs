//! The log's promises, tried on the simulated disk, and the proof that these tests notice when a step is missing.

mod action;
mod corruption;
mod crash;
mod cuts;
mod expiry;
mod omitted;
mod reference;
mod room;
mod world;
