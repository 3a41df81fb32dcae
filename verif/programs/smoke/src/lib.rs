//! The format of the smoke program's medium. The code works without hardware, because a workstation creates the medium.
//!
//! The first sector describes the blocks and contains their digests; the blocks start in the second sector.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 16 | tag `HARTLOCK-SMOKE-1` |
//! | 16 | 8 | bytes of a block, a multiple of 512 |
//! | 24 | 8 | zero |
//! | 32 | 48 | SHA3-384 of all blocks as one message |
//! | 80 | 48 | SHA-384 of the same message |
//! | 128 | 48 each | SHA3-384 of each of the [`BLOCKS`] blocks |

#![no_std]
#![forbid(unsafe_code)]

use hartlock_image::{Writer, bytes_at, u64_at};

/// Tag at the start of the medium.
pub const TAG: &[u8; 16] = b"HARTLOCK-SMOKE-1";
/// Size of a storage sector in bytes.
pub const SECTOR_SIZE: usize = 512;
/// Number of blocks on the medium, which is one for each hart of a machine with four.
pub const BLOCKS: usize = 4;

/// A SHA3-384 or SHA-384 digest.
pub type Digest = [u8; 48];

/// The content of the first sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of a block in bytes.
    pub block_len: u64,
    /// SHA3-384 of all blocks as one message.
    pub sha3_384: Digest,
    /// SHA-384 of all blocks as one message.
    pub sha384: Digest,
    /// SHA3-384 of each block.
    pub blocks: [Digest; BLOCKS],
}

impl Header {
    /// Reads the first sector. Returns `None` if the tag differs.
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

    /// Returns the encoded first sector.
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
