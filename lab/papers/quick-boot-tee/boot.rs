//! Boots a TEE's first-stage loader on `tee-1-full` and `tee-1-fast`, and measures the time of measurement, key pair
//! and endorsement, with engines and in software.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};

use super::sweep::{self, Parts, SIZES, SweepColumn};
use crate::machine::cores;
use hartlock_hw::machines::tee::tee;
use hartlock_hw::machines::tee_boot::{ComputeMode, Prepared, TeeBoot, between, record};
use hartlock_results::run::{Better, How, Row};
use xtask::project;

pub const TABLE: &str = "Boot of a monitor";
pub const TIMELINE: &str = "Timeline";
/// Table of boots from a storage of one byte per cycle, as on a device.
pub const STORAGE: &str = "From storage";
/// The machine on which software is also measured.
pub const MACHINE: &str = "tee-1-full";
/// The same machine with 12 cycles for a block of SHA-3.
const FAST: &str = "tee-1-fast";
const SMALL: usize = 64 << 10;
/// Payload size of the paper in bytes.
const PUBLISHED: usize = 2 << 20;
/// Storage rates in bytes per 1000 cycles: one byte per cycle, and the maximum of the memory port, with which storage
/// does not delay the boot.
const AS_A_DEVICE: u32 = 1000;
const AT_ONCE: u32 = 32_000;
/// Maximum cycles of the engines for a key pair, and for a signature.
const KEY_PAIR: f64 = 18_000.0;
const SIGN: f64 = 66_000.0;
/// Maximum ratio of the time from reset to the jump to the time of reading only.
const OVER_READING: f64 = 1.05;

/// A boot to be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TeeBootPlan {
    column: &'static str,
    machine: &'static str,
    by: ComputeMode,
    bytes: usize,
    rate: u32,
}

/// Ways to boot: column of the figure, machine, implementation, and the largest simulated size. Where the processor
/// does the work, larger sizes are scaled.
const WAYS: [(&str, &str, ComputeMode, usize); 5] = [
    (sweep::HASH_ENGINE, MACHINE, ComputeMode::HashEngine, 256 << 10),
    (sweep::PUSHED, MACHINE, ComputeMode::Pushed, PUBLISHED),
    (sweep::DMA_24, MACHINE, ComputeMode::Engines, 32 << 20),
    (sweep::DMA_12, FAST, ComputeMode::Engines, 32 << 20),
    // One boot in software is compared with the program of `software.rs`.
    (sweep::OURS, MACHINE, ComputeMode::Software, SMALL),
];
/// Columns of a quick run, which has the smallest size only.
const QUICK: [&str; 2] = [sweep::DMA_24, sweep::PUSHED];
/// Columns of the figure whose boots are simulated, in its order. This project's software is simulated with one size
/// only, which is not enough for a column.
const COLUMNS: [&str; 5] =
    [sweep::HASH_ENGINE, sweep::PAPER, sweep::PUSHED, sweep::DMA_24, sweep::DMA_12];
/// Boots that are not columns of the figure: data from storage is hashed while it is read, with a timeline on the
/// console and without.
const DEVICES: [(&str, ComputeMode); 2] = [
    ("engines, while read", ComputeMode::Overlapped),
    ("engines, while read, quiet", ComputeMode::Quiet),
];

/// The result of one boot.
#[derive(Clone, Debug)]
pub struct Booted {
    pub column: &'static str,
    machine: &'static str,
    rate: u32,
    /// Cycles in which the storage delivers the boot bundle.
    medium: u64,
    /// Cycles of the steps; `None` if they overlap.
    pub parts: Option<Parts>,
    /// Cycles of the device's public key, which a device can store.
    device_key: u64,
    bytes: usize,
    /// Events of the boot, and the cycle of each since reset.
    points: Vec<(String, u64)>,
}

