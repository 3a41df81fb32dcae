//! XMSS and XMSS^MT signature verification (RFC 8391, SP 800-208).
//!
//! A public key begins with the number of its parameter set. The number has a different meaning in XMSS and XMSS^MT,
//! so the caller must supply the [`Scheme`]. Every set of both standards is implemented. Only some are approved by SP
//! 800-208. The others are refused, unless the caller accepts [`Sets::Every`].
//!
//! A signature has only one valid encoding: its length follows from the parameter set, and its index is below 2^h.
//! The signer must use each index only once. A verifier cannot detect reuse.
//!
//! On a hart with lanes, several chains and several L-tree nodes are hashed at once (see `crate::chains`). The few
//! nodes of the authentication path are hashed one after the other, because each depends on the previous one.

mod sets;
#[cfg(test)]
mod tests;
mod tree;

pub use sets::{Scheme, Sets, XmssParameterSet};

use crate::Kernels;
use crate::chains::Digits;
#[cfg(any(feature = "engine", test))]
use crate::engines::{RootRequest, RootScheme};
use crate::pattern::fill_with_pattern;
use crate::short::{Room, Stream, Words, load, to_bytes};
use crate::signature::{Comparison, Rejection, Verifier};
pub use hartlock_algorithm::XmssSet;
use tree::{Tree, TreeAddress};

impl Verifier for XmssSet {
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
        // The first word of the key must match the parameter set (RFC 8391 §4.1.7).
        if !public_key.starts_with(&set.oid().to_be_bytes()) {
            return Err(Rejection::InvalidKey);
        }
        let scheme = if set.layers() == 1 { Scheme::Xmss } else { Scheme::XmssMt };
        let (message, sets) = (&[message], Sets::Approved);
        compare_in(kernels, (scheme, sets), public_key, message, signature, both)
    }
}

/// Verifies a signature. `message` is split into pieces (RFC 8391 §4.1.10, §4.2.5).
///
/// # Errors
///
/// `UnsupportedKey` for an unknown parameter set, or for one that `sets` does not accept. `InvalidKey` for a key of
/// the wrong length. `SignatureLength`, `IndexOutOfRange` or `Mismatch` for the signature.
pub fn verify(
    kernels: &Kernels,
    scheme: Scheme,
    sets: Sets,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, scheme, sets, public_key, message, signature)?.check()
}

/// Computes the root from the signature, and returns it with the root in the key.
///
/// # Errors
///
/// The errors of [`verify`], except for `Mismatch`. `Ok` does not mean that the signature is valid.
pub fn compare(
    kernels: &Kernels,
    scheme: Scheme,
    sets: Sets,
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut both = None;
    compare_in(kernels, (scheme, sets), public_key, message, signature, &mut both)?;
    both.ok_or(Rejection::Mismatch)
}

fn compare_in(
    kernels: &Kernels,
    (scheme, sets): (Scheme, Sets),
    public_key: &[u8],
    message: &[&[u8]],
    signature: &[u8],
    both: &mut Option<Comparison>,
) -> Result<(), Rejection> {
    let (oid, values) = public_key.split_first_chunk().ok_or(Rejection::InvalidKey)?;
    let set =
        XmssParameterSet::of(scheme, u32::from_be_bytes(*oid)).ok_or(Rejection::UnsupportedKey)?;
    if public_key.len() != set.public_key_len() {
        return Err(Rejection::InvalidKey);
    }
    if sets == Sets::Approved && !set.is_approved() {
        return Err(Rejection::UnsupportedKey);
    }
    if signature.len() != set.signature_len() {
        return Err(Rejection::SignatureLength);
    }
    let n = set.n;
    let (root, seed) = values.split_at_checked(n).ok_or(Rejection::InvalidKey)?;

    let mut rest = signature;
    // The index has at most eight bytes, because h is at most 60.
    let mut index = 0_u64;
    for byte in take(&mut rest, set.index_len)? {
        index = index << 8 | u64::from(*byte);
    }
    if index >> set.h != 0 {
        return Err(Rejection::IndexOutOfRange);
    }
    #[cfg(any(feature = "engine", test))]
    {
        let scheme = match scheme {
            Scheme::Xmss => RootScheme::Xmss,
            Scheme::XmssMt => RootScheme::XmssMt,
        };
        let request = RootRequest { scheme, public_key, message, signature };
        if kernels.compare_root(&request, root, both).is_some() {
            return Ok(());
        }
    }
    let randomness = take(&mut rest, n)?;
    let mut node = message_digest(kernels, &set, [randomness, root], index, message);

    let mut room = Room::new();
    let mut tree = Tree::new(kernels, &set, seed, &mut room);
    // This loop is that of RFC 8391 §4.2.5. XMSS has only one layer.
    for layer in 0..set.d {
        let idx_leaf = (index & !(u64::MAX << set.layer_height)) as u32;
        index >>= set.layer_height;
        let address = TreeAddress { layer, tree: index };
        let sig_ots = take(&mut rest, set.chains().wrapping_mul(n))?;
        let auth = take(&mut rest, (set.layer_height as usize).wrapping_mul(n))?;
        let digits = Digits::of(&node, n, tree::W_BITS, set.chains());
        node = tree.root(&mut room, address, idx_leaf, &digits, sig_ots, auth);
    }
    *both = Some(Comparison::of(to_bytes(&node).get(..n).unwrap_or_default(), root)?);
    Ok(())
}

