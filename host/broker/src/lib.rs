//! The broker process.
