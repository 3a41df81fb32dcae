//! `hartlock kat`

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

use hartlock_bundle::digest::core_count;
use hartlock_emulator::bare::find_bench;
use hartlock_files::FileError;
use hartlock_kat::host::HostKernel;
use hartlock_kat::host::board::{self, Board};
use hartlock_kat::host::line::Verdict;
use hartlock_kat::host::stream::{self, Backend, Tally, Threads};
use hartlock_kernels::Tier;
use serde::Serialize;

use crate::failure::Failure;
use crate::installation;
use crate::output::{Report, talk};
use crate::progress::Progress;
use crate::units::{count_text, grouped};

/// Size of the input buffer in bytes.
const BUFFER_SIZE: usize = 1 << 20;

/// Compute the answers to known-answer tests (KAT) of hashes, MACs and signatures
///
/// Each line of the input is a JSON object with one test case. For each line, one line with the answer is
/// printed, in the same order: a digest, a message authentication code, or whether a signature is valid. The
/// answers are computed on this machine or on an emulated board. The answer also says if an algorithm is not
/// supported or a line cannot be parsed.
#[derive(Debug, clap::Args)]
pub struct KatArgs {
    /// File with test cases; `-` for standard input
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,
    /// Use only this hash implementation: portable or lanes; on a board portable, rv64, zbb, zknh, v,
    /// zvbb or zvknh
    #[arg(long, alias = "kernel", value_name = "NAME")]
    implementation: Option<String>,
    /// Compute on an emulated board: `qemu:` and a CPU model of QEMU or a named hart configuration, for
    /// example qemu:rv64 or qemu:zvknh-256
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Program that runs on the board [default: $HARTLOCK_BENCH, or ../firmware/jobs.bin relative to the folder
    /// of this command]
    #[arg(long, value_name = "BENCH.bin", requires = "target")]
    bench: Option<PathBuf>,
    /// QEMU to use [default: $HARTLOCK_QEMU, or the one on PATH]
    #[arg(long, value_name = "PROGRAM", requires = "target")]
    qemu: Option<PathBuf>,
}

/// The number of lines by the status of their answer. The answers themselves are printed as they are
/// computed.
#[derive(Debug, Serialize)]
pub struct Answered {
    lines: u64,
    ok: u64,
    valid: u64,
    invalid: u64,
    unsupported: u64,
    error: u64,
}

impl Report for Answered {
    fn text(&self) -> String {
        String::new()
    }
}

impl From<Tally> for Answered {
    fn from(tally: Tally) -> Self {
        Self {
            lines: tally.lines(),
            ok: tally.count(Verdict::Ok),
            valid: tally.count(Verdict::Valid),
            invalid: tally.count(Verdict::Invalid),
            unsupported: tally.count(Verdict::Unsupported),
            error: tally.count(Verdict::Error),
        }
    }
}

impl Answered {
    /// Returns a summary for people, which is printed on the standard error.
    fn summary(&self) -> String {
        let parts = [
            (self.ok, "ok"),
            (self.valid, "valid"),
            (self.invalid, "invalid"),
            (self.unsupported, "unsupported"),
            (self.error, "error"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<_> =
            parts.map(|(count, word)| format!("{} {word}", grouped(count))).collect();
        let lines = count_text(self.lines, "line", "lines");
        if parts.is_empty() { lines } else { format!("{lines}: {}", parts.join(", ")) }
    }
}

/// Answers the cases.
pub fn run(args: &KatArgs) -> Result<Answered, Failure> {
    let kernel = args.implementation.as_deref();
    let tally = match args.target.as_deref() {
        None => {
            let engine = host_kernel(kernel)?.engine();
            answer(args, &mut Threads { engine, count: core_count() }, |never| match never {})?
        }
        Some(target) => {
            let cpu = board::cpu_of(target).ok_or_else(|| {
                Failure::undecided(
                    format!("`{target}` is not a target"),
                    "write `qemu:` and a CPU of QEMU, for example `qemu:rv64`",
                )
            })?;
            let forced = kernel.map(board_kernel).transpose()?;
            let bench = find_bench(args.bench.as_deref())?;
            let qemu = installation::qemu(args.qemu.as_deref())?;
            answer(args, &mut Board::new(qemu, bench, cpu, forced), |error| match error {
                board::Error::Emulator(error) => error.into(),
                error => Failure::undecided(error.to_string(), "build the bench again"),
            })?
        }
    };
    let answered = Answered::from(tally);
    talk(&answered.summary());
    Ok(answered)
}

fn host_kernel(name: Option<&str>) -> Result<HostKernel, Failure> {
    let Some(name) = name else { return Ok(HostKernel::default()) };
    let found = HostKernel::ALL.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, kernel)| kernel).ok_or_else(|| {
        let names = HostKernel::ALL.map(|(name, _)| name).join(", ");
        Failure::undecided(
            format!("there is no hash implementation `{name}` on this machine"),
            format!("use one of {names}"),
        )
    })
}

fn board_kernel(name: &str) -> Result<Tier, Failure> {
    Tier::ALL.into_iter().find(|tier| tier.name() == name).ok_or_else(|| {
        let names = Tier::ALL.map(Tier::name).join(", ");
        Failure::undecided(
            format!("there is no hash implementation `{name}` on a board"),
            format!("use one of {names}"),
        )
    })
}

fn answer<B: Backend>(
    args: &KatArgs,
    backend: &mut B,
    explain: impl FnOnce(B::Error) -> Failure,
) -> Result<Tally, Failure> {
    let (input, size) = open(&args.file)?;
    let mut progress = Progress::new("answering");
    // The output is flushed after each batch of answers and not after each line, to save system calls.
    let mut output = BufWriter::new(io::stdout().lock());
    let result = stream::run(
        backend,
        &mut BufReader::with_capacity(BUFFER_SIZE, input),
        &mut output,
        |done| progress.show(done, size.unwrap_or(0)),
    );
    drop(progress);
    match result {
        Ok(tally) => Ok(tally),
        Err(stream::Error::Backend(error)) => Err(explain(error)),
        Err(stream::Error::Input(error)) => Err(FileError::new("read", &args.file, error).into()),
        // The reader may have closed the pipe on purpose, but not every line was processed.
        Err(stream::Error::Output(error)) => Err(Failure::undecided(
            format!("cannot write to standard output: {error}"),
            "check where the output goes",
        )),
    }
}

/// Opens the input. Returns also its size in bytes if that is known.
fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let failed = |error: io::Error| Failure::from(FileError::new("read", path, error));
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    Ok((Box::new(file), Some(metadata.len())))
}
