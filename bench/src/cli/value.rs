//! Values of arguments that clap does not know by itself.

use std::net::IpAddr;
use std::time::Duration;

use tidegate_codec::{QoS, Version};

/// `10s`, `500ms`, `30m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write 10s, 500ms or 30m"))
}

/// `0`, `1` or `2`.
pub fn qos(text: &str) -> Result<QoS, String> {
    let bits = text.parse().ok().filter(|bits| *bits <= 2);
    bits.and_then(QoS::from_bits)
        .ok_or_else(|| "QoS is 0, 1 or 2".to_owned())
}

/// `3.1.1` or `5`.
pub fn version(text: &str) -> Result<Version, String> {
    match text {
        "3.1.1" | "4" => Ok(Version::V311),
        "5" | "5.0" => Ok(Version::V5),
        _ => Err("the protocol version is 3.1.1 or 5".to_owned()),
    }
}

/// One address, or `FIRST-LAST`.
pub fn addresses(text: &str) -> Result<Addresses, String> {
    let parse = |text: &str| {
        text.trim()
            .parse::<IpAddr>()
            .map_err(|error| format!("{text:?}: {error}"))
    };
    let Some((first, last)) = text.split_once('-') else {
        return Ok(Addresses(vec![parse(text)?]));
    };
    match (parse(first)?, parse(last)?) {
        (IpAddr::V4(first), IpAddr::V4(last)) if first <= last => {
            let addresses = u32::from(first)..=u32::from(last);
            Ok(Addresses(
                addresses
                    .take(65_536)
                    .map(|bits| IpAddr::V4(bits.into()))
                    .collect(),
            ))
        }
        _ => Err("a range goes from a lower to a higher IPv4 address, as in 127.0.0.1-127.0.0.9".to_owned()),
    }
}

/// Addresses to connect from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses(pub Vec<IpAddr>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_addresses_are_spelt_out() {
        let addresses = addresses("127.0.0.254-127.0.1.1").unwrap();
        let texts: Vec<String> = addresses.0.iter().map(IpAddr::to_string).collect();
        assert_eq!(texts, ["127.0.0.254", "127.0.0.255", "127.0.1.0", "127.0.1.1"]);
        for text in ["127.0.0.9-127.0.0.1", "x", "::1-::2"] {
            assert!(super::addresses(text).is_err(), "{text}");
        }
    }

    #[test]
    fn protocol_values_are_those_of_the_standard() {
        assert_eq!(qos("2"), Ok(QoS::ExactlyOnce));
        assert!(qos("3").is_err() && qos("x").is_err());
        assert_eq!(
            (version("3.1.1"), version("5")),
            (Ok(Version::V311), Ok(Version::V5))
        );
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
    }
}
