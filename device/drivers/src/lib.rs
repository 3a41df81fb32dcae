//! Device drivers of the boot stages.
//!
//! A driver owns its device. It is created once, by unsafe code that guarantees the address, and is
//! safe to use from then on.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod aes;
pub mod arrivals;
pub mod axi_guard;
pub mod bignum;
pub mod boot_sequencer;
pub mod device_secret;
pub mod dma;
pub mod ed25519;
pub mod iommu;
pub mod key_slot;
pub mod mailbox;
pub mod noise_source;
pub mod otp;
pub mod scratchpad_stream;
pub mod sha2;
pub mod sha3;
pub mod stream_writer;
#[cfg(test)]
mod trapped;
pub mod virtio_blk;
pub mod wait;
pub mod xmss;
