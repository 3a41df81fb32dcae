//! Converts cases of hashes and HMAC: files of NIST, the Keccak team and noble, and generated files.
//!
//! Lines express lengths in bytes. Cases with a partial byte are left out, except for outputs of which a
//! shorter one is a prefix of a longer one: these are reduced to whole bytes.

use anyhow::{Context, Result, bail, ensure};
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512};
use serde_json::Value;

use crate::Vectors;
use crate::case::{
    Ask, Collection, Expected, array, bytes, hash_name, number, parse_hex, pattern, text,
};
use crate::records::records;

const BIT_MESSAGE: &str = "a message that is no whole number of bytes";
const BIT_OUTPUT: &str = "an output length in bits, which is part of what is hashed";

/// Converts the folders `sha2`, `sha3`, `sp800-185`, `k12` and `hmac`.
pub fn convert(vectors: &Vectors, out: &mut Collection) -> Result<()> {
    for (folder, family) in [("sha2", "sha2"), ("sha3", "sha3")] {
        for path in vectors.list(folder, "json")? {
            let file = vectors.read_json(out, &path)?;
            acvp(out, family, &file).with_context(|| path)?;
        }
        for path in vectors.list(folder, "txt")? {
            let text = vectors.read(out, &path)?;
            keccak_team(out, &path, &text).with_context(|| path.clone())?;
        }
    }
    for path in vectors.list("sp800-185", "json")? {
        let file = vectors.read_json(out, &path)?;
        let result = match path.rsplit('/').next() {
            Some(name) if name.starts_with("noble_") => noble(out, &file),
            Some(name) if name.starts_with("generated_") => generated_parallelhash(out, &file),
            _ => sp800_185(out, &file),
        };
        result.with_context(|| path)?;
    }
    let file = vectors.read_json(out, "k12/noble_k12.json")?;
    noble(out, &file)?;
    let file = vectors.read_json(out, "k12/generated_kt128.json")?;
    for test in array(&file, "tests")? {
        let ask = Ask::new("digest", "kt128")
            .with("message", pattern(number(test, "msgPatternLen")?))
            .with("customization", pattern(number(test, "customPatternLen")?))
            .with("output_len", number(test, "outLen")?);
        // Behaviour may differ around chunk boundaries, so each combination of lengths is its own
        // group.
        let flags = format!("{} {}", test["msgPatternLen"], test["outLen"]);
        out.add("k12", &test["tcId"], &flags, ask, Expected::Output(bytes(test, "md")?));
    }
    let text = vectors.read(out, "k12/KangarooTwelve.txt")?;
    kangaroo_twelve(out, &text)?;
    for path in vectors.list("hmac", "json")? {
        let file = vectors.read_json(out, &path)?;
        hmac(out, &file).with_context(|| path)?;
    }
    Ok(())
}

/// Converts SHA-2, SHA-3 and SHAKE of NIST, whose lengths are in bits.
fn acvp(out: &mut Collection, family: &'static str, file: &Value) -> Result<()> {
    let alg = hash_name(text(file, "algorithm")?).context("a hash without a name")?;
    for group in array(file, "testGroups")? {
        for test in array(group, "tests")? {
            let message = bytes(test, "msg")?;
            match text(group, "testType")? {
                "MCT" => {
                    let is_alternate = group["mctVersion"] == "alternate";
                    let chain = if family == "sha3" {
                        Chain::Sha3
                    } else {
                        Chain::Sha2 { fixed_len: is_alternate.then_some(message.len()) }
                    };
                    monte_carlo(out, (family, alg), message, chain, test)?;
                    continue;
                }
                "AFT" => {}
                other => bail!("unknown test type {other}"),
            }
            let len = number(test, "len")?;
            if !len.is_multiple_of(8) {
                out.leave_out(BIT_MESSAGE);
                continue;
            }
            ensure!(len == 8 * message.len() as u64, "case {}: {len} bits", test["tcId"]);
            let mut ask = Ask::new("digest", alg).with("message", message);
            let output = bytes(test, "md")?;
            if alg.starts_with("shake") {
                ensure!(number(test, "outLen")? == 8 * output.len() as u64, "an output in bits");
                ask = ask.with("output_len", output.len() as u64);
            }
            out.add(family, &test["tcId"], "AFT", ask, Expected::Output(output));
        }
    }
    Ok(())
}

/// The rule by which a step of a Monte Carlo test makes its next message.
#[derive(Clone, Copy)]
enum Chain {
    /// The last three digests, truncated or padded with zeros to the length of the seed.
    Sha2 { fixed_len: Option<usize> },
    /// The last digest.
    Sha3,
}

