//! SLH-DSA signature verification (FIPS 205) for all twelve parameter sets.
//!
//! The caller supplies the parameter set together with the public key. A signature for another set has the wrong
//! length or does not verify. A signature has only one valid encoding, the sequence of its n-byte values, so only its
//! length is checked beforehand.
//!
//! # Cost
//!
//! Nearly all work is hashing of single blocks with the kernels of the hart. Messages of the hash functions are kept
//! in place (`functions.rs`), and independent messages are hashed together on a hart with lanes (`lanes.rs`).
//! SLH-DSA-SHA2-128s takes about 2,200 compressions of SHA-256. On rv64gc it takes 9 % more instructions than one
//! long message with the same number of blocks.
//!
//! There is no `self_test`, because the shortest signature has 7,856 bytes, which are too many for a boot stage. A
//! test on a hart could find only faults of its hash kernels, which have known-answer tests.

mod functions;
mod lanes;
mod parameters;
#[cfg(test)]
mod tests;

#[cfg(any(feature = "engine", test))]
use crate::engines::{RootRequest, RootScheme};
use crate::keccak::{FULL_ROUNDS, RATE_256, Sponge};
use crate::sha2::{Sha256, Sha512};
use crate::signature::{Comparison, Rejection, Verifier};
use crate::{Hash, Kernels};
pub use hartlock_algorithm::SlhDsaSet;

use functions::{AlignedBlock, Functions, KeyPairAddress, Kind, Primitive, part, put};
use lanes::{LAST_STEP, Lanes, climb, run_chains, side};
use parameters::{CHECKSUM_DIGITS, MAX_CHAINS, MAX_N, SlhDsaParameters};

pub use crate::signature::MAX_CONTEXT_LEN;

/// The signed message, with the interface that signed it. A signature of one interface is not valid for another.
#[derive(Clone, Copy, Debug)]
pub enum SlhDsaMessage<'a> {
    /// The message of the pure version (§10.2.1, §10.3 algorithm 24).
    Pure {
        /// Context string of the signer, with at most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// The message.
        message: &'a [u8],
    },
    /// The digest of a pre-hashed message (§10.2.2, §10.3 algorithm 25). The caller must make sure that `oid` names a
    /// hash function, and that `digest` has the length of its output.
    PreHashed {
        /// Context string of the signer, with at most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// DER encoding of the object identifier of the hash function.
        oid: &'a [u8],
        /// The digest of the message.
        digest: &'a [u8],
    },
    /// The message of the internal interface (§9.3). No prefix separates it from messages of the other interfaces.
    Internal(&'a [u8]),
}

impl Verifier for SlhDsaSet {
    fn compare(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        compare(kernels, set, public_key, SlhDsaMessage::Pure { context: &[], message }, signature)
    }

    fn compare_in(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
        both: &mut Option<Comparison>,
    ) -> Result<(), Rejection> {
        let message = SlhDsaMessage::Pure { context: &[], message };
        compare_in(kernels, set, public_key, message, signature, both)
    }
}

/// Verifies a signature.
///
/// # Errors
/// The errors of [`compare`], and `Mismatch` if the signature is not valid.
pub fn verify(
    kernels: &Kernels,
    set: SlhDsaSet,
    public_key: &[u8],
    message: SlhDsaMessage<'_>,
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, set, public_key, message, signature)?.check()
}

/// Computes the root of the hypertree from the signature (§9.3, algorithm 20), and returns it with `PK.root`. Both
/// have n bytes.
///
/// # Errors
/// `InvalidKey` or `SignatureLength` if key or signature does not have the length of the parameter set, and
/// `ContextLength`. `Ok` does not mean that the signature is valid.
pub fn compare(
    kernels: &Kernels,
    set: SlhDsaSet,
    public_key: &[u8],
    message: SlhDsaMessage<'_>,
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let mut both = None;
    compare_in(kernels, set, public_key, message, signature, &mut both)?;
    both.ok_or(Rejection::Mismatch)
}

