//! Formats numbers for readers, with at most four digits and a unit.

use super::boot::Unit;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Formats a size in bytes, which is exact below 10,000 bytes.
pub fn bytes_text(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..MIB => format!("{} KiB", format_number(bytes as f64 / KIB as f64)),
        _ => format!("{} MiB", format_number(bytes as f64 / MIB as f64)),
    }
}

/// Formats a time, without the word *instructions*, which the column header or the sentence
/// contains.
pub fn time_text(value: f64, unit: Unit) -> String {
    // The limits are those at which rounding would give 1000 of the smaller unit.
    match (unit, value) {
        (_, 0.0) => "0".to_owned(),
        (Unit::Microseconds, ..999.5) => format!("{} us", format_number(value)),
        (Unit::Microseconds, ..999.5e3) => format!("{} ms", format_number(value / 1e3)),
        (Unit::Microseconds, _) => format!("{} s", format_number(value / 1e6)),
        (Unit::Instructions, ..9999.5) => format!("{value:.0}"),
        (Unit::Instructions, ..999.5e3) => format!("{} k", format_number(value / 1e3)),
        (Unit::Instructions, ..999.5e6) => format!("{} M", format_number(value / 1e6)),
        (Unit::Instructions, _) => format!("{} G", format_number(value / 1e9)),
    }
}

/// Formats a factor, with three significant digits.
pub fn factor_text(factor: f64) -> String {
    format!("{}×", format_number(factor))
}

/// Formats a number with three significant digits, or as a whole number from 100 on. A number that
/// is larger than in any boot becomes a power of ten: Linux can write any number to the log, and
/// the columns must keep their width.
fn format_number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else if value < 9_999.5 {
        format!("{value:.0}")
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_short_and_never_lose_their_unit() {
        for (value, text) in [
            (0.0, "0"),
            (0.4, "0.40 us"),
            (999.0, "999 us"),
            (1_500.0, "1.50 ms"),
            (31_234.0, "31.2 ms"),
            (812_345.0, "812 ms"),
            (999_800.0, "1.00 s"),
            (2_900_000.0, "2.90 s"),
            (9_000e6, "9000 s"),
            (1.8e25, "2e19 s"),
        ] {
            assert_eq!(time_text(value, Unit::Microseconds), text);
        }
        for (value, text) in
            [(9_999.0, "9999"), (12_340.0, "12.3 k"), (999_900.0, "1.00 M"), (4.56e8, "456 M")]
        {
            assert_eq!(time_text(value, Unit::Instructions), text);
        }
        for (value, text) in [
            (700, "700 B"),
            (20_480, "20.0 KiB"),
            (1_048_576, "1.00 MiB"),
            (31_200_000, "29.8 MiB"),
            (u64::MAX, "2e13 MiB"),
        ] {
            assert_eq!(bytes_text(value), text);
        }
        for (value, text) in [(1.0, "1.00×"), (2.345, "2.35×"), (41.26, "41.3×"), (100.4, "100×")]
        {
            assert_eq!(factor_text(value), text);
        }
    }
}
