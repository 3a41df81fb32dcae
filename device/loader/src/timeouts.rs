//! Time limits of the loader in milliseconds.

/// Time for a hart to start.
pub const START_MS: u64 = 5000;
/// Time for a hart to stop.
pub const STOP_MS: u64 = 5000;
/// Time for a request of the block device.
pub const DEVICE_MS: u64 = 10_000;
/// Time for a hart to deliver a block that it holds (boot flow §5.3).
pub const PATIENCE_MS: u64 = 5000;
/// Time for the digest of a payload after its last byte has arrived.
pub const PAYLOAD_MS: u64 = 60_000;
