//! The portable implementation of Keccak-p (FIPS 202 §3).

/// Number of rounds of Keccak-f\[1600\], which all functions of FIPS 202 and SP 800-185 use.
pub(crate) const FULL_ROUNDS: usize = 24;

/// A function with the arguments state, whole blocks, rate in words, and number of rounds.
pub(crate) type Absorb = fn(&mut [u64; 25], &[u8], usize, usize);

/// A function with the arguments states, one message for each state, rate in words, and number of rounds. Messages
/// consist of whole blocks and have equal lengths.
pub(crate) type AbsorbMany = fn(&mut [[u64; 25]], &[&[u8]], usize, usize);

/// XORs each block of `rate_words` lanes into the state and permutes the state after it (FIPS 202 §4, step 6). Blocks
/// do not reach the capacity part of the state. An incomplete block at the end is ignored.
// Every permutation happens here, so a kernel in assembly replaces this function. It is not inlined, so that callers
// do not contain copies of it.
#[inline(never)]
pub(crate) fn absorb(state: &mut [u64; 25], blocks: &[u8], rate_words: usize, rounds: usize) {
    // The rate is never 0. The call of `max` only removes the panic path of `chunks_exact`.
    for block in blocks.chunks_exact(rate_words.wrapping_mul(8).max(8)) {
        for (lane, bytes) in state.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane ^= u64::from_le_bytes(*bytes);
        }
        keccak_p1600(state, rounds);
    }
}

/// Applies KECCAK-p\[1600, rounds\] (FIPS 202 §3.3), the last `rounds` of the 24 rounds. Lane A\[x, y\] is `state[x +
/// 5 * y]`.
#[inline(always)]
#[rustfmt::skip] // one plane a line
fn keccak_p1600(state: &mut [u64; 25], rounds: usize) {
    // All indexes below are constants, so that the compiler can hold the copy in 25 local values instead of an array
    // in memory.
    let mut a = *state;
    let skipped = FULL_ROUNDS.wrapping_sub(rounds);
    for round_constant in ROUND_CONSTANTS.get(skipped..).unwrap_or(&ROUND_CONSTANTS) {
        // Theta (§3.2.1): c are the column parities, d the values that are added to the lanes of each column.
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

        // Rho (§3.2.2) and pi (§3.2.3) select and rotate the lanes of each plane, and chi (§3.2.4) combines them.
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
        // Iota (§3.2.5) adds the round constant.
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

/// Applies chi to one plane (FIPS 202 §3.2.4).
#[inline(always)]
fn chi([b0, b1, b2, b3, b4]: [u64; 5]) -> [u64; 5] {
    [b0 ^ (!b1 & b2), b1 ^ (!b2 & b3), b2 ^ (!b3 & b4), b3 ^ (!b4 & b0), b4 ^ (!b0 & b1)]
}

/// The round constants RC of the 24 rounds (FIPS 202 §3.2.5).
pub static ROUND_CONSTANTS: [u64; 24] = [
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
