//! Inner loops through the models of cores in LLVM's machine-code analyser: how many cycles instructions take.
//!
//! A model is not a core. It has issue width, units and latencies as somebody described them to a compiler, and neither
//! caches nor branch prediction. All numbers here are *modelled*.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use hartlock_device::kernels::KernelBench;
use hartlock_results::inputs;
use hartlock_results::run::{How, Row, Run};
use xtask::project;
use xtask::tools::{self, Analyser};

use super::machine::{self, commit, date};
use super::peers::libraries::{self, LibraryPart};
use super::{LabArgs, MODELS as KEY};
use analyser::{Answer, EXTENSIONS, ask, disassembled, is_refusal};
use cut::Line;
use loops::{Code, LEFT_OUT, LOOPS, Loop, OPENSSL, OURS, STAND_IN};

mod analyser;
mod cut;
mod loops;

const TABLE: &str = "models of cores";
const OF_OPENSSL: &str = "models of cores, OpenSSL";
const UNIT: &str = "cycles/byte";

/// What a model says of a loop.
struct Modelled {
    who: &'static str,
    name: &'static str,
    core: &'static str,
    /// Bytes that a turn processes, and its instructions.
    bytes: f64,
    instructions: usize,
    answer: Answer,
}

impl Modelled {
    fn cycles_per_byte(&self) -> f64 {
        self.answer.cycles / self.bytes
    }

    fn note(&self) -> String {
        let Answer { cycles, width, unit, .. } = &self.answer;
        format!(
            "{:.2} instructions a byte; a turn of {} in {cycles:.0} cycles; {:.0} % of the issue width of {width}; {unit} busy \
             in {:.0} % of cycles; bottleneck: {}",
            self.instructions as f64 / self.bytes,
            self.instructions,
            100.0 * self.answer.filled(),
            100.0 * self.answer.pressure(),
            self.answer.bottleneck(),
        )
    }
}

/// Cuts all loops out of the linked bench and of the library, asks the models, and stores their answers.
pub fn store(args: &LabArgs, bench: &KernelBench) -> Result<Run> {
    let tools = tools::analyser()?;
    let all = modelled(&tools, bench)?;
    let names = BTreeMap::from([
        ("hartlock", env!("CARGO_PKG_VERSION").to_owned()),
        ("rustc", machine::version("rustc", "--version")?),
        ("openssl", libraries::openssl_version()?),
        libraries::compiler()?,
        ("llvm-mca", tools.version),
    ]);
    let run = Run {
        paper: KEY.to_owned(),
        commit: commit()?,
        inputs: inputs::now(&project::root(), KEY)?,
        tools: machine::named(names),
        date: date()?,
        rows: rows(&all),
        machine: machine::this()?,
    };
    run.store(&args.folder(), &csv(&all))?;
    args.pages(Some(KEY))?;
    Ok(run)
}

fn modelled(tools: &Analyser, bench: &KernelBench) -> Result<Vec<Modelled>> {
    let mut files: Vec<(Code, Vec<Line>)> = Vec::new();
    let mut all = Vec::new();
    for it in LOOPS {
        if !files.iter().any(|(code, _)| *code == it.code) {
            files.push((it.code, disassembled(tools, &file(it.code, bench)?)?));
        }
        let (_, listing) = files.iter().find(|(code, _)| *code == it.code).context("a listing")?;
        let turn = it.cut.turn(listing)?;
        if it.who() == OURS {
            ensure_left_out(tools, it, &turn)?;
        }
        let turn = if it.has_stand_in { with_rotations(turn) } else { turn };
        eprintln!("models of {} of {}", it.name, it.who());
        for core in it.cores {
            let answer = ask(tools, core, "", &turn, it.cut.vtype)
                .with_context(|| format!("{} of {} on {core}", it.name, it.who()))?;
            let (who, name, bytes) = (it.who(), it.name, it.bytes);
            all.push(Modelled { who, name, core, bytes, instructions: turn.len(), answer });
        }
    }
    Ok(all)
}

fn file(code: Code, bench: &KernelBench) -> Result<PathBuf> {
    Ok(match code {
        Code::Bench => bench.elf().to_owned(),
        Code::Hashes(hart) => {
            libraries::openssl_only(hart, LibraryPart::Hashes)?.join("libcrypto.a")
        }
        Code::Ciphers => libraries::ciphers()?.join("libcrypto.a"),
    })
}

