//! Counts of campaigns in a file, for what takes longer than a step may.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::interpreted::Counts;

/// Appends a table to a file.
///
/// # Errors
/// If git does not name the commit, or the file cannot be written.
pub fn append(file: &Path, counts: &Counts) -> Result<()> {
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output()?;
    ensure!(git.status.success(), "git does not name the commit");
    let commit = String::from_utf8(git.stdout)?;
    let mut table = OpenOptions::new().create(true).append(true).open(file)?;
    let text = table_of(counts, commit.trim());
    write!(table, "\n{text}").with_context(|| file.display().to_string())
}

fn table_of(counts: &Counts, commit: &str) -> String {
    let Counts { bundle, reason, instructions, after_signatures, choice, report, .. } = counts;
    let part = if choice.is_after_signatures { "after signatures" } else { "whole boot" };
    let is_exhaustive = choice.samples.is_none() && choice.from == 0 && counts.is_finished;
    format!(
        "[[campaign]]\nbundle = \"{bundle}\"\ncommit = \"{commit}\"\nreason = \"E{reason:04}\"\n\
         instructions = {instructions}\nafter_signatures = {after_signatures}\n\
         part = \"{part}\"\nsecond_within = {}\npositions = {}\nis_exhaustive = {is_exhaustive}\n\
         boots = {}\nas_one_skip = {}\nrefused = {}\nastray = {}\nturned = {}\nran_data = {}\n\
         ran_constants = {}\n",
        choice.second_within,
        counts.positions,
        report.runs,
        report.pruned,
        report.stopped,
        report.astray,
        report.turned,
        report.data,
        report.constants,
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::bundles::TARGETS;
    use xtask::project;

    /// Bundles with too many instructions after the signatures to skip each: those that are refused before any
    /// signature or after payloads are hashed. So many instructions at least.
    const SAMPLED: [&str; 4] = [
        "rom/another-type",
        "rom/altered-payload",
        "rom/payload-over-the-hand-off-block",
        "loader/altered-payload",
    ];
    const SAMPLE: i64 = 1000;

    #[test]
    fn stored_campaigns_skip_everything_after_the_signatures_or_a_sample() {
        let file = project::root().join("lab/runs/skips.toml");
        let stored: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        let campaigns = stored["campaign"].as_array().unwrap();
        let mut complete = HashSet::new();
        for campaign in campaigns {
            let number = |key: &str| campaign[key].as_integer().unwrap();
            let bundle = campaign["bundle"].as_str().unwrap();
            let left = number("turned") + number("ran_data");
            // Pairs are outside of the model: they are counted.
            assert!(left == 0 || number("second_within") > 0, "{bundle}");
            assert_eq!(number("refused") + number("astray") + left, number("boots"), "{bundle}");
            let is_exhaustive = campaign["is_exhaustive"].as_bool().unwrap();
            assert!(!is_exhaustive || number("positions") >= number("after_signatures"));
            let is_sampled = SAMPLED.contains(&bundle) && number("positions") >= SAMPLE;
            if (is_exhaustive || is_sampled) && number("second_within") == 0 {
                complete.insert(bundle.to_owned());
            }
        }
        for target in TARGETS {
            assert!(complete.contains(target.name), "{}", target.name);
        }
    }
}
