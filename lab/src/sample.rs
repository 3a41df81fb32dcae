//! Measures one execution of a program from outside.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use wait4::Wait4;

use super::machine::{busy_seconds, cores};
use xtask::run;

/// Measurements of one execution.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Name of the measurement.
    pub what: &'static str,
    pub config: String,
    pub round: usize,
    pub wall: f64,
    pub user: f64,
    pub system: f64,
    /// Peak memory in KiB. Linux includes the memory of the parent process at the start of the
    /// program, so the value is never less than that of this command.
    pub peak_kib: u64,
    /// Share of the processor that all other programs and the kernel's own threads used meanwhile.
    pub others: f64,
}

impl Sample {
    /// Runs a program to its end and measures it. Fails if the program fails.
    pub fn take(
        what: &'static str,
        config: &str,
        round: usize,
        command: &mut Command,
    ) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let busy_before = busy_seconds()?;
        let start = Instant::now();
        let child = command.spawn().map_err(|error| run::not_started(command, &error))?;
        let used = child.wait4().context("wait4")?;
        let wall = start.elapsed().as_secs_f64();
        let busy = busy_seconds()? - busy_before;
        if !used.status.success() {
            bail!("{} failed ({})", run::describe(command), used.status);
        }
        let (user, system) = (used.rusage.utime.as_secs_f64(), used.rusage.stime.as_secs_f64());
        Ok(Self {
            what,
            config: config.to_owned(),
            round,
            wall,
            user,
            system,
            peak_kib: used.rusage.maxrss / 1024,
            others: ((busy - user - system) / (wall * cores() as f64)).clamp(0.0, 1.0),
        })
    }
}

/// Formats all samples as CSV.
pub fn csv(samples: &[Sample]) -> String {
    let mut text = "what,config,round,wall_s,user_s,system_s,peak_kib,others\n".to_owned();
    for it in samples {
        text += &format!(
            "\"{}\",\"{}\",{},{:.4},{:.3},{:.3},{},{:.3}\n",
            it.what, it.config, it.round, it.wall, it.user, it.system, it.peak_kib, it.others
        );
    }
    text
}

/// Returns the median; of an even number of values, the mean of the two in the middle.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => values[at],
        _ => (values[at - 1] + values[at]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_measured_and_must_succeed() {
        let mut command = Command::new("sh");
        let sample = Sample::take("sh", "", 0, command.args(["-c", "sleep 0.05"])).unwrap();
        assert!(sample.wall >= 0.05 && sample.peak_kib > 100, "{sample:?}");
        let mut command = Command::new("sh");
        Sample::take("sh", "", 0, command.args(["-c", "exit 3"])).unwrap_err();
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }
}
