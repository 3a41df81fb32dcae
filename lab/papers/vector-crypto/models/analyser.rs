//! Asks LLVM's machine-code analyser what a turn of a loop takes on a core, and reads its report.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use xtask::run;
use xtask::tools::Analyser;

use super::cut::{Line, TURN, listing};

/// Extensions that the disassembler has to know, and with which the model of a core that is left out is asked.
pub const EXTENSIONS: &str =
    "+v,+zba,+zbb,+zbkb,+zbkc,+zknh,+zkne,+zvkb,+zvbb,+zvbc,+zvkg,+zvkned,+zvknhb";

/// Turns and instructions that are analysed at least: enough that how a loop starts does not matter.
const MIN_TURNS: usize = 100;
const MIN_INSTRUCTIONS: usize = 100_000;

/// A part of the issue width, or of the cycles of a unit, from which it is full.
const FULL: f64 = 0.95;

/// What a model says of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub cycles: f64,
    /// Number of micro-operations, which most models have as many of as instructions.
    pub operations: f64,
    /// Maximum number of them that the core issues in a cycle.
    pub width: f64,
    /// The unit that is busy longest, and its cycles.
    pub unit: String,
    pub busy: f64,
}

impl Answer {
    /// The used part of the issue width.
    pub fn filled(&self) -> f64 {
        self.operations / self.cycles / self.width
    }

    /// The part of the cycles in which the busiest unit is busy.
    pub fn pressure(&self) -> f64 {
        self.busy / self.cycles
    }

    /// What keeps the loop from being faster.
    pub fn bottleneck(&self) -> &'static str {
        if self.filled() > FULL {
            "issue width"
        } else if self.pressure() > FULL {
            "a full unit"
        } else {
            "latencies"
        }
    }
}

/// Disassembles all code of a file.
pub fn disassembled(tools: &Analyser, file: &Path) -> Result<Vec<Line>> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("code");
    // Where assembly has instructions as words, symbols say that they are data.
    let mut strip = Command::new(&tools.copier);
    strip.args(["--wildcard", "--strip-symbol=$*"]).arg(file).arg(&copy);
    run::quietly(&mut strip)?;
    let mut command = Command::new(&tools.disassembler);
    command.args(["-d", "--no-show-raw-insn", &format!("--mattr={EXTENSIONS}")]);
    let lines = listing(&run::quietly(command.arg(&copy))?);
    ensure!(!lines.is_empty(), "{} has no code", file.display());
    Ok(lines)
}

/// Asks for a core, with the extensions that it has according to LLVM, or with others too.
pub fn ask(
    tools: &Analyser,
    core: &str,
    extensions: &str,
    turn: &[String],
    vtype: &str,
) -> Result<Answer> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("turn.s");
    fs::write(&file, source(turn, vtype))?;
    let turns = (MIN_INSTRUCTIONS / turn.len().max(1)).max(MIN_TURNS);
    let mut command = Command::new(&tools.program);
    command.args(["-mtriple=riscv64", &format!("-mcpu={core}"), &format!("-mattr={extensions}")]);
    command.arg(format!("-iterations={turns}")).arg(&file).stdin(Stdio::null());
    let output = run::capture(&mut command)?;
    ensure!(output.status.success(), "{}", run::tail(&output, 10));
    read(&String::from_utf8_lossy(&output.stdout))
}

/// What the analyser says if a core has no model, or if its model lacks an instruction, has no costs for it, or none for
/// its operands.
const REFUSALS: [&str; 3] = [
    "unable to find instruction-level scheduling information",
    "found an unsupported instruction in the input assembly sequence",
    "unable to resolve scheduling class for write variant",
];

/// Returns true if the error says that there is no model, and false if it is any other.
pub fn is_refusal(error: &anyhow::Error) -> bool {
    let text = format!("{error:#}");
    REFUSALS.iter().any(|refusal| text.contains(refusal))
}

/// Returns a turn with what the analyser has to know of vtype at its start. It follows settings inside by itself.
fn source(turn: &[String], vtype: &str) -> String {
    let mut source = String::new();
    if let Some((sew, lmul)) = vtype.split_once(", ") {
        let (sew, lmul) = (sew.to_uppercase(), lmul.to_uppercase());
        source += &format!("# LLVM-MCA-RISCV-LMUL {lmul}\n# LLVM-MCA-RISCV-SEW {sew}\n");
    }
    source + &format!("{TURN}:\n{}\n", turn.join("\n"))
}

