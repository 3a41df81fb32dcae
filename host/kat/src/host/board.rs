//! Answers cases with the bench on an emulated board (`crate::pack`).

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use hartlock_emulator::bare::{self, Program};
use hartlock_emulator::qemu::{self, Qemu};
use hartlock_kernels::Tier;
use tempfile::NamedTempFile;

use crate::host::line::{ParsedCase, Reply, Verdict};
use crate::host::stream::Backend;
use crate::pack::{self, PLAN_SIZE};
use crate::request::Field;

/// Length in bytes of a pack's header.
const HEADER_SIZE: usize = 32;
/// Maximum number of bytes of lines in a batch. A pack has about half of that size. Batches are large,
/// because a board takes half a second to start.
const BATCH_SIZE: usize = 16 << 20;
/// Maximum time without output from a board. No case takes that long.
const PATIENCE: Duration = Duration::from_secs(180);

/// An emulated board.
#[derive(Debug)]
pub struct Board {
    qemu: Qemu,
    bench: PathBuf,
    cpu: String,
    forced: Option<Tier>,
}

/// The reason why a board gave no answer.
#[derive(Debug)]
pub enum Error {
    /// The board did not run.
    Emulator(hartlock_emulator::Error),
    /// The pack could not be written.
    Pack(std::io::Error),
    /// The board printed a line that cannot be parsed, or too few lines.
    Console(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Emulator(error) => error.fmt(f),
            Error::Pack(error) => write!(f, "cannot write a pack for the board: {error}"),
            Error::Console(what) => write!(f, "the board {what}"),
        }
    }
}

impl std::error::Error for Error {}

/// Returns the CPU that a target names: `qemu:` with a CPU option of QEMU or a name in
/// [`bare::HARTS`].
pub fn cpu_of(target: &str) -> Option<String> {
    let cpu = target.strip_prefix("qemu:").filter(|cpu| !cpu.is_empty())?;
    // The name `rv64` is the hart of that name, without the extensions that QEMU adds by default.
    Some(bare::Hart::find(cpu).map_or_else(|| qemu::cpu_option(cpu), bare::Hart::cpu))
}

impl Board {
    /// Makes a board with this CPU, which runs this bench. If `forced` is given, only that tier may
    /// hash.
    pub const fn new(qemu: Qemu, bench: PathBuf, cpu: String, forced: Option<Tier>) -> Self {
        Self { qemu, bench, cpu, forced }
    }

    /// Writes these cases to a file in the pack format.
    fn pack(&self, cases: &[ParsedCase]) -> Result<NamedTempFile, Error> {
        let mut bytes = vec![0; HEADER_SIZE];
        bytes.extend_from_slice(&pack::plan(self.forced));
        for case in cases {
            let request = case.request();
            let start = bytes.len();
            bytes.resize(start + request.encoded_len(), 0);
            request
                .encode(&mut bytes[start..])
                .ok_or_else(|| Error::Console(format!("has no room for case `{}`", case.id)))?;
        }
        let body_size = (bytes.len() - HEADER_SIZE) as u64;
        debug_assert!(bytes.len() >= HEADER_SIZE + PLAN_SIZE);
        bytes[..16].copy_from_slice(pack::TAG);
        bytes[16..20].copy_from_slice(&pack::JOB.to_le_bytes());
        bytes[20..24].copy_from_slice(&(cases.len() as u32).to_le_bytes());
        bytes[24..32].copy_from_slice(&body_size.to_le_bytes());
        let mut file = NamedTempFile::new().map_err(Error::Pack)?;
        file.write_all(&bytes).map_err(Error::Pack)?;
        Ok(file)
    }
}

impl Backend for Board {
    type Error = Error;

    fn batch_size(&self) -> usize {
        BATCH_SIZE
    }

    fn is_slow_to_start(&self) -> bool {
        true
    }

    fn answer(&mut self, cases: &[ParsedCase]) -> Result<Vec<Reply>, Error> {
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let pack = self.pack(cases)?;
        let program =
            Program { image: &self.bench, pack: pack.path(), cpu: &self.cpu, patience: PATIENCE };
        let mut console = Console::new(cases);
        let end = bare::run(&self.qemu, &program, &mut |line| console.line(line));
        // An error in the output of the board is more specific than the error of its exit.
        if let Some(fault) = console.fault.take() {
            return Err(Error::Console(fault));
        }
        end.map_err(Error::Emulator)?;
        console.finish().map_err(Error::Console)
    }
}

