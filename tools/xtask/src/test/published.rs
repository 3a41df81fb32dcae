//! The age of the list of published faults of OpenSBI, Linux and QEMU.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::passes;

const LIST: &str = "docs/security/published.md";
/// The text before the date in the list.
const MARK: &str = "<!-- looked at: ";
/// Number of days after which somebody should look again.
const LIMIT: i64 = 60;

/// Returns a warning if the list is older than [`LIMIT`] days.
pub fn warning(root: &Path) -> Result<Option<String>> {
    let text = fs::read_to_string(root.join(LIST)).context(LIST)?;
    older(&text, &passes::today()?)
}

fn older(text: &str, today: &str) -> Result<Option<String>> {
    let date = text.split_once(MARK).and_then(|(_, rest)| rest.get(..10));
    let date = date.context("the list of published faults has no date")?;
    let age = day(today)? - day(date)?;
    Ok((age > LIMIT).then(|| {
        format!("warning: {LIST} is of {date}, {age} days ago: look for newer faults of what boots")
    }))
}

/// Returns the number of a day, with which days are subtracted. The year is taken to begin in March, so that a leap day
/// is its last.
fn day(date: &str) -> Result<i64> {
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (Some(Ok(year)), Some(Ok(month)), Some(Ok(day)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        anyhow::bail!("{date} is no date");
    };
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Ok(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_days() {
        let between = |from, to| day(to).unwrap() - day(from).unwrap();
        assert_eq!(between("2026-11-28", "2026-11-29"), 1);
        assert_eq!(between("2026-12-31", "2027-01-01"), 1);
        assert_eq!(between("2028-02-28", "2028-03-01"), 2);
        assert_eq!(between("2027-02-28", "2027-03-01"), 1);
        assert_eq!(between("2024-01-01", "2025-01-01"), 366);
        assert!(day("2026-11").is_err() && day("soon").is_err());
    }

    #[test]
    fn warns_after_sixty_days() {
        let text = "text\n<!-- looked at: 2026-11-28 -->\n";
        assert_eq!(older(text, "2027-01-27").unwrap(), None);
        assert!(older(text, "2027-01-28").unwrap().unwrap().contains("61 days"));
        assert!(older("no date", "2027-01-28").is_err());
    }

    #[test]
    fn the_list_has_a_date() {
        warning(&xtask::project::root()).unwrap();
    }
}
