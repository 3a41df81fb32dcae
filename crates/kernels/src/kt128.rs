//! KT128 (RFC 9861 §3) with an empty customization string and 32 bytes of output.

use crate::Hash;
use crate::keccak::{RATE_128, Sponge, TURBO_ROUNDS, first};
use crate::parallelhash::right_encode;

/// Bytes of a chunk (§3.2).
pub const CHUNK_LEN: usize = 8192;

/// Domains of TurboSHAKE128 (§3.2): a message of one chunk, the last node of a tree, a leaf.
const SINGLE_NODE: u8 = 0x07;
const FINAL_NODE: u8 = 0x06;
const LEAF: u8 = 0x0b;

/// A sponge of TurboSHAKE128 (§2.2).
const fn turboshake128() -> Sponge {
    Sponge::new(RATE_128, TURBO_ROUNDS)
}

/// KT128 (RFC 9861 §3): 32-byte digest. Not approved by NIST.
///
/// Chunk 0 and the chaining values of the others go into one sponge, so it keeps two of them
/// however long the message is.
#[derive(Clone)]
pub struct Kt128 {
    /// S_0, and behind it whatever the final node has so far.
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

    /// Runs the known-answer test: true if the digest of `abc` is [`Self::KAT`].
    pub fn self_test() -> bool {
        crate::digest_of_abc::<Self>() == Self::KAT
    }

    /// Appends bytes to the chunk in work.
    fn add(&mut self, bytes: &[u8]) {
        let sponge = if self.chunks == 0 { &mut self.trunk } else { &mut self.leaf };
        sponge.absorb(bytes);
    }

    /// Ends the chunk in work. It is not the last one: behind the message there is one byte more.
    fn end_chunk(&mut self) {
        if self.chunks == 0 {
            // What tells a tree from a message of one chunk (§3.2).
            self.trunk.absorb(&[3, 0, 0, 0, 0, 0, 0, 0]);
        } else {
            self.end_leaf();
        }
        self.chunks = self.chunks.wrapping_add(1);
        self.filled = 0;
    }

    /// Adds the chaining value of the chunk in work to the final node.
    fn end_leaf(&mut self) {
        let leaf = core::mem::replace(&mut self.leaf, turboshake128());
        self.trunk.absorb(&first::<32>(leaf.finalize(LEAF)));
    }
}

impl Hash for Kt128 {
    const OUTPUT_LEN: usize = 32;
    type Output = [u8; 32];

    fn new() -> Self {
        Self { trunk: turboshake128(), leaf: turboshake128(), filled: 0, chunks: 0 }
    }

    fn update(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            // Where nothing is filled and chunk 0 is complete, each whole chunk in `data` is a leaf
            // of its own: they can be hashed in lanes.
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
        self.end_leaf();
        // length_encode is right_encode, but for 0 (§3.3), and there is at least one leaf.
        self.trunk.absorb(right_encode(self.chunks).as_ref());
        self.trunk.absorb(&[0xff, 0xff]);
        first(self.trunk.finalize(FINAL_NODE))
    }
}
