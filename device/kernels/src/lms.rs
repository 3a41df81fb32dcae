//! LMS and HSS signature verification (RFC 8554, SP 800-208), with SHA-256 and SHA-256/192.
//!
//! The parameter sets with SHAKE256 are refused as unsupported, because an image that verifies only LMS would
//! otherwise contain a sponge for them.
//!
//! A key begins with the type codes of its tree, and a signature repeats them. A signature with other codes is
//! refused before anything is hashed. An HSS key has a number of levels before the LMS key, and has separate
//! functions in [`hss`].
//!
//! A signature has only one valid encoding: its length follows from the type codes, and the number of the one-time
//! key is below 2^h. The signer must use each one-time key only once. A verifier cannot detect reuse.
//!
//! On a hart with lanes, several chains are hashed at once (see `crate::chains`). The nodes of the authentication
//! path are hashed one after the other, because each depends on the previous one.

pub mod hss;
mod ots;
#[cfg(test)]
mod tests;

use crate::Kernels;
#[cfg(any(feature = "engine", test))]
use crate::engines::{RootRequest, RootScheme};
use crate::pattern::fill_with_pattern;
use crate::short::{Job, MESSAGES, Sink, Words, Writer, be32, load, to_bytes};
use crate::signature::{Comparison, Rejection, Verifier};
pub use hartlock_algorithm::HssSet;
use ots::Ots;

/// LMS type code of SHA-256 with 32 bytes and height 5. The codes up to height 25 follow (RFC 8554 §8; SP 800-208
/// §4.2).
const SHA256_M32_H5: u32 = 0x05;
/// LMS type code of SHA-256/192 with height 5. The codes up to height 25 follow.
const SHA256_M24_H5: u32 = 0x0a;

/// Length of the key identifier I in bytes.
const IDENTIFIER_LEN: usize = 16;

/// Domain separators of the hashes (RFC 8554 §7.1).
const D_LEAF: u64 = 0x8282;
const D_INTR: u64 = 0x8383;

impl Verifier for HssSet {
    fn compare(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        let mut both = None;
        Self::compare_in(kernels, set, public_key, message, signature, &mut both)?;
        both.ok_or(Rejection::Mismatch)
    }

    fn compare_in(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
        both: &mut Option<Comparison>,
    ) -> Result<(), Rejection> {
        // The first three words of the key must match the parameter set (RFC 8554 §6.1, §5.3).
        let mut rest = public_key;
        for number in [set.levels(), set.lms_type(), set.ots_type()] {
            if take_u32(&mut rest) != Some(u32::from(number)) {
                return Err(Rejection::InvalidKey);
            }
        }
        hss::compare_in(kernels, public_key, &[message], signature, both)
    }
}

/// Verifies an LMS signature. `message` is split into pieces (RFC 8554 §5.4.2).
///
/// # Errors
///
/// Every [`Rejection`] of [`compare`], and `Mismatch`.
pub fn verify(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, public_key, message, signature)?.check()
}

/// Computes the root from the signature, and returns it with the root in the key.
///
/// # Errors
///
/// `UnsupportedKey` for a type code without SHA-256. `InvalidKey` for a key of the wrong length, or if the hash
/// values of tree and one-time signature have different lengths. `OtherParameters`, `SignatureLength` and
/// `IndexOutOfRange` for the signature. `Ok` does not mean that the signature is valid.
pub fn compare(
    kernels: &Kernels,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut both = None;
    Key::parse_all(public_key)?.compare_all(kernels, message, signature, &mut both)?;
    both.ok_or(Rejection::Mismatch)
}

/// Runs the known-answer test and returns true if it passes. A signature with SHA-256/192, height 5 and digits of
/// four bits must be accepted, and must be refused for another message. The test takes the time of two verifications.
///
/// No private key made this signature. It is a byte pattern, and the key contains the root that a separate program,
/// which was written from the standards, computed for it.
pub fn self_test(kernels: &Kernels) -> bool {
    const ROOT: [u8; 24] = *b"\xe9\x59\x3a\xc9\xac\x1f\x77\x7e\x13\xb2\xb5\x85\
        \x10\x77\x6e\x80\x72\xdd\x35\xda\x78\xdd\xe5\x65";
    let (mut key, mut signature) = ([0; 48], [0; KAT_SIGNATURE_LEN]);
    fill_with_pattern(&mut signature, 1);
    let types = [SHA256_M24_H5, KAT_OTS_TYPE].map(u32::to_be_bytes);
    if let Some((front, rest)) = key.split_first_chunk_mut::<8>()
        && let Some((identifier, root)) = rest.split_first_chunk_mut::<IDENTIFIER_LEN>()
    {
        for (to, from) in front.iter_mut().zip(types.as_flattened()) {
            *to = *from;
        }
        fill_with_pattern(identifier, 2);
        for (to, from) in root.iter_mut().zip(ROOT) {
            *to = from;
        }
    }
    let [tree_type, ots_type] = types;
    for (at, value) in [(0, [0, 0, 0, 0x15]), (4, ots_type), (KAT_TREE_TYPE_AT, tree_type)] {
        for (to, from) in signature.iter_mut().skip(at).zip(value) {
            *to = from;
        }
    }
    let verdict = |message: &[u8]| verify(kernels, &key, &[message], &signature);
    verdict(b"abc") == Ok(()) && verdict(b"abd") == Err(Rejection::Mismatch)
}

