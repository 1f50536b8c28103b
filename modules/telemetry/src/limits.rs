//! What is plausible and what is alarming, in degrees Celsius.
//!
//! Invariant: the alarm limits lie in order inside the plausible range; a configuration in which they do not is refused.

use serde::Serialize;
use tidegate::{Config, Error, Settings};

/// The limits of `[config]` in module.toml.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    range_min: f64,
    range_max: f64,
    alarm_below: f64,
    alarm_above: f64,
}

/// What is published to `alarms/<station>`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alarm<'a> {
    station: &'a str,
    time: &'a str,
    celsius: f64,
    alarm: &'static str,
    limit: f64,
}

impl Limits {
    /// Whether a working sensor can have measured this.
    pub fn plausible(&self, celsius: f64) -> bool {
        (self.range_min..=self.range_max).contains(&celsius)
    }

    /// The alarm that a temperature raises, if it does.
    pub fn alarm<'a>(&self, station: &'a str, time: &'a str, celsius: f64) -> Option<Alarm<'a>> {
        let (alarm, limit) = if celsius > self.alarm_above {
            ("hot", self.alarm_above)
        } else if celsius < self.alarm_below {
            ("cold", self.alarm_below)
        } else {
            return None;
        };
        Some(Alarm {
            station,
            time,
            celsius,
            alarm,
            limit,
        })
    }
}

impl Settings for Limits {
    fn from_config(config: &Config) -> Result<Self, Error> {
        let limits = Self {
            range_min: config.parse("range_min")?,
            range_max: config.parse("range_max")?,
            alarm_below: config.parse("alarm_below")?,
            alarm_above: config.parse("alarm_above")?,
        };
        let Self {
            range_min,
            range_max,
            alarm_below,
            alarm_above,
        } = limits;
        // A NaN is in order with nothing, so it is refused here too.
        if range_min <= alarm_below && alarm_below <= alarm_above && alarm_above <= range_max {
            return Ok(limits);
        }
        Err(format!(
            "range_min {range_min}, alarm_below {alarm_below}, alarm_above {alarm_above} and range_max {range_max} \
             must not decrease"
        )
        .into())
    }
}