fn plans(is_quick: bool) -> Vec<TeeBootPlan> {
    let mut plans = Vec::new();
    for (column, machine, by, most) in WAYS {
        let most = if is_quick { SMALL } else { most };
        for (bytes, _) in SIZES.into_iter().filter(|(bytes, _)| *bytes <= most) {
            let rate = if bytes == SMALL { AS_A_DEVICE } else { AT_ONCE };
            plans.push(TeeBootPlan { column, machine, by, bytes, rate });
        }
    }
    if is_quick {
        plans.retain(|plan| QUICK.contains(&plan.column));
        return plans;
    }
    for (column, by) in DEVICES {
        plans.push(TeeBootPlan {
            column,
            machine: MACHINE,
            by,
            bytes: PUBLISHED,
            rate: AS_A_DEVICE,
        });
    }
    plans
}

impl Booted {
    /// Makes a result from steps that another program than the loader measured, with a payload in memory.
    pub fn from_steps(column: &'static str, parts: Parts, device_key: u64) -> Self {
        let (machine, rate, bytes) = (MACHINE, AT_ONCE, parts.bytes);
        let (medium, parts, points) = (0, Some(parts), Vec::new());
        Self { column, machine, rate, medium, parts, device_key, bytes, points }
    }
}

impl TeeBootPlan {
    /// Estimates the cycles, so that the longest boots start first.
    fn weight(&self) -> usize {
        let hundredths = match self.by {
            ComputeMode::Pushed => 190,
            _ if self.machine == FAST => 20,
            _ => 37,
        };
        let signer = if matches!(self.by, ComputeMode::HashEngine | ComputeMode::Software) {
            10_000_000
        } else {
            0
        };
        signer + self.bytes * hundredths / 100 + self.bytes * 1000 / self.rate as usize
    }

    fn name(&self) -> String {
        format!("{}, {} KiB", self.column, self.bytes >> 10)
    }

    fn boot(&self, builds: &Mutex<()>) -> Result<Booted> {
        let Self { column, machine, by, bytes, rate } = *self;
        let options = ["--storage-rate".to_owned(), rate.to_string()];
        let options = options.each_ref().map(String::as_str);
        let tee = tee(machine).context("a machine with engines")?;
        let prepared = {
            // Programs and models are built one at a time.
            let _only = builds.lock().map_err(|_| anyhow!("another boot failed"))?;
            let boot = TeeBoot { by, size: bytes, options: &options, ..TeeBoot::default() };
            Prepared::new(tee, &boot)?
        };
        let ran = prepared.run_once(&project::cache_dir()?.join("boots").join(machine))?;
        let is_right = record(&ran.console) == Some(prepared.record()?);
        ensure!(is_right, "the endorsement is another one\n{}", ran.console);
        let part = |from, to| between(&ran, from, to);
        let is_apart = DEVICES.iter().all(|(_, device)| *device != by);
        let parts = || {
            Ok::<_, anyhow::Error>(Parts {
                bytes,
                measure: part("read", "hashed")?,
                derive: part("verified", "derived")?,
                key_pair: part("derived", "key pair")?,
                sign: part("key pair", "endorsed")?,
            })
        };
        Ok(Booted {
            column,
            machine,
            rate,
            medium: ran.reading,
            parts: if is_apart { Some(parts()?) } else { None },
            device_key: if is_apart { part("authenticated", "device key")? } else { 0 },
            bytes,
            points: ran.points,
        })
    }
}

/// Simulates all boots, as many at a time as there are processor cores, the longest first.
pub fn measure(is_quick: bool) -> Result<Vec<Booted>> {
    let plans = plans(is_quick);
    let mut order: Vec<usize> = (0..plans.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(plans[*index].weight()));
    let queue = Mutex::new(VecDeque::from(order));
    let (done, builds) = (Mutex::new(Vec::new()), Mutex::new(()));
    let work = || -> Result<()> {
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
            let Some(index) = next else { return Ok(()) };
            let (plan, start) = (&plans[index], Instant::now());
            let booted = plan.boot(&builds).inspect_err(|_| {
                // After a failure, the other threads do not start further boots.
                let _ = queue.lock().map(|mut queue| queue.clear());
            });
            let booted = booted.with_context(|| plan.name())?;
            let mut done = done.lock().map_err(|_| anyhow!("another boot failed"))?;
            done.push((index, booted));
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("[{}/{}] {} ({seconds:.0} s)", done.len(), plans.len(), plan.name());
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores().min(plans.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut done = done.into_inner().map_err(|_| anyhow!("a boot failed"))?;
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, booted)| booted).collect())
}

