//! RSASSA-PSS (RFC 8017 §8.1.2), with EMSA-PSS-VERIFY (§9.1.2).

use core::hint::black_box;

use super::digest::{Digester, KernelHasher, MAX_DIGEST_LEN};
use super::key::{MAX_MODULUS_LEN, RsaPublicKey};
use super::known_answer;
use crate::sha2::Sha384;
use crate::signature::{Comparison, Rejection};
use crate::{Hash, Kernels};

/// A mask generation function.
pub trait Mask {
    /// XORs the mask of `seed` to `data`. The mask has the length of `data`.
    fn apply(&self, seed: &[u8], data: &mut [u8]);
}

/// MGF1 (RFC 8017 appendix B.2.1) with any hash function.
pub struct Mgf1<'a>(pub &'a dyn Digester);

impl Mask for Mgf1<'_> {
    fn apply(&self, seed: &[u8], data: &mut [u8]) {
        let mut digest = [0; MAX_DIGEST_LEN];
        // A length of zero would be an error of the caller, and `chunks_mut` would panic.
        let len = self.0.output_len().clamp(1, MAX_DIGEST_LEN);
        let Some(digest) = digest.get_mut(..len) else { return };
        for (counter, chunk) in (0u32..).zip(data.chunks_mut(len)) {
            self.0.digest(&[seed, &counter.to_be_bytes()], digest);
            for (data, mask) in chunk.iter_mut().zip(digest.iter()) {
                *data ^= mask;
            }
        }
    }
}

/// Runs the known-answer test and returns true if it passes. A signature with SHA-384 for all purposes must be
/// accepted, and must be refused for another message. The test takes the time of two verifications with a key of 2048
/// bits.
pub fn self_test() -> bool {
    let judge = |message: &[u8]| {
        let key = RsaPublicKey::new(known_answer::MODULUS, &[1, 0, 1])?;
        let signature = black_box(known_answer::PSS);
        let salt_len = Sha384::OUTPUT_LEN;
        verify::<Sha384, Sha384>(&Kernels::PORTABLE, &key, message, salt_len, signature)
    };
    judge(b"abc") == Ok(()) && judge(b"abd") == Err(Rejection::Mismatch)
}

/// Verifies a signature of `message` with a salt of exactly `salt_len` bytes. `H` hashes the message, and `M` is the
/// hash of the mask generation function.
///
/// # Errors
/// The errors of [`compare`], and `Mismatch` if the signature is not valid.
pub fn verify<H: Hash, M: Hash>(
    kernels: &Kernels,
    key: &RsaPublicKey,
    message: &[u8],
    salt_len: usize,
    signature: &[u8],
) -> Result<(), Rejection> {
    let mut digest = H::with(kernels);
    digest.update(message);
    let (hash, mask) = (KernelHasher::<H>::new(kernels), KernelHasher::<M>::new(kernels));
    compare(key, &hash, &Mgf1(&mask), digest.finalize().as_ref(), salt_len, signature)?.check()
}

/// Computes H' from salt and digest, and returns it with the H of the signature (RFC 8017 §9.1.2). `digest` is the
/// digest of the message under `hash`.
///
/// # Errors
/// `SignatureLength` unless the signature has the length of the modulus, and `NonCanonicalSignature` unless it is
/// below the modulus. `Mismatch` if the padding is not exactly that of a salt of `salt_len` bytes, if `digest` does
/// not have the length of `hash`, or if digest and salt do not fit into the modulus.
pub fn compare(
    key: &RsaPublicKey,
    hash: &dyn Digester,
    mask: &dyn Mask,
    digest: &[u8],
    salt_len: usize,
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut encoded = [0; MAX_MODULUS_LEN];
    let encoded = key.open(signature, &mut encoded)?;
    let mut computed = [0; MAX_DIGEST_LEN];
    let (claimed, computed) =
        decode(encoded, hash, mask, digest, salt_len, &mut computed).ok_or(Rejection::Mismatch)?;
    Comparison::of(computed, claimed)
}

/// Returns H and H', or `None` if the encoded message is inconsistent. The steps are those of RFC 8017 §9.1.2. emBits
/// is one less than a multiple of 8, so emLen is the length of the modulus, and one bit is unused.
#[allow(non_snake_case, reason = "the standard's names")]
pub(super) fn decode<'a>(
    EM: &'a mut [u8],
    hash: &dyn Digester,
    mask: &dyn Mask,
    mHash: &[u8],
    sLen: usize,
    computed: &'a mut [u8; MAX_DIGEST_LEN],
) -> Option<(&'a [u8], &'a [u8])> {
    let hLen = hash.output_len();
    let computed = computed.get_mut(..hLen)?;
    if hLen == 0 || mHash.len() != hLen {
        return None;
    }
    // Steps 4 and 5.
    let (EM, &mut [0xbc]) = EM.split_last_chunk_mut()? else { return None };
    let (maskedDB, H) = EM.split_at_mut_checked(EM.len().checked_sub(hLen)?)?;
    // Step 6.
    let is_top_bit_set = maskedDB.first()? >> 7 == 1;
    if is_top_bit_set {
        return None;
    }
    // Steps 7 to 9.
    mask.apply(H, maskedDB);
    let DB = maskedDB;
    *DB.first_mut()? &= 0x7f;
    // Step 10. If the modulus is too short for digest and salt (step 3), DB is too short here.
    let (padding, salt) = DB.split_at_checked(DB.len().checked_sub(sLen)?)?;
    let (one, zeros) = padding.split_last()?;
    if *one != 1 || zeros.iter().any(|byte| *byte != 0) {
        return None;
    }
    // Steps 11 to 13.
    hash.digest(&[&[0; 8], mHash, salt], computed);
    Some((H, computed))
}
