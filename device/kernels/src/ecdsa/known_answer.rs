//! Known answers: signatures of `abc`, made with OpenSSL 3.0.19. The private keys were deleted.

use super::{Curve, EcdsaPublicKey, compare};
use crate::sha2::{Sha256, Sha384};
use crate::signature::Rejection;
use core::hint::black_box;

/// Runs the known-answer test of a curve and returns true if it passes. The signature must be accepted, and must be
/// refused for another digest. The test takes the time of two verifications and hashes nothing.
pub fn self_test(curve: Curve) -> bool {
    let (key, digest, signature) = known(curve);
    let judge = |digest: &[u8]| {
        let key = EcdsaPublicKey::from_sec1(curve, black_box(key))?;
        compare(&key, digest, signature)?.check()
    };
    // A digest without its last byte is a different number.
    let other = digest.split_last().map_or(digest, |(_, other)| other);
    judge(digest) == Ok(()) && judge(other) == Err(Rejection::Mismatch)
}

/// Returns true if an engine accepts the signature and refuses it for another digest. Returns `None` if it gives no
/// verdict.
#[cfg(any(feature = "engine", test))]
pub(crate) fn known_to(curve: Curve, engines: &dyn crate::engines::Engines) -> Option<bool> {
    use crate::engines::{EcdsaRequest, GENUINE, NOT_GENUINE};

    let (key, digest, signature) = known(curve);
    let (_, point) = key.split_first()?;
    let is_p384 = curve == Curve::P384;
    let verdict = |digest| engines.judge_ecdsa(&EcdsaRequest { is_p384, point, digest, signature });
    let mut other = [0; 48];
    let other = other.get_mut(..digest.len())?;
    // The digest is shifted by one byte, which gives a different number of the same length.
    other.iter_mut().skip(1).zip(digest).for_each(|(to, from)| *to = *from);
    Some(verdict(black_box(digest))? == GENUINE && verdict(other)? == NOT_GENUINE)
}

/// Returns the key, digest and signature of a known answer.
const fn known(curve: Curve) -> (&'static [u8], &'static [u8], &'static [u8]) {
    match curve {
        Curve::P256 => (KAT_KEY_P256, &Sha256::KAT, KAT_SIGNATURE_P256),
        Curve::P384 => (KAT_KEY_P384, &Sha384::KAT, KAT_SIGNATURE_P384),
    }
}

const KAT_KEY_P256: &[u8; 65] = b"\
      \x04\x42\xe4\x6a\x89\xff\x55\x05\x4a\x14\x13\x40\x2e\x7d\xad\x82\
      \x6b\xaf\x87\x8e\xf2\x22\x62\xc1\xfc\x24\x0c\xb7\xa9\xf8\x95\xb9\
      \xa7\xfc\xee\x70\xa9\xf8\x65\xce\x33\x70\x72\xf9\x67\x77\x86\x7a\
      \x12\x13\x54\xd0\x61\x83\x84\xfd\x92\xe6\x3a\x49\xf3\x68\x53\xfa\
      \xb2";

const KAT_SIGNATURE_P256: &[u8; 64] = b"\
      \x4f\xdb\xe7\xd1\xfc\x96\xba\x53\xe8\xae\xc8\x54\x21\x53\x2d\x4f\
      \xbe\xe9\x86\xe0\x27\x8d\x8b\x61\x06\x85\x32\x6c\xe6\x6d\xba\xd0\
      \xf2\x14\xaa\xab\x6d\xff\x06\xa5\x39\xb1\x4f\x26\xfb\x11\x7f\x9c\
      \xdb\x15\x4e\x8f\x42\xd9\xc0\x60\x08\xdd\xde\xd7\xfc\xe7\x47\xa5";

const KAT_KEY_P384: &[u8; 97] = b"\
      \x04\x00\x7f\x19\xfb\x14\xd0\xc3\x7c\x85\x80\x46\xf6\x6c\xfc\x4c\
      \x08\xd1\xa1\x0d\x1f\x4c\x7d\x9b\x09\xb1\x14\xa4\xae\x10\xbf\x90\
      \xe7\x0a\xce\xfa\x78\x80\x0e\x39\x52\x4f\xe8\xcf\x5d\xb3\x6a\x41\
      \x12\xcc\x1d\x54\xda\x26\x56\x55\xf9\xd2\x62\xdc\xfd\x5e\xa7\x2e\
      \x35\x7e\xfc\x0a\x65\xf1\xc8\xd8\x3b\x60\x2c\x72\xb2\xd4\xc8\xae\
      \xc9\x48\x9c\x48\x0a\x1d\xa0\xb4\x66\xf7\x57\xb9\x62\x12\xd2\x4d\
      \xa0";

const KAT_SIGNATURE_P384: &[u8; 96] = b"\
      \xf1\x98\x0a\xb6\x86\xf1\xa1\xae\xc8\x0c\x2b\x70\x03\xce\x6e\x71\
      \x36\x8c\xae\x94\x71\xfc\x57\xae\xfb\xb6\xc9\x2f\x55\xb7\xe5\xb8\
      \xa0\x6b\x0e\x26\x33\xea\xd3\x59\x32\x4c\x6d\x3b\x2d\xd6\xa8\xcd\
      \xba\x9e\x62\xb5\xc8\x00\x2c\x1d\x28\xf1\x3b\xc8\xd9\xfc\x6f\x03\
      \x18\xea\x14\xbb\x35\xf5\x37\x75\x48\xec\xd2\xfa\x13\x8a\x23\x9e\
      \x45\x8f\x83\x0b\x93\x4c\x69\x62\x02\x75\x8a\xe2\x78\x28\x8d\xac";
