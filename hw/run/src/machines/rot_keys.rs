//! Keys of a host in the root of trust (`spec/requests.md`): what is wrapped for a device, what software computes with the keys,
//! and a boot whose host has them used by handle (`firmware/tests/rot-host`, feature `keys`).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_testkit::signers::RSA_PKCS1_2048;
use hartlock_verify::board::hartlock_soc;
use hmac::{Hmac, Mac};
use num_bigint::BigUint;
use sha2::Sha256;

use super::End;
use super::ciphertexts::{ctr, encrypt, seal};
use super::rot_boot::{HostBoot, SMALL_SIZE, SignedBy};
use super::soc::Soc;
use super::tee_boot::SECRET;

/// Where the host's program finds its inputs, and where they are in the file.
const INPUTS: u64 = hartlock_soc::RAM.start + (20 << 20);
const SECRET_KEY: usize = 0;
const MALFORMED_KEY: usize = 0x40;
const COUNTER_KEY: usize = 0x80;
const MODULUS: usize = 0x100;
const PRIVATE_KEY: usize = 0x200;
const GCM: usize = 0x1000;
const CTR: usize = 0x1800;
const IS_BLANK: usize = 0x1ffc;
const INPUT_LEN: usize = 0x2000;

// Of firmware/tests/rot-host/src/keys.rs.
const TEXT_LEN: usize = 999;
const MORE: &[u8] = b"authenticated as well";
const IV: &[u8; 12] = b"twelve bytes";
const COUNTER: &[u8; 16] = b"counter of CTR\xff\xfe";

/// SP 800-108 §4.1, one block: counter, label, zero, bits of the key.
const DERIVATION: &[u8] = b"\0\0\0\x01hartlock-key-slot-v1\0\0\0\x01\0";
/// The key that encrypts.
const KEY: [u8; 32] = *b"a fake key of AES-256, for tests";
/// Kinds and uses of a key.
const AES_HEADER: [u8; 8] = *b"HLKk\x01\x03\0\0";
const COUNTER_HEADER: [u8; 8] = *b"HLKk\x01\x10\0\0";
const RSA_HEADER: [u8; 8] = *b"HLKk\x02\x0c\0\0";
/// SP 800-38F §6.2.
const KW_IV: u64 = 0xa6a6_a6a6_a6a6_a6a6;
/// Of RSA-2048.
const MODULUS_LEN: usize = 256;
/// More than both boots take.
const MAX_CYCLES: &str = "100000000";
/// What the ROM says of a device without a secret.
const NO_KEY: &str = "hartlock: no key in the slot";

/// What a boot has shown: its console, line by line.
///
/// # Errors
/// If the machine cannot be built.
pub fn run(soc: Soc, secret: &[u8; 64], folder: &Path) -> Result<(End, String)> {
    fs::create_dir_all(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("secret.bin"), secret)?;
    fs::write(path("keys.bin"), inputs(secret)?)?;
    let (secret, inputs) = (path("secret.bin"), format!("{}@{INPUTS:#x}", path("keys.bin")));
    // The end of the bundle is the end of memory: the host requests what is after it.
    let size = format!("{:#x}", hartlock_soc::BUNDLE.end - hartlock_soc::RAM.start);
    let options = [
        "--max-cycles",
        MAX_CYCLES,
        "--memory-size",
        &size,
        "--secret",
        &secret,
        "--load",
        &inputs,
    ];
    let boot = HostBoot {
        size: SMALL_SIZE,
        signed_by: SignedBy::Lms,
        options: &options,
        host: &["keys"],
        rom: &["keys"],
        ..HostBoot::default()
    };
    let ran = boot.run(soc, folder)?;
    Ok((ran.end, ran.console))
}

/// Both devices: with a secret, and with storage that was never written.
///
/// # Errors
/// If a machine cannot be built.
pub fn fault(soc: Soc, folder: &Path) -> Result<Option<String>> {
    for (secret, name, is_blank) in [(&SECRET, "keys", false), (&[0xff; 64], "blank", true)] {
        let (end, console) = run(soc, secret, &folder.join(name))?;
        let is_right = end == End::Success
            && console.contains("host: done")
            && console.contains(NO_KEY) == is_blank;
        if !is_right {
            return Ok(Some(format!("{name} ended in {end:?}\n{console}")));
        }
        for line in console.lines().filter(|line| line.starts_with("host: ")) {
            println!("{:<12} {line}", soc.name);
        }
    }
    Ok(None)
}

/// What the host's program has in memory.
fn inputs(secret: &[u8; 64]) -> Result<Vec<u8>> {
    let slot = slot_key(secret)?;
    let private = PrivateKey::of(&RSA_PKCS1_2048.private_der()?)?;
    let text: Vec<u8> = (0..TEXT_LEN).map(|at| (at * 7 + 3) as u8).collect();
    let mut inputs = vec![0; INPUT_LEN];
    let mut put = |at: usize, bytes: &[u8]| inputs[at..at + bytes.len()].copy_from_slice(bytes);
    put(SECRET_KEY, &wrap(&slot, &[&AES_HEADER[..], &KEY].concat()));
    put(COUNTER_KEY, &wrap(&slot, &[&COUNTER_HEADER[..], &KEY].concat()));
    put(MALFORMED_KEY, &wrap(&slot, &[&RSA_HEADER[..], &KEY].concat()));
    put(MODULUS, &bytes_of(&private.modulus, MODULUS_LEN));
    put(PRIVATE_KEY, &wrap(&slot, &private.encode()?));
    put(GCM, &seal(&KEY, IV, MORE, &text));
    put(CTR, &ctr(&KEY, *COUNTER, &text));
    put(IS_BLANK, &[u8::from(secret.iter().all(|byte| *byte == secret[0]))]);
    Ok(inputs)
}

