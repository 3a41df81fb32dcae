//! `cargo xtask flips`: changes single bits of the demo's system bundle and lets the `hartlock`
//! command verify every changed bundle.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::demo;
use xtask::Outcome;
use xtask::{Verdict, run};

#[derive(clap::Args)]
pub struct FlipsArgs {
    /// Number of bits to flip, spread over the whole bundle
    #[arg(long, default_value_t = 500)]
    count: u64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn main(args: &FlipsArgs) -> Result<Verdict> {
    match judge(args.count, args.seed)? {
        Outcome::Failed(why) => {
            println!("{why}");
            Ok(Verdict::No)
        }
        _ => {
            println!("{} changed bits, {} refusals with a reason", args.count, args.count);
            Ok(Verdict::Yes)
        }
    }
}

/// Runs as a step of `cargo xtask test`.
pub fn step(_: &Path) -> Result<Outcome> {
    judge(500, 1)
}

fn judge(count: u64, seed: u64) -> Result<Outcome> {
    let (hartlock, folder) = demo::signed()?;
    let bundle = folder.join("system.hlk");
    // The unchanged bundle must be accepted, otherwise the refusals below would prove nothing.
    let mut verify = verify(&hartlock, &bundle, &folder);
    run::quietly(&mut verify).context("the unchanged bundle")?;

    let size = fs::metadata(&bundle)?.len();
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let results = thread::scope(|scope| {
        let work = |worker| {
            let (hartlock, folder, bundle) = (&hartlock, &folder, &bundle);
            scope.spawn(move || -> Result<Vec<String>> {
                let copy = folder.join(format!("flipped-{worker}.hlk"));
                fs::copy(bundle, &copy)?;
                let file = File::options().read(true).write(true).open(&copy)?;
                let mut wrong = Vec::new();
                for index in (worker..count).step_by(workers as usize) {
                    let bit = spread(seed.wrapping_add(index)) % (size * 8);
                    let mut byte = [0];
                    file.read_exact_at(&mut byte, bit / 8)?;
                    file.write_all_at(&[byte[0] ^ 1 << (bit % 8)], bit / 8)?;
                    if let Err(error) = refuses(hartlock, &copy, folder) {
                        wrong.push(format!("bit {bit}: {error:#}"));
                    }
                    file.write_all_at(&byte, bit / 8)?;
                }
                fs::remove_file(&copy)?;
                Ok(wrong)
            })
        };
        let handles: Vec<_> = (0..workers).map(work).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = results.into_iter().collect::<Result<Vec<_>>>()?.concat();
    Ok(if wrong.is_empty() { Outcome::Passed } else { Outcome::Failed(wrong.join("\n")) })
}

fn verify(hartlock: &Path, bundle: &Path, folder: &Path) -> Command {
    let mut command = Command::new(hartlock);
    command.arg("verify").arg(bundle).arg("--key").arg(folder.join("root.pub.pem"));
    command
}

/// Checks that the command exits with 1 and prints a reason code.
fn refuses(hartlock: &Path, bundle: &Path, folder: &Path) -> Result<()> {
    let output = verify(hartlock, bundle, folder).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(1), "exit {:?}\n{text}", output.status.code());
    ensure!(text.contains("error: E0"), "no reason: {text}");
    Ok(())
}

/// Returns pseudorandom numbers, the same in every run (SplitMix64).
fn spread(index: u64) -> u64 {
    let mut value = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_spread_over_the_whole_bundle() {
        let size = 1000;
        let mut parts = [0; 10];
        for index in 0..500 {
            parts[(spread(index) % size / 100) as usize] += 1;
        }
        assert!(parts.iter().all(|count| *count > 20), "{parts:?}");
    }
}
