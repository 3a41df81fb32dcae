//! The portable multiplication of field elements.

use super::LIMB_MASK;

/// Returns a · b, reduced, for loose limbs.
#[inline(never)]
pub(super) fn multiply(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let (a, [b0, b1, b2, b3, b4]) = (*a, *b);
    // A product with weight 2^255 or more is multiplied by 19 and added at the bottom. Limb k of the result is
    // computed from the five numbers n[k] to n[k + 4] in reverse order, and replaces n[k].
    let mut n = [
        b1.wrapping_mul(19),
        b2.wrapping_mul(19),
        b3.wrapping_mul(19),
        b4.wrapping_mul(19),
        b0,
        b1,
        b2,
        b3,
        b4,
    ];
    // A loop takes as long as five unrolled sums, for which there are not enough registers, and has less code.
    let (mut carry, mut k) = (0u64, 0);
    while k < 5 {
        let (low, high) = dot(a, [n[k + 4], n[k + 3], n[k + 2], n[k + 1], n[k]]);
        let sum = low.wrapping_add(carry);
        n[k] = sum & LIMB_MASK;
        // 2^54 is 8 times the weight of the next limb.
        carry = (high << 3).wrapping_add(sum >> 51);
        k += 1;
    }
    let low = n[0].wrapping_add(carry.wrapping_mul(19));
    [low & LIMB_MASK, n[1].wrapping_add(low >> 51), n[2], n[3], n[4]]
}

/// Writes a · b, reduced, to `product`, for loose limbs.
#[inline(always)]
pub(super) fn multiply_into(product: &mut [u64; 5], a: &[u64; 5], b: &[u64; 5]) {
    *product = multiply(a, b);
}

/// Squares a `times` times and returns the reduced result, for loose limbs. A square needs 15 word multiplications
/// instead of the 25 of [`multiply`], because equal products are computed once and doubled.
#[inline(never)]
pub(super) fn square(a: &[u64; 5], times: usize) -> [u64; 5] {
    let [mut a0, mut a1, mut a2, mut a3, mut a4] = *a;
    for _ in 0..times {
        let c3 = a3.wrapping_mul(19);
        let c4 = a4.wrapping_mul(19);
        let (twice_a1, twice_a2, twice_a3, twice_a4) = (a1 << 1, a2 << 1, a3 << 1, a4 << 1);
        let (twice_c3, twice_c4) = (c3 << 1, c4 << 1);
        [a0, a1, a2, a3, a4] = carry_sums([
            dot3([a0, a1, a2], [a0, twice_c4, twice_c3]),
            dot3([a0, a2, a3], [twice_a1, twice_c4, c3]),
            dot3([a0, a1, a3], [twice_a2, a1, twice_c4]),
            dot3([a0, a1, a4], [twice_a3, twice_a2, c4]),
            dot3([a0, a1, a2], [twice_a4, twice_a3, a2]),
        ]);
    }
    [a0, a1, a2, a3, a4]
}

/// A sum of products, represented as low + high · 2^54.
type ProductSum = (u64, u64);

/// Returns the sum of five products, of which at most four have the factor 19 in `b`. For loose limbs, high is below
/// (1 + 4 * 19) * 2^54, and low is below 5 * 2^54.
#[inline(always)]
fn dot([a0, a1, a2, a3, a4]: [u64; 5], [b0, b1, b2, b3, b4]: [u64; 5]) -> ProductSum {
    let low = a3.wrapping_mul(b3).wrapping_add(a4.wrapping_mul(b4));
    let high = upper(a3, b3).wrapping_add(upper(a4, b4));
    sum_up([a0, a1, a2], [b0, b1, b2], low, high)
}

/// Returns the sum of three products, with the bounds of [`dot`].
#[inline(always)]
fn dot3(a: [u64; 3], b: [u64; 3]) -> ProductSum {
    sum_up(a, b, 0, 0)
}

#[inline(always)]
fn sum_up([a0, a1, a2]: [u64; 3], [b0, b1, b2]: [u64; 3], low: u64, high: u64) -> ProductSum {
    // The difference between the whole sum and the upper parts fits into a word. So it can be computed modulo 2^64,
    // without a carry between words, for which RISC-V has no flag.
    let low = low
        .wrapping_add(a0.wrapping_mul(b0))
        .wrapping_add(a1.wrapping_mul(b1))
        .wrapping_add(a2.wrapping_mul(b2));
    let high =
        high.wrapping_add(upper(a0, b0)).wrapping_add(upper(a1, b1)).wrapping_add(upper(a2, b2));
    (low.wrapping_sub(high << 54), high)
}

/// Returns a · b / 2^54, rounded down, for `a` below 2^54.
#[inline(always)]
fn upper(a: u64, b: u64) -> u64 {
    if cfg!(target_pointer_width = "64") {
        (((a << 10) as u128).wrapping_mul(b as u128) >> 64) as u64
    } else {
        // On targets with narrower words, the low part of the sum reuses these partial products.
        ((a as u128).wrapping_mul(b as u128) >> 54) as u64
    }
}

/// Reduces five sums, which [`dot`] computed from loose limbs, to reduced limbs.
#[inline(always)]
fn carry_sums([(l0, h0), (l1, h1), (l2, h2), (l3, h3), (l4, h4)]: [ProductSum; 5]) -> [u64; 5] {
    // 2^54 is 8 times the weight of the next limb. No word overflows: the last sum has no factor of 19, so 19 * 8 * 5
    // + 5 and 77 * 8 + 5 are below 2^10.
    let [l0, l1, l2, l3, l4] = [
        l0.wrapping_add(h4.wrapping_mul(19 * 8)),
        l1.wrapping_add(h0 << 3),
        l2.wrapping_add(h1 << 3),
        l3.wrapping_add(h2 << 3),
        l4.wrapping_add(h3 << 3),
    ];
    super::carry([l0, l1, l2, l3, l4])
}
