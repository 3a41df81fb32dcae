//! Boots of a TEE's first-stage loader on `tee-1-full` and `tee-1-fast`: what measuring, the key pair and the endorsement
//! take, by engines and in software.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};

use super::sweep::{self, Column, Parts, SIZES};
use crate::machine::cores;
use hartlock_hw::machines::tee::tee;
use hartlock_hw::machines::tee_boot::{Boot, By, Prepared, between, record};
use hartlock_results::run::{Better, How, Row};
use xtask::project;

pub const TABLE: &str = "Boot of a monitor";
pub const TIMELINE: &str = "Timeline";
/// From a storage of a byte a cycle, as a device boots.
pub const STORAGE: &str = "From storage";
/// The machine whose software can be compared with.
pub const MACHINE: &str = "tee-1-full";
/// The same with 12 cycles for a block of SHA-3.
const FAST: &str = "tee-1-fast";
const SMALL: usize = 64 << 10;
/// The payload of the paper.
const PUBLISHED: usize = 2 << 20;
/// Bytes that the storage delivers in 1000 cycles: a byte a cycle, and what the port of memory takes. What is not about
/// storage does not wait for it.
const AS_A_DEVICE: u32 = 1000;
const AT_ONCE: u32 = 32_000;
/// At most so many cycles of the engines.
const KEY_PAIR: f64 = 18_000.0;
const SIGN: f64 = 66_000.0;
/// From reset to the jump, by reading alone.
const OVER_READING: f64 = 1.05;

/// A boot to be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    column: &'static str,
    machine: &'static str,
    by: By,
    bytes: usize,
    rate: u32,
}

/// Ways to boot, the machine, and the largest size that is simulated: where the processor does the work, the rest is scaled.
const WAYS: [(&str, &str, By, usize); 5] = [
    (sweep::HASH_ENGINE, MACHINE, By::HashEngine, 256 << 10),
    (sweep::PUSHED, MACHINE, By::Pushed, PUBLISHED),
    (sweep::DMA_24, MACHINE, By::Engines, 32 << 20),
    (sweep::DMA_12, FAST, By::Engines, 32 << 20),
    // One, which the program of `software.rs` is held against.
    (sweep::OURS, MACHINE, By::Software, SMALL),
];
/// Those of a quick run, of the smallest size.
const QUICK: [&str; 2] = [sweep::DMA_24, sweep::PUSHED];
/// Columns of the figure that are simulated whole, in its order. Of our software one size is, which makes none.
const COLUMNS: [&str; 5] =
    [sweep::HASH_ENGINE, sweep::PAPER, sweep::PUSHED, sweep::DMA_24, sweep::DMA_12];
/// Not columns of the figure: what storage delivers is hashed meanwhile, with a timeline on the console and without.
const DEVICES: [(&str, By); 2] =
    [("engines, while read", By::Overlapped), ("engines, while read, quiet", By::Quiet)];

/// One boot.
#[derive(Clone, Debug)]
pub struct Booted {
    pub column: &'static str,
    machine: &'static str,
    rate: u32,
    /// Of the storage.
    medium: u64,
    /// None of a boot whose steps are not apart.
    pub parts: Option<Parts>,
    /// The device's public key, which a device can store.
    device_key: u64,
    bytes: usize,
    /// What was reached, and in which cycle since reset.
    points: Vec<(String, u64)>,
}

fn plans(is_quick: bool) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (column, machine, by, most) in WAYS {
        let most = if is_quick { SMALL } else { most };
        for (bytes, _) in SIZES.into_iter().filter(|(bytes, _)| *bytes <= most) {
            let rate = if bytes == SMALL { AS_A_DEVICE } else { AT_ONCE };
            plans.push(Plan { column, machine, by, bytes, rate });
        }
    }
    if is_quick {
        plans.retain(|plan| QUICK.contains(&plan.column));
        return plans;
    }
    for (column, by) in DEVICES {
        plans.push(Plan { column, machine: MACHINE, by, bytes: PUBLISHED, rate: AS_A_DEVICE });
    }
    plans
}

impl Booted {
    /// Of steps that another program than the loader took, from memory that no storage delivers.
    pub fn apart(column: &'static str, parts: Parts, device_key: u64) -> Self {
        let (machine, rate, bytes) = (MACHINE, AT_ONCE, parts.bytes);
        let (medium, parts, points) = (0, Some(parts), Vec::new());
        Self { column, machine, rate, medium, parts, device_key, bytes, points }
    }
}

impl Plan {
    /// Estimate of its cycles, to begin with the longest.
    fn weight(&self) -> usize {
        let hundredths = match self.by {
            By::Pushed => 190,
            _ if self.machine == FAST => 20,
            _ => 37,
        };
        let signer = if matches!(self.by, By::HashEngine | By::Software) { 10_000_000 } else { 0 };
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
            let boot = Boot { by, size: bytes, options: &options, ..Boot::default() };
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

/// All boots, as many at a time as there are processors; the longest begin.
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
                // The others need not begin a boot that is not used.
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

/// Parts of each boot of the smallest size, and timelines.
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

/// Columns of the figure that were simulated.
pub fn columns(boots: &[Booted]) -> Vec<Column> {
    let column = |name: &'static str| {
        let whole: Vec<Parts> = parts(boots, name).collect();
        (!whole.is_empty()).then(|| Column::new(name, whole))
    };
    COLUMNS.into_iter().filter_map(column).collect()
}

/// All sizes of a column.
pub fn parts<'a>(boots: &'a [Booted], column: &str) -> impl Iterator<Item = Parts> + use<'a> {
    let column = column.to_owned();
    boots.iter().filter(move |boot| boot.column == column).filter_map(|boot| boot.parts)
}

/// The whole boot as a device makes it, from reset to the jump.
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

/// Every point of the boots of 64 KiB and of a device's, from reset.
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

/// Every boot whose steps are apart, as CSV.
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

/// Every point of every boot, as CSV.
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
        // Our software is a column by another program.
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
        // The paper's manner has a program of its own.
        let long = plans(false);
        let has = |name: &str| long.iter().filter(|plan| plan.column == name).count();
        assert_eq!([sweep::DMA_24, sweep::DMA_12].map(has), [8, 8]);
        assert_eq!([sweep::PUSHED, sweep::PAPER, sweep::HASH_ENGINE].map(has), [4, 0, 2]);
        assert_eq!(long.len(), 25);
    }
}
