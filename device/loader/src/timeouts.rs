//! How long the loader waits.

/// For a hart to start.
pub const START_MS: u64 = 5000;
/// For a hart to stop.
pub const STOP_MS: u64 = 5000;
/// For a request of the device.
pub const DEVICE_MS: u64 = 10_000;
/// For a hart that holds a block (boot flow §5.3).
pub const PATIENCE_MS: u64 = 5000;
/// For the digest of a payload, after its last byte arrived.
pub const PAYLOAD_MS: u64 = 60_000;
