//! Verifications on simulated engines: one for each seed, and what is made of their cycles.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use hartlock_hw::ip::measured::{Engine, Parameters};

/// In the log of `measure_<family>.py`: height, passes, seed, steps of chains, cycles.
const SAMPLE: &str = "sample: ";
/// Of the tree that the paper is about.
pub const HEIGHT: u32 = 10;
/// Values of a signature of WOTS+, and nodes of the tree above them (RFC 8391 §4.1.5).
pub const CHAINS: u32 = 67;
pub const LTREE_NODES: u32 = CHAINS - 1;

/// Hash cores, and rounds of SHA-256 in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub lanes: u32,
    pub rounds: u32,
}

/// All that are built. More rounds a cycle gain little where eight cores wait for ten nodes of a path.
pub const POINTS: [Point; 11] = [
    Point::new(1, 1),
    Point::new(2, 1),
    Point::new(4, 1),
    Point::new(8, 1),
    Point::new(1, 2),
    Point::new(2, 2),
    Point::new(4, 2),
    Point::new(8, 2),
    Point::new(1, 4),
    Point::new(2, 4),
    Point::new(4, 4),
];
/// Beside the paper's table: its hash takes 41 cycles, that of two rounds a cycle 34.
pub const ROUNDS: u32 = 2;
/// Of a quick run: the model that the tests of every day have.
pub const QUICK: [Point; 1] = [Point::new(4, 2)];

impl Point {
    pub const fn new(lanes: u32, rounds: u32) -> Self {
        Self { lanes, rounds }
    }

    pub fn parameters(self) -> Parameters {
        let pairs = [("Lanes", self.lanes), ("RoundsPerCycle", self.rounds)];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// Hash cores and rounds a cycle, as the project's targets have them.
    pub fn name(self) -> String {
        format!("K = {}, R = {}", self.lanes, self.rounds)
    }

    /// As the paper calls its own.
    pub fn instances(self) -> String {
        format!("{} instance{}", self.lanes, if self.lanes == 1 { "" } else { "s" })
    }

    /// Cycles of a block of SHA-256.
    pub fn block(self) -> u32 {
        68 / self.rounds
    }
}

/// A family of signatures: the name of its core, and what it is called here.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    pub title: &'static str,
    /// Of `measure_*.py`, and of tests that say which module it is.
    tests: &'static str,
    of: &'static str,
}

pub const XMSS: Family =
    Family { name: "xmss", title: "XMSS-SHA2_10_256", tests: "measure_xmss", of: "test_xmss_mean" };
/// The others, at one point.
pub const OTHERS: [Family; 2] = [
    Family { name: "lms", title: "LMS H10/W4", tests: "measure_lms", of: "test_lms_core" },
    Family {
        name: "slh_dsa",
        title: "SLH-DSA-SHA2-128s",
        tests: "measure_slh_dsa",
        of: "test_slh_dsa_core",
    },
];

/// A verification.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub family: &'static str,
    pub point: Point,
    pub height: u32,
    /// Two if the root was computed again.
    pub passes: u32,
    pub seed: u64,
    /// Of all chains, to their ends.
    pub steps: u32,
    pub cycles: u64,
}

/// All verifications of a run.
pub struct Samples(pub Vec<Sample>);

/// Simulates a family on an engine; nothing if the engine has it not, or no bench for it.
///
/// # Errors
/// If a signature is not accepted, or nothing can be built.
pub fn measure(engine: &Engine, family: Family, point: Point) -> Result<Option<Vec<Sample>>> {
    let top = engine.top_of(family.of).filter(|_| engine.has_tests(family.tests));
    let Some(top) = top else { return Ok(None) };
    let start = Instant::now();
    let log = engine.simulate(top, &point.parameters(), family.tests)?;
    let samples = read(&log, family, point)?;
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{}, {}: {} signatures ({seconds:.0} s)", family.title, point.name(), samples.len());
    Ok(Some(samples))
}

fn read(log: &str, family: Family, point: Point) -> Result<Vec<Sample>> {
    let lines = log.lines().filter_map(|line| line.split_once(SAMPLE).map(|it| it.1));
    let samples = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [height, passes, seed, steps, cycles] = words[..] else {
            anyhow::bail!("a sample {line:?}")
        };
        Ok(Sample {
            family: family.name,
            point,
            height: height.parse()?,
            passes: passes.parse()?,
            seed: seed.parse()?,
            steps: steps.parse()?,
            cycles: cycles.parse()?,
        })
    });
    let samples: Vec<Sample> = samples.collect::<Result<_>>().context(family.tests)?;
    ensure!(!samples.is_empty(), "{} measured nothing", family.tests);
    Ok(samples)
}

/// What follows from some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub count: usize,
    pub cycles: f64,
    pub least: u64,
    pub most: u64,
    pub steps: f64,
}

impl Mean {
    /// Nothing if there are no samples.
    fn of<'a>(samples: impl Iterator<Item = &'a Sample> + Clone) -> Option<Self> {
        let count = samples.clone().count();
        let mean =
            |number: fn(&Sample) -> f64| samples.clone().map(number).sum::<f64>() / count as f64;
        Some(Self {
            count,
            cycles: mean(|it| it.cycles as f64),
            least: samples.clone().map(|it| it.cycles).min()?,
            most: samples.clone().map(|it| it.cycles).max()?,
            steps: mean(|it| f64::from(it.steps)),
        })
    }
}

