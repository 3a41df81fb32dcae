//! Table 1: the paper's numbers by its flow, and ours beside the cores that the paper used, both by the flow of this project.

use std::fmt::Write;

use anyhow::{Context, Result};

use hartlock_hw::ip::{Area, Areas, Count};
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row};

/// Table of the paper.
pub const PUBLISHED: &str = "Table 1";
/// Configurations in it that are built here.
pub const SHA3: &str = "SHA-3";
pub const ED25519: &str = "Ed25519 mult";
/// The same of others.
pub const PEERS: &str = "peers";

/// An engine, and what of its record rows are about.
pub struct Engine {
    /// Its folder.
    pub name: &'static str,
    /// The paper's.
    published: &'static str,
    /// Ours, which is compared with that: registers around a core.
    as_published: &'static str,
    /// The table of both designs by one flow.
    pub one_flow: &'static str,
    /// What its cycles are of.
    of: &'static str,
    /// Without registers, as the paper's core is counted.
    cores: &'static [&'static str],
    /// The core of the paper.
    peer: &'static str,
}

pub const ENGINES: [Engine; 2] = [
    Engine {
        name: "sha3",
        published: SHA3,
        // Two rounds a cycle, as the paper's.
        as_published: "with registers, 2 rounds a cycle",
        one_flow: "SHA-3 in one flow",
        of: "block",
        cores: &["Keccak, 1 round a cycle", "Keccak, 2 rounds a cycle"],
        // That of OpenCores as the paper's authors changed it.
        peer: "Keccak of the paper",
    },
    Engine {
        name: "ed25519",
        published: ED25519,
        as_published: "with registers",
        one_flow: "Ed25519 in one flow",
        of: "product",
        cores: &["Ed25519 core"],
        // That of Cryptech as they changed it. The other peer computes S alone.
        peer: "base point multiplier of Cryptech",
    },
];
/// Bits in half of a BRAM36.
const HALF_BRAM_BITS: u32 = 18 << 10;

/// A column of the table: what is counted, its unit, and how it follows from a netlist.
type Column = (&'static str, &'static str, fn(&Area) -> u32);

const COLUMNS: [Column; 5] = [
    ("LUT", "LUT", |it| it.count.luts),
    ("FF", "flip-flops", |it| it.count.flip_flops),
    ("CARRY4", "CARRY4", |it| it.count.carries),
    ("BRAM", "bits", ram_bits),
    ("DSP48E1", "DSP48E1", |it| it.count.multipliers),
];

fn ram_bits(area: &Area) -> u32 {
    area.count.half_brams * HALF_BRAM_BITS
}

/// The core of the paper for SHA-3.
pub fn of_the_paper(areas: &Areas) -> Result<&Area> {
    find(&areas.peers, ENGINES[0].peer)
}

/// The engine with one round a cycle, as it is in the root of trust.
pub fn built_in(areas: &Areas) -> Result<&Area> {
    find(&areas.own, "with registers, 1 round a cycle")
}

fn find<'a>(list: &'a [Area], name: &str) -> Result<&'a Area> {
    list.iter().find(|it| it.name == name).with_context(|| format!("{name} is not in the record"))
}

/// The paper's numbers beside ours without a ratio, then ours beside the core that the paper used.
pub fn rows(engine: &Engine, areas: &Areas, paper: &Paper) -> Result<Vec<Row>> {
    let mut rows = engine.published(areas, paper)?;
    let peer = find(&areas.peers, engine.peer)?;
    for area in &areas.own {
        rows.extend(COLUMNS.map(|column| engine.own(area, column, peer, areas.flow)));
        let row = engine.product(area, engine.one_flow);
        rows.push(if engine.cores.contains(&area.name.as_str()) {
            row.peer(luts_by_cycles(peer))
        } else {
            row
        });
    }
    for other in &areas.peers {
        for (metric, unit, value) in COLUMNS {
            let row = Row::info(PEERS, metric, unit, f64::from(value(other))).how(How::Counted);
            rows.push(row.of(&engine.named(other)).noted(format!("Yosys, {}", areas.flow)));
        }
        rows.push(engine.product(other, PEERS));
    }
    Ok(rows)
}

