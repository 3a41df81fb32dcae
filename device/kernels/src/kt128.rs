//! KT128 (RFC 9861 §3). Digests have an empty customization string and 32 bytes of output.

use crate::dispatch::{MAX_LANES, Many, fills_lanes};
use crate::keccak::{self, RATE_128, Sponge, TURBO_ROUNDS, first};
use crate::parallelhash::right_encode;
use crate::xof::Output;
use crate::{Hash, HashMany, Kernels};

/// Bytes of a chunk (§3.2).
pub const CHUNK_LEN: usize = 8192;

/// Domains of TurboSHAKE128 (§3.2): a message of one chunk, the last node of a tree, a leaf.
const SINGLE_NODE: u8 = 0x07;
const FINAL_NODE: u8 = 0x06;
const LEAF: u8 = 0x0b;
/// Follows chunk 0, and separates a tree from a message of one chunk (§3.2).
const AFTER_TRUNK: [u8; 8] = [3, 0, 0, 0, 0, 0, 0, 0];
/// Bytes of a chunk that fill blocks of the sponge. 16 words follow: the suffix goes to the next one,
/// and the end of the padding to the last one of the block.
const WHOLE_LEN: usize = CHUNK_LEN - END_LEN;
const END_LEN: usize = CHUNK_LEN % (8 * RATE_128);
const _: () = assert!(END_LEN / 8 == RATE_128 - 5);

/// The whole blocks of chunks, and the bytes that follow them.
fn parts(chunks: &[[u8; CHUNK_LEN]]) -> ([&[u8]; MAX_LANES], [&[u8]; MAX_LANES]) {
    let (mut whole, mut ends): ([&[u8]; MAX_LANES], _) = ([&[]; MAX_LANES], [&[][..]; MAX_LANES]);
    for ((whole, end), chunk) in whole.iter_mut().zip(&mut ends).zip(chunks) {
        (*whole, *end) = chunk.split_at(WHOLE_LEN);
    }
    (whole, ends)
}

/// A sponge of TurboSHAKE128 (§2.2).
const fn turboshake128(kernels: &Kernels) -> Sponge {
    Sponge::new(kernels, RATE_128, TURBO_ROUNDS)
}

/// KT128 (RFC 9861 §3): 32-byte digest. Not approved by NIST.
///
/// Chunk 0 and the chaining values of the others go into one sponge, so it keeps two of them
/// however long the message is. Chunks that come whole and together are hashed together.
#[derive(Clone)]
pub struct Kt128 {
    kernels: Kernels,
    /// S_0, followed by the part of the final node that is known so far.
    trunk: Sponge,
    /// The chunk in work, unless it is S_0.
    leaf: Sponge,
    /// Bytes of the chunk in work.
    filled: usize,
    /// Chunks that are complete.
    chunks: u64,
}

impl Kt128 {
    /// The digest of the three bytes `abc`, which the RFC does not print; a second implementation has the
    /// same (`tests/hash_differential.rs`).
    pub const KAT: [u8; 32] = *b"\xab\x17\x4f\x32\x8c\x55\xa5\x51\x0b\x0b\x20\x97\x91\xbf\x8b\x60\
        \xe8\x01\xa7\xcf\xc2\xaa\x42\x04\x2d\xcb\x8f\x54\x7f\xbe\x3a\x7d";

    /// Ends a message with the customization string C, and gives output of any length (§3.2). Of an
    /// empty one the first 32 bytes are [`Hash::finalize`].
    pub fn finalize_xof(mut self, customization: &[u8]) -> Output {
        self.update(customization);
        // length_encode(|C|) without its last byte: a chunk that only this byte fills must not end
        // before it is known to be the last one.
        let length = right_encode(customization.len() as u64);
        let (count, digits) = match (customization, length.as_ref().split_last()) {
            ([], _) | (_, None) => (0, &[][..]),
            (_, Some((count, digits))) => (*count, digits),
        };
        self.update(digits);
        self.add(&[count]);
        if self.chunks == 0 {
            return Output::of(self.trunk, SINGLE_NODE);
        }
        self.end_tree();
        Output::of(self.trunk, FINAL_NODE)
    }

    /// Ends the last leaf, and says how many there are (§3.2).
    fn end_tree(&mut self) {
        self.end_leaf();
        // length_encode is right_encode, but for 0 (§3.3), and there is at least one leaf.
        self.trunk.absorb(right_encode(self.chunks).as_ref());
        self.trunk.absorb(&[0xff, 0xff]);
    }

    /// Runs the known-answer test: true if the digest of `abc` is [`Self::KAT`].
    pub fn self_test() -> bool {
        crate::hash::digest_of_abc::<Self>() == Self::KAT
    }