/// Checks that the analyser refuses the cores that are left out.
fn ensure_left_out(tools: &Analyser, it: &Loop, turn: &[String]) -> Result<()> {
    for (core, name, why) in LEFT_OUT.iter().filter(|(_, name, _)| *name == it.name) {
        match ask(tools, core, EXTENSIONS, turn, it.cut.vtype) {
            Ok(_) => bail!("{core} has a model of {name} after all, and the table says: {why}"),
            Err(error) => ensure!(is_refusal(&error), "{core}, {name}: {error:#}"),
        }
    }
    Ok(())
}

/// Replaces the functions of Zknh by rotations. They have one operand as well, and gates of the same depth; a core that
/// is slower at them than at rotations is slower than this.
fn with_rotations(turn: Vec<String>) -> Vec<String> {
    let replaced = |line: String| match line.split_once(' ') {
        Some((name, operands)) if name.starts_with("sha256") || name.starts_with("sha512") => {
            format!("rori {operands}, 1")
        }
        _ => line,
    };
    turn.into_iter().map(replaced).collect()
}

/// Returns a row for each loop and model, and one for each core that is left out.
fn rows(all: &[Modelled]) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in all {
        let table = if it.who == OURS { TABLE } else { OF_OPENSSL };
        let row =
            Row::info(table, it.name, UNIT, it.cycles_per_byte()).of(it.core).noted(it.note());
        let is_peer =
            |peer: &&Modelled| (peer.who, peer.name, peer.core) == (OPENSSL, it.name, it.core);
        rows.push(match all.iter().find(is_peer) {
            Some(peer) if it.who == OURS => row.peer(peer.cycles_per_byte()),
            _ => row,
        });
    }
    rows.extend(LEFT_OUT.iter().map(|(core, name, why)| {
        // The core that is refused with Zknh has a row with rotations.
        let name = name.trim_end_matches(STAND_IN);
        Row::absent(TABLE, name, UNIT, why).of(core)
    }));
    How::Modelled.made(rows)
}

/// Formats all answers as CSV, with the numbers of a turn.
fn csv(all: &[Modelled]) -> String {
    let mut text =
        "who,loop,core,bytes,instructions,cycles,operations,width,unit,busy,bottleneck\n"
            .to_owned();
    for it in all {
        let Modelled { who, name, core, bytes, instructions, answer } = it;
        let Answer { cycles, operations, width, unit, busy } = answer;
        let bottleneck = answer.bottleneck();
        text += &format!(
            "{who},\"{name}\",{core},{bytes:.4},{instructions},{cycles:.4},{operations},{width},{unit},{busy},{bottleneck}\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(who: &'static str, cycles: f64) -> Modelled {
        let unit = "AES".to_owned();
        let answer = Answer { cycles, operations: 24.0, width: 3.0, unit, busy: 76.0 };
        let (name, core) = ("AES-256-GCM, Zvkg", "sifive-p470");
        Modelled { who, name, core, bytes: 64.0, instructions: 24, answer }
    }

    #[test]
    fn a_row_says_what_the_model_says() {
        let rows = rows(&[one(OURS, 76.0), one(OPENSSL, 80.0)]);
        let [ours, peer, left @ ..] = &rows[..] else { panic!("two rows") };
        assert_eq!((ours.table.as_str(), peer.table.as_str()), (TABLE, OF_OPENSSL));
        assert_eq!((ours.ours, ours.peer, ours.ratio), (Some(1.188), Some(1.25), Some(0.95)));
        assert_eq!((ours.how, peer.peer), (Some(How::Modelled), None));
        let note = "0.38 instructions a byte; a turn of 24 in 76 cycles; 11 % of the issue width of 3; AES busy in 100 % of \
                    cycles; bottleneck: a full unit";
        assert_eq!(ours.note.as_deref(), Some(note));
        assert_eq!(left.len(), LEFT_OUT.len());
        assert!(left.iter().all(|row| row.ours.is_none() && row.how.is_none()));
        // A loop with rotations in place of Zknh has another name than the loop that is left out.
        assert!(left.iter().all(|row| !row.metric.ends_with(STAND_IN)));
    }

    #[test]
    fn each_core_that_is_left_out_is_tried_and_has_no_model_of_that_loop() {
        for (core, name, _) in LEFT_OUT {
            let ours = |it: &&Loop| it.name == *name && it.who() == OURS;
            let it = LOOPS.iter().find(ours).unwrap_or_else(|| panic!("no loop {name}"));
            // With rotations in place of Zknh, the same core has another loop of this name.
            assert!(it.has_stand_in || !it.cores.contains(core), "{core}: {name}");
        }
    }

    #[test]
    fn functions_of_zknh_are_replaced() {
        let turn = ["sha256sum1 a4, t0", "add a4, a4, s1"].map(str::to_owned).to_vec();
        assert_eq!(with_rotations(turn), ["rori a4, t0, 1", "add a4, a4, s1"]);
    }
}
