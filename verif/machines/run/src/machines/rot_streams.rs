//! AES between DMA and the stream writer on the root of trust: runs the program `verif/programs/rot-crypto` with the
//! feature `streams`, and checks its results and its rate.

use anyhow::{Context, Result, ensure};

use super::rot::{self, Rot};
use super::{End, ciphertexts, digests};
use xtask::firmware;

/// A limit far above the cycles of the program.
const MAX_CYCLES: &str = "10000000";
/// Bytes of a block, and the cycles of the engine for one with a key of 256 bits (`hw/ip/aes/doc/README.md`).
const BLOCK_LEN: u64 = 16;
const BLOCK_CYCLES: u64 = 14;
/// The maximum number of cycles of a message from the doorbell on, in percent of the engine's own cycles.
const MOST: u64 = 105;
/// Lengths of messages in bytes.
const LENGTH: u64 = 16384;
const LONG: u64 = 65536;
/// The message of the program after it has checked all refusals.
const REFUSALS: &str = "refusals right";

/// SHA-256 digests of texts and results, computed with OpenSSL. Byte i of the text is i mod 251; key and vectors are
/// those of the program.
const TEXT: &str = "4348e3b98e8a327b34ced39c1da9e67cdb4cd5e48e4d7960607a3ae403d35f0c";
const SHORT_TEXT: &str = "d57f2a1c8961773c8653c0fc54fb91c8f71c62e5f0a61d7c3c8169f5c42ecd52";
const CTR: &str = "d89e9c829aa806d835faf4f6b6a21f90c7d35842c9ca84d8c133f19b7c1dc416";
const CBC: &str = "a795e64eb99c3cd40d75c08840a5ff35a43d0b0120dfd40590d2fa854c003111";
const ECB: &str = "1177612f239cf8f026fac619b519a52d2033b6435715dea45db86fd59244cad9";
const GCM: &str = "f9a884cdf200c659b64764f023b882a4e183812ac0c447249ca9188bf6fcf9d1";
const LONG_CTR: &str = "261655a17f3b0980b081d39183d87f890ad5c4a8c3a062f08c67acfc6c57e593";
const LONG_GCM: &str = "37356830513b5332fe24eef1852ea7b130b11340cc7cac0ef91dbe81df9522a1";
/// Tags of GCM with the additional data `header`. Zeros mean that there is no tag.
const LONG_TAG: &str = "d7f97bbec0c9f5ee29276b8cb380ab24";
const NO_TAG: &str = "00000000000000000000000000000000";
const TAG: &str = "7f9c903d85d780dc0474f3526adcc296";

/// The names of whole messages: all calls of a driver from the first to the last, which load the key and, for a hash,
/// read the digest. All of them are run with all sizes.
pub const WHOLE: [&str; 5] = ["sha256", "hmac-sha256", "aes-256-cbc", "aes-256-ctr", "aes-256-gcm"];
/// The lengths of whole messages in bytes: those of the fifth paper, and the length of the messages above.
pub const SIZES: [u64; 8] = [64, 128, 256, 512, 1024, 2048, 4096, LENGTH];
/// Key and vectors of the program (`known.rs`, SP 800-38A F.2.5; `streams.rs`).
const KEY: [u8; 32] = [
    0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
    0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4,
];
const COUNTER: [u8; 16] = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f_u128.to_be_bytes();
const NONCE: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const HEADER: &[u8] = b"header";

/// The expected result of a message.
#[derive(Clone, Debug)]
struct ExpectedMessage<'a> {
    name: &'a str,
    length: u64,
    result: &'a str,
    /// The tag, or the digest of a hash engine that read the same bytes.
    more: Option<&'a str>,
    /// The maximum number of cycles, in percent of the engine's.
    most: u64,
}

const fn part<'a>(name: &'a str, result: &'a str) -> ExpectedMessage<'a> {
    ExpectedMessage { name, length: LENGTH, result, more: None, most: MOST }
}

