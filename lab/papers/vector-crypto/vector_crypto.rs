//! Measures the cost of a byte in retired instructions: every hash kernel of this project on an emulated hart of its
//! tier, and the same hashes of other projects on the same hart with the same counter.
//!
//! Instruction counts are exact and do not depend on the workstation. They are not cycles: an instruction on a vector
//! register does more work, and takes longer, than one on a word.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::args::LabArgs;
use super::machine::{self, commit, date, version};
use super::peers::libraries::LINUX;
use super::peers::{self, PeerCount};
use hartlock_device::bench;
use hartlock_device::kernels::{Count, Hart, KernelBench, read};
use hartlock_results::inputs;
use hartlock_results::paper::Paper;
use hartlock_results::run::{Better, How, Row, Run};
use xtask::{project, tools};

mod ciphers;
mod first_stage;
mod listing;
mod models;
mod walnut;
mod walnut_signer;

const KEY: &str = "vector-crypto";
/// Key of the run of models, which is stored apart: what models say changes with a version of LLVM.
pub const MODELS: &str = "vector-crypto-models";

/// A bound: hash, tier, form (`one` message or `many`), vector register length in bits, maximum instructions per byte.
type InstructionBound = (&'static str, &'static str, &'static str, u32, f64);

/// Bounds that were set from prototypes before the kernels were written.
const BOUNDS: &[InstructionBound] = &[
    ("sha256", "rv64", "one", 0, 49.0),
    ("sha256", "zbb", "one", 0, 35.5),
    ("sha256", "zknh", "one", 0, 21.3),
    ("sha256", "zvbb", "many", 128, 9.0),
    ("sha256", "zvbb", "many", 256, 4.5),
    ("sha256", "zvknh", "one", 128, 1.5),
    ("sha256", "zvknh", "many", 128, 0.92),
    ("sha256", "zvknh", "half", 256, 0.75),
    ("sha256", "zvknh", "many", 256, 0.47),
    ("sha384", "rv64", "one", 0, 36.0),
    ("sha384", "zbb", "one", 0, 22.7),
    ("sha384", "zknh", "one", 0, 13.5),
    ("sha384", "zvbb", "many", 128, 11.4),
    ("sha384", "zvbb", "many", 256, 5.7),
    ("sha384", "zvknh", "one", 128, 1.15),
    ("sha384", "zvknh", "one", 256, 0.9),
    ("sha384", "zvknh", "many", 256, 0.58),
    ("sha3-256", "rv64", "one", 0, 37.8),
    ("sha3-256", "zbb", "one", 0, 25.8),
    ("sha3-256", "zvbb", "many", 128, 12.2),
    ("sha3-256", "zvbb", "many", 256, 6.1),
    ("sha3-384", "rv64", "one", 0, 49.0),
    ("sha3-384", "zbb", "one", 0, 33.8),
    ("sha3-384", "zvbb", "many", 128, 15.9),
    ("sha3-384", "zvbb", "many", 256, 8.0),
    ("kt128", "rv64", "one", 0, 15.8),
    ("kt128", "zbb", "one", 0, 10.9),
    ("kt128", "zvbb", "one", 128, 5.0),
    ("kt128", "zvbb", "one", 256, 2.5),
];

/// Maximum instructions per generator of WalnutDSA, set in the same way: 147 and 50 are the cycles that follow from the
/// paper's totals.
const BOUND_OF_WALNUT: f64 = 17.0;

/// A program with peers: the harts on which it runs, flags of the Rust compiler, and the vector extensions that OpenSSL is
/// told of. The flags of the C libraries are in `peers::libraries`, under the name of the first hart.
type PeerProgram = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

const PEERS: &[PeerProgram] = &[
    (&["rv64"], &[], &[]),
    (&["zbb"], &["-Ctarget-feature=+zbb"], &[]),
    (&["zknh"], &["-Ctarget-feature=+zbb,+zknh", "--cfg=sha2_backend=\"riscv-zknh\""], &[]),
    (&["zvbb-128"], &[], &["zvbb"]),
    (&["zvknh-128", "zvknh-256"], &[], &["zvknh"]),
];

/// Why it has no number.
const WITHOUT_LINUX: &str = "not fetched: a full run, `make lab PAPER=vector-crypto`, fetches Debian's package once (153 MB)";

/// Asks the models of cores and measures nothing.
pub fn ask_models(args: &LabArgs) -> Result<()> {
    eprintln!("building the bench");
    let run = models::store(args, &KernelBench::prepare()?)?;
    print!("{}", run.text());
    println!("stored as {}", args.folder().join(run.paper).with_extension("json").display());
    Ok(())
}

pub fn measure(args: &LabArgs) -> Result<Run> {
    let paper = Paper::load(KEY)?;
    if !args.quick
        && let Err(error) = tools::fetch_linux()
    {
        eprintln!("notice: Linux' kernels are left out: {error:#}");
    }
    eprintln!("building the bench");
    let bench = KernelBench::prepare()?;
    let mut counts = Vec::new();
    for hart in hartlock_device::kernels::HARTS {
        eprintln!("our kernels on {}", hart.name);
        let (counted, faults) = read(hart, &bench.console(hart)?)?;
        ensure!(faults.is_empty(), "{}: {}", hart.name, faults.join("\n"));
        counts.extend(counted.into_iter().map(|count| (hart, count)));
    }
    eprintln!("our kernels of WalnutDSA");
    let walnut_counts = walnut::counted()?;
    // Cycles take minutes, so a quick run has none.
    let first_stage = first_stage::measured(!args.quick)?;
    eprintln!("ciphers");
    let cipher_counts = ciphers::counted()?;
    let mut counted = Vec::new();
    for (harts, flags, features) in PEERS {
        let first = harts.first().context("a program runs on a hart")?;
        let image = peers::build(first, first, flags, features)?;
        for name in *harts {
            let hart = hartlock_device::kernels::HARTS.iter().find(|hart| hart.name == *name);
            eprintln!("peers on {name}");
            let console = peers_console(&image, hart.context("a hart of ours")?)?;
            counted.extend(peers::read(name, &console)?);
        }
    }
    let mut tools = BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", version("rustc", "--version")?),
    ]);
    let emulator = tools::locate()?.versions.remove("qemu-system-riscv");
    tools.insert("qemu", emulator.context("QEMU has no version")?);
    tools.extend(peers::versions()?);
    tools.extend(ciphers::versions()?);
    let mut rows = rows(&counts, &counted, &peers::versions()?);
    let block = listing::executed(&bench)?;
    rows.extend(reported());
    rows.extend(without_linux(&counted));
    rows.extend(refused());
    rows.extend(listing::rows(&block, &counts, &paper)?);
    rows.extend(walnut::rows(&walnut_counts, &paper)?);
    rows.extend(ciphers::rows(&cipher_counts, &paper, &peers::versions()?)?);
    rows.extend(first_stage.rows()?);
    let mut rows = paper.completed(How::Counted.made(rows), "not built yet");
    for row in rows.iter_mut().filter(|row| row.table.starts_with("WalnutDSA")) {
        if row.ours.is_none() {
            row.note = Some(walnut::why_alone(&row.metric).to_owned());
        }
    }
    let run = Run {
        paper: KEY.to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools: machine::named(tools),
        date: date()?,
        rows,
        machine: machine::this()?,
    };
    let folder = args.folder();
    run.store(&folder, &csv(&counts, &counted))?;
    fs::write(folder.join("vector-crypto-block.csv"), listing::csv(&block))?;
    run.store_more(&folder, "walnut", &walnut::csv(&walnut_counts))?;
    run.store_more(&folder, "first-stage", &first_stage.csv())?;
    run.store_more(&folder, "ciphers", &ciphers::csv(&cipher_counts))?;
    print!("{}", run.text());
    println!("stored as {}", folder.join("vector-crypto.json").display());
    // A quick run is a test, which fetches no analyser.
    if !args.quick {
        print!("{}", models::store(args, &bench)?.text());
    }
    Ok(run)
}

