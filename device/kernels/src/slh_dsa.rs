//! SLH-DSA signature verification (FIPS 205): all twelve parameter sets.
//!
//! The caller supplies the parameter set, like the public key. A signature of another set is
//! refused for its length, or does not verify. The only way to encode a signature is the sequence of its
//! n-byte values, so only its length is checked beforehand.
//!
//! # Cost
//!
//! Nearly all work is hashing of single blocks, which the kernels of the hart do; messages of the hash
//! functions are kept in place (`functions.rs`), and independent ones go through the lanes of a hart
//! together (`lanes.rs`). SLH-DSA-SHA2-128s takes about 2,200 compressions of SHA-256, and on rv64gc 9 %
//! more instructions than as many blocks of one long message.
//!
//! There is no `self_test`: the shortest signature has 7,856 bytes, which a boot stage should not carry.
//! A test on a hart could only find faults of its hash kernels, and those have known-answer tests.

mod functions;
mod lanes;
mod parameters;
#[cfg(test)]
mod tests;

#[cfg(any(feature = "engine", test))]
use crate::hash_based;
use crate::keccak::{FULL_ROUNDS, RATE_256, Sponge};
use crate::sha2::{Sha256, Sha512};
use crate::signature::{Comparison, Rejection, Verifier};
use crate::{Hash, Kernels};
pub use hartlock_algorithm::SlhDsaSet;

use functions::{Address, Aligned, Functions, Kind, Primitive, part, put};
use lanes::{LAST_STEP, Lanes, climb, run_chains, side};
use parameters::{CHECKSUM_DIGITS, MAX_CHAINS, MAX_N, Parameters};

pub use crate::signature::MAX_CONTEXT_LEN;

/// What was signed, and through which interface: they never accept each other's signatures.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// The message itself (§10.2.1, §10.3 algorithm 24).
    Pure {
        /// The signer's context, at most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// The message.
        message: &'a [u8],
    },
    /// Its digest (§10.2.2, §10.3 algorithm 25). That `oid` names a hash function, and that `digest` is
    /// of its length, is the caller's part.
    PreHashed {
        /// The signer's context, at most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// The DER encoding of the hash function's object identifier.
        oid: &'a [u8],
        /// The digest of the message.
        digest: &'a [u8],
    },
    /// What the internal interface signs (§9.3): nothing separates it from messages of the others.
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
        compare(kernels, set, public_key, Message::Pure { context: &[], message }, signature)
    }

    fn compare_in(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
        both: &mut Option<Comparison>,
    ) -> Result<(), Rejection> {
        let message = Message::Pure { context: &[], message };
        compare_in(kernels, set, public_key, message, signature, both)
    }
}

/// Checks a signature.
///
/// # Errors
/// Those of [`compare`], and `Mismatch` if the signature does not fit.
pub fn verify(
    kernels: &Kernels,
    set: SlhDsaSet,
    public_key: &[u8],
    message: Message<'_>,
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, set, public_key, message, signature)?.check()
}