/// Converts a Monte Carlo test. The last of each thousand steps, whose digest is published, becomes a case.
/// The portable kernels compute the other steps: if one of them were wrong, no case of the chain would
/// agree.
fn monte_carlo(
    out: &mut Collection,
    (family, alg): (&'static str, &str),
    mut seed: Vec<u8>,
    chain: Chain,
    test: &Value,
) -> Result<()> {
    for (index, result) in array(test, "resultsArray")?.iter().enumerate() {
        let mut last = [seed.clone(), seed.clone(), seed.clone()];
        let mut message = Vec::new();
        for _ in 0..1000 {
            message = match chain {
                Chain::Sha3 => last[2].clone(),
                Chain::Sha2 { fixed_len } => {
                    let mut message = last.concat();
                    if let Some(len) = fixed_len {
                        message.resize(len, 0);
                    }
                    message
                }
            };
            last.rotate_left(1);
            last[2] = portable(alg, &message)?;
        }
        let ask = Ask::new("digest", alg).with("message", message);
        let md = bytes(result, "md")?;
        out.add(
            family,
            format!("{}.{index}", test["tcId"]),
            "MCT",
            ask,
            Expected::Output(md.clone()),
        );
        // The next seed is the published digest, so that an error does not affect the following cases.
        seed = md;
    }
    Ok(())
}

fn portable(alg: &str, message: &[u8]) -> Result<Vec<u8>> {
    fn digest<H: Hash>(message: &[u8]) -> Vec<u8> {
        let mut hash = H::new();
        hash.update(message);
        hash.finalize().as_ref().to_vec()
    }
    Ok(match alg {
        "sha256" => digest::<Sha256>(message),
        "sha384" => digest::<Sha384>(message),
        "sha512" => digest::<Sha512>(message),
        "sha3-256" => digest::<Sha3_256>(message),
        "sha3-384" => digest::<Sha3_384>(message),
        "sha3-512" => digest::<Sha3_512>(message),
        other => bail!("no Monte Carlo test of {other}"),
    })
}

/// Converts a file of the Keccak team. `Len` is in bits, and an empty message is written as one zero byte.
fn keccak_team(out: &mut Collection, path: &str, text: &str) -> Result<()> {
    let name = path.trim_end_matches(".txt").rsplit('_').next().unwrap_or_default();
    let alg = hash_name(name).context("a hash without a name")?;
    let last = if alg.starts_with("shake") { "Squeezed" } else { "MD" };
    for record in records(text, last) {
        let bits: usize = record.text("Len")?.parse()?;
        if !bits.is_multiple_of(8) {
            out.leave_out(BIT_MESSAGE);
            continue;
        }
        let message = record.bytes("Msg")?.get(..bits / 8).context("a short message")?.to_vec();
        let output = record.bytes(last)?;
        let mut ask = Ask::new("digest", alg).with("message", message);
        if alg.starts_with("shake") {
            ask = ask.with("output_len", output.len() as u64);
        }
        out.add("sha3", bits, "", ask, Expected::Output(output));
    }
    Ok(())
}

/// Converts cSHAKE and ParallelHash of NIST. Strings are text, lengths are in bits, and block sizes are in
/// bytes.
fn sp800_185(out: &mut Collection, file: &Value) -> Result<()> {
    let name = text(file, "algorithm")?.to_lowercase().replace('-', "");
    for group in array(file, "testGroups")? {
        for test in array(group, "tests")? {
            if group["testType"] == "MCT" {
                out.leave_out("a Monte Carlo test whose output lengths follow from outputs");
                continue;
            }
            if !number(test, "len")?.is_multiple_of(8) {
                out.leave_out(BIT_MESSAGE);
                continue;
            }
            let bits = number(test, "outLen")?;
            let is_parallel = name.starts_with("parallelhash");
            let is_xof = group["xof"] == true;
            if is_parallel && !is_xof && !bits.is_multiple_of(8) {
                out.leave_out(BIT_OUTPUT);
                continue;
            }
            let alg = if is_xof { name.replace("hash", "hashxof") } else { name.clone() };
            // Some files write an empty message as one zero byte.
            let len = number(test, "len")? as usize / 8;
            let message = bytes(test, "msg")?.get(..len).context("a short message")?.to_vec();
            let output =
                bytes(test, "md")?.get(..bits as usize / 8).context("a short md")?.to_vec();
            let mut ask = Ask::new("digest", &alg)
                .with("message", message)
                .with("customization", text(test, "customization")?.as_bytes())
                .with("output_len", bits / 8);
            if is_parallel {
                ask = ask.with("block_size", number(test, "blockSize")?);
            } else {
                ask = ask.with("function_name", text(test, "functionName")?.as_bytes());
            }
            let flags =
                format!("{alg} {}", if bits.is_multiple_of(8) { "" } else { "whole bytes" });
            out.add("sp800-185", &test["tcId"], &flags, ask, Expected::Output(output));
        }
    }
    Ok(())
}

/// Converts the files of noble, whose strings are hexadecimal.
fn noble(out: &mut Collection, file: &Value) -> Result<()> {
    for (index, test) in array(file, "v")?.iter().enumerate() {
        let name = text(test, "fn_name")?;
        let (family, alg) = match name {
            "k12" => ("k12", "kt128".to_owned()),
            _ => ("sp800-185", name.replace("parallel", "parallelhash")),
        };
        let output = bytes(test, "exp")?;
        let mut ask = Ask::new("digest", &alg)
            .with("message", bytes(test, "data")?)
            .with("customization", bytes(test, "personalization")?)
            .with("output_len", output.len() as u64);
        if test.get("nist_fn").is_some() {
            ask = ask.with("function_name", bytes(test, "nist_fn")?);
        }
        if test.get("block_len").is_some() {
            ask = ask.with("block_size", number(test, "block_len")?);
        }
        let has = |name: &str| test[name].as_str().is_some_and(|text| !text.is_empty());
        let flags = format!("{} {}", has("personalization"), has("nist_fn"));
        out.add(family, index, &flags, ask, Expected::Output(output));
    }
    Ok(())
}

fn generated_parallelhash(out: &mut Collection, file: &Value) -> Result<()> {
    for test in array(file, "tests")? {
        let function = text(test, "function")?;
        let ask = Ask::new("digest", &function.to_lowercase())
            .with("message", pattern(number(test, "msgPatternLen")?))
            .with("customization", text(test, "customization")?.as_bytes())
            .with("output_len", number(test, "outLenBytes")?)
            .with("block_size", number(test, "blockSize")?);
        let flags = format!("{function} {} {}", test["blockSize"], test["msgPatternLen"]);
        out.add("sp800-185", &test["tcId"], &flags, ask, Expected::Output(bytes(test, "md")?));
    }
    Ok(())
}

/// Converts KangarooTwelve, whose cases have titles such as `KangarooTwelve(M=pattern 0x00 to 0xFA for 17^2
/// bytes, C=empty, 32 bytes):`.
fn kangaroo_twelve(out: &mut Collection, file: &str) -> Result<()> {
    let mut title = "";
    for line in file.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("KangarooTwelve(") {
            title = line;
            continue;
        }
        let output = parse_hex(&line.replace(' ', ""))?;
        let inside = title.split_once('(').and_then(|(_, rest)| rest.split_once("):"));
        let inside =
            inside.or_else(|| title.split_once('(').and_then(|(_, rest)| rest.split_once(')')));
        let parts: Vec<&str> = inside.context("no title")?.0.split(", ").collect();
        let [message, customization, len] = parts[..] else { bail!("{title}") };
        let len: u64 = len.trim_end_matches(" bytes").parse()?;
        let message_len = string_len(message)?;
        // Engines need to accept lines of up to 3 MB only, and each byte of a message takes two digits.
        if message_len > 1_450_000 {
            out.leave_out("a message that fits into no line");
            continue;
        }
        let ask = Ask::new("digest", "kt128")
            .with("message", string(message)?)
            .with("customization", string(customization)?)
            .with("output_len", len);
        let expected = match title.contains("last") {
            true => Expected::OutputEnd(output),
            false => Expected::Output(output),
        };
        out.add("k12", format!("{message},{customization},{len}"), title, ask, expected);
    }
    Ok(())
}

