//! Cuts a loop out of disassembled code, and refuses one that is not the intended loop.

use anyhow::{Context, Result, bail, ensure};

/// Where a turn of a loop is in a listing, and what shows that it is the intended one.
pub struct Cut {
    /// The label of a function, or one inside a function that precedes the loop.
    pub label: &'static str,
    /// Number of the backward branch after the label that ends a turn, from 0.
    pub branch: usize,
    /// Number of the backward branch of a loop inside the turn, and how often a turn runs that loop.
    pub inner: Option<(usize, usize)>,
    /// Beginning of the mnemonic that does the work, and how many instructions with it a turn has: from that number
    /// follows how many bytes a turn processes.
    pub work: (&'static str, usize),
    /// SEW and LMUL at the start of a turn, such as `e32, m4`; empty for scalar code.
    pub vtype: &'static str,
}

/// The label that all branches of a turn lead to.
pub const TURN: &str = ".Lturn";

/// A line of a listing.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A section begins. Addresses of different sections of an object are not comparable.
    Section,
    Label(String),
    Instruction {
        address: u64,
        mnemonic: String,
        operands: String,
    },
}

/// Parses what `llvm-objdump -d --no-show-raw-insn` prints.
pub fn listing(text: &str) -> Vec<Line> {
    text.lines().filter_map(line).collect()
}

/// Parses a line of the form `0000000000000118 <name>:`, or `      12: bne a1, a2, 0x4e <name>`.
fn line(line: &str) -> Option<Line> {
    if line.starts_with("Disassembly of section") {
        return Some(Line::Section);
    }
    if let Some((_, label)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
        return Some(Line::Label(label.to_owned()));
    }
    let (address, rest) = line.split_once(':')?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let mut words = rest.split_whitespace();
    let mnemonic = words.next()?.to_owned();
    let operands: Vec<&str> = words.take_while(|word| !word.starts_with('<')).collect();
    Some(Line::Instruction { address, mnemonic, operands: operands.join(" ") })
}

/// An instruction of a section: address, mnemonic and operands.
type Instruction<'a> = (u64, &'a str, &'a str);

impl Cut {
    /// Returns the instructions of a turn, with the inner loop as often as a turn runs it.
    ///
    /// # Errors
    /// Fails if the listing lacks the loop, or if a turn does not do the expected work.
    pub fn turn(&self, listing: &[Line]) -> Result<Vec<String>> {
        self.cut(listing)
            .with_context(|| format!("{}, backward branch {}", self.label, self.branch))
    }

    fn cut(&self, listing: &[Line]) -> Result<Vec<String>> {
        let code = self.code(listing)?;
        let (start, end) = self.bounds(&code, self.branch)?;
        let mut turn = Vec::new();
        match self.inner {
            None => turn.extend(&code[start..=end]),
            Some((branch, times)) => {
                let (from, to) = self.bounds(&code, branch)?;
                ensure!(start <= from && to < end, "branch {branch} is not inside of it");
                turn.extend(&code[start..from]);
                (0..times).for_each(|_| turn.extend(&code[from..=to]));
                turn.extend(&code[to + 1..=end]);
            }
        }
        let turn: Vec<String> = turn.into_iter().map(text).collect();
        self.check(&turn)?;
        Ok(turn)
    }