fn compare_in(
    kernels: &Kernels,
    set: SlhDsaSet,
    public_key: &[u8],
    message: SlhDsaMessage<'_>,
    signature: &[u8],
    both: &mut Option<Comparison>,
) -> Result<(), Rejection> {
    let parameters = &SlhDsaParameters::of(set);
    if public_key.len() != set.public_key_len() {
        return Err(Rejection::InvalidKey);
    }
    if signature.len() != set.signature_len() {
        return Err(Rejection::SignatureLength);
    }
    let (seed, claimed_root) =
        public_key.split_at_checked(parameters.n).ok_or(Rejection::InvalidKey)?;
    #[cfg(any(feature = "engine", test))]
    let whole = signature;
    let (randomizer, signature) =
        signature.split_at_checked(parameters.n).ok_or(Rejection::SignatureLength)?;
    let (fors_signature, layers) =
        signature.split_at_checked(parameters.fors_len()).ok_or(Rejection::SignatureLength)?;

    #[cfg(any(feature = "engine", test))]
    if set == SlhDsaSet::Sha2_128s {
        let scheme = RootScheme::SlhDsaSha2_128s;
        let compare = |message: &[&[u8]; 4]| {
            let request = RootRequest { scheme, public_key, message, signature: whole };
            kernels.compare_root(&request, claimed_root, both)
        };
        if with_pieces(message, compare)?.is_some() {
            return Ok(());
        }
    }
    let functions = Functions::new(kernels, parameters, set.is_shake(), seed);
    let mut digest = [0; MAX_DIGEST_LEN];
    let wanted = digest.get_mut(..parameters.digest_len()).unwrap_or_default();
    hash_message(&functions, randomizer, public_key, message, wanted)?;
    let root = root(&functions, parameters, &digest, fors_signature, layers);
    *both = Some(Comparison::of(part(&root, 0, parameters.n), claimed_root)?);
    Ok(())
}

/// Computes the root of the hypertree (§9.3, algorithm 20, steps 8 to 18), padded with zeros.
// The function is not inlined, because its data must not be on the stack while the message is hashed.
#[inline(never)]
fn root(
    functions: &Functions<'_>,
    parameters: &SlhDsaParameters,
    digest: &[u8],
    fors_signature: &[u8],
    layers: &[u8],
) -> [u8; MAX_N] {
    let place = Place::of(parameters, digest);
    let mut work =
        Work { functions, lanes: Lanes::NEW, long: AlignedBlock([0; LONG_LEN]), node: [0; MAX_N] };
    work.fors_key(parameters, &place, digest, fors_signature);
    work.hypertree_root(parameters, &place, layers);
    work.node
}

/// Size of the buffer for a message digest. A digest has at most 49 bytes, so that three bytes can be read from the
/// position of any of its bits.
const MAX_DIGEST_LEN: usize = 64;

/// Computes `H_msg` (§11.1, §11.2) of the message with the prefix of its interface (§10.2, §9.2).
// The function is not inlined for the same reason.
#[inline(never)]
fn hash_message(
    functions: &Functions<'_>,
    randomizer: &[u8],
    public_key: &[u8],
    message: SlhDsaMessage<'_>,
    digest: &mut [u8],
) -> Result<(), Rejection> {
    with_pieces(message, |[prefix, context, oid, message]| {
        let pieces = &[randomizer, public_key, prefix, context, oid, message];
        hash_pieces_of_message(functions, randomizer, public_key, pieces, digest);
    })
}

/// Calls `work` with the encoded message M′ in four pieces (§10.2, §9.2).
fn with_pieces<T>(
    message: SlhDsaMessage<'_>,
    work: impl FnOnce(&[&[u8]; 4]) -> T,
) -> Result<T, Rejection> {
    let (is_pre_hashed, context, oid, message) = match message {
        SlhDsaMessage::Pure { context, message } => (Some(0), context, Default::default(), message),
        SlhDsaMessage::PreHashed { context, oid, digest } => (Some(1), context, oid, digest),
        SlhDsaMessage::Internal(message) => (None, Default::default(), Default::default(), message),
    };
    let context_len = u8::try_from(context.len()).map_err(|_| Rejection::ContextLength)?;
    let prefix = is_pre_hashed.map(|number| [number, context_len]);
    let prefix = prefix.as_ref().map_or(&[][..], |prefix| prefix);
    Ok(work(&[prefix, context, oid, message]))
}

/// Computes `H_msg` (§11.1, §11.2) of randomizer, key and M′.
fn hash_pieces_of_message(
    functions: &Functions<'_>,
    randomizer: &[u8],
    public_key: &[u8],
    pieces: &[&[u8]; 6],
    digest: &mut [u8],
) {
    // The SHA-2 sets hash the message, and expand the digest with MGF1 (RFC 8017 §B.2.1).
    let seed = part(public_key, 0, functions.n);
    match functions.h {
        Primitive::Sha256 => {
            let inner = hash_pieces::<Sha256>(functions.kernels, pieces);
            for (counter, part) in [0, 1].iter().zip(digest.chunks_mut(Sha256::OUTPUT_LEN)) {
                let pieces = &[randomizer, seed, &inner, &[0, 0, 0, *counter]];
                put(part, 0, &hash_pieces::<Sha256>(functions.kernels, pieces));
            }
        }
        Primitive::Sha512 => {
            let inner = hash_pieces::<Sha512>(functions.kernels, pieces);
            let pieces = &[randomizer, seed, &inner, &[0; 4]];
            put(digest, 0, &hash_pieces::<Sha512>(functions.kernels, pieces));
        }
        Primitive::Shake256 => {
            let mut sponge = Sponge::new(functions.kernels, RATE_256, FULL_ROUNDS);
            pieces.iter().for_each(|piece| sponge.absorb(piece));
            put(digest, 0, &sponge.finalize(0x1f));
        }
    }
}