impl Samples {
    /// Of a family at a point, in one pass.
    fn of(&self, family: Family, point: Point) -> impl Iterator<Item = &Sample> + Clone {
        let is_it =
            move |it: &&Sample| it.family == family.name && it.point == point && it.passes == 1;
        self.0.iter().filter(is_it)
    }

    /// Of the lowest tree that was measured, which is that of the target.
    pub fn mean(&self, family: Family, point: Point) -> Option<Mean> {
        let lowest = self.of(family, point).map(|it| it.height).min()?;
        Mean::of(self.of(family, point).filter(|it| it.height == lowest))
    }

    /// The same signatures of XMSS in one pass and in two.
    pub fn passes(&self, point: Point) -> Option<(Mean, Mean)> {
        let is_it = |it: &&Sample| it.family == XMSS.name && it.point == point && it.passes == 2;
        let two = self.0.iter().filter(is_it);
        let is_there = |it: &&Sample| {
            two.clone().any(|other| (other.height, other.seed) == (it.height, it.seed))
        };
        Some((Mean::of(self.of(XMSS, point).filter(is_there))?, Mean::of(two.clone())?))
    }

    /// Cycles of a step of a chain: the slope through all signatures of one tree (least squares).
    pub fn step(&self, point: Point) -> Option<f64> {
        let mean = self.mean(XMSS, point)?;
        let (mut both, mut square) = (0.0, 0.0);
        for it in self.of(XMSS, point).filter(|it| it.height == HEIGHT) {
            let steps = f64::from(it.steps) - mean.steps;
            both += steps * (it.cycles as f64 - mean.cycles);
            square += steps * steps;
        }
        (square > 0.0).then(|| both / square)
    }

    /// Cycles of a node: what a higher tree takes more, without what its chains do.
    pub fn node(&self, point: Point, step: f64) -> Option<f64> {
        let rest = |height: u32| {
            let of = self.of(XMSS, point).filter(|it| it.height == height);
            let rest: Vec<f64> =
                of.map(|it| it.cycles as f64 - step * f64::from(it.steps)).collect();
            (!rest.is_empty()).then(|| rest.iter().sum::<f64>() / rest.len() as f64)
        };
        let highest = self.of(XMSS, point).map(|it| it.height).max()?;
        let more = highest.checked_sub(HEIGHT).filter(|more| *more > 0)?;
        Some((rest(highest)? - rest(HEIGHT)?) / f64::from(more))
    }

    /// Every verification, as CSV.
    pub fn csv(&self) -> String {
        let mut text = "family,lanes,rounds,height,passes,seed,steps,cycles\n".to_owned();
        for it in &self.0 {
            let Sample {
                family,
                point: Point { lanes, rounds },
                height,
                passes,
                seed,
                steps,
                cycles,
            } = it;
            let _ = writeln!(
                text,
                "{family},{lanes},{rounds},{height},{passes},{seed},{steps},{cycles}"
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Samples {
        let point = Point::new(1, 2);
        let line = |height: u32, steps: u32| {
            let cycles = 5000 + 136 * steps + 210 * height;
            format!("1 ns INFO cocotb sample: {height} 1 {} {steps} {cycles}\n", 1000 + steps)
        };
        let log: String = [(10, 500), (10, 520), (10, 507), (16, 490), (20, 530)]
            .map(|it| line(it.0, it.1))
            .concat();
        Samples(read(&log, XMSS, point).unwrap())
    }

    #[test]
    fn a_step_and_a_node_follow_from_cycles() {
        let (samples, point) = (samples(), Point::new(1, 2));
        let mean = samples.mean(XMSS, point).unwrap();
        assert_eq!((mean.count, mean.steps, mean.most), (3, 509.0, 5000 + 136 * 520 + 2100));
        let step = samples.step(point).unwrap();
        assert!((step - 136.0).abs() < 1e-6, "{step}");
        assert!((samples.node(point, step).unwrap() - 210.0).abs() < 1e-6);
        assert_eq!(samples.mean(XMSS, Point::new(2, 2)), None);
        assert_eq!(samples.passes(point), None);
    }

    #[test]
    fn two_passes_are_compared_with_one_of_the_same_signatures() {
        let point = Point::new(4, 2);
        let log = "sample: 10 1 1 500 100\nsample: 10 1 2 500 300\nsample: 10 2 2 500 590\n";
        let samples = Samples(read(log, XMSS, point).unwrap());
        let (one, two) = samples.passes(point).unwrap();
        assert_eq!((one.count, one.cycles, two.cycles), (1, 300.0, 590.0));
        assert_eq!(samples.mean(XMSS, point).unwrap().cycles, 200.0);
    }

    #[test]
    fn a_log_without_samples_is_an_error() {
        assert!(read("1 ns INFO nothing\n", XMSS, Point::new(1, 1)).is_err());
        assert!(read("sample: 10 1 1000 500\n", XMSS, Point::new(1, 1)).is_err());
    }
}
