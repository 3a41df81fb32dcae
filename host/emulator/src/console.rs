//! Processes the console output of a device: lines, a bounded transcript, and refusals of its firmware.

use std::collections::VecDeque;
use std::fmt;

use hartlock_handoff::Stage;
use hartlock_image::Reason;
use hartlock_timeline::reason_of;

/// Maximum length of a line in bytes. A longer line is split.
const LONGEST_LINE: usize = 4096;
/// Number of bytes at the start of a transcript that are always kept, because the firmware prints there.
const TRANSCRIPT_HEAD: usize = 256 << 10;
/// Number of bytes at the end of a transcript that are kept.
const TRANSCRIPT_TAIL: usize = 768 << 10;
/// Maximum number of bytes that are kept for the search for a text.
const WINDOW: usize = 64 << 10;

/// A refusal as firmware prints it (boot flow §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stage that refused.
    pub stage: Stage,
    /// The reason.
    pub reason: Reason,
}

impl Refusal {
    /// Parses a line of the form `hartlock: rom refused: E0801 A payload is not …`.
    ///
    /// Only the code determines the reason; the title is not compared.
    pub fn parse(line: &str) -> Option<Self> {
        let (stage, rest) = line.strip_prefix("hartlock: ")?.split_once(" refused: E")?;
        let stage = [Stage::Rom, Stage::Loader].into_iter().find(|known| known.name() == stage)?;
        let (code, title) = rest.split_at_checked(4)?;
        let is_code = code.bytes().all(|byte| byte.is_ascii_digit());
        if !is_code || !(title.is_empty() || title.starts_with(' ')) {
            return None;
        }
        let reason = reason_of(code.parse().ok()?)?;
        Some(Self { stage, reason })
    }
}

/// The position of the output within an escape sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    No,
    /// After the ESC character.
    Begun,
    /// After `ESC [`, before the final character.
    Control,
}

/// The output of a console, which arrives in pieces.
///
/// Control characters and escape sequences are removed, and other characters that control a terminal are
/// escaped: a device under test must not be able to change what the user's terminal showed before.
#[derive(Debug, Default)]
pub struct Console {
    escape: Escape,
    line: Vec<u8>,
    lines: VecDeque<String>,
    window: Vec<u8>,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
    refusal: Option<Refusal>,
    has_handed_over: bool,
    trap: Option<Trap>,
}

/// An unhandled trap that ends a boot. Every hart that ran has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The printed line without its prefix.
    text: String,
}

/// The start of the last line that the loader prints.
const HANDED_OVER: &str = "hartlock: loader verified the system bundle, entering";
/// The start of the line that a stage prints for a trap. Before the loader hands over, the stage then continues
/// or refuses.
const TRAP: &str = "hartlock: trap: ";
/// The start of the line that OpenSBI prints for a trap in its own code, before the hart stops.
const TRAP_OF_OPENSBI: &str = "sbi_trap_error: ";

impl Trap {
    /// The names of causes by their number (Privileged Architecture, table of scause).
    const CAUSES: [&str; 16] = [
        "instruction address misaligned",
        "instruction access fault",
        "illegal instruction",
        "breakpoint",
        "load address misaligned",
        "load access fault",
        "store address misaligned",
        "store access fault",
        "environment call from U-mode",
        "environment call from S-mode",
        "cause 10",
        "environment call from M-mode",
        "instruction page fault",
        "load page fault",
        "cause 14",
        "store page fault",
    ];

    fn parse(line: &str, has_handed_over: bool) -> Option<Self> {
        let own = line.strip_prefix(TRAP).filter(|_| has_handed_over);
        let text = own.or(line.strip_prefix(TRAP_OF_OPENSBI))?;
        Some(Self { text: text.to_owned() })
    }

    fn number(&self, name: &str) -> Option<u64> {
        let mut words = self.text.split_whitespace();
        let number = words.find(|word| *word == name).and(words.next())?;
        u64::from_str_radix(number.strip_prefix("0x")?, 16).ok()
    }

    /// Returns the address of the instruction, if the line contains it.
    pub fn pc(&self) -> Option<u64> {
        self.number("sepc")
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.number("scause").and_then(|cause| usize::try_from(cause).ok());
        match cause.and_then(|cause| Self::CAUSES.get(cause)) {
            Some(cause) => write!(f, "{cause}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl Console {
    /// Processes more output.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(byte) = self.printable(*byte) {
                self.take(byte);
            }
        }
        let surplus = self.window.len().saturating_sub(WINDOW);
        self.window.drain(..surplus);
    }

