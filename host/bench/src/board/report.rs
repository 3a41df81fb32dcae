//! The table and the line of JSON.

use core::fmt::{Arguments as Format, Write};

use hartlock_bench::json::{Numbers, OrNull, Text};
use hartlock_bench::statistics::Statistics;

use super::arguments::Arguments;
use super::kernels::Subject;
use super::measure::{Record, Status};
use super::probes::Probes;
use super::system::{self, Output};

/// Maximum length of the line in bytes.
const MAX_LINE: usize = 1 << 20;

/// The results so far. The line is written at the end, whole or not at all.
pub struct Report {
    line: &'static mut [u8],
    len: usize,
    is_whole: bool,
    has_rows: bool,
    /// Time of our fastest kernel in picoseconds a byte, by name and form.
    best: [Option<Best>; 16],
}

#[derive(Clone, Copy)]
struct Best {
    name: &'static str,
    form: &'static str,
    picoseconds: u64,
}

impl Write for Report {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.len.saturating_add(text.len());
        match self.line.get_mut(self.len..end) {
            Some(place) => place.copy_from_slice(text.as_bytes()),
            None => self.is_whole = false,
        }
        self.len = end;
        Ok(())
    }
}

impl Report {
    /// Starts with what the board is; `None` if there is no memory.
    pub fn new(schema: u64, arguments: &Arguments, cpu: usize) -> Option<Self> {
        let line = system::shared(MAX_LINE)?;
        let mut report = Self { line, len: 0, is_whole: true, has_rows: false, best: [None; 16] };
        let version = env!("CARGO_PKG_VERSION");
        report.add(format_args!(
            "{{\"schema\":{schema},\"program\":\"hartlock-bench {version}\",\"quick\":{}",
            arguments.is_quick
        ));
        let mut names = [[0; 65]; 6];
        let [system, release, version, machine] = system::uname(&mut names).map(Text);
        report.add(format_args!(
            ",\"kernel\":{{\"system\":{system},\"release\":{release},\"version\":{version},\"machine\":{machine}}}"
        ));
        let mut room = [0; 256];
        let model = system::read(c"/proc/device-tree/model", &mut room);
        let model = model.and_then(|text| text.split(|byte| *byte == 0).next()).map(Text);
        report.add(format_args!(",\"board\":{}", OrNull(model)));
        report.add(format_args!(",\"cpu\":{cpu},\"governor\":"));
        report.governor(cpu);
        report.cpuinfo();
        Some(report)
    }

    fn add(&mut self, text: Format<'_>) {
        // Writing does not fail; a line that is too long is noticed at the end.
        let _ = self.write_fmt(text);
    }

    fn governor(&mut self, cpu: usize) {
        let mut path = Path { bytes: [0; 96], len: 0 };
        let _ = write!(path, "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        let mut room = [0; 64];
        let name = path.text().and_then(|path| system::read(path, &mut room));
        self.add(format_args!("{}", OrNull(name.map(|name| Text(name.trim_ascii())))));
    }

    fn cpuinfo(&mut self) {
        let mut room = [0; 64 << 10];
        let text = system::read(c"/proc/cpuinfo", &mut room);
        self.add(format_args!(",\"cpuinfo\":{}", OrNull(text.map(Text))));
    }

    pub fn probes(&mut self, probes: &Probes) {
        let mut out = Output::ERROR;
        let _ = write!(out, "extensions:");
        self.add(format_args!(",\"vlen\":{},\"probes\":{{", probes.vlen));
        for (at, (name, probed)) in probes.extensions.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            self.add(format_args!("{comma}\"{name}\":\"{}\"", probed.name()));
            if probed.name() == "works" {
                let _ = write!(out, " {name}");
            }
        }
        let _ = writeln!(out, "; vector registers of {} bits\n", probes.vlen);
        let [cycles, instructions, time] = ["cycles/B", "instr/B", "ns/B"];
        let _ = writeln!(
            out,
            "{:<12} {:<15} {:<9} {cycles:>9} {instructions:>9} {time:>9} spread",
            "kernel", "form", "tier"
        );
        self.add(format_args!("}},\"kernels\":["));
    }

