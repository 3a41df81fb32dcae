//! Measures how fast `hartlock` signs and verifies a large payload, compared with `openssl dgst` on
//! the same file in the same run. `lab/README.md` describes the limits of these numbers.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use hartlock_image::HashId;

use super::args::LabArgs;
use super::machine::{self, Patience, commit, date, version};
use super::sample::{Sample, csv, median};
use hartlock_device::demo;
use hartlock_results::inputs;
use hartlock_results::run::{Better, How, Row, Run};
use xtask::{project, run};

/// Minimum throughput, as a multiple of that of `openssl dgst`.
const TARGET_SPEED: f64 = 1.8;
/// Maximum memory in MiB.
const TARGET_MEMORY: f64 = 64.0;
const MIB: u64 = 1 << 20;

/// Names of the measurements of a round, in this order.
const OPENSSL: &str = "openssl dgst";
const SIGN: &str = "sign";
/// Verification after the system was told to drop the bundle from its page cache, so that it is
/// read from the disk.
const VERIFY_COLD: &str = "verify, not in memory";
const VERIFY: &str = "verify";
/// A plain write of the same number of bytes to the disk, for comparison.
const DISK: &str = "disk";
/// Shell script of that measurement. Several processes write at the same time to a file whose space
/// was allocated before. `$1` is the number of MiB for each process.
const WRITE: &str = "set -e; fallocate -l $((4 * $1))M copy
for at in 0 1 2 3; do
    dd if=/dev/zero of=copy bs=1M count=$1 seek=$(($1 * at)) oflag=direct conv=notrunc status=none &
done
wait; sync copy";
const WRITERS: u64 = 4;
/// A program that does nothing. Its memory is the smallest that this method can measure.
const NOTHING: &str = "true";

/// A hash, and a mode of hashing the payload.
struct Case {
    hash: HashId,
    is_flat: bool,
}

impl Case {
    fn config(&self) -> String {
        format!("{} {}", self.hash.name(), if self.is_flat { "flat" } else { "blocks" })
    }
}

/// Size of a measurement.
struct Scale {
    payload_mib: u64,
    rounds: usize,
    hashes: &'static [HashId],
}

/// Hashes that `openssl dgst` also supports.
const COMPARED: [HashId; 6] = [
    HashId::Sha256,
    HashId::Sha384,
    HashId::Sha512,
    HashId::Sha3_256,
    HashId::Sha3_384,
    HashId::Sha3_512,
];

const FULL: Scale = Scale { payload_mib: 1024, rounds: 7, hashes: &COMPARED };
const QUICK: Scale = Scale {
    payload_mib: 256,
    rounds: 2,
    hashes: &[HashId::Sha256, HashId::Sha384, HashId::Sha3_384],
};

pub fn measure(args: &LabArgs) -> Result<Run> {
    let scale = if args.quick { QUICK } else { FULL };
    eprintln!("building the hartlock command");
    let hartlock = demo::build_command()?;
    let bench = Bench::prepare(hartlock, &scale)?;
    let samples = bench.rounds(&scale, &mut Patience::new(args.patience))?;
    let mut machine = machine::this()?;
    // The kernel counts in hundredths of a second, too coarse for the shortest sample.
    let others = || samples.iter().filter(|it| it.what != NOTHING).map(|it| it.others);
    machine.others_median = rounded(median(others()));
    machine.others_most = rounded(others().fold(0.0, f64::max));
    let run = Run {
        paper: "host-speed".to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), "host-speed")?,
        tools: machine::named(BTreeMap::from([
            ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
            ("openssl", version("openssl", "version")?),
            ("rustc", version("rustc", "--version")?),
        ])),
        date: date()?,
        rows: How::Timed.made(rows(&samples, &scale)),
        machine,
    };
    let folder = args.folder();
    run.store(&folder, &csv(&samples))?;
    print!("{}", run.text());
    println!(
        "\nother programs used {:.0} % of the processor (median of the samples), {:.0} % at most",
        run.machine.others_median * 100.0,
        run.machine.others_most * 100.0
    );
    println!("stored as {}", folder.join("host-speed.json").display());
    Ok(run)
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// A folder with a payload and keys, which is removed when this value is dropped.
struct Bench {
    hartlock: PathBuf,
    folder: PathBuf,
}