/// The key of the slot, as the ROM makes it.
fn slot_key(secret: &[u8; 64]) -> Result<[u8; 32]> {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(secret)?;
    mac.update(DERIVATION);
    Ok(mac.finalize().into_bytes().into())
}

/// AES-KW (SP 800-38F §6.2).
fn wrap(slot: &[u8; 32], key: &[u8]) -> Vec<u8> {
    let mut halves: Vec<[u8; 8]> = key.as_chunks::<8>().0.to_vec();
    let (mut first, count) = (KW_IV, halves.len());
    for step in 0..6 * count {
        let half = &mut halves[step % count];
        let mut block = [0; 16];
        block[..8].copy_from_slice(&first.to_be_bytes());
        block[8..].copy_from_slice(half);
        let block = encrypt(slot, block);
        first = (u128::from_be_bytes(block) >> 64) as u64 ^ (step as u64 + 1);
        half.copy_from_slice(&block[8..]);
    }
    [first.to_be_bytes()].into_iter().chain(halves).flatten().collect()
}

/// A private key of RSA (RFC 8017 §A.1.2).
struct PrivateKey {
    modulus: BigUint,
    /// p, q, dP, dQ, qInv.
    halves: Vec<BigUint>,
}

impl PrivateKey {
    /// Out of PKCS #8: the last octet string is a sequence of nine integers.
    fn of(pkcs8: &[u8]) -> Result<Self> {
        let (_, outer, _) = der(pkcs8)?;
        let (_, _, rest) = der(outer)?;
        let (_, _, rest) = der(rest)?;
        let (tag, key, _) = der(rest)?;
        ensure!(tag == 4, "PKCS #8 without a key");
        let (_, mut rest, _) = der(key)?;
        let mut numbers = Vec::new();
        while !rest.is_empty() {
            let (_, number, after) = der(rest)?;
            numbers.push(BigUint::from_bytes_be(number));
            rest = after;
        }
        let [_, modulus, _, _, halves @ ..] = &numbers[..] else {
            anyhow::bail!("an RSA key of {} numbers", numbers.len())
        };
        ensure!(halves.len() == 5, "an RSA key of more than two primes");
        Ok(Self { modulus: modulus.clone(), halves: halves.to_vec() })
    }

    /// As it is wrapped: with r^e and 1 / r for the first signature.
    fn encode(&self) -> Result<Vec<u8>> {
        let r = BigUint::from_bytes_be(&KEY);
        let inverse = r.modinv(&self.modulus).context("no inverse")?;
        let pair = [r.modpow(&65537_u32.into(), &self.modulus), inverse];
        let halves = self.halves.iter().map(|half| bytes_of(half, MODULUS_LEN / 2));
        let whole = |number| bytes_of(number, MODULUS_LEN);
        let parts = [RSA_HEADER.to_vec(), whole(&self.modulus)].into_iter();
        Ok(parts.chain(halves).chain(pair.iter().map(whole)).collect::<Vec<_>>().concat())
    }
}

/// Big-endian, in so many bytes.
fn bytes_of(number: &BigUint, len: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; len - bytes.len()], bytes].concat()
}

/// An element of DER: its tag, its content, and what follows it.
fn der(bytes: &[u8]) -> Result<(u8, &[u8], &[u8])> {
    let short = || "DER is short";
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>().with_context(short)?;
    let count = if first < 0x80 { 0 } else { usize::from(first & 0x7f) };
    let (more, rest) = rest.split_at_checked(count).with_context(short)?;
    let len = more.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
    let len = if count == 0 { usize::from(first) } else { len };
    let (content, rest) = rest.split_at_checked(len).with_context(short)?;
    Ok((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_wrapped_as_in_the_standard() {
        // RFC 3394 §4.6.
        let slot: [u8; 32] = core::array::from_fn(|at| at as u8);
        let key: Vec<u8> = (0..16).map(|at| at * 0x11).chain(0..16).collect();
        let wrapped = wrap(&slot, &key);
        assert_eq!(wrapped[..8], 0x28c9_f404_c4b8_10f4_u64.to_be_bytes());
        assert_eq!(wrapped[32..], 0xfb98_8b9b_7a02_dd21_u64.to_be_bytes());
    }

    #[test]
    fn a_private_key_has_its_parts() {
        let key = PrivateKey::of(&RSA_PKCS1_2048.private_der().unwrap()).unwrap();
        assert_eq!(&key.halves[0] * &key.halves[1], key.modulus);
        assert_eq!(key.encode().unwrap().len(), 8 + 1408);
        assert_eq!(inputs(&SECRET).unwrap().len(), INPUT_LEN);
    }
}