/// The parser of a board's output, line by line.
struct Console<'a> {
    cases: &'a [ParsedCase],
    replies: Vec<Reply>,
    /// The output of the next case in hexadecimal digits.
    output: String,
    is_done: bool,
    fault: Option<String>,
}

impl<'a> Console<'a> {
    const fn new(cases: &'a [ParsedCase]) -> Self {
        Self { cases, replies: Vec::new(), output: String::new(), is_done: false, fault: None }
    }

    fn line(&mut self, line: &str) {
        if self.fault.is_some() || line.is_empty() {
            return;
        }
        // A piece of output may be empty. Lines come without spaces at their end.
        let digits = if line == "out" { Some("") } else { line.strip_prefix("out ") };
        if let Some(digits) = digits {
            // The memory of a batch is limited to the outputs that its cases may have, so a
            // longer output is refused.
            let bound = self.cases.get(self.replies.len()).map_or(0, ParsedCase::output_bound);
            if (self.output.len() + digits.len()) as u64 > 2 * bound {
                self.fault = Some("gave more output than the case has".to_owned());
            } else {
                self.output.push_str(digits);
            }
            return;
        }
        let words = line.strip_prefix("kat ").and_then(|rest| rest.split_once(' '));
        let next = self.cases.get(self.replies.len());
        match (words, next) {
            (Some((index, answer)), Some(case))
                if index.parse() == Ok(self.replies.len()) && !self.is_done =>
            {
                match reply(case, answer, std::mem::take(&mut self.output)) {
                    Some(reply) => self.replies.push(reply),
                    None => self.fault = Some(format!("printed `{line}`")),
                }
            }
            _ if line == "bench: done" => self.is_done = true,
            (_, Some(case)) => self.fault = Some(format!("printed `{line}` at case `{}`", case.id)),
            _ => self.fault = Some(format!("printed `{line}`")),
        }
    }

    fn finish(self) -> Result<Vec<Reply>, String> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        match self.cases.get(self.replies.len()) {
            Some(case) => Err(format!("stopped at case `{}`", case.id)),
            None if !self.is_done => Err("did not say that it is done".to_owned()),
            None => Ok(self.replies),
        }
    }
}

