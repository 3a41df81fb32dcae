//! Prints the table of a campaign.

use super::counts::Row;
use super::plan::{LeftOut, UpsetCampaign};
use crate::ip::engine::Ip;

/// The names of the columns, in the order of `UpsetCounts::fields`.
const NAMES: [&str; 8] = ["runs", "same", "refused", "alert", "hang", "brief", "ACCEPTED", "WRONG"];

/// Prints the rows, and the registers that are left out.
pub fn print(
    ip: &Ip,
    campaign: &UpsetCampaign,
    rows: &[Row],
    omitted: &[(&LeftOut, usize, usize)],
    registers: usize,
) {
    println!("{} {}: {registers} registers of {}", ip.name, campaign.name, campaign.top);
    let names: String = NAMES.iter().map(|name| format!("{name:>9}")).collect();
    println!("  {:<26} {:<24} {:>6} {:>7}{names}", "input", "part", "bits", "cycles");
    let mut variant = "";
    for row in rows {
        if row.variant != variant {
            variant = &row.variant;
            let is_blind = row.must_find && !campaign.must_find_inputs.contains(&row.input);
            let must = if is_blind { " (has to show a bad outcome)" } else { "" };
            println!(" {variant}{must}");
        }
        let counts: String =
            row.counts.fields().iter().map(|count| format!("{count:>9}")).collect();
        let all = if row.is_exhaustive { "all " } else { "" };
        let part = format!("{all}{}", row.part);
        let is_blind = campaign.must_find_inputs.contains(&row.input);
        let input = format!("{}{}", if is_blind { "must find: " } else { "" }, row.input);
        println!("  {input:<26} {part:<24} {:>6} {:>7}{counts}", row.bits, row.cycles);
    }
    for (left, registers, bits) in omitted {
        println!("  left out: {registers} registers, {bits} bits: {}", left.reason);
    }
}
