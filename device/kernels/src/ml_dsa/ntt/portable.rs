//! The portable transforms.

use super::{Factor, Narrow, Poly, Q, Q_INVERSE, UNSCALE, fraction, rounded_down, stored, zeta};

/// Powers of ζ in the order in which [`forward`] needs them. Each block has three powers, with the numbers k, 2k and
/// 2k + 1 of FIPS 204 appendix B.
static ZETAS: [[u32; 3]; 85] = {
    let mut zetas = [[0; 3]; 85];
    let (mut at, mut k) = (0, 1);
    while at < zetas.len() {
        zetas[at] = [stored(zeta(k)), stored(zeta(2 * k)), stored(zeta(2 * k + 1))];
        at += 1;
        k += 1;
        // In the first layer of each pair, the blocks have the numbers 1, 4 to 7, 16 to 31 and 64 to 127.
        if k.is_power_of_two() {
            k *= 2;
        }
    }
    zetas
};

/// Converts three numbers of the table. The code does not use `map`, because `map` becomes a loop over memory at
/// `opt-level = "s"`.
#[inline(always)]
const fn factors([whole, left, right]: &[u32; 3]) -> [Factor; 3] {
    [Factor::new(*whole), Factor::new(*left), Factor::new(*right)]
}

/// Iterates over the four quarters of a block in parallel.
#[inline(always)]
fn quarters(
    block: &mut [u64],
    quarter: usize,
) -> impl Iterator<Item = (((&mut u64, &mut u64), &mut u64), &mut u64)> {
    let (a, rest) = block.split_at_mut_checked(quarter).unwrap_or_default();
    let (b, rest) = rest.split_at_mut_checked(quarter).unwrap_or_default();
    let (c, d) = rest.split_at_mut_checked(quarter).unwrap_or_default();
    a.iter_mut().zip(b).zip(c).zip(d)
}

/// Computes the NTT (FIPS 204 §7.5, algorithm 41), two layers at a time.
///
/// Each layer adds a reduced product to a value, or subtracts it. The first layer also adds 8 q, so that no value is
/// negative after eight layers. The largest value grows by at most 16 q. Coefficients may be any values below 2^40.
#[inline(never)]
pub(in super::super) fn forward(w: &mut Poly) {
    let mut zetas = ZETAS.iter();
    forward_pass::<64>(w, &mut zetas, 8 * Q);
    forward_pass::<16>(w, &mut zetas, 0);
    forward_pass::<4>(w, &mut zetas, 0);
    forward_pass::<1>(w, &mut zetas, 0);
}

/// Computes two layers. Each pass has code of its own, because with a constant distance the four quarters share one
/// base address.
#[inline(always)]
fn forward_pass<const QUARTER: usize>(
    w: &mut Poly,
    zetas: &mut core::slice::Iter<'_, [u32; 3]>,
    bias: u64,
) {
    for (block, zetas) in w.chunks_exact_mut(QUARTER.wrapping_mul(4)).zip(zetas) {
        let [whole, left, right] = factors(zetas);
        for (((a, b), c), d) in quarters(block, QUARTER) {
            let (a1, c1) = cooley_tukey(a.wrapping_add(bias), *c, whole);
            let (b1, d1) = cooley_tukey(b.wrapping_add(bias), *d, whole);
            (*a, *b) = cooley_tukey(a1, b1, left);
            (*c, *d) = cooley_tukey(c1, d1, right);
        }
    }
}

/// Computes the step of algorithm 41 for one pair. The first value must be at least q.
#[inline(always)]
const fn cooley_tukey(a: u64, b: u64, zeta: Factor) -> (u64, u64) {
    let t = zeta.times(b);
    (a.wrapping_add(t), a.wrapping_sub(t))
}

