//! The block device with the system bundle. The loader needs DMA into memory, several requests at a
//! time, and a way to stop the device.

#[cfg_attr(storage = "bench", path = "block/bench.rs")]
#[cfg_attr(any(storage = "virtio", storage = "virtio-pci"), path = "block/virtio.rs")]
mod form;

#[cfg(storage = "bench")]
pub use form::BenchDisk as BlockDevice;
#[cfg(any(storage = "virtio", storage = "virtio-pci"))]
pub use form::VirtioDisk as BlockDevice;
pub use form::{DEPTH, SECTOR_SIZE, request_size};
