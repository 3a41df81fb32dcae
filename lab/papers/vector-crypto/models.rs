//! Inner loops through the models of cores in LLVM's machine-code analyser: what instructions cost in cycles.
//!
//! A model is not a core. It has issue width, units and latencies as somebody described them to a compiler, and neither
//! caches nor branch prediction. All numbers here are *modelled*.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use hartlock_device::kernels::KernelBench;
use hartlock_results::run::{How, Row};
use xtask::{run, tools};

use super::peers::libraries::{self, LibraryPart};

/// Cores whose models have vector crypto.
const VECTOR_CRYPTO: &[&str] = &["sifive-p470", "sifive-p670", "sifive-p870"];
/// Cores whose models have Zbb, and not vector crypto.
const ZBB: &[&str] = &["sifive-p550", "spacemit-x60", "tt-ascalon-d8", "xiangshan-nanhu"];
/// Cores whose models have neither.
const SCALAR: &[&str] = &["rocket-rv64", "sifive-u74"];

/// Cores that are left out, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    ("SiFive X280 and X390, AX45MPV", "no vector crypto and no rotation in vector registers"),
    ("SpacemiT X60 and Ascalon D8", "no vector crypto: scalar kernels only"),
    ("Kunminghu and Veyron V1", "a name without a model"),
];

/// Turns of a loop that are modelled, enough that its start does not matter.
const TURNS: u32 = 100;

/// Instructions that the disassembler knows.
const EXTENSIONS: &str =
    "--mattr=+v,+zba,+zbb,+zbkb,+zbkc,+zknh,+zvkb,+zvbb,+zvbc,+zvkg,+zvkned,+zvknhb";

/// A loop of a kernel.
struct Loop {
    who: &'static str,
    name: &'static str,
    symbol: &'static str,
    cores: &'static [&'static str],
    /// LMUL and SEW at the start of a turn; empty for scalar code.
    vtype: &'static [&'static str],
    /// Bytes of data that a turn takes, with vector registers of 128 bits.
    bytes: f64,
    /// How often a turn runs the loop inside it.
    inner: usize,
}

const fn ours(
    name: &'static str,
    symbol: &'static str,
    cores: &'static [&'static str],
    vtype: &'static [&'static str],
    bytes: f64,
    inner: usize,
) -> Loop {
    Loop { who: "hartlock", name, symbol, cores, vtype, bytes, inner }
}

const fn openssl(
    name: &'static str,
    symbol: &'static str,
    cores: &'static [&'static str],
    vtype: &'static [&'static str],
    bytes: f64,
    inner: usize,
) -> Loop {
    Loop { who: "openssl", name, symbol, cores, vtype, bytes, inner }
}

const LOOPS: &[Loop] = &[
    ours("SHA-256, rv64", "hartlock_sha256_rv64", SCALAR, &[], 64.0, 3),
    ours("SHA-512, rv64", "hartlock_sha512_rv64", SCALAR, &[], 128.0, 4),
    ours("SHA-256, Zbb", "hartlock_sha256_rv64_zbb", ZBB, &[], 64.0, 3),
    openssl("SHA-256, Zbb", "sha256_block_data_order_zbb", ZBB, &[], 64.0, 1),
    ours("SHA-512, Zbb", "hartlock_sha512_rv64_zbb", ZBB, &[], 128.0, 4),
    openssl("SHA-512, Zbb", "sha512_block_data_order_zbb", ZBB, &[], 128.0, 1),
    ours("SHA-256, Zvknha", "hartlock_sha256_rv64_zvknha", VECTOR_CRYPTO, &["M4", "E32"], 64.0, 1),
    openssl(
        "SHA-256, Zvknha",
        "sha256_block_data_order_zvkb_zvknha_or_zvknhb",
        VECTOR_CRYPTO,
        &["M1", "E32"],
        64.0,
        1,
    ),
    ours("SHA-512, Zvknhb", "hartlock_sha512_rv64_zvknhb", VECTOR_CRYPTO, &["M8", "E64"], 128.0, 1),
    openssl(
        "SHA-512, Zvknhb",
        "sha512_block_data_order_zvkb_zvknhb",
        VECTOR_CRYPTO,
        &["M2", "E64"],
        128.0,
        1,
    ),
    ours("AES-256-CTR", "hartlock_aes_ctr_rv64_zvkned", VECTOR_CRYPTO, &["M4", "E32"], 128.0, 1),
    ours("AES-256-GCM", "hartlock_aes_gcm_rv64_zvkg", VECTOR_CRYPTO, &["M4", "E32"], 64.0, 1),
    ours("GHASH, Zvbc", "hartlock_ghash_rv64_zvbc", VECTOR_CRYPTO, &["M4", "E64"], 64.0, 1),
];

/// What a model says of a loop.
pub struct Modelled {
    who: &'static str,
    name: &'static str,
    core: &'static str,
    bytes: f64,
    instructions: usize,
    answer: Answer,
}

/// The numbers of the analyser, a turn.
#[derive(Debug, PartialEq)]
struct Answer {
    cycles: f64,
    /// Instructions that the core issues in a cycle at most.
    width: f64,
    /// The unit that is busy longest, and its cycles.
    unit: String,
    busy: f64,
}

