//! WalnutDSA as submitted to NIST in 2017: verification. **The scheme is broken** (Beullens and Blackburn, *Practical
//! attacks against the Walnut digital signature scheme*, ASIACRYPT 2018): signatures can be forged in a second. It is
//! here because its times were published. No image and no boot stage can name it.
//!
//! A public key has two matrices over a field and a permutation of eight strands. A signature is a word in the
//! generators of the braid group, of any form: only the equation decides.
//!
//! Eight elements are a word of 64 bits: bit 8 k + r is coefficient k of element r. Elements of GF(2^5) are kept modulo
//! a multiple of its polynomial, x^8 + x^3 + x^2 + 1, so that both fields have eight coefficients.

pub(crate) mod kernels;
#[cfg(any(target_arch = "riscv64", test))]
pub(crate) mod known;
#[cfg(test)]
mod tests;

use crate::Kernels;

/// Number of strands, and of rows and columns of a matrix.
pub(crate) const STRANDS: usize = 8;

/// Maximum number of bytes of a braid with its count (submission, `CRYPTO_BYTES` of the longest form), which bounds the
/// work. No other form of a level is longer.
const MAX_BRAID: [usize; 2] = [2000, 3400];

/// Bytes of the longest encoded digest: 64 bytes of two nibbles, each of which takes 20 generators.
const MAX_ENCODED: usize = 64 * 20;

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalnutLevel {
    /// GF(2^5) and a digest of 32 bytes.
    Level128,
    /// GF(2^8) and a digest of 64 bytes.
    Level256,
}

impl WalnutLevel {
    /// All parameter sets.
    pub const ALL: [WalnutLevel; 2] = [WalnutLevel::Level128, WalnutLevel::Level256];

    pub(crate) const fn field(self) -> BinaryField {
        match self {
            Self::Level128 => BinaryField { bits: 5, reduced: spread(0b0000_1101) },
            Self::Level256 => BinaryField { bits: 8, reduced: spread(0b0001_1011) },
        }
    }

    /// Returns the name of the level in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Level128 => "walnut-128",
            Self::Level256 => "walnut-256",
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

/// Bit 0 of each byte: the element in row 0.
pub(crate) const EACH: u64 = 0x0101_0101_0101_0101;

/// Makes the element in row 0 of its coefficients.
pub(crate) const fn spread(coefficients: u8) -> u64 {
    // Each factor moves the number so that another bit of it is at the place of its coefficient.
    let low = (coefficients & 0x7f) as u64;
    low.wrapping_mul(0x0002_0408_1020_4081) & EACH | ((coefficients >> 7) as u64) << 56
}

/// A field of characteristic 2.
#[derive(Clone, Copy)]
pub(crate) struct BinaryField {
    pub bits: u32,
    /// x^8 reduced.
    pub reduced: u64,
}

impl BinaryField {
    /// Multiplies eight elements by x.
    pub(crate) const fn double(self, elements: u64) -> u64 {
        elements << 8 ^ (elements >> 56).wrapping_mul(self.reduced)
    }

    /// Multiplies eight elements by the element in row 0 of `by`, which is reduced.
    pub(crate) fn scale(self, mut elements: u64, by: u64) -> u64 {
        let mut sum = 0;
        for bit in 0..self.bits {
            sum ^= elements & (by >> (8 * bit) & 1).wrapping_neg();
            elements = self.double(elements);
        }
        sum
    }

    /// Reduces eight elements modulo the polynomial of the field.
    pub(crate) const fn reduce(self, elements: u64) -> u64 {
        if self.bits == 8 {
            return elements;
        }
        // x^5 is x^2 + 1.
        let high = elements >> 40;
        elements & !(u64::MAX << 40) ^ high ^ high << 16
    }

    /// Returns the inverse of the element in row 0: the power of 2^bits - 2.
    fn invert(self, element: u64) -> u64 {
        let (mut power, mut square) = (1, element);
        for _ in 1..self.bits {
            square = self.reduce(self.scale(square, square));
            power = self.reduce(self.scale(power, square));
        }
        power
    }
}

/// A matrix by columns. Element r of a column is in row r.
pub(crate) type Matrix = [u64; STRANDS];

const IDENTITY: Matrix = [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7];

/// A permutation: values below [`STRANDS`].
pub(crate) type Permutation = [usize; STRANDS];

const IN_ORDER: Permutation = [0, 1, 2, 3, 4, 5, 6, 7];

/// The value of a strand and its inverse, both reduced and in row 0.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct StrandValue {
    pub value: u64,
    pub inverse: u64,
}

/// A word in the generators: four bits for each, the high nibble of a byte first. The lower three bits of a nibble are
/// the strand, from 0 to 6, and the other says that it is the inverse.
#[derive(Clone, Copy)]
pub(crate) struct BraidWord<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> BraidWord<'a> {
    /// Returns the first `count` generators, or `None` if there are not as many or one of them does not exist.
    fn new(bytes: &'a [u8], count: usize) -> Option<Self> {
        let word = Self { bytes: bytes.get(..count.div_ceil(2))?, count };
        let (pairs, last) = word.bytes.split_at_checked(count / 2)?;
        let is_one = |nibble: u8| nibble & 7 != 7;
        let are_two = |byte: &u8| is_one(byte >> 4) && is_one(*byte);
        let are_all = pairs.iter().all(are_two) && last.iter().all(|byte| is_one(byte >> 4));
        are_all.then_some(word)
    }

    /// Bytes of [`Self::count`] generators.
    #[cfg(target_arch = "riscv64")]
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }

    #[cfg(target_arch = "riscv64")]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn nibbles(&self) -> impl Iterator<Item = u8> {
        self.bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(self.count)
    }
}