    /// Returns the instructions after the label, up to the end of its section.
    fn code<'a>(&self, listing: &'a [Line]) -> Result<Vec<Instruction<'a>>> {
        let mut after = listing.iter();
        let is_label = |line: &Line| matches!(line, Line::Label(name) if name == self.label);
        after.by_ref().find(|line| is_label(line)).context("no such label")?;
        // Two functions of the same name would make it a matter of luck which one is cut.
        ensure!(!after.clone().any(is_label), "the label is there twice");
        let section = after.take_while(|line| **line != Line::Section);
        let instruction = |line: &'a Line| match line {
            Line::Instruction { address, mnemonic, operands } => {
                Some((*address, mnemonic.as_str(), operands.as_str()))
            }
            _ => None,
        };
        Ok(section.filter_map(instruction).collect())
    }

    /// Returns the places of the first and the last instruction of the loop that a backward branch ends.
    fn bounds(&self, code: &[Instruction<'_>], branch: usize) -> Result<(usize, usize)> {
        let backward = |(end, it): (usize, &Instruction<'_>)| {
            let target = target(it)?;
            let start = code[..=end].iter().position(|(address, ..)| *address == target)?;
            Some((start, end))
        };
        let mut loops = code.iter().enumerate().filter_map(backward);
        loops.nth(branch).with_context(|| format!("no backward branch {branch}"))
    }

    fn check(&self, turn: &[String]) -> Result<()> {
        let (mnemonic, expected) = self.work;
        let found = turn.iter().filter(|line| line.starts_with(mnemonic)).count();
        ensure!(
            found == expected,
            "{found} of {mnemonic} in {} instructions, and {expected} are in a turn: this is another loop",
            turn.len()
        );
        // Where a turn sets vtype, the last setting is what the next turn starts with.
        match turn.iter().rfind(|line| line.starts_with("vset")) {
            Some(line) if !line.contains(&format!(" {}, ", self.vtype)) => {
                bail!("a turn starts with `{line}`, not with {}", self.vtype)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the address that a branch or jump leads to.
fn target((_, mnemonic, operands): &Instruction<'_>) -> Option<u64> {
    let target = operands.rsplit([',', ' ']).next()?.strip_prefix("0x")?;
    u64::from_str_radix(target, 16).ok().filter(|_| mnemonic.starts_with(['b', 'j']))
}

/// Returns an instruction as the analyser reads it. Branches lead to the start of the turn: the analyser does not follow
/// them.
fn text(it: &Instruction<'_>) -> String {
    let (_, mnemonic, operands) = it;
    if target(it).is_none() {
        return format!("{mnemonic} {operands}");
    }
    match operands.rsplit_once(',') {
        Some((registers, _)) => format!("{mnemonic} {registers}, {TURN}"),
        None => format!("{mnemonic} {TURN}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with two loops, of which the first one is longer and has the same instructions, and another function
    /// at the same addresses.
    const TEXT: &str = "\
        file.a(one.o):\tfile format elf64-littleriscv\n\n\
        Disassembly of section .text:\n\n\
        0000000000000000 <kernel>:\n\
        \x20      0:      \tvclmul.vv\tv4, v4, v4\n\
        \x20      4:      \tvclmul.vv\tv8, v4, v4\n\
        \x20      8:      \tslli\tt0, t0, 0x1\n\
        \x20      c:      \tbltu\tt0, t1, 0x0 <kernel>\n\n\
        0000000000000010 <.L_group>:\n\
        \x20     10:      \tvl4re8.v\tv28, (a2)\n\
        \x20     14:      \tli\tt0, 0x4\n\n\
        0000000000000018 <.L_inner>:\n\
        \x20     18:      \tvsetvli\tzero, a4, e64, m4, ta, ma\n\
        \x20     1c:      \tvclmul.vv\tv12, v4, v12\n\
        \x20     20:      \taddi\tt0, t0, -0x1\n\
        \x20     24:      \tbnez\tt0, 0x18 <.L_inner>\n\
        \x20     28:      \tbeqz\ta3, 0x30 <.L_end>\n\
        \x20     2c:      \tj\t0x10 <.L_group>\n\n\
        0000000000000030 <.L_end>:\n\
        \x20     30:      \tret\n\n\
        Disassembly of section .text.other:\n\n\
        0000000000000000 <other>:\n\
        \x20      0:      \tvclmul.vv\tv4, v4, v4\n\
        \x20      4:      \tj\t0x0 <other>\n";

    const GROUP: Cut = Cut {
        label: "kernel",
        branch: 2,
        inner: Some((1, 3)),
        work: ("vclmul.vv", 3),
        vtype: "e64, m4",
    };

    fn says(cut: &Cut) -> String {
        format!("{:#}", cut.turn(&listing(TEXT)).unwrap_err())
    }

    #[test]
    fn a_turn_repeats_the_inner_loop() {
        let step = [
            "vsetvli zero, a4, e64, m4, ta, ma",
            "vclmul.vv v12, v4, v12",
            "addi t0, t0, -0x1",
            "bnez t0, .Lturn",
        ];
        let (first, last) = (["vl4re8.v v28, (a2)", "li t0, 0x4"], ["beqz a3, .Lturn", "j .Lturn"]);
        let expected = [&first[..], &step, &step, &step, &last].concat();
        assert_eq!(GROUP.turn(&listing(TEXT)).unwrap(), expected);
        // The same loop, from a label inside of the function.
        let from_label = Cut { label: ".L_group", branch: 1, inner: Some((0, 3)), ..GROUP };
        assert_eq!(from_label.turn(&listing(TEXT)).unwrap(), expected);
    }

    #[test]
    fn another_loop_than_the_intended_one_is_refused() {
        // The loop that prepares powers has the same mnemonic, and not as often.
        let powers = Cut { branch: 0, inner: None, ..GROUP };
        assert_eq!(
            says(&powers),
            "kernel, backward branch 0: 2 of vclmul.vv in 4 instructions, and 3 are in a turn: this is another loop"
        );
        let once = Cut { inner: None, ..GROUP };
        assert!(says(&once).contains("1 of vclmul.vv"), "{}", says(&once));
        let apart = Cut { branch: 1, inner: Some((0, 3)), ..GROUP };
        assert!(says(&apart).ends_with("branch 0 is not inside of it"), "{}", says(&apart));
    }

    #[test]
    fn what_is_not_there_is_refused() {
        assert!(says(&Cut { label: "kern", ..GROUP }).ends_with("no such label"));
        // The branch of the other section, whose addresses occur here too, is not counted.
        assert!(says(&Cut { branch: 3, ..GROUP }).ends_with("no backward branch 3"));
        let other = Cut { vtype: "e64, m1", ..GROUP };
        assert!(says(&other).contains("not with e64, m1"), "{}", says(&other));
        let twice = format!("{TEXT}{TEXT}");
        let error = GROUP.turn(&listing(&twice)).unwrap_err();
        assert!(format!("{error:#}").ends_with("the label is there twice"));
    }
}
