//! Table 1: the paper's numbers, which come from its own synthesis flow; and this project's engines compared with the
//! cores that the paper used, both synthesised with this project's flow.

use std::fmt::Write;

use anyhow::{Context, Result};

use hartlock_hw::ip::{Area, Areas, Count};
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row};

/// Table of the paper.
pub const PUBLISHED: &str = "Table 1";
/// Configurations of that table that also exist here.
pub const SHA3: &str = "SHA-3";
pub const ED25519: &str = "Ed25519 mult";
/// Table of the netlists of others.
pub const PEERS: &str = "peers";

/// An engine, and the names of its netlists in the rows.
pub struct EngineNetlists {
    /// Folder of the engine.
    pub name: &'static str,
    /// Configuration in the paper.
    published: &'static str,
    /// This project's netlist that corresponds to it: registers around a core.
    as_published: &'static str,
    /// Table of both designs, synthesised with one flow.
    pub one_flow: &'static str,
    /// Unit of work to which its cycles belong.
    of: &'static str,
    /// Netlists without registers, which is how the paper's core is counted.
    cores: &'static [&'static str],
    /// The core that the paper used.
    peer: &'static str,
}

pub const ENGINES: [EngineNetlists; 2] = [
    EngineNetlists {
        name: "sha3",
        published: SHA3,
        // Like the paper's core, it computes two rounds per cycle.
        as_published: "with registers, 2 rounds a cycle",
        one_flow: "SHA-3 in one flow",
        of: "block",
        cores: &["Keccak, 1 round a cycle", "Keccak, 2 rounds a cycle"],
        // This is the core of OpenCores with the changes of the paper's authors.
        peer: "Keccak of the paper",
    },
    EngineNetlists {
        name: "ed25519",
        published: ED25519,
        as_published: "with registers",
        one_flow: "Ed25519 in one flow",
        of: "product",
        cores: &["Ed25519 core"],
        // This is the core of Cryptech with their changes. The other peer only computes S.
        peer: "base point multiplier of Cryptech",
    },
];
/// Number of bits in half of a BRAM36.
const HALF_BRAM_BITS: u32 = 18 << 10;

/// A column of the table: name, unit, and the function that computes it from a netlist.
type AreaColumn = (&'static str, &'static str, fn(&Area) -> u32);

const COLUMNS: [AreaColumn; 5] = [
    ("LUT", "LUT", |it| it.count.luts),
    ("FF", "flip-flops", |it| it.count.flip_flops),
    ("CARRY4", "CARRY4", |it| it.count.carries),
    ("BRAM", "bits", ram_bits),
    ("DSP48E1", "DSP48E1", |it| it.count.multipliers),
];

fn ram_bits(area: &Area) -> u32 {
    area.count.half_brams * HALF_BRAM_BITS
}

/// Returns the SHA-3 core of the paper.
pub fn of_the_paper(areas: &Areas) -> Result<&Area> {
    find(&areas.peers, ENGINES[0].peer)
}

/// Returns the engine with one round per cycle, which is the one in the root of trust.
pub fn built_in(areas: &Areas) -> Result<&Area> {
    find(&areas.own, "with registers, 1 round a cycle")
}

fn find<'a>(list: &'a [Area], name: &str) -> Result<&'a Area> {
    list.iter().find(|it| it.name == name).with_context(|| format!("{name} is not in the record"))
}

/// Returns the paper's numbers with this project's without a ratio, and then this project's with those of the core that
/// the paper used.
pub fn rows(engine: &EngineNetlists, areas: &Areas, paper: &Paper) -> Result<Vec<Row>> {
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

impl EngineNetlists {
    /// Returns the name of a netlist with its cycles.
    fn named(&self, area: &Area) -> String {
        // The paper's other engine computes S and no product.
        let of = if area.name == "S of the paper" { "S" } else { self.of };
        format!("{}, {} cycles a {of}", area.name, area.cycles)
    }

    fn product(&self, area: &Area, table: &str) -> Row {
        let metric = format!("LUT × cycles of a {}", self.of);
        let row = Row::info(table, metric, "LUT × cycles", luts_by_cycles(area));
        row.of(&self.named(area)).how(How::Computed)
    }

    /// Returns rows for the units that both flows have. They have no ratio, because chips and tools differ.
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

    /// Makes a row with one count of this project's netlist. Counts of a core are compared with those of the paper's
    /// core, because neither has bus registers.
    fn own(&self, area: &Area, (metric, unit, value): AreaColumn, peer: &Area, flow: &str) -> Row {
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

/// Formats every netlist as CSV.
pub fn csv<'a>(areas: impl IntoIterator<Item = (&'a EngineNetlists, &'a Areas)>) -> String {
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
