//! The block device that holds the system bundle, and what the loader needs of it: to read into memory
//! by itself, several requests at a time, and to stop when it is told to.

#[cfg_attr(storage = "bench", path = "block/bench.rs")]
#[cfg_attr(storage = "virtio", path = "block/virtio.rs")]
mod form;

pub use form::{DEPTH, Device, SECTOR_SIZE, request_size};
