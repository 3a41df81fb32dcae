//! Results of the stored campaigns of upsets (`docs/src/hardware/upsets.md`), which the paper does not have.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::ENGINE;
use hartlock_results::run::{Better, How, Row};
use xtask::project;

const TABLE: &str = "Campaigns of upsets";

/// The part of `verif/runs/upsets.toml` that is shown here.
#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    campaign: Vec<Campaign>,
}

#[derive(Deserialize)]
struct Campaign {
    engine: String,
    name: String,
    #[serde(default)]
    row: Vec<UpsetRow>,
}

#[derive(Deserialize)]
struct UpsetRow {
    variant: String,
    must_find: bool,
    input: String,
    part: String,
    bits: u64,
    cycles: u64,
    is_exhaustive: bool,
    runs: u64,
    same: u64,
    refused: u64,
    alert: u64,
    hang: u64,
    brief: u64,
    accepted: u64,
    wrong: u64,
}

/// Function that selects one of the counts.
type Number = fn(&UpsetRow) -> u64;

impl UpsetRow {
    /// Describes which bits were upset, and in which cycles.
    fn window(&self) -> String {
        let UpsetRow { part, bits, cycles, runs, .. } = self;
        let which = if self.is_exhaustive { "each".to_owned() } else { format!("{runs} of them") };
        format!("{part}: {bits} bits in {cycles} cycles, {which}")
    }
}

/// The campaigns on the engine.
pub struct Campaigns(Vec<Campaign>);

/// Reads the stored campaigns.
///
/// # Errors
/// Fails if the file has another format.
pub fn load() -> Result<Campaigns> {
    let path = project::root().join("verif/runs/upsets.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Campaigns> {
    let mut stored: Stored = toml::from_str(text).context("verif/runs/upsets.toml")?;
    stored.campaign.retain(|it| it.engine == ENGINE);
    Ok(Campaigns(stored.campaign))
}

/// Returns the sums by variant and input.
pub fn rows(campaigns: &Campaigns) -> Vec<Row> {
    let mut rows = Vec::new();
    for campaign in &campaigns.0 {
        let mut groups: Vec<(&str, &str)> = Vec::new();
        for part in &campaign.row {
            if !groups.contains(&(&part.variant, &part.input)) {
                groups.push((&part.variant, &part.input));
            }
        }
        for (variant, input) in groups {
            let parts = campaign.row.iter().filter(|it| it.variant == variant && it.input == input);
            let sum = |number: Number| parts.clone().map(number).sum::<u64>() as f64;
            let config = format!("{}, {variant}, {input}", campaign.name);
            let row = |metric: &str, number: f64| {
                Row::info(TABLE, metric, "runs", number).of(&config).how(How::Counted)
            };
            let windows: Vec<String> = parts.clone().map(UpsetRow::window).collect();
            rows.push(row("upsets", sum(|it| it.runs)).noted(windows.join("; ")));
            let ends: [(&str, Number); 5] = [
                ("ended as without an upset", |it| it.same),
                ("refused", |it| it.refused),
                ("alert", |it| it.alert),
                ("no end", |it| it.hang),
                ("forbidden, but not for long enough", |it| it.brief),
            ];
            for (metric, number) in ends {
                rows.push(row(metric, sum(number)));
            }
            let bad = row("accepted or wrong", sum(|it| it.accepted + it.wrong));
            // Without the hardening, at least one of the inputs must find such a run.
            rows.push(match parts.clone().any(|it| it.must_find) {
                true => bad
                    .noted("without the hardening: none at all would show that nothing was tested"),
                false => bad.judged(Better::Lower, 0.0),
            });
        }
    }
    if rows.is_empty() {
        let note = "not measured: verif/runs/upsets.toml has no campaign on this engine";
        rows.push(Row::absent(TABLE, "accepted or wrong", "runs", note));
    }
    rows
}

/// Formats every part as CSV.
pub fn csv(campaigns: &Campaigns) -> String {
    let mut text = "campaign,variant,must_find,input,part,bits,cycles,runs,same,refused,alert,hang,brief,accepted,wrong\n".to_owned();
    for campaign in &campaigns.0 {
        for it in &campaign.row {
            let _ = write!(
                text,
                "\"{}\",\"{}\",{},\"{}\",\"{}\"",
                campaign.name, it.variant, it.must_find, it.input, it.part
            );
            let ends = [it.same, it.refused, it.alert, it.hang, it.brief, it.accepted, it.wrong];
            for number in [it.bits, it.cycles, it.runs].iter().chain(&ends) {
                let _ = write!(text, ",{number}");
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_results::run::Status;

    #[test]
    fn campaigns_are_added_up_by_variant_and_input() {
        let part = |variant: &str, must_find: bool, accepted: u64| {
            format!(
                "[[campaign.row]]\nvariant = \"{variant}\"\nmust_find = {must_find}\ninput = \"root\"\npart = \"p\"\n\
                 registers = 1\nbits = 5\ncycles = 2\nis_exhaustive = true\nruns = 10\nsame = {}\nrefused = 1\n\
                 alert = 1\nhang = 0\nbrief = 0\naccepted = {accepted}\nwrong = 0\n",
                8 - accepted
            )
        };
        let head = |engine: &str| format!("[[campaign]]\nengine = \"{engine}\"\nname = \"n\"\n");
        let of = |text: &str| rows(&parse(text).unwrap());
        let text =
            [head("xmss"), part("hard", false, 0), part("hard", false, 1), part("soft", true, 3)];
        let text = text.concat();
        let found = of(&text);
        let find = |metric: &str, config: &str| {
            let row =
                found.iter().find(|row| row.metric == metric && row.config == config).unwrap();
            (row.ours, row.status)
        };
        let (hard, soft, bad) = ("n, hard, root", "n, soft, root", "accepted or wrong");
        assert_eq!(find("upsets", hard), (Some(20.0), Status::Info));
        assert_eq!(find("ended as without an upset", hard), (Some(15.0), Status::Info));
        assert_eq!(find("alert", hard), (Some(2.0), Status::Info));
        assert_eq!(find(bad, hard), (Some(1.0), Status::Miss));
        assert_eq!(find("upsets", soft), (Some(10.0), Status::Info));
        assert_eq!(find(bad, soft), (Some(3.0), Status::Info));
        let window = "p: 5 bits in 2 cycles, each";
        assert_eq!(found[0].note.as_deref(), Some(&*format!("{window}; {window}")));
        let line = csv(&parse(&text).unwrap()).lines().nth(3).map(str::to_owned);
        assert_eq!(
            line.as_deref(),
            Some("\"n\",\"soft\",true,\"root\",\"p\",5,2,10,5,1,1,0,0,3,0")
        );
        let others = of(&(head("other") + &part("hard", false, 0)));
        assert!(others.len() == 1 && others[0].ours.is_none());
    }
}
