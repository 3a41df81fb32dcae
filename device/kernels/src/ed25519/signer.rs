//! Ed25519 key pairs and signatures (RFC 8032 §5.1.5, §5.1.6), for a boot stage that signs a statement about the
//! program that it starts.
//!
//! The caller supplies the hash: SHA-512 of the standard, or SHA3-512 of [`crate::ed25519_keystone`]. Do not use one
//! scalar with both.
//!
//! # Secrets
//!
//! Neither the executed instructions nor the accessed addresses depend on scalar, prefix or nonce. The multiplication
//! uses a comb of signed odd digits, so that each column adds a point that is not the neutral element. Each table
//! entry is selected by reading the whole table. `cargo xtask timing` requires that instructions and addresses are
//! equal for many secrets. Power, electromagnetic emission, and cores whose timing depends on operands are out of
//! scope.
//!
//! A signature is verified before it is returned, because the scalar can be computed from a faulty signature. The
//! public key belongs to the key pair and is not an argument, because signatures with two public keys for one scalar
//! would also reveal the scalar. Secrets stay where the caller keeps them: a key pair has a reference to its expanded
//! key, and whatever is computed from it is on a part of the stack that is overwritten ([`secret::confined`]).

use core::hint::black_box;

use super::comb::COMB;
use super::field::Fe;
use super::point::{Addend, Completed, Extended, Projective};
use super::scalar::{L, Scalar};
use super::{PUBLIC_KEY_LEN, SIGNATURE_LEN, solve};
use crate::Hash;
use crate::secret::{self, Secret};

/// Parameters of the comb: number of teeth, number of columns, and number of columns for each of the two tables.
const TEETH: usize = 5;
const COLUMNS: usize = 52;
const HALF: usize = COLUMNS / 2;
/// Number of digits of a scalar. Each digit is 1 or -1.
const DIGITS: usize = TEETH * COLUMNS;
/// Number of words that hold these digits, one bit each.
const WORDS: usize = DIGITS.div_ceil(64);

/// Reason why there is no key pair or no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The scalar, or the nonce of a message, is zero modulo L.
    Zero,
    /// A signature that was just made does not verify, which indicates a fault.
    NotVerified,
}

/// A secret key with its public key. The secret key is in expanded form: the scalar, which is clamped here if it is not
/// yet, and the prefix that derives nonces (RFC 8032 §5.1.5 steps 1 and 2). These are the digest of a seed, or the 64
/// bytes that Keystone stores as a key.
pub struct KeyPair<'a> {
    expanded: &'a [u8; 64],
    public_key: [u8; PUBLIC_KEY_LEN],
}

impl<'a> KeyPair<'a> {
    /// Makes a key pair and computes its public key.
    ///
    /// # Errors
    /// `Zero` if the scalar is zero modulo L.
    pub fn new(expanded: &'a [u8; 64]) -> Result<Self, Error> {
        let mut public_key = [0; PUBLIC_KEY_LEN];
        secret::confined(|| base_product(&scalar(expanded).0, &mut public_key))?;
        Ok(Self { expanded, public_key })
    }

    /// Returns the public key, which is the encoded point A.
    pub const fn public_key(&self) -> &[u8; PUBLIC_KEY_LEN] {
        &self.public_key
    }

    /// Signs a message (RFC 8032 §5.1.6) with `new` as the hash for all purposes, and verifies the signature.
    ///
    /// # Errors
    /// `Zero` if the nonce is zero modulo L, `NotVerified` if the signature does not verify.
    pub fn sign<H: Hash<Output = [u8; 64]>>(
        &self,
        new: impl Fn() -> H,
        message: &[u8],
    ) -> Result<[u8; SIGNATURE_LEN], Error> {
        let mut signature = [0; SIGNATURE_LEN];
        secret::confined(|| self.sign_into(&new, message, &mut signature))?;
        // The verification uses a different multiplication, with another table and other code.
        let expected = solve(&self.public_key, message, &signature, &new);
        match expected {
            Ok(r) if signature.starts_with(&r) && black_box(&signature).starts_with(&r) => {
                Ok(signature)
            }
            _ => {
                signature.fill(0);
                Err(Error::NotVerified)
            }
        }
    }

    fn sign_into<H: Hash<Output = [u8; 64]>>(
        &self,
        new: &impl Fn() -> H,
        message: &[u8],
        signature: &mut [u8; SIGNATURE_LEN],
    ) -> Result<(), Error> {
        let digest = |parts: &[&[u8]]| {
            let mut hash = new();
            parts.iter().for_each(|part| hash.update(part));
            hash.finalize()
        };
        let (_, prefix) = self.expanded.split_at(32);
        let nonce = Wiped(Scalar::from_digest(&digest(&[prefix, message])).words());
        let mut r = [0; PUBLIC_KEY_LEN];
        base_product(&nonce.0, &mut r)?;
        let challenge = Scalar::from_digest(&digest(&[&r, &self.public_key, message])).words();
        let s = multiply_add(&challenge, &scalar(self.expanded).0, &nonce.0);
        for (to, from) in signature.iter_mut().zip(r.iter().chain(s.as_flattened())) {
            *to = *from;
        }
        Ok(())
    }
}

impl core::fmt::Debug for KeyPair<'_> {
    /// Formats the key pair without its secrets.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyPair").field("public_key", &self.public_key).finish_non_exhaustive()
    }
}

/// A secret number in words, least significant word first. It is overwritten when it is dropped.
struct Wiped([u64; 4]);

impl Drop for Wiped {
    fn drop(&mut self) {
        secret::wipe(&mut self.0);
    }
}