fn peers_console(image: &Path, hart: &Hart) -> Result<String> {
    let options = hart.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    bench::emulate_without_pack(image, &options).with_context(|| format!("peers on {}", hart.name))
}

fn rows(
    counts: &[(&Hart, Count)],
    peers: &[PeerCount],
    versions: &BTreeMap<&'static str, String>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for (hart, count) in counts {
        // The hart with all extensions repeats the kernels of other harts, at a vector length without bounds.
        let tier_is_of_hart = hart.name.split('-').next() == Some(count.tier.as_str())
            || hart.name.starts_with("every");
        let is_info =
            !matches!(count.hash.as_str(), "sha256" | "sha384" | "sha3-256" | "sha3-384" | "kt128");
        if !tier_is_of_hart || is_info || count.form != "one" && hart.vlen == 0 {
            continue;
        }
        let width = match (count.tier.as_str(), hart.vlen) {
            ("v" | "zvbb" | "zvknh", vlen) => vlen,
            _ => 0,
        };
        let config = if width == 0 {
            count.tier.clone()
        } else {
            let form = match count.form.as_str() {
                "one" => "one message",
                "half" => "half of the lanes",
                _ => "all lanes",
            };
            format!("{}, VLEN {width}, {form}", count.tier)
        };
        let row = Row::info("hash", name_of(&count.hash), UNIT, count.per_byte()).of(&config);
        let bound = BOUNDS.iter().find(|(hash, tier, form, vlen, _)| {
            (*hash, *tier, *form, *vlen) == (&count.hash, &count.tier, &count.form, width)
        });
        let row = match bound {
            Some((.., most)) => row.judged(Better::Lower, *most),
            None => row,
        };
        let row = match best_peer(count, hart, peers) {
            Some((peer, per_byte, place)) => row.peer(per_byte).noted(format!(
                "peer: {}, the best in the same run, on {place}",
                with_version(peer, &count.hash, versions)
            )),
            None => row,
        };
        let row = match count.form.as_str() {
            "one" => row,
            _ if row.peer.is_some() => {
                row.incomparable("ours are lanes, the peer's is one message")
            }
            _ => row,
        };
        if !rows
            .iter()
            .any(|other: &Row| (&other.metric, &other.config) == (&row.metric, &row.config))
        {
            rows.push(row);
        }
    }
    rows.extend(peers.iter().map(|peer| {
        let config = format!("{} on {}", peer.peer, peer.hart);
        Row::info("peers", name_of(&peer.count.hash), UNIT, peer.count.per_byte()).of(&config)
    }));
    rows
}

