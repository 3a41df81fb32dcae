//! Numbers of another machine that a page leads with: they were stored earlier, and say so.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::factor_text;

/// What is shown above the boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quoted {
    /// The heading.
    pub title: String,
    /// Unit of the numbers.
    pub unit: String,
    /// A name and a number each; the first is what the others are measured against.
    pub rows: Vec<(String, f64)>,
    /// Where the numbers come from, and why those of this boot differ.
    pub notes: Vec<String>,
}

/// Why a file is not used.
#[derive(Debug, Error)]
pub enum QuotedError {
    /// It is something else.
    #[error("it holds no quoted numbers: {0}")]
    NotQuoted(#[from] serde_json::Error),
    /// Nothing to draw, or numbers that are none.
    #[error("it needs one to eight rows of positive numbers")]
    OddNumbers,
}

impl Quoted {
    /// Maximum number of rows.
    const MOST_ROWS: usize = 8;

    /// Reads a file. The text is untrusted: what comes out is shown, and nothing is decided by it.
    ///
    /// # Errors
    /// If it cannot be shown.
    pub fn read(json: &str) -> Result<Self, QuotedError> {
        let quoted: Self = serde_json::from_str(json)?;
        let is_number = |number: f64| number.is_finite() && number > 0.0;
        let is_sound = (1..=Self::MOST_ROWS).contains(&quoted.rows.len())
            && quoted.rows.iter().all(|row| is_number(row.1));
        if is_sound { Ok(quoted) } else { Err(QuotedError::OddNumbers) }
    }

    /// The rows as the template needs them.
    pub(super) fn bars<'a>(&'a self) -> Vec<Bar<'a>> {
        let largest = self.rows.iter().map(|row| row.1).fold(0.0, f64::max);
        let first = self.rows.first().map_or(1.0, |row| row.1);
        let bar = |(label, number): &'a (String, f64)| Bar {
            label,
            number: format!("{number:.1}"),
            factor: factor_text(number / first),
            width: format!("{:.2}%", 100.0 * number / largest),
        };
        self.rows.iter().map(bar).collect()
    }
}

/// A row with its bar.
pub(super) struct Bar<'a> {
    pub label: &'a str,
    pub number: String,
    pub factor: String,
    pub width: String,
}
