//! These tests compare ECDSA with other crates, for valid signatures, for damaged ones, and for every kind of
//! noncanonical encoding.

use hartlock_kernels::Kernels;
use hartlock_kernels::ecdsa::{
    Curve, EcdsaPublicKey, MAX_SIGNATURE_LEN, compare, from_der, self_test, verify,
};
use hartlock_kernels::sha2::{Sha256, Sha384};
use hartlock_kernels::signature::{ParameterSet, Rejection};
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use proptest::prelude::*;
use sha2::Digest;

fn judge(curve: Curve, key: &[u8], digest: &[u8], signature: &[u8]) -> Result<(), Rejection> {
    compare(&EcdsaPublicKey::from_sec1(curve, key)?, digest, signature)?.check()
}

/// Defines functions that make a key and a signature with another crate, and that return its verdict on any key,
/// digest and signature.
macro_rules! other {
    ($module:ident, $krate:ident, $curve:expr, $seed_len:expr) => {
        mod $module {
            use super::*;
            use $krate::ecdsa::{Signature, SigningKey, VerifyingKey};

            pub fn sign(seed: u8, digest: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
                let key = SigningKey::from_slice(&[(seed & 0x7f).max(1); $seed_len]).unwrap();
                let signature: Signature = key.sign_prehash(digest).unwrap();
                let point = key.verifying_key().to_sec1_point(false).as_bytes().to_vec();
                (point, signature.to_bytes().to_vec(), signature.to_der().as_bytes().to_vec())
            }

            pub fn accepts(key: &[u8], digest: &[u8], signature: &[u8]) -> bool {
                let judge = || {
                    let key = VerifyingKey::from_sec1_bytes(key).ok()?;
                    let signature = Signature::from_slice(signature).ok()?;
                    key.verify_prehash(digest, &signature).ok()
                };
                judge().is_some()
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(24))]

                #[test]
                fn good_signatures_are_accepted(seed: u8, digest in prop::collection::vec(any::<u8>(), 32..80)) {
                    let (key, signature, der) = sign(seed, &digest);
                    prop_assert_eq!(judge($curve, &key, &digest, &signature), Ok(()));
                    let mut buffer = [0xaa; MAX_SIGNATURE_LEN];
                    prop_assert_eq!(from_der($curve, &der, &mut buffer), Ok(&signature[..]));
                }

                #[test]
                fn verdicts_on_one_flipped_bit_agree(seed: u8, place: prop::sample::Index, digest: [u8; 48]) {
                    let (key, signature, _) = sign(seed, &digest);
                    let mut all = [&key[..], &signature, &digest].concat();
                    let bit = place.index(all.len() * 8);
                    all[bit / 8] ^= 1 << (bit % 8);
                    let (key, rest) = all.split_at(key.len());
                    let (signature, digest) = rest.split_at(signature.len());
                    let verdict = judge($curve, key, digest, signature);
                    prop_assert_eq!(verdict.is_ok(), accepts(key, digest, signature));
                    // A digest may be longer than the order. Its last bits are then ignored.
                    let is_beyond = bit / 8 >= key.len() + signature.len() + $seed_len;
                    prop_assert_eq!(verdict.is_ok(), is_beyond);
                }

                #[test]
                fn random_bytes_are_judged_alike(seed: u8, signature in prop::collection::vec(any::<u8>(), 2 * $seed_len)) {
                    let (key, _, _) = sign(seed, &[1; 32]);
                    let verdict = judge($curve, &key, &[1; 32], &signature);
                    prop_assert_eq!(verdict.is_ok(), accepts(&key, &[1; 32], &signature));
                }
            }

            #[test]
            fn lengths_are_exact() {
                let (key, signature, der) = sign(5, &[2; 32]);
                assert_eq!(key.len(), $curve.public_key_size());
                let longer = [&signature[..], &[0]].concat();
                for len in (0..signature.len()).chain([longer.len()]) {
                    let verdict = judge($curve, &key, &[2; 32], &longer[..len]);
                    assert_eq!(verdict, Err(Rejection::SignatureLength), "{len}");
                }
                let longer = [&key[..], &[0]].concat();
                for len in (0..key.len()).chain([longer.len()]) {
                    let verdict = judge($curve, &longer[..len], &[2; 32], &signature);
                    let expected = if len == 0 || longer[0] == 4 {
                        Rejection::InvalidKey
                    } else {
                        Rejection::UnsupportedKey
                    };
                    assert_eq!(verdict, Err(expected), "{len}");
                }
                let longer = [&der[..], &[0]].concat();
                let mut buffer = [0; MAX_SIGNATURE_LEN];
                for len in (0..der.len()).chain([longer.len()]) {
                    let verdict = from_der($curve, &longer[..len], &mut buffer);
                    assert_eq!(verdict, Err(Rejection::NonCanonicalSignature), "{len}");
                }
            }

            #[test]
            fn numbers_out_of_range_are_refused() {
                let (key, signature, _) = sign(6, &[3; 32]);
                let order = {
                    use $krate::elliptic_curve::PrimeField;
                    let minus_one = -$krate::Scalar::ONE;
                    let mut order = minus_one.to_repr().to_vec();
                    *order.last_mut().unwrap() += 1;
                    order
                };
                let ones = vec![0xff; $seed_len];
                let zero = vec![0; $seed_len];
                for bad in [&order, &ones, &zero] {
                    for half in [0, $seed_len] {
                        let mut signature = signature.clone();
                        signature[half..half + $seed_len].copy_from_slice(bad);
                        let verdict = judge($curve, &key, &[3; 32], &signature);
                        assert_eq!(verdict, Err(Rejection::NonCanonicalSignature));
                    }
                }
                // The largest numbers in range are not a reason for refusal.
                let mut largest = order.clone();
                *largest.last_mut().unwrap() -= 1;
                let verdict = judge($curve, &key, &[3; 32], &[&largest[..], &largest].concat());
                assert_eq!(verdict, Err(Rejection::Mismatch));
            }

            #[test]
            fn coordinates_out_of_range_are_refused() {
                let (key, signature, _) = sign(7, &[4; 32]);
                for range in [1..1 + $seed_len, 1 + $seed_len..1 + 2 * $seed_len, 1..1 + 2 * $seed_len] {
                    for fill in [0, 0xff] {
                        let mut key = key.clone();
                        key[range.clone()].fill(fill);
                        let verdict = judge($curve, &key, &[4; 32], &signature);
                        assert_eq!(verdict, Err(Rejection::InvalidKey));
                    }
                }
                for tag in (0..=255).filter(|tag| *tag != 4) {
                    let mut key = key.clone();
                    key[0] = tag;
                    let verdict = judge($curve, &key, &[4; 32], &signature);
                    assert_eq!(verdict, Err(Rejection::InvalidKey));
                }
            }
        }
    };
}

