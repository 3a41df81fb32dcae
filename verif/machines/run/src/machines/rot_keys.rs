//! Keys of a host in the root of trust (`spec/requests.md`): what is wrapped for a device, what software computes with the keys,
//! and a boot whose host has them used by handle (`verif/programs/rot-host`, feature `keys`).

use std::fs;
use std::path::Path;

use aes_kw::{IV_LEN, KeyInit, KwAes256};
use anyhow::{Context, Result};
use hartlock_testkit::signers::RSA_PKCS1_2048;
use hartlock_verify::board::hartlock_soc;
use hmac::{Hmac, Mac};
use num_bigint::BigUint;
use pkcs1::RsaPrivateKeyRef;
use pkcs8::PrivateKeyInfoRef;
use sha2::Sha256;

use super::End;
use super::ciphertexts::{ctr, seal};
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
const LACKS: usize = 0x1ffc;
const INPUT_LEN: usize = 0x2000;

// Of verif/programs/rot-host/src/keys.rs.
const TEXT_LEN: usize = 999;
pub(super) const MORE: &[u8] = b"authenticated as well";
pub(super) const IV: &[u8; 12] = b"twelve bytes";
const COUNTER: &[u8; 16] = b"counter of CTR\xff\xfe";

/// SP 800-108 §4.1, one block: counter, label, zero, bits of the key.
const DERIVATION: &[u8] = b"\0\0\0\x01hartlock-key-slot-v1\0\0\0\x01\0";
/// The key that encrypts.
pub(super) const KEY: [u8; 32] = *b"a fake key of AES-256, for tests";
/// Kinds and uses of a key.
pub(super) const AES_HEADER: [u8; 8] = *b"HLKk\x01\x03\0\0";
const COUNTER_HEADER: [u8; 8] = *b"HLKk\x01\x10\0\0";
const RSA_HEADER: [u8; 8] = *b"HLKk\x02\x0c\0\0";
/// Of RSA-2048.
pub(super) const MODULUS_LEN: usize = 256;
/// More than a boot takes.
const MAX_CYCLES: &str = "100000000";
/// Of the noise source, another one than by default.
const SEED: &str = "--noise-seed=7";
/// What the ROM says of a device without a secret.
const NO_KEY: &str = "hartlock: no key in the slot";

/// What a device lacks, as the host's program is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    Nothing = 0,
    /// Its storage was never written.
    Secret = 1,
    /// Its source delivers one number for ever, or nothing.
    Noise = 2,
}

impl Lacks {
    const fn secret(self) -> &'static [u8; 64] {
        if let Self::Secret = self { &[0xff; 64] } else { &SECRET }
    }
}

