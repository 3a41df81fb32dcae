//! AES with keys of 128, 192 and 256 bits (FIPS 197), in constant time: no address and no branch depends on a key or on
//! data. Four blocks are computed at once, one bit of each byte in a word. The modes CTR and GCM use the kernels of the
//! hart, if it has some.
//!
//! | module | mode | standard |
//! |---|---|---|
//! | [`cbc`] | CBC, for known answers | SP 800-38A §6.2 |
//! | [`ctr`] | CTR | SP 800-38A §6.5 |
//! | [`gcm`] | GCM: decryption of what is authentic | SP 800-38D |
//! | [`kw`] | KW: unwrapping of keys | RFC 3394, SP 800-38F §6.2 |
//! | `kernels` | the selected kernels of CTR and GCM | – |
//!
//! What a key leaves on the stack is overwritten only inside of [`confined`](crate::secret::confined).
//!
//! The multiplication instructions of the hart must take the same time for all operands, as Zkt requires.

use crate::Kernels;
use crate::secret::wipe;

mod bitsliced;
pub mod cbc;
pub mod ctr;
#[cfg(any(feature = "aes", test))]
pub mod gcm;
#[cfg(any(feature = "aes", test))]
mod ghash;
pub(crate) mod kernels;
#[cfg(any(target_arch = "riscv64", test))]
pub(crate) mod known;
pub mod kw;

use bitsliced::Planes;
use kernels::{AesKernels, CipherTier};

/// Length of a block in bytes.
pub const BLOCK_SIZE: usize = 16;
/// Number of blocks that are computed at once.
const LANES: usize = 4;
/// Number of round keys of AES-256, which has the most.
const MAX_ROUND_KEYS: usize = 15;

pub(crate) type Block = [u8; BLOCK_SIZE];
/// Blocks that are aligned, so that columns are loaded and stored as words.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Blocks([Block; LANES]);

impl Blocks {
    const ZERO: Self = Self([[0; BLOCK_SIZE]; LANES]);
}

/// The key has none of the lengths 16, 24 and 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySizeUnknown;

/// Round keys as columns, whose bytes are in memory in the order of FIPS 197 §3.4. Kernels load two columns at once.
#[repr(C, align(8))]
pub(crate) struct Columns(pub [[u32; 4]; MAX_ROUND_KEYS]);

impl Columns {
    /// Expands the key in the first columns for its number of rounds (FIPS 197 §5.2).
    pub(crate) fn expand(&mut self, rounds: usize) {
        let size = rounds.saturating_sub(6).max(1);
        let expanded = self.0.as_flattened_mut();
        let mut constant = 1_u32;
        for at in size..4 * (rounds + 1) {
            let word = |back: usize| {
                u32::from_le(expanded.get(at.wrapping_sub(back)).copied().unwrap_or(0))
            };
            let mut previous = word(1);
            if at.is_multiple_of(size) {
                previous = bitsliced::sub_word(previous.rotate_right(8)) ^ constant;
                constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
            } else if size == 8 && at % size == 4 {
                previous = bitsliced::sub_word(previous);
            }
            let next = word(size) ^ previous;
            if let Some(place) = expanded.get_mut(at) {
                *place = next.to_le();
            }
        }
    }

    /// Makes the planes of all round keys.
    fn spread(&self, rounds: usize, planes: &mut [Planes; MAX_ROUND_KEYS]) {
        let columns = self.0.iter().take(rounds + 1);
        for (round, (planes, columns)) in planes.iter_mut().zip(columns).enumerate() {
            bitsliced::spread_round_key(planes, &columns.map(u32::from_le), round);
        }
    }
}

/// An expanded key, which is overwritten when it is dropped.
///
/// Only an empty one can be made, which is then filled in place: a move would leave a copy behind.
pub struct AesKey {
    /// The round keys, each as planes of four equal blocks. Those beyond `rounds` are zero, and all are with a kernel of
    /// counter mode.
    planes: [Planes; MAX_ROUND_KEYS],
    /// The round keys for kernels: four columns each.
    columns: Columns,
    /// Number of rounds; 0 before the first expansion.
    rounds: usize,
    kernels: AesKernels,
}

impl AesKey {
    /// A key before it is expanded, for the portable implementation. It is no key.
    pub const EMPTY: Self = Self::with(&Kernels::PORTABLE);

