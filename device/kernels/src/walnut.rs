//! WalnutDSA as submitted to NIST in 2017: verification. **The scheme is broken** (Beullens and Blackburn, *Practical
//! attacks against the Walnut digital signature scheme*, ASIACRYPT 2018): signatures can be forged in a second. It is
//! here because its times were published. No image and no boot stage can name it.
//!
//! A public key has two matrices over a field and a permutation of eight strands. A signature is a word in the
//! generators of the braid group, of any form: only the equation decides.

/// Number of strands, and of rows and columns of a matrix.
const STRANDS: usize = 8;

/// Maximum number of bytes of a braid with its count (submission, `CRYPTO_BYTES` of the longest form), which bounds the
/// work. No other form of a level is longer.
const MAX_BRAID: [usize; 2] = [2000, 3400];

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalnutLevel {
    /// GF(2^5) and a digest of 32 bytes.
    Level128,
    /// GF(2^8) and a digest of 64 bytes.
    Level256,
}

impl WalnutLevel {
    /// Bits of an element of the field, and the polynomial without its highest term.
    const fn field(self) -> Field {
        match self {
            Self::Level128 => Field { bits: 5, polynomial: 0x05 },
            Self::Level256 => Field { bits: 8, polynomial: 0x1b },
        }
    }

    /// Length of a digest in bytes: that of SHA-256 or SHA-512.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Level128 => 32,
            Self::Level256 => 64,
        }
    }

    const fn max_braid(self) -> usize {
        MAX_BRAID[self as usize]
    }
}

/// A field of characteristic 2.
#[derive(Clone, Copy)]
struct Field {
    bits: u32,
    polynomial: u64,
}

/// Each byte of a word is 1.
const EACH: u64 = 0x0101_0101_0101_0101;

impl Field {
    /// Multiplies eight elements, one in each byte, by x.
    const fn double(self, elements: u64) -> u64 {
        let top = elements & EACH << (self.bits - 1);
        (elements ^ top) << 1 ^ (top >> (self.bits - 1)).wrapping_mul(self.polynomial)
    }

    /// Multiplies eight elements, one in each byte, by one element.
    fn scale(self, mut elements: u64, by: u8) -> u64 {
        let mut sum = 0;
        for bit in 0..self.bits {
            sum ^= elements & u64::from(by >> bit & 1).wrapping_neg();
            elements = self.double(elements);
        }
        sum
    }

    /// Returns the inverse: the power of 2^bits - 2.
    fn invert(self, element: u8) -> u8 {
        let mut power = 1;
        let mut square = u64::from(element);
        for _ in 1..self.bits {
            square = self.scale(square, square as u8);
            power = self.scale(power, square as u8);
        }
        power as u8
    }
}

/// A matrix by columns. Byte r of a column is the element in row r.
type Matrix = [u64; STRANDS];

const IDENTITY: Matrix = [1, 1 << 8, 1 << 16, 1 << 24, 1 << 32, 1 << 40, 1 << 48, 1 << 56];

/// A matrix and a permutation, on which generators act from the right.
struct Action<'a> {
    field: Field,
    /// The values of the strands, and their inverses.
    values: &'a [(u8, u8); STRANDS],
    matrix: Matrix,
    permutation: [usize; STRANDS],
}

