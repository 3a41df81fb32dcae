//! Counts AES-256 and RSA, in each implementation that BearSSL has for such a hart, and AES by this project's kernels.

use core::hint::black_box;

use hartlock_kernels::Kernels;

use crate::counted::Count;
use crate::operands::{self, AES_BLOCK_LEN, AES_KEY_LEN, Key, RSA_512, RSA_1024, SIZES};
use crate::{bearssl_aes, bearssl_modes, bearssl_rsa, ours};

/// Who is named for our kernels.
const OURS: &str = "hartlock";
const MAX_BLOCKS: usize = 4096 / AES_BLOCK_LEN;

/// The text, with space for a tag after it.
static mut TEXT: [[u8; AES_BLOCK_LEN]; MAX_BLOCKS + 1] = [[0; AES_BLOCK_LEN]; MAX_BLOCKS + 1];

/// Payload size in bytes with which implementations are compared.
const COMPARED_SIZE: usize = 1024;
/// Names of the operations with a key: encryption and decryption.
type Names = [&'static str; 2];
const NAMES_512: Names = ["rsa-512-public", "rsa-512-private"];
const NAMES_1024: Names = ["rsa-1024-public", "rsa-1024-private"];

/// Number of RSA implementations that are counted with the long key.
const LONG: usize = 2;

/// Counts the first implementation of AES and ours with all payloads, and the others with one payload. Counts all
/// implementations of RSA with the short key, and the first two with the long key.
pub fn all(kernels: &Kernels) {
    let [first, others @ ..] = &bearssl_aes::VARIANTS;
    for size in SIZES {
        of_bearssl(kernels, first, size);
        aes(kernels, OURS, size, |key, iv, text| ours::cbc(kernels, key, &iv, text));
    }
    for variant in others {
        of_bearssl(kernels, variant, COMPARED_SIZE);
    }
    for variant in &bearssl_rsa::VARIANTS {
        rsa(variant, &RSA_512, NAMES_512);
    }
    for variant in &bearssl_rsa::VARIANTS[..LONG] {
        rsa(variant, &RSA_1024, NAMES_1024);
    }
}

/// Counts the first implementation of AES and of RSA, with the longest payload and the short key.
pub fn chosen(kernels: &Kernels) {
    let ([aes_variant, ..], [rsa_variant, ..]) = (&bearssl_aes::VARIANTS, &bearssl_rsa::VARIANTS);
    of_bearssl(kernels, aes_variant, SIZES[SIZES.len() - 1]);
    rsa(rsa_variant, &RSA_512, NAMES_512);
}

/// Same as [`chosen`], without decryption, which takes many cycles.
pub fn quick(kernels: &Kernels) {
    let ([aes_variant, ..], [rsa_variant, ..]) = (&bearssl_aes::VARIANTS, &bearssl_rsa::VARIANTS);
    of_bearssl(kernels, aes_variant, SIZES[SIZES.len() - 1]);
    encrypt(rsa_variant, &RSA_512, NAMES_512[0]);
}

fn of_bearssl(kernels: &Kernels, variant: &bearssl_aes::CbcVariant, size: usize) {
    aes(kernels, variant.name, size, |key, iv, text| Some(variant.encrypt(key, iv, text)));
}

/// Counts one encryption in CBC mode. An encryption of a short text before it brings code and tables into the caches; the
/// payload has just been written. An encryption that is refused is not reported.
fn aes(
    kernels: &Kernels,
    who: &str,
    size: usize,
    encrypt: impl Fn(&[u8; AES_KEY_LEN], [u8; AES_BLOCK_LEN], &mut [[u8; AES_BLOCK_LEN]]) -> Option<()>,
) {
    // SAFETY: there is one hart, and no other reference exists at this time.
    let text = unsafe { &mut *(&raw mut TEXT) };
    let text = &mut text[..size / AES_BLOCK_LEN];
    let key = core::array::from_fn(operands::key_byte);
    let iv = core::array::from_fn(operands::iv_byte);
    encrypt(&key, iv, &mut text[..SIZES[0] / AES_BLOCK_LEN]);
    for (at, byte) in text.as_flattened_mut().iter_mut().enumerate() {
        *byte = operands::payload_byte(at);
    }
    let begin = Count::begin();
    let done = encrypt(black_box(&key), black_box(iv), text);
    let count = begin.end();
    if done.is_some() {
        let digest = ours::sha256(kernels, text.as_flattened());
        count.report(who, "aes-256-cbc", size, &digest);
    }
}

/// Counts our kernels and two implementations of BearSSL of CTR and of GCM with all payloads, and its third one of GCM with
/// one payload.
pub fn modes(kernels: &Kernels) {
    let [variants @ .., other] = &bearssl_modes::VARIANTS;
    for size in SIZES {
        for variant in variants {
            mode_of_bearssl(kernels, variant, size);
        }
        let ctr = |key: &_, iv: &_, text: &mut _| ours::ctr(kernels, key, iv, text).map(|()| None);
        mode(kernels, OURS, bearssl_modes::CTR, size, ctr);
        let gcm = |key: &_, iv: &_, text: &mut _| ours::gcm(kernels, key, iv, text).map(Some);
        mode(kernels, OURS, bearssl_modes::GCM, size, gcm);
    }
    mode_of_bearssl(kernels, other, COMPARED_SIZE);
}

fn mode_of_bearssl(kernels: &Kernels, variant: &bearssl_modes::ModeVariant, size: usize) {
    let encrypt = |key: &_, iv: &_, text: &mut _| Some(variant.encrypt(key, iv, text));
    mode(kernels, variant.name, variant.mode, size, encrypt);
}

/// Same as [`aes`], for CTR and GCM. The function returns a tag or that there is none.
fn mode(
    kernels: &Kernels,
    who: &str,
    what: &str,
    size: usize,
    encrypt: impl Fn(
        &[u8; AES_KEY_LEN],
        &[u8; AES_BLOCK_LEN],
        &mut [u8],
    ) -> Option<Option<[u8; AES_BLOCK_LEN]>>,
) {
    // SAFETY: there is one hart, and no other reference exists at this time.
    let text = unsafe { &mut *(&raw mut TEXT) };
    let text = text.as_flattened_mut();
    let key = core::array::from_fn(operands::key_byte);
    let iv = core::array::from_fn(operands::iv_byte);
    encrypt(&key, &iv, &mut text[..SIZES[0]]);
    for (at, byte) in text.iter_mut().enumerate() {
        *byte = operands::payload_byte(at);
    }
    let begin = Count::begin();
    let tag = encrypt(black_box(&key), black_box(&iv), &mut text[..size]);
    let count = begin.end();
    let end = match tag {
        Some(Some(tag)) => {
            text[size..size + AES_BLOCK_LEN].copy_from_slice(&tag);
            size + AES_BLOCK_LEN
        }
        Some(None) => size,
        None => return,
    };
    count.report(who, what, size, &ours::sha256(kernels, &text[..end]));
}

fn rsa<const WHOLE: usize, const HALF: usize>(
    variant: &bearssl_rsa::RsaVariant,
    key: &Key<WHOLE, HALF>,
    [public, private]: Names,
) {
    let Some(mut text) = encrypt(variant, key, public) else { return };
    // The first decryption is counted, because cache misses are less than a thousandth of its cycles.
    let begin = Count::begin();
    let is_done = variant.decrypt(key, black_box(&mut text));
    let count = begin.end();
    if is_done {
        count.report(variant.name, private, text.len(), &text);
    }
}

/// Counts the second of two encryptions, and returns the ciphertext.
fn encrypt<const WHOLE: usize, const HALF: usize>(
    variant: &bearssl_rsa::RsaVariant,
    key: &Key<WHOLE, HALF>,
    name: &str,
) -> Option<[u8; WHOLE]> {
    let plain: [u8; WHOLE] = core::array::from_fn(operands::payload_byte);
    variant.encrypt(key, &mut plain.clone());
    let mut text = plain;
    let begin = Count::begin();
    let is_done = variant.encrypt(key, black_box(&mut text));
    let count = begin.end();
    is_done.then(|| {
        count.report(variant.name, name, text.len(), &text);
        text
    })
}
