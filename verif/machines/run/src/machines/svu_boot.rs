//! Boots the machine with a signature verification unit: images are made by `hartlock sign`, the device is in
//! one-time-programmable storage, and the results are read from the reports of unit, sequencer and host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::End;
use super::svu::{self, Svu};
use super::svu_cases::Images;
use xtask::{firmware, project, run};

/// The names of the device: board and system on a chip.
pub const BOARD: &str = "svu-board";
pub const SOC: &str = "svu-1";
/// The security version of both stages, and the floor of the device.
pub const VERSION: u64 = 3;
/// The size of the largest first stage in bytes (`Capacity` of hw/soc/svu/top/svu_unit.sv).
pub const CAPACITY: usize = 64 << 10;
/// The offset of the second image on the medium (device/svu).
pub const SECOND_AT: usize = 0x4_0000;
/// The signature algorithm of the unit.
pub const ALGORITHM: &str = "xmss-sha2-10-256";
/// A limit far above the cycles of a boot from the slowest medium here.
const MAX_CYCLES: &str = "3000000";

/// The `hartlock` command, and a folder with the keys and images that it has made.
pub struct Signer {
    tool: PathBuf,
    folder: PathBuf,
}

/// The properties with which a stage is signed.
#[derive(Clone, Copy)]
pub struct Signed<'a> {
    /// The name of the key that signs it.
    pub key: &'a str,
    /// The name of the key of the next stage.
    pub next: Option<&'a str>,
    pub board: &'a str,
    pub soc: &'a str,
    pub version: u64,
    /// States of the device in which it may start.
    pub lifecycle: &'a str,
}

impl Signed<'static> {
    /// The first stage of the usual device.
    pub const FIRST: Self = Signed {
        key: "first",
        next: Some("second"),
        board: BOARD,
        soc: SOC,
        version: VERSION,
        lifecycle: "development,production",
    };
    /// The second stage of the usual device.
    pub const SECOND: Self = Signed { key: "second", next: None, ..Signed::FIRST };
}

impl Signer {
    /// Makes the keys `first`, `second` and `other`, in a folder whose former contents are removed.
    pub fn new(folder: &Path) -> Result<Signer> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(project::root());
        cargo.args(["build", "--locked", "--quiet", "--package", "hartlock-cli"]);
        run::quietly(&mut cargo)?;
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let tool = project::target_dir().join("debug/hartlock");
        let signer = Signer { tool, folder: folder.to_owned() };
        for key in ["first", "second", "other"] {
            signer.run(&["keygen", "--algorithm", ALGORITHM, "-o", &format!("{key}.pem")])?;
        }
        Ok(signer)
    }

    fn run(&self, arguments: &[&str]) -> Result<String> {
        run::quietly(Command::new(&self.tool).args(arguments).current_dir(&self.folder))
    }

    /// Signs code with `hartlock sign --form first-stage`, and returns the image.
    pub fn sign(&self, code: &[u8], signed: Signed<'_>) -> Result<Vec<u8>> {
        fs::write(self.folder.join("code.bin"), code)?;
        let (key, version) = (format!("{}.pem", signed.key), signed.version.to_string());
        let next = signed.next.map(|key| format!("{key}.pub.pem"));
        let mut arguments = vec!["sign", "--form", "first-stage", "--force", "-o", "stage.hlf"];
        arguments.extend(["--code", "code.bin", "--key", &key, "--security-version", &version]);
        arguments.extend(["--board", signed.board, "--soc", signed.soc]);
        arguments.extend(["--lifecycle", signed.lifecycle]);
        arguments.extend(next.iter().flat_map(|key| ["--next-key", key]));
        self.run(&arguments)?;
        let path = self.folder.join("stage.hlf");
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Returns the key digest by which a device knows a key.
    pub fn digest(&self, key: &str) -> Result<[u8; 32]> {
        let text = self.run(&["key", "show", &format!("{key}.pub.pem"), "--json"])?;
        let json: serde_json::Value = serde_json::from_str(&text)?;
        let text = json["first_stage_digest"].as_str().context("the key signs no first stage")?;
        let byte = |at: usize| {
            let text = text.get(2 * at..2 * at + 2).context("a short digest")?;
            Ok(u8::from_str_radix(text, 16)?)
        };
        let bytes = (0..32).map(byte).collect::<Result<Vec<u8>>>()?;
        bytes.try_into().ok().context("a digest of 32 bytes")
    }
}