/// LM-OTS type LMOTS_SHA256_N24_W4, which has 51 chains.
const KAT_OTS_TYPE: u32 = 7;
const KAT_TREE_TYPE_AT: usize = 8 + (1 + 51) * 24;
const KAT_SIGNATURE_LEN: usize = KAT_TREE_TYPE_AT + 4 + 5 * 24;

/// The public key of one LMS tree (RFC 8554 §5.3).
#[derive(Clone, Copy)]
struct Key<'a> {
    h: u32,
    lms_type: u32,
    ots: Ots,
    identifier: &'a [u8],
    root: &'a [u8],
    /// The encoded key.
    #[cfg(any(feature = "engine", test))]
    encoded: &'a [u8],
}

impl<'a> Key<'a> {
    /// Parses a key that fills `bytes` exactly.
    fn parse_all(bytes: &'a [u8]) -> Result<Self, Rejection> {
        let mut rest = bytes;
        match Self::parse(&mut rest, None) {
            Err(Rejection::SignatureLength) => Err(Rejection::InvalidKey),
            Ok(_) if !rest.is_empty() => Err(Rejection::InvalidKey),
            key => key,
        }
    }

    /// Parses a key at the start of `rest` and removes it from `rest`. `n_above` is the hash length of the tree above
    /// this one, if there is one. All trees of a key have the same hash length.
    fn parse(rest: &mut &'a [u8], n_above: Option<usize>) -> Result<Self, Rejection> {
        #[cfg(any(feature = "engine", test))]
        let bytes = *rest;
        let too_short = Rejection::SignatureLength;
        let lms_type = take_u32(rest).ok_or(too_short)?;
        let ots_type = take_u32(rest).ok_or(too_short)?;
        let (h, n) = tree_of(lms_type).ok_or(Rejection::UnsupportedKey)?;
        let ots = Ots::of(ots_type).ok_or(Rejection::UnsupportedKey)?;
        // A tree and its one-time keys have the same hash function (SP 800-208 §4). The same holds for all levels.
        if ots.n != n || n_above.is_some_and(|above| above != n) {
            return Err(Rejection::InvalidKey);
        }
        let identifier = take(rest, IDENTIFIER_LEN).ok_or(too_short)?;
        let root = take(rest, n).ok_or(too_short)?;
        Ok(Self {
            h,
            lms_type,
            ots,
            identifier,
            root,
            #[cfg(any(feature = "engine", test))]
            encoded: encoded_before(bytes, rest),
        })
    }

    /// Parses a signature that fills `signature` exactly, and computes both roots.
    fn compare_all(
        &self,
        kernels: &Kernels,
        message: &[&[u8]],
        signature: &[u8],
        both: &mut Option<Comparison>,
    ) -> Result<(), Rejection> {
        // The parsed values are used by reference, because a move costs the processor of the root of trust hundreds
        // of cycles.
        let parsed = Signature::parse(self, signature);
        let (signature, after) = parsed.as_ref().map_err(|rejection| *rejection)?;
        if !after.is_empty() {
            return Err(Rejection::SignatureLength);
        }
        if !signature.is_of_tree(self) {
            return Err(Rejection::IndexOutOfRange);
        }
        self.compare_in(kernels, message, signature, both)
    }

    /// Computes both roots (RFC 8554 algorithms 6a and 6b).
    fn compare_in(
        &self,
        kernels: &Kernels,
        message: &[&[u8]],
        signature: &Signature<'_>,
        both: &mut Option<Comparison>,
    ) -> Result<(), Rejection> {
        #[cfg(any(feature = "engine", test))]
        {
            let request = RootRequest {
                scheme: RootScheme::Lms,
                public_key: self.encoded,
                message,
                signature: signature.encoded,
            };
            if kernels.compare_root(&request, self.root, both).is_some() {
                return Ok(());
            }
        }
        let node = self.root_of(kernels, message, signature);
        let computed = to_bytes(&node);
        *both = Some(Comparison::of(computed.get(..self.ots.n).unwrap_or_default(), self.root)?);
        Ok(())
    }