fn luts_by_cycles(area: &Area) -> f64 {
    f64::from(area.count.luts) * f64::from(area.cycles)
}

impl Engine {
    /// What a netlist is, with its cycles.
    fn named(&self, area: &Area) -> String {
        // The paper's other engine has no product.
        let of = if area.name == "S of the paper" { "S" } else { self.of };
        format!("{}, {} cycles a {of}", area.name, area.cycles)
    }

    fn product(&self, area: &Area, table: &str) -> Row {
        let metric = format!("LUT × cycles of a {}", self.of);
        let row = Row::info(table, metric, "LUT × cycles", luts_by_cycles(area));
        row.of(&self.named(area)).how(How::Computed)
    }

    /// Units that both flows have. Nothing is divided: the chips and the tools differ.
    fn published(&self, areas: &Areas, paper: &Paper) -> Result<Vec<Row>> {
        const REASON: &str = "the paper's flow is Quartus for Stratix IV";
        let ours = find(&areas.own, self.as_published)?;
        let numbers = [
            ("FFs", "flip-flops", ours.count.flip_flops),
            ("RAM Bits", "bits", ram_bits(ours)),
            ("DSP", "DSP blocks", ours.count.multipliers),
        ];
        let row = |(metric, unit, value): (&str, &str, u32)| {
            let row = Row::info(PUBLISHED, metric, unit, f64::from(value)).of(self.published);
            let note = format!("{}: Yosys, {}", self.named(ours), areas.flow);
            Ok(row.how(How::Counted).noted(note).published(paper)?.incomparable(REASON))
        };
        numbers.into_iter().map(row).collect()
    }

    /// One number of a netlist of ours. A core has the core of the paper beside it: neither has registers of a bus.
    fn own(&self, area: &Area, (metric, unit, value): Column, peer: &Area, flow: &str) -> Row {
        let (ours, theirs) = (value(area), value(peer));
        let row = Row::info(self.one_flow, metric, unit, f64::from(ours)).of(&self.named(area));
        let row = row.how(How::Counted);
        let row = match area.bound.filter(|_| metric == "LUT") {
            Some(bound) => row.judged(Better::Lower, f64::from(bound)),
            None => row,
        };
        if !self.cores.contains(&area.name.as_str()) {
            return row.noted(format!("Yosys, {flow}"));
        }
        let row = row.noted(format!("Yosys, {flow}; peer: {}", self.named(peer)));
        let row = row.peer(f64::from(theirs));
        if theirs == 0 { row.incomparable("the peer has none") } else { row }
    }
}

/// Every netlist, as CSV.
pub fn csv<'a>(areas: impl IntoIterator<Item = (&'a Engine, &'a Areas)>) -> String {
    let mut text = "who,netlist,cycles,bound,luts,shift_registers,memories,flip_flops,carries,half_brams,multipliers,engine\n"
        .to_owned();
    for (engine, areas) in areas {
        write(&mut text, engine.name, areas);
    }
    text
}

fn write(text: &mut String, engine: &str, areas: &Areas) {
    let own = areas.own.iter().map(|it| ("hartlock", it));
    for (who, area) in own.chain(areas.peers.iter().map(|it| ("peer", it))) {
        let Area { name, cycles, bound, count } = area;
        let bound = bound.map_or_else(String::new, |bound| bound.to_string());
        let Count { luts, shift_registers, memories, flip_flops, carries, half_brams, multipliers } =
            count;
        let _ = writeln!(
            text,
            "{who},\"{name}\",{cycles},{bound},{luts},{shift_registers},{memories},{flip_flops},{carries},{half_brams},{multipliers},{engine}"
        );
    }
}
