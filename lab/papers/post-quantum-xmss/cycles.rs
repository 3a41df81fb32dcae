//! Verifies signatures on simulated engines, one for each seed, and evaluates the cycles.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use hartlock_hw::ip::measured::{MeasuredEngine, Parameters};

/// Prefix of a sample in the log of `measure_<family>.py`: height, passes, seed, steps of chains, cycles.
const SAMPLE: &str = "sample: ";
/// Height of the tree in the paper.
pub const HEIGHT: u32 = 10;
/// Number of values in a WOTS+ signature, and number of L-tree nodes above them (RFC 8391 §4.1.5).
pub const CHAINS: u32 = 67;
pub const LTREE_NODES: u32 = CHAINS - 1;

/// Configuration of an engine: number of hash cores, and rounds of SHA-256 per cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    pub lanes: u32,
    pub rounds: u32,
}

/// All measured configurations. Four rounds per cycle are only tested.
pub const POINTS: [EngineConfig; 8] = [
    EngineConfig::new(1, 1),
    EngineConfig::new(2, 1),
    EngineConfig::new(4, 1),
    EngineConfig::new(8, 1),
    EngineConfig::new(1, 2),
    EngineConfig::new(2, 2),
    EngineConfig::new(4, 2),
    EngineConfig::new(8, 2),
];
/// Rounds per cycle of the rows that are compared with the paper's table: its hash takes 41 cycles, that with two
/// rounds per cycle 34.
pub const ROUNDS: u32 = 2;
/// Configuration of a quick run, for which the test suite also builds a model.
pub const QUICK: [EngineConfig; 1] = [EngineConfig::new(4, 2)];

impl EngineConfig {
    pub const fn new(lanes: u32, rounds: u32) -> Self {
        Self { lanes, rounds }
    }

    pub fn parameters(self) -> Parameters {
        let pairs = [("Lanes", self.lanes), ("RoundsPerCycle", self.rounds)];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// Returns the name with hash cores and rounds per cycle, as in the project's targets.
    pub fn name(self) -> String {
        format!("K = {}, R = {}", self.lanes, self.rounds)
    }

    /// Returns the name of a configuration with this number of hash cores in the paper.
    pub fn instances(self) -> String {
        format!("{} instance{}", self.lanes, if self.lanes == 1 { "" } else { "s" })
    }

    /// Returns the cycles of a block of SHA-256.
    pub fn block(self) -> u32 {
        68 / self.rounds
    }
}

/// Prefix of the summary over all signatures in the test log of another family.
const SUMMARY: &str = "mean ";
/// Name of the test that logs the summary, in each family.
const MEAN: &str = "verifies_twenty_signatures_in_so_many_cycles";

/// Another signature family: its names, and the modules of its tests, of which the first existing one has the test.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    pub title: &'static str,
    /// Name of its core with hash cores and without registers.
    pub alone: &'static str,
    /// Name in tables of netlists of the engine with this family only, and the parameter that includes the family.
    pub whole: &'static str,
    pub has: &'static str,
    tests: &'static [&'static str],
}

impl Family {
    /// Returns the parameters of the engine with this family only.
    pub fn parameters(&self) -> Parameters {
        let mut parameters = POINT_OF_OTHERS.parameters();
        parameters.extend([("HasXmss", 0), (self.has, 1)].map(|(name, it)| (name.to_owned(), it)));
        parameters
    }
}

/// Name of the paper's parameter set.
pub const XMSS: &str = "XMSS-SHA2_10_256";
/// The other families, which are compared at [`POINT_OF_OTHERS`].
pub const OTHERS: [Family; 2] = [
    Family {
        name: "lms",
        title: "LMS H10/W4",
        alone: "lms_alone",
        whole: "xmss for lms",
        has: "HasLms",
        tests: &["test_lms_mean", "test_lms_core"],
    },
    Family {
        name: "slh_dsa",
        title: "SLH-DSA-SHA2-128s",
        alone: "slh_dsa_alone",
        whole: "xmss for slh_dsa",
        has: "HasSlhDsa",
        tests: &["test_slh_dsa_mean", "test_slh_dsa_core"],
    },
];
pub const POINT_OF_OTHERS: EngineConfig = EngineConfig::new(4, 2);

/// Summary of the verifications of another family.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilySummary {
    pub family: &'static str,
    pub count: u64,
    pub cycles: u64,
    pub least: u64,
    pub most: u64,
}

impl FamilySummary {
    pub fn mean(&self) -> f64 {
        self.cycles as f64 / self.count as f64
    }
}

/// One verification.
#[derive(Clone, Debug, PartialEq)]
pub struct VerificationSample {
    pub point: EngineConfig,
    pub height: u32,
    /// Number of passes; two if the root was computed again.
    pub passes: u32,
    pub seed: u64,
    /// Sum of the steps of all chains to their ends.
    pub steps: u32,
    pub cycles: u64,
}

