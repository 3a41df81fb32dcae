//! Verifies the same kinds of signatures in software, on the host's core and on that of the root of trust, and with the
//! engine under control of that core's firmware. The cycles are compared with those of the engine.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result};

use super::cycles::{FamilySummary, OTHERS, POINT_OF_OTHERS, VerificationSamples, XMSS};
use hartlock_hw::machines::{model, rot, signatures};
use hartlock_results::run::{How, Row};

pub const TABLE: &str = "Software against the engine";
/// The machine with a host's core only, and that with the root of trust only.
const HOST: &str = "rocket-1";
const ROT: &str = "rot";
/// Number of signatures of each kind; only one is verified where a verification takes minutes to simulate.
const SIGNATURES: usize = 3;

/// Verifications on one processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    pub kind: &'static str,
    pub machine: &'static str,
    pub by: &'static str,
    pub cycles: Vec<u64>,
}

/// Measures all kinds on both processors. On the root of trust every instruction fetch takes five cycles, so software
/// verifies only one signature of each kind there.
///
/// # Errors
/// Fails if a root is wrong, or if a machine cannot be built.
pub fn measure() -> Result<Vec<Counted>> {
    let host = model::core(HOST).map_err(anyhow::Error::msg)?;
    let rot = rot::rot(ROT).context("the root of trust alone")?;
    let mut all = Vec::new();
    let mut add = |kind: &signatures::HashSignatureKind,
                   machine,
                   by: signatures::RootUnit,
                   cycles: Result<Vec<u64>>,
                   start: Instant| {
        let cycles = cycles.with_context(|| format!("{} on {machine}", kind.name))?;
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("{} on {machine}, {}: {cycles:?} cycles ({seconds:.0} s)", kind.name, by.name());
        all.push(Counted { kind: kind.name, machine, by: by.name(), cycles });
        Ok::<_, anyhow::Error>(())
    };
    for kind in &signatures::KINDS {
        let start = Instant::now();
        let cycles = signatures::measure_on_host(host, kind, SIGNATURES);
        add(kind, HOST, signatures::RootUnit::Software, cycles, start)?;
        let ways = [
            (signatures::RootUnit::Engine, SIGNATURES),
            (signatures::RootUnit::Sha256Engine, SIGNATURES),
            (signatures::RootUnit::Software, 1),
        ];
        for (by, count) in ways {
            let start = Instant::now();
            add(kind, ROT, by, signatures::measure(rot, kind, by, count), start)?;
        }
    }
    Ok(all)
}

/// Returns the mean cycles of the engine for a kind of signature.
fn engine(kind: &str, samples: &VerificationSamples, sums: &[FamilySummary]) -> Option<f64> {
    if kind == XMSS {
        return samples.mean(POINT_OF_OTHERS).map(|it| it.cycles);
    }
    let family = OTHERS.iter().find(|it| it.title == kind)?;
    sums.iter().find(|it| it.family == family.name).map(FamilySummary::mean)
}

/// Returns the mean of each kind, and its ratio to the engine's cycles.
pub fn rows(
    counted: &[Counted],
    samples: &VerificationSamples,
    sums: &[FamilySummary],
) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in counted {
        let processor = if it.machine == HOST { "Rocket" } else { "Ibex" };
        let config = format!("{}, {processor}, {}", it.kind, it.by);
        let mean = it.cycles.iter().sum::<u64>() as f64 / it.cycles.len() as f64;
        let row = Row::info(TABLE, "time", "cycles", mean).of(&config).how(How::Simulated);
        let count = it.cycles.len();
        let of = if count == 1 { "one signature".to_owned() } else { format!("mean of {count}") };
        rows.push(
            row.noted(format!(
                "{of}, on {}, from the call of the verifier to the root",
                it.machine
            )),
        );
        let metric = "by the engine's";
        rows.push(match engine(it.kind, samples, sums) {
            Some(engine) => {
                let row = Row::info(TABLE, metric, "times", mean / engine).of(&config);
                row.how(How::Computed).noted(format!("the engine with {}", POINT_OF_OTHERS.name()))
            }
            None => Row::absent(TABLE, metric, "times", "the engine was not measured").of(&config),
        });
    }
    rows
}

/// Formats every verification as CSV.
pub fn csv(counted: &[Counted]) -> String {
    let mut text = "kind,machine,by,number,cycles\n".to_owned();
    for Counted { kind, machine, by, cycles } in counted {
        for (number, cycles) in cycles.iter().enumerate() {
            let _ = writeln!(text, "{kind},{machine},\"{by}\",{number},{cycles}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::cycles::VerificationSample;
    use super::*;

    #[test]
    fn software_is_compared_with_the_engine_for_the_same_signatures() {
        let counted = |kind| Counted { kind, machine: ROT, by: "software", cycles: vec![100, 300] };
        let sample = VerificationSample {
            point: POINT_OF_OTHERS,
            height: 10,
            passes: 1,
            seed: 1,
            steps: 500,
            cycles: 50,
        };
        let rows =
            rows(&[counted(XMSS), counted("LMS H10/W4")], &VerificationSamples(vec![sample]), &[]);
        let found: Vec<_> = rows.iter().map(|row| (row.config.as_str(), row.ours)).collect();
        let (xmss, lms) = ("XMSS-SHA2_10_256, Ibex, software", "LMS H10/W4, Ibex, software");
        assert_eq!(
            found,
            [(xmss, Some(200.0)), (xmss, Some(4.0)), (lms, Some(200.0)), (lms, None)]
        );
        assert_eq!(csv(&[counted("k")]).lines().nth(2), Some("k,rot,\"software\",1,300"));
    }

    #[test]
    fn every_kind_that_is_measured_has_an_engine_to_compare_with() {
        let sums = OTHERS.map(|it| FamilySummary {
            family: it.name,
            count: 1,
            cycles: 1,
            least: 1,
            most: 1,
        });
        let mut kinds = signatures::KINDS.iter().filter(|kind| kind.name != XMSS);
        assert!(
            kinds.all(|kind| engine(kind.name, &VerificationSamples(Vec::new()), &sums).is_some())
        );
    }
}