    fn printable(&mut self, byte: u8) -> Option<u8> {
        let (next, shown) = match (self.escape, byte) {
            (_, 0x1b) => (Escape::Begun, None),
            (Escape::Begun, b'[') => (Escape::Control, None),
            (Escape::Control, 0x40..=0x7e) | (Escape::Begun, _) => (Escape::No, None),
            // A sequence never contains a line end, so this one was interrupted.
            (Escape::Control, b'\n') | (Escape::No, b'\n') => (Escape::No, Some(b'\n')),
            (Escape::Control, _) => (Escape::Control, None),
            (Escape::No, b'\t' | 0x20..=0x7e | 0x80..) => (Escape::No, Some(byte)),
            (Escape::No, _) => (Escape::No, None),
        };
        self.escape = next;
        shown
    }

    fn take(&mut self, byte: u8) {
        self.window.push(byte);
        if self.head.len() < TRANSCRIPT_HEAD {
            self.head.push(byte);
        } else {
            if self.tail.len() == TRANSCRIPT_TAIL {
                self.tail.pop_front();
                self.left_out += 1;
            }
            self.tail.push_back(byte);
        }
        if byte != b'\n' {
            self.line.push(byte);
        }
        if byte == b'\n' || self.line.len() == LONGEST_LINE {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let line = shown(&self.line);
        self.line.clear();
        // The first refusal is the cause, and later ones are consequences.
        self.refusal = self.refusal.or_else(|| Refusal::parse(&line));
        self.has_handed_over |= line.starts_with(HANDED_OVER);
        self.trap = self.trap.take().or_else(|| Trap::parse(&line, self.has_handed_over));
        self.lines.push_back(line);
    }

    /// Returns the trap that ended the boot, if there was one.
    pub fn trap(&self) -> Option<&Trap> {
        self.trap.as_ref()
    }

    /// Returns the next complete line.
    pub fn next_line(&mut self) -> Option<String> {
        self.lines.pop_front()
    }

    /// Returns true if the last line has not ended.
    pub fn is_inside_line(&self) -> bool {
        !self.line.is_empty()
    }

    /// Ends the last line, for example a prompt. No more output may follow.
    pub fn close(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    /// Returns true if `text` was printed after the last text that was found. It may begin and end anywhere in
    /// a line and extend over several lines.
    pub fn find(&mut self, text: &str) -> bool {
        let text = text.as_bytes();
        if text.is_empty() || text.len() > self.window.len() {
            return text.is_empty();
        }
        match self.window.windows(text.len()).position(|part| part == text) {
            Some(at) => {
                self.window.drain(..at + text.len());
                true
            }
            None => false,
        }
    }

    /// Returns the first refusal that was printed.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    /// Returns the whole output, or its start and its end.
    pub fn transcript(&self) -> String {
        let mut bytes = self.head.clone();
        if self.left_out > 0 {
            bytes.extend_from_slice(
                format!("\n[… {} bytes left out …]\n", self.left_out).as_bytes(),
            );
        }
        bytes.extend(&self.tail);
        shown(&bytes)
    }
}

/// Escapes the remaining characters that control a terminal, and replaces invalid UTF-8.
fn shown(bytes: &[u8]) -> String {
    hartlock_terminal::output(&String::from_utf8_lossy(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(console: &mut Console) -> Vec<String> {
        std::iter::from_fn(|| console.next_line()).collect()
    }

    #[test]
    fn a_trap_ends_the_boot_when_nothing_handles_it() {
        const WORKER: &str = "hartlock: trap: hart 0 scause 0x2 sepc 0x82000000 stval 0x8088b1f\n";
        let mut console = Console::default();
        console.push(WORKER.as_bytes());
        assert_eq!(console.trap(), None, "another hart repeats the work");
        console.push(b"hartlock: loader verified the system bundle, entering Linux\n");
        assert_eq!(console.trap(), None);
        console.push(WORKER.as_bytes());
        let trap = console.trap().unwrap();
        assert_eq!(trap.pc(), Some(0x8200_0000));
        assert!(trap.to_string().starts_with("illegal instruction: hart 0 scause 0x2"), "{trap}");

        let mut console = Console::default();
        console.push(b"sbi_trap_error: hart0: trap0: unknown local trap\n");
        assert_eq!(console.trap().unwrap().pc(), None);
    }

    #[test]
    fn reads_the_refusals_of_both_stages() {
        let line = "hartlock: loader refused: E0801 A payload is not the one that was signed.";
        let refusal = Refusal { stage: Stage::Loader, reason: Reason::PayloadDigestMismatch };
        assert_eq!(Refusal::parse(line), Some(refusal));
        let refusal = Refusal { stage: Stage::Rom, reason: Reason::Truncated };
        assert_eq!(Refusal::parse("hartlock: rom refused: E0101"), Some(refusal));
        for reason in Reason::ALL {
            let line = format!("hartlock: rom refused: E{:04} {}", *reason as u16, reason.title());
            assert_eq!(Refusal::parse(&line).map(|refusal| refusal.reason), Some(*reason));
        }
    }

    #[test]
    fn other_lines_are_no_refusals() {
        for line in [
            "",
            "hartlock: hint: Copy the bundle again.",
            " hartlock: rom refused: E0801 indented",
            "[    0.1] hartlock: rom refused: E0801 from a kernel",
            "hartlock: kernel refused: E0801 no such stage",
            "hartlock: rom refused: E9999 no such code",
            "hartlock: rom refused: E801 too short",
            "hartlock: rom refused: E08011 too long",
            "hartlock: rom refused: E+801 no digits",
            "hartlock: rom refused: E08é1",
        ] {
            assert_eq!(Refusal::parse(line), None, "{line}");
        }
    }

    #[test]
    fn lines_are_put_together_from_any_pieces() {
        let text = "one\r\nhartlock: rom refused: E0301 A signature does not verify.\r\n\tthree ü";
        for size in 1..text.len() {
            let mut console = Console::default();
            text.as_bytes().chunks(size).for_each(|piece| console.push(piece));
            assert_eq!(console.refusal().unwrap().reason, Reason::SignatureMismatch);
            assert_eq!(lines(&mut console).len(), 2);
            console.close();
            assert_eq!(lines(&mut console), ["\tthree ü"]);
            assert!(!console.transcript().contains('\r'));
        }
    }

    #[test]
    fn escape_sequences_and_control_characters_are_removed() {
        let mut console = Console::default();
        console.push(b"\x1b[2J\x1b[1;31mred\x1b[0m\x07\x08 \x1bcplain\x00\n\x1b[31\nnext\n");
        assert_eq!(lines(&mut console), ["red plain", "", "next"]);
        // The character U+009B is given as one byte and as a character, and the direction of writing is
        // changed.
        console.push("\u{9b}2Ka\u{202e}b".as_bytes());
        console.push(b"\x9b2K\n");
        let escaped = "\\u{9b}2Ka\\u{202e}b\u{fffd}2K";
        assert_eq!(lines(&mut console), [escaped]);
        assert!(console.transcript().ends_with(&format!("{escaped}\n")));
    }

    #[test]
    fn text_is_found_once_also_inside_a_line_that_has_not_ended() {
        let mut console = Console::default();
        console.push(b"boot\nlog");
        assert!(!console.find("login: ") && console.is_inside_line());
        console.push(b"in: ");
        assert!(console.find("login: "));
        assert!(!console.find("login: "), "each is found once");
        console.push(b"root\n");
        assert!(!console.is_inside_line());
        console.push(b"login: ");
        assert!(console.find("login: "));
        assert!(console.find(""));
    }

    #[test]
    fn a_flood_is_bounded_and_keeps_its_start_and_end() {
        let mut console = Console::default();
        console.push(b"first\n");
        for _ in 0..400 {
            console.push(&[b'x'; 8192]);
            assert!(lines(&mut console).iter().all(|line| line.len() <= LONGEST_LINE));
        }
        console.push(b"\nlast");
        let transcript = console.transcript();
        assert!(transcript.len() < TRANSCRIPT_HEAD + TRANSCRIPT_TAIL + 100);
        assert!(transcript.starts_with("first\n") && transcript.ends_with("\nlast"));
        assert!(transcript.contains("bytes left out"));
        assert!(console.window.len() <= WINDOW);
    }
}
