//! Packs: a header of 32 bytes, then what the job defines.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 16 | tag `HARTLOCK-PACK-v1` |
//! | 16 | 4 | job |
//! | 20 | 4 | count of what follows |
//! | 24 | 8 | bytes of the body after the header |
//!
//! A pack is made and read by tools of the project on one machine: it is not authenticated.

use hartlock_image::{bytes_at, u32_at, u64_at};

/// First bytes of a pack.
pub const TAG: &[u8; 16] = hartlock_kat::pack::TAG;
/// Bytes in front of the body.
pub const HEADER_SIZE: usize = 32;
/// Job: verify the bundles of `spec/vectors/image` (see [`crate::vectors`]).
pub const JOB_VECTORS: u32 = 1;
/// Job: check and count kernels (see [`crate::kernels`]).
pub const JOB_KERNELS: u32 = 2;
/// Job: answer known-answer cases (`hartlock_kat::pack`).
pub const JOB_KAT: u32 = hartlock_kat::pack::JOB;

/// The header of a pack.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// What to do.
    pub job: u32,
    /// With how many.
    pub count: u32,
    /// Bytes after the header.
    pub body_size: u64,
}

impl Header {
    /// Reads a header; `None` if there is no pack.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let tag: [u8; 16] = bytes_at(bytes, 0)?;
        (tag == *TAG).then_some(Header {
            job: u32_at(bytes, 16)?,
            count: u32_at(bytes, 20)?,
            body_size: u64_at(bytes, 24)?,
        })
    }

    /// The header as it is encoded.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        let mut out = hartlock_image::Writer::new(&mut bytes);
        out.put(TAG);
        out.put_u32(self.job);
        out.put_u32(self.count);
        out.put_u64(self.body_size);
        bytes
    }
}