/// What a boot has shown: its console, line by line. The option is that of the noise source.
///
/// # Errors
/// If the machine cannot be built.
fn run(soc: Soc, lacks: Lacks, source: &str, folder: &Path) -> Result<(End, String)> {
    fs::create_dir_all(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("secret.bin"), lacks.secret())?;
    fs::write(path("keys.bin"), inputs(lacks)?)?;
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
        source,
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

/// Devices whose noise source is stuck or absent, one whose storage was never written, and one that has all: short boots first.
///
/// # Errors
/// If a machine cannot be built.
pub fn fault(soc: Soc, folder: &Path) -> Result<Option<String>> {
    for (lacks, name, source) in [
        (Lacks::Noise, "stuck", "--noise-stuck"),
        (Lacks::Noise, "absent", "--noise-absent"),
        (Lacks::Secret, "blank", SEED),
        (Lacks::Nothing, "keys", SEED),
    ] {
        let (end, console) = run(soc, lacks, source, &folder.join(name))?;
        let is_right = end == End::Success
            && console.contains("host: done")
            && console.contains(NO_KEY) == (lacks == Lacks::Secret);
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
fn inputs(lacks: Lacks) -> Result<Vec<u8>> {
    let slot = slot_key(lacks.secret())?;
    let (modulus, private) = private_key()?;
    let text: Vec<u8> = (0..TEXT_LEN).map(|at| (at * 7 + 3) as u8).collect();
    let mut inputs = vec![0; INPUT_LEN];
    let mut put = |at: usize, bytes: &[u8]| inputs[at..at + bytes.len()].copy_from_slice(bytes);
    put(SECRET_KEY, &wrap(&slot, &[&AES_HEADER[..], &KEY].concat())?);
    put(COUNTER_KEY, &wrap(&slot, &[&COUNTER_HEADER[..], &KEY].concat())?);
    put(MALFORMED_KEY, &wrap(&slot, &[&RSA_HEADER[..], &KEY].concat())?);
    put(MODULUS, &modulus);
    put(PRIVATE_KEY, &wrap(&slot, &private)?);
    put(GCM, &seal(&KEY, IV, MORE, &text));
    put(CTR, &ctr(&KEY, COUNTER, &text));
    put(LACKS, &[lacks as u8]);
    Ok(inputs)
}

/// The key of the slot, as the ROM makes it.
fn slot_key(secret: &[u8; 64]) -> Result<[u8; 32]> {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(secret)?;
    mac.update(DERIVATION);
    Ok(mac.finalize().into_bytes().into())
}

/// AES-KW (SP 800-38F §6.2).
pub(super) fn wrap(slot: &[u8; 32], key: &[u8]) -> Result<Vec<u8>> {
    let mut wrapped = vec![0; key.len() + IV_LEN];
    let wrapping = KwAes256::new(slot.into()).wrap_key(key, &mut wrapped);
    wrapping.ok().context("a key of no whole halves of blocks")?;
    Ok(wrapped)
}

/// The modulus of a key of RSA-2048, and the key as it is wrapped (`spec/requests.md`), with r^e and 1 / r of its pair.
pub(super) fn private_key() -> Result<(Vec<u8>, Vec<u8>)> {
    let pkcs8 = RSA_PKCS1_2048.private_der()?;
    let outer = PrivateKeyInfoRef::try_from(&pkcs8[..]).context("not PKCS #8")?;
    let key = RsaPrivateKeyRef::try_from(outer.private_key.as_bytes()).context("no RSA key")?;
    let number = BigUint::from_bytes_be(key.modulus.as_bytes());
    let r = BigUint::from_bytes_be(&KEY);
    let inverse = r.modinv(&number).context("no inverse")?;
    let pair = [r.modpow(&65537_u32.into(), &number), inverse];
    let modulus = padded(key.modulus.as_bytes(), MODULUS_LEN);
    let halves = [key.prime1, key.prime2, key.exponent1, key.exponent2, key.coefficient];
    let halves = halves.iter().map(|half| padded(half.as_bytes(), MODULUS_LEN / 2));
    let whole = pair.iter().map(|number| padded(&number.to_bytes_be(), MODULUS_LEN));
    let parts = [RSA_HEADER.to_vec(), modulus.clone()].into_iter();
    Ok((modulus, parts.chain(halves).chain(whole).collect::<Vec<_>>().concat()))
}

/// Big-endian, in so many bytes.
fn padded(number: &[u8], len: usize) -> Vec<u8> {
    [&vec![0; len - number.len()], number].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_has_its_parts() {
        let inputs = inputs(Lacks::Nothing).unwrap();
        assert_eq!(inputs.len(), INPUT_LEN);
        let wrapped = &inputs[PRIVATE_KEY..][..8 + 8 + 1408];
        let mut key = [0; 8 + 1408];
        let slot = slot_key(&SECRET).unwrap();
        KwAes256::new(&slot.into()).unwrap_key(wrapped, &mut key).unwrap();
        let number = |at: usize, len: usize| BigUint::from_bytes_be(&key[at..][..len]);
        let half = MODULUS_LEN / 2;
        let [p, q] = [0, half].map(|at| number(8 + MODULUS_LEN + at, half));
        assert_eq!(p * q, number(8, MODULUS_LEN));
    }
}