/// All verifications of a run.
pub struct VerificationSamples(pub Vec<VerificationSample>);

/// Simulates XMSS in one configuration.
///
/// # Errors
/// Fails if a signature is not accepted, or if the model cannot be built.
pub fn measure(engine: &MeasuredEngine, point: EngineConfig) -> Result<Vec<VerificationSample>> {
    const TESTS: &str = "measure_xmss";
    let top = engine.top_of("test_xmss_mean").context("no bench for the mean of XMSS")?;
    let start = Instant::now();
    let log = engine.simulate(top, &point.parameters(), TESTS, None)?;
    let samples = read(&log, point).context(TESTS)?;
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{XMSS}, {}: {} signatures ({seconds:.0} s)", point.name(), samples.len());
    Ok(samples)
}

fn read(log: &str, point: EngineConfig) -> Result<Vec<VerificationSample>> {
    let lines = log.lines().filter_map(|line| line.split_once(SAMPLE).map(|it| it.1));
    let samples = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [height, passes, seed, steps, cycles] = words[..] else { bail!("a sample {line:?}") };
        Ok(VerificationSample {
            point,
            height: height.parse()?,
            passes: passes.parse()?,
            seed: seed.parse()?,
            steps: steps.parse()?,
            cycles: cycles.parse()?,
        })
    });
    let samples: Vec<VerificationSample> = samples.collect::<Result<_>>()?;
    ensure!(!samples.is_empty(), "nothing was measured");
    Ok(samples)
}

/// Simulates another family. Returns `None` if the engine's plan has no bench for it.
///
/// # Errors
/// Fails for the same reasons as [`measure`].
pub fn measure_other(engine: &MeasuredEngine, family: Family) -> Result<Option<FamilySummary>> {
    let found = family.tests.iter().find_map(|tests| Some((*tests, engine.top_of(tests)?)));
    let Some((tests, top)) = found else { return Ok(None) };
    let start = Instant::now();
    let log = engine.simulate(top, &POINT_OF_OTHERS.parameters(), tests, Some(MEAN))?;
    let sum = read_sum(&log, family).context(tests)?;
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{}: {} signatures ({seconds:.0} s)", family.title, sum.count);
    Ok(Some(sum))
}

/// Parses a summary of the form `mean 22649.2, least 20609, most 25645, sum 452984`.
fn read_sum(log: &str, family: Family) -> Result<FamilySummary> {
    let line = log.lines().find_map(|line| Some(line.split_once(SUMMARY)?.1));
    let line = line.context("nothing was measured")?;
    let words: Vec<&str> = line.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let [mean, "least", least, "most", most, "sum", cycles] = words[..] else {
        bail!("a summary {line:?}")
    };
    let (mean, cycles): (f64, u64) = (mean.parse()?, cycles.parse()?);
    // The mean is rounded, so the quotient is only close to the count.
    let count = (cycles as f64 / mean).round() as u64;
    ensure!(count > 0 && (cycles as f64 / count as f64 - mean).abs() < 0.06, "{line:?}");
    Ok(FamilySummary {
        family: family.name,
        count,
        cycles,
        least: least.parse()?,
        most: most.parse()?,
    })
}

/// Statistics of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub count: usize,
    pub cycles: f64,
    pub least: u64,
    pub most: u64,
    pub steps: f64,
}

impl Mean {
    /// Returns `None` if there are no samples.
    fn of<'a>(samples: impl Iterator<Item = &'a VerificationSample> + Clone) -> Option<Self> {
        let count = samples.clone().count();
        let mean = |number: fn(&VerificationSample) -> f64| {
            samples.clone().map(number).sum::<f64>() / count as f64
        };
        Some(Self {
            count,
            cycles: mean(|it| it.cycles as f64),
            least: samples.clone().map(|it| it.cycles).min()?,
            most: samples.clone().map(|it| it.cycles).max()?,
            steps: mean(|it| f64::from(it.steps)),
        })
    }
}

impl VerificationSamples {
    /// Returns the samples of a configuration with one pass.
    fn at(&self, point: EngineConfig) -> impl Iterator<Item = &VerificationSample> + Clone {
        self.0.iter().filter(move |it| (it.point, it.passes) == (point, 1))
    }

    /// Returns the statistics for trees of the paper's height.
    pub fn mean(&self, point: EngineConfig) -> Option<Mean> {
        Mean::of(self.at(point).filter(|it| it.height == HEIGHT))
    }

    /// Returns the statistics of the same signatures with one pass and with two.
    pub fn passes(&self, point: EngineConfig) -> Option<(Mean, Mean)> {
        let two = self.0.iter().filter(|it| (it.point, it.passes) == (point, 2));
        let is_there = |it: &&VerificationSample| {
            two.clone().any(|other| (other.height, other.seed) == (it.height, it.seed))
        };
        Some((Mean::of(self.at(point).filter(is_there))?, Mean::of(two.clone())?))
    }

