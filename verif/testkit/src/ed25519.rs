//! Ed25519 signatures that no regular signer makes (image format §5.2).
//!
//! Each signature that a less strict verifier could accept satisfies all other rules, so that only the
//! tested rule prevents its acceptance.

use curve25519_dalek::constants::{ED25519_BASEPOINT_TABLE, EIGHT_TORSION};
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use hartlock_image::KeyRecord;
use sha2::{Digest, Sha512};

use super::keys::{self, A};

/// A public key and a function that signs with it.
#[derive(Debug)]
pub struct UnusualSignature {
    public_key: fn() -> [u8; 32],
    sign: fn(&[u8; 32], &[u8]) -> [u8; 64],
}

impl UnusualSignature {
    pub fn public_key(&self) -> [u8; 32] {
        (self.public_key)()
    }

    pub fn record(&self) -> KeyRecord {
        keys::record(1, 0, &self.public_key())
    }

    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        (self.sign)(&self.public_key(), message)
    }
}

/// S is replaced by S + L, another encoding of the same number modulo L.
pub const S_PLUS_L: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| {
        let mut signature = A.sign(message);
        add_group_order(&mut signature);
        signature
    },
};

/// R is the identity, and S satisfies the equation.
pub const R_IDENTITY: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| with_zero_r(IDENTITY, message),
};

/// R is the identity with the sign bit set ("−0"), and S satisfies the equation.
pub const R_MINUS_ZERO: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| with_zero_r(MINUS_ZERO, message),
};

/// R is the identity encoded with y + p, and S satisfies the equation.
pub const R_Y_PLUS_P: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| with_zero_r(ONE_PLUS_P, message),
};

/// R has order 8.
pub const R_ORDER_8: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    // The signature satisfies the cofactored equation.
    sign: |_, message| with_zero_r(EIGHT_TORSION[1].compress().0, message),
};

/// R is encoded with a y that is not less than p, and its point is not of small order. The discrete
/// logarithm of R is unknown, so the equation does not hold.
pub const R_NOT_REDUCED: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| with_zero_r(not_reduced(), message),
};

/// R is not the encoding of a point.
pub const R_OFF_CURVE: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| {
        join(off_curve(), with_zero_r(off_curve(), message)[32..].try_into().expect("half"))
    },
};

/// R has a component of order 8, which no other component cancels.
pub const R_MIXED: UnusualSignature = UnusualSignature {
    public_key: || A.public_key(),
    sign: |_, message| {
        let nonce = Scalar::from(5_u64);
        let r = (ED25519_BASEPOINT_TABLE * &nonce + EIGHT_TORSION[1]).compress().0;
        let k = challenge(&r, &A.public_key(), message);
        join(r, (nonce + k * secret()).to_bytes())
    },
};

/// The key is the identity, so [k]A is the identity and an attacker can sign.
pub const KEY_IDENTITY: UnusualSignature =
    UnusualSignature { public_key: || IDENTITY, sign: |key, message| forged(key, message, 1) };

/// The key is the identity with the sign bit set ("−0").
pub const KEY_MINUS_ZERO: UnusualSignature =
    UnusualSignature { public_key: || MINUS_ZERO, sign: |key, message| forged(key, message, 1) };

/// The key is encoded with a y that is not less than p, and its point is not of small order.
pub const KEY_NOT_REDUCED: UnusualSignature =
    UnusualSignature { public_key: not_reduced, sign: |key, message| forged(key, message, 1) };

/// The key has order 4 and y = 0.
pub const KEY_ORDER_4: UnusualSignature = UnusualSignature {
    public_key: || EIGHT_TORSION[2].compress().0,
    sign: |key, message| forged(key, message, 4),
};

/// The key has order 8 and y = y8.
pub const KEY_ORDER_8: UnusualSignature =
    UnusualSignature { public_key: || order_8(true), sign: |key, message| forged(key, message, 8) };

/// The key has order 8 and y = p − y8.
pub const KEY_ORDER_8_NEGATED: UnusualSignature = UnusualSignature {
    public_key: || order_8(false),
    sign: |key, message| forged(key, message, 8),
};

/// The key is not the encoding of a point.
pub const KEY_OFF_CURVE: UnusualSignature =
    UnusualSignature { public_key: off_curve, sign: |key, message| forged(key, message, 1) };

/// The key has a component of order 8, which the challenge cancels: [k]A has no such component.
pub const KEY_MIXED_HIDDEN: UnusualSignature =
    UnusualSignature { public_key: mixed_key, sign: |key, message| mixed(key, message, true) };

/// The key has a component of order 8, which the challenge does not cancel: only the cofactored equation
/// holds.
pub const KEY_MIXED_SHOWN: UnusualSignature =
    UnusualSignature { public_key: mixed_key, sign: |key, message| mixed(key, message, false) };

/// The key and R have components of order 8 that cancel each other.
pub const KEY_AND_R_MIXED: UnusualSignature =
    UnusualSignature { public_key: mixed_key, sign: mixed_with_balanced_r };

/// The group order L, 2^252 + 27742317777372353535851937790883648493 (RFC 8032 §5.1).
pub const L: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

const IDENTITY: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    bytes
};

const MINUS_ZERO: [u8; 32] = {
    let mut bytes = IDENTITY;
    bytes[31] = 0x80;
    bytes
};

/// The number 1 + p = 2^255 − 18.
const ONE_PLUS_P: [u8; 32] = {
    let mut bytes = [0xff; 32];
    bytes[0] = 0xee;
    bytes[31] = 0x7f;
    bytes
};

fn secret() -> Scalar {
    A.signing_key().to_scalar()
}

fn join(r: [u8; 32], s: [u8; 32]) -> [u8; 64] {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&r);
    signature[32..].copy_from_slice(&s);
    signature
}