    /// Makes a key before it is expanded, for the kernels of this hart.
    pub const fn with(kernels: &Kernels) -> Self {
        Self {
            planes: [[0; 8]; MAX_ROUND_KEYS],
            columns: Columns([[0; 4]; MAX_ROUND_KEYS]),
            rounds: 0,
            kernels: kernels.aes,
        }
    }

    /// Expands a key of 16, 24 or 32 bytes (FIPS 197 §5.2).
    ///
    /// # Errors
    /// [`KeySizeUnknown`] for another length; the key is then empty.
    pub fn expand(&mut self, key: &[u8]) -> Result<(), KeySizeUnknown> {
        self.wipe();
        let (words, _) = key.as_chunks::<4>();
        let size = words.len();
        if key.len() != 4 * size || !matches!(size, 4 | 6 | 8) {
            return Err(KeySizeUnknown);
        }
        self.rounds = size.wrapping_add(6);
        for (to, from) in self.columns.0.as_flattened_mut().iter_mut().zip(words) {
            *to = u32::from_ne_bytes(*from);
        }
        match self.kernels.schedule {
            Some(schedule) => schedule(&mut self.columns, self.rounds),
            None => self.columns.expand(self.rounds),
        }
        if self.has_planes() {
            self.columns.spread(self.rounds, &mut self.planes);
        }
        Ok(())
    }

    /// The round keys from the first to the last one.
    fn round_keys(&self) -> &[Planes] {
        self.planes.get(..=self.rounds).unwrap_or_default()
    }

    /// Returns true if the planes are there: no kernel of counter mode reads them.
    fn has_planes(&self) -> bool {
        self.kernels.ctr.tier == CipherTier::Portable
    }

    /// The same round keys as columns, and the number of rounds, which is one less; `None` before the first expansion.
    #[cfg(target_arch = "riscv64")]
    pub(crate) fn columns(&self) -> Option<(&[[u32; 4]], usize)> {
        let is_expanded = matches!(self.rounds, 10 | 12 | 14);
        let keys = self.columns.0.get(..=self.rounds).filter(|_| is_expanded)?;
        Some((keys, self.rounds))
    }

    /// Encrypts four blocks (FIPS 197 §5.1).
    fn encrypt(&self, blocks: &mut Blocks) {
        if self.has_planes() {
            bitsliced::encrypt(self.round_keys(), blocks);
        } else {
            // The kernel of counter mode adds the encrypted block to zeros.
            for block in &mut blocks.0 {
                let first = core::mem::replace(block, [0; BLOCK_SIZE]);
                ctr::stream(self, &first, block);
            }
        }
    }

    /// Decrypts four blocks (FIPS 197 §5.3).
    fn decrypt(&self, blocks: &mut Blocks) {
        if self.has_planes() {
            bitsliced::decrypt(self.round_keys(), blocks);
        } else {
            let mut key = Self::EMPTY;
            key.rounds = self.rounds;
            self.columns.spread(self.rounds, &mut key.planes);
            bitsliced::decrypt(key.round_keys(), blocks);
        }
    }

    /// Encrypts one block, which is the first of a key stream.
    fn encrypt_one(&self, block: &Block) -> Block {
        let mut cipher = [0; BLOCK_SIZE];
        ctr::stream(self, block, &mut cipher);
        cipher
    }

    fn wipe(&mut self) {
        // Before the first expansion, and after a wipe, all is zero.
        if self.rounds == 0 {
            return;
        }
        self.rounds = 0;
        wipe(self.columns.0.as_flattened_mut());
        if self.has_planes() {
            wipe(self.planes.as_flattened_mut());
        }
    }
}

impl Drop for AesKey {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl core::fmt::Debug for AesKey {
    /// Formats the type without the key.
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("AesKey")
    }
}

/// XORs a key stream to at most as many bytes as it has.
fn xor(data: &mut [u8], stream: &[u8]) {
    // Eight bytes at once, in one turn of a loop.
    let (eights, rest) = data.as_chunks_mut::<8>();
    let last = stream.get(eights.as_flattened().len()..).unwrap_or_default();
    for (bytes, stream) in eights.iter_mut().zip(stream.as_chunks::<8>().0) {
        *bytes = core::array::from_fn(|at| bytes[at] ^ stream[at]);
    }
    for (byte, stream) in rest.iter_mut().zip(last) {
        *byte ^= stream;
    }
}

#[cfg(test)]
mod tests;
