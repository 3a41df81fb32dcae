//! Four rows of a product at once: what a limb of the sum gets of four limbs of one factor is added while it is in a
//! register.

use super::multiply_add;

/// What four rows have of the limbs before those that are added: the carry of each row into the next limb of the sum,
/// and the last three limbs, last first, which the rows of later limbs have not had yet.
pub(super) type Start = [u64; 7];

/// There are no limbs before.
pub(super) const NOTHING: &Start = &[0; 7];

/// The four multiples of m that make the four lowest limbs of a sum zero, and their rows after those limbs;
/// `negated_inverse` is that of m. The limbs themselves are left as they are.
pub(super) fn cancelling(
    &[w0, w1, w2, w3]: &[u64; 4],
    &[m0, m1, m2, m3]: &[u64; 4],
    negated_inverse: u64,
) -> ([u64; 4], Start) {
    let q0 = w0.wrapping_mul(negated_inverse);
    let (_, c0) = multiply_add(q0, m0, w0, 0);
    let (w1, c0) = multiply_add(q0, m1, w1, c0);
    let q1 = w1.wrapping_mul(negated_inverse);
    let (_, c1) = multiply_add(q1, m0, w1, 0);
    let (w2, c0) = multiply_add(q0, m2, w2, c0);
    let (w2, c1) = multiply_add(q1, m1, w2, c1);
    let q2 = w2.wrapping_mul(negated_inverse);
    let (_, c2) = multiply_add(q2, m0, w2, 0);
    let (w3, c0) = multiply_add(q0, m3, w3, c0);
    let (w3, c1) = multiply_add(q1, m2, w3, c1);
    let (w3, c2) = multiply_add(q2, m1, w3, c2);
    let q3 = w3.wrapping_mul(negated_inverse);
    let (_, c3) = multiply_add(q3, m0, w3, 0);
    ([q0, q1, q2, q3], [c0, c1, c2, c3, m3, m2, m1])
}

/// Adds a · b to `row`, which has as many limbs as a: groups of four. Writes the four limbs above it.
pub(super) fn add(row: &mut [u64], a: &[u64], b: &[u64; 4], start: &Start, above: &mut [u64; 4]) {
    let (row, a) = (row.as_chunks_mut().0, a.as_chunks().0);
    #[cfg(all(target_arch = "riscv64", feature = "scalar"))]
    crate::rv64::add_rows(row, a, b, start, above);
    #[cfg(not(all(target_arch = "riscv64", feature = "scalar")))]
    add_portable(row, a, b, start, above);
}

#[cfg(not(all(target_arch = "riscv64", feature = "scalar")))]
fn add_portable(
    row: &mut [[u64; 4]],
    a: &[[u64; 4]],
    [b0, b1, b2, b3]: &[u64; 4],
    start: &Start,
    above: &mut [u64; 4],
) {
    let [mut c0, mut c1, mut c2, mut c3, mut last, mut second, mut third] = *start;
    // Limb by limb: with more of them at once the compiler runs out of registers.
    for (sum, a) in row.as_flattened_mut().iter_mut().zip(a.as_flattened()) {
        (*sum, c0) = multiply_add(*a, *b0, *sum, c0);
        (*sum, c1) = multiply_add(last, *b1, *sum, c1);
        (*sum, c2) = multiply_add(second, *b2, *sum, c2);
        (*sum, c3) = multiply_add(third, *b3, *sum, c3);
        (last, second, third) = (*a, last, second);
    }
    // What the later rows have not had of the last limbs, and the carries.
    let (s0, c1) = multiply_add(last, *b1, c0, c1);
    let (s0, c2) = multiply_add(second, *b2, s0, c2);
    let (s0, c3) = multiply_add(third, *b3, s0, c3);
    let (s1, c2) = multiply_add(last, *b2, c1, c2);
    let (s1, c3) = multiply_add(second, *b3, s1, c3);
    let (s2, s3) = multiply_add(last, *b3, c2, c3);
    *above = [s0, s1, s2, s3];
}