impl Action<'_> {
    /// Multiplies by the coloured Burau matrix of a generator (submission, E-multiplication). `strand` counts from 0.
    fn apply(&mut self, strand: usize, is_inverse: bool) {
        let value = |index: Option<&usize>| index.and_then(|it| self.values.get(*it)).copied();
        let (left, right) = (self.permutation.get(strand), self.permutation.get(strand + 1));
        let Some(column) = self.matrix.get(strand).copied() else { return };
        // The three products are a x, b x and c x, of which two are equal and one is x.
        let (to_left, here, to_right) = if is_inverse {
            let scaled = self.field.scale(column, value(right).unwrap_or_default().1);
            (column, scaled, scaled)
        } else {
            let scaled = self.field.scale(column, value(left).unwrap_or_default().0);
            (scaled, scaled, column)
        };
        if let Some(before) = strand.checked_sub(1).and_then(|at| self.matrix.get_mut(at)) {
            *before ^= to_left;
        }
        if let Some([place, after]) =
            self.matrix.get_mut(strand..=strand + 1).and_then(|it| it.as_mut_array())
        {
            *place = here;
            *after ^= to_right;
            self.permutation.swap(strand, strand + 1);
        }
    }

    /// Applies the word that a nibble of the digest stands for (submission, encoder): a pure braid.
    fn apply_nibble(&mut self, nibble: u8) {
        let strand = 2 * usize::from(nibble & 3);
        for conjugate in (strand + 1..STRANDS - 1).rev() {
            self.apply(conjugate, false);
        }
        for _ in 0..2 * ((nibble >> 2) + 1) {
            self.apply(strand, false);
        }
        for conjugate in strand + 1..STRANDS - 1 {
            self.apply(conjugate, true);
        }
    }
}

/// The bits of packed values, the highest of each first.
struct Packed<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Packed<'_> {
    fn next(&mut self, bits: u32) -> Option<u8> {
        let mut value = 0;
        for _ in 0..bits {
            let bit = self.bytes.get(self.at / 8)? >> (7 - self.at % 8) & 1;
            value = value << 1 | bit;
            self.at += 1;
        }
        Some(value)
    }

    /// Goes to the next byte. The bits before it are zero.
    fn align(&mut self) -> Option<()> {
        while !self.at.is_multiple_of(8) {
            if self.next(1)? != 0 {
                return None;
            }
        }
        Some(())
    }

    fn matrix(&mut self, field: Field) -> Option<Matrix> {
        let mut matrix = [0; STRANDS];
        for row in 0..STRANDS - 1 {
            for column in &mut matrix {
                *column |= u64::from(self.next(field.bits)?) << (8 * row);
            }
        }
        // All other elements of the last row are zero.
        let [.., last] = &mut matrix;
        *last |= u64::from(self.next(field.bits)?) << 56;
        self.align()?;
        Some(matrix)
    }
}

struct WalnutKey {
    values: [(u8, u8); STRANDS],
    first: Matrix,
    permutation: [usize; STRANDS],
    second: Matrix,
}

impl WalnutKey {
    fn parse(field: Field, bytes: &[u8]) -> Option<Self> {
        let mut packed = Packed { bytes, at: 0 };
        let head = [packed.next(8)?, packed.next(8)?, packed.next(8)?];
        let [high, low] = (1_u16 << field.bits).to_be_bytes();
        if head != [STRANDS as u8, high, low] {
            return None;
        }
        let mut values = [(0, 0); STRANDS];
        for value in &mut values {
            let element = packed.next(field.bits)?;
            if element == 0 {
                return None;
            }
            *value = (element, field.invert(element));
        }
        packed.align()?;
        let first = packed.matrix(field)?;
        let mut permutation = [0; STRANDS];
        let mut seen = 0_u8;
        for strand in &mut permutation {
            *strand = usize::from(packed.next(3)?);
            seen |= 1 << *strand;
        }
        let second = packed.matrix(field)?;
        let is_whole = packed.at == 8 * bytes.len();
        (seen == u8::MAX && is_whole).then_some(Self { values, first, permutation, second })
    }
}

