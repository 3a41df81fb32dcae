//! OpenSSL of the board, measured by its own command.

use core::ffi::CStr;

use hartlock_bench::openssl::bytes_per_second;

use super::arguments::Arguments;
use super::report::Report;
use super::system::{self, File, Stack};

/// Where the command is looked for.
const PATHS: [&CStr; 3] = [c"/usr/bin/openssl", c"/usr/local/bin/openssl", c"/bin/openssl"];
/// Time limit in seconds of a run that measures for one second.
const LIMIT: u64 = 10;
/// Number of runs of each algorithm.
const RUNS: usize = 3;
/// What is measured, as OpenSSL names it.
const NAMES: [(&str, &CStr); 7] = [
    ("sha256", c"sha256"),
    ("sha512", c"sha512"),
    ("sha3-256", c"sha3-256"),
    ("aes-128-ctr", c"aes-128-ctr"),
    ("aes-256-ctr", c"aes-256-ctr"),
    ("aes-128-gcm", c"aes-128-gcm"),
    ("aes-256-gcm", c"aes-256-gcm"),
];

/// Measures OpenSSL if it is installed.
pub fn all(report: &mut Report, arguments: &Arguments, stack: &Stack) {
    let mut buffer = [0; 4096];
    let Some(program) = PATHS.into_iter().find(|path| File::open(path).is_some()) else {
        return report.no_peer();
    };
    let version = system::output_of(&[program, c"version"], stack, LIMIT, &mut buffer);
    let Some(version) = version else { return report.no_peer() };
    report.peer(version.trim_ascii());
    let len = if arguments.is_quick { c"4096" } else { c"65536" };
    let runs = if arguments.is_quick { 1 } else { RUNS };
    for (name, option) in NAMES {
        let mut rates = [0; RUNS];
        let words = [
            program,
            c"speed",
            c"-elapsed",
            c"-mr",
            c"-seconds",
            c"1",
            c"-bytes",
            len,
            c"-evp",
            option,
        ];
        let is_measured = rates.iter_mut().take(runs).all(|rate| {
            let output = system::output_of(&words, stack, LIMIT, &mut buffer);
            let found = output.and_then(|output| core::str::from_utf8(output).ok());
            found.and_then(bytes_per_second).map(|found| *rate = found).is_some()
        });
        let rates = rates.get(..runs).filter(|_| is_measured);
        report.peer_result(name, arguments.message_len(), rates);
    }
    report.end_of_peer();
}
