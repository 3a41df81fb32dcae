//! The transforms of a stage with scalar kernels. Their bounds are those of the portable form.

use super::{Factor, Narrow, Poly, Q_INVERSE, UNSCALE, fraction, stored, zeta};
use crate::rv64;

/// Powers of ζ as factors, for four layers at a time. Block 0 is for the first four layers and has the powers with the
/// numbers k = 1 to 15 of FIPS 204 appendix B. Each of the other blocks is for 16 neighbours in the last four layers, and
/// has the numbers k, 2k and 2k + 1, 4k to 4k + 3, and 8k to 8k + 7, for k = 16 to 31.
static ZETAS: [[u64; 15]; 17] = {
    let mut blocks = [[0; 15]; 17];
    let mut block = 0;
    while block < blocks.len() {
        let first = if block == 0 { 1 } else { 15 + block };
        let mut at = 0;
        while at < 15 {
            // In a block that begins with 1, the numbers are 1 to 15. Number 2^n + i of these becomes 2^n · first + i.
            let layer = 1 << (at + 1_usize).ilog2();
            blocks[block][at] = Factor::new(stored(zeta(layer * first + at + 1 - layer))).0;
            at += 1;
        }
        block += 1;
    }
    blocks
};

/// The constants of the inverse transform.
static CONSTANTS: [u64; 3] = [Q_INVERSE, fraction(UNSCALE), fraction(UNSCALE * zeta(1))];

pub(in super::super) fn forward_into(w: &mut Poly, to: &mut Narrow) {
    rv64::ml_dsa_forward(w, &ZETAS, to);
}

pub(in super::super) fn forward_times(w: &mut Poly, factor: &Narrow) {
    rv64::ml_dsa_multiply(w, &ZETAS, factor);
}

pub(in super::super) fn inverse(w: &mut Poly) {
    rv64::ml_dsa_inverse(w, &ZETAS, &CONSTANTS);
}
