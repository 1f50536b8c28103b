//! How long a session is kept without a link (3.1.2.11.2).
//!
//! Deliberately does not: expire messages; that is `outgoing.rs`.

use std::time::Duration;

use tidegate_codec::{Connect, Version};

use crate::{Limits, Time};

/// Session Expiry Interval in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionExpiry(pub(crate) u32);

impl SessionExpiry {
    /// The session ends with its link.
    pub(crate) const WITH_LINK: Self = Self(0);
    /// 0xFFFFFFFF: the session does not expire.
    pub(crate) const NEVER: Self = Self(u32::MAX);

    /// What a CONNECT asks for. In 3.1.1 Clean Session decides [MQTT-3.1.2-6 of 3.1.1].
    pub(crate) fn asked(connect: &Connect) -> Self {
        match connect.version {
            Version::V5 => Self(connect.properties.session_expiry_interval().unwrap_or(0)),
            Version::V311 if connect.clean_start => Self::WITH_LINK,
            Version::V311 => Self::NEVER,
        }
    }

    /// The same, but not over the server's own limit.
    pub(crate) fn granted(self, limits: &Limits) -> Self {
        let max = limits.session_expiry_max.map_or(u64::MAX, |max| max.as_secs());
        Self(u32::try_from(max).unwrap_or(u32::MAX).min(self.0))
    }

    /// When a session that lost its link at `now` ends; `None` is never.
    pub(crate) fn ends(self, now: Time) -> Option<Time> {
        (self != Self::NEVER).then(|| now + Duration::from_secs(u64::from(self.0)))
    }
}
