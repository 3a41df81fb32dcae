//! RSA signature verification: RSASSA-PKCS1-v1_5 (RFC 8017 §8.2.2) and RSASSA-PSS (§8.1.2).
//!
//! Only the key types that a boot chain needs are accepted: 2048, 3072 or 4096 bits and the exponent 65537. Any other
//! well-formed key is refused with [`Rejection::UnsupportedKey`].
//!
//! [`pkcs1`] and [`pss`] each have `verify`, which takes a message and hashes of this crate, and `compare`, which
//! takes a digest and hashes that the caller supplies. So a workstation can support more hashes than a boot stage
//! contains.
//!
//! There is no heap. All buffers have a fixed size for 4096 bits. The run time depends on key, message and signature,
//! which are public.

mod digest;
mod digits;
mod key;
mod known_answer;
pub mod pkcs1;
pub mod pss;
#[cfg(test)]
mod tests;

use crate::Kernels;
use crate::sha2::{Sha256, Sha384, Sha512};
use crate::signature::{Comparison, Rejection, Verifier};
use hartlock_algorithm::HashId;

pub use digest::{Digester, KernelHasher, MAX_DIGEST_LEN};
pub use hartlock_algorithm::{RsaPadding, RsaSet};
pub use key::{MAX_MODULUS_LEN, RsaPublicKey};
#[cfg(any(feature = "engine", test))]
pub(crate) use known_answer::known_to;

/// Returns the modulus of the known answers and their signatures, with PKCS #1 v1.5 and with PSS. The hash is
/// SHA-384.
#[cfg(test)]
pub(crate) const fn known() -> (&'static [u8], [&'static [u8]; 2]) {
    (known_answer::MODULUS, [known_answer::PKCS1, known_answer::PSS])
}

impl Verifier for RsaSet {
    fn compare(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        let key = RsaPublicKey::from_pkcs1_der(public_key)?;
        if key.modulus().len() != usize::from(set.modulus_bits >> 3) {
            return Err(Rejection::UnsupportedKey);
        }
        #[cfg(any(feature = "engine", test))]
        let key = key.by(kernels);
        let compare = match set.hash {
            HashId::Sha256 => compare_with::<Sha256>,
            HashId::Sha384 => compare_with::<Sha384>,
            _ => compare_with::<Sha512>,
        };
        compare(kernels, set.padding, &key, message, signature)
    }
}

/// Verifies with one hash for the message, the mask and the length of the salt (image format §2.2).
fn compare_with<H: pkcs1::Identified>(
    kernels: &Kernels,
    padding: RsaPadding,
    key: &RsaPublicKey<'_>,
    message: &[u8],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut digest = H::with(kernels);
    digest.update(message);
    let digest = digest.finalize();
    let digest = digest.as_ref();
    match padding {
        RsaPadding::Pkcs1 => pkcs1::compare(key, H::DIGEST_INFO, digest, signature),
        RsaPadding::Pss => {
            let hash = KernelHasher::<H>::new(kernels);
            let mask = pss::Mgf1(&hash);
            pss::compare(key, &hash, &mask, digest, H::OUTPUT_LEN, signature)
        }
    }
}
