//! Integers modulo the order L of the base point (RFC 8032 §5.1).

/// The order L = 2^252 + 27742317777372353535851937790883648493 as 64-bit words, least significant word first.
pub(super) const L: [u64; 4] =
    [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0x0000_0000_0000_0000, 0x1000_0000_0000_0000];

/// The value 2^256 - L. Its subtraction modulo 2^256 adds L.
const MINUS_L: [u64; 4] = [L[0].wrapping_neg(), !L[1], !L[2], !L[3]];

/// Number of digits of a scalar in signed form. L is below 2^253, and the last carry needs one more digit.
const DIGITS: usize = 254;

/// An integer below L.
#[derive(Clone, Copy)]
pub(super) struct Scalar([u64; 4]);

impl Scalar {
    /// Reads 32 little-endian bytes. Returns `None` if the value is not below L (RFC 8032 §5.1.7 step 1). Without
    /// this check, S + L would be a second valid signature for the same message.
    pub(super) fn from_canonical_bytes(bytes: &[u8; 32]) -> Option<Scalar> {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let (_, is_below) = subtract(words, L);
        is_below.then_some(Scalar(words))
    }

    /// Reduces the 64 little-endian bytes of a SHA-512 digest modulo L (RFC 8032 §5.1.7 step 2).
    pub(super) fn from_digest(digest: &[u8; 64]) -> Scalar {
        // The digest is processed 32 bits at a time. With c = L - 2^252, the part q · 2^252 of the remainder is
        // replaced by -q · c, which is congruent modulo L.
        let mut remainder = [0; 4];
        for bytes in digest.as_chunks::<4>().0.iter().rev() {
            let [r0, r1, r2, r3]: [u64; 4] = remainder;
            // q is below 2^33, because L is below 2^253. So q · c is below L, and L must be added at most once.
            let q = r3 >> 28;
            let rest = [
                (r0 << 32) | u64::from(u32::from_le_bytes(*bytes)),
                (r1 << 32) | (r0 >> 32),
                (r2 << 32) | (r1 >> 32),
                ((r3 & 0x0fff_ffff) << 32) | (r2 >> 32),
            ];
            let low = u128::from(q).wrapping_mul(u128::from(L[0]));
            let high = u128::from(q).wrapping_mul(u128::from(L[1])).wrapping_add(low >> 64);
            let (less, was_below) =
                subtract(rest, [low as u64, high as u64, (high >> 64) as u64, 0]);
            // There is no branch here, because a signer reduces secrets with this function.
            let mask = core::hint::black_box(u64::from(was_below)).wrapping_neg();
            remainder = subtract(less, MINUS_L.map(|word| word & mask)).0;
        }
        Scalar(remainder)
    }

    #[cfg(any(feature = "ed25519-signer", test))]
    pub(super) const fn words(self) -> [u64; 4] {
        self.0
    }

    /// Returns signed digits of weight 2^i, least significant digit first (width-5 non-adjacent form). A digit is
    /// zero or odd, and from -15 to 15. At least four zeros follow each nonzero digit.
    pub(super) fn signed_digits(self) -> [i8; DIGITS] {
        let mut rest = self.0;
        let mut digits = [0; DIGITS];
        for digit in &mut digits {
            let low = rest[0] & 31;
            if low & 1 == 1 {
                // The five low bits are cleared. If they are 16 or more, the digit is low - 32, and 32 is added back.
                rest[0] ^= low;
                *digit = low as i8;
                if low >= 16 {
                    *digit = (low as i8).wrapping_sub(32);
                    rest = add_small(rest, 32);
                }
            }
            rest = halve(rest);
        }
        digits
    }
}

/// Returns `a - b` modulo 2^256, and true if `a` was below `b`.
#[inline(never)]
fn subtract(a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut difference = a;
    let mut borrow = false;
    for (word, b) in difference.iter_mut().zip(b) {
        (*word, borrow) = word.borrowing_sub(b, borrow);
    }
    (difference, borrow)
}

fn add_small(a: [u64; 4], small: u64) -> [u64; 4] {
    let mut sum = a;
    let mut carry = small;
    for word in &mut sum {
        let (added, overflow) = word.overflowing_add(carry);
        *word = added;
        carry = overflow as u64;
    }
    sum
}

/// Returns `a / 2`, rounded down.
fn halve([a0, a1, a2, a3]: [u64; 4]) -> [u64; 4] {
    [(a0 >> 1) | (a1 << 63), (a1 >> 1) | (a2 << 63), (a2 >> 1) | (a3 << 63), a3 >> 1]
}