    /// Returns the cycles of a step of a chain: the slope of a least-squares fit over all signatures of one tree
    /// height.
    pub fn step(&self, point: EngineConfig) -> Option<f64> {
        let mean = self.mean(point)?;
        let (mut both, mut square) = (0.0, 0.0);
        for it in self.at(point).filter(|it| it.height == HEIGHT) {
            let steps = f64::from(it.steps) - mean.steps;
            both += steps * (it.cycles as f64 - mean.cycles);
            square += steps * steps;
        }
        (square > 0.0).then(|| both / square)
    }

    /// Returns the cycles of a node: the additional cycles of a higher tree, without those of its chains.
    pub fn node(&self, point: EngineConfig, step: f64) -> Option<f64> {
        let rest = |height: u32| {
            let of = self.at(point).filter(|it| it.height == height);
            let rest: Vec<f64> =
                of.map(|it| it.cycles as f64 - step * f64::from(it.steps)).collect();
            (!rest.is_empty()).then(|| rest.iter().sum::<f64>() / rest.len() as f64)
        };
        let highest = self.at(point).map(|it| it.height).max()?;
        let more = highest.checked_sub(HEIGHT).filter(|more| *more > 0)?;
        Some((rest(highest)? - rest(HEIGHT)?) / f64::from(more))
    }

    /// Formats every verification as CSV.
    pub fn csv(&self) -> String {
        let mut text = "lanes,rounds,height,passes,seed,steps,cycles\n".to_owned();
        for it in &self.0 {
            let VerificationSample {
                point: EngineConfig { lanes, rounds },
                height,
                passes,
                seed,
                steps,
                cycles,
            } = it;
            let _ = writeln!(text, "{lanes},{rounds},{height},{passes},{seed},{steps},{cycles}");
        }
        text
    }
}

/// Formats the summaries of other families as CSV.
pub fn csv(sums: &[FamilySummary]) -> String {
    let EngineConfig { lanes, rounds } = POINT_OF_OTHERS;
    let mut text = "family,lanes,rounds,count,cycles,least,most\n".to_owned();
    for FamilySummary { family, count, cycles, least, most } in sums {
        let _ = writeln!(text, "{family},{lanes},{rounds},{count},{cycles},{least},{most}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_how_many_signatures_it_is_of() {
        let log = "9 ns INFO cocotb mean 22649.2, least 20609, most 25645, sum 452984\n";
        let sum = read_sum(log, OTHERS[0]).unwrap();
        assert_eq!((sum.count, sum.mean(), sum.most), (20, 22649.2, 25_645));
        assert_eq!(csv(&[sum]).lines().nth(1), Some("lms,4,2,20,452984,20609,25645"));
        for wrong in
            ["nothing\n", "mean 7, least 1\n", "mean 300000.0, least 1, most 2, sum 452984\n"]
        {
            assert!(read_sum(wrong, OTHERS[0]).is_err(), "{wrong}");
        }
    }

    fn samples() -> VerificationSamples {
        let point = EngineConfig::new(1, 2);
        let line = |height: u32, steps: u32| {
            let cycles = 5000 + 136 * steps + 210 * height;
            format!("1 ns INFO cocotb sample: {height} 1 {} {steps} {cycles}\n", 1000 + steps)
        };
        let log: String = [(10, 500), (10, 520), (10, 507), (16, 490), (20, 530)]
            .map(|it| line(it.0, it.1))
            .concat();
        VerificationSamples(read(&log, point).unwrap())
    }

    #[test]
    fn a_step_and_a_node_follow_from_cycles() {
        let (samples, point) = (samples(), EngineConfig::new(1, 2));
        let mean = samples.mean(point).unwrap();
        assert_eq!((mean.count, mean.steps, mean.most), (3, 509.0, 5000 + 136 * 520 + 2100));
        let step = samples.step(point).unwrap();
        assert!((step - 136.0).abs() < 1e-6, "{step}");
        assert!((samples.node(point, step).unwrap() - 210.0).abs() < 1e-6);
        assert_eq!(samples.mean(EngineConfig::new(2, 2)), None);
        assert_eq!(samples.passes(point), None);
    }

    #[test]
    fn two_passes_are_compared_with_one_of_the_same_signatures() {
        let point = EngineConfig::new(4, 2);
        let log = "sample: 10 1 1 500 100\nsample: 10 1 2 500 300\nsample: 10 2 2 500 590\n";
        let samples = VerificationSamples(read(log, point).unwrap());
        let (one, two) = samples.passes(point).unwrap();
        assert_eq!((one.count, one.cycles, two.cycles), (1, 300.0, 590.0));
        assert_eq!(samples.mean(point).unwrap().cycles, 200.0);
    }

    #[test]
    fn a_log_without_samples_is_an_error() {
        assert!(read("1 ns INFO nothing\n", EngineConfig::new(1, 1)).is_err());
        assert!(read("sample: 10 1 1000 500\n", EngineConfig::new(1, 1)).is_err());
    }
}
