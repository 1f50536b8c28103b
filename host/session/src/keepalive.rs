//! Keep-alive of a link (3.1.2.10): silence of one and a half intervals ends it [MQTT-3.1.2-22].
//!
//! Deliberately does not: set timers. Who asks for the deadline later than it was armed re-arms it.

use std::time::Duration;

use tidegate_codec::Version;

use crate::{Limits, Time};

/// When the client was last heard, and how long it may be silent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepAlive {
    heard: Time,
    /// Seconds; 0 means that the client may be silent for ever.
    interval: u16,
    /// Whether the link is read at all: silence that the server causes is not the client's.
    reading: bool,
}

impl KeepAlive {
    pub(crate) fn new(interval: u16, now: Time) -> Self {
        Self {
            heard: now,
            interval,
            reading: true,
        }
    }

    /// A packet came.
    pub(crate) fn heard(&mut self, now: Time) {
        self.heard = now;
    }

    /// The link is read from now on, or not.
    pub(crate) fn reading(&mut self, reading: bool, now: Time) {
        self.reading = reading;
        self.heard = now;
    }

    /// When the silence has lasted too long.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let limit = Duration::from_millis(u64::from(self.interval) * 1500);
        (self.interval > 0 && self.reading).then(|| self.heard + limit)
    }
}

/// The interval a client that asks for `asked` seconds has to keep, and whether the server imposes it
/// [MQTT-3.2.2-21]. Version 3.1.1 has no way to tell the client, so there it stays as asked.
pub(crate) fn granted(asked: u16, version: Version, limits: &Limits) -> (u16, bool) {
    match limits.keep_alive_max {
        Some(max) if version == Version::V5 && (asked == 0 || asked > max.get()) => (max.get(), true),
        _ => (asked, false),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    /// [MQTT-3.1.2-22]
    #[test]
    fn the_deadline_is_one_and_a_half_intervals_after_the_last_packet() {
        let mut keep_alive = KeepAlive::new(10, Time(1000));
        assert_eq!(keep_alive.deadline(), Some(Time(16_000)));
        keep_alive.heard(Time(3000));
        assert_eq!(keep_alive.deadline(), Some(Time(18_000)));
        assert_eq!(KeepAlive::new(0, Time(0)).deadline(), None);
    }

    #[test]
    fn it_stands_still_while_the_link_is_not_read() {
        let mut keep_alive = KeepAlive::new(10, Time(0));
        keep_alive.reading(false, Time(5000));
        assert_eq!(keep_alive.deadline(), None);
        keep_alive.reading(true, Time(60_000));
        assert_eq!(keep_alive.deadline(), Some(Time(75_000)));
    }

    #[test]
    fn only_version_5_can_be_told_a_shorter_one() {
        let limits = Limits {
            keep_alive_max: NonZeroU16::new(60),
            ..Limits::default()
        };
        assert_eq!(granted(0, Version::V5, &limits), (60, true));
        assert_eq!(granted(61, Version::V5, &limits), (60, true));
        assert_eq!(granted(60, Version::V5, &limits), (60, false));
        assert_eq!(granted(61, Version::V311, &limits), (61, false));
    }
}