/// The cells of one-time-programmable storage (`hw/ip/otp/doc/README.md`).
#[derive(Clone, Debug)]
pub struct Cells(pub [u64; Cells::ROWS]);

impl Cells {
    const ROWS: usize = 128;
    pub const LIFECYCLE: usize = 0;
    pub const REVOCATION: usize = 1;
    const FLOOR: usize = 4;
    const TYPES: usize = 16;
    pub const BOARD: usize = 24;
    pub const DIGEST: usize = 32;
    /// Number of rows of a key slot.
    const ROWS_PER_SLOT: usize = 8;
    /// The bits of data that each check bit covers (Hsiao's code).
    const MASKS: [u32; 7] =
        [0x0000_1fff, 0x007f_e007, 0x1f81_e078, 0xe38e_2388, 0x6cb2_4c91, 0xb554_9522, 0xda69_1a44];
    pub const MARK: u64 = 0x1f << 39;

    /// Returns the cells of a device in production.
    pub fn new(digest: &[u8; 32]) -> Cells {
        let mut cells = Cells([0; Cells::ROWS]);
        cells.0[Cells::LIFECYCLE] = Cells::flags(0b0111);
        cells.0[Cells::FLOOR] = Cells::flags((1 << VERSION) - 1);
        cells.put_key(0, digest);
        let mut board = [0; 32];
        board[..BOARD.len()].copy_from_slice(BOARD.as_bytes());
        cells.put(Cells::BOARD, &board);
        cells
    }

    /// Burns type and digest of a root key.
    pub fn put_key(&mut self, slot: usize, digest: &[u8; 32]) {
        // The type of XMSS-SHA2_10_256.
        self.0[Cells::TYPES + slot] = Cells::word(17 << 24 | 1);
        self.put(Cells::DIGEST + Cells::ROWS_PER_SLOT * slot, digest);
    }

    /// Burns words from a row on.
    pub fn put(&mut self, row: usize, bytes: &[u8; 32]) {
        for (cells, word) in self.0[row..].iter_mut().zip(bytes.as_chunks().0) {
            *cells = Cells::word(u32::from_le_bytes(*word));
        }
    }

    /// Returns the cells of a word with its check bits and its mark.
    fn word(data: u32) -> u64 {
        let check = |(bit, mask): (usize, &u32)| u64::from((data & mask).count_ones() & 1) << bit;
        let check: u64 = Cells::MASKS.iter().enumerate().map(check).sum();
        Cells::MARK | check << 32 | u64::from(data)
    }

    /// Returns the cells of flags, five cells for each.
    pub fn flags(flags: u64) -> u64 {
        (0..8).filter(|flag| flags >> flag & 1 == 1).map(|flag| 0x1f << (5 * flag)).sum()
    }

    fn to_text(&self) -> String {
        self.0.iter().map(|cells| format!("{cells:011x}\n")).collect()
    }
}

/// A device with the contents of its medium.
#[derive(Clone)]
pub struct Device {
    pub cells: Cells,
    pub medium: Vec<u8>,
    /// Options of the machine.
    pub options: Vec<String>,
}

impl Device {
    /// Returns a device with both stages on the medium.
    pub fn new(cells: &Cells, first: &[u8], second: &[u8]) -> Device {
        let mut medium = first.to_vec();
        medium.resize(SECOND_AT, 0);
        medium.extend(second);
        Device { cells: cells.clone(), medium, options: Vec::new() }
    }

    pub fn with(mut self, options: &[&str]) -> Device {
        self.options.extend(options.iter().map(|&option| option.to_owned()));
        self
    }

    /// Runs the device from reset to its end.
    pub fn boot(&self, svu: Svu, folder: &Path) -> Result<SvuBootResult> {
        self.boot_on(&svu::machine(svu)?, folder)
    }

