//! These tests use simulated engines that are right, wrong, silent or partial. The portable verifiers and another
//! crate compute their results.

use std::boxed::Box;
use std::cell::Cell;
use std::thread_local;
use std::vec::Vec;

use hartlock_algorithm::{HashId, RsaPadding, RsaSet};
use num_bigint::BigUint;
use p256::ecdsa::signature::Signer;

use super::*;
use crate::ecdsa;
use crate::engines::{EcdsaRequest, Engines, GENUINE, NOT_GENUINE};
use crate::signature::{Rejection, Verifier};

thread_local! {
    /// Number of requests that the engine of this thread received.
    static REQUESTS: Cell<u32> = const { Cell::new(0) };
    /// True if the engine does not respond.
    static IS_SILENT: Cell<bool> = const { Cell::new(false) };
}

fn power(modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
    REQUESTS.set(REQUESTS.get() + 1);
    if IS_SILENT.get() {
        return None;
    }
    let [modulus, base] = [modulus, base].map(BigUint::from_bytes_be);
    let bytes = base.modpow(&65537_u32.into(), &modulus).to_bytes_be();
    let (padding, end) = result.split_at_mut(result.len() - bytes.len());
    padding.fill(0);
    end.copy_from_slice(&bytes);
    Some(())
}

fn verify(request: &EcdsaRequest<'_>) -> Option<u32> {
    REQUESTS.set(REQUESTS.get() + 1);
    if IS_SILENT.get() {
        return None;
    }
    let curve = if request.is_p384 { Curve::P384 } else { Curve::P256 };
    let key = ecdsa::EcdsaPublicKey::from_sec1(curve, &[&[4], request.point].concat()).ok()?;
    let compared = ecdsa::compare(&key, request.digest, request.signature);
    Some(match compared.and_then(|compared| compared.check()) {
        Ok(()) => GENUINE,
        Err(_) => NOT_GENUINE,
    })
}

/// Returns zero for every request.
fn nothing(_: &[u8], _: &[u8], result: &mut [u8]) -> Option<()> {
    result.fill(0);
    Some(())
}

/// The same as [`Engines::power`].
type Power = fn(&[u8], &[u8], &mut [u8]) -> Option<()>;

/// An engine of two functions.
struct Counting {
    power: Power,
    verify: fn(&EcdsaRequest<'_>) -> Option<u32>,
}

impl Engines for Counting {
    fn power(&self, modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
        (self.power)(modulus, base, result)
    }

