//! What is shown of a run: while it goes on, as lines of JSON, as a page, and in RESULTS.md.

pub mod chart;
pub mod format;
pub mod html;
pub mod markdown;
pub mod model;
pub mod screen;

pub use model::{Chart, Report, Series, Server, Table};
pub use screen::Screen;
