//! SHA3-256, SHA3-384 and SHA3-512 (FIPS 202).

use crate::{Hash, block::BlockBuffer};

macro_rules! sha3_hash {
    (
        $(#[$doc:meta])*
        $name:ident, $rate_len:literal, $output_len:literal, $kat:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            state: [u64; 25],
            buffer: BlockBuffer<$rate_len>,
        }

        impl $name {
            /// The digest of the three bytes `abc`, as published with the standard.
            pub const KAT: [u8; $output_len] = $kat;

            /// Runs the known-answer test: true if the digest of `abc` is [`Self::KAT`].
            pub fn self_test() -> bool {
                crate::digest_of_abc::<Self>() == Self::KAT
            }
        }

        impl Hash for $name {
            const OUTPUT_LEN: usize = $output_len;
            type Output = [u8; $output_len];

            fn new() -> Self {
                Self {
                    state: [0; 25],
                    buffer: BlockBuffer::new(),
                }
            }

            fn update(&mut self, data: &[u8]) {
                let state = &mut self.state;
                self.buffer.feed(data, |blocks| {
                    for block in blocks {
                        absorb(state, block);
                    }
                });
            }

            fn finalize(mut self) -> Self::Output {
                // The suffix bits 01 (§6.1), then pad10*1 (§5.1). Bytes take their bits from the
                // low end (§B.1), so the first byte is 0x06 and the last gets its top bit; both
                // can be the same byte.
                let (mut block, _) = self.buffer.terminate(0x06);
                if let Some(last) = block.last_mut() {
                    *last |= 0x80;
                }
                absorb(&mut self.state, &block);

                // The digest is shorter than the rate: one squeeze is enough (§4, step 8).
                let mut digest = [0; $output_len];
                let (lanes, _) = digest.as_chunks_mut();
                for (bytes, lane) in lanes.iter_mut().zip(self.state) {
                    *bytes = lane.to_le_bytes();
                }
                digest
            }
        }
    };
}

sha3_hash! {
    /// SHA3-256 (FIPS 202 §6.1): rate 136 bytes, 32-byte digest.
    Sha3_256, 136, 32,
    *b"\x3a\x98\x5d\xa7\x4f\xe2\x25\xb2\x04\x5c\x17\x2d\x6b\xd3\x90\xbd\
       \x85\x5f\x08\x6e\x3e\x9d\x52\x5b\x46\xbf\xe2\x45\x11\x43\x15\x32"
}

sha3_hash! {
    /// SHA3-384 (FIPS 202 §6.1): rate 104 bytes, 48-byte digest.
    Sha3_384, 104, 48,
    *b"\xec\x01\x49\x82\x88\x51\x6f\xc9\x26\x45\x9f\x58\xe2\xc6\xad\x8d\
       \xf9\xb4\x73\xcb\x0f\xc0\x8c\x25\x96\xda\x7c\xf0\xe4\x9b\xe4\xb2\
       \x98\xd8\x8c\xea\x92\x7a\xc7\xf5\x39\xf1\xed\xf2\x28\x37\x6d\x25"
}

sha3_hash! {
    /// SHA3-512 (FIPS 202 §6.1): rate 72 bytes, 64-byte digest.
    Sha3_512, 72, 64,
    *b"\xb7\x51\x85\x0b\x1a\x57\x16\x8a\x56\x93\xcd\x92\x4b\x6b\x09\x6e\
       \x08\xf6\x21\x82\x74\x44\xf7\x0d\x88\x4f\x5d\x02\x40\xd2\x71\x2e\
       \x10\xe1\x16\xe9\x19\x2a\xf3\xc9\x1a\x7e\xc5\x76\x47\xe3\x93\x40\
       \x57\x34\x0b\x4c\xf4\x08\xd5\xa5\x65\x92\xf8\x27\x4e\xec\x53\xf0"
}

