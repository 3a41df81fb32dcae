//! The numbers at the top of the demo's page, which come from the stored run of the cycle-accurate machine. Time in
//! the emulator is not the time of a board, and on a workstation with fewer cores than harts the comparison is
//! reversed.

use std::fs;

use anyhow::{Context, Result};
use hartlock_timeline::report::QuotedNumbers;
use serde_json::Value;
use xtask::project;

/// The stored run, and the command that makes it.
const RUN: &str = "lab/runs/latest/parallel-verification.json";
const COMMAND: &str = "make lab PAPER=parallel-verification";

/// Name of a row on the page, and the place of its number in the run: table, metric, configuration.
const ROWS: [(&str, [&str; 3]); 3] = [
    ("loaded, not verified", ["Overlap", "load only", "storage at 1 of the hash rate"]),
    (
        "verified by four harts while it is loaded",
        ["Overlap", "load while verifying", "storage at 1 of the hash rate"],
    ),
    ("verified by one hart", ["Hashing", "one hart", "SHA3-384"]),
];

/// Returns the numbers of the stored run in the form that `hartlock boot --quote` reads.
pub(super) fn json() -> Result<String> {
    let path = project::root().join(RUN);
    let run: Value = serde_json::from_str(&fs::read_to_string(&path).context(RUN)?)?;
    Ok(serde_json::to_string_pretty(&quoted(&run).context(RUN)?)?)
}

fn quoted(run: &Value) -> Result<QuotedNumbers> {
    let stored = run["rows"].as_array().context("it has no rows")?;
    let rows = ROWS.iter().map(|(name, [table, metric, config])| {
        let is_it = |row: &&Value| {
            row["table"] == *table && row["metric"] == *metric && row["config"] == *config
        };
        let number = stored.iter().find(is_it).and_then(|row| row["ours"].as_f64());
        Ok(((*name).to_owned(), number.with_context(|| format!("{metric} is not there"))?))
    });
    let text = |field: &str| run[field].as_str().unwrap_or("not stated").to_owned();
    let (date, commit) = (text("date"), text("commit"));
    Ok(QuotedNumbers {
        title: "What verification costs on a cycle-accurate machine".to_owned(),
        unit: "cycles a byte".to_owned(),
        rows: rows.collect::<Result<_>>()?,
        notes: vec![
            format!(
                "Stored on {}, at commit {}, by {COMMAND}; not measured now, and not by this boot.",
                date.get(..10).unwrap_or(&date),
                commit.get(..12).unwrap_or(&commit)
            ),
            "A payload in blocks under SHA3-384, on four Rocket harts, from a storage that is as fast as they \
             hash. One hart: its hash alone, which that storage waits for."
                .to_owned(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_run_says_what_four_harts_are_worth() {
        let quoted = QuotedNumbers::read(&json().unwrap()).unwrap();
        let numbers: Vec<f64> = quoted.rows.iter().map(|row| row.1).collect();
        // With four harts the storage limits the speed, with one hart the hash does.
        assert!(numbers[0] <= numbers[1] && numbers[1] < 1.1 * numbers[0], "{numbers:?}");
        assert!(numbers[2] > 3.0 * numbers[1], "{numbers:?}");
        assert!(quoted.notes[0].contains(COMMAND));
    }
}
