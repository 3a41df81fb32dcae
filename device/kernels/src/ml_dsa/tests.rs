//! These tests compare every step with its definition in FIPS 204, computed in a simple way, also for extreme values.

use super::encoding::{Hint, absorb_w1, unpack_t1, unpack_z, use_hint};
use super::ntt::{self, Narrow, Poly, Q};
use super::sample::{add_row, sample_in_ball};
use super::*;
use crate::dispatch::{MAX_LANES, Many, Tier};
use core::sync::atomic::{AtomicUsize, Ordering};
use proptest::prelude::*;
use shake::{ExtendableOutput, Update};
use std::vec::Vec;

/// Returns a reproducible stream of pseudorandom numbers.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    core::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

fn poly(mut values: impl Iterator<Item = u64>) -> Poly {
    core::array::from_fn(|_| values.next().unwrap())
}

/// Returns random polynomials below a bound, and polynomials with extreme coefficients.
fn strained(bound: u64) -> Vec<Poly> {
    let mut polys: Vec<Poly> =
        (0..8).map(|seed| poly(numbers(seed).map(|it| it % bound))).collect();
    polys.extend([0, 1, Q - 1, Q, bound - 1].map(|value| [value; 256]));
    polys.push(poly((0..256).map(|i| if i % 2 == 0 { 0 } else { bound - 1 })));
    polys.push(poly((0..256).map(|i| if i < 128 { bound - 1 } else { 0 })));
    for at in [0, 1, 2, 127, 128, 255] {
        polys.push(poly((0..256).map(|i| if i == at { bound - 1 } else { 0 })));
    }
    polys
}

fn mul(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(Q)) as u64
}

fn pow(base: u64, exponent: u64) -> u64 {
    (0..exponent).fold(1, |power, _| mul(power, base))
}

/// Computes the NTT by its definition: value number i is that of the polynomial at ζ^(2 BitRev8(i) + 1) (FIPS 204
/// §2.5).
fn plain_ntt(w: &Poly) -> Poly {
    core::array::from_fn(|i| {
        let root = pow(1753, 2 * u64::from((i as u8).reverse_bits()) + 1);
        w.iter().rev().fold(0, |sum, value| (mul(sum, root) + value % Q) % Q)
    })
}

/// Computes the product of two polynomials modulo X^256 + 1.
fn plain_product(a: &Poly, b: &Poly) -> Poly {
    let mut product = [0; 256];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let term = mul(*a, *b);
            let at = &mut product[(i + j) % 256];
            *at = (*at + if i + j < 256 { term } else { Q - term }) % Q;
        }
    }
    product
}

fn reduced(w: &Poly) -> Poly {
    w.map(|value| value % Q)
}

#[test]
fn lengths_are_those_of_the_standard() {
    for (set, k, l) in
        [(MlDsaSet::MlDsa44, 4, 4), (MlDsaSet::MlDsa65, 6, 5), (MlDsaSet::MlDsa87, 8, 7)]
    {
        let parameters = parameters(set);
        assert_eq!(parameters.l, l);
        assert_eq!(set.public_key_len(), 32 + 320 * k);
        let z_len = 32 * parameters.z_width as usize;
        assert_eq!(set.signature_len(), parameters.c_tilde_len + z_len * l + parameters.omega + k);
        assert_eq!((Q - 1) % (2 * parameters.gamma2), 0);
        assert_eq!((Q - 1) / (2 * parameters.gamma2) > 16, parameters.w1_width == 6);
    }
}

#[test]
fn the_transform_is_that_of_the_definition_and_keeps_its_bound() {
    // 2^40 is the documented bound, and 2 q is the bound of z and t1.
    for bound in [1 << 40, 2 * Q, 1 << 10] {
        for w in strained(bound) {
            let mut transformed = w;
            ntt::forward(&mut transformed);
            assert_eq!(reduced(&transformed), plain_ntt(&w));
            let most = w.iter().max().unwrap() + 16 * Q;
            assert!(transformed.iter().all(|value| *value <= most), "bound {bound}");
        }
    }
}

