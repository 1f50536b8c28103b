//! Numbers as people read them: three significant digits, and a unit that fits.

/// Three significant digits, and thousands kept apart: `0.48`, `12.3`, `4,660`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "–".to_owned(),
        _ if size >= 100.0 => count(value.round() as u64),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 1.0 || size == 0.0 => trimmed(format!("{value:.2}")),
        _ => trimmed(format!("{value:.3}")),
    }
}

/// A whole number with its thousands kept apart.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time given in microseconds.
pub fn micros(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{} s", number(value / 1e6)),
        _ if value >= 1e3 => format!("{} ms", number(value / 1e3)),
        _ => format!("{} µs", number(value)),
    }
}

/// A time given in microseconds, always in milliseconds.
pub fn millis(value: f64) -> String {
    format!("{} ms", number(value / 1e3))
}

/// An amount of memory.
pub fn bytes(value: f64) -> String {
    match value {
        _ if value >= 1e9 => format!("{} GB", number(value / 1e9)),
        _ if value >= 1e6 => format!("{} MB", number(value / 1e6)),
        _ if value >= 1e4 => format!("{} KB", number(value / 1e3)),
        _ => format!("{} B", number(value)),
    }
}

/// A share, as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let texts = [0.0, 0.4771, 1.0, 2.5, 12.34, 740.2, 4660.4, 1_234_567.0].map(number);
        assert_eq!(
            texts,
            ["0", "0.477", "1", "2.5", "12.3", "740", "4,660", "1,234,567"]
        );
        assert_eq!(number(f64::NAN), "–");
    }

    #[test]
    fn units_fit_the_size() {
        assert_eq!([0.47, 1700.0, 2.5e6].map(micros), ["0.47 µs", "1.7 ms", "2.5 s"]);
        assert_eq!(
            [740.0, 45_000.0, 48.7e9].map(bytes),
            ["740 B", "45.0 KB", "48.7 GB"]
        );
        assert_eq!(percent(0.144), "14.4 %");
        assert_eq!(millis(48.0), "0.048 ms");
    }
}
