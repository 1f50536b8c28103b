//! A reading as a station sends it.
//!
//! Invariant: what [`Reading::station`] gives is one level of a topic.

use std::borrow::Cow;

use serde::Deserialize;
use tidegate::Error;

/// `{"station": "seattle", "time": "2010-01-01T01:00-08:00", "temperature": 39.2, "unit": "F"}`; more keys are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Reading<'a> {
    #[serde(borrow)]
    station: Cow<'a, str>,
    /// When it was measured, as the station writes it.
    #[serde(borrow)]
    pub time: Cow<'a, str>,
    temperature: f64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Unit {
    #[serde(rename = "C")]
    Celsius,
    #[serde(rename = "F")]
    Fahrenheit,
}

impl Reading<'_> {
    /// Name of the station, fit to stand in a topic.
    ///
    /// # Errors
    /// If it is empty, longer than 64 bytes or made of other than letters, digits, '-', '_' and '.'.
    pub fn station(&self) -> Result<&str, Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match self.station.as_ref() {
            name if (1..=64).contains(&name.len()) && name.bytes().all(fits) => Ok(name),
            name => Err(format!("station {name:?} is not 1 to 64 of: letters, digits, '-', '_', '.'").into()),
        }
    }

    /// Temperature in degrees Celsius, to the hundredth.
    pub fn celsius(&self) -> f64 {
        let celsius = match self.unit {
            Unit::Celsius => self.temperature,
            Unit::Fahrenheit => (self.temperature - 32.0) / 1.8,
        };
        (celsius * 100.0).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::Reading;

    fn reading(station: &str, temperature: f64, unit: &str) -> Reading<'static> {
        let json =
            serde_json::json!({ "station": station, "time": "t", "temperature": temperature, "unit": unit });
        let text: &'static str = json.to_string().leak();
        serde_json::from_str(text).expect("a reading")
    }

    #[test]
    fn fahrenheit_becomes_celsius_to_the_hundredth() {
        for (fahrenheit, celsius) in [
            (32.0, 0.0),
            (39.2, 4.0),
            (38.9, 3.83),
            (-40.0, -40.0),
            (75.9, 24.39),
        ] {
            assert_eq!(
                reading("a", fahrenheit, "F").celsius(),
                celsius,
                "{fahrenheit} °F"
            );
        }
        assert_eq!(reading("a", 21.456, "C").celsius(), 21.46);
    }

    #[test]
    fn only_names_that_are_one_topic_level_are_stations() {
        let long = "x".repeat(65);
        for (name, accepted) in [
            ("sea-tac_1.b", true),
            ("", false),
            ("a/b", false),
            ("+", false),
            ("#", false),
            (long.as_str(), false),
        ] {
            assert_eq!(reading(name, 1.0, "C").station().is_ok(), accepted, "{name:?}");
        }
    }
}