/// Returns coefficients in [0, q) as fractions, with the error of a result of the inverse transform.
fn fractions(w: &Poly, error: u64) -> Poly {
    w.map(|r| ((u128::from(r) << 64).div_ceil(u128::from(Q)) as u64).wrapping_add(error))
}

/// The error of a fraction is less than this.
const MOST_ERROR: u64 = 1 << 33;

#[test]
fn the_inverse_transform_takes_any_value_and_returns_fractions() {
    for bound in [u64::MAX, 415 * Q * Q, Q] {
        for transformed in strained(bound) {
            let mut w = transformed;
            ntt::inverse(&mut w);
            let values = w.map(ntt::rounded_down);
            assert_eq!(plain_ntt(&values), reduced(&transformed));
            let exact = fractions(&values, 0);
            assert!(w.iter().zip(exact).all(|(w, exact)| w.wrapping_sub(exact) < MOST_ERROR));
        }
    }
}

#[test]
fn products_of_transforms_are_products_of_polynomials() {
    for (z, t1) in strained(2 * Q).into_iter().zip(strained(1 << 10)) {
        let t1 = t1.map(|value| value % (1 << 10));
        let mut stored: Narrow = [0; 256];
        ntt::forward_into(&mut z.clone(), &mut stored);
        assert!(stored.iter().all(|value| u64::from(*value) < 18 * Q));
        let mut product = t1;
        ntt::forward_times(&mut product, &stored);
        // With a coefficient of −2^d·c below q this is below 17 q · 17 q. With seven products of a coefficient of A
        // below q and one of z below 18 q, the sum is below 415 q².
        assert!(product.iter().all(|value| *value < 17 * 18 * Q * Q));
        ntt::inverse(&mut product);
        assert_eq!(product.map(ntt::rounded_down), plain_product(&z, &t1));
    }
}

/// Computes Decompose (FIPS 204 algorithm 36).
fn decompose(gamma2: u64, r: u64) -> (u64, i64) {
    let alpha = 2 * gamma2 as i64;
    let r = r as i64;
    let mut r0 = r % alpha;
    if r0 > alpha / 2 {
        r0 -= alpha;
    }
    if r - r0 == Q as i64 - 1 { (0, r0 - 1) } else { (((r - r0) / alpha) as u64, r0) }
}

/// Computes UseHint (FIPS 204 algorithm 40).
fn plain_hinted(gamma2: u64, r: u64) -> u64 {
    let m = (Q - 1) / (2 * gamma2);
    let (r1, r0) = decompose(gamma2, r);
    if r0 > 0 { (r1 + 1) % m } else { (r1 + m - 1) % m }
}

/// Compares the bytes that are hashed for a row of w1 with SimpleBitPack of its high parts.
fn check_encoding(parameters: &MlDsaParameters, w: &Poly) {
    let width = parameters.w1_width as usize;
    let mut bytes = [0; 192];
    for (index, r) in w.iter().enumerate() {
        pack_at(&mut bytes, width, index, decompose(parameters.gamma2, *r).0);
    }
    let mut expected = Sponge::new(&Kernels::PORTABLE, RATE_256, FULL_ROUNDS);
    expected.absorb(&bytes[..32 * width]);
    let expected = expected.finalize(SHAKE);
    for error in [0, MOST_ERROR - 1] {
        let mut sponge = Sponge::new(&Kernels::PORTABLE, RATE_256, FULL_ROUNDS);
        absorb_w1(parameters, &fractions(w, error), &mut sponge);
        assert_eq!(sponge.finalize(SHAKE), expected);
    }
}