#[inline(never)]
fn hash_pieces<H: Hash>(kernels: &Kernels, pieces: &[&[u8]]) -> H::Output {
    let mut hash = H::with(kernels);
    pieces.iter().for_each(|piece| hash.update(piece));
    hash.finalize()
}

/// The FORS key that signed: `idx_tree` and `idx_leaf` of algorithm 20, steps 8 to 13.
struct Place {
    tree: u64,
    leaf: u32,
}

impl Place {
    fn of(parameters: &SlhDsaParameters, digest: &[u8]) -> Self {
        let tree_len = parameters.tree_bits().div_ceil(8);
        let leaf_len = parameters.h_prime.div_ceil(8);
        let bytes = digest.get(parameters.md_len()..).unwrap_or_default();
        let (tree, bytes) = bytes.split_at_checked(tree_len).unwrap_or_default();
        let leaf = bytes.get(..leaf_len).unwrap_or_default();
        Self {
            tree: low_bits(to_int(tree), parameters.tree_bits()),
            leaf: low_bits(to_int(leaf), parameters.h_prime) as u32,
        }
    }
}

/// Computes toInt (§4.4, algorithm 2) for at most eight bytes.
fn to_int(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |total, byte| total << 8 | u64::from(*byte))
}

/// Returns the value modulo 2^count, for a count from 1 to 64.
fn low_bits(value: u64, count: usize) -> u64 {
    value & u64::MAX.wrapping_shr(64_usize.wrapping_sub(count) as u32)
}

/// Length of the buffer for the longest message of T_l. With SHAKE256 it has `PK.seed`, an address and 67 values of
/// 32 bytes. With SHA-512 it has 22 bytes and the values. Both include padding.
const LONG_LEN: usize = {
    let values = MAX_CHAINS * MAX_N;
    let shake = (MAX_N + 32 + values + 1).next_multiple_of(136);
    let sha512 = (22 + values + 17).next_multiple_of(128);
    if shake > sha512 { shake } else { sha512 }
};

/// All data that a verification modifies.
struct Work<'a> {
    functions: &'a Functions<'a>,
    lanes: Lanes<'a>,
    /// A message of T_l. Its result replaces the first value.
    long: AlignedBlock<[u8; LONG_LEN]>,
    /// Value that the next layer signs: the FORS key, then the root of a tree.
    node: [u8; MAX_N],
}

impl<'a> Work<'a> {
    /// Computes the FORS key (§8.4, algorithm 17).
    #[inline(never)]
    fn fors_key(
        &mut self,
        parameters: &SlhDsaParameters,
        place: &Place,
        digest: &[u8],
        mut signature: &'a [u8],
    ) {
        let functions = self.functions;
        let SlhDsaParameters { n, a, k, .. } = *parameters;
        let address =
            |kind| KeyPairAddress { kind, layer: 0, tree: place.tree, key_pair: place.leaf };
        let at_once = functions.lanes(functions.h);
        let len = functions.prepare(functions.h, &mut self.long.0, &address(Kind::ForsRoots), k);
        let mut tree = 0_usize;
        while tree < k {
            let count = at_once.min(k.wrapping_sub(tree));
            let lanes = &mut self.lanes;
            for (tree, lane) in (tree..).zip(lanes.each.iter_mut()).take(count) {
                let (secret, rest) =
                    signature.split_at_checked(parameters.fors_tree_len()).unwrap_or_default();
                signature = rest;
                let (secret, path) = secret.split_at_checked(n).unwrap_or_default();
                // The leaves of all FORS trees are numbered consecutively.
                lane.number = ((tree << a) as u32).wrapping_add(fors_index(digest, a, tree));
                lane.path = path;
                let address = &address(Kind::ForsTree);
                functions.prepare(functions.f, &mut lane.block.0, address, 1);
                let index_at = functions.values_at.wrapping_sub(4);
                put(&mut lane.block.0, index_at, &lane.number.to_be_bytes());
                put(&mut lane.block.0, functions.values_at, secret);
                // This is the position at which H reads the value. The padding and the sibling node overwrite the
                // rest of the block.
                lane.place = side(functions, lane.number);
            }
            functions.hash_each(functions.f, lanes, count);
            for lane in lanes.each.iter_mut().take(count) {
                functions.pad(functions.h, &mut lane.block.0, 2);
            }
            climb(functions, lanes, count, a);
            for (tree, lane) in (tree..).zip(&lanes.each).take(count) {
                let to = functions.values_at.wrapping_add(tree.wrapping_mul(n));
                put(&mut self.long.0, to, lane.value(n));
            }
            tree = tree.wrapping_add(count);
        }
        functions.hash(functions.h, &mut self.long.0, len, functions.values_at);
        put(&mut self.node, 0, part(&self.long.0, functions.values_at, n));
    }

