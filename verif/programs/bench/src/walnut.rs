//! Job 5: comparison of the kernels of WalnutDSA with the portable form on the hart, and counts of their instructions.

use hartlock_kernels::walnut::{Verification, WalnutLevel};

/// Numbers of generators of the compared braids: around whole bytes, and up to the longest of the lower level.
pub const GENERATORS: [usize; 9] = [0, 1, 2, 3, 14, 15, 32, COUNTED_BRAID, 3996];
/// Number of keys, digests and braids of each length.
pub const SEEDS: u64 = 3;
/// Number of comparisons of a tier.
pub const CASES: usize = WalnutLevel::ALL.len() * GENERATORS.len() * SEEDS as usize;
/// Number of generators of the counted braid: the estimate of the paper (`lab/papers/vector-crypto`).
pub const COUNTED_BRAID: usize = 1000;
/// Numbers of generators of a digest with all nibbles equally often. That of the lower level is the paper's estimate.
pub const DIGEST_GENERATORS: [usize; 2] = [704, 1408];

const MAX_KEY: usize = 128;
const MAX_BRAID: usize = 2000;

/// The inputs of a verification. They are well formed, and no signature.
#[derive(Debug)]
pub struct WalnutCase {
    level: WalnutLevel,
    key: [u8; MAX_KEY],
    digest: [u8; 64],
    braid: [u8; MAX_BRAID],
    braid_len: usize,
}

impl WalnutCase {
    /// Makes key, digest and braid.
    pub fn new(level: WalnutLevel, generators: usize, seed: u64) -> Self {
        let mut case = Self {
            level,
            key: [0; MAX_KEY],
            digest: [0; 64],
            braid: [0; MAX_BRAID],
            braid_len: 2 + generators.div_ceil(2),
        };
        crate::fill(&mut case.key, seed);
        // Number of strands, order of the field, and values without zeros.
        let (head, matrix_len): (&[u8], usize) = match level {
            WalnutLevel::Level128 => (&[8, 0, 0x20, 0x10, 0xc8, 0x53, 0xa5, 0xf7], 36),
            WalnutLevel::Level256 => (&[8, 1, 0, 2, 3, 4, 5, 6, 0x17, 0x98, 0xff], 57),
        };
        let permutation = [0o2, 0o6, 0o7, 0o0, 0o3, 0o1, 0o5, 0o4];
        let permutation = permutation.into_iter().fold(0_u32, |all, strand| all << 3 | strand);
        let [_, permutation @ ..] = permutation.to_be_bytes();
        let parts = [(0, head), (head.len() + matrix_len, &permutation)];
        for (at, part) in parts {
            for (to, from) in case.key.iter_mut().skip(at).zip(part) {
                *to = *from;
            }
        }
        if level == WalnutLevel::Level128 {
            // The bits after a matrix.
            for last in [head.len() + matrix_len - 1, head.len() + 3 + 2 * matrix_len - 1] {
                case.key.iter_mut().skip(last).take(1).for_each(|byte| *byte &= 0xf8);
            }
        }
        for (to, index) in case.digest.iter_mut().zip(0_u8..) {
            let index = index.wrapping_add(seed as u8);
            *to = index << 4 | index.wrapping_mul(7).wrapping_add(3) & 15;
        }
        crate::fill(&mut case.braid, !seed);
        for byte in &mut case.braid {
            // There is no eighth generator.
            for nibble in [7, 0x70] {
                if *byte & nibble == nibble {
                    *byte ^= nibble & 0x22;
                }
            }
        }
        if let Some(count) = case.braid.first_chunk_mut() {
            *count = (generators as u16).to_be_bytes();
        }
        case
    }

    /// Parses the case. Returns `None` if it is not well formed.
    pub fn parse(&self) -> Option<Verification<'_>> {
        let key_len = match self.level {
            WalnutLevel::Level128 => 83,
            WalnutLevel::Level256 => 128,
        };
        let (key, braid) = (self.key.get(..key_len)?, self.braid.get(..self.braid_len)?);
        Verification::parse(self.level, key, braid, self.digest.get(..self.level.digest_len())?)
    }
}