#[test]
fn high_parts_and_hints_are_those_of_the_definition_for_every_value() {
    let all: Vec<u8> = (0..=255).collect();
    for set in [MlDsaSet::MlDsa44, MlDsaSet::MlDsa87] {
        let parameters = parameters(set);
        let mut next = 0;
        while next < Q {
            let w: Poly = core::array::from_fn(|i| (next + i as u64) % Q);
            check_encoding(parameters, &w);
            let mut hinted = fractions(&w, MOST_ERROR - 1);
            use_hint(parameters, &all, &mut hinted);
            let hinted = hinted.map(ntt::rounded_down);
            let expected = w.map(|r| plain_hinted(parameters.gamma2, r));
            assert_eq!(hinted.map(|r| decompose(parameters.gamma2, r).0), expected, "{next}");
            check_encoding(parameters, &hinted);
            next += 256;
        }
    }
}

#[test]
fn hints_change_only_the_positions_that_they_name() {
    let parameters = parameters(MlDsaSet::MlDsa65);
    let w = fractions(&poly(numbers(1).map(|it| it % Q)), 0);
    let mut hinted = w;
    use_hint(parameters, &[0, 7, 255], &mut hinted);
    for (i, (before, after)) in w.iter().zip(&hinted).enumerate() {
        assert_eq!(before != after, [0, 7, 255].contains(&i), "{i}");
    }
}

fn plain_unpack(bytes: &[u8], width: usize) -> Poly {
    core::array::from_fn(|i| {
        (0..width)
            .map(|bit| (i * width + bit, bit))
            .fold(0, |value, (at, bit)| value | u64::from(bytes[at / 8] >> (at % 8) & 1) << bit)
    })
}

#[test]
fn values_are_unpacked_as_the_definition_says() {
    for seed in 0..20 {
        let bytes = |width| {
            let mut bytes: Vec<u8> = numbers(seed).map(|it| it as u8).take(32 * width).collect();
            if seed < 2 {
                bytes.fill(255 * seed as u8);
            }
            bytes
        };
        let mut w = [0; 256];
        unpack_t1(&bytes(10), &mut w);
        assert_eq!(w, plain_unpack(&bytes(10), 10));
        for (set, width, gamma1) in
            [(MlDsaSet::MlDsa44, 18, 1 << 17), (MlDsaSet::MlDsa87, 20, 1 << 19)]
        {
            // With this `beta` there is no bound, so that all values are accepted and compared.
            let parameters = MlDsaParameters { beta: u64::MAX, ..*parameters(set) };
            assert!(unpack_z(&parameters, &bytes(width), &mut w));
            assert_eq!(w, plain_unpack(&bytes(width), width).map(|value| Q + gamma1 - value));
        }
    }
}

