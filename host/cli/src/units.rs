//! Formats numbers for people.

pub use hartlock_bundle::units::grouped;

/// Formats a size with a binary unit: exact if it is a multiple of the unit, else with one decimal place.
pub fn size_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

/// Formats a count with its noun: `1` and `one`, or the number and `many`.
pub fn count_text(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_readable() {
        assert_eq!(size_text(0), "0 B");
        assert_eq!(size_text(1023), "1023 B");
        assert_eq!(size_text(81_920), "80 KiB");
        assert_eq!(size_text(1_572_865), "1.5 MiB");
        assert!(size_text(u64::MAX).ends_with(" GiB"));
    }

    #[test]
    fn one_is_no_number_of_many() {
        assert_eq!(count_text(1, "byte", "bytes"), "1 byte");
        assert_eq!(count_text(4096, "byte", "bytes"), "4,096 bytes");
    }
}