/// Parses a report.
fn read(report: &str) -> Result<Answer> {
    let number = |name: &str| -> Result<f64> {
        let line = report.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(line.with_context(|| format!("no {name}"))?.trim().parse()?)
    };
    let mut after = report.lines().skip_while(|line| !line.starts_with("Resource pressure per it"));
    let (heads, values) = (after.nth(1), after.next());
    let heads = heads.context("no units")?.split_whitespace();
    let values = values.context("no pressures")?.split_whitespace();
    let busiest = heads
        .zip(values)
        .filter_map(|(head, value)| Some((head, value.parse::<f64>().ok()?)))
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let (head, busy) = busiest.context("no busy unit")?;
    // Columns of instructions have numbers in brackets, too.
    let mut units = report.lines().skip_while(|line| !line.starts_with("Resources:"));
    let unit = units.find_map(|line| line.strip_prefix(head)?.trim_start().strip_prefix("- "));
    let unit = unit.context("no such unit")?;
    let turns = number("Iterations")?;
    Ok(Answer {
        cycles: number("Total Cycles")? / turns,
        operations: number("Total uOps")? / turns,
        width: number("Dispatch Width")?,
        unit: unit.to_owned(),
        busy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Iterations:        10\nInstructions:      40\nTotal Cycles:      205\nTotal uOps:        50\n\n\
        Dispatch Width:    2\nuOps Per Cycle:    0.24\nIPC:               0.20\nBlock RThroughput: 20.0\n\n\n\
        Instruction Info:\n[1]: #uOps\n[2]: Latency\n\n[1]    [2]    Instructions:\n 1      3     vaesem.vs\tv8, v1\n\n\n\
        Resources:\n[0]   - Div\n[1.0] - Vector\n[1.1] - Vector\n[2]   - AES\n\n\n\
        Resource pressure per iteration:\n[0]    [1.0]  [1.1]  [2]    \n -     3.00   2.00   20.00  \n\n\
        Resource pressure by instruction:\n[0]    [1.0]  [1.1]  [2]    Instructions:\n \
        -     3.00   2.00   20.00  vaesem.vs\tv8, v1\n";

    #[test]
    fn the_busiest_unit_is_found() {
        let answer = read(REPORT).unwrap();
        let (unit, busy) = ("AES".to_owned(), 20.0);
        assert_eq!(answer, Answer { cycles: 20.5, operations: 5.0, width: 2.0, unit, busy });
        for name in ["Total Cycles", "Dispatch Width", "Resource pressure", "[2]   - "] {
            assert!(read(&REPORT.replace(name, "-")).is_err(), "{name}");
        }
    }

    #[test]
    fn only_a_missing_model_is_a_refusal() {
        let refused =
            "error: found an unsupported instruction in the input assembly sequence, use …";
        assert!(is_refusal(&anyhow::anyhow!(refused)));
        assert!(!is_refusal(&anyhow::anyhow!("'no-core' is not a recognized processor")));
    }

    #[test]
    fn the_bottleneck_is_what_is_full() {
        let answer = |operations, busy| Answer {
            cycles: 20.0,
            operations,
            width: 2.0,
            unit: "AES".to_owned(),
            busy,
        };
        assert_eq!(answer(39.0, 20.0).bottleneck(), "issue width");
        assert_eq!(answer(20.0, 19.5).bottleneck(), "a full unit");
        assert_eq!(answer(20.0, 10.0).bottleneck(), "latencies");
        assert_eq!((answer(20.0, 10.0).filled(), answer(20.0, 10.0).pressure()), (0.5, 0.5));
    }

    #[test]
    fn the_analyser_is_told_of_vtype() {
        let turn = ["vaesem.vs v8, v1".to_owned(), "j .Lturn".to_owned()];
        let text = "# LLVM-MCA-RISCV-LMUL M4\n# LLVM-MCA-RISCV-SEW E32\n.Lturn:\nvaesem.vs v8, v1\nj .Lturn\n";
        assert_eq!(source(&turn, "e32, m4"), text);
        assert!(source(&turn, "").starts_with(".Lturn:\n"));
    }
}
