//! Keys of a host in the root of trust (`spec/requests.md`): keys are wrapped for a device, software computes the
//! expected results, and a boot has a host that uses the keys by handle (`verif/programs/rot-host`, feature `keys`).

use std::fs;
use std::path::Path;

use aes_kw::{IV_LEN, KeyInit, KwAes256};
use anyhow::{Context, Result};
use hartlock_maps::hartlock_soc;
use hartlock_testkit::signers::RSA_PKCS1_2048;
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

/// The address at which the host's program reads its inputs, and their offsets in the file.
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

// The following values are those of verif/programs/rot-host/src/keys.rs.
const TEXT_LEN: usize = 999;
pub(super) const MORE: &[u8] = b"authenticated as well";
pub(super) const IV: &[u8; 12] = b"twelve bytes";
const COUNTER: &[u8; 16] = b"counter of CTR\xff\xfe";

/// The input of the derivation (SP 800-108 §4.1) for one block: counter, label, zero, length of the key in bits.
const DERIVATION: &[u8] = b"\0\0\0\x01hartlock-key-slot-v1\0\0\0\x01\0";
/// The key that encrypts.
pub(super) const KEY: [u8; 32] = *b"a fake key of AES-256, for tests";
/// The header of a key: its kind and its permitted uses.
pub(super) const AES_HEADER: [u8; 8] = *b"HLKk\x01\x03\0\0";
const COUNTER_HEADER: [u8; 8] = *b"HLKk\x01\x10\0\0";
const RSA_HEADER: [u8; 8] = *b"HLKk\x02\x0c\0\0";
/// The length of the modulus of RSA-2048 in bytes.
pub(super) const MODULUS_LEN: usize = 256;
/// A limit above the cycles of a boot.
const MAX_CYCLES: &str = "100000000";
/// The seed of the noise source, which differs from the default.
const SEED: &str = "--noise-seed=7";
/// The message of the ROM about a device without a secret.
const NO_KEY: &str = "hartlock: no key in the slot";

/// The part that a device lacks, as the host's program reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingSource {
    Nothing = 0,
    /// The storage of the secret was never written.
    Secret = 1,
    /// The noise source always delivers the same number, or none.
    Noise = 2,
}

impl MissingSource {
    const fn secret(self) -> &'static [u8; 64] {
        if let Self::Secret = self { &[0xff; 64] } else { &SECRET }
    }
}

/// Boots a device with this option for the noise source; returns the end of the run, and its console.
///
/// # Errors
/// If the machine cannot be built.
fn run(soc: Soc, lacks: MissingSource, source: &str, folder: &Path) -> Result<(End, String)> {
    fs::create_dir_all(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("secret.bin"), lacks.secret())?;
    fs::write(path("keys.bin"), inputs(lacks)?)?;
    let (secret, inputs) = (path("secret.bin"), format!("{}@{INPUTS:#x}", path("keys.bin")));
    // Memory ends with the bundle, and the host makes requests about addresses after it.
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

/// Returns a fault of a device whose noise source is stuck or absent, of one whose secret was never written, or of one
/// that has everything. Short boots come first.
///
/// # Errors
/// If a machine cannot be built.
pub fn fault(soc: Soc, folder: &Path) -> Result<Option<String>> {
    for (lacks, name, source) in [
        (MissingSource::Noise, "stuck", "--noise-stuck"),
        (MissingSource::Noise, "absent", "--noise-absent"),
        (MissingSource::Secret, "blank", SEED),
        (MissingSource::Nothing, "keys", SEED),
    ] {
        let (end, console) = run(soc, lacks, source, &folder.join(name))?;
        let is_right = end == End::Success
            && console.contains("host: done")
            && console.contains(NO_KEY) == (lacks == MissingSource::Secret);
        if !is_right {
            return Ok(Some(format!("{name} ended in {end:?}\n{console}")));
        }
        for line in console.lines().filter(|line| line.starts_with("host: ")) {
            println!("{:<12} {line}", soc.name);
        }
    }
    Ok(None)
}

/// Returns the inputs of the host's program.
fn inputs(lacks: MissingSource) -> Result<Vec<u8>> {
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

/// Returns the key of the slot, derived as the ROM does it.
fn slot_key(secret: &[u8; 64]) -> Result<[u8; 32]> {
    let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(secret)?;
    mac.update(DERIVATION);
    Ok(mac.finalize().into_bytes().into())
}

/// Wraps a key with AES-KW (SP 800-38F §6.2).
pub(super) fn wrap(slot: &[u8; 32], key: &[u8]) -> Result<Vec<u8>> {
    let mut wrapped = vec![0; key.len() + IV_LEN];
    let wrapping = KwAes256::new(slot.into()).wrap_key(key, &mut wrapped);
    wrapping.ok().context("a key of no whole halves of blocks")?;
    Ok(wrapped)
}

/// Returns the modulus of a key of RSA-2048, and the key in the form that is wrapped (`spec/requests.md`), with the
/// pair r^e and 1 / r for blinding.
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

/// Returns a big-endian number with leading zeros, in `len` bytes.
fn padded(number: &[u8], len: usize) -> Vec<u8> {
    [&vec![0; len - number.len()], number].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_key_has_its_parts() {
        let inputs = inputs(MissingSource::Nothing).unwrap();
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