    pub fn kernel(&mut self, subject: Subject, record: &Record) {
        let (name, form, tier) = (subject.name(), subject.form(), subject.tier());
        let comma = if self.has_rows { "," } else { "" };
        self.has_rows = true;
        self.add(format_args!(
            "{comma}{{\"name\":\"{name}\",\"form\":\"{form}\",\"tier\":\"{tier}\",\"status\":\"{}\"",
            record.status.name()
        ));
        let mut out = Output::ERROR;
        let _ = write!(out, "{name:<12} {form:<15} {tier:<9} ");
        if record.status != Status::Measured {
            self.add(format_args!("}}"));
            let _ = writeln!(out, "{:>9}", record.status.name());
            return;
        }
        let cut = |samples: &Option<[u64; _]>| samples.map(|all| (all, record.samples));
        let nanoseconds = Some((record.nanoseconds, record.samples));
        let (cycles, instructions) = (cut(&record.cycles), cut(&record.instructions));
        self.add(format_args!(
            ",\"messages\":{},\"bytes\":{},\"repeats\":{}",
            record.messages, record.bytes, record.repeats
        ));
        let total = (record.bytes as u64).saturating_mul(record.repeats);
        let mut used = None;
        for (unit, samples) in
            [("cycles", cycles), ("instructions", instructions), ("nanoseconds", nanoseconds)]
        {
            let samples = samples.as_ref().and_then(|(all, count)| all.get(..*count));
            self.add(format_args!(",\"{unit}\":{}", OrNull(samples.map(Numbers))));
            let statistics = samples.and_then(Statistics::of);
            let _ = match statistics {
                Some(found) => write!(out, "{:>9} ", Thousandths::of(found.median, total)),
                None => write!(out, "{:>9} ", "-"),
            };
            if let Some(found) = statistics.filter(|_| unit != "instructions" && used.is_none()) {
                used = Some((unit, found));
            }
            if let Some(found) = statistics.filter(|_| unit == "nanoseconds") {
                self.remember(name, form, per_byte(found.median.saturating_mul(1000), total));
            }
        }
        if let Some((counter, Statistics { median, min, max, spread })) = used {
            self.add(format_args!(
                ",\"counter\":\"{counter}\",\"median\":{median},\"min\":{min},\"max\":{max},\"spread\":{spread}"
            ));
            let _ = write!(out, "{:>5}", Thousandths(spread));
        }
        self.add(format_args!("}}"));
        let _ = writeln!(out);
    }

    fn remember(&mut self, name: &'static str, form: &'static str, picoseconds: u64) {
        let new = Best { name, form, picoseconds };
        for place in &mut self.best {
            match place {
                Some(best) if (best.name, best.form) != (name, form) => {}
                Some(best) if best.picoseconds <= picoseconds => return,
                _ => {
                    *place = Some(new);
                    return;
                }
            }
        }
    }

    /// Notes the version of OpenSSL, or that there is none.
    pub fn peer(&mut self, version: Option<&[u8]>) {
        self.has_rows = false;
        let mut out = Output::ERROR;
        match version {
            Some(version) => {
                self.add(format_args!("],\"openssl\":{{\"version\":{},\"rows\":[", Text(version)));
                let version = core::str::from_utf8(version).unwrap_or("OpenSSL");
                let _ = writeln!(out, "\n{version}: time, and that of our fastest kernel");
            }
            None => {
                self.add(format_args!("],\"openssl\":null"));
                let _ = writeln!(out, "\nno openssl on this board");
            }
        }
    }

    /// Adds what OpenSSL reaches, in bytes a second.
    pub fn peer_row(
        &mut self,
        name: &'static str,
        form: &'static str,
        bytes: usize,
        samples: Option<&[u64]>,
    ) {
        let comma = if self.has_rows { "," } else { "" };
        self.has_rows = true;
        self.add(format_args!(
            "{comma}{{\"name\":\"{name}\",\"form\":\"{form}\",\"bytes\":{bytes},\"bytes_per_second\":{}}}",
            OrNull(samples.map(Numbers))
        ));
        let mut out = Output::ERROR;
        let _ = write!(out, "{name:<12} {form:<15} ");
        let Some(found) = samples.and_then(Statistics::of) else {
            let _ = writeln!(out, "        -");
            return;
        };
        let picoseconds = per_byte(1_000_000_000_000, found.median);
        let _ = write!(out, "{:>9} ns/B", Thousandths(picoseconds));
        let ours = self.best.iter().flatten().find(|best| (best.name, best.form) == (name, form));
        let _ = match ours {
            Some(ours) => {
                writeln!(out, ", ours {} ns/B", Thousandths(ours.picoseconds))
            }
            None => writeln!(out, ", not comparable: another form"),
        };
    }

    /// Ends the line and writes it. Returns false if it was too long, or could not be written.
    pub fn end(&mut self, has_peer: bool) -> bool {
        self.add(format_args!("{}}}\n", if has_peer { "]}" } else { "" }));
        let text = self.line.get(..self.len).and_then(|line| core::str::from_utf8(line).ok());
        let why = match text.filter(|_| self.is_whole) {
            Some(text) if Output::STANDARD.text(text) => return true,
            Some(_) => "error: the results cannot be written to the standard output\n",
            None => "error: the results are too long\n",
        };
        Output::ERROR.text(why);
        false
    }
}

/// Divides, and rounds down; 0 if there is nothing to divide by.
fn per_byte(whole: u64, bytes: u64) -> u64 {
    whole.checked_div(bytes).unwrap_or(0)
}

/// A number of thousandths, printed as a decimal number.
struct Thousandths(u64);

impl Thousandths {
    fn of(sum: u64, bytes: u64) -> Self {
        Self(per_byte(sum.saturating_mul(1000), bytes))
    }
}

impl core::fmt::Display for Thousandths {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let width = out.width().unwrap_or(0).saturating_sub(4);
        write!(out, "{:>width$}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A path that is written.
struct Path {
    bytes: [u8; 96],
    len: usize,
}

impl Path {
    fn text(&self) -> Option<&core::ffi::CStr> {
        core::ffi::CStr::from_bytes_until_nul(&self.bytes).ok()
    }
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.len.saturating_add(text.len());
        // The last byte stays zero.
        let place =
            self.bytes.get_mut(self.len..end).filter(|_| end < 96).ok_or(core::fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