/// A matrix and a permutation, and the word that acts on them from the right.
pub(crate) struct Action<'a> {
    pub matrix: &'a mut Matrix,
    pub permutation: &'a Permutation,
    pub word: BraidWord<'a>,
}

/// The word of a digest.
struct EncodedDigest {
    bytes: [u8; MAX_ENCODED],
    count: usize,
}

impl EncodedDigest {
    fn of(digest: &[u8]) -> Self {
        let mut word = Self { bytes: [0; MAX_ENCODED], count: 0 };
        for byte in digest {
            word.add_nibble(byte >> 4);
            word.add_nibble(byte & 15);
        }
        word
    }

    /// Adds the word that a nibble of the digest stands for (submission, encoder): a pure braid.
    fn add_nibble(&mut self, nibble: u8) {
        let strand = 2 * (nibble & 3);
        for conjugate in (strand + 1..STRANDS as u8 - 1).rev() {
            self.add(conjugate);
        }
        for _ in 0..2 * ((nibble >> 2) + 1) {
            self.add(strand);
        }
        for conjugate in strand + 1..STRANDS as u8 - 1 {
            self.add(conjugate | 8);
        }
    }

    fn word(&self) -> Option<BraidWord<'_>> {
        // Each of them is a generator.
        Some(BraidWord { bytes: self.bytes.get(..self.count.div_ceil(2))?, count: self.count })
    }

    fn add(&mut self, generator: u8) {
        if let Some(byte) = self.bytes.get_mut(self.count / 2) {
            *byte |= generator << (4 * (self.count + 1) % 8);
            self.count += 1;
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

    fn matrix(&mut self, field: BinaryField) -> Option<Matrix> {
        let mut matrix = [0; STRANDS];
        for row in 0..STRANDS - 1 {
            for column in &mut matrix {
                *column |= spread(self.next(field.bits)?) << row;
            }
        }
        // All other elements of the last row are zero.
        let [.., last] = &mut matrix;
        *last |= spread(self.next(field.bits)?) << (STRANDS - 1);
        self.align()?;
        Some(matrix)
    }
}

struct WalnutKey {
    values: [StrandValue; STRANDS],
    first: Matrix,
    permutation: Permutation,
    second: Matrix,
}

impl WalnutKey {
    fn parse(field: BinaryField, bytes: &[u8]) -> Option<Self> {
        let mut packed = Packed { bytes, at: 0 };
        let head = [packed.next(8)?, packed.next(8)?, packed.next(8)?];
        let [high, low] = (1_u16 << field.bits).to_be_bytes();
        if head != [STRANDS as u8, high, low] {
            return None;
        }
        let mut values = [StrandValue::default(); STRANDS];
        for to in &mut values {
            let value = spread(packed.next(field.bits)?);
            if value == 0 {
                return None;
            }
            *to = StrandValue { value, inverse: field.invert(value) };
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
pub fn verify(
    kernels: &Kernels,
    level: WalnutLevel,
    public_key: &[u8],
    braid: &[u8],
    digest: &[u8],
) -> bool {
    Verification::parse(level, public_key, braid, digest).is_some_and(|mut verification| {
        verification.multiply(kernels);
        verification.is_valid()
    })
}

/// The steps of a verification, so that each can be measured.
pub struct Verification<'a> {
    level: WalnutLevel,
    key: WalnutKey,
    encoded: EncodedDigest,
    braid: BraidWord<'a>,
    /// The products with the encoded digest and with the braid.
    products: [Matrix; 2],
}

impl<'a> Verification<'a> {
    /// Parses key and braid, and encodes the digest. Returns `None` if one of them is malformed.
    pub fn parse(
        level: WalnutLevel,
        public_key: &[u8],
        braid: &'a [u8],
        digest: &[u8],
    ) -> Option<Self> {
        let (count, nibbles) = braid.split_first_chunk::<2>()?;
        let count = usize::from(u16::from_be_bytes(*count));
        let is_of_length = nibbles.len() == count.div_ceil(2) && braid.len() <= level.max_braid();
        if !is_of_length || digest.len() != level.digest_len() {
            return None;
        }
        let key = WalnutKey::parse(level.field(), public_key)?;
        let braid = BraidWord::new(nibbles, count)?;
        Some(Self {
            level,
            key,
            encoded: EncodedDigest::of(digest),
            braid,
            products: [[0; STRANDS]; 2],
        })
    }

    /// Number of generators of the encoded digest and of the braid.
    pub const fn generators(&self) -> usize {
        self.encoded.count + self.braid.count
    }

    /// Computes both products, from the start (submission, E-multiplication).
    pub fn multiply(&mut self, kernels: &Kernels) {
        let Some(digest) = self.encoded.word() else { return };
        self.products = [IDENTITY, self.key.first];
        let [ours, theirs] = &mut self.products;
        let mut actions = [
            Action { matrix: ours, permutation: &IN_ORDER, word: digest },
            Action { matrix: theirs, permutation: &self.key.permutation, word: self.braid },
        ];
        (kernels.walnut.run)(self.level, &self.key.values, &mut actions);
    }

    /// Returns the products with the encoded digest and with the braid, reduced.
    pub fn products(&self) -> [[u64; STRANDS]; 2] {
        let field = self.level.field();
        self.products.map(|product| product.map(|column| field.reduce(column)))
    }

    /// Returns true if the equation holds: the product with the braid is that with the digest times the second matrix.
    pub fn is_valid(&self) -> bool {
        let field = self.level.field();
        let [ours, theirs] = &self.products;
        self.key.second.iter().zip(theirs).all(|(elements, theirs)| {
            let terms = (0..).zip(ours).map(|(row, column)| field.scale(*column, elements >> row));
            field.reduce(terms.fold(*theirs, |sum, term| sum ^ term)) == 0
        })
    }
}