/// Verifies a braid, which begins with its count of generators in two bytes (submission, verification). `digest` is that of
/// the message. A malformed key or braid is not valid; the bits after the last generator are not looked at.
pub fn verify(level: WalnutLevel, public_key: &[u8], braid: &[u8], digest: &[u8]) -> bool {
    let field = level.field();
    let Some((count, nibbles)) = braid.split_first_chunk::<2>() else { return false };
    let count = usize::from(u16::from_be_bytes(*count));
    let Some(key) = WalnutKey::parse(field, public_key) else { return false };
    let is_of_length = nibbles.len() == count.div_ceil(2) && braid.len() <= level.max_braid();
    if !is_of_length || digest.len() != level.digest_len() {
        return false;
    }
    let permutation = core::array::from_fn(|strand| strand);
    let mut ours = Action { field, values: &key.values, matrix: IDENTITY, permutation };
    for byte in digest {
        ours.apply_nibble(byte >> 4);
        ours.apply_nibble(byte & 15);
    }
    let mut theirs =
        Action { field, values: &key.values, matrix: key.first, permutation: key.permutation };
    for generator in nibbles.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(count) {
        let strand = usize::from(generator & 7);
        if strand == STRANDS - 1 {
            return false;
        }
        theirs.apply(strand, generator & 8 != 0);
    }
    let product = key.second.map(|column| {
        let elements = column.to_le_bytes();
        let terms = ours.matrix.iter().zip(elements).map(|(column, by)| field.scale(*column, by));
        terms.fold(0, |sum, term| sum ^ term)
    });
    theirs.matrix == product
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    /// Generators with their directions: a braid.
    type Word = Vec<(usize, bool)>;

    /// Values of the strands. With 1 a generator and its inverse would act alike.
    fn values(field: Field) -> [(u8, u8); STRANDS] {
        [2, 3, 4, 5, 7, 9, 11, 13].map(|value| (value, field.invert(value)))
    }

    fn act(field: Field, values: &[(u8, u8); STRANDS], word: &Word) -> (Matrix, [usize; STRANDS]) {
        let permutation = core::array::from_fn(|strand| strand);
        let mut action = Action { field, values, matrix: IDENTITY, permutation };
        for (strand, is_inverse) in word {
            action.apply(*strand, *is_inverse);
        }
        (action.matrix, action.permutation)
    }

    fn word(mut seed: u32, len: usize) -> Word {
        let mut next = || {
            seed = seed.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            (seed >> 24) as usize
        };
        (0..len).map(|_| (next() % 7, next() % 2 == 0)).collect()
    }

    fn inverse(word: &Word) -> Word {
        word.iter().rev().map(|(strand, is_inverse)| (*strand, !is_inverse)).collect()
    }

    /// The word of a digest, from the description of the encoder.
    fn encode(digest: &[u8]) -> Word {
        let mut word = Word::new();
        for nibble in digest.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
            let strand = [0, 2, 4, 6][usize::from(nibble & 3)];
            let conjugate: Word = (strand + 1..7).rev().map(|it| (it, false)).collect();
            let back = inverse(&conjugate);
            word.extend(conjugate);
            word.extend(vec![(strand, false); 2 * usize::from((nibble >> 2) + 1)]);
            word.extend(back);
        }
        word
    }

    #[derive(Default)]
    struct Bits(Vec<bool>);

    impl Bits {
        fn put(&mut self, value: u8, bits: u32) {
            self.0.extend((0..bits).rev().map(|bit| value >> bit & 1 != 0));
        }

        fn align(&mut self) {
            self.0.resize(self.0.len().next_multiple_of(8), false);
        }

        fn put_matrix(&mut self, matrix: &Matrix, bits: u32) {
            for row in 0..7 {
                for column in matrix {
                    self.put(column.to_le_bytes()[row], bits);
                }
            }
            self.put(matrix[7].to_le_bytes()[7], bits);
            self.align();
        }

        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
            self.0.chunks(8).map(byte).collect()
        }
    }

    /// Makes a public key of two words.
    fn public_key(level: WalnutLevel, first: &Word, second: &Word) -> Vec<u8> {
        let field = level.field();
        let values = values(field);
        let mut bits = Bits::default();
        bits.put(8, 8);
        bits.put(((1_u16 << field.bits) >> 8) as u8, 8);
        bits.put((1_u16 << field.bits) as u8, 8);
        values.iter().for_each(|value| bits.put(value.0, field.bits));
        bits.align();
        let (matrix, permutation) = act(field, &values, first);
        bits.put_matrix(&matrix, field.bits);
        permutation.iter().for_each(|strand| bits.put(*strand as u8, 3));
        bits.put_matrix(&act(field, &values, second).0, field.bits);
        bits.bytes()
    }

    fn braid(word: &Word) -> Vec<u8> {
        let nibble = |(strand, is_inverse): (usize, bool)| strand as u8 | u8::from(is_inverse) << 3;
        let pair = |pair: &[(usize, bool)]| {
            nibble(pair[0]) << 4 | pair.get(1).map_or(0, |generator| nibble(*generator))
        };
        let count = (word.len() as u16).to_be_bytes();
        count.into_iter().chain(word.chunks(2).map(pair)).collect()
    }

    /// Signs without elements that hide the key: S⁻¹ E(digest) S'.
    fn sign(first: &Word, second: &Word, digest: &[u8]) -> Word {
        [inverse(first), encode(digest), second.clone()].concat()
    }

    #[test]
    fn what_the_equation_says_is_valid() {
        for level in [WalnutLevel::Level128, WalnutLevel::Level256] {
            let (first, second) = (word(1, 40), word(2, 41));
            let key = public_key(level, &first, &second);
            let digest: Vec<u8> = (0..level.digest_len()).map(|at| (at * 73 + 5) as u8).collect();
            let signature = sign(&first, &second, &digest);
            assert!(verify(level, &key, &braid(&signature), &digest));
            // Another digest, another signature, another word.
            let mut other = digest.clone();
            other[3] ^= 0x40;
            assert!(!verify(level, &key, &braid(&signature), &other));
            for at in [0, 1, signature.len() / 2, signature.len() - 1] {
                let mut changed = signature.clone();
                changed[at].1 = !changed[at].1;
                assert!(!verify(level, &key, &braid(&changed), &digest), "{at}");
            }
            assert!(!verify(level, &key, &braid(&signature[1..].to_vec()), &digest));
            // A pair that cancels itself is the same element.
            let mut longer = signature.clone();
            longer.splice(7..7, [(3, false), (3, true)]);
            assert!(verify(level, &key, &braid(&longer), &digest));
            for at in 0..8 * key.len() {
                let mut changed = key.clone();
                changed[at / 8] ^= 1 << (at % 8);
                assert!(
                    !verify(level, &changed, &braid(&signature), &digest),
                    "bit {at} of the key"
                );
            }
        }
    }

    #[test]
    fn a_malformed_braid_or_key_is_not_valid() {
        let level = WalnutLevel::Level128;
        let (first, second) = (word(3, 10), word(4, 10));
        let key = public_key(level, &first, &second);
        let digest = [7; 32];
        let good = braid(&sign(&first, &second, &digest));
        assert!(verify(level, &key, &good, &digest));
        assert!(!verify(level, &key, &good, &digest[1..]));
        assert!(!verify(WalnutLevel::Level256, &key, &good, &digest));
        for len in [0, 1, 2, good.len() - 1] {
            assert!(!verify(level, &key, &good[..len], &digest));
        }
        assert!(!verify(level, &key, &[&good[..], &[0]].concat(), &digest));
        assert!(!verify(level, &key[1..], &good, &digest));
        assert!(!verify(level, &[&key[..], &[0]].concat(), &good, &digest));
        // There is no eighth generator.
        let mut eighth = good.clone();
        eighth[9] = 0x70;
        assert!(!verify(level, &key, &eighth, &digest));
    }

    #[test]
    fn the_work_is_bounded() {
        for (level, most) in [(WalnutLevel::Level128, 2000), (WalnutLevel::Level256, 3400)] {
            let (first, second) = (word(5, 9), word(6, 9));
            let key = public_key(level, &first, &second);
            let digest = vec![0x3c; level.digest_len()];
            let signature = sign(&first, &second, &digest);
            let long = |len: usize| {
                let pairs = (len - signature.len()) / 2;
                let filler = [[(2, false), (2, true)]; 1].concat().repeat(pairs);
                braid(&[filler, signature.clone()].concat())
            };
            // Two bytes are the count, and two generators are a byte.
            let len = 2 * (most - 2) - signature.len() % 2;
            assert!(verify(level, &key, &long(len), &digest));
            assert!(!verify(level, &key, &long(len + 2), &digest));
        }
    }
}