/// Parses the part of a line after the number of the case; `None` if it is malformed.
fn reply(case: &ParsedCase, answer: &str, output: String) -> Option<Reply> {
    let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
    let reply = |result, output, reason: Option<String>| Reply {
        id: case.id.clone(),
        result,
        output,
        reason,
    };
    Some(match (word, rest) {
        ("ok", "") => reply(Verdict::Ok, Some(output), None),
        ("valid", "") => reply(Verdict::Valid, None, None),
        ("invalid", reason) => reply(Verdict::Invalid, None, Some(reason.to_owned())),
        ("unsupported", reason) => reply(Verdict::Unsupported, None, Some(reason.to_owned())),
        ("absent", name) => {
            let field = Field::ALL.into_iter().find(|field| field.name() == name)?;
            case.reply(crate::Answer::UnsupportedField(field), String::new())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::line::parse;
    use crate::{Engine, Request, answer};

    fn cases() -> Vec<ParsedCase> {
        let lines = [
            r#"{"id":"a","op":"digest","alg":"shake128","message":"00","output_len":200}"#,
            r#"{"id":"b","op":"verify","alg":"ed25519","public_key":"","message":"","signature":""}"#,
            r#"{"id":"c","op":"verify","alg":"walnut-128","public_key":"","message":"","signature":""}"#,
            r#"{"id":"d","op":"digest","alg":"tree-sha256","message":"0011","block_size":0}"#,
        ];
        lines.iter().map(|line| parse(line.as_bytes()).unwrap()).collect()
    }

    /// Returns the output of the bench for a pack, computed without a board.
    fn console_of(body: &[u8], count: usize) -> String {
        let (forced, mut rest) = pack::parse_plan(body).unwrap();
        assert_eq!(forced, Some(Tier::Portable));
        let mut console = String::new();
        for index in 0..count {
            let (request, after) = Request::parse(rest).unwrap();
            rest = after;
            let answer = answer(&Engine::PORTABLE, &request, &mut |bytes| {
                console += &format!("out {}\n", crate::host::line::hex(bytes));
            });
            let (word, reason) = pack::words(answer);
            console += &format!("kat {index} {word} {reason}\n").replace(" \n", "\n");
        }
        assert!(rest.is_empty());
        console + "bench: done\n"
    }

    fn read(cases: &[ParsedCase], text: &str) -> Result<Vec<Reply>, String> {
        let mut console = Console::new(cases);
        text.lines().for_each(|line| console.line(line));
        console.finish()
    }

    #[test]
    fn a_board_gives_the_answers_of_the_workstation() {
        let cases = cases();
        let qemu = std::path::Path::new("/bin/false");
        assert!(Qemu::find(Some(qemu)).is_err());
        let bytes = {
            // Writing a pack does not need an emulator.
            let mut bytes = pack::plan(Some(Tier::Portable)).to_vec();
            for case in &cases {
                let request = case.request();
                let start = bytes.len();
                bytes.resize(start + request.encoded_len(), 0);
                assert_eq!(request.encode(&mut bytes[start..]), Some(request.encoded_len()));
            }
            bytes
        };
        let text = console_of(&bytes, cases.len());
        let expected: Vec<_> =
            cases.iter().map(|case| crate::host::reply(&Engine::PORTABLE, case)).collect();
        assert_eq!(read(&cases, &text).unwrap(), expected);
        assert_eq!(expected[0].output.as_ref().unwrap().len(), 400);
    }

    #[test]
    fn a_plain_text_may_be_as_long_as_its_cipher_text() {
        let zeros = |len: usize| "00".repeat(len);
        let line = format!(
            r#"{{"id":"a","op":"aead-decrypt","alg":"aes-128-gcm","key":"{}","iv":"00","aad":"","ciphertext":"{}","tag":"{}"}}"#,
            zeros(16),
            zeros(100),
            zeros(16)
        );
        let cases = [parse(line.as_bytes()).unwrap()];
        let told = |len| read(&cases, &format!("out {}\nkat 0 ok\nbench: done\n", zeros(len)));
        assert_eq!(told(100).unwrap().len(), 1);
        assert!(told(101).is_err());
    }

    #[test]
    fn a_board_that_says_too_little_too_much_or_nonsense_is_not_believed() {
        let cases = &cases()[..2];
        let good = "out 00\nkat 0 ok\nkat 1 invalid x\nbench: done\n";
        assert_eq!(read(cases, good).unwrap().len(), 2);
        assert_eq!(read(cases, &format!("out\n{good}")).unwrap().len(), 2);
        for bad in [
            "out 00\nkat 0 ok\nbench: done\n",
            "out 00\nkat 0 ok\nkat 1 invalid x\n",
            "kat 1 invalid x\nkat 0 ok\nbench: done\n",
            "kat 0 ok\nkat 0 ok\nbench: done\n",
            "kat 0 ok\nbench: trap: mcause 0x2\n",
            "kat 0 perhaps\nkat 1 valid\nbench: done\n",
            "kat 0 ok too\nkat 1 valid\nbench: done\n",
            "kat 0 absent hush\nkat 1 valid\nbench: done\n",
            "kat 0 ok\nkat 1 valid\nkat 2 valid\nbench: done\n",
            "kat 0 ok\nkat 1 valid\nout 00\nbench: done\n",
            &format!("{}kat 0 ok\nkat 1 valid\nbench: done\n", "out 00000000\n".repeat(51)),
            "",
        ] {
            assert!(read(cases, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_target_is_a_named_hart_or_what_qemu_takes() {
        assert!(cpu_of("qemu:rv64").unwrap().contains("zba=false"));
        assert_eq!(cpu_of("qemu:max").unwrap(), "max,ztso=off");
        assert_eq!(cpu_of("qemu:rv64,v=true").unwrap(), "rv64,v=true");
        for other in ["qemu:", "qemu", "rv64", ""] {
            assert_eq!(cpu_of(other), None);
        }
    }
}
