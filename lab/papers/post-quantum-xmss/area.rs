//! Netlists of the engine with its registers at every point, and of its modules, which the paper's table lists one by
//! one.

use std::fmt::Write;
use std::time::Instant;

use anyhow::Result;

use super::cycles::{EngineConfig, OTHERS, POINT_OF_OTHERS, POINTS};
use hartlock_hw::ip::Count;
use hartlock_hw::ip::measured::{MeasuredEngine, Parameters};

/// Module name of the engine with registers and stream port; the DMA engine is separate.
pub const WHOLE: &str = "xmss";
/// Module names of a hash core, and of the lane that controls it during a job. The size of both depends on the rounds
/// per cycle.
pub const HASH: &str = "xmss_hash";
pub const LANE: &str = "xmss_lane";
/// Module names of parts that an engine has once; the schedule in its form for several lanes.
pub const MESSAGE: &str = "xmss_message";
pub const SCHEDULE: &str = "xmss_schedule";
/// Modules that give the engine its input words without a running core. They are in the folder of the unit that decides
/// from reset on.
const SEQUENCER: [&str; 2] = ["boot_verifier_engine", "boot_verifier_driver"];
const UNIT: &str = "boot_verifier";
const ONCE: [&str; 5] = [MESSAGE, SCHEDULE, "xmss_digits", "xmss_ingest", "xmss_control"];

/// Hash cores and rounds per cycle of engines that have a bound, which are also placed and routed.
const PLACED: [[u32; 2]; 3] = [[1, 1], [4, 2], [8, 2]];

/// Cell counts of a netlist. Lanes and rounds are zero if the netlist does not depend on them.
#[derive(Clone, Debug, PartialEq)]
pub struct Netlist {
    pub top: String,
    pub lanes: u32,
    pub rounds: u32,
    pub count: Count,
    /// Frequency on an ECP5, if the netlist was placed.
    pub megahertz: Option<f64>,
}

/// All netlists of a run.
#[derive(Default)]
pub struct Netlists(pub Vec<Netlist>);

/// Counts the cells of all netlists. Results for unchanged sources come from the cache.
///
/// # Errors
/// Fails if a module cannot be synthesised.
pub fn count(engine: &MeasuredEngine) -> Result<Netlists> {
    let mut all = Vec::new();
    let mut add_as = |name: &str,
                      engine: &MeasuredEngine,
                      top: &str,
                      point: [u32; 2],
                      parameters: Parameters| {
        let start = Instant::now();
        let (count, recorded) = engine.count(top, &parameters)?;
        let is_placed = top == WHOLE && PLACED.contains(&point);
        let megahertz = match recorded {
            // If placing fails, the row has no frequency and says so; other results are kept.
            None if is_placed => engine
                .megahertz(top, &parameters)
                .inspect_err(|why| eprintln!("{name}: not placed: {why:#}"))
                .ok(),
            recorded => recorded,
        };
        let seconds = start.elapsed().as_secs_f64();
        let [lanes, rounds] = point;
        eprintln!(
            "netlist {name}, {lanes} lanes, {rounds} rounds: {} LUT ({seconds:.0} s)",
            count.luts
        );
        all.push(Netlist { top: name.to_owned(), lanes, rounds, count, megahertz });
        Ok::<_, anyhow::Error>(())
    };
    let unit = MeasuredEngine::load(UNIT)?;
    for top in SEQUENCER.into_iter().chain([UNIT]) {
        add_as(top, &unit, top, [0, 0], Parameters::new())?;
    }
    let EngineConfig { lanes, rounds } = POINT_OF_OTHERS;
    for family in &OTHERS {
        add_as(family.whole, engine, WHOLE, [lanes, rounds], family.parameters())?;
    }
    let mut add = |top: &str, lanes: u32, rounds: u32, parameters: Parameters| {
        add_as(top, engine, top, [lanes, rounds], parameters)
    };
    for top in ONCE.into_iter().filter(|top| engine.has_module(top)) {
        let sorts = ("SortsChains".to_owned(), 1);
        add(top, 0, 0, (top == SCHEDULE).then_some(sorts).into_iter().collect())?;
    }
    for rounds in [1, 2] {
        // An engine that has only XMSS sets this parameter: hashes follow each other without an idle cycle.
        let overlaps = ("Overlaps".to_owned(), 1);
        add(LANE, 0, rounds, Parameters::from([overlaps.clone()]))?;
        add(HASH, 0, rounds, [("RoundsPerCycle".to_owned(), rounds), overlaps].into())?;
    }
    for point in POINTS {
        add(WHOLE, point.lanes, point.rounds, point.parameters())?;
    }
    for family in OTHERS.iter().filter(|it| engine.has_module(it.alone)) {
        add(family.alone, lanes, rounds, POINT_OF_OTHERS.parameters())?;
    }
    Ok(Netlists(all))
}

/// Returns the engine's netlists that have a bound in its plan, with the counts of its record; nothing is synthesised.
pub fn recorded(engine: &MeasuredEngine) -> Netlists {
    let of = |point: &EngineConfig| {
        let count = engine.recorded(WHOLE, &point.parameters())?;
        let EngineConfig { lanes, rounds } = *point;
        Some(Netlist { top: WHOLE.to_owned(), lanes, rounds, count, megahertz: None })
    };
    Netlists(POINTS.iter().filter_map(of).collect())
}

impl Netlists {
    pub fn find(&self, top: &str, lanes: u32, rounds: u32) -> Option<&Netlist> {
        self.0.iter().find(|it| (it.top.as_str(), it.lanes, it.rounds) == (top, lanes, rounds))
    }

    pub fn whole(&self, point: EngineConfig) -> Option<&Netlist> {
        self.find(WHOLE, point.lanes, point.rounds)
    }

    /// Returns the look-up tables and flip-flops of the modules that give the engine key, signature and message without
    /// a running core.
    pub fn sequencer(&self) -> Option<(u32, u32)> {
        self.sum(&SEQUENCER.map(|top| (top, 0)))
    }

    /// Returns the look-up tables and flip-flops of the unit around them, which reads the medium, compares the digest
    /// of the key, checks the header and decides.
    pub fn unit(&self) -> Option<(u32, u32)> {
        self.sum(&[(UNIT, 0)])
    }

    /// Returns the sum of the look-up tables and flip-flops of modules; each is given with its rounds.
    pub fn sum(&self, parts: &[(&str, u32)]) -> Option<(u32, u32)> {
        parts.iter().try_fold((0, 0), |(luts, flip_flops), (top, rounds)| {
            let count = self.find(top, 0, *rounds)?.count;
            Some((luts + count.luts, flip_flops + count.flip_flops))
        })
    }

    /// Formats every netlist as CSV.
    pub fn csv(&self) -> String {
        let mut text =
            "top,lanes,rounds,luts,shift_registers,memories,flip_flops,carries,half_brams,multipliers,megahertz\n"
                .to_owned();
        for Netlist { top, lanes, rounds, count, megahertz } in &self.0 {
            let Count {
                luts,
                shift_registers,
                memories,
                flip_flops,
                carries,
                half_brams,
                multipliers,
            } = count;
            let megahertz = megahertz.map_or_else(String::new, |it| it.to_string());
            let _ = writeln!(
                text,
                "{top},{lanes},{rounds},{luts},{shift_registers},{memories},{flip_flops},{carries},{half_brams},{multipliers},{megahertz}"
            );
        }
        text
    }
}