const fn long<'a>(name: &'a str, result: &'a str, tag: &'a str) -> ExpectedMessage<'a> {
    ExpectedMessage { name, length: LONG, result, more: Some(tag), most: MOST }
}

/// Returns result and tag of a whole message, computed in software.
fn whole(name: &str, length: u64) -> Option<(String, Option<String>)> {
    let text = digests::message(0, usize::try_from(length).ok()?);
    let hashed = |bytes: &[u8]| digests::digest("sha256", bytes);
    match name {
        "aes-256-cbc" => Some((hashed(&ciphertexts::cbc(&KEY, &COUNTER, &text))?, None)),
        "aes-256-ctr" => Some((hashed(&ciphertexts::ctr(&KEY, &COUNTER, &text))?, None)),
        "aes-256-gcm" => {
            let sealed = ciphertexts::seal(&KEY, &NONCE, HEADER, &text);
            let (text, tag) = sealed.split_at(text.len());
            let tag = tag.iter().map(|byte| format!("{byte:02x}")).collect();
            Some((hashed(text)?, Some(tag)))
        }
        _ => Some((digests::digest(name, &text)?, None)),
    }
}

/// The messages in the order of the program. A hash and a short message have bounds of their own.
const PARTS: [ExpectedMessage<'_>; 11] = [
    part("ctr", CTR),
    part("ctr-unaligned", CTR),
    part("cbc", CBC),
    part("ecb", ECB),
    long("ctr-long", LONG_CTR, NO_TAG),
    long("gcm-long", LONG_GCM, LONG_TAG),
    ExpectedMessage { more: Some(TAG), ..part("gcm", GCM) },
    part("gcm-open", TEXT),
    ExpectedMessage { more: Some(GCM), most: u64::MAX, ..part("gcm-measured", TEXT) },
    ExpectedMessage { length: 1001, most: u64::MAX, ..part("ctr-in-place", SHORT_TEXT) },
    part("ctr-again", CTR),
];

/// A message, as the program reports it.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// The mode and the route of the data.
    pub name: String,
    /// The length in bytes.
    pub length: u64,
    /// Cycles from the call of the driver to its result.
    pub cycles: u64,
    /// Cycles from the doorbell of the DMA engine to the result.
    pub cycles_from_doorbell: u64,
}