/// Runs the known-answer test and returns true if it passes. The root of a signature of XMSS-SHA2_10_192 must be
/// right, and different for another message. The test takes the time of two verifications.
///
/// The signature is not valid. A separate program, which was written from the standards, computed its root. A valid
/// signature cannot be constructed without a private key, because the message digest depends on the root in the key.
pub fn self_test(kernels: &Kernels) -> bool {
    const ROOT: [u8; 24] = *b"\x8c\x96\x7c\x3e\x8b\x14\x05\xae\x30\xc2\x4d\xf2\
        \x48\xeb\xc1\xc0\xb3\x9c\x92\xcc\x7d\xcf\x56\x7a";
    let (mut key, mut signature) = ([0; KAT_KEY_LEN], [0; KAT_SIGNATURE_LEN]);
    fill_with_pattern(&mut signature, 1);
    if let Some((oid, values)) = key.split_first_chunk_mut() {
        *oid = KAT_OID.to_be_bytes();
        fill_with_pattern(values, 2);
    }
    if let Some(index) = signature.first_chunk_mut() {
        *index = 0x2a5_u32.to_be_bytes();
    }
    let root_is_right = |message: &[u8]| {
        compare(kernels, Scheme::Xmss, Sets::Approved, &key, &[message], &signature)
            .is_ok_and(|comparison| comparison.computed.starts_with(&ROOT))
    };
    root_is_right(b"abc") && !root_is_right(b"abd")
}

/// Parameter set XMSS-SHA2_10_192.
const KAT_OID: u32 = 0x0d;
const KAT_KEY_LEN: usize = 4 + 2 * 24;
const KAT_SIGNATURE_LEN: usize = 4 + (1 + 51 + 10) * 24;

/// Computes H_msg (RFC 8391 §4.1.9, §5.1; SP 800-208 §5) of the prefix, r, the root and the index in n bytes, and the
/// message.
fn message_digest(
    kernels: &Kernels,
    set: &XmssParameterSet,
    randomness_and_root: [&[u8]; 2],
    index: u64,
    message: &[&[u8]],
) -> Words {
    let mut hash = Stream::new(kernels, set.function);
    let number = |value: u64| {
        let mut bytes = [0; 64];
        if let Some(tail) = bytes.last_chunk_mut() {
            *tail = value.to_be_bytes();
        }
        bytes
    };
    // The prefix is the end of 64 bytes. The shortest prefix has 4 bytes.
    let prefix = number(tree::PREFIX_MESSAGE.into());
    hash.update(prefix.get(64_usize.wrapping_sub(set.prefix_len)..).unwrap_or_default());
    for part in randomness_and_root {
        hash.update(part);
    }
    hash.update(number(index).get(64_usize.wrapping_sub(set.n)..).unwrap_or_default());
    for piece in message {
        hash.update(piece);
    }
    let mut digest = [0; 8];
    // The digest has n bytes, and the rest of the array stays zero. No code reads the rest.
    load(&mut digest, to_bytes(&hash.finalize()).get(..set.n).unwrap_or_default());
    digest
}

/// Removes the next `len` bytes from `rest`. Lengths were checked before, so this does not fail.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8], Rejection> {
    let (now, later) = rest.split_at_checked(len).ok_or(Rejection::SignatureLength)?;
    *rest = later;
    Ok(now)
}
