//! What is on the medium of the smoke program, without any hardware: a workstation makes it.
//!
//! The first sector says what follows it and what its digests are; the blocks begin with the second.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 16 | tag `HARTLOCK-SMOKE-1` |
//! | 16 | 8 | bytes of a block, a multiple of 512 |
//! | 24 | 8 | zero |
//! | 32 | 48 | SHA3-384 of all blocks in one |
//! | 80 | 48 | SHA-384 of the same |
//! | 128 | 48 each | SHA3-384 of each of the [`BLOCKS`] blocks |

#![no_std]
#![forbid(unsafe_code)]

use hartlock_image::{Writer, bytes_at, u64_at};

/// First bytes of the medium.
pub const TAG: &[u8; 16] = b"HARTLOCK-SMOKE-1";
/// Bytes of a sector of the storage.
pub const SECTOR_SIZE: usize = 512;
/// Blocks on the medium: one a hart on a machine with four.
pub const BLOCKS: usize = 4;

/// A SHA3-384 or SHA-384 digest.
pub type Digest = [u8; 48];

/// The first sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a block.
    pub block_len: u64,
    /// SHA3-384 of all blocks in one.
    pub sha3_384: Digest,
    /// SHA-384 of the same.
    pub sha384: Digest,
    /// SHA3-384 of each block.
    pub blocks: [Digest; BLOCKS],
}

impl Header {
    /// Reads the first sector; `None` if it is something else.
    pub fn parse(sector: &[u8]) -> Option<Self> {
        let mut blocks = [[0; 48]; BLOCKS];
        for (block, at) in blocks.iter_mut().zip((128..).step_by(48)) {
            *block = bytes_at(sector, at)?;
        }
        let block_len = u64_at(sector, 16)?;
        let is_ours = bytes_at::<16>(sector, 0)? == *TAG;
        (is_ours && block_len > 0 && block_len.is_multiple_of(SECTOR_SIZE as u64)).then_some(
            Header {
                block_len,
                sha3_384: bytes_at(sector, 32)?,
                sha384: bytes_at(sector, 80)?,
                blocks,
            },
        )
    }

    /// The first sector as it is encoded.
    pub fn encode(&self) -> [u8; SECTOR_SIZE] {
        let mut sector = [0; SECTOR_SIZE];
        let mut out = Writer::new(&mut sector);
        out.put(TAG);
        out.put_u64(self.block_len);
        out.put_u64(0);
        out.put(&self.sha3_384);
        out.put(&self.sha384);
        self.blocks.iter().for_each(|block| out.put(block));
        sector
    }
}
