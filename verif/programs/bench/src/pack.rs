//! The format of packs: a header of 32 bytes, then the data of the job.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 16 | tag `HARTLOCK-PACK-v1` |
//! | 16 | 4 | job |
//! | 20 | 4 | number of entries |
//! | 24 | 8 | bytes of the body after the header |
//!
//! Tools of the project create and read a pack on one machine, so it is not authenticated.

use hartlock_image::{bytes_at, u32_at, u64_at};

/// Tag at the start of a pack.
pub const TAG: &[u8; 16] = hartlock_kat::pack::TAG;
/// Size of the header in bytes.
pub const HEADER_SIZE: usize = 32;
/// Job: verify the bundles of `spec/vectors/image` (see [`crate::vectors`]).
pub const JOB_VECTORS: u32 = 1;
/// Job: check and count kernels (see [`crate::kernels`]).
pub const JOB_KERNELS: u32 = 2;
/// Job: answer known-answer cases (`hartlock_kat::pack`).
pub const JOB_KAT: u32 = hartlock_kat::pack::JOB;
/// Job: check and count kernels of ciphers (see [`crate::ciphers`]). The pack has no entry and no body.
pub const JOB_CIPHERS: u32 = 4;
/// Job: check and count kernels of WalnutDSA (see [`crate::walnut`]). The pack has no entry and no body.
pub const JOB_WALNUT: u32 = 5;
/// Job: hash and verify a first stage (see [`crate::first_stage`]).
pub const JOB_FIRST_STAGE: u32 = 6;

/// The header of a pack.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Number of the job.
    pub job: u32,
    /// Number of entries of the job.
    pub count: u32,
    /// Size of the body in bytes.
    pub body_size: u64,
}

impl Header {
    /// Reads a header. Returns `None` if the tag differs.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let tag: [u8; 16] = bytes_at(bytes, 0)?;
        (tag == *TAG).then_some(Header {
            job: u32_at(bytes, 16)?,
            count: u32_at(bytes, 20)?,
            body_size: u64_at(bytes, 24)?,
        })
    }

    /// Returns the encoded header.
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