const UNIT: &str = "instructions/byte";

/// Figures that PQRV publishes (github.com/Ji-Peng/PQRV, commit 2463d15, `sha3/results_rv64im.txt`,
/// `sha3/results_rv64imb.txt` and the same names in `Dilithium/RV64`), measured by its authors on a C908. No registry has it,
/// so that it is not in the run. Metric, unit, configuration, figure.
const PQRV: [(&str, &str, &str, f64); 4] = [
    ("permutation of Keccak", "instructions", "rv64im", 5049.0),
    ("permutation of Keccak", "instructions", "rv64im with Zba and Zbb", 3405.0),
    ("verification, Dilithium3", "cycles", "rv64im", 938_862.0),
    ("verification, Dilithium3", "cycles", "rv64im with Zba and Zbb", 790_796.0),
];

/// Returns the figures of others that cannot be counted here.
fn reported() -> impl Iterator<Item = Row> {
    PQRV.into_iter().map(|(metric, unit, config, figure)| {
        let why = "reported by PQRV on a C908, not counted here: no package registry has it";
        Row::absent("peers that are in no registry", metric, unit, why)
            .of(&format!("PQRV, {config}"))
            .peer(figure)
    })
}

/// Returns rows that say how to get Linux' kernels, unless they were counted.
fn without_linux(counted: &[PeerCount]) -> Vec<Row> {
    if counted.iter().any(|peer| peer.peer == LINUX) {
        return Vec::new();
    }
    let of = |metric| {
        Row::absent("peers", metric, UNIT, WITHOUT_LINUX).of(&format!("{LINUX} on zvknh-128"))
    };
    ["SHA-256", "SHA-384", "SHA-512"].into_iter().map(of).collect()
}

