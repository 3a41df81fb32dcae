//! SHA-256, SHA-384 and SHA-512 (FIPS 180-4).

pub(crate) mod compression;

use core::marker::PhantomData;

use crate::dispatch::{Chosen, Compress, MAX_LANES, Sha2Word};
use crate::many::{self, HashMany, Padding};
use crate::{Hash, Kernels, block::BlockBuffer};
use compression::H256;
pub use compression::{H384, H512, K512};

macro_rules! sha2_hash {
    (
        $(#[$doc:meta])*
        $name:ident, $word:ty, $block_len:literal, $output_len:literal,
        $length:ty, $kernels:ident, $iv:ident, $kat:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            state: [$word; 8],
            buffer: BlockBuffer<$block_len>,
            message_len_bytes: u64,
            compress: Compress<$word, $block_len>,
        }

        impl $name {
            /// The digest of `abc`, as published with the standard.
            pub const KAT: [u8; $output_len] = $kat;

            /// Runs the known-answer test: true if the digest of `abc` is [`Self::KAT`].
            pub fn self_test() -> bool {
                crate::hash::digest_of_abc::<Self>() == Self::KAT
            }
        }

        impl Hash for $name {
            const OUTPUT_LEN: usize = $output_len;
            type Output = [u8; $output_len];

            fn with(kernels: &Kernels) -> Self {
                Self {
                    state: $iv,
                    buffer: BlockBuffer::new(),
                    message_len_bytes: 0,
                    compress: kernels.$kernels.one.run,
                }
            }

            fn update(&mut self, data: &[u8]) {
                self.message_len_bytes = self.message_len_bytes.wrapping_add(data.len() as u64);
                let Self { state, compress, .. } = self;
                self.buffer.feed(data, |blocks| compress.add(state, blocks));
            }

            fn finalize(mut self) -> Self::Output {
                let length = self.message_len_bytes;
                finish::<_, $block_len, { size_of::<$length>() }>(
                    &mut self.state,
                    self.buffer,
                    self.compress,
                    length,
                );
                Self::output(&self.state)
            }
        }

        impl $name {
            /// Converts the first words of a hash value to a digest (FIPS 180-4 §6.2.2, §6.4.2, §6.5).
            fn output(state: &[$word; 8]) -> [u8; $output_len] {
                let mut digest = [0; $output_len];
                let (words, _) = digest.as_chunks_mut();
                for (bytes, word) in words.iter_mut().zip(state) {
                    *bytes = word.to_be_bytes();
                }
                digest
            }
        }

        impl HashMany for $name {
            fn lanes(kernels: &Kernels) -> usize {
                kernels.$kernels.lanes()
            }

            fn digest_many(
                kernels: &Kernels,
                heads: &[&[u8]],
                bodies: &[&[u8]],
                on_digest: &mut dyn FnMut(usize, Self::Output),
            ) {
                let Chosen { one, many } = kernels.$kernels;
                let mut index = 0;
                for (heads, bodies) in many::groups(Self::lanes(kernels), heads, bodies) {
                    let mut states = [$iv; MAX_LANES];
                    let states = states.get_mut(..heads.len()).unwrap_or_default();
                    let padding = LengthPadding::<$length>::NEW;
                    many::feed::<$block_len>(&padding, heads, bodies, |messages| match many {
                        Some(many) => (many.run)(states, messages),
                        None => {
                            for (state, message) in states.iter_mut().zip(messages) {
                                one.run.add(state, message.as_chunks().0);
                            }
                        }
                    });
                    for state in states {
                        on_digest(index, Self::output(state));
                        index = index.wrapping_add(1);
                    }
                }
            }
        }
    };
}

/// Hashes the end of a message (FIPS 180-4 §5.1): a one bit, zeros, and the length in bits as a big-endian integer of
/// `L` bytes, which are two words. If the length does not fit into the block, another block follows. SHA-384 and
/// SHA-512 share this function, because their padding is the same.
#[inline(never)]
fn finish<W: Sha2Word<N>, const N: usize, const L: usize>(
    state: &mut [W; 8],
    buffer: BlockBuffer<N>,
    compress: Compress<W, N>,
    message_len_bytes: u64,
) {
    let (mut block, zeros) = buffer.terminate(0x80);
    if zeros < L {
        compress.add(state, &[block]);
        block = [0; N];
    }
    let length_bits = u128::from(message_len_bytes).wrapping_shl(3).to_be_bytes();
    for (place, byte) in block.iter_mut().rev().zip(length_bits.iter().rev()).take(L) {
        *place = *byte;
    }
    compress.add(state, &[block]);
}

/// SHA-2 padding with the message length in bits as an integer of type `L` (FIPS 180-4 §5.1).
struct LengthPadding<L>(PhantomData<L>);

impl<L> LengthPadding<L> {
    const NEW: Self = Self(PhantomData);
}

impl<L, const N: usize> Padding<N> for LengthPadding<L> {
    fn pad(&self, block: &mut [u8; N], start: usize, message_len: usize) {
        if let Some(byte) = message_len.checked_sub(start).and_then(|at| block.get_mut(at)) {
            *byte = 0x80;
        }
        let is_last = start.wrapping_add(N) == Padding::<N>::block_count(self, message_len) * N;
        if is_last && let Some(tail) = block.last_chunk_mut() {
            // The length in bits is below 2^64 for any message in memory.
            *tail = (message_len as u64).wrapping_shl(3).to_be_bytes();
        }
    }

    fn block_count(&self, message_len: usize) -> usize {
        message_len.wrapping_add(1).wrapping_add(size_of::<L>()).div_ceil(N)
    }
}

sha2_hash! {
    /// SHA-256 (FIPS 180-4 §6.2): 64-byte blocks, 32-byte digest.
    Sha256, u32, 64, 32, u64, sha256, H256,
    *b"\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23\
       \xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00\x15\xad"
}

sha2_hash! {
    /// SHA-384 (FIPS 180-4 §6.5): 128-byte blocks, 48-byte digest.
    Sha384, u64, 128, 48, u128, sha512, H384,
    *b"\xcb\x00\x75\x3f\x45\xa3\x5e\x8b\xb5\xa0\x3d\x69\x9a\xc6\x50\x07\
       \x27\x2c\x32\xab\x0e\xde\xd1\x63\x1a\x8b\x60\x5a\x43\xff\x5b\xed\
       \x80\x86\x07\x2b\xa1\xe7\xcc\x23\x58\xba\xec\xa1\x34\xc8\x25\xa7"
}

sha2_hash! {
    /// SHA-512 (FIPS 180-4 §6.4): 128-byte blocks, 64-byte digest.
    Sha512, u64, 128, 64, u128, sha512, H512,
    *b"\xdd\xaf\x35\xa1\x93\x61\x7a\xba\xcc\x41\x73\x49\xae\x20\x41\x31\
       \x12\xe6\xfa\x4e\x89\xa9\x7e\xa2\x0a\x9e\xee\xe6\x4b\x55\xd3\x9a\
       \x21\x92\x99\x2a\x27\x4f\xc1\xa8\x36\xba\x3c\x23\xa3\xfe\xeb\xbd\
       \x45\x4d\x44\x23\x64\x3c\xe8\x0e\x2a\x9a\xc9\x4f\xa5\x4c\xa4\x9f"
}