/// Returns the steps of each boot of the smallest size, and the timelines.
pub fn rows(boots: &[Booted]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for boot in boots.iter().filter(|boot| boot.bytes == SMALL) {
        let parts = boot.parts.context("steps that are not apart")?;
        let config = format!("{}, 64 KiB", boot.column);
        let is_judged = [sweep::DMA_24, sweep::DMA_12, sweep::PUSHED].contains(&boot.column);
        let row = |metric: &str, cycles: u64, most: Option<f64>| {
            let row = Row::info(TABLE, metric, "cycles", cycles as f64).of(&config);
            let row = match most.filter(|_| is_judged) {
                Some(most) => row.judged(Better::Lower, most),
                None => row,
            };
            row.how(How::Simulated)
        };
        let is_checked = boot.column != sweep::PAPER;
        let signed = if is_checked { "96 bytes, verified" } else { "96 bytes, not verified" };
        rows.push(row("measure", parts.measure, None));
        rows.push(row("derive", parts.derive, None).noted("two short hashes"));
        rows.push(row("key pair", parts.key_pair, Some(KEY_PAIR)));
        rows.push(
            row("device key", boot.device_key, None)
                .noted("secret, latch, key; no part of the whole"),
        );
        rows.push(row("sign", parts.sign, Some(SIGN)).noted(signed));
        rows.push(row("whole", parts.whole(), None).noted("measure, derive, key pair, sign"));
    }
    rows.extend(storage(boots)?);
    rows.extend(timelines(boots));
    Ok(rows)
}

/// Returns the simulated columns of the figure.
pub fn columns(boots: &[Booted]) -> Vec<SweepColumn> {
    let column = |name: &'static str| {
        let whole: Vec<Parts> = parts(boots, name).collect();
        (!whole.is_empty()).then(|| SweepColumn::new(name, whole))
    };
    COLUMNS.into_iter().filter_map(column).collect()
}

/// Returns the steps of all sizes of a column.
pub fn parts<'a>(boots: &'a [Booted], column: &str) -> impl Iterator<Item = Parts> + use<'a> {
    let column = column.to_owned();
    boots.iter().filter(move |boot| boot.column == column).filter_map(|boot| boot.parts)
}

/// Returns the rows of a boot as a device makes it, from reset to the jump.
fn storage(boots: &[Booted]) -> Result<Vec<Row>> {
    let [.., (quiet, _)] = DEVICES;
    let Some(boot) = boots.iter().find(|boot| boot.column == quiet) else { return Ok(Vec::new()) };
    let (_, jump) = boot.points.last().context("the monitor says nothing")?;
    let row = |metric: &str, unit: &str, value: f64| {
        Row::info(STORAGE, metric, unit, value).of("monitor of 2 MiB, a byte a cycle")
    };
    let bytes = boot.medium as f64;
    let over = row("reset to jump, by reading", "times", *jump as f64 / bytes);
    let over = over.judged(Better::Lower, OVER_READING).how(How::Computed);
    Ok(vec![
        row("reset to jump", "cycles", *jump as f64).how(How::Simulated),
        row("reading", "cycles", bytes).how(How::Computed).noted("bytes of the boot bundle"),
        over.noted("no timeline is printed"),
    ])
}

/// Returns every event of the boots with a storage of one byte per cycle, from reset on.
fn timelines(boots: &[Booted]) -> Vec<Row> {
    let mut rows = Vec::new();
    for boot in boots.iter().filter(|boot| boot.rate == AS_A_DEVICE) {
        let mut before = 0;
        let config = format!("{}, {} KiB", boot.column, boot.bytes >> 10);
        for (number, (what, cycle)) in boot.points.iter().enumerate() {
            let row =
                Row::info(TIMELINE, format!("{}. {what}", number + 1), "cycles", *cycle as f64);
            let note = format!("{} after the point before", cycle - before);
            before = *cycle;
            rows.push(row.of(&config).noted(note).how(How::Simulated));
        }
    }
    rows
}

