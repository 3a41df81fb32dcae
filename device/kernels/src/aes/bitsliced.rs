//! The rounds of AES on four blocks, whose bits lie in eight words, called planes.
//!
//! Bit 16 r + 4 c + b of plane k is bit k of the byte in row r and column c of block b. A byte is substituted by logic
//! on the planes, and columns are mixed by rotations of words and within groups of 16 bits.
//!
//! Rows are not shifted (Adomnicai and Peyrin, *Fixslicing AES-like ciphers*, 2020). After i rounds the byte of row r and
//! column c is i r columns further right, and so is that of round key i. The constant of the substitution is in the round
//! keys too.

use core::array;

use super::Blocks;
use crate::secret::wipe;

/// The bits of four blocks.
pub(super) type Planes = [u64; 8];

/// Moves byte i of a word to byte 2 i.
const fn spread(word: u32) -> u64 {
    let word = word as u64;
    let word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    (word | word << 8) & 0x00ff_00ff_00ff_00ff
}

/// Moves byte 2 i of a word to byte i.
const fn gather(word: u64) -> u32 {
    let word = word & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) as u32
}

/// Exchanges the bits of `a` under `mask << shift` with those of `b` under `mask`.
const fn exchange(a: &mut u64, b: &mut u64, mask: u64, shift: u32) {
    let difference = (*a >> shift ^ *b) & mask;
    *a ^= difference << shift;
    *b ^= difference;
}

/// Exchanges bit i of each byte of word k with bit k of the same byte of word i. It is its own inverse.
fn transpose(words: &mut Planes) {
    let [a, b, c, d, e, f, g, h] = words;
    let pairs = |pairs: [(&mut u64, &mut u64); 4], mask, shift| {
        for (low, high) in pairs {
            exchange(low, high, mask, shift);
        }
    };
    pairs([(a, b), (c, d), (e, f), (g, h)], 0x5555_5555_5555_5555, 1);
    pairs([(a, c), (b, d), (e, g), (f, h)], 0x3333_3333_3333_3333, 2);
    pairs([(a, e), (b, f), (c, g), (d, h)], 0x0f0f_0f0f_0f0f_0f0f, 4);
}

fn columns(block: &[u8; 16]) -> [u32; 4] {
    let word = |at| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    [word(0), word(4), word(8), word(12)]
}

/// Returns the two words of the columns of a block: the even columns, and the odd ones.
fn halves([c0, c1, c2, c3]: [u32; 4]) -> [u64; 2] {
    [spread(c0) | spread(c2) << 8, spread(c1) | spread(c3) << 8]
}

fn pack(blocks: &Blocks) -> Planes {
    let [[a, e], [b, f], [c, g], [d, h]] = blocks.0.each_ref().map(|block| halves(columns(block)));
    let mut planes = [a, b, c, d, e, f, g, h];
    transpose(&mut planes);
    planes
}

fn unpack(mut planes: Planes, blocks: &mut Blocks) {
    transpose(&mut planes);
    let [a, b, c, d, e, f, g, h] = planes;
    for (block, [even, odd]) in blocks.0.iter_mut().zip([[a, e], [b, f], [c, g], [d, h]]) {
        let columns = [gather(even), gather(odd), gather(even >> 8), gather(odd >> 8)];
        for (bytes, column) in block.as_chunks_mut::<4>().0.iter_mut().zip(columns) {
            *bytes = column.to_le_bytes();
        }
    }
}

/// The constant of the substitution (FIPS 197 §5.1.1).
const CONSTANT: u8 = 0x63;

/// Makes the planes of a round key for all blocks.
pub(super) fn spread_round_key(planes: &mut Planes, columns: &[u32; 4], round: usize) {
    // What the substitution before it leaves out. Mixed columns of equal bytes are the same.
    let constant = if round == 0 { 0 } else { u32::from_ne_bytes([CONSTANT; 4]) };
    let [even, odd] = halves(columns.map(|column| column ^ constant));
    *planes = [even, even, even, even, odd, odd, odd, odd];
    transpose(planes);
    shift_rows(planes, round.wrapping_neg());
}

/// Substitutes each byte of a word.
pub(super) fn sub_word(word: u32) -> u32 {
    let mut planes = [spread(word), 0, 0, 0, 0, 0, 0, 0];
    transpose(&mut planes);
    substitute(&mut planes);
    transpose(&mut planes);
    let word = gather(planes[0]);
    wipe(&mut planes);
    word ^ u32::from_ne_bytes([CONSTANT; 4])
}

/// Substitutes each byte (FIPS 197 §5.1.1) without adding [`CONSTANT`], by the circuit of 113 gates of Boyar and Peralta (*A depth-16 circuit for
/// the AES S-box*, 2011, and the smaller form on their page), in which `x0` is the highest bit.
fn substitute(planes: &mut Planes) {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = *planes;
    // The linear layer before the inversion.
    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;
    // The inversion in GF(2^8), over GF(2^4).
    let t2 = y12 & y15;
    let t4 = y3 & y6 ^ t2;
    let t6 = y4 & x7 ^ t2;
    let t7 = y13 & y16;
    let t9 = y5 & y1 ^ t7;
    let t11 = y2 & y7 ^ t7;
    let t12 = y9 & y11;
    let t14 = y14 & y17 ^ t12;
    let t16 = y8 & y10 ^ t12;
    let t21 = t4 ^ t14 ^ y20;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = t25 & t27 ^ t22;
    let t30 = t23 ^ t24;
    let t33 = (t22 ^ t26) & t30 ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ t29 & t38;
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;
    // The linear layer after it, with the affine map.
    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let t67 = t64 ^ t65;
    let s3 = t53 ^ t66;
    *planes = [t48 ^ t60, t56 ^ t62, t47 ^ t65, t51 ^ t66, s3, t55 ^ t67, t64 ^ s3, t59 ^ t63];
}

