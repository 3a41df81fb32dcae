//! The table for people and the line of JSON for programs.

use core::fmt::Write;

use hartlock_bench::json::{Numbers, OrNull, Text};
use hartlock_bench::statistics::{MAX_SAMPLES, Statistics};

use super::arguments::Arguments;
use super::measure::Checked;
use super::probes::Probes;
use super::system::{self, Output};

/// Maximum length of a text of Linux; what is longer is cut.
const MAX_TEXT: usize = 128 << 10;

/// A set of samples, of which the first `count` are valid.
type Samples = [u64; MAX_SAMPLES];

/// One measurement.
pub struct Measurement {
    pub name: &'static str,
    pub tier: &'static str,
    pub form: &'static str,
    pub messages: usize,
    /// Length of a message.
    pub bytes: usize,
    /// How often a sample repeats the work.
    pub repeats: u64,
    pub count: usize,
    pub nanoseconds: Samples,
    pub cycles: Option<Samples>,
    pub instructions: Option<Samples>,
}

/// What was written so far. Both outputs are written as results come in.
pub struct Report {
    is_first: bool,
}

/// Writes to the line of JSON. An error shows in its length.
macro_rules! json {
    ($($part:tt)*) => { let _ = write!({ Output::STANDARD }, $($part)*); };
}

/// Writes to the table.
macro_rules! table {
    ($($part:tt)*) => { let _ = writeln!({ Output::ERROR }, $($part)*); };
}

impl Report {
    /// Starts the file with what describes the board.
    pub fn new(schema: u64, arguments: &Arguments, cpu: usize) -> Self {
        let mut buffer = [0; MAX_TEXT];
        let mut fields = [[0; 65]; 6];
        let [system, release, version, machine] = system::uname(&mut fields).map(Text);
        json!("{{\"schema\":{schema},\"program\":\"hartlock-bench\",");
        json!("\"version\":\"{}\",", env!("CARGO_PKG_VERSION"));
        json!("\"quick\":{},\"cpu\":{cpu},", arguments.is_quick);
        json!("\"kernel\":{{\"system\":{system},\"release\":{release},");
        json!("\"version\":{version},\"machine\":{machine}}},");
        let cpuinfo = system::read(c"/proc/cpuinfo", &mut buffer);
        json!("\"cpuinfo\":{},", OrNull(cpuinfo.map(Text)));
        let model = system::read(c"/proc/device-tree/model", &mut buffer);
        let model = model.and_then(|model| model.split(|byte| *byte == 0).next());
        json!("\"model\":{},", OrNull(model.map(Text)));
        let governor =
            system::read(c"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", &mut buffer);
        json!("\"governor\":{},", OrNull(governor.map(|text| Text(text.trim_ascii()))));
        Self { is_first: true }
    }

    /// Separates an entry of a list from the one before.
    fn separate(&mut self) {
        if !core::mem::take(&mut self.is_first) {
            json!(",");
        }
    }

    pub fn probes(&mut self, probes: &Probes) {
        json!("\"vlen\":{},\"extensions\":{{", probes.vlen);
        for (name, result) in probes.extensions {
            self.separate();
            json!("\"{name}\":\"{}\"", result.name());
            table!("extension {name:<8} {}", result.name());
        }
        table!("vector registers of {} bits", probes.vlen);
        json!("}},\"kernels\":[");
        self.is_first = true;
    }

    pub fn kernel(&mut self, (family, tier): (&str, &str), result: Checked) {
        self.separate();
        json!("{{\"family\":\"{family}\",\"tier\":\"{tier}\",\"result\":\"{}\"}}", result.name());
        if result != Checked::Absent {
            table!("kernel {family:<8} {tier:<9} {}", result.name());
        }
    }

    pub fn counters(&mut self, has_cycles: bool, has_instructions: bool) {
        let counter = if has_cycles { "perf_event_open" } else { "clock_monotonic" };
        json!("],\"counter\":\"{counter}\",\"instructions\":{has_instructions},");
        json!("\"measurements\":[");
        self.is_first = true;
        table!("counter {counter}");
        table!(
            "{:<12} {:<9} {:<5} {:>9} {:>13} {:>8}",
            "name",
            "kernel",
            "form",
            "MB/s",
            "cycles/byte",
            "spread"
        );
    }

    pub fn measurement(&mut self, one: &Measurement) {
        self.separate();
        let &Measurement { name, tier, form, messages, bytes, repeats, .. } = one;
        json!("{{\"name\":\"{name}\",\"tier\":\"{tier}\",\"form\":\"{form}\",");
        json!("\"messages\":{messages},\"bytes\":{bytes},\"repeats\":{repeats}");
        let sets = [
            ("nanoseconds", Some(&one.nanoseconds)),
            ("cycles", one.cycles.as_ref()),
            ("instructions", one.instructions.as_ref()),
        ];
        let mut medians = [None; 3];
        let mut spread = 0;
        for ((unit, samples), place) in sets.into_iter().zip(&mut medians) {
            let samples = samples.and_then(|samples| samples.get(..one.count));
            let found = samples.and_then(|samples| Some((samples, Statistics::of(samples)?)));
            let Some((samples, all)) = found else {
                json!(",\"{unit}\":null");
                continue;
            };
            let Statistics { median, min, max, .. } = all;
            json!(",\"{unit}\":{{\"samples\":{},\"median\":{median},", Numbers(samples));
            json!("\"min\":{min},\"max\":{max},\"spread\":{}}}", all.spread);
            *place = Some(median);
            spread = if unit == "instructions" { spread } else { all.spread };
        }
        json!("}}");
        let total = (messages as u64).saturating_mul(bytes as u64).saturating_mul(repeats);
        let rate = medians[0].and_then(|time| total.saturating_mul(1000).checked_div(time));
        let thousandths =
            medians[1].and_then(|count| count.saturating_mul(1000).checked_div(total));
        let _ = write!({ Output::ERROR }, "{name:<12} {tier:<9} {form:<5} {:>9} ", rate.unwrap_or(0));
        match thousandths {
            Some(count) => {
                let _ = write!({ Output::ERROR }, "{:>9}.{:03} ", count / 1000, count % 1000);
            }
            None => Output::ERROR.text("            - "),
        }
        table!("{:>6}.{} %", spread / 10, spread % 10);
    }

    pub fn no_peer(&mut self) {
        json!("],\"openssl\":null");
        table!("OpenSSL is not installed");
    }

    pub fn peer(&mut self, version: &[u8]) {
        json!("],\"openssl\":{{\"version\":{},\"results\":[", Text(version));
        self.is_first = true;
        table!("OpenSSL: {}", core::str::from_utf8(version).unwrap_or("?"));
    }

    /// Adds a result of OpenSSL: the bytes a second of each run, or nothing if a run failed.
    pub fn peer_result(&mut self, name: &str, bytes: usize, rates: Option<&[u64]>) {
        self.separate();
        json!("{{\"name\":\"{name}\",\"bytes\":{bytes},\"bytes_per_second\":");
        json!("{}}}", OrNull(rates.map(Numbers)));
        let median = rates.and_then(Statistics::of).map_or(0, |all| all.median / 1_000_000);
        table!("{name:<12} {:<9} {:<5} {median:>9}", "openssl", "one");
    }

    /// Ends the results of OpenSSL.
    pub fn end_of_peer(&mut self) {
        json!("]}}");
    }

    /// Ends the line.
    pub fn end(&mut self) {
        json!("}}\n");
    }
}