    // The function is not inlined, because HSS also calls it, and its stack space is released when it returns.
    #[inline(never)]
    fn root_of(&self, kernels: &Kernels, message: &[&[u8]], signature: &Signature<'_>) -> Words {
        let q = signature.q;
        let mut identifier = [0; 2];
        load(&mut identifier, self.identifier);
        let mut chains = ots::Chains::new(kernels, self.ots, identifier, q);
        let public_key = chains.public_key(message, signature.ots);
        let n = chains.hasher.n;
        // Algorithm 6a, step 4: the leaves are numbered from 2^h, and the root has the number 1.
        let mut number = (1_u32 << self.h) | q;
        chains.room.put(0, &public_key);
        Self::node(&mut chains, number, D_LEAF, n);
        for sibling in signature.path.chunks_exact(self.ots.n.max(1)) {
            // The node is at the start of the room. Its parent replaces it there.
            let is_right = number & 1 == 1;
            if is_right {
                chains.room.copy(0, n, n);
            }
            chains.room.load(if is_right { 0 } else { n }, sibling);
            number >>= 1;
            Self::node(&mut chains, number, D_INTR, n.wrapping_mul(2));
        }
        chains.room.value(0, n)
    }

    /// Hashes a node from the first `count` words of the room and writes the result to the start of the room: H(I ‖
    /// u32str(r) ‖ u16str(D) ‖ values).
    #[inline(never)]
    fn node(chains: &mut ots::Chains<'_>, number: u32, what: u64, count: usize) {
        let ots::Chains { hasher, identifier, room, initial, .. } = chains;
        let shape = hasher.function.shape((count << 3).wrapping_add(22), 0);
        let mut message = Writer::at(MESSAGES);
        for word in *identifier {
            message.push(room, word);
        }
        // The head has six more bytes, so the following values are shifted by 48 bits.
        message.head(be32(number) | what << 32, 48);
        message.append(room, 0, count);
        message.finish(room, shape);
        hasher.digest(initial, room, (shape, 0), &[Job::NONE], Sink::Result);
    }
}

/// The signature of one LMS tree (RFC 8554 §5.4).
struct Signature<'a> {
    q: u32,
    /// Values C and y of the one-time signature.
    ots: &'a [u8],
    path: &'a [u8],
    /// The encoded signature.
    #[cfg(any(feature = "engine", test))]
    encoded: &'a [u8],
}

impl<'a> Signature<'a> {
    /// Parses a signature for `key`, and returns it with the bytes that follow it.
    fn parse(key: &Key<'_>, bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Rejection> {
        let mut rest = bytes;
        let too_short = Rejection::SignatureLength;
        let q = take_u32(&mut rest).ok_or(too_short)?;
        // Types are checked before lengths, so that a signature with other parameters is reported as such.
        if take_u32(&mut rest).ok_or(too_short)? != key.ots.ots_type {
            return Err(Rejection::OtherParameters);
        }
        let ots = take(&mut rest, key.ots.signature_len()).ok_or(too_short)?;
        if take_u32(&mut rest).ok_or(too_short)? != key.lms_type {
            return Err(Rejection::OtherParameters);
        }
        let path_len = (key.h as usize).wrapping_mul(key.ots.n);
        let path = take(&mut rest, path_len).ok_or(too_short)?;
        let signature = Self {
            q,
            ots,
            path,
            #[cfg(any(feature = "engine", test))]
            encoded: encoded_before(bytes, rest),
        };
        Ok((signature, rest))
    }

    /// Returns true if the tree has the leaf of this signature. If it returns false, nothing may be computed.
    const fn is_of_tree(&self, key: &Key<'_>) -> bool {
        self.q >> key.h == 0
    }
}

/// Returns height and hash length in bytes of an LMS type (RFC 8554 §5.1; SP 800-208 §4.2). Returns `None` if the
/// type does not use SHA-256.
fn tree_of(lms_type: u32) -> Option<(u32, usize)> {
    let (n, height) = match lms_type {
        SHA256_M32_H5..SHA256_M24_H5 => (32, lms_type.wrapping_sub(SHA256_M32_H5)),
        SHA256_M24_H5..0x0f => (24, lms_type.wrapping_sub(SHA256_M24_H5)),
        _ => return None,
    };
    // Each hash length has five heights: 5, 10, 15, 20, 25.
    Some((height.wrapping_add(1).wrapping_mul(5), n))
}

/// Returns the part of `bytes` before `rest`.
#[cfg(any(feature = "engine", test))]
fn encoded_before<'a>(bytes: &'a [u8], rest: &[u8]) -> &'a [u8] {
    bytes.get(..bytes.len().wrapping_sub(rest.len())).unwrap_or_default()
}

/// Removes the next `len` bytes from `rest`. Returns `None` if `rest` is shorter.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (now, later) = rest.split_at_checked(len)?;
    *rest = later;
    Some(now)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (now, later) = rest.split_first_chunk()?;
    *rest = later;
    Some(u32::from_be_bytes(*now))
}