/// Returns the length of `M=empty`, `M=pattern … for 17^2 bytes` or `M=7 times byte 0xFF`.
fn string_len(description: &str) -> Result<u64> {
    let words: Vec<&str> = description.split(' ').collect();
    Ok(match words[..] {
        [empty] if empty.ends_with("=empty") => 0,
        [.., power, "bytes"] => {
            let (base, exponent) = power.split_once('^').context("no power")?;
            base.parse::<u64>()?.pow(exponent.parse()?)
        }
        [count, "times", "byte", _] => count.split_once('=').context("no count")?.1.parse()?,
        _ => bail!("{description}"),
    })
}

fn string(description: &str) -> Result<Vec<u8>> {
    let len = string_len(description)?;
    Ok(if description.ends_with("0xFF") { vec![0xff; len as usize] } else { pattern(len) })
}

/// Converts HMAC of NIST, whose tags are truncated to `macLen` bits.
fn hmac(out: &mut Collection, file: &Value) -> Result<()> {
    let name = text(file, "algorithm")?.trim_start_matches("HMAC-");
    let alg = format!("hmac-{}", hash_name(name).context("a hash without a name")?);
    for group in array(file, "testGroups")? {
        for test in array(group, "tests")? {
            let (key, message) = (bytes(test, "key")?, bytes(test, "msg")?);
            for (name, value) in [("keyLen", &key), ("msgLen", &message)] {
                ensure!(number(test, name)? == 8 * value.len() as u64, "case {}", test["tcId"]);
            }
            let tag = bytes(test, "mac")?;
            ensure!(number(test, "macLen")? == 8 * tag.len() as u64, "case {}", test["tcId"]);
            let ask = Ask::new("mac", &alg).with("key", key).with("message", message);
            let ask = ask.with("output_len", tag.len() as u64);
            out.add("hmac", &test["tcId"], "", ask, Expected::Output(tag));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_the_keccak_team_are_read() {
        assert!(string("M=empty").unwrap().is_empty());
        assert_eq!(string("C=pattern 0x00 to 0xFA for 41^1 bytes").unwrap(), pattern(41));
        assert_eq!(string("M=7 times byte 0xFF").unwrap(), [0xff; 7]);
        assert_eq!(string_len("M=pattern 0x00 to 0xFA for 17^6 bytes").unwrap(), 24_137_569);
        assert!(string("M=something").is_err());
    }
}
