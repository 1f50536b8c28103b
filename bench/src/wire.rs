//! The few bytes of MQTT that are touched for every message, without building packets.

pub mod publish;
pub mod scan;
pub mod setup;
pub mod stamp;

pub use publish::PublishFrame;
pub use scan::{BadLength, Delivery, Frame, take_frame};
pub use stamp::{Stamp, StampForm, StampPlace};
