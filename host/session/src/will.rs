//! The will of a client: published unless it said good-bye (3.1.2.5).
//!
//! Invariant: a will is published at most once, and never after it was discarded [MQTT-3.1.2-10].

use std::time::Duration;

use tidegate_codec::{Message, PropertyId, Will};

use crate::Time;

/// A will, and when it is due.
#[derive(Debug)]
pub(crate) struct PendingWill {
    message: Message,
    /// Will Delay Interval (3.1.3.2.2).
    delay: Duration,
    /// Set when the link is lost.
    due: Option<Time>,
}

impl PendingWill {
    /// The will of a CONNECT, in memory of its own: it must not keep a read buffer alive for as long as the link.
    pub(crate) fn new(will: &Will) -> Self {
        let delay = will.message.properties.will_delay_interval().unwrap_or(0);
        let mut message = will.message.detached();
        message.properties = message.properties.without(&[PropertyId::WillDelayInterval]);
        Self {
            message,
            delay: Duration::from_secs(u64::from(delay)),
            due: None,
        }
    }

    /// After a restart: a will of a link that is gone.
    pub(crate) fn restore(message: Message, due: Time) -> Self {
        Self {
            message,
            delay: Duration::ZERO,
            due: Some(due),
        }
    }

    /// The link is gone: due after the delay. A session that ends before publishes it then [MQTT-3.1.2-8].
    pub(crate) fn unlink(&mut self, now: Time) {
        self.due = Some(now + self.delay);
    }

    /// When to publish; `None` while there is a link.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// The message to publish.
    pub(crate) fn into_message(self) -> Message {
        self.message
    }
}