impl Drop for Bench {
    fn drop(&mut self) {
        // If this fails, the next run removes the folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    fn prepare(hartlock: PathBuf, scale: &Scale) -> Result<Self> {
        let folder = project::target_dir().join("lab/host-speed");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let bench = Self { hartlock, folder: std::path::absolute(folder)? };
        eprintln!("writing a payload of {} MiB", scale.payload_mib);
        write_payload(&bench.file("payload"), scale.payload_mib)?;
        fs::write(bench.file("fdt"), [0; 4096])?;
        run::quietly(bench.hartlock().args(["keygen", "-o", "key.pem"]))?;
        for case in bench.cases(scale) {
            fs::write(bench.file(&spec_name(&case)), spec(&case))?;
        }
        Ok(bench)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn hartlock(&self) -> Command {
        let mut command = Command::new(&self.hartlock);
        command.current_dir(&self.folder);
        command
    }

    fn cases(&self, scale: &Scale) -> Vec<Case> {
        let blocks = scale.hashes.iter().map(|hash| Case { hash: *hash, is_flat: false });
        blocks.chain([Case { hash: HashId::Sha384, is_flat: true }]).collect()
    }

    /// Takes all samples. The tools run in turns, so that a period in which the machine is busy or
    /// slow affects all of them.
    fn rounds(&self, scale: &Scale, patience: &mut Patience) -> Result<Vec<Sample>> {
        let mut samples = vec![Sample::take(NOTHING, "", 0, &mut Command::new("true"))?];
        for round in 0..scale.rounds {
            for case in self.cases(scale) {
                patience.wait()?;
                eprintln!("round {} of {}: {}", round + 1, scale.rounds, case.config());
                self.round(&case, round, &mut samples)?;
            }
            let mut write = Command::new("sh");
            write.current_dir(&self.folder).args(["-c", WRITE, "sh"]);
            write.arg((scale.payload_mib / WRITERS).to_string());
            // Some file systems do not support this measurement, and no target depends on it.
            samples.extend(Sample::take(DISK, "", round, &mut write).ok());
            let _ = fs::remove_file(self.file("copy"));
        }
        Ok(samples)
    }

    fn round(&self, case: &Case, round: usize, samples: &mut Vec<Sample>) -> Result<()> {
        let config = case.config();
        let mut take = |what, command: &mut Command| -> Result<()> {
            samples.push(Sample::take(what, &config, round, command)?);
            Ok(())
        };
        let mut openssl = Command::new("openssl");
        openssl.current_dir(&self.folder);
        openssl.args(["dgst", &format!("-{}", case.hash.name()), "payload"]);
        take(OPENSSL, &mut openssl)?;
        let mut sign = self.hartlock();
        sign.args([
            "sign",
            &spec_name(case),
            "--key",
            "key.pem",
            "-o",
            "bundle.hlk",
            "--force-type",
        ]);
        take(SIGN, &mut sign)?;
        let mut verify = self.hartlock();
        verify.args(["verify", "bundle.hlk", "--key", "key.pub.pem", "--force-type"]);
        let mut forget = Command::new("dd");
        forget.current_dir(&self.folder);
        run::quietly(forget.args(["if=bundle.hlk", "iflag=nocache", "count=0"]))?;
        take(VERIFY_COLD, &mut verify)?;
        // Reads the bundle into the page cache, where the payload is for openssl.
        io::copy(&mut File::open(self.file("bundle.hlk"))?, &mut io::sink())?;
        take(VERIFY, &mut verify)?;
        // The bundle is removed here, because replacing a file of that size would add time to the
        // next signature.
        fs::remove_file(self.file("bundle.hlk")).context("bundle.hlk")?;
        // The storage processes the freed blocks now, and not during the next sample.
        run::quietly(&mut Command::new("sync")).map(drop)
    }
}

fn spec_name(case: &Case) -> String {
    format!("{}.toml", case.config().replace(' ', "-"))
}

/// Returns the description of a bundle with the payload, for a board whose memory is large enough.
fn spec(case: &Case) -> String {
    format!(
        r#"type = "system"
board = "lab-host"
security_version = 1

[[payload]]
type = "kernel"
file = "payload"
hash = "{}"
mode = "{}"
load_address = 0x8000_0000

[[payload]]
type = "system-fdt"
file = "fdt"
load_address = 0x8_0000_0000
"#,
        case.hash.name(),
        if case.is_flat { "flat" } else { "blocks" }
    )
}

/// Writes pseudorandom bytes, which no storage can compress or share. They are the same in every
/// run (SplitMix64).
fn write_payload(path: &Path, size_mib: u64) -> Result<()> {
    let mut file = File::create(path).with_context(|| path.display().to_string())?;
    let mut state = 0_u64;
    let mut chunk = vec![0; MIB as usize];
    for _ in 0..size_mib {
        for bytes in chunk.chunks_exact_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut value = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bytes.copy_from_slice(&(value ^ (value >> 31)).to_le_bytes());
        }
        file.write_all(&chunk)?;
    }
    // Without this, the disk would still be writing the payload when the first signature is
    // written.
    file.sync_all().with_context(|| path.display().to_string())
}