    fn judge_ecdsa(&self, request: &EcdsaRequest<'_>) -> Option<u32> {
        (self.verify)(request)
    }
}

const RIGHT: Counting = Counting { power, verify };

fn with(engine: Counting) -> Result<Kernels, KernelFault> {
    let mut kernels = Kernels::PORTABLE.join(Box::leak(Box::new(engine)));
    kernels.use_number_engine()?;
    Ok(kernels)
}

/// Returns true if an engine is used for this operation.
fn has(kernels: &Kernels, purpose: EngineUse) -> bool {
    kernels.engines_for(purpose).is_some()
}

/// Returns a P-256 key and its signature of `abc`.
fn p256() -> (Vec<u8>, Vec<u8>) {
    let key = p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
    let signature: p256::ecdsa::Signature = key.sign(b"abc");
    (key.verifying_key().to_sec1_point(false).as_bytes().to_vec(), signature.to_bytes().to_vec())
}

/// Returns a P-384 key and its signature of `abc`.
fn p384() -> (Vec<u8>, Vec<u8>) {
    let key = p384::ecdsa::SigningKey::from_slice(&[7; 48]).unwrap();
    let signature: p384::ecdsa::Signature = key.sign(b"abc");
    (key.verifying_key().to_sec1_point(false).as_bytes().to_vec(), signature.to_bytes().to_vec())
}

/// Returns the result of a verifier with these kernels, and the number of requests that it sends to the engine.
fn verdict<V: Verifier>(
    kernels: &Kernels,
    set: V,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> (Result<(), Rejection>, u32) {
    REQUESTS.set(0);
    let compared = V::compare(kernels, set, key, message, signature);
    (compared.and_then(|compared| compared.check()), REQUESTS.get())
}

/// Returns the DER key of the known answers, and their signatures with SHA-384.
fn rsa() -> (Vec<u8>, [(RsaSet, &'static [u8]); 2]) {
    let (modulus, signatures) = crate::rsa::known();
    let mut key = std::vec![0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01, 0x00];
    key.extend(modulus);
    key.extend([0x02, 0x03, 0x01, 0x00, 0x01]);
    let set = |padding| RsaSet { padding, modulus_bits: 2048, hash: HashId::Sha384 };
    let paddings = [RsaPadding::Pkcs1, RsaPadding::Pss];
    (key, [(set(paddings[0]), signatures[0]), (set(paddings[1]), signatures[1])])
}

#[test]
fn an_engine_says_what_software_says() {
    let kernels = with(RIGHT).unwrap();
    for purpose in [EngineUse::Rsa, EngineUse::P256, EngineUse::P384] {
        assert!(has(&kernels, purpose) && !has(&Kernels::PORTABLE, purpose));
    }
    let (key, signatures) = rsa();
    for (set, signature) in signatures {
        for message in [b"abc", b"abd"] {
            let (software, none) = verdict(&Kernels::PORTABLE, set, &key, message, signature);
            assert_eq!(verdict(&kernels, set, &key, message, signature), (software, 1));
            assert_eq!((software.is_ok(), none), (message == b"abc", 0));
        }
    }
    for (curve, (key, signature)) in [(Curve::P256, p256()), (Curve::P384, p384())] {
        for message in [b"abc", b"abd"] {
            let (software, none) = verdict(&Kernels::PORTABLE, curve, &key, message, &signature);
            assert_eq!(verdict(&kernels, curve, &key, message, &signature), (software, 1));
            assert_eq!((software.is_ok(), none), (message == b"abc", 0));
        }
    }
}

#[test]
fn what_is_no_signature_is_refused_before_it_is_asked() {
    let kernels = with(RIGHT).unwrap();
    let (key, [(set, signature), _]) = rsa();
    let modulus = crate::rsa::known().0;
    for (signature, why) in [
        (&signature[1..], Rejection::SignatureLength),
        (modulus, Rejection::NonCanonicalSignature),
        (&[0xff; 256], Rejection::NonCanonicalSignature),
    ] {
        assert_eq!(verdict(&kernels, set, &key, b"abc", signature), (Err(why), 0));
        assert_eq!(verdict(&Kernels::PORTABLE, set, &key, b"abc", signature), (Err(why), 0));
    }
    for (curve, (key, genuine)) in [(Curve::P256, p256()), (Curve::P384, p384())] {
        let len = genuine.len() / 2;
        let zero = [&std::vec![0; len], &genuine[len..]].concat();
        let large = [&genuine[..len], &std::vec![0xff; len]].concat();
        for (signature, why) in [
            (&genuine[1..], Rejection::SignatureLength),
            (&[&genuine[..], &[0]].concat(), Rejection::SignatureLength),
            (&zero, Rejection::NonCanonicalSignature),
            (&large, Rejection::NonCanonicalSignature),
        ] {
            assert_eq!(verdict(&kernels, curve, &key, b"abc", signature), (Err(why), 0));
            assert_eq!(verdict(&Kernels::PORTABLE, curve, &key, b"abc", signature), (Err(why), 0));
        }
        let mut other = key.clone();
        other[len] ^= 1;
        let refused = (Err(Rejection::InvalidKey), 0);
        assert_eq!(verdict(&kernels, curve, &other, b"abc", &genuine), refused);
    }
}

#[test]
fn an_engine_that_is_wrong_once_is_not_used() {
    let wrong: [Counting; 5] = [
        Counting { power: nothing, ..RIGHT },
        // Whatever it is asked for, it gives the known answer.
        Counting {
            power: |modulus, _, result| power(modulus, crate::rsa::known().1[0], result),
            ..RIGHT
        },
        Counting { verify: |_| Some(GENUINE), ..RIGHT },
        Counting { verify: |_| Some(NOT_GENUINE), ..RIGHT },
        Counting { verify: |request| verify(request).map(|word| word ^ 1), ..RIGHT },
    ];
    for engine in wrong {
        let result = with(engine);
        assert_eq!(result.err(), Some(KernelFault::WrongAnswer));
    }
    let silent = Counting { power: |_, _, _| None, verify: |_| None };
    let result = with(silent);
    assert_eq!(result.err(), Some(KernelFault::WrongAnswer));
}

#[test]
fn an_engine_is_used_for_what_it_has() {
    let partial = Counting {
        power: |_, _, _| None,
        verify: |request| if request.is_p384 { None } else { verify(request) },
    };
    let kernels = with(partial).unwrap();
    assert!(has(&kernels, EngineUse::P256));
    assert!(!has(&kernels, EngineUse::P384) && !has(&kernels, EngineUse::Rsa));
    let (key, signature) = p384();
    assert_eq!(verdict(&kernels, Curve::P384, &key, b"abc", &signature), (Ok(()), 0));
    let (key, [(set, signature), _]) = rsa();
    assert_eq!(verdict(&kernels, set, &key, b"abc", signature), (Ok(()), 0));
}

#[test]
fn software_verifies_when_it_falls_silent() {
    let kernels = with(RIGHT).unwrap();
    IS_SILENT.set(true);
    let (key, [(set, signature), _]) = rsa();
    assert_eq!(verdict(&kernels, set, &key, b"abc", signature), (Ok(()), 1));
    let (key, signature) = p256();
    assert_eq!(verdict(&kernels, Curve::P256, &key, b"abc", &signature), (Ok(()), 1));
    let mismatch = (Err(Rejection::Mismatch), 1);
    assert_eq!(verdict(&kernels, Curve::P256, &key, b"abd", &signature), mismatch);
    IS_SILENT.set(false);
}

#[test]
fn a_word_that_is_no_verdict_leaves_it_to_software() {
    thread_local! {
        static IS_ODD: Cell<bool> = const { Cell::new(false) };
    }
    let odd = |request: &EcdsaRequest<'_>| {
        if IS_ODD.get() { Some(GENUINE ^ 1) } else { verify(request) }
    };
    let kernels = with(Counting { verify: odd, ..RIGHT }).unwrap();
    IS_ODD.set(true);
    let (key, signature) = p256();
    assert_eq!(verdict(&kernels, Curve::P256, &key, b"abc", &signature).0, Ok(()));
    assert_eq!(
        verdict(&kernels, Curve::P256, &key, b"abd", &signature).0,
        Err(Rejection::Mismatch)
    );
}