impl Modelled {
    /// The part of the issue slots that instructions take.
    fn filled(&self) -> f64 {
        self.instructions as f64 / self.answer.cycles / self.answer.width
    }

    /// What keeps the loop from being faster.
    fn bottleneck(&self) -> String {
        let Answer { cycles, unit, busy, .. } = &self.answer;
        match busy / cycles {
            _ if self.filled() > 0.95 => "issue width".to_owned(),
            part if part > 0.95 => format!("{unit} is full"),
            _ => "latencies".to_owned(),
        }
    }
}

/// Cuts all loops out of the linked bench and of the library, and asks the models.
pub fn modelled(bench: &KernelBench) -> Result<(Vec<Modelled>, String)> {
    let (analyser, disassembler, version) = tools::machine_code_analyser()?;
    let mut all = Vec::new();
    for it in LOOPS {
        let instructions = match it.who {
            "hartlock" => disassembled(&disassembler, bench.elf(), it.symbol)?,
            _ => {
                let hart = if it.vtype.is_empty() { "zbb" } else { "zvknh-128" };
                let folder = libraries::build(hart, LibraryPart::Hashes)?;
                disassembled(&disassembler, &folder.join("libcrypto.a"), it.symbol)?
            }
        };
        let turn = cut(&instructions, it.inner).with_context(|| it.symbol.to_owned())?;
        for core in it.cores {
            let answer = ask(&analyser, core, &turn, it.vtype)
                .with_context(|| format!("{} on {core}", it.symbol))?;
            let Loop { who, name, bytes, .. } = *it;
            all.push(Modelled { who, name, core, bytes, instructions: turn.len(), answer });
        }
    }
    Ok((all, version))
}

/// Returns a row for each loop and model, and one for each core that is left out.
pub fn rows(all: &[Modelled]) -> Vec<Row> {
    let mut rows: Vec<Row> = all
        .iter()
        .map(|it| {
            let config = format!("{} on {}", it.who, it.core);
            Row::info(
                "models of cores",
                it.name,
                "cycles/byte (model)",
                it.answer.cycles / it.bytes,
            )
            .of(&config)
            .how(How::Modelled)
            .noted(format!(
                "{} instructions in {:.0} cycles; {:.0} % of the issue width of {}; bottleneck: {}",
                it.instructions,
                it.answer.cycles,
                100.0 * it.filled(),
                it.answer.width,
                it.bottleneck(),
            ))
        })
        .collect();
    let left = LEFT_OUT.iter().map(|(core, why)| {
        Row { ours: None, ..Row::info("models of cores", "left out", "cycles/byte (model)", 0.0) }
            .of(core)
            .noted(*why)
    });
    rows.extend(left);
    rows
}

/// Formats all answers as CSV.
pub fn csv(all: &[Modelled]) -> String {
    let mut text =
        "who,loop,core,bytes,instructions,model_cycles,width,unit,busy,bottleneck\n".to_owned();
    for it in all {
        let Modelled { who, name, core, bytes, instructions, answer } = it;
        let Answer { cycles, width, unit, busy } = answer;
        text += &format!(
            "{who},\"{name}\",{core},{bytes},{instructions},{cycles},{width},{unit},{busy},{}\n",
            it.bottleneck()
        );
    }
    text
}

/// An instruction: address, mnemonic and operands.
type Instruction = (u64, String, String);

fn disassembled(program: &Path, file: &Path, symbol: &str) -> Result<Vec<Instruction>> {
    let mut command = Command::new(program);
    command.args(["-d", "--no-show-raw-insn", EXTENSIONS]);
    let output = run::capture(command.arg(format!("--disassemble-symbols={symbol}")).arg(file))?;
    ensure!(output.status.success(), "{}", run::tail(&output, 5));
    let text = String::from_utf8_lossy(&output.stdout);
    let instructions: Vec<_> = text.lines().filter_map(instruction).collect();
    ensure!(!instructions.is_empty(), "{}: no {symbol}", file.display());
    Ok(instructions)
}

/// Parses a line of the form `      12: bne a1, a2, 0x4e <name>`.
fn instruction(line: &str) -> Option<Instruction> {
    let (address, rest) = line.split_once(':')?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let mut words = rest.split_whitespace();
    let name = words.next()?.to_owned();
    let operands: Vec<&str> = words.take_while(|word| !word.starts_with('<')).collect();
    Some((address, name, operands.join(" ")))
}

/// Returns the place of the target if the instruction is a jump to one before it.
fn backward(all: &[Instruction], place: usize) -> Option<usize> {
    let (_, name, operands) = &all[place];
    let target = operands.rsplit([',', ' ']).next()?.strip_prefix("0x")?;
    let target = u64::from_str_radix(target, 16).ok().filter(|_| name.starts_with(['b', 'j']))?;
    all[..place].iter().position(|(address, ..)| *address == target)
}

