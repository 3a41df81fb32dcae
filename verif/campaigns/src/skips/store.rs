//! Stores the counts of campaigns in a file, for campaigns that take longer than a test step may.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::interpreted::CampaignResult;

/// Appends the counts as a table to a file.
///
/// # Errors
/// Fails if git does not name the commit, or if the file cannot be written.
pub fn append(file: &Path, counts: &CampaignResult) -> Result<()> {
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output()?;
    ensure!(git.status.success(), "git does not name the commit");
    let commit = String::from_utf8(git.stdout)?;
    let mut table = OpenOptions::new().create(true).append(true).open(file)?;
    let text = table_of(counts, commit.trim());
    write!(table, "\n{text}").with_context(|| file.display().to_string())
}

fn table_of(counts: &CampaignResult, commit: &str) -> String {
    let CampaignResult { bundle, reason, instructions, of_part, choice, report, .. } = counts;
    let part = choice.part.name();
    let is_exhaustive = choice.samples.is_none() && choice.from == 0 && counts.is_finished;
    format!(
        "[[campaign]]\nbundle = \"{bundle}\"\ncommit = \"{commit}\"\nreason = \"E{reason:04}\"\n\
         instructions = {instructions}\nof_part = {of_part}\n\
         part = \"{part}\"\nsecond_within = {}\nslack = {}\npositions = {}\nis_exhaustive = {is_exhaustive}\n\
         boots = {}\nas_one_skip = {}\nunread_stores = {}\nrefused = {}\nastray = {}\nturned = {}\nran_data = {}\n\
         ran_constants = {}\n",
        choice.second_within,
        choice.slack,
        counts.positions,
        report.runs,
        report.pruned,
        report.unread,
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

    use super::super::{bundles, rot};
    use xtask::project;

    /// Name in the file of the part of a boot that decides.
    const DECIDES: &str = "after signatures";
    /// Minimum number of skips with a bundle that has too many instructions to skip each: a bundle whose
    /// payloads are hashed before the decision.
    const SAMPLE: i64 = 1000;

    /// The accepted bundle, with which the hand-over is tested.
    const ACCEPTED: &str = "rom/accepted";

    fn stored() -> Vec<toml::Table> {
        let file = project::root().join("verif/runs/skips.toml");
        let stored: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        let campaigns = stored["campaign"].as_array().unwrap();
        campaigns.iter().map(|it| it.as_table().unwrap().clone()).collect()
    }

    fn number(campaign: &toml::Table, key: &str) -> i64 {
        campaign[key].as_integer().unwrap()
    }

    fn text<'a>(campaign: &'a toml::Table, key: &str) -> &'a str {
        campaign[key].as_str().unwrap()
    }

    fn is_exhaustive(campaign: &toml::Table) -> bool {
        campaign["is_exhaustive"].as_bool().unwrap()
    }

    #[test]
    fn stored_campaigns_skip_what_decides_in_every_bundle_and_turn_nothing() {
        let campaigns = stored();
        let mut complete = HashSet::new();
        for it in &campaigns {
            let bundle = text(it, "bundle");
            assert_eq!((number(it, "turned"), number(it, "ran_data")), (0, 0), "{bundle}");
            let ended = number(it, "refused") + number(it, "astray");
            assert_eq!(ended, number(it, "boots"), "{bundle}");
            let all = number(it, "of_part");
            assert!(!is_exhaustive(it) || number(it, "positions") == all, "{bundle}");
            let unread = it.get("unread_stores").map_or(0, |stores| stores.as_integer().unwrap());
            let of_singles = number(it, "boots") + unread;
            let is_pairs = number(it, "second_within") > 0;
            // The last position of an accepted boot is the first instruction of OpenSBI, which is not
            // skipped.
            let is_entry = bundle == ACCEPTED && is_exhaustive(it);
            let tried = number(it, "positions") - i64::from(is_entry);
            assert!(is_pairs || of_singles == tried, "{bundle}");
            let is_sampled = bundle.contains("payload") && number(it, "positions") >= SAMPLE;
            let is_deciding = text(it, "part") != "before the bundle";
            let is_single = is_deciding && number(it, "second_within") == 0;
            if is_single && (is_exhaustive(it) || is_sampled) {
                complete.insert(bundle.to_owned());
            }
        }
        let of_board = bundles::TARGETS.iter().map(|target| target.name);
        for name in of_board.chain(rot::TARGETS.iter().map(|target| target.name)) {
            assert!(complete.contains(name), "{name}");
        }
        let pairs = campaigns.iter().filter(|it| number(it, "second_within") == 16);
        assert!(pairs.filter(|it| is_exhaustive(it)).count() >= 3);
    }

    #[test]
    fn the_page_of_faults_quotes_the_stored_campaigns() {
        let campaigns = stored();
        let text_of =
            std::fs::read_to_string(project::root().join("docs/security/faults.md")).unwrap();
        let boots = |part: &str, within: i64| -> i64 {
            let is_it = |it: &&toml::Table| {
                let is_part = text(it, "part") == part && number(it, "second_within") == within;
                is_exhaustive(it) && is_part && text(it, "bundle") != ACCEPTED
            };
            campaigns.iter().filter(is_it).map(|it| number(it, "boots")).sum()
        };
        let accepted =
            campaigns.iter().find(|it| text(it, "bundle") == ACCEPTED && is_exhaustive(it));
        let accepted = number(accepted.unwrap(), "boots");
        let [decide, whole] = [DECIDES, "whole boot"].map(|part| boots(part, 0));
        for boots in [decide, whole, boots("before the bundle", 0), boots(DECIDES, 16), accepted] {
            let digits = boots.to_string();
            let groups =
                digits.as_bytes().rchunks(3).rev().map(|it| std::str::from_utf8(it).unwrap());
            let quoted = groups.collect::<Vec<_>>().join(",");
            assert!(text_of.contains(&quoted), "{quoted}");
        }
    }
}