    /// Computes the root of the highest tree (§7.2, algorithm 13) from the FORS key.
    #[inline(never)]
    fn hypertree_root(
        &mut self,
        parameters: &SlhDsaParameters,
        place: &Place,
        mut layers: &'a [u8],
    ) {
        let Place { mut tree, mut leaf } = *place;
        for layer in 0..parameters.d {
            let (signature, rest) =
                layers.split_at_checked(parameters.layer_len()).unwrap_or_default();
            layers = rest;
            self.layer_root(parameters, layer as u8, &Place { tree, leaf }, signature);
            leaf = low_bits(tree, parameters.h_prime) as u32;
            tree >>= parameters.h_prime;
        }
    }

    /// Computes the root of an XMSS tree (§6.3, algorithm 11) from the node that it signs.
    fn layer_root(
        &mut self,
        parameters: &SlhDsaParameters,
        layer: u8,
        place: &Place,
        signature: &'a [u8],
    ) {
        let functions = self.functions;
        let address = |kind, key_pair| KeyPairAddress { kind, layer, tree: place.tree, key_pair };
        let (wots, path) = signature.split_at_checked(parameters.wots_len()).unwrap_or_default();

        // This computes the WOTS+ public key (§5.3, algorithm 8): each chain continues from the digit of the node to
        // its end.
        let digits = digits(part(&self.node, 0, functions.n));
        self.lanes.prepare(functions, &address(Kind::WotsHash, place.leaf));
        let chains = parameters.chains();
        let wots_pk = &address(Kind::WotsPk, place.leaf);
        let len = functions.prepare(functions.h, &mut self.long.0, wots_pk, chains);
        put(&mut self.long.0, functions.values_at, wots);
        let digits = digits.get(..chains).unwrap_or_default();
        let values = self.long.0.get_mut(functions.values_at..).unwrap_or_default();
        run_chains(functions, &mut self.lanes, digits, values);
        functions.hash(functions.h, &mut self.long.0, len, functions.values_at);

        // This computes the root of the tree from the leaf.
        let Some(lane) = self.lanes.each.first_mut() else { return };
        functions.prepare(functions.h, &mut lane.block.0, &address(Kind::Tree, 0), 2);
        (lane.number, lane.place, lane.path) = (place.leaf, side(functions, place.leaf), path);
        let leaf = part(&self.long.0, functions.values_at, functions.n);
        put(&mut lane.block.0, lane.place, leaf);
        climb(functions, &mut self.lanes, 1, parameters.h_prime);
        if let Some(lane) = self.lanes.each.first() {
            put(&mut self.node, 0, lane.value(functions.n));
        }
    }
}

/// Returns index `number` of a FORS signature, which is base_2b (§4.4, algorithm 4) of the digest with b = `a`.
fn fors_index(digest: &[u8], a: usize, number: usize) -> u32 {
    let start = a.wrapping_mul(number);
    // An index has at most 14 bits and starts within the first byte, so three bytes contain it.
    let bytes = digest.get(start >> 3..).and_then(|rest| rest.first_chunk::<3>());
    let bits = to_int(bytes.unwrap_or(&[0; 3]));
    let below = 24_usize.wrapping_sub(start & 7).wrapping_sub(a);
    low_bits(bits.wrapping_shr(below as u32), a) as u32
}

/// Returns the base-16 digits of an n-byte value and of its checksum (§5.3, algorithm 8, steps 1 to 7).
#[inline(never)]
fn digits(value: &[u8]) -> [u8; MAX_CHAINS] {
    let mut digits = [0; MAX_CHAINS];
    let mut checksum = 0_u32;
    let mut places = digits.iter_mut();
    let halves = value.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    // The digits are the first iterator, because `zip` would otherwise consume an element of `places` at the end.
    for (digit, place) in halves.zip(&mut places) {
        *place = digit;
        checksum = checksum.wrapping_add(u32::from(LAST_STEP.wrapping_sub(digit)));
    }
    // The checksum has twelve bits. Its three digits equal those of the standard, which shifts it left by 4 and
    // converts it to two bytes.
    for (place, shift) in places.take(CHECKSUM_DIGITS).zip([8, 4, 0]) {
        *place = (checksum >> shift & 15) as u8;
    }
    digits
}
