//! The test that a kernel of E-multiplication must pass before it is used. No answers are published, so the judge is the
//! portable form.

use super::kernels::{Multiply, portable};
use super::{Action, BraidWord, IDENTITY, STRANDS, StrandValue, WalnutLevel, spread};

/// Every generator in each half of a byte.
const GENERATORS: [u8; 15] =
    [0x01, 0x23, 0x45, 0x68, 0x9a, 0xbc, 0xde, 0x00, 0x12, 0x34, 0x56, 0x89, 0xab, 0xcd, 0xe0];
/// Numbers of generators: the last byte has one of them, or two.
const COUNTS: [usize; 2] = [29, 28];

/// Returns true if a kernel computes what the portable form does.
#[inline(never)]
pub(crate) fn answers(multiply: Multiply) -> bool {
    WalnutLevel::ALL.into_iter().all(|level| {
        let field = level.field();
        let values = [2, 3, 4, 5, 7, 9, 11, 29].map(|value| {
            let value = spread(core::hint::black_box(value));
            StrandValue { value, inverse: field.invert(value) }
        });
        let run = |multiply: Multiply| {
            let [Some(odd), Some(even)] = COUNTS.map(|count| BraidWord::new(&GENERATORS, count))
            else {
                return [[0; STRANDS]; 2];
            };
            let start = IDENTITY
                .map(|column| field.reduce(field.scale(column.wrapping_mul(3), values[5].value)));
            let mut products = [start, IDENTITY];
            let [first, second] = &mut products;
            let mut actions = [
                Action { matrix: first, permutation: &[3, 1, 4, 0, 5, 2, 7, 6], word: odd },
                Action { matrix: second, permutation: &[7, 6, 5, 4, 3, 2, 1, 0], word: even },
            ];
            multiply(level, &values, &mut actions);
            products.map(|product| product.map(|column| field.reduce(column)))
        };
        let wanted = run(portable);
        wanted != [[0; STRANDS]; 2] && run(multiply) == wanted
    })
}