fn challenge(r: &[u8; 32], key: &[u8; 32], message: &[u8]) -> Scalar {
    let hash = Sha512::new().chain_update(r).chain_update(key).chain_update(message);
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

/// Makes a signature by A in which R is this encoding of the identity.
fn with_zero_r(r: [u8; 32], message: &[u8]) -> [u8; 64] {
    join(r, (challenge(&r, &A.public_key(), message) * secret()).to_bytes())
}

/// Makes a signature without a secret, by a key of this order: [k]A is the identity for one in `order`
/// challenges, so a few attempts suffice.
fn forged(key: &[u8; 32], message: &[u8], order: u8) -> [u8; 64] {
    for nonce in 1_u64.. {
        let nonce = Scalar::from(nonce);
        let r = (ED25519_BASEPOINT_TABLE * &nonce).compress().0;
        if challenge(&r, key, message).to_bytes()[0].is_multiple_of(order) {
            return join(r, nonce.to_bytes());
        }
    }
    unreachable!("one challenge of eight fits")
}

fn order_8(has_y8: bool) -> [u8; 32] {
    // The first byte of y8 is 0xc7, and that of p − y8 is 0x26.
    let wanted = if has_y8 { 0xc7 } else { 0x26 };
    let encoded = EIGHT_TORSION.map(|point| point.compress().0);
    encoded.into_iter().find(|bytes| bytes[0] == wanted).expect("both are points of order 8")
}

/// Returns the encoding of the smallest y above 1 that does not belong to a point.
fn off_curve() -> [u8; 32] {
    let encodings = (2..=u8::MAX).map(|y| {
        let mut bytes = [0; 32];
        bytes[0] = y;
        bytes
    });
    let is_off = |bytes: &[u8; 32]| CompressedEdwardsY(*bytes).decompress().is_none();
    encodings.into_iter().find(is_off).expect("half of all y are on no point")
}

/// Returns the encoding of y + p for the smallest y above 1 that belongs to a point.
fn not_reduced() -> [u8; 32] {
    // The first byte of p is 0xed, so up to 18 can be added to it.
    let encodings = (2..19).map(|y| {
        let mut bytes = [0xff; 32];
        bytes[0] = 0xed + y;
        bytes[31] = 0x7f;
        bytes
    });
    let is_on = |bytes: &[u8; 32]| CompressedEdwardsY(*bytes).decompress().is_some();
    encodings.into_iter().find(is_on).expect("half of all y are on a point")
}

/// Returns A's public key with an added component of order 8.
fn mixed_key() -> [u8; 32] {
    let honest = CompressedEdwardsY(A.public_key()).decompress().expect("an honest key");
    (honest + EIGHT_TORSION[1]).compress().0
}

fn mixed(key: &[u8; 32], message: &[u8], is_hidden: bool) -> [u8; 64] {
    for nonce in 1_u64.. {
        let nonce = Scalar::from(nonce);
        let r = (ED25519_BASEPOINT_TABLE * &nonce).compress().0;
        let k = challenge(&r, key, message);
        if k.to_bytes()[0].is_multiple_of(8) == is_hidden {
            return join(r, (nonce + k * secret()).to_bytes());
        }
    }
    unreachable!("one challenge of eight is a multiple of 8")
}

fn mixed_with_balanced_r(key: &[u8; 32], message: &[u8]) -> [u8; 64] {
    for nonce in 1_u64.. {
        let nonce = Scalar::from(nonce);
        for torsion in &EIGHT_TORSION[1..] {
            let r = (ED25519_BASEPOINT_TABLE * &nonce + torsion).compress().0;
            let k = challenge(&r, key, message);
            let shown = EIGHT_TORSION[usize::from(k.to_bytes()[0] & 7)];
            if torsion + shown == EdwardsPoint::identity() {
                return join(r, (nonce + k * secret()).to_bytes());
            }
        }
    }
    unreachable!("one choice of eight fits")
}

/// Adds L to S, which is the same number modulo L. A shorter signature contains S only in part or not at
/// all.
pub fn add_group_order(signature: &mut [u8]) {
    let mut carry = 0;
    for (byte, order) in signature.iter_mut().skip(32).zip(L) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the equation times 8, which RFC 8032 §5.1.7 allows a verifier to do.
    fn holds_with_cofactor(odd: &UnusualSignature, message: &[u8]) -> bool {
        let signature = odd.sign(message);
        let (r, s): ([u8; 32], [u8; 32]) =
            (signature[..32].try_into().unwrap(), signature[32..].try_into().unwrap());
        let point = |bytes| CompressedEdwardsY(bytes).decompress().unwrap();
        let k = challenge(&r, &odd.public_key(), message);
        let s = Scalar::from_bytes_mod_order(s);
        let rest = ED25519_BASEPOINT_TABLE * &s - point(odd.public_key()) * k - point(r);
        rest.mul_by_cofactor() == EdwardsPoint::identity()
    }

    #[test]
    fn a_lax_verifier_would_accept_what_the_strict_one_must_refuse() {
        for odd in [
            &S_PLUS_L,
            &R_IDENTITY,
            &R_ORDER_8,
            &R_MIXED,
            &KEY_IDENTITY,
            &KEY_ORDER_4,
            &KEY_ORDER_8,
            &KEY_ORDER_8_NEGATED,
            &KEY_MIXED_SHOWN,
        ] {
            assert!(holds_with_cofactor(odd, b"message"), "{odd:?}");
        }
    }

    #[test]
    fn torsion_is_what_the_names_say() {
        let y8 = [0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f];
        assert_eq!(KEY_ORDER_8.public_key()[..8], y8);
        assert_eq!(KEY_ORDER_4.public_key()[..31], [0; 31]);
    }
}