/// Writes a value of `width` bits.
fn pack_at(bytes: &mut [u8], width: usize, index: usize, value: u64) {
    for bit in 0..width {
        let at = index * width + bit;
        bytes[at / 8] &= !(1 << (at % 8));
        bytes[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
    }
}

#[test]
fn each_coefficient_of_z_has_its_bound_on_both_sides() {
    for (set, gamma1, beta) in [
        (MlDsaSet::MlDsa44, 1 << 17, 78),
        (MlDsaSet::MlDsa65, 1 << 19, 196),
        (MlDsaSet::MlDsa87, 1 << 19, 120),
    ] {
        let parameters = parameters(set);
        let width = parameters.z_width as usize;
        let most = gamma1 - beta - 1;
        for index in 0..256 {
            let mut bytes = std::vec![0; 32 * width];
            (0..256).for_each(|i| pack_at(&mut bytes, width, i, gamma1 as u64));
            for (z, is_fine) in [
                (most, true),
                (-most, true),
                (most + 1, false),
                (-most - 1, false),
                (gamma1, false),
                (1 - gamma1, false),
            ] {
                let value: i64 = gamma1 - z;
                pack_at(&mut bytes, width, index, value as u64);
                let mut w = [0; 256];
                assert_eq!(unpack_z(parameters, &bytes, &mut w), is_fine, "{set:?} {index} {z}");
                assert_eq!(w[index] % Q, (Q as i64 + z) as u64 % Q);
                assert!(w.iter().all(|value| *value < 2 * Q));
                // The coefficients after a rejected one are not read.
                let others = w.iter().enumerate().filter(|(i, _)| *i != index);
                assert!(others.into_iter().all(|(_, value)| *value == Q || !is_fine));
            }
        }
    }
}

/// Parses a hint with ω = 10 and k = 4, and returns its rows.
fn rows(positions: [u8; 10], ends: [u8; 4]) -> Option<Vec<Vec<u8>>> {
    let bytes = [positions.as_slice(), &ends].concat();
    Hint::parse(10, &bytes).map(|hint| hint.rows().map(<[u8]>::to_vec).collect())
}

#[test]
fn a_hint_is_split_into_rows() {
    assert_eq!(rows([0; 10], [0; 4]), Some(std::vec![Vec::new(); 4]));
    // Positions start again in every row. A row may have a single position, which may be 0.
    let expected: [&[u8]; 4] = [&[3, 200], &[], &[0], &[2, 3, 255]];
    assert_eq!(
        rows([3, 200, 0, 2, 3, 255, 0, 0, 0, 0], [2, 2, 3, 6]),
        Some(expected.map(<[u8]>::to_vec).to_vec())
    );
    let full = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    assert_eq!(rows(full, [0, 0, 0, 10]).unwrap()[3], full);
    assert_eq!(rows(full, [10, 10, 10, 10]).unwrap()[0], full);
}

#[test]
fn a_hint_with_falling_counts_is_refused() {
    let positions = [1, 2, 3, 4, 5, 6, 0, 0, 0, 0];
    assert!(rows(positions, [2, 4, 5, 6]).is_some());
    assert!(rows(positions, [2, 4, 3, 6]).is_none());
    assert!(rows(positions, [6, 6, 6, 5]).is_none());
    assert!(rows(positions, [6, 0, 6, 6]).is_none());
}

#[test]
fn a_hint_with_more_than_omega_ones_is_refused() {
    let positions = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    assert!(rows(positions, [2, 4, 6, 10]).is_some());
    assert!(rows(positions, [2, 4, 6, 11]).is_none());
    assert!(rows(positions, [11, 11, 11, 11]).is_none());
    assert!(rows(positions, [2, 4, 6, 255]).is_none());
    // A count in the middle exceeds ω, and the following counts are lower.
    assert!(rows(positions, [2, 11, 10, 10]).is_none());
}

#[test]
fn a_hint_whose_positions_do_not_rise_is_refused() {
    assert!(rows([1, 2, 3, 4, 0, 0, 0, 0, 0, 0], [2, 4, 4, 4]).is_some());
    assert!(rows([2, 1, 3, 4, 0, 0, 0, 0, 0, 0], [2, 4, 4, 4]).is_none());
    assert!(rows([1, 2, 4, 3, 0, 0, 0, 0, 0, 0], [2, 4, 4, 4]).is_none());
    // The same position occurs twice in a row.
    assert!(rows([1, 1, 3, 4, 0, 0, 0, 0, 0, 0], [2, 4, 4, 4]).is_none());
    assert!(rows([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 2, 2]).is_none());
    // The same position may occur in different rows.
    assert!(rows([1, 4, 1, 4, 0, 0, 0, 0, 0, 0], [2, 4, 4, 4]).is_some());
}

#[test]
fn a_hint_with_anything_after_its_last_position_is_refused() {
    for at in 0..10 {
        for used in 0..10 {
            let mut positions: [u8; 10] = core::array::from_fn(|i| 10 + i as u8);
            positions[used..].fill(0);
            positions[at] = 100;
            // Before the end of the used positions it is a position. It is in order only at the last index.
            let is_fine = at < used && at + 1 == used;
            assert_eq!(rows(positions, [used as u8; 4]).is_some(), is_fine, "{at} of {used}");
        }
    }
}

#[test]
fn a_hint_of_any_bytes_is_read_or_refused() {
    for seed in 0..100_000 {
        let mut values = numbers(seed);
        let mut byte = |most: u64| (values.next().unwrap() % (most + 1)) as u8;
        let positions = core::array::from_fn(|_| byte(4));
        let ends = core::array::from_fn(|_| byte(11));
        // This is FIPS 204 algorithm 21, line by line.
        let expected = (|| {
            let (mut index, mut rows) = (0, Vec::new());
            for end in ends {
                if end < index || end > 10 {
                    return None;
                }
                let row = &positions[usize::from(index)..usize::from(end)];
                if row.windows(2).any(|pair| pair[0] >= pair[1]) {
                    return None;
                }
                rows.push(row.to_vec());
                index = end;
            }
            positions[usize::from(index)..].iter().all(|it| *it == 0).then_some(rows)
        })();
        assert_eq!(rows(positions, ends), expected);
    }
}

/// Computes FIPS 204 algorithm 30 for ρ ‖ column ‖ row, without the first `skipped` candidates.
fn plain_sample(rho: &[u8; 32], row: u8, column: u8, skipped: usize) -> Poly {
    let mut shake = shake::Shake128::default();
    shake.update(rho);
    shake.update(&[column, row]);
    let mut bytes = [0; 3000];
    shake.finalize_xof_into(&mut bytes);
    let candidates =
        bytes.chunks(3).map(|it| u64::from_le_bytes([it[0], it[1], it[2], 0, 0, 0, 0, 0]));
    poly(candidates.skip(skipped).map(|it| it & 0x7f_ffff).filter(|it| *it < Q))
}

static LANES_IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Returns simulated kernels with lanes.
fn with_lanes(lanes: usize) -> Kernels {
    let mut kernels = Kernels::PORTABLE;
    kernels.keccak.many = Some(Many {
        tier: Tier::Portable,
        lanes,
        run: |states, messages, rate_words, rounds| {
            assert_eq!(states.len(), messages.len());
            LANES_IN_USE.fetch_max(states.len(), Ordering::Relaxed);
            for (state, message) in states.iter_mut().zip(messages) {
                (Kernels::PORTABLE.keccak.one.run)(state, message, rate_words, rounds);
            }
        },
    });
    kernels
}

#[test]
fn rows_of_the_matrix_are_those_of_the_definition_with_any_number_of_lanes() {
    let mut squeezing = Kernels::PORTABLE;
    squeezing.keccak_squeeze = Some(squeeze);
    // Lanes are preferred.
    let both = Kernels { keccak_squeeze: Some(|_, _| unreachable!()), ..with_lanes(4) };
    let all_lanes = (0..=MAX_LANES + 1).map(with_lanes);
    let all = [Kernels::PORTABLE, squeezing, both].into_iter().chain(all_lanes);
    for (number, kernels) in all.enumerate() {
        for (columns, row) in [(4, 3), (5, 5), (7, 7), (7, 255), (1, 0), (0, 0)] {
            let rho = core::array::from_fn(|i| (i * 7 + number) as u8);
            let z: [Narrow; 7] = core::array::from_fn(|j| {
                let seed = (number * 100 + j) as u64;
                poly(numbers(seed).map(|it| it % (10 * Q))).map(|value| value as u32)
            });
            let start = poly(numbers(99).map(|it| it % (9 * Q * Q)));
            let mut expected = start;
            for (column, z) in z[..columns].iter().enumerate() {
                let a = plain_sample(&rho, row, column as u8, 0);
                for ((sum, a), z) in expected.iter_mut().zip(a).zip(z) {
                    *sum += a * u64::from(*z);
                }
            }
            let mut sum = start;
            let mut scratch: sample::Scratch = [[row.into(); 25]; _];
            assert!(add_row(&kernels, &words(&rho), row, &z[..columns], &mut sum, &mut scratch));
            assert_eq!(sum, expected, "{number} {columns}");
        }
    }
    let most = if cfg!(feature = "lanes") { 7 } else { 0 };
    assert_eq!(LANES_IN_USE.load(Ordering::Relaxed), most);
}

/// Squeezes blocks as a kernel does.
fn squeeze(state: &mut [u64; 25], blocks: &mut [[u64; 21]]) {
    for block in blocks {
        keccak::permute_each(&Kernels::PORTABLE, core::slice::from_mut(state));
        block.copy_from_slice(&state[..21]);
    }
    keccak::permute_each(&Kernels::PORTABLE, core::slice::from_mut(state));
}

/// Fills blocks with candidates of 24 bits.
fn fill(blocks: &mut [[u64; 21]], candidate: impl Fn(usize) -> u64) {
    let bytes: Vec<u8> =
        (0..224).flat_map(|i| candidate(i).to_le_bytes().into_iter().take(3)).collect();
    for (word, bytes) in blocks.as_flattened_mut().iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

#[test]
fn a_polynomial_with_many_rejected_candidates_takes_more_blocks() {
    // Real hashes do not reject as many. These kernels replace the first four blocks.
    fn with(squeeze: keccak::Squeeze) -> Kernels {
        Kernels { keccak_squeeze: Some(squeeze), ..Kernels::PORTABLE }
    }
    let row = |kernels: &Kernels| {
        let (z, mut sum) = ([[1; 256]], [0; 256]);
        let mut scratch: sample::Scratch = [[5; 25]; _];
        let is_complete = add_row(kernels, &[3; 4], 2, &z, &mut sum, &mut scratch);
        is_complete.then_some(sum)
    };
    let rho: [u8; 32] = core::array::from_fn(|i| if i % 8 == 0 { 3 } else { 0 });
    assert_eq!(row(&with(squeeze)), Some(plain_sample(&rho, 2, 0, 0)));
    // All 224 candidates are rejected.
    let rejecting = with(|state, blocks| {
        squeeze(state, blocks);
        blocks.as_flattened_mut().fill(u64::MAX);
    });
    assert_eq!(row(&rejecting), Some(plain_sample(&rho, 2, 0, 224)));
    // One in three is rejected: the value is q, the following values are q − 1 and 0.
    let partly = with(|state, blocks| {
        squeeze(state, blocks);
        fill(blocks, |i| [Q, Q - 1, 0][i % 3]);
    });
    let later = plain_sample(&rho, 2, 0, 224);
    let first = [Q - 1, 0].into_iter().cycle().take(149);
    assert_eq!(row(&partly), Some(poly(first.chain(later))));
    // Only one candidate of a group is rejected, at each place. The highest bit of the others does not count.
    let once = with(|state, blocks| {
        squeeze(state, blocks);
        // Group k has it at place k.
        fill(blocks, |i| if i % 9 == 0 && i < 72 { Q } else { (Q - 1) | 1 << 23 });
    });
    let first = core::iter::repeat_n(Q - 1, 224 - 8);
    assert_eq!(row(&once), Some(poly(first.chain(later))));
    // No state ever has a coefficient, so the loop must end.
    let mut hopeless = rejecting;
    hopeless.keccak.one.run = |state, _, _, _| state.fill(u64::MAX);
    hopeless.keccak_squeeze = Some(|state, blocks| {
        state.fill(u64::MAX);
        blocks.as_flattened_mut().fill(u64::MAX);
    });
    assert_eq!(row(&hopeless), None);
    hopeless.keccak_squeeze = None;
    assert_eq!(row(&hopeless), None);
}

#[test]
fn the_challenge_is_that_of_the_definition() {
    // The values 39, 49 and 60 are in use. The others need several blocks, and some need more than 64 sign bits.
    for (tau, len) in [(39, 32), (49, 48), (60, 64), (200, 64), (128, 10), (1, 0)] {
        for seed in 0..200 {
            let c_tilde: Vec<u8> = numbers(seed).map(|it| it as u8).take(len).collect();
            let mut shake = shake::Shake256::default();
            shake.update(&c_tilde);
            let mut bytes = [0; 2000];
            shake.finalize_xof_into(&mut bytes);
            let (signs, bytes) = bytes.split_first_chunk().unwrap();
            let signs = u64::from_le_bytes(*signs);
            let mut rest = bytes.iter().copied();
            let mut expected = [0; 256];
            for i in 256 - tau..256 {
                let j = usize::from(rest.find(|j| usize::from(*j) <= i).unwrap());
                expected[i] = expected[j];
                let sign = (i + tau - 256) as u32;
                let is_negative = signs.checked_shr(sign).unwrap_or(0) & 1 == 1;
                // The result is −2^d·c.
                expected[j] = if is_negative { 1 << 13 } else { Q - (1 << 13) };
            }
            let mut c = [5; 256];
            let mut sponge = Sponge::new(&Kernels::PORTABLE, RATE_256, FULL_ROUNDS);
            sponge.absorb(b"left over");
            assert!(sample_in_ball(&Kernels::PORTABLE, &mut sponge, &c_tilde, tau as u8, &mut c));
            assert_eq!(c, expected, "{tau}");
            assert_eq!(c.iter().filter(|value| **value != 0).count(), tau);
        }
    }
}

#[test]
fn the_known_answer_is_a_signature_for_others_too() {
    use fips204::traits::{SerDes, Verifier};
    assert!(self_test());
    let key = fips204::ml_dsa_44::PublicKey::try_from_bytes(known_key()).unwrap();
    assert!(key.verify(b"abc", &known_signature(), KAT_CONTEXT));
    assert!(!key.verify(b"ab", &known_signature(), KAT_CONTEXT));
}

#[test]
fn the_known_answer_depends_on_every_part() {
    let check = |key: &[u8], signature: &[u8]| {
        let message = MlDsaMessage::Pure { context: KAT_CONTEXT, message: &[b"a", b"", b"bc"] };
        verify(&Kernels::PORTABLE, MlDsaSet::MlDsa44, key, message, signature)
    };
    assert_eq!(check(&known_key(), &known_signature()), Ok(()));
    // One bit of each byte is changed. Some changes of the hint are not well formed.
    for index in 0..known_key().len() {
        let mut key = known_key();
        key[index] ^= 1 << (index % 8);
        assert_eq!(check(&key, &known_signature()), Err(Rejection::Mismatch), "{index}");
    }
    for index in 0..known_signature().len() {
        let mut signature = known_signature();
        signature[index] ^= 1 << (index % 8);
        assert!(check(&known_key(), &signature).is_err(), "{index}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_refused_without_a_panic(
        number in 0..3_usize,
        key_cut in prop::option::of(0..3000_usize),
        signature_cut in prop::option::of(0..5000_usize),
        seed: u64,
        fill in prop::option::of(any::<u8>()),
    ) {
        let set = MlDsaSet::ALL[number];
        let make = |len: usize, seed: u64| -> Vec<u8> {
            numbers(seed).map(|it| fill.unwrap_or(it as u8)).take(len).collect()
        };
        let key = make(key_cut.unwrap_or(set.public_key_len()), seed);
        let signature = make(signature_cut.unwrap_or(set.signature_len()), seed ^ 1);
        let verdict = verify(&Kernels::PORTABLE, set, &key, MlDsaMessage::Internal(&[b""]), &signature);
        let expected = if key.len() != set.public_key_len() {
            Rejection::InvalidKey
        } else if signature.len() != set.signature_len() {
            Rejection::SignatureLength
        } else {
            // A random hint is not well formed, and neither is a hint of equal bytes, unless all are 0. Then z is out
            // of range.
            Rejection::NonCanonicalSignature
        };
        prop_assert_eq!(verdict, Err(expected));
    }
}