other!(of_p256, p256, Curve::P256, size_of::<p256::FieldBytes>());
other!(of_p384, p384, Curve::P384, size_of::<p384::FieldBytes>());

/// Encodes a key as SubjectPublicKeyInfo (RFC 5480 §2).
fn spki(algorithm: &[u8], parameters: &[u8], key: &[u8]) -> Vec<u8> {
    let wrap = |tag: u8, content: &[u8]| {
        assert!(content.len() < 0x80);
        [&[tag, content.len() as u8], content].concat()
    };
    let algorithm = wrap(0x30, &[&wrap(6, algorithm)[..], parameters].concat());
    wrap(0x30, &[algorithm, wrap(3, &[&[0], key].concat())].concat())
}

#[test]
fn keys_are_read_from_the_one_encoding() {
    const EC: &[u8] = b"\x2a\x86\x48\xce\x3d\x02\x01";
    const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
    const P384: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x22";
    const K256: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x0a";
    let (key, _, _) = of_p256::sign(8, &[5; 32]);
    let read = |der: &[u8]| EcdsaPublicKey::from_spki_der(der).map(|key| key.curve());
    let good = spki(EC, P256, &key);
    assert_eq!(read(&good), Ok(Curve::P256));
    assert_eq!(read(&spki(EC, P384, &of_p384::sign(8, &[5; 32]).0)), Ok(Curve::P384));
    // The cases are a point of another curve, an unsupported curve, and an unsupported algorithm.
    assert_eq!(read(&spki(EC, P384, &key)), Err(Rejection::InvalidKey));
    assert_eq!(read(&spki(EC, K256, &key)), Err(Rejection::UnsupportedKey));
    assert_eq!(read(&spki(b"\x2b\x65\x70", P256, &key)), Err(Rejection::UnsupportedKey));
    // The parameters are absent, NULL, explicit curve parameters, or followed by another element.
    for parameters in [&[][..], &[5, 0], &[0x30, 0], &[P256, &[5, 0]].concat()] {
        assert_eq!(read(&spki(EC, parameters, &key)), Err(Rejection::InvalidKey));
    }
    for len in 0..good.len() {
        assert_eq!(read(&good[..len]), Err(Rejection::InvalidKey), "{len}");
    }
    assert_eq!(read(&[&good[..], &[0]].concat()), Err(Rejection::InvalidKey));
    // The cases are a length in the long form, and unused bits.
    let mut long = good.clone();
    long.insert(1, 0x81);
    assert_eq!(read(&long), Err(Rejection::InvalidKey));
    let mut unused = good.clone();
    unused[good.len() - key.len() - 1] = 1;
    assert_eq!(read(&unused), Err(Rejection::InvalidKey));
    // A change of any other byte of the structure is refused.
    for at in 0..good.len() - key.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        assert!(read(&changed).is_err(), "byte {at}");
    }
}

