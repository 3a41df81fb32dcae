//! KT128 (RFC 9861 §3.2) of several messages of one length at once.
//!
//! The messages are cut into chunks at the same places, so each step is one of TurboSHAKE128 in
//! lanes. What the steps are, `hartlock_kernels::kt128` explains.

use hartlock_verify::tree::Digest;

use super::engine::Engine;
use super::plain::Plain;
use super::vectors::MAX_LANES;

/// Bytes of a chunk.
pub(super) const CHUNK_SIZE: usize = 8192;
/// Bytes of a chaining value.
const VALUE_SIZE: usize = 32;

/// Messages that are being hashed.
pub(in crate::digest) struct Lanes {
    engine: Engine,
    /// How many there are.
    count: usize,
    trunk: Plain,
    leaf: Plain,
    /// Bytes of the chunk in work.
    filled: usize,
    /// Chunks that are complete.
    chunks: u64,
}

impl Lanes {
    pub(super) fn new(engine: Engine) -> Self {
        let (trunk, leaf) = (Plain::new(engine), Plain::new(engine));
        Self { engine, count: 1, trunk, leaf, filled: 0, chunks: 0 }
    }

    /// See [`super::Lanes::update`].
    pub(super) fn update(&mut self, parts: &[&[u8]]) {
        self.count = parts.len();
        let mut parts = parts.to_vec();
        while !parts[0].is_empty() {
            let now = parts[0].len().min(CHUNK_SIZE - self.filled);
            let front: Vec<&[u8]> = parts.iter().map(|part| &part[..now]).collect();
            self.add(&front);
            parts.iter_mut().for_each(|part| *part = &part[now..]);
            self.filled += now;
            if self.filled == CHUNK_SIZE {
                self.end_chunk();
            }
        }
    }

    /// Appends bytes to the chunk in work.
    fn add(&mut self, parts: &[&[u8]]) {
        if self.chunks == 0 { &mut self.trunk } else { &mut self.leaf }.update(parts);
    }

    fn end_chunk(&mut self) {
        if self.chunks == 0 {
            self.trunk.update(&vec![&[3, 0, 0, 0, 0, 0, 0, 0][..]; self.count]);
        } else {
            self.end_leaf();
        }
        self.chunks += 1;
        self.filled = 0;
    }

    fn end_leaf(&mut self) {
        let leaf = std::mem::replace(&mut self.leaf, Plain::new(self.engine));
        let values = leaf.finalize(0x0b);
        let values: Vec<&[u8]> =
            values[..self.count].iter().map(|value| &value[..VALUE_SIZE]).collect();
        self.trunk.update(&values);
    }

    /// The digest of each message, in their order.
    pub(super) fn finalize(mut self) -> [Digest; MAX_LANES] {
        self.add(&vec![&[0][..]; self.count]);
        if self.chunks == 0 {
            return self.trunk.finalize(0x07);
        }
        self.end_leaf();
        let digits = self.chunks.to_be_bytes();
        let digits = &digits[self.chunks.leading_zeros() as usize / 8..];
        let end = [digits, &[digits.len() as u8, 0xff, 0xff]].concat();
        self.trunk.update(&vec![&end[..]; self.count]);
        self.trunk.finalize(0x06)
    }
}
