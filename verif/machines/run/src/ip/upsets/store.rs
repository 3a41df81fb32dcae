//! Stores counts of campaigns in `verif/runs/upsets.toml`, because they take longer than a step may.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::counts::{LAYOUT, Row};
use super::plan::{LeftOut, UpsetCampaign};
use crate::ip::engine::Ip;
use xtask::{packages, project};

const ABOUT: &str = "\
# Counts of `cargo xtask ip NAME --upsets --store` (docs/src/hardware/upsets.md). `sources` is a digest of RTL, of the
# entry in ip.toml and of the module that writes the scripts: after a change of them a count is stale, and a test fails.
# A row is a part of the campaign with one input: `bits` and `cycles` are its registers and its window, `runs` those of them
# that were tried. `same` ended as without an upset; `brief` held a forbidden condition for fewer cycles than count; `accepted`
# and `wrong` are bad, and have to occur where `must_find` is true.

";

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    campaign: Vec<StoredCampaign>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCampaign {
    engine: String,
    name: String,
    sources: String,
    seed: u64,
    row: Vec<Row>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<Omitted>,
}

/// Registers that were not upset.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Omitted {
    names: Vec<String>,
    registers: usize,
    bits: usize,
    reason: String,
}

fn path() -> PathBuf {
    project::root().join("verif/runs/upsets.toml")
}

fn load() -> Result<File> {
    let path = path();
    if !path.exists() {
        return Ok(File::default());
    }
    let text = fs::read_to_string(&path)?;
    toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
}

/// Returns a digest of everything that decides the counts of a campaign.
fn sources(ip: &Ip, campaign: &UpsetCampaign) -> Result<String> {
    let script = ip.dir.join("tb").join(format!("{}.py", campaign.stimulus));
    let script =
        fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
    let (plan, texts) = (format!("{campaign:?}"), ip.texts()?);
    let mut parts = vec![LAYOUT, &plan, &script];
    parts.extend(texts.iter().map(String::as_str));
    Ok(packages::digest(&parts))
}

/// Replaces the stored counts of a campaign.
pub fn put(
    ip: &Ip,
    campaign: &UpsetCampaign,
    seed: u64,
    rows: &[Row],
    omitted: &[(&LeftOut, usize, usize)],
) -> Result<()> {
    let mut file = load()?;
    let is_it =
        |stored: &StoredCampaign| (&stored.engine, &stored.name) == (&ip.name, &campaign.name);
    file.campaign.retain(|stored| !is_it(stored));
    let left_out = omitted.iter().map(|(left, registers, bits)| Omitted {
        names: left.registers.clone(),
        registers: *registers,
        bits: *bits,
        reason: left.reason.clone(),
    });
    file.campaign.push(StoredCampaign {
        engine: ip.name.clone(),
        name: campaign.name.clone(),
        sources: sources(ip, campaign)?,
        seed,
        row: rows.to_vec(),
        left_out: left_out.collect(),
    });
    file.campaign.sort_by(|one, other| (&one.engine, &one.name).cmp(&(&other.engine, &other.name)));
    let path = path();
    fs::write(&path, ABOUT.to_owned() + &toml::to_string(&file)?)
        .with_context(|| format!("cannot write {}", path.display()))?;
    println!("stored in verif/runs/upsets.toml");
    Ok(())
}

/// Returns true if the stored counts of a campaign are of its present sources.
///
/// # Errors
/// If sources or counts cannot be read.
pub fn is_current(ip: &Ip, campaign: &UpsetCampaign) -> Result<bool> {
    let sources = sources(ip, campaign)?;
    let is_it =
        |stored: &StoredCampaign| (&stored.engine, &stored.name) == (&ip.name, &campaign.name);
    Ok(load()?.campaign.iter().any(|stored| is_it(stored) && stored.sources == sources))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_counts_show_no_bad_outcome_but_where_they_have_to() {
        for stored in load().unwrap().campaign {
            let mut variants: std::collections::BTreeMap<_, u64> = Default::default();
            for row in &stored.row {
                let [runs, ends @ ..] = row.counts.fields();
                assert_eq!(runs, ends.iter().sum::<u64>(), "{} {}", stored.engine, row.part);
                let all = row.bits as u64 * row.cycles;
                assert!(!row.is_exhaustive || runs == all, "{} {}", stored.engine, row.part);
                *variants.entry((row.must_find, row.variant.clone())).or_default() +=
                    row.counts.bad();
            }
            assert!(variants.keys().any(|(must_find, _)| *must_find), "{}", stored.name);
            for ((must_find, variant), bad) in variants {
                assert_eq!(must_find, bad > 0, "{} {} {variant}", stored.engine, stored.name);
            }
        }
    }

    /// All bits but one of `hw/prim/tb/upset_probe.sv` are kept twice, so that each upset of one copy is detected.
    #[test]
    fn every_upset_of_a_register_with_a_copy_is_an_alert() {
        let stored = load().unwrap();
        let probe = stored.campaign.iter().find(|it| it.name == "probe").unwrap();
        let mut rows = probe.row.iter().filter(|row| !row.must_find);
        assert!(rows.all(|row| row.counts.alert == (row.bits as u64 - 1) * row.cycles));
    }
}
