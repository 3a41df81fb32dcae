//! Compares Ed25519, Ed25519ph and the variant with SHA3-512 with the crate `ed25519-dalek`.
//!
//! Rule: both accept the same signatures, if the other crate uses its strict verification. A point
//! of small order may be added to the key and to R. One difference is known: dalek accepts keys
//! whose y is not reduced. No signature of such a key is known unless the key has small order, and
//! then both refuse.

use std::sync::LazyLock;

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT as B, EIGHT_TORSION};
use curve25519_dalek::edwards::CompressedEdwardsY;
use curve25519_dalek::{EdwardsPoint, Scalar};
use ed25519_dalek::hazmat::raw_verify;
use ed25519_dalek::{Signature, VerifyingKey};
use hartlock_kernels::ed25519::{self, Violation};
use hartlock_kernels::ed25519_contexts::{Context, verify_pre_hashed};
use hartlock_kernels::ed25519_keystone;
use hartlock_testkit::ed25519::{L, add_group_order};
use sha2::{Digest, Sha512};
use sha3::Sha3_512;

use super::{KERNELS, MESSAGES};
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variant {
    Pure,
    PreHashed,
    Keystone,
}

/// Numbers of signers for which R or the public key consists of the point of small order only.
const NO_NONCE: u8 = 4;
const NO_SECRET: u8 = 5;

const CONTEXTS: [&[u8]; 3] = [b"", b"context", &[7; 255]];

/// The group order L, the field prime and one, in the byte order of the encoding.
static LIMITS: LazyLock<[[u8; 32]; 3]> = LazyLock::new(|| {
    let mut prime = [0xff; 32];
    (prime[0], prime[31]) = (0xed, 0x7f);
    // The number one encodes the neutral element.
    let mut one = [0; 32];
    one[0] = 1;
    [L, prime, one]
});

pub fn run(data: &[u8]) {
    static POOL: Pool<(Variant, u8, [usize; 4])> = Pool::new();
    let mut choices = Choices::new(data);
    let variant = choices.of(&[Variant::Pure, Variant::PreHashed, Variant::Keystone]);
    // There are four keys, then one that signs with R of small order, and one that is of small
    // order itself.
    let number = choices.of(&[0, 1, 2, 3, NO_NONCE, NO_SECRET]);
    let message = choices.below(MESSAGES.len());
    let context = if variant == Variant::PreHashed { choices.below(CONTEXTS.len()) } else { 0 };
    let astray = match choices.below(4) {
        0..=2 => [0, 0],
        _ => [choices.below(8), choices.below(8)],
    };
    let what = (variant, number, [message, context, astray[0], astray[1]]);
    let genuine = POOL.get(what, |_| sign(variant, number, MESSAGES[message], context, astray));
    let limits = LIMITS.each_ref().map(<[u8; 32]>::as_slice);
    let mut signed = genuine.changed(&mut choices, &limits);
    if choices.rarely(8) {
        add_group_order(&mut signed.signature);
    }
    let is_accepted = judge(variant, CONTEXTS[context], &signed);
    if signed == genuine {
        let is_honest = number < NO_NONCE && astray == [0, 0];
        assert!(is_accepted || !is_honest, "a genuine signature is refused");
    } else {
        assert!(!is_accepted, "a second signature, or one of another message or key");
    }
}

fn judge(variant: Variant, context: &[u8], signed: &Signed) -> bool {
    let Signed { key, message, signature } = signed;
    // The lengths of key and signature are part of their types.
    let (Ok(key), Ok(signature)) =
        (<&[u8; 32]>::try_from(&key[..]), <&[u8; 64]>::try_from(&signature[..]))
    else {
        return false;
    };
    let strict = |r: Result<[u8; 32], Violation>| match r {
        Ok(r) if signature.starts_with(&r) => Ok(()),
        Ok(_) => Err(Violation::Mismatch),
        Err(rejection) => Err(rejection),
    };
    let ours = match variant {
        Variant::Pure => {
            let verdict = ed25519::verify(key, message, signature);
            let again = strict(ed25519::expected_r(KERNELS, key, message, signature));
            assert_eq!(verdict, again, "two ways to ask");
            verdict
        }
        Variant::PreHashed => {
            let context = Context::new(context).expect("short enough");
            verify_pre_hashed(key, context, &Sha512::digest(message).into(), signature)
        }
        Variant::Keystone => strict(ed25519_keystone::expected_r(KERNELS, key, message, signature)),
    };
    let theirs = || {
        let key = VerifyingKey::from_bytes(key).ok()?;
        let parsed = Signature::from_bytes(signature);
        match variant {
            Variant::Pure => key.verify_strict(message, &parsed).ok(),
            Variant::PreHashed => {
                let hash = Sha512::new_with_prefix(message);
                key.verify_prehashed_strict(hash, Some(context), &parsed).ok()
            }
            Variant::Keystone => {
                // Strict verification of the other crate: neither point has small order.
                let r = CompressedEdwardsY(*parsed.r_bytes()).decompress()?;
                let is_strict = !key.is_weak() && !r.is_small_order();
                raw_verify::<Sha3_512>(&key, message, &parsed).ok().filter(|()| is_strict)
            }
        }
    };
    let names = ["Ed25519", "Ed25519ph", "Ed25519 with SHA3-512"];
    let theirs = theirs().is_some();
    agree("ed25519-dalek", names[variant as usize], ours.map_err(Into::into), theirs)
}

/// Signs with a key and an R to which points of small order were added.
fn sign(
    variant: Variant,
    number: u8,
    message: &[u8],
    context: usize,
    astray: [usize; 2],
) -> Signed {
    let mut secret = scalar::<Sha512>(&[b"secret", &[number]]);
    let mut nonce = scalar::<Sha512>(&[b"nonce", &[number], message]);
    match number {
        NO_NONCE => nonce = Scalar::ZERO,
        NO_SECRET => secret = Scalar::ZERO,
        _ => {}
    }
    let off = |point: EdwardsPoint, by: usize| (point + EIGHT_TORSION[by]).compress().to_bytes();
    let (key, r) = (off(B * secret, astray[0]), off(B * nonce, astray[1]));
    let k = match variant {
        Variant::Pure => scalar::<Sha512>(&[&r, &key, message]),
        Variant::PreHashed => {
            // This is dom2 of RFC 8032 §2.
            let context = CONTEXTS[context];
            let frame = [&[1, context.len() as u8], context].concat();
            let front: &[u8] = b"SigEd25519 no Ed25519 collisions";
            scalar::<Sha512>(&[front, &frame, &r, &key, &Sha512::digest(message)])
        }
        Variant::Keystone => scalar::<Sha3_512>(&[&r, &key, message]),
    };
    let signature = [r, (nonce + k * secret).to_bytes()].concat();
    Signed { key: key.to_vec(), message: message.to_vec(), signature }
}

fn scalar<D: Digest>(parts: &[&[u8]]) -> Scalar {
    let digest = D::digest(parts.concat());
    Scalar::from_bytes_mod_order_wide(digest[..].try_into().expect("64 bytes"))
}