#[test]
fn signatures_are_read_from_the_one_encoding() {
    let convert = |der: &[u8]| {
        let mut buffer = [0xaa; MAX_SIGNATURE_LEN];
        from_der(Curve::P256, der, &mut buffer).map(|signature| signature.to_vec())
    };
    let mut expected = vec![0; 64];
    (expected[31], expected[63]) = (0x7f, 0x80);
    assert_eq!(convert(b"\x30\x07\x02\x01\x7f\x02\x02\x00\x80"), Ok(expected));
    for bad in [
        &b""[..],
        b"\x30\x00",
        b"\x31\x07\x02\x01\x7f\x02\x02\x00\x80",
        b"\x30\x81\x07\x02\x01\x7f\x02\x02\x00\x80",
        b"\x30\x82\x00\x07\x02\x01\x7f\x02\x02\x00\x80",
        b"\x30\x80\x02\x01\x7f\x02\x02\x00\x80\x00\x00",
        b"\x30\x08\x02\x02\x00\x7f\x02\x02\x00\x80",
        b"\x30\x06\x02\x01\x7f\x02\x01\x80",
        b"\x30\x05\x02\x00\x02\x01\x7f",
        b"\x30\x03\x02\x01\x7f",
        b"\x30\x09\x02\x01\x7f\x02\x01\x7f\x02\x01\x7f",
        b"\x30\x06\x02\x01\x7f\x03\x01\x7f",
        b"\x30\x84\x00\x00\x00\x07\x02\x01\x7f\x02\x02\x00\x80",
        b"\x30\xff\x02\x01\x7f\x02\x02\x00\x80",
    ] {
        assert_eq!(convert(bad), Err(Rejection::NonCanonicalSignature), "{bad:02x?}");
    }
    // The number is one byte longer than the curve allows.
    let number = [&[2, 33, 1][..], &[0; 32]].concat();
    let long = [&[0x30, 38][..], &number, &[2, 1, 1]].concat();
    assert_eq!(convert(&long), Err(Rejection::NonCanonicalSignature));
}

#[test]
fn messages_are_hashed_by_the_hash_that_was_chosen() {
    let message = b"message";
    let (key, signature, _) = of_p256::sign(9, &sha2::Sha256::digest(message));
    let key = EcdsaPublicKey::from_sec1(Curve::P256, &key).unwrap();
    let kernels = &Kernels::PORTABLE;
    assert_eq!(verify::<Sha256>(kernels, &key, message, &signature), Ok(()));
    assert_eq!(verify::<Sha384>(kernels, &key, message, &signature), Err(Rejection::Mismatch));
}

#[test]
fn the_self_tests_pass() {
    assert!(self_test(Curve::P256));
    assert!(self_test(Curve::P384));
}
