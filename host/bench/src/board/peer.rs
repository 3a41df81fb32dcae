//! The `openssl` of the board, if it has one.

use core::ffi::CStr;

use hartlock_bench::openssl::bytes_per_second;

use super::arguments::Arguments;
use super::report::Report;
use super::system::{self, File, Stack};

/// Where a distribution puts the program.
const PLACES: [&CStr; 3] = [c"/usr/bin/openssl", c"/usr/local/bin/openssl", c"/bin/openssl"];
/// Seconds that a call may take, which measures for one.
const LIMIT: u64 = 10;

/// What is measured: our name of it, the form, and the name of OpenSSL. Decryption in GCM is without the comparison of
/// the tag there, so its form is another one.
const ROWS: [(&str, &str, &CStr); 6] = [
    ("sha256", "one", c"sha256"),
    ("sha512", "one", c"sha512"),
    ("sha3-256", "one", c"sha3-256"),
    ("aes-128-ctr", "stream", c"aes-128-ctr"),
    ("aes-256-ctr", "stream", c"aes-256-ctr"),
    ("aes-256-gcm", "decrypt", c"aes-256-gcm"),
];

/// Measures OpenSSL with the same lengths of messages. Returns true if it is there.
pub fn all(report: &mut Report, arguments: &Arguments, stack: &Stack) -> bool {
    let mut room = [0; 4096];
    let program = PLACES.into_iter().find(|path| File::open(path).is_some());
    let version = program.and_then(|program| {
        let text = system::output_of(&[program, c"version"], stack, LIMIT, &mut room)?;
        text.split(|byte| *byte == b'\n').next()
    });
    report.peer(version);
    let (Some(program), Some(_)) = (program, version) else { return false };
    let bytes = if arguments.is_quick { c"4096" } else { c"65536" };
    let count = if arguments.is_quick { 1 } else { 3 };
    for (name, form, algorithm) in ROWS {
        let mut samples = [0; 3];
        let mut measured = 0_usize;
        for sample in samples.iter_mut().take(count) {
            let mut room = [0; 4096];
            let options =
                [program, c"speed", c"-mr", c"-elapsed", c"-seconds", c"1", c"-bytes", bytes];
            let mut words = [c""; 11];
            let rest = if form == "decrypt" {
                &[c"-decrypt", c"-evp", algorithm][..]
            } else {
                &[c"-evp", algorithm]
            };
            let all = options.iter().chain(rest);
            let mut len = 0_usize;
            for (to, from) in words.iter_mut().zip(all) {
                *to = from;
                len += 1;
            }
            let text =
                system::output_of(words.get(..len).unwrap_or_default(), stack, LIMIT, &mut room);
            let rate =
                text.and_then(|text| core::str::from_utf8(text).ok()).and_then(bytes_per_second);
            let Some(rate) = rate else { break };
            *sample = rate;
            measured += 1;
        }
        let is_whole = measured == count;
        report.peer_row(
            name,
            form,
            arguments.message_len(),
            samples.get(..count).filter(|_| is_whole),
        );
    }
    true
}