/// Returns a turn of the main loop of a function, which is the first one that no other has as its inner loop, with the
/// loop inside it `inner` times. Every branch leads to the label of the loop.
///
/// A loop that is short and of few instructions, for keys and powers, precedes the main loop in some functions; so the
/// main one is that with the most instructions of those that end in a conditional branch.
fn cut(all: &[Instruction], inner: usize) -> Result<Vec<String>> {
    let loops: Vec<(usize, usize)> = (0..all.len())
        .filter(|place| all[*place].1.starts_with('b'))
        .filter_map(|place| Some((backward(all, place)?, place)))
        .collect();
    let longest = loops.iter().max_by_key(|(start, end)| end - start);
    let (start, end) = *longest.context("no loop")?;
    let text = |place: usize| {
        let (_, name, operands) = &all[place];
        if name.starts_with(['b', 'j']) && operands.contains("0x") {
            let registers = operands.rsplit_once(',').map_or("", |(registers, _)| registers);
            let comma = if registers.is_empty() { "" } else { ", " };
            return format!("{name} {registers}{comma}.Lturn");
        }
        format!("{name} {operands}")
    };
    let within = loops.iter().find(|(from, to)| start < *from && *to < end);
    let mut turn = Vec::new();
    match within {
        Some((from, to)) => {
            turn.extend((start..*from).map(text));
            (0..inner).for_each(|_| turn.extend((*from..=*to).map(text)));
            turn.extend((to + 1..=end).map(text));
        }
        None => turn.extend((start..=end).map(text)),
    }
    Ok(turn)
}

fn ask(program: &Path, core: &str, turn: &[String], vtype: &[&str]) -> Result<Answer> {
    let mut source = String::new();
    for (name, value) in ["LMUL", "SEW"].iter().zip(vtype) {
        source += &format!("# LLVM-MCA-RISCV-{name} {value}\n");
    }
    source += &format!(".Lturn:\n{}\n", turn.join("\n"));
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("turn.s");
    std::fs::write(&file, source)?;
    let mut command = Command::new(program);
    command.args(["-mtriple=riscv64", &format!("-mcpu={core}"), &format!("-iterations={TURNS}")]);
    let output = run::capture(command.arg(&file).stdin(Stdio::null()))?;
    ensure!(output.status.success(), "{}", run::tail(&output, 10));
    answer(&String::from_utf8_lossy(&output.stdout))
}

/// Parses the analyser's report.
fn answer(report: &str) -> Result<Answer> {
    let number = |name: &str| -> Result<f64> {
        let line = report.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(line.with_context(|| format!("no {name}"))?.trim().parse()?)
    };
    let mut after = report.lines().skip_while(|line| !line.starts_with("Resource pressure per it"));
    let (heads, values) = (after.nth(1), after.next());
    let heads = heads.context("no resources")?.split_whitespace();
    let values = values.context("no pressures")?.split_whitespace();
    let busiest = heads
        .zip(values)
        .filter_map(|(head, value)| Some((head, value.parse::<f64>().ok()?)))
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let (head, busy) = busiest.context("no busy unit")?;
    let named = report.lines().find_map(|line| line.strip_prefix(head));
    let unit = named.and_then(|line| line.split_whitespace().last()).context("no unit")?;
    Ok(Answer {
        cycles: number("Total Cycles")? / number("Iterations")?,
        width: number("Dispatch Width")?,
        unit: unit.to_owned(),
        busy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
        0000 <kernel>:\n\
        \t0: li t0, 0x4\n\
        \t4: lw a0, 0x0(a1)\n\
        \t8: addi t0, t0, -0x1\n\
        \tc: bnez t0, 0x8 <kernel+0x8>\n\
        \t10: bne a1, a2, 0x4 <kernel+0x4>\n\
        \t14: ret\n";

    #[test]
    fn a_turn_repeats_the_inner_loop() {
        let all: Vec<_> = LISTING.lines().filter_map(instruction).collect();
        let turn = cut(&all, 2).unwrap();
        let step = ["addi t0, t0, -0x1", "bnez t0, .Lturn"];
        let expected = [&["lw a0, 0x0(a1)"], &step[..], &step[..], &["bne a1, a2, .Lturn"]];
        assert_eq!(turn, expected.concat());
        assert!(cut(&all[..3], 1).is_err());
    }

    #[test]
    fn the_busiest_unit_is_found() {
        let report = "Iterations:        10\nInstructions:      40\nTotal Cycles:      205\n\n\
            Dispatch Width:    2\n\nResources:\n[0]   - DIV\n[1.0] - ALUA\n[1.1] - ALUB\n\n\
            Resource pressure per iteration:\n[0]    [1.0]  [1.1]  \n -     3.00   20.00  \n";
        let answer = answer(report).unwrap();
        let right = Answer { cycles: 20.5, width: 2.0, unit: "ALUB".into(), busy: 20.0 };
        assert_eq!(answer, right);
        let it = Modelled { who: "a", name: "b", core: "c", bytes: 1.0, instructions: 4, answer };
        assert_eq!(it.bottleneck(), "ALUB is full");
        assert!(super::answer(&report.replace("Total", "No")).is_err());
    }
}