/// Computes the inverse NTT of any values (FIPS 204 §7.5, algorithm 42). A coefficient r in [0, q) is returned as the
/// fraction r·2^64 / q, which is too large by less than 2^33.
///
/// The values are reduced first. Each layer at most doubles the largest value, so it is at most 256 q.
#[inline(never)]
pub(in super::super) fn inverse(w: &mut Poly) {
    let mut zetas = ZETAS.iter().rev();
    inverse_pass::<1, true>(w, &mut zetas);
    inverse_pass::<4, false>(w, &mut zetas);
    inverse_pass::<16, false>(w, &mut zetas);
    // The last pass has one block. It also removes the factors, and its products are not multiplied by q.
    const SUM: u64 = fraction(UNSCALE);
    const DIFFERENCE: u64 = fraction(UNSCALE * zeta(1));
    let [_, left, right] = factors(&ZETAS[0]);
    for (((a, b), c), d) in quarters(w, 64) {
        let [(a1, b1), (c1, d1)] = [gentleman_sande(*a, *b, right), gentleman_sande(*c, *d, left)];
        (*a, *c) = (a1.wrapping_add(c1).wrapping_mul(SUM), minus(c1, a1).wrapping_mul(DIFFERENCE));
        (*b, *d) = (b1.wrapping_add(d1).wrapping_mul(SUM), minus(d1, b1).wrapping_mul(DIFFERENCE));
    }
}

/// Computes two layers, like [`forward_pass`]. With `REDUCES`, the values are reduced first, so they may be any.
#[inline(always)]
fn inverse_pass<const QUARTER: usize, const REDUCES: bool>(
    w: &mut Poly,
    zetas: &mut core::iter::Rev<core::slice::Iter<'_, [u32; 3]>>,
) {
    let reduced =
        |value: u64| if REDUCES { rounded_down(value.wrapping_mul(Q_INVERSE)) } else { value };
    for (block, zetas) in w.chunks_exact_mut(QUARTER.wrapping_mul(4)).zip(zetas) {
        let [whole, left, right] = factors(zetas);
        for (((a, b), c), d) in quarters(block, QUARTER) {
            // The table is read backwards, so the left half has the higher of the two numbers.
            let (a1, b1) = gentleman_sande(reduced(*a), reduced(*b), right);
            let (c1, d1) = gentleman_sande(reduced(*c), reduced(*d), left);
            (*a, *c) = gentleman_sande(a1, c1, whole);
            (*b, *d) = gentleman_sande(b1, d1, whole);
        }
    }
}

/// Computes the step of algorithm 42 for one pair. The algorithm multiplies by −ζ, so the difference is negated here.
#[inline(always)]
const fn gentleman_sande(a: u64, b: u64, zeta: Factor) -> (u64, u64) {
    (a.wrapping_add(b), zeta.times(minus(b, a)))
}

/// Returns a − b modulo q for values of at most 256 q. The result is not negative and below 2^33.
#[inline(always)]
const fn minus(a: u64, b: u64) -> u64 {
    a.wrapping_add(256 * Q).wrapping_sub(b)
}

/// Computes the NTT of `w` into `to`. `w` is scratch space afterwards. Coefficients must be below 2^31.
pub(in super::super) fn forward_into(w: &mut Poly, to: &mut Narrow) {
    forward(w);
    // Here and below, each iteration processes four values. With one value, half of the instructions would only
    // control the loop.
    for ([t0, t1, t2, t3], [w0, w1, w2, w3]) in to.as_chunks_mut().0.iter_mut().zip(w.as_chunks().0)
    {
        (*t0, *t1, *t2, *t3) = (*w0 as u32, *w1 as u32, *w2 as u32, *w3 as u32);
    }
}

/// Computes the NTT of `w`, and multiplies it by `factor` (FIPS 204 §7.6, algorithm 45) without reduction.
pub(in super::super) fn forward_times(w: &mut Poly, factor: &Narrow) {
    forward(w);
    let product = |value: &mut u64, factor: u32| *value = value.wrapping_mul(u64::from(factor));
    for ([w0, w1, w2, w3], [f0, f1, f2, f3]) in
        w.as_chunks_mut().0.iter_mut().zip(factor.as_chunks().0)
    {
        product(w0, *f0);
        product(w1, *f1);
        product(w2, *f2);
        product(w3, *f3);
    }
}
