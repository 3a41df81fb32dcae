//! The block device that holds the system bundle, and what the loader needs of it: to read into memory
//! by itself, several requests at a time, and to stop when it is told to.

#[cfg(feature = "soc")]
mod storage;
#[cfg(not(feature = "soc"))]
mod virtio;

#[cfg(feature = "soc")]
pub use storage::{DEPTH, Device, SECTOR_SIZE, request_size};
#[cfg(not(feature = "soc"))]
pub use virtio::{DEPTH, Device, SECTOR_SIZE, request_size};