    /// Does the same as [`Device::boot`] on a machine that is built.
    pub fn boot_on(&self, machine: &Path, folder: &Path) -> Result<SvuBootResult> {
        fs::create_dir_all(folder)?;
        let [otp, medium, report] =
            ["otp.hex", "medium.bin", "report.txt"].map(|name| folder.join(name));
        fs::write(&otp, self.cells.to_text())?;
        fs::write(&medium, &self.medium)?;
        let mut command = Command::new(machine);
        command
            .args(["--max-cycles", MAX_CYCLES])
            .arg("--otp")
            .arg(otp)
            .arg("--report")
            .arg(&report);
        command.args(&self.options).arg(medium).stderr(Stdio::piped());
        let output = run::capture(&mut command)?;
        let end = End::of(&output)?;
        let console = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = fs::read_to_string(&report).context("the machine wrote no report")?;
        let booted = SvuBootResult::parse(&text, console, end);
        booted.with_context(|| format!("the machine reported\n{text}"))
    }
}

/// A phase of the unit's sequence, in cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub name: String,
    pub start: u64,
    pub cycles: u64,
    /// Number of words of the image that were transferred.
    pub words: u64,
    /// Cycles in which no word was available, and cycles in which a word waited for the engine.
    pub for_medium: u64,
    pub for_engine: u64,
}

/// The result of a boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvuBootResult {
    pub end: Option<End>,
    pub console: String,
    pub phases: Vec<Phase>,
    /// Status and reason of the boot sequencer, with the cycle of its decision.
    pub status: String,
    pub reason: u32,
    pub decided: u64,
    /// Marks of the host, with their cycles.
    pub marks: Vec<(u32, u64)>,
    /// Cycles of the host out of reset, its instructions, and the cycle of the first one.
    pub host_cycles: u64,
    pub retired: u64,
    pub first_instruction: u64,
    pub cycles: u64,
}

impl SvuBootResult {
    fn parse(report: &str, console: String, end: End) -> Result<SvuBootResult> {
        let mut booted = SvuBootResult {
            end: Some(end),
            console,
            phases: Vec::new(),
            status: String::new(),
            reason: 0,
            decided: 0,
            marks: Vec::new(),
            host_cycles: 0,
            retired: 0,
            first_instruction: 0,
            cycles: 0,
        };
        for line in report.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                [
                    "phase",
                    name,
                    "cycle",
                    start,
                    "cycles",
                    cycles,
                    "words",
                    words,
                    "medium",
                    medium,
                    "engine",
                    engine,
                ] => {
                    booted.phases.push(Phase {
                        name: name.to_owned(),
                        start: start.parse()?,
                        cycles: cycles.parse()?,
                        words: words.parse()?,
                        for_medium: medium.parse()?,
                        for_engine: engine.parse()?,
                    });
                }
                ["boot", status, "reason", reason, "cycle", cycle, "alert", _] => {
                    booted.status = status.to_owned();
                    (booted.reason, booted.decided) = (reason.parse()?, cycle.parse()?);
                }
                ["mark", tag, "cycle", cycle] => {
                    booted.marks.push((tag.parse()?, cycle.parse()?));
                }
                ["host", "cycles", cycles, "retired", retired, "first", first] => {
                    (booted.host_cycles, booted.retired) = (cycles.parse()?, retired.parse()?);
                    booted.first_instruction = first.parse()?;
                }
                ["end", "cycle", cycle] => booted.cycles = cycle.parse()?,
                _ => {}
            }
        }
        ensure!(!booted.phases.is_empty() && booted.cycles > 0, "there is nothing about the unit");
        Ok(booted)
    }

    /// Returns true if the host never left reset, with this status and reason of the sequencer.
    pub fn is_held(&self, status: &str, reason: u32) -> bool {
        (self.status.as_str(), self.reason) == (status, reason)
            && (self.host_cycles, self.retired) == (0, 0)
            && self.console.is_empty()
            && self.end != Some(End::Success)
    }

    /// Describes the result in words.
    pub fn outcome(&self) -> String {
        let console = self.console.trim();
        format!(
            "{} E{:04} in cycle {}, the host ran for {} cycles and ended in {:?}\n{console}",
            self.status, self.reason, self.decided, self.host_cycles, self.end
        )
    }

    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

