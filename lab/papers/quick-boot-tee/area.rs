//! Table 1 for the SHA-3 engine: the paper's numbers by its flow, and ours beside the core that the paper used, both
//! by the flow of this project.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::paper::Paper;
use crate::run::{Better, How, Row};
use hartlock_hw::ip::{Area, Areas, Count};

/// Table of the paper, and the configuration in it that is built here.
pub const PUBLISHED: &str = "Table 1";
pub const SHA3: &str = "SHA-3";
/// Both designs by one flow.
pub const ONE_FLOW: &str = "SHA-3 in one flow";
/// The same of others.
pub const PEERS: &str = "peers";

/// The netlists of the record that rows are about.
const CORES: [&str; 2] = ["Keccak, 1 round a cycle", "Keccak, 2 rounds a cycle"];
/// As the paper's: two rounds a cycle, and registers around them.
const AS_PUBLISHED: &str = "with registers, 2 rounds a cycle";
/// The core of OpenCores as the paper's authors changed it.
const OF_THE_PAPER: &str = "Keccak of the paper";
/// Bits in half of a BRAM36.
const HALF_BRAM_BITS: u32 = 18 << 10;

/// A column of the table: what is counted, its unit, and how it follows from a netlist.
type Column = (&'static str, &'static str, fn(&Area) -> u32);

const COLUMNS: [Column; 6] = [
    ("LUT", "LUT", |it| it.count.luts),
    ("FF", "flip-flops", |it| it.count.flip_flops),
    ("CARRY4", "CARRY4", |it| it.count.carries),
    ("BRAM", "bits", ram_bits),
    ("DSP48E1", "DSP48E1", |it| it.count.multipliers),
    ("LUT × cycles of a block", "LUT × cycles", |it| it.count.luts * it.cycles),
];
/// The product of two of them.
const PRODUCT: &str = "LUT × cycles of a block";

fn ram_bits(area: &Area) -> u32 {
    area.count.half_brams * HALF_BRAM_BITS
}

/// The core of the paper.
pub fn of_the_paper(areas: &Areas) -> Result<&Area> {
    find(&areas.peers, OF_THE_PAPER)
}

/// The engine with one round a cycle, as it is in the root of trust.
pub fn built_in(areas: &Areas) -> Result<&Area> {
    find(&areas.own, "with registers, 1 round a cycle")
}

fn find<'a>(list: &'a [Area], name: &str) -> Result<&'a Area> {
    list.iter().find(|it| it.name == name).with_context(|| format!("{name} is not in the record"))
}

/// The paper's numbers beside ours without a ratio, then ours beside the core that the paper used.
pub fn rows(areas: &Areas, paper: &Paper) -> Result<Vec<Row>> {
    let mut rows = published(areas, paper)?;
    let peer = of_the_paper(areas)?;
    for area in &areas.own {
        rows.extend(COLUMNS.map(|column| own(area, column, peer, areas.flow)));
    }
    for other in &areas.peers {
        for (metric, unit, value) in COLUMNS {
            let row = Row::info(PEERS, metric, unit, f64::from(value(other)));
            rows.push(
                row.how(how(metric)).of(&named(other)).noted(format!("Yosys, {}", areas.flow)),
            );
        }
    }
    Ok(rows)
}

fn how(metric: &str) -> How {
    if metric == PRODUCT { How::Computed } else { How::Counted }
}

/// What a netlist is, with the cycles that it takes for a block.
fn named(area: &Area) -> String {
    format!("{}, {} cycles a block", area.name, area.cycles)
}

/// Units that both flows have. Nothing is divided: the chips and the tools differ.
fn published(areas: &Areas, paper: &Paper) -> Result<Vec<Row>> {
    const REASON: &str = "the paper's flow is Quartus for Stratix IV";
    let ours = find(&areas.own, AS_PUBLISHED)?;
    let numbers = [
        ("FFs", "flip-flops", ours.count.flip_flops),
        ("RAM Bits", "bits", ram_bits(ours)),
        ("DSP", "DSP blocks", ours.count.multipliers),
    ];
    let row = |(metric, unit, value): (&str, &str, u32)| {
        let row = Row::info(PUBLISHED, metric, unit, f64::from(value)).of(SHA3);
        let row = row.how(How::Counted).noted(format!("{}: Yosys, {}", named(ours), areas.flow));
        Ok(row.published(paper)?.incomparable(REASON))
    };
    numbers.into_iter().map(row).collect()
}

/// One number of a netlist of ours. A core has the core of the paper beside it: neither has registers of a bus.
fn own(area: &Area, (metric, unit, value): Column, peer: &Area, flow: &str) -> Row {
    let (ours, theirs) = (value(area), value(peer));
    let row = Row::info(ONE_FLOW, metric, unit, f64::from(ours)).of(&named(area)).how(how(metric));
    let bound = area.bound.filter(|_| metric == "LUT");
    let row = match bound {
        Some(bound) => row.judged(Better::Lower, f64::from(bound)),
        None => row,
    };
    if !CORES.contains(&area.name.as_str()) {
        return row.noted(format!("Yosys, {flow}"));
    }
    let row = row.noted(format!("Yosys, {flow}; peer: {}", named(peer))).peer(f64::from(theirs));
    if theirs == 0 { row.incomparable("the peer has none") } else { row }
}

/// Every netlist, as CSV.
pub fn csv(areas: &Areas) -> String {
    let mut text = "who,netlist,cycles,bound,luts,shift_registers,memories,flip_flops,carries,half_brams,multipliers\n"
        .to_owned();
    let own = areas.own.iter().map(|it| ("hartlock", it));
    for (who, area) in own.chain(areas.peers.iter().map(|it| ("peer", it))) {
        let Area { name, cycles, bound, count } = area;
        let bound = bound.map_or_else(String::new, |bound| bound.to_string());
        let Count { luts, shift_registers, memories, flip_flops, carries, half_brams, multipliers } =
            count;
        let _ = writeln!(
            text,
            "{who},\"{name}\",{cycles},{bound},{luts},{shift_registers},{memories},{flip_flops},{carries},{half_brams},{multipliers}"
        );
    }
    text
}