/// Formats every boot whose steps do not overlap as CSV.
pub fn csv(boots: &[Booted]) -> String {
    let mut text =
        "column,machine,bytes,storage_rate,measure,derive,key_pair,device_key,sign\n".to_owned();
    for boot in boots {
        let Some(Parts { bytes, measure, derive, key_pair, sign }) = boot.parts else { continue };
        let Booted { column, machine, rate, device_key, .. } = boot;
        let _ = writeln!(
            text,
            "\"{column}\",{machine},{bytes},{rate},{measure},{derive},{key_pair},{device_key},{sign}"
        );
    }
    text
}

/// Formats every event of every boot as CSV.
pub fn points_csv(boots: &[Booted]) -> String {
    let mut text = "column,bytes,storage_rate,medium,number,point,cycle\n".to_owned();
    for Booted { column, bytes, rate, medium, points, .. } in boots {
        for (number, (what, cycle)) in points.iter().enumerate() {
            let number = number + 1;
            let _ = writeln!(text, "\"{column}\",{bytes},{rate},{medium},{number},{what},{cycle}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_results::run::Status;

    fn booted(column: &'static str, bytes: usize, measure: u64) -> Booted {
        let points = vec![("begins".to_owned(), 3), ("entered".to_owned(), 10)];
        let parts = Parts { bytes, measure, derive: 5, key_pair: 10, sign: 20 };
        Booted {
            column,
            machine: MACHINE,
            rate: AS_A_DEVICE,
            medium: 9,
            parts: Some(parts),
            device_key: 1000,
            bytes,
            points,
        }
    }

    #[test]
    fn a_timeline_says_what_each_point_took() {
        let mut fast = booted(sweep::DMA_24, PUBLISHED, 1);
        fast.rate = AT_ONCE;
        let rows = timelines(&[booted(sweep::DMA_24, SMALL, 1), fast]);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].metric, "2. entered");
        assert_eq!(rows[1].note.as_deref(), Some("7 after the point before"));
    }

    #[test]
    fn only_engines_are_judged_and_the_device_key_is_apart() {
        let boots = [booted(sweep::DMA_24, SMALL, 150), booted(sweep::OURS, SMALL, 90_000)];
        let rows = rows(&boots).unwrap();
        let judged: Vec<_> = rows.iter().filter(|row| row.target.is_some()).collect();
        assert_eq!(judged.len(), 2);
        assert!(judged.iter().all(|row| row.config.starts_with(sweep::DMA_24)));
        let whole = rows.iter().find(|row| row.metric == "whole").unwrap();
        assert_eq!(whole.ours, Some(185.0));
        // The column of this project's software comes from another program.
        assert_eq!(columns(&boots).len(), 1);
    }

    #[test]
    fn a_boot_is_held_against_reading_alone() {
        let [.., (quiet, _)] = DEVICES;
        let of = |medium: u64| {
            let boot = Booted { medium, parts: None, ..booted(quiet, PUBLISHED, 1) };
            storage(&[boot]).unwrap().pop().unwrap().status
        };
        // The monitor begins in cycle 10.
        assert_eq!((of(9), of(10)), (Status::Miss, Status::Hit));
    }

    #[test]
    fn a_quick_run_is_small_and_a_long_one_has_every_column() {
        assert!(plans(true).iter().all(|plan| plan.bytes == SMALL && plan.machine == MACHINE));
        // The column of the paper's manner comes from another program.
        let long = plans(false);
        let has = |name: &str| long.iter().filter(|plan| plan.column == name).count();
        assert_eq!([sweep::DMA_24, sweep::DMA_12].map(has), [8, 8]);
        assert_eq!([sweep::PUSHED, sweep::PAPER, sweep::HASH_ENGINE].map(has), [4, 0, 2]);
        assert_eq!(long.len(), 25);
    }
}
