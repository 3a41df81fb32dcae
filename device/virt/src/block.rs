//! The block device with the system bundle. The loader needs several requests at a time, whose bytes it copies from the
//! buffers of the device, and a way to stop the device.

mod buffers;
#[cfg_attr(storage = "bench", path = "block/bench.rs")]
#[cfg_attr(any(storage = "virtio", storage = "virtio-pci"), path = "block/virtio.rs")]
mod form;

pub use buffers::{BUFFER_SIZE, copy_from};
#[cfg(storage = "bench")]
pub use form::BenchDisk as BlockDevice;
#[cfg(any(storage = "virtio", storage = "virtio-pci"))]
pub use form::VirtioDisk as BlockDevice;
pub use form::{DEPTH, SECTOR_SIZE, request_size};