/// Computes the root of the hypertree from the signature (§9.3, algorithm 20), to be compared with
/// `PK.root`, its n bytes.
///
/// # Errors
/// `InvalidKey` or `SignatureLength` if lengths are not those of the set, `ContextLength`. `Ok` says
/// nothing about the signature yet.
pub fn compare(
    kernels: &Kernels,
    set: SlhDsaSet,
    public_key: &[u8],
    message: Message<'_>,
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
    message: Message<'_>,
    signature: &[u8],
    both: &mut Option<Comparison>,
) -> Result<(), Rejection> {
    let parameters = &Parameters::of(set);
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
        let scheme = hash_based::Scheme::SlhDsaSha2_128s;
        let compare = |message: &[&[u8]; 4]| {
            let request = hash_based::Request { scheme, public_key, message, signature: whole };
            kernels.hash_based.compare(&request, claimed_root, both)
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

/// The root of the hypertree (§9.3, algorithm 20, steps 8 to 18), followed by zeros.
// Out of line: what it writes to must not be on the stack while the message is hashed.
#[inline(never)]
fn root(
    functions: &Functions<'_>,
    parameters: &Parameters,
    digest: &[u8],
    fors_signature: &[u8],
    layers: &[u8],
) -> [u8; MAX_N] {
    let place = Place::of(parameters, digest);
    let mut work =
        Work { functions, lanes: Lanes::NEW, long: Aligned([0; LONG_LEN]), node: [0; MAX_N] };
    work.fors_key(parameters, &place, digest, fors_signature);
    work.hypertree_root(parameters, &place, layers);
    work.node
}

/// Room for a message digest, which has no more than 49 bytes, so that any three from its last bit on are
/// there.
const MAX_DIGEST_LEN: usize = 64;

/// `H_msg` (§11.1, §11.2) of the message with its interface's prefix (§10.2, §9.2).
// Out of line for the same reason.
#[inline(never)]
fn hash_message(
    functions: &Functions<'_>,
    randomizer: &[u8],
    public_key: &[u8],
    message: Message<'_>,
    digest: &mut [u8],
) -> Result<(), Rejection> {
    with_pieces(message, |[prefix, context, oid, message]| {
        let pieces = &[randomizer, public_key, prefix, context, oid, message];
        hash_pieces_of_message(functions, randomizer, public_key, pieces, digest);
    })
}

/// The encoded message M′ in four pieces (§10.2, §9.2).
fn with_pieces<T>(
    message: Message<'_>,
    work: impl FnOnce(&[&[u8]; 4]) -> T,
) -> Result<T, Rejection> {
    let (is_pre_hashed, context, oid, message) = match message {
        Message::Pure { context, message } => (Some(0), context, Default::default(), message),
        Message::PreHashed { context, oid, digest } => (Some(1), context, oid, digest),
        Message::Internal(message) => (None, Default::default(), Default::default(), message),
    };
    let context_len = u8::try_from(context.len()).map_err(|_| Rejection::ContextLength)?;
    let prefix = is_pre_hashed.map(|number| [number, context_len]);
    let prefix = prefix.as_ref().map_or(&[][..], |prefix| prefix);
    Ok(work(&[prefix, context, oid, message]))
}

/// `H_msg` (§11.1, §11.2) of randomizer, key and M′.
fn hash_pieces_of_message(
    functions: &Functions<'_>,
    randomizer: &[u8],
    public_key: &[u8],
    pieces: &[&[u8]; 6],
    digest: &mut [u8],
) {
    // In SHA-2 sets the message is hashed, and the digest stretched (RFC 8017 §B.2.1).
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

/// Which FORS key signed: `idx_tree` and `idx_leaf` of algorithm 20, steps 8 to 13.
struct Place {
    tree: u64,
    leaf: u32,
}

impl Place {
    fn of(parameters: &Parameters, digest: &[u8]) -> Self {
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

/// toInt (§4.4, algorithm 2) of at most eight bytes.
fn to_int(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |total, byte| total << 8 | u64::from(*byte))
}

/// The value modulo 2^count, for a count of 1 to 64.
fn low_bits(value: u64, count: usize) -> u64 {
    value & u64::MAX.wrapping_shr(64_usize.wrapping_sub(count) as u32)
}

/// Room for the longest message of T_l: `PK.seed`, an address and 67 values of 32 bytes in SHAKE256,
/// 22 bytes and the values in SHA-512; both with padding.
const LONG_LEN: usize = {
    let values = MAX_CHAINS * MAX_N;
    let shake = (MAX_N + 32 + values + 1).next_multiple_of(136);
    let sha512 = (22 + values + 17).next_multiple_of(128);
    if shake > sha512 { shake } else { sha512 }
};

/// Everything that a verification writes to.
struct Work<'a> {
    functions: &'a Functions<'a>,
    lanes: Lanes<'a>,
    /// A message of T_l, with its result in the place of the first value.
    long: Aligned<[u8; LONG_LEN]>,
    /// What the next layer signs: the FORS key, then the root of a tree.
    node: [u8; MAX_N],
}

impl<'a> Work<'a> {
    /// Computes the FORS key (§8.4, algorithm 17).
    #[inline(never)]
    fn fors_key(
        &mut self,
        parameters: &Parameters,
        place: &Place,
        digest: &[u8],
        mut signature: &'a [u8],
    ) {
        let functions = self.functions;
        let Parameters { n, a, k, .. } = *parameters;
        let address = |kind| Address { kind, layer: 0, tree: place.tree, key_pair: place.leaf };
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
                // Leaves of all trees are numbered in one row.
                lane.number = ((tree << a) as u32).wrapping_add(fors_index(digest, a, tree));
                lane.path = path;
                let address = &address(Kind::ForsTree);
                functions.prepare(functions.f, &mut lane.block.0, address, 1);
                let index_at = functions.values_at.wrapping_sub(4);
                put(&mut lane.block.0, index_at, &lane.number.to_be_bytes());
                put(&mut lane.block.0, functions.values_at, secret);
                // Where H reads it: what else is in the block is overwritten by its padding and sibling.
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

    /// Computes the root of the highest tree (§7.2, algorithm 13) from the node that was computed last.
    #[inline(never)]
    fn hypertree_root(&mut self, parameters: &Parameters, place: &Place, mut layers: &'a [u8]) {
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

    /// Computes the root of an XMSS tree (§6.3, algorithm 11) from the node below.
    fn layer_root(
        &mut self,
        parameters: &Parameters,
        layer: u8,
        place: &Place,
        signature: &'a [u8],
    ) {
        let functions = self.functions;
        let address = |kind, key_pair| Address { kind, layer, tree: place.tree, key_pair };
        let (wots, path) = signature.split_at_checked(parameters.wots_len()).unwrap_or_default();

        // The WOTS+ key (§5.3, algorithm 8): chains from the digits of the node to their ends.
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

        // Up to the root.
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

/// Index `number` of a FORS signature: base_2b (§4.4, algorithm 4) of the digest with b = `a`.
fn fors_index(digest: &[u8], a: usize, number: usize) -> u32 {
    let start = a.wrapping_mul(number);
    // At most 14 bits after at most seven others: three bytes hold them.
    let bytes = digest.get(start >> 3..).and_then(|rest| rest.first_chunk::<3>());
    let bits = to_int(bytes.unwrap_or(&[0; 3]));
    let below = 24_usize.wrapping_sub(start & 7).wrapping_sub(a);
    low_bits(bits.wrapping_shr(below as u32), a) as u32
}

/// Base-16 digits of an n-byte value and of their checksum (§5.3, algorithm 8, steps 1 to 7).
#[inline(never)]
fn digits(value: &[u8]) -> [u8; MAX_CHAINS] {
    let mut digits = [0; MAX_CHAINS];
    let mut checksum = 0_u32;
    let mut places = digits.iter_mut();
    let halves = value.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    // The value first: `zip` must not take a place that it then does not use.
    for (digit, place) in halves.zip(&mut places) {
        *place = digit;
        checksum = checksum.wrapping_add(u32::from(LAST_STEP.wrapping_sub(digit)));
    }
    // Twelve bits, so that shifting left by 4 and converting to two bytes is equivalent.
    for (place, shift) in places.take(CHECKSUM_DIGITS).zip([8, 4, 0]) {
        *place = (checksum >> shift & 15) as u8;
    }
    digits
}