/// All samples of one tool in one case.
struct ToolSeries<'a> {
    what: &'static str,
    samples: Vec<&'a Sample>,
}

impl<'a> ToolSeries<'a> {
    fn of(samples: &'a [Sample], what: &'static str, config: &str) -> Self {
        let wanted = |sample: &&Sample| sample.what == what && sample.config == config;
        Self { what, samples: samples.iter().filter(wanted).collect() }
    }

    fn median_wall(&self) -> f64 {
        median(self.samples.iter().map(|sample| sample.wall))
    }

    fn best_wall(&self) -> f64 {
        self.samples.iter().map(|sample| sample.wall).fold(f64::INFINITY, f64::min)
    }

    fn peak_mib(&self) -> f64 {
        let peak_kib = self.samples.iter().map(|sample| sample.peak_kib).max();
        peak_kib.unwrap_or(0) as f64 / 1024.0
    }

    fn rows(&self, config: &str, size_mib: f64) -> [Row; 2] {
        let processor = median(self.samples.iter().map(|sample| sample.user + sample.system));
        let best = size_mib / self.best_wall();
        [
            Row::info("throughput", self.what, "MiB/s", (size_mib / self.median_wall()).round())
                .noted(format!("median; best {best:.0}")),
            Row::info("processor time", self.what, "s/GiB", processor / size_mib * 1024.0),
        ]
        .map(|row| row.of(config))
    }
}