/// Adds one block to the state and permutes it (FIPS 202 §4, step 6). The capacity part of the
/// state, which no block reaches, stays as it is.
fn absorb(state: &mut [u64; 25], block: &[u8]) {
    for (lane, bytes) in state.iter_mut().zip(block.as_chunks::<8>().0) {
        *lane ^= u64::from_le_bytes(*bytes);
    }
    keccak_f1600(state);
}

/// KECCAK-p\[1600, 24\] (FIPS 202 §3.3). Lane A\[x, y\] is `state[x + 5 * y]`.
// Out of line: every caller would otherwise carry its own copy of the permutation.
#[inline(never)]
#[rustfmt::skip] // one plane a line
fn keccak_f1600(state: &mut [u64; 25]) {
    // All indexes below are constants, so that the compiler can split the copy into 25 local
    // values instead of one array in memory.
    let mut a = *state;
    for round_constant in ROUND_CONSTANTS {
        // Theta (§3.2.1): column parities, and what each column adds to its lanes.
        let c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
        let c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
        let c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
        let c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
        let c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
        let d0 = c4 ^ c1.rotate_left(1);
        let d1 = c0 ^ c2.rotate_left(1);
        let d2 = c1 ^ c3.rotate_left(1);
        let d3 = c2 ^ c4.rotate_left(1);
        let d4 = c3 ^ c0.rotate_left(1);

        // Rho (§3.2.2) and pi (§3.2.3) choose the lanes of each plane, chi (§3.2.4) mixes it.
        let p0 = chi([
            a[0] ^ d0,
            (a[6] ^ d1).rotate_left(44),
            (a[12] ^ d2).rotate_left(43),
            (a[18] ^ d3).rotate_left(21),
            (a[24] ^ d4).rotate_left(14),
        ]);
        let p1 = chi([
            (a[3] ^ d3).rotate_left(28),
            (a[9] ^ d4).rotate_left(20),
            (a[10] ^ d0).rotate_left(3),
            (a[16] ^ d1).rotate_left(45),
            (a[22] ^ d2).rotate_left(61),
        ]);
        let p2 = chi([
            (a[1] ^ d1).rotate_left(1),
            (a[7] ^ d2).rotate_left(6),
            (a[13] ^ d3).rotate_left(25),
            (a[19] ^ d4).rotate_left(8),
            (a[20] ^ d0).rotate_left(18),
        ]);
        let p3 = chi([
            (a[4] ^ d4).rotate_left(27),
            (a[5] ^ d0).rotate_left(36),
            (a[11] ^ d1).rotate_left(10),
            (a[17] ^ d2).rotate_left(15),
            (a[23] ^ d3).rotate_left(56),
        ]);
        let p4 = chi([
            (a[2] ^ d2).rotate_left(62),
            (a[8] ^ d3).rotate_left(55),
            (a[14] ^ d4).rotate_left(39),
            (a[15] ^ d0).rotate_left(41),
            (a[21] ^ d1).rotate_left(2),
        ]);
        // Iota (§3.2.5).
        let p0_first = p0[0] ^ round_constant;

        a = [
            p0_first, p0[1], p0[2], p0[3], p0[4],
            p1[0], p1[1], p1[2], p1[3], p1[4],
            p2[0], p2[1], p2[2], p2[3], p2[4],
            p3[0], p3[1], p3[2], p3[3], p3[4],
            p4[0], p4[1], p4[2], p4[3], p4[4],
        ];
    }
    *state = a;
}

/// One plane of chi (FIPS 202 §3.2.4).
#[inline(always)]
fn chi([b0, b1, b2, b3, b4]: [u64; 5]) -> [u64; 5] {
    [b0 ^ (!b1 & b2), b1 ^ (!b2 & b3), b2 ^ (!b3 & b4), b3 ^ (!b4 & b0), b4 ^ (!b0 & b1)]
}

/// RC of the 24 rounds (FIPS 202 §3.2.5).
static ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
