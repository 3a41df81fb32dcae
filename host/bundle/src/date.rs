//! Formats dates in bundles for people.

/// Formats seconds since 1970-01-01 as a date and time (Gregorian calendar, UTC).
pub fn date_text(seconds: u64) -> String {
    if seconds == 0 {
        return "not stated".to_string();
    }
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // After the year 9999 the number of seconds is clearer than a date.
    if days > 2_932_896 {
        return format!("{seconds} seconds after 1970-01-01");
    }
    // Days are counted from 0000-03-01, so that the leap day is the last day of a year, in cycles of 400
    // years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date_text(0), "not stated");
        assert_eq!(date_text(1), "1970-01-01 00:00:01 UTC");
        assert_eq!(date_text(951_827_696), "2000-02-29 12:34:56 UTC");
        assert_eq!(date_text(1_767_225_599), "2025-12-31 23:59:59 UTC");
        assert_eq!(date_text(4_107_542_400), "2100-03-01 00:00:00 UTC");
        assert_eq!(date_text(253_402_300_799), "9999-12-31 23:59:59 UTC");
        assert_eq!(date_text(u64::MAX), format!("{} seconds after 1970-01-01", u64::MAX));
    }
}