/// Runs the program, and checks its report.
///
/// # Errors
/// If a result is wrong, a message takes too long, or an invalid request is not refused.
pub fn measure(rot: Rot) -> Result<Vec<Message>> {
    let program = firmware::rot_program("rot-crypto", &["streams"])?;
    let folder = rot::folder(rot).join("crypto-streams");
    let options = ["--max-cycles", MAX_CYCLES];
    let (console, _, end) = rot::run_program(&rot::machine(rot)?, &program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    judge(&console)
}

/// Prints the cycles of each message.
///
/// # Errors
/// Same as [`measure`].
pub fn print(rot: Rot) -> Result<()> {
    for Message { name, length, cycles, cycles_from_doorbell } in measure(rot)? {
        if WHOLE.contains(&&*name) {
            let each = cycles as f64 / length as f64;
            println!(
                "{:<12} {name:<16} {cycles:>10} {cycles_from_doorbell:>8}  {each:.2} a byte of {length}, with key and digest",
                rot.name
            );
            continue;
        }
        let engine = cycles_of_engine(length);
        let percent = 100.0 * cycles_from_doorbell as f64 / engine as f64;
        println!(
            "{:<12} {name:<16} {cycles:>10} {cycles_from_doorbell:>8}  {percent:.1} % of {engine}",
            rot.name
        );
    }
    println!(
        "cycles by DMA and the stream writer from the call of the driver to its result, and from the doorbell"
    );
    Ok(())
}

const fn cycles_of_engine(length: u64) -> u64 {
    length.div_ceil(BLOCK_LEN) * BLOCK_CYCLES
}

fn judge(console: &str) -> Result<Vec<Message>> {
    let mut lines = console.lines();
    let mut messages = Vec::new();
    for part in PARTS {
        let line = lines.next().with_context(|| format!("no line of {}", part.name))?;
        messages.push(judge_line(&part, line)?);
    }
    for length in SIZES {
        for name in WHOLE {
            let line =
                lines.next().with_context(|| format!("no line of {length} bytes, {name}"))?;
            let (result, tag) = whole(name, length).with_context(|| format!("no {name}"))?;
            let part = ExpectedMessage {
                name,
                length,
                result: &result,
                more: tag.as_deref(),
                most: u64::MAX,
            };
            messages.push(judge_line(&part, line)?);
        }
    }
    ensure!(lines.eq([REFUSALS]), "the refusals are not right\n{console}");
    Ok(messages)
}

fn judge_line(part: &ExpectedMessage<'_>, line: &str) -> Result<Message> {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default().to_owned();
    let mut number = || -> Result<u64> {
        let word = words.next().with_context(|| format!("too short: {line}"))?;
        word.parse().with_context(|| format!("no number: {line}"))
    };
    let (length, cycles, cycles_from_doorbell) = (number()?, number()?, number()?);
    ensure!((name.as_str(), length) == (part.name, part.length), "not {}: {line}", part.name);
    ensure!(words.next() == Some(part.result), "the result of {name} is wrong: {line}");
    ensure!(words.next() == part.more, "the tag or digest of {name} is wrong: {line}");
    let most = cycles_of_engine(length).saturating_mul(part.most) / 100;
    ensure!(
        cycles_from_doorbell <= most,
        "{name} takes {cycles_from_doorbell} cycles, more than {most}"
    );
    Ok(Message { name, length, cycles, cycles_from_doorbell })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, length: u64, result: &str, more: Option<&str>) -> String {
        let more = more.map(|more| format!(" {more}")).unwrap_or_default();
        format!("{name} {length} 17000 15000 {result}{more}\n")
    }

    fn console() -> String {
        let parts = PARTS.iter().map(|part| line(part.name, part.length, part.result, part.more));
        let sizes = SIZES.iter().flat_map(|length| WHOLE.map(|name| (name, *length)));
        let wholes = sizes.map(|(name, length)| {
            let (result, tag) = whole(name, length).unwrap();
            line(name, length, &result, tag.as_deref())
        });
        parts.chain(wholes).chain([format!("{REFUSALS}\n")]).collect()
    }

    #[test]
    fn a_console_of_right_results_is_accepted() {
        let messages = judge(&console()).unwrap();
        assert_eq!(messages.len(), PARTS.len() + SIZES.len() * WHOLE.len());
        assert!(
            messages
                .iter()
                .all(|message| message.cycles_from_doorbell == 15000 && message.cycles == 17000)
        );
    }

    #[test]
    fn a_wrong_result_a_slow_message_and_a_missing_line_are_noticed() {
        for (text, instead) in [
            (CTR, CBC),
            (TAG, CTR),
            (" 15000 ", " 15053 "),
            (REFUSALS, ""),
            ("gcm-open", "gcm"),
            ("1001", "1000"),
            ("aes-256-cbc 64", "aes-256-cbc 128"),
            ("hmac-sha256 4096", "sha256 4096"),
        ] {
            let changed = console().replacen(text, instead, 1);
            assert!(judge(&changed).is_err(), "{text:?} is {instead:?}");
        }
    }
    #[test]
    fn software_gives_what_openssl_gives() {
        let of = |name| whole(name, LENGTH).unwrap();
        assert_eq!(of("aes-256-ctr"), (CTR.to_owned(), None));
        assert_eq!(of("aes-256-cbc"), (CBC.to_owned(), None));
        assert_eq!(of("aes-256-gcm"), (GCM.to_owned(), Some(TAG.to_owned())));
        assert_eq!(of("sha256"), (TEXT.to_owned(), None));
        assert_eq!(whole("ctr", LENGTH), None);
    }
}