/// Returns code of a first stage with this number of bytes: the program, followed by bytes that no instruction reads.
pub fn code_of(size: usize) -> Result<Vec<u8>> {
    let mut code = firmware::svu_stage("first-stage")?;
    ensure!(
        code.len() <= size && size <= CAPACITY,
        "a first stage has {} to {CAPACITY} bytes",
        code.len()
    );
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while code.len() < size {
        // The generator is Xorshift (Marsaglia 2003), so that the bytes cannot be compressed.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        code.extend(state.to_le_bytes());
    }
    code.truncate(size);
    Ok(code)
}

/// Offsets of the signature, of the padding, of the signed part and of the code in an image (spec/first-stage.md §2.2).
pub const SIGNATURE_AT: usize = 128;
pub const PADDING_AT: usize = SIGNATURE_AT + 2504;
pub const HEADER_AT: usize = 2688;
pub const CODE_AT: usize = HEADER_AT + 256;

/// The length of a bar of the chart in characters.
const BAR: u64 = 48;

/// Prints the cycles of a boot: a line for each phase, with a bar in time.
pub fn print_timeline(name: &str, booted: &SvuBootResult) {
    println!(
        "{name}\n{:<18} {:>8} {:>8} {:>7} {:>12} {:>12}",
        "part", "start", "cycles", "words", "no word yet", "engine busy"
    );
    let end = booted.first_instruction.max(1);
    let bar = |from: u64, cycles: u64| {
        let place = |cycle: u64| (cycle * BAR / end) as usize;
        let (from, to) = (place(from), place(from + cycles).max(place(from) + 1));
        format!("{}{}", " ".repeat(from), "#".repeat(to - from))
    };
    let about = |name: &str| match name {
        "storage" => "fuses".to_owned(),
        "verdict" => "chains and tree".to_owned(),
        name => name.to_owned(),
    };
    for phase in &booted.phases {
        let Phase { name, start, cycles, words, for_medium, for_engine } = phase;
        if name == "released" {
            let cycles = booted.first_instruction - start;
            println!(
                "{:<18} {start:>8} {cycles:>8} {:>33}   {}",
                "release",
                "",
                bar(*start, cycles)
            );
            break;
        }
        let is_reading = *words > 0;
        let waits = |cycles: &u64| if is_reading { cycles.to_string() } else { String::new() };
        println!(
            "{:<18} {start:>8} {cycles:>8} {:>7} {:>12} {:>12}   {}",
            about(name),
            waits(words),
            waits(for_medium),
            waits(for_engine),
            bar(*start, *cycles)
        );
    }
}

/// Media for comparison, in bytes per 1000 cycles: at 100 MHz a flash with four lines at 40 MHz, one with a byte per
/// cycle, and memory on the chip.
const MEDIA: [(u64, &str); 3] = [
    (200, "20 MB/s at 100 MHz: quad SPI at 40 MHz"),
    (1000, "100 MB/s: octal SPI"),
    (8000, "800 MB/s: flash on the chip"),
];

/// Boots a first stage of this size from each medium, and returns the results with the descriptions of the media. The
/// signature is different each time.
///
/// # Errors
/// If an image cannot be signed, or does not boot.
pub fn releases(svu: Svu, size: usize) -> Result<Vec<(&'static str, SvuBootResult)>> {
    let images = Images::new(&svu::folder(svu).join("releases"), Some(size))?;
    by_medium(svu, &images, &[])
}

fn by_medium(
    svu: Svu,
    images: &Images,
    options: &[&str],
) -> Result<Vec<(&'static str, SvuBootResult)>> {
    let of = |(rate, about): (u64, &'static str)| {
        let device = images.device().with(options).with(&["--medium-rate", &rate.to_string()]);
        let booted = device.boot(svu, &svu::folder(svu))?;
        ensure!(booted.end == Some(End::Success), "{}", booted.outcome());
        Ok((about, booted))
    };
    MEDIA.into_iter().map(of).collect()
}