    /// Appends bytes to the chunk in work.
    fn add(&mut self, bytes: &[u8]) {
        let sponge = if self.chunks == 0 { &mut self.trunk } else { &mut self.leaf };
        sponge.absorb(bytes);
    }

    /// Hashes whole chunks, as many at once as there are lanes, and returns what is left: less than
    /// makes lanes worth it. Chunk 0 takes a lane like the others, up to its last whole block.
    fn add_whole_chunks<'a>(&mut self, mut data: &'a [u8]) -> &'a [u8] {
        let Some(Many { lanes, run: absorb_many, .. }) = self.kernels.keccak.many else {
            return data;
        };
        let mut states = [[0; 25]; MAX_LANES];
        loop {
            let (chunks, _) = data.as_chunks::<CHUNK_LEN>();
            let count = chunks.len().min(lanes);
            if !fills_lanes(count, lanes) {
                return data;
            }
            let chunks = chunks.get(..count).unwrap_or_default();
            let mut leaves = states.get_mut(..count).unwrap_or_default();
            leaves.fill([0; 25]);
            let (whole, ends) = parts(chunks);
            absorb_many(leaves, whole.get(..count).unwrap_or_default(), RATE_128, TURBO_ROUNDS);

            let mut ends = ends.get(..count).unwrap_or_default();
            if self.chunks == 0 {
                let (Some((trunk, others)), Some((end, more))) =
                    (core::mem::take(&mut leaves).split_first_mut(), ends.split_first())
                else {
                    return data;
                };
                self.trunk.resume(trunk);
                self.trunk.absorb(end);
                self.trunk.absorb(&AFTER_TRUNK);
                (leaves, ends) = (others, more);
            }
            // The padding after the last bytes of a chunk is added first: the order does not matter,
            // and the bytes need not be copied.
            for leaf in leaves.iter_mut() {
                if let Some([.., suffix, _, _, _, last]) = leaf.first_chunk_mut::<RATE_128>() {
                    *suffix ^= u64::from(LEAF);
                    *last ^= 1 << 63;
                }
            }
            absorb_many(leaves, ends, END_LEN / 8, TURBO_ROUNDS);
            for leaf in leaves {
                self.trunk.absorb(&first::<32>(keccak::squeeze(leaf)));
            }
            self.chunks = self.chunks.wrapping_add(count as u64);
            data = data.get(count.wrapping_mul(CHUNK_LEN)..).unwrap_or_default();
        }
    }

    /// Ends the chunk in work. It is not the last one: one more byte follows the message.
    fn end_chunk(&mut self) {
        if self.chunks == 0 {
            self.trunk.absorb(&AFTER_TRUNK);
        } else {
            self.end_leaf();
        }
        self.chunks = self.chunks.wrapping_add(1);
        self.filled = 0;
    }

    /// Adds the chaining value of the chunk in work to the final node.
    fn end_leaf(&mut self) {
        let leaf = core::mem::replace(&mut self.leaf, turboshake128(&self.kernels));
        self.trunk.absorb(&first::<32>(leaf.finalize(LEAF)));
    }
}

impl Hash for Kt128 {
    const OUTPUT_LEN: usize = 32;
    type Output = [u8; 32];

    fn with(kernels: &Kernels) -> Self {
        let (trunk, leaf) = (turboshake128(kernels), turboshake128(kernels));
        Self { kernels: *kernels, trunk, leaf, filled: 0, chunks: 0 }
    }

    fn update(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            if self.filled == 0 {
                data = self.add_whole_chunks(data);
            }
            let (now, later) =
                data.split_at_checked(CHUNK_LEN.wrapping_sub(self.filled)).unwrap_or((data, &[]));
            self.add(now);
            self.filled = self.filled.wrapping_add(now.len());
            if self.filled == CHUNK_LEN {
                self.end_chunk();
            }
            data = later;
        }
    }

    fn finalize(mut self) -> Self::Output {
        // length_encode(|C|) of an empty C, and the end of the message (§3.2).
        self.add(&[0]);
        if self.chunks == 0 {
            return first(self.trunk.finalize(SINGLE_NODE));
        }
        self.end_tree();
        first(self.trunk.finalize(FINAL_NODE))
    }
}

impl HashMany for Kt128 {
    /// One message fills the lanes by itself.
    fn lanes(_: &Kernels) -> usize {
        1
    }

    fn digest_many(
        kernels: &Kernels,
        heads: &[&[u8]],
        bodies: &[&[u8]],
        on_digest: &mut dyn FnMut(usize, Self::Output),
    ) {
        for (index, (head, body)) in heads.iter().zip(bodies).enumerate() {
            let mut hash = Self::with(kernels);
            hash.update(head);
            hash.update(body);
            on_digest(index, hash.finalize());
        }
    }
}
