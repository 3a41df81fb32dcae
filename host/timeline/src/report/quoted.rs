//! Numbers of another machine that a page shows first. They were stored earlier, which the page
//! states.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::factor_text;

/// Numbers to show above the boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotedNumbers {
    /// The heading.
    pub title: String,
    /// Unit of the numbers.
    pub unit: String,
    /// The rows, each with a name and a number. The first row is the baseline of the factors.
    pub rows: Vec<(String, f64)>,
    /// Sentences that state where the numbers come from, and why those of this boot differ.
    pub notes: Vec<String>,
}

/// The reason why a file cannot be used.
#[derive(Debug, Error)]
pub enum QuotedNumbersError {
    /// The file does not hold quoted numbers.
    #[error("it holds no quoted numbers: {0}")]
    NotQuoted(#[from] serde_json::Error),
    /// The file has no rows or too many, or a number is not positive.
    #[error("it needs one to eight rows of positive numbers")]
    OddNumbers,
}

impl QuotedNumbers {
    /// Maximum number of rows.
    const MOST_ROWS: usize = 8;

    /// Reads a file. The text is untrusted: the numbers are shown, and nothing is decided by them.
    ///
    /// # Errors
    /// If the numbers cannot be shown.
    pub fn read(json: &str) -> Result<Self, QuotedNumbersError> {
        let quoted: Self = serde_json::from_str(json)?;
        let is_number = |number: f64| number.is_finite() && number > 0.0;
        let is_sound = (1..=Self::MOST_ROWS).contains(&quoted.rows.len())
            && quoted.rows.iter().all(|row| is_number(row.1));
        if is_sound { Ok(quoted) } else { Err(QuotedNumbersError::OddNumbers) }
    }

    /// Returns the rows as the template needs them.
    pub(super) fn bars<'a>(&'a self) -> Vec<QuotedBar<'a>> {
        let largest = self.rows.iter().map(|row| row.1).fold(0.0, f64::max);
        let first = self.rows.first().map_or(1.0, |row| row.1);
        let bar = |(label, number): &'a (String, f64)| QuotedBar {
            label,
            number: format!("{number:.1}"),
            factor: factor_text(number / first),
            width: format!("{:.2}%", 100.0 * number / largest),
        };
        self.rows.iter().map(bar).collect()
    }
}

/// A row with its bar.
pub(super) struct QuotedBar<'a> {
    pub label: &'a str,
    pub number: String,
    pub factor: String,
    pub width: String,
}