/// Boots a first stage of this size from media of several rates, and one that was changed, and prints their cycles.
///
/// # Errors
/// If an image cannot be signed, or a boot does not end as expected.
pub fn show(svu: Svu, size: Option<usize>, options: &[String]) -> Result<()> {
    let folder = svu::folder(svu);
    let size = size.unwrap_or(CAPACITY);
    let images = Images::new(&folder.join("signer"), Some(size))?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let boot = |device: Device| device.with(&options).boot(svu, &folder);
    let good = boot(images.device())?;
    ensure!(good.end == Some(End::Success), "{}", good.outcome());
    print_timeline(&format!("{}, a first stage of {size} bytes", svu.name), &good);
    println!("{}", good.console.trim());
    if let [(1, start), (2, copied), (3, judged), ..] = good.marks[..] {
        println!(
            "second stage: {} cycles to copy it, {} until its verdict, {} in all\n",
            copied - start,
            judged - copied,
            judged - start
        );
    }
    let bad = boot(images.flipped(CODE_AT, 0))?;
    ensure!(bad.is_held("refused", 301), "{}", bad.outcome());
    println!(
        "a flipped bit in the code: {} with E{:04} in cycle {}, and the host stays in reset\n",
        bad.status, bad.reason, bad.decided
    );
    println!(
        "{:<42} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "medium", "cycles", "ms", "reading", "hashing", "chains"
    );
    for (about, booted) in by_medium(svu, &images, &options)? {
        let cycles = booted.first_instruction;
        let sum = |of: fn(&Phase) -> u64| {
            booted.phases.iter().filter(|it| it.words > 0).map(of).sum::<u64>()
        };
        println!(
            "{about:<42} {cycles:>9} {:>9.3} {:>9} {:>9} {:>8}",
            // The time in milliseconds at 100 MHz.
            cycles as f64 / 1e5,
            sum(|phase| phase.for_medium),
            sum(|phase| phase.for_engine),
            booted.phase("verdict").map_or(0, |phase| phase.cycles),
        );
    }
    println!(
        "from reset to the first instruction; reading and hashing: cycles in which the unit waited for either"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "phase lead cycle 417 cycles 87 words 8 medium 71 engine 8\n\
        phase refused cycle 504 cycles 9 words 0 medium 9 engine 0\n\
        boot refused reason 304 cycle 506 alert 0\nhost cycles 0 retired 0 first 0\n\
        medium requests 2 bytes 128\nend cycle 513\n";

    #[test]
    fn a_host_that_ran_is_not_held() {
        let parse =
            |report: &str| SvuBootResult::parse(report, String::new(), End::Failure).unwrap();
        let booted = parse(REPORT);
        assert!(booted.is_held("refused", 304));
        assert!(!booted.is_held("refused", 301) && !booted.is_held("error", 304));
        assert_eq!(booted.phase("lead").unwrap().for_medium, 71);
        assert!(!parse(&REPORT.replace("host cycles 0", "host cycles 1")).is_held("refused", 304));
        assert!(!parse(&REPORT.replace("retired 0", "retired 1")).is_held("refused", 304));
        let spoke = SvuBootResult { console: "x".into(), ..booted.clone() };
        assert!(!spoke.is_held("refused", 304));
        assert!(!SvuBootResult { end: Some(End::Success), ..booted }.is_held("refused", 304));
        assert!(SvuBootResult::parse("end cycle 5\n", String::new(), End::Failure).is_err());
    }

    #[test]
    fn cells_are_those_of_the_storage() {
        // A word of zeros sets no check bit, and each bit of data sets an odd number of them (Hsiao's code).
        assert_eq!(Cells::word(0), Cells::MARK);
        for bit in 0..32 {
            let check = (Cells::word(1 << bit) & !Cells::MARK) >> 32;
            assert!(check.count_ones() % 2 == 1 && check.count_ones() >= 3, "{bit}");
        }
        assert_eq!(Cells::flags(0b101), 0x1f | 0x1f << 10);
        let cells = Cells::new(&[7; 32]);
        assert_eq!(cells.to_text().lines().count(), 128);
        assert_eq!(cells.0[Cells::DIGEST + 7] & 0xffff_ffff, 0x0707_0707);
    }
}