/// Returns rows for the hashes of wolfSSL that are refused with longer registers (`lab/peers/src/main.rs`).
fn refused() -> impl Iterator<Item = Row> {
    ["SHA-256", "SHA-384", "SHA-512"].into_iter().map(|metric| {
        let why = "refused: with registers of 256 bits it computes another digest and writes past its buffers";
        Row::absent("peers", metric, UNIT, why).of("wolfssl on zvknh-256")
    })
}

/// Returns name and version of a peer. For RustCrypto, this includes the crate of the hash.
fn with_version(peer: &str, hash: &str, versions: &BTreeMap<&'static str, String>) -> String {
    let of_rust = match hash {
        "sha256" | "sha384" | "sha512" => "sha2",
        "kt128" => "k12",
        _ => "sha3",
    };
    match (versions.get(peer), versions.get(of_rust)) {
        (Some(version), _) => format!("{peer} {version}"),
        (None, Some(version)) => format!("{peer} {of_rust} {version}"),
        (None, None) => peer.to_owned(),
    }
}

/// Returns the peer with the fewest instructions, and the hart on which it ran.
fn best_peer<'a>(
    count: &Count,
    hart: &Hart,
    peers: &'a [PeerCount],
) -> Option<(&'a str, f64, &'a str)> {
    let places = match count.tier.as_str() {
        // The portable form is not compared, because it is for machines other than RISC-V.
        "portable" => return None,
        // No peer has lanes. They are compared with one message in vector registers, and with Zbb, which every hart
        // with Zvbb has.
        "v" => ["zbb"; 2],
        "zvbb" => ["zvbb-128", "zbb"],
        "zvknh" if hart.vlen == 128 => ["zvknh-128"; 2],
        "zvknh" => ["zvknh-256"; 2],
        _ => [hart.name; 2],
    };
    let same = |peer: &&PeerCount| places.contains(&peer.hart) && peer.count.hash == count.hash;
    peers
        .iter()
        .filter(same)
        .map(|peer| (peer.peer.as_str(), peer.count.per_byte(), peer.hart))
        .min_by(|one, other| one.1.total_cmp(&other.1))
}

fn name_of(hash: &str) -> &'static str {
    match hash {
        "sha256" => "SHA-256",
        "sha384" => "SHA-384",
        "sha512" => "SHA-512",
        "sha3-256" => "SHA3-256",
        "sha3-384" => "SHA3-384",
        "sha3-512" => "SHA3-512",
        "kt128" => "KT128",
        "shake128" => "SHAKE128",
        "shake256" => "SHAKE256",
        _ => "another hash",
    }
}

fn csv(counts: &[(&Hart, Count)], peers: &[PeerCount]) -> String {
    let mut text = "who,hart,hash,tier,form,bytes,instructions\n".to_owned();
    let mut line = |who: &str, hart: &str, count: &Count| {
        let Count { hash, tier, form, bytes, instructions, .. } = count;
        text += &format!("{who},{hart},{hash},{tier},{form},{bytes},{instructions}\n");
    };
    counts.iter().for_each(|(hart, count)| line("hartlock", hart.name, count));
    peers.iter().for_each(|peer| line(&peer.peer, peer.hart, &peer.count));
    text
}

#[cfg(test)]
mod tests;
