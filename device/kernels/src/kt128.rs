//! KT128 (RFC 9861 §3). [`Hash`] digests have an empty customization string and 32 bytes.

use crate::dispatch::{MAX_LANES, Many, fills_lanes};
use crate::keccak::{self, RATE_128, Sponge, TURBO_ROUNDS, first};
use crate::parallelhash::right_encode;
use crate::xof::Output;
use crate::{Hash, HashMany, Kernels};

/// Length of a chunk in bytes (§3.2).
pub const CHUNK_LEN: usize = 8192;

/// Domain separation bytes of TurboSHAKE128 (§3.2), for a message of one chunk, the final node of a tree, and a leaf.
const SINGLE_NODE: u8 = 0x07;
const FINAL_NODE: u8 = 0x06;
const LEAF: u8 = 0x0b;
/// Bytes that follow chunk 0 in the final node (§3.2). They distinguish a tree from a message of one chunk.
const AFTER_TRUNK: [u8; 8] = [3, 0, 0, 0, 0, 0, 0, 0];
/// Length in bytes of the whole blocks of a chunk. The remaining 16 words leave room for the padding: the suffix goes
/// to the next word, and the end of the padding to the last word of the block.
const WHOLE_LEN: usize = CHUNK_LEN - END_LEN;
const END_LEN: usize = CHUNK_LEN % (8 * RATE_128);
const _: () = assert!(END_LEN / 8 == RATE_128 - 5);

/// Splits each chunk into its whole blocks and the remaining bytes.
fn parts(chunks: &[[u8; CHUNK_LEN]]) -> ([&[u8]; MAX_LANES], [&[u8]; MAX_LANES]) {
    let (mut whole, mut ends): ([&[u8]; MAX_LANES], _) = ([&[]; MAX_LANES], [&[][..]; MAX_LANES]);
    for ((whole, end), chunk) in whole.iter_mut().zip(&mut ends).zip(chunks) {
        (*whole, *end) = chunk.split_at(WHOLE_LEN);
    }
    (whole, ends)
}

/// Makes a sponge of TurboSHAKE128 (§2.2).
const fn turboshake128(kernels: &Kernels) -> Sponge {
    Sponge::new(kernels, RATE_128, TURBO_ROUNDS)
}

/// KT128 (RFC 9861 §3) with a 32-byte digest. NIST has not approved it.
///
/// One sponge absorbs chunk 0 and the chaining values of the other chunks, so two sponges are enough for a message of
/// any length. If several whole chunks are available at once, they are hashed together.
#[derive(Clone)]
pub struct Kt128 {
    kernels: Kernels,
    /// Sponge of the final node. It has absorbed S_0 and the part of the final node that is already known.
    trunk: Sponge,
    /// Sponge of the current chunk, unless it is S_0.
    leaf: Sponge,
    /// Number of bytes in the current chunk.
    filled: usize,
    /// Number of complete chunks.
    chunks: u64,
}

impl Kt128 {
    /// The digest of `abc`. The RFC does not contain it; a second implementation computes the same digest
    /// (`tests/hash_differential.rs`).
    pub const KAT: [u8; 32] = *b"\xab\x17\x4f\x32\x8c\x55\xa5\x51\x0b\x0b\x20\x97\x91\xbf\x8b\x60\
        \xe8\x01\xa7\xcf\xc2\xaa\x42\x04\x2d\xcb\x8f\x54\x7f\xbe\x3a\x7d";

    /// Ends a message with the customization string C and returns output of any length (§3.2). If C is empty, the
    /// first 32 bytes are equal to [`Hash::finalize`].
    pub fn finalize_xof(mut self, customization: &[u8]) -> Output {
        self.update(customization);
        // The last byte of length_encode(|C|) is appended separately, because `update` could end a full chunk before
        // it is known to be the last one.
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

    /// Ends the last leaf, and appends the number of leaves and the final bytes (§3.2).
    fn end_tree(&mut self) {
        self.end_leaf();
        // Apart from zero, length_encode is equal to right_encode (§3.3), and there is at least one leaf.
        self.trunk.absorb(right_encode(self.chunks).as_ref());
        self.trunk.absorb(&[0xff, 0xff]);
    }

    /// Runs the known-answer test: true if the digest of `abc` is [`Self::KAT`].
    pub fn self_test() -> bool {
        crate::hash::digest_of_abc::<Self>() == Self::KAT
    }

    /// Appends bytes to the current chunk.
    fn add(&mut self, bytes: &[u8]) {
        let sponge = if self.chunks == 0 { &mut self.trunk } else { &mut self.leaf };
        sponge.absorb(bytes);
    }

    /// Hashes whole chunks, as many at once as there are lanes, and returns the rest of the data. The rest has too
    /// few chunks to use the lanes. Chunk 0 uses a lane like the others, up to its last whole block.
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
            // The padding is XORed into the state before the last bytes of the chunk. The order does not matter, and
            // this way the bytes need not be copied.
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

    /// Ends the current chunk. It is not the last chunk, because at least one byte follows.
    fn end_chunk(&mut self) {
        if self.chunks == 0 {
            self.trunk.absorb(&AFTER_TRUNK);
        } else {
            self.end_leaf();
        }
        self.chunks = self.chunks.wrapping_add(1);
        self.filled = 0;
    }

    /// Appends the chaining value of the current chunk to the final node.
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
        // This is length_encode(|C|) of an empty C, which ends the message (§3.2).
        self.add(&[0]);
        if self.chunks == 0 {
            return first(self.trunk.finalize(SINGLE_NODE));
        }
        self.end_tree();
        first(self.trunk.finalize(FINAL_NODE))
    }
}

impl HashMany for Kt128 {
    /// Returns 1, because a single message already fills the lanes.
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