/// Inverts the linear part of the affine map of the substitution.
fn undo_linear(planes: &mut Planes) {
    let [a, b, c, d, e, f, g, h] = *planes;
    // b'(i) = b(i+2) + b(i+5) + b(i+7) (FIPS 197 §5.3.2).
    *planes =
        [c ^ f ^ h, d ^ g ^ a, e ^ h ^ b, f ^ a ^ c, g ^ b ^ d, h ^ c ^ e, a ^ d ^ f, b ^ e ^ g];
}

/// Undoes [`substitute`] for bytes to which [`CONSTANT`] was added: with L for [`undo_linear`], L ∘ S is the inversion.
fn substitute_back(planes: &mut Planes) {
    undo_linear(planes);
    substitute(planes);
    undo_linear(planes);
}

/// Shifts row r by r columns (FIPS 197 §5.1.2), as many times.
fn shift_rows(planes: &mut Planes, times: usize) {
    for _ in 0..times % 4 {
        for plane in &mut *planes {
            let x = *plane;
            *plane = x & 0xffff
                | x >> 4 & 0x0fff_0000
                | x << 12 & 0xf000_0000
                | x >> 8 & 0x00ff_0000_0000
                | x << 8 & 0xff00_0000_0000
                | x >> 12 & 0x000f_0000_0000_0000
                | x << 4 & 0xfff0_0000_0000_0000;
        }
    }
}

/// Returns the plane of the bytes that are `ROWS` rows below in the same column, after `ROUNDS` rounds.
fn below<const ROWS: u32, const ROUNDS: usize>(plane: u64) -> u64 {
    let lanes = |of_one: u64| of_one * 0x0001_0001_0001_0001;
    let x = plane.rotate_right(16 * ROWS);
    match ROWS as usize * ROUNDS % 4 {
        0 => x,
        1 => x >> 4 & lanes(0x0fff) | x << 12 & lanes(0xf000),
        2 => x >> 8 & lanes(0x00ff) | x << 8 & lanes(0xff00),
        _ => x >> 12 & lanes(0x000f) | x << 4 & lanes(0xfff0),
    }
}

/// Multiplies each byte by x in GF(2^8) (FIPS 197 §4.2.1).
const fn double([a, b, c, d, e, f, g, h]: Planes) -> Planes {
    [h, a ^ h, b, c ^ h, d ^ h, e, f, g]
}

/// Mixes the columns (FIPS 197 §5.1.3) after `ROUNDS` rounds: 2 a + 3 a' + a'' + a''', with the rows below as a' to a'''.
fn mix_columns<const ROUNDS: usize>(planes: &mut Planes) {
    let below_one = planes.map(below::<1, ROUNDS>);
    let sum: Planes = array::from_fn(|k| planes[k] ^ below_one[k]);
    let doubled = double(sum);
    *planes = array::from_fn(|k| doubled[k] ^ below_one[k] ^ below::<2, ROUNDS>(sum[k]));
}

/// Undoes [`mix_columns`]: with 4 (a + a'') added to a and a'' before.
fn mix_columns_back<const ROUNDS: usize>(planes: &mut Planes) {
    let sum: Planes = array::from_fn(|k| planes[k] ^ below::<2, ROUNDS>(planes[k]));
    let quadrupled = double(double(sum));
    *planes = array::from_fn(|k| planes[k] ^ quadrupled[k]);
    mix_columns::<ROUNDS>(planes);
}

fn add(planes: &mut Planes, key: &Planes) {
    for (plane, key) in planes.iter_mut().zip(key) {
        *plane ^= key;
    }
}

pub(super) fn encrypt(keys: &[Planes], blocks: &mut Blocks) {
    let ([first, middle @ .., last], mut planes) = (keys, pack(blocks)) else { return };
    add(&mut planes, first);
    for (round, key) in (1_usize..).zip(middle) {
        substitute(&mut planes);
        match round % 4 {
            0 => mix_columns::<0>(&mut planes),
            1 => mix_columns::<1>(&mut planes),
            2 => mix_columns::<2>(&mut planes),
            _ => mix_columns::<3>(&mut planes),
        }
        add(&mut planes, key);
    }
    substitute(&mut planes);
    add(&mut planes, last);
    shift_rows(&mut planes, keys.len() - 1);
    unpack(planes, blocks);
}

pub(super) fn decrypt(keys: &[Planes], blocks: &mut Blocks) {
    let ([first, middle @ .., last], mut planes) = (keys, pack(blocks)) else { return };
    shift_rows(&mut planes, 1_usize.wrapping_sub(keys.len()));
    add(&mut planes, last);
    for (round, key) in middle.iter().enumerate().rev() {
        substitute_back(&mut planes);
        add(&mut planes, key);
        match (round + 1) % 4 {
            0 => mix_columns_back::<0>(&mut planes),
            1 => mix_columns_back::<1>(&mut planes),
            2 => mix_columns_back::<2>(&mut planes),
            _ => mix_columns_back::<3>(&mut planes),
        }
    }
    substitute_back(&mut planes);
    add(&mut planes, first);
    unpack(planes, blocks);
}
