//! Measures the verification of RSA and ECDSA signatures by the big-number engine and by this project's software, on
//! the core of the root of trust and on a host's core.

use std::fmt::Write;

use anyhow::{Context, Result};

use hartlock_hw::machines::numbers::{self, BignumCycles, BignumVerifier};
use hartlock_hw::machines::{model, rot};
use hartlock_results::run::{How, Row};

pub const TABLE: &str = "Verification of signatures";
pub const CSV_HEADER: &str = "kind,machine,by,genuine,flipped\n";
/// The root of trust with the engine.
const ENGINE: &str = "rot-full";
/// The root of trust without it, which is simulated faster.
const ROT: &str = "rot";
/// A host's core without other parts.
const HOST: &str = "rocket-1";

/// Verification of one kind of signature on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    pub kind: &'static str,
    pub machine: &'static str,
    pub by: BignumVerifier,
    pub cycles: BignumCycles,
}

impl Verified {
    /// Returns the configuration in tables.
    fn config(&self) -> String {
        let by = match self.machine {
            ENGINE => "engine",
            ROT => "our software on Ibex",
            _ => "our software on Rocket",
        };
        format!("{}, {by}", self.kind)
    }

    /// Returns a description of the run.
    fn runs(&self) -> &'static str {
        if self.machine == HOST {
            "one run with caches that are empty before"
        } else {
            "one run, code in a ROM of five cycles a fetch, data in the scratchpad"
        }
    }
}

/// Verifies a signature of each kind on each machine. The engine also has to refuse the same signature with a flipped
/// bit.
///
/// # Errors
/// Fails if a verdict is wrong, or if a machine cannot be built.
pub fn measure() -> Result<Vec<Verified>> {
    let kinds = &numbers::KINDS;
    let host = model::core(HOST).map_err(anyhow::Error::msg)?;
    let rot = |name| rot::rot(name).with_context(|| format!("the root of trust {name}"));
    let mut all = Vec::new();
    let mut add = |machine, by, cycles: Vec<BignumCycles>| {
        let named = kinds.iter().zip(cycles);
        all.extend(named.map(|(kind, cycles)| Verified { kind: kind.name, machine, by, cycles }));
    };
    for (machine, by) in [(ENGINE, BignumVerifier::Engine), (ROT, BignumVerifier::Software)] {
        eprintln!("signatures of RSA and ECDSA on {machine}");
        add(machine, by, numbers::measure(rot(machine)?, by, kinds)?);
    }
    eprintln!("signatures of RSA and ECDSA on {HOST}");
    add(HOST, BignumVerifier::Software, numbers::measure_on_host(host, kinds)?);
    Ok(all)
}

/// Returns the cycles of each verification, and for software also the ratio to the engine's.
pub fn rows(verified: &[Verified]) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in verified {
        let BignumCycles { genuine, flipped } = it.cycles;
        let row = Row::info(TABLE, "time", "cycles", genuine as f64).of(&it.config());
        let mut note = format!(
            "on {}, {}, from the call of the verifier to its verdict",
            it.machine,
            it.runs()
        );
        if let Some(flipped) = flipped {
            let _ = write!(note, "; a flipped bit is refused in {flipped}");
        }
        rows.push(row.how(How::Simulated).noted(note));
        let is_its_engine =
            |other: &&Verified| other.kind == it.kind && other.by == BignumVerifier::Engine;
        let engine = verified.iter().find(is_its_engine);
        if let Some(engine) = engine.filter(|_| it.by == BignumVerifier::Software) {
            let ratio = genuine as f64 / engine.cycles.genuine as f64;
            let row = Row::info(TABLE, "by the engine's", "times", ratio).of(&it.config());
            rows.push(row.how(How::Computed));
        }
    }
    rows
}

/// Formats each verification as a line of CSV.
pub fn csv(verified: &[Verified]) -> String {
    let mut text = CSV_HEADER.to_owned();
    for Verified { kind, machine, by, cycles: BignumCycles { genuine, flipped } } in verified {
        let flipped = flipped.map_or(String::new(), |cycles| cycles.to_string());
        let _ = writeln!(text, "{kind},{machine},{},{genuine},{flipped}", by.name());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_is_compared_with_the_engine_for_the_same_kind() {
        let of = |kind, machine, by, genuine| Verified {
            kind,
            machine,
            by,
            cycles: BignumCycles { genuine, flipped: (by == BignumVerifier::Engine).then_some(7) },
        };
        let all = [
            of("A", ENGINE, BignumVerifier::Engine, 100),
            of("B", ENGINE, BignumVerifier::Engine, 200),
            of("B", ROT, BignumVerifier::Software, 1000),
            of("B", HOST, BignumVerifier::Software, 300),
            of("C", HOST, BignumVerifier::Software, 300),
        ];
        let rows = rows(&all);
        let found: Vec<_> =
            rows.iter().map(|row| (&*row.metric, &*row.config, row.ours.unwrap())).collect();
        assert_eq!(
            found,
            [
                ("time", "A, engine", 100.0),
                ("time", "B, engine", 200.0),
                ("time", "B, our software on Ibex", 1000.0),
                ("by the engine's", "B, our software on Ibex", 5.0),
                ("time", "B, our software on Rocket", 300.0),
                ("by the engine's", "B, our software on Rocket", 1.5),
                ("time", "C, our software on Rocket", 300.0),
            ]
        );
        assert!(rows[1].note.as_deref().unwrap().ends_with("refused in 7"));
        let csv = csv(&all);
        let lines: Vec<_> = csv.lines().skip(2).take(2).collect();
        assert_eq!(lines, ["B,rot-full,engine,200,7", "B,rot,software,1000,"]);
    }

    #[test]
    fn the_machines_are_there_and_one_of_them_has_the_engine() {
        assert!(rot::rot(ENGINE).unwrap().has_bignum());
        assert!(!rot::rot(ROT).unwrap().has_bignum());
        assert!(model::core(HOST).is_ok());
    }
}
