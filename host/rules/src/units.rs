//! Sizes and durations with units, as people write them: `"16MiB"`, `"5ms"`. Knows nothing of manifests.

use std::time::Duration;

/// Bytes of a text such as `"64KiB"` or `"16MiB"`.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text)?;
    let factor: u64 = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => {
            return Err(format!(
                "`{text}` is no size: write for example \"512KiB\" or \"16MiB\""
            ));
        }
    };
    number
        .checked_mul(factor)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| format!("`{text}` is too large"))
}

/// Duration of a text such as `"5ms"` or `"1s"`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    match unit {
        "us" => Ok(Duration::from_micros(number)),
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        _ => Err(format!(
            "`{text}` is no duration: write for example \"5ms\" or \"1s\""
        )),
    }
}

fn split(text: &str) -> Result<(u64, &str), String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let number = number
        .parse()
        .map_err(|_| format!("`{text}` must be a whole number and a unit, such as \"16MiB\" or \"5ms\""))?;
    Ok((number, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_need_units() {
        assert_eq!(bytes("16MiB"), Ok(16 << 20));
        assert_eq!(bytes("512 KiB"), Ok(512 << 10));
        assert_eq!(duration("5ms"), Ok(Duration::from_millis(5)));
        assert_eq!(duration("250us"), Ok(Duration::from_micros(250)));
        for bad in [
            "",
            "16",
            "MiB",
            "1.5MiB",
            "16MB",
            "-1KiB",
            "99999999999GiB",
            "18446744073709551616B",
        ] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
        for bad in ["", "5", "ms", "5m", "1h", "-5ms"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
