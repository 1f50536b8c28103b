//! Durations and sizes as text with a unit, so that no number in a file is a riddle.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};

/// A duration such as `"500us"`, `"5ms"`, `"30s"`, `"5m"`, `"1h"` or `"7d"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A size in bytes such as `"512B"`, `"16KiB"`, `"1MiB"` or `"2GiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// Splits `"30s"` into its number and its unit.
fn split(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim_start()))
}

impl Span {
    /// Reads the text form; `"0"` alone is zero.
    pub fn parse(text: &str) -> Result<Self, String> {
        let told = || {
            format!(
                "\"{text}\" is not a duration: write a whole number with us, ms, s, m, h or d, as in \"30s\""
            )
        };
        if text == "0" {
            return Ok(Self(Duration::ZERO));
        }
        let (number, unit) = split(text).ok_or_else(told)?;
        let micros: u64 = match unit {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" => 60_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => return Err(told()),
        };
        number
            .checked_mul(micros)
            .map(Duration::from_micros)
            .map(Self)
            .ok_or_else(told)
    }
}

impl Size {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let told = || {
            format!("\"{text}\" is not a size: write a whole number with B, KiB, MiB or GiB, as in \"1MiB\"")
        };
        let (number, unit) = split(text).ok_or_else(told)?;
        let factor: u64 = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(told()),
        };
        number.checked_mul(factor).map(Self).ok_or_else(told)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_need_their_unit() {
        assert_eq!(Span::parse("500us"), Ok(Span(Duration::from_micros(500))));
        assert_eq!(Span::parse("2m"), Ok(Span(Duration::from_secs(120))));
        assert_eq!(Size::parse("16KiB"), Ok(Size(16_384)));
        for bad in ["30", "s", "", "3 weeks", "99999999999999999999s", "-1s"] {
            assert!(Span::parse(bad).is_err(), "{bad}");
        }
        for bad in ["1", "1KB", "MiB", "99999999999999GiB"] {
            assert!(Size::parse(bad).is_err(), "{bad}");
        }
    }
}
