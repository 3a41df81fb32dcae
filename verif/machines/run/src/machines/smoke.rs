//! Runs the smoke program (`verif/programs/smoke`) on a machine: makes its medium, and reads the values that it
//! measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::Sha384;
use hartlock_kernels::sha3::Sha3_384;
use hartlock_smoke::{BLOCKS, Header};

use crate::assertion::{Failed, first_failure};
use xtask::run;

/// A limit far above the cycles for a block of practical size.
const MAX_CYCLES: u64 = 500_000_000;

/// The output of the program, in cycles of its first hart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmokeReport {
    pub harts: u64,
    /// The cycles from an interrupt to all harts, which have nothing to do, until all have answered.
    pub wake: u64,
    pub storage: Cost,
    pub sha3_384: Cost,
    pub sha384: Cost,
    pub all_sha3_384: Cost,
    /// The lines of the machine: the cycles of every hart by cause.
    pub report: String,
}

/// A number of bytes, and the cycles for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub bytes: u64,
    pub cycles: u64,
}

impl Cost {
    pub fn cycles_per_byte(self) -> f64 {
        self.cycles as f64 / self.bytes as f64
    }
}

/// Returns the medium: pseudorandom blocks and their digests, computed by the portable kernels of this machine.
pub fn medium(block_len: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(block_len * BLOCKS);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while data.len() < block_len * BLOCKS {
        // The generator is Xorshift (Marsaglia 2003). Any bytes are suitable if they are the same on all machines.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        data.extend(state.to_le_bytes());
    }
    let mut blocks = data.chunks_exact(block_len).map(digest::<Sha3_384>);
    let header = Header {
        block_len: block_len as u64,
        sha3_384: digest::<Sha3_384>(&data),
        sha384: digest::<Sha384>(&data),
        blocks: [(); BLOCKS].map(|()| blocks.next().unwrap_or([0; 48])),
    };
    let mut medium = header.encode().to_vec();
    medium.extend(data);
    medium
}

fn digest<H: Hash>(data: &[u8]) -> H::Output {
    let mut hash = H::new();
    hash.update(data);
    hash.finalize()
}

/// The end of a program on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Success,
    /// The program reported a failure.
    Failure,
    /// The program did not end in time.
    Timeout,
}

impl End {
    /// Returns the end of a run from the exit code of the machine and its output.
    ///
    /// # Errors
    /// [`Failed`] if an assertion of the RTL failed; another error if the program could not be run.
    pub fn of(output: &Output) -> Result<End> {
        match output.status.code() {
            Some(0) => Ok(End::Success),
            Some(1) => Ok(End::Failure),
            Some(3) => Ok(End::Timeout),
            _ => match first_failure(&run::tail(output, usize::MAX)) {
                Some(name) => Err(Failed { name }.into()),
                None => {
                    let errors = String::from_utf8_lossy(&output.stderr);
                    bail!("the machine did not run\n{errors}")
                }
            },
        }
    }
}

/// A program on a machine, and its files and options.
pub struct Machine<'a> {
    pub machine: &'a Path,
    pub program: &'a Path,
    /// The folder to which medium and report are written.
    pub folder: &'a Path,
    /// Options of the machine.
    pub options: &'a [String],
}

impl Machine<'_> {
    /// Runs the program with this medium; returns its console, its report and its end. After a failure, other output of
    /// the machine goes to the terminal.
    pub fn run(&self, medium: &[u8]) -> Result<(String, String, End)> {
        fs::create_dir_all(self.folder)?;
        let medium_path = self.folder.join("medium.bin");
        let report: PathBuf = self.folder.join("report.txt");
        fs::write(&medium_path, medium)?;
        let mut command = Command::new(self.machine);
        command.arg("--max-cycles").arg(MAX_CYCLES.to_string());
        command.arg("--medium").arg(medium_path).arg("--report").arg(&report);
        command.args(self.options).arg(self.program).stderr(Stdio::piped());
        let output = run::capture(&mut command)?;
        let console = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        let end = End::of(&output)?;
        let report = fs::read_to_string(&report).context("the machine wrote no report")?;
        Ok((console, report, end))
    }

    /// Runs the smoke program with blocks of this length. It has to succeed.
    pub fn smoke(&self, block_len: usize) -> Result<SmokeReport> {
        let (console, report, end) = self.run(&medium(block_len))?;
        ensure!(end == End::Success, "the smoke program ended in {end:?}\n{console}");
        let mut measured = parse(&console).with_context(|| format!("it printed\n{console}"))?;
        measured.report = report;
        Ok(measured)
    }
}

/// Reads the console of the program (verif/programs/smoke/src/main.rs).
fn parse(console: &str) -> Result<SmokeReport> {
    let numbers = |what: &str| -> Result<Vec<u64>> {
        let line =
            console.lines().find_map(|line| line.strip_prefix("smoke: ")?.strip_prefix(what));
        let line = line.with_context(|| format!("no line about {what}"))?;
        line.split_whitespace().map(|word| Ok(word.parse()?)).collect()
    };
    let cost = |what: &str| match numbers(what)?[..] {
        [bytes, cycles, ..] if bytes > 0 => Ok(Cost { bytes, cycles }),
        _ => bail!("the line about {what} is incomplete"),
    };
    let first = |what: &str| numbers(what)?.first().copied().context("a line has no number");
    ensure!(console.lines().any(|line| line == "smoke: done"), "it did not come to its end");
    Ok(SmokeReport {
        harts: first("harts ")?,
        wake: first("wake ")?,
        storage: cost("storage ")?,
        sha3_384: cost("one sha3-384 ")?,
        sha384: cost("one sha384 ")?,
        all_sha3_384: cost("all sha3-384 ")?,
        report: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSOLE: &str = "smoke: harts 4\nhartlock: hashes\nsmoke: wake 672\n\
        smoke: storage 4096 4236\nsmoke: one sha3-384 4096 199531 194945\n\
        smoke: one sha384 4096 148521 147496\nsmoke: all sha3-384 4096 52745\nsmoke: done\n";

    #[test]
    fn a_failed_assertion_ends_a_run_with_its_name() {
        let end = |script: &str| End::of(&run::capture(Command::new("sh").args(["-c", script]))?);
        let line = "[9] %Error: rot_cpu.sv:7: Assertion failed in TOP.u_cpu.WaitA_A: x";
        let error = end(&format!("echo '{line}'; exit 2")).unwrap_err();
        assert_eq!(error.downcast::<Failed>().unwrap().name, "rot_cpu.WaitA_A");
        assert!(end("exit 2").unwrap_err().downcast::<Failed>().is_err());
        assert_eq!(end("exit 3").unwrap(), End::Timeout);
    }

    #[test]
    fn reads_what_the_program_prints() {
        let measured = parse(CONSOLE).unwrap();
        assert_eq!((measured.harts, measured.wake), (4, 672));
        assert_eq!(measured.all_sha3_384, Cost { bytes: 4096, cycles: 52745 });
    }

    #[test]
    fn refuses_a_console_that_lacks_something() {
        for line in CONSOLE.lines().filter(|line| line.starts_with("smoke:")) {
            assert!(parse(&CONSOLE.replace(line, "")).is_err(), "{line}");
        }
    }

    #[test]
    fn medium_says_what_it_holds() {
        let medium = medium(512);
        let header = Header::parse(&medium[..512]).unwrap();
        assert_eq!(header.block_len, 512);
        assert_eq!(header.sha384, digest::<Sha384>(&medium[512..]));
        assert_eq!(header.blocks[3], digest::<Sha3_384>(&medium[512 + 3 * 512..]));
    }
}