/// Returns the scalar of an expanded key, clamped and reduced modulo L, the order of B.
fn scalar(expanded: &[u8; 64]) -> Wiped {
    let mut digest = Secret::<64>::ZERO;
    for (to, from) in digest.iter_mut().zip(expanded).take(32) {
        *to = *from;
    }
    digest[0] &= 0xf8;
    digest[31] = digest[31] & 0x7f | 0x40;
    Wiped(Scalar::from_digest(&digest).words())
}

/// Computes a · b + c modulo L for numbers below L. The sum has eight words, which are then reduced.
fn multiply_add(a: &[u64; 4], b: &[u64; 4], c: &[u64; 4]) -> [[u8; 8]; 4] {
    let mut sum = [0_u64; 8];
    for (to, from) in sum.iter_mut().zip(c) {
        *to = *from;
    }
    for (i, a) in a.iter().enumerate() {
        let mut carry = 0_u64;
        for (j, b) in b.iter().enumerate() {
            let Some(word) = sum.get_mut(i.wrapping_add(j)) else { continue };
            let product = u128::from(*a)
                .wrapping_mul(u128::from(*b))
                .wrapping_add(u128::from(*word))
                .wrapping_add(u128::from(carry));
            *word = product as u64;
            carry = (product >> 64) as u64;
        }
        // No previous row has written this word, and c is shorter.
        if let Some(word) = sum.get_mut(i.wrapping_add(4)) {
            *word = word.wrapping_add(carry);
        }
    }
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(sum) {
        *bytes = word.to_le_bytes();
    }
    Scalar::from_digest(&bytes).words().map(u64::to_le_bytes)
}

/// Computes the encoding of \[k\]B for a nonzero k below L.
fn base_product(k: &[u64; 4], encoded: &mut [u8; PUBLIC_KEY_LEN]) -> Result<(), Error> {
    if black_box(k.iter().fold(0, |bits, word| bits | word)) == 0 {
        return Err(Error::Zero);
    }
    let signs = Signs::of(k);
    let (mut next, mut projective) = (Completed::NEUTRAL, Projective::NEUTRAL);
    let mut point = Extended::NEUTRAL;
    for column in (0..HALF).rev() {
        next.project(&mut projective);
        next.set_double(&projective);
        for (table, first) in COMB.iter().zip([0, HALF]) {
            let addend = signs.entry(table, first.wrapping_add(column));
            next.extend(&mut point);
            next.set_sum(&point, &addend, None, false);
        }
    }
    next.project(&mut projective);
    *encoded = projective.encode();
    Ok(())
}

/// A number as a sum of powers of two with signs. Bit i is set if 2^i is added, and clear if it is subtracted.
struct Signs([u64; WORDS]);

impl Signs {
    /// Returns the signs of k, or of k + L if k is even. An odd number below 2^DIGITS equals (2s + 1) - 2^DIGITS,
    /// where the bits of s are the signs. The most significant sign is positive.
    fn of(k: &[u64; 4]) -> Self {
        let [low, ..] = k;
        let is_even = black_box(!low & 1).wrapping_neg();
        let mut odd = [0; WORDS];
        let mut carry = false;
        for ((to, word), l) in odd.iter_mut().zip(k).zip(L) {
            (*to, carry) = word.carrying_add(l & is_even, carry);
        }
        // The sum is below 2^254, so there is no carry out. (odd + 2^DIGITS - 1) / 2 is a right shift with one more
        // bit set.
        let mut signs = [0; WORDS];
        let above = odd.iter().skip(1).chain([&0]);
        for ((to, word), above) in signs.iter_mut().zip(&odd).zip(above) {
            *to = word >> 1 | above << 63;
        }
        if let Some(highest) = signs.last_mut() {
            *highest |= 1 << ((DIGITS - 1) % 64);
        }
        Self(signs)
    }

    /// Returns all ones if the power is added, zero if it is subtracted.
    fn mask(&self, digit: usize) -> u64 {
        let word = self.0.get(digit / 64).copied().unwrap_or_default();
        black_box(word >> (digit % 64) & 1).wrapping_neg()
    }

    /// Returns the sum of the powers of a column, multiplied by B. The table entries have a positive most significant
    /// power, and the sign is applied afterwards.
    fn entry(&self, table: &[Addend; 16], column: usize) -> Addend {
        let tooth = |tooth: usize| self.mask(tooth.wrapping_mul(COLUMNS).wrapping_add(column));
        let is_positive = tooth(TEETH - 1);
        let index = (0..TEETH - 1).fold(0, |index, number| {
            // The bit is 1 if the sign equals that of the most significant power.
            let is_same = !(tooth(number) ^ is_positive) & 1;
            index | is_same << number
        });
        let (mut plus, mut minus, mut twice_dt) = (Fe::ZERO, Fe::ZERO, Fe::ZERO);
        for (number, entry) in (0_u64..).zip(table) {
            let difference = number ^ index;
            // A difference of zero borrows when 1 is subtracted.
            let is_it = black_box(difference.wrapping_sub(1) >> 63).wrapping_neg();
            plus.or_masked(&entry.y_plus_x, is_it);
            minus.or_masked(&entry.y_minus_x, is_it);
            twice_dt.or_masked(&entry.twice_dt, is_it);
        }
        // The negative of a point has the opposite x. So y + x and y - x are exchanged, and 2dt is negated.
        Addend {
            y_plus_x: choose(&plus, &minus, is_positive),
            y_minus_x: choose(&minus, &plus, is_positive),
            twice_dt: choose(&twice_dt, &twice_dt.neg(), is_positive),
        }
    }
}

/// Returns `a` if the mask is all ones, `b` if it is zero.
fn choose(a: &Fe, b: &Fe, mask: u64) -> Fe {
    let mut chosen = Fe::ZERO;
    chosen.or_masked(a, mask);
    chosen.or_masked(b, !mask);
    chosen
}

#[cfg(test)]
mod tests;