fn rows(samples: &[Sample], scale: &Scale) -> Vec<Row> {
    let size_mib = scale.payload_mib as f64;
    let disk = ToolSeries::of(samples, DISK, "");
    let floor_mib = ToolSeries::of(samples, NOTHING, "").peak_mib();
    let mut rows = Vec::new();
    let mut details = Vec::new();
    let mut configs: Vec<&str> = samples.iter().map(|sample| sample.config.as_str()).collect();
    configs.dedup();
    configs.retain(|config| !config.is_empty());
    for config in first_of_each(&configs) {
        let openssl = ToolSeries::of(samples, OPENSSL, config);
        for what in [SIGN, VERIFY] {
            let ours = ToolSeries::of(samples, what, config);
            let ratio = openssl.median_wall() / ours.median_wall();
            let best = openssl.best_wall() / ours.best_wall();
            let row = Row::info("speed", what, "times openssl dgst", ratio).of(config);
            rows.push(if config.ends_with("flat") {
                row.noted("one hash from the first byte to the last: one core works, by design")
            } else {
                let mut note = format!("ratio of the medians; of the best {best:.2}");
                if what == SIGN && !disk.samples.is_empty() {
                    let bound = openssl.median_wall() / disk.median_wall();
                    note += &format!("; writing without hashing would be {bound:.2}");
                }
                row.judged(Better::Higher, TARGET_SPEED).noted(note)
            });
        }
        for what in [OPENSSL, SIGN, VERIFY_COLD, VERIFY] {
            details.extend(ToolSeries::of(samples, what, config).rows(config, size_mib));
        }
    }
    if !disk.samples.is_empty() {
        let [throughput, _] = disk.rows("", size_mib);
        details.push(throughput.noted("as many bytes written and synced by dd, past the cache"));
    }
    for what in [SIGN, VERIFY] {
        let all = samples.iter().filter(|sample| sample.what == what).collect();
        let peak_mib = ToolSeries { what, samples: all }.peak_mib();
        rows.push(
            Row::info("memory", what, "MiB", peak_mib)
                .of("all hashes")
                .judged(Better::Lower, TARGET_MEMORY)
                .noted(format!("the most of any execution; `true` measures {floor_mib:.1} here")),
        );
    }
    rows.extend(details);
    rows
}

/// Returns the configurations in the order of their first sample.
fn first_of_each<'a>(configs: &[&'a str]) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for config in configs {
        if !seen.contains(config) {
            seen.push(*config);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use hartlock_results::run::Status;

    fn sample(what: &'static str, config: &str, wall: f64, peak_mib: u64) -> Sample {
        Sample {
            what,
            config: config.to_owned(),
            round: 0,
            wall,
            user: wall,
            system: 0.0,
            peak_kib: peak_mib * 1024,
            others: 0.0,
        }
    }

    fn find<'a>(rows: &'a [Row], table: &str, metric: &str) -> &'a Row {
        rows.iter().find(|row| row.table == table && row.metric == metric).unwrap()
    }

    #[test]
    fn speed_is_the_ratio_of_medians_and_memory_the_worst() {
        let mut samples = Vec::new();
        for wall in [2.0, 1.8, 9.0] {
            samples.push(sample(OPENSSL, "sha384 blocks", wall, 5));
            samples.push(sample(SIGN, "sha384 blocks", 1.0, 7));
            samples.push(sample(VERIFY_COLD, "sha384 blocks", 3.0, 7));
            samples.push(sample(VERIFY, "sha384 blocks", 1.25, 70));
        }
        let rows = rows(&samples, &FULL);
        let sign = find(&rows, "speed", SIGN);
        assert_eq!((sign.ours, sign.status), (Some(2.0), Status::Hit));
        let verify = find(&rows, "speed", VERIFY);
        assert_eq!((verify.ours, verify.status), (Some(1.6), Status::Miss));
        assert_eq!(find(&rows, "memory", SIGN).status, Status::Hit);
        assert_eq!(find(&rows, "memory", VERIFY).status, Status::Miss);
        assert_eq!(find(&rows, "throughput", OPENSSL).ours, Some(512.0));
        assert_eq!(find(&rows, "processor time", VERIFY).ours, Some(1.25));
    }

    #[test]
    fn flat_payloads_are_not_judged() {
        let config = "sha384 flat";
        let samples = [OPENSSL, SIGN, VERIFY].map(|what| sample(what, config, 1.0, 5));
        let rows = rows(&samples, &FULL);
        assert_eq!(find(&rows, "speed", SIGN).status, Status::Info);
    }

    #[test]
    fn descriptions_of_bundles_are_read() {
        for is_flat in [false, true] {
            let case = Case { hash: HashId::Sha3_384, is_flat };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(spec_name(&case));
            fs::write(&path, spec(&case)).unwrap();
            let spec = hartlock_bundle::spec::BundleSpec::read(&path).unwrap();
            assert_eq!(spec.payloads[0].hash, Some(case.hash));
        }
    }
}
