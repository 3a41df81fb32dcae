//! Describes the machine of a run, and the load on it by other programs.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hartlock_results::run::Machine;

use xtask::{project, run};

/// Maximum share of the processor that other programs may use when a measurement begins.
const QUIET: f64 = 0.1;

/// The machine that this program runs on.
///
/// # Errors
/// If `/proc` lacks a field.
pub fn this() -> Result<Machine> {
    Ok(Machine {
        processor: field("/proc/cpuinfo", "model name")?,
        cores: cores(),
        memory_mib: field("/proc/meminfo", "MemTotal")?
            .split_whitespace()
            .next()
            .and_then(|kib| kib.parse::<u64>().ok())
            .context("/proc/meminfo has no MemTotal in kB")?
            / 1024,
        kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        others_median: 0.0,
        others_most: 0.0,
    })
}

/// The versions of tools in the form of a stored run.
pub fn named(versions: BTreeMap<&str, String>) -> BTreeMap<String, String> {
    versions.into_iter().map(|(name, version)| (name.to_owned(), version)).collect()
}

/// Returns the number of cores that a program started here may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Returns the commit of the checkout, with the suffix `+changes` if tracked files differ from it.
pub fn commit() -> Result<String> {
    let git =
        |words: &[&str]| run::quietly(Command::new("git").args(words).current_dir(project::root()));
    let commit = git(&["rev-parse", "HEAD"])?.trim().to_owned();
    let is_clean =
        git(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Ok(if is_clean { commit } else { format!("{commit}+changes") })
}

/// Returns the present time in UTC.
pub fn date() -> Result<String> {
    Ok(run::quietly(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?.trim().to_owned())
}

/// Returns the first line of a program's version output.
pub fn version(program: &str, argument: &str) -> Result<String> {
    let text = run::quietly(Command::new(program).arg(argument))?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.to_owned())
}

/// Returns the value of the first line of a file that has the form `name: value`.
fn field(path: &str, name: &str) -> Result<String> {
    let text = read(path)?;
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    });
    value.with_context(|| format!("{path} has no `{name}`"))
}

/// Returns the time in seconds that all cores together were busy since the machine started,
/// including the time that a hypervisor took.
pub fn busy_seconds() -> Result<f64> {
    let text = read("/proc/stat")?;
    busy_ticks(&text).map(|ticks| ticks as f64 / 100.0).context("/proc/stat has no line `cpu`")
}

/// Sums the busy times in a line with `user nice system idle iowait irq softirq steal …`, in
/// hundredths of a second, which is the unit in every Linux kernel of Debian (proc_stat(5)).
fn busy_ticks(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
    Some([0, 1, 2, 5, 6, 7].iter().filter_map(|at| ticks.get(*at)).sum())
}

/// The remaining time to wait for a quiet processor.
pub struct Patience {
    left: Duration,
}

impl Patience {
    pub fn new(seconds: u64) -> Self {
        Self { left: Duration::from_secs(seconds) }
    }

    /// Returns when the processor is nearly idle, or when no waiting time is left.
    pub fn wait(&mut self) -> Result<()> {
        let start = Instant::now();
        let mut was_told = false;
        loop {
            let before = busy_seconds()?;
            let window = Duration::from_secs(1);
            thread::sleep(window);
            let share = (busy_seconds()? - before) / (window.as_secs_f64() * cores() as f64);
            if share < QUIET || start.elapsed() >= self.left {
                self.left = self.left.saturating_sub(start.elapsed());
                return Ok(());
            }
            if !was_told {
                eprintln!("waiting: other programs use {:.0} % of the processor", share * 100.0);
                was_told = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_and_waiting_for_disks_are_no_work() {
        let text = "cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_ticks(text), Some(87_600_321));
        assert_eq!(busy_ticks("intr 1\n"), None);
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let machine = this().unwrap();
        assert!(machine.cores > 0 && machine.memory_mib > 0 && !machine.processor.is_empty());
    }
}
