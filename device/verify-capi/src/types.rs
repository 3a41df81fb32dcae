//! Structures and constants of `hartlock.h`.

use core::ffi::c_void;

use hartlock_handoff::payload_keys::CIPHER_KEY_SIZE;
use hartlock_image::{MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, MAX_TRUSTED_KEYS};
use hartlock_kernels::engines::{GENUINE, NOT_GENUINE};
use hartlock_verify::pool::MAX_HARTS;

// The header has numbers, which are those of the format and of the pool.
const _: () = assert!(HARTLOCK_METADATA_SIZE == MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE);
const _: () = assert!(HARTLOCK_GENUINE == GENUINE && HARTLOCK_NOT_GENUINE == NOT_GENUINE);
const _: () = assert!(HARTLOCK_KEY_SIZE == CIPHER_KEY_SIZE);
const _: () = assert!(HARTLOCK_MAX_HARTS == MAX_HARTS && HARTLOCK_MAX_KEYS == MAX_TRUSTED_KEYS);

/// Version of the structures.
pub const HARTLOCK_VERSION: u32 = 1;
/// Size in bytes of the memory that the library works in.
pub const HARTLOCK_MEMORY_SIZE: usize = 40 * 1024;
/// Alignment in bytes of this memory.
pub const HARTLOCK_MEMORY_ALIGNMENT: usize = 64;
/// Maximum size in bytes of what is in front of the payloads of a bundle.
pub const HARTLOCK_METADATA_SIZE: usize = 272 * 1024;
/// Smallest size in bytes of the buffer for reading.
pub const HARTLOCK_MIN_BUFFER_SIZE: usize = 4096;
/// Reads begin and end at multiples of this number of bytes, or at the end of the medium.
pub const HARTLOCK_SECTOR_SIZE: usize = 512;
/// Number of harts that can work on a bundle.
pub const HARTLOCK_MAX_HARTS: usize = 8;
/// Number of keys that a device can trust.
pub const HARTLOCK_MAX_KEYS: usize = 8;
/// The version of the boot bundle is not known (`boot_version`).
pub const HARTLOCK_NO_BOOT_VERSION: u64 = u64::MAX;

/// `hartlock_work`: there is nothing to do; wait for an interrupt and call again.
pub const HARTLOCK_WAIT: u32 = 0;
/// `hartlock_work`: the boot hart needs this hart no longer.
pub const HARTLOCK_STOPPED: u32 = 1;

/// `attempt`: the called function came back.
pub const HARTLOCK_RETURNED: u64 = u64::MAX;

/// `verify_signature`: the signature is genuine.
pub const HARTLOCK_GENUINE: u32 = 0xc33c_c33c;
/// `verify_signature`: the signature is not genuine.
pub const HARTLOCK_NOT_GENUINE: u32 = 0x9669_9669;

/// Size in bytes of a content key.
pub const HARTLOCK_KEY_SIZE: usize = 32;

/// `access` of a closed range: neither loads nor stores succeed.
pub const HARTLOCK_CLOSED: u32 = 0;
/// `access` of a closed range: loads succeed and stores do not.
pub const HARTLOCK_READ_ONLY: u32 = 1;

/// A public key that the device trusts (image format §2.5).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerKey {
    /// Number of the algorithm.
    pub algorithm: u32,
    /// Number of its parameter set.
    pub parameters: u32,
    /// Key id.
    pub key_id: [u8; 48],
}

/// What the device requires of a bundle.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerRequirements {
    /// 1: boot bundle, 2: system bundle.
    pub bundle_type: u32,
    /// Number of the policy: who has to sign (image format §5.3).
    pub policy: u32,
    /// Lifecycle state of the device.
    pub lifecycle: u32,
    /// Bit i is set if key i is revoked.
    pub revoked_keys: u32,
    /// Smallest security version that is accepted.
    pub floor: u64,
    /// Security version of the boot bundle that runs, or `HARTLOCK_NO_BOOT_VERSION`.
    pub boot_version: u64,
    /// Longest kernel command line in bytes. The kernel would cut off the rest.
    pub max_bootargs: u32,
    /// Number of keys.
    pub key_count: u32,
    /// Name of the board, padded with zeros.
    pub board: [u8; 32],
    /// Name of the SoC, padded with zeros.
    pub soc: [u8; 32],
    /// Trusted keys.
    pub keys: [CallerKey; HARTLOCK_MAX_KEYS],
}

/// The encryption of a payload (image format §4.6).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerEncryption {
    /// Number of the type of the payload (image format §4.2).
    pub payload_type: u32,
    /// 1: AES-256 in counter mode.
    pub cipher: u32,
    /// Id of the class key that wraps the content key.
    pub class_id: [u8; 16],
    /// The content key, wrapped by AES-KW.
    pub wrapped_key: [u8; 40],
}

/// A signature block of a key that the device trusts, and what it signs (image format §5.1).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallerSignature {
    /// Number of the algorithm.
    pub algorithm: u32,
    /// Number of its parameter set.
    pub parameters: u32,
    /// The public key.
    pub public_key: *const u8,
    /// Its size in bytes.
    pub public_key_size: usize,
    /// The signed bytes.
    pub message: *const u8,
    /// Its size in bytes.
    pub message_size: usize,
    /// The signature.
    pub signature: *const u8,
    /// Its size in bytes.
    pub signature_size: usize,
}

/// A payload of the bundle.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerPayload {
    /// Number of its type (image format §4.2).
    pub payload_type: u32,
    /// 1 for a boot bundle, 2 for a system bundle.
    pub bundle_type: u32,
    /// Physical address of its first byte.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Size in bytes of the memory that belongs to it; what is behind its bytes is zero.
    pub memory_size: u64,
    /// Physical address of its first instruction; 0 for data.
    pub entry: u64,
}

/// Memory that Linux must not use (boot flow §6).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerReservation {
    /// Name of the node without its address: `hartlock-` and more, with a zero at the end.
    pub name: [u8; 32],
    /// Its `compatible`, or nothing, with a zero at the end.
    pub compatible: [u8; 32],
    /// Address of the first byte.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Memory that is closed to the program.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerRange {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// `HARTLOCK_CLOSED` or `HARTLOCK_READ_ONLY`.
    pub access: u32,
    /// 0.
    pub reserved: u32,
}

/// Fills `into` with `length` bytes of the medium from `offset` on; returns their number.
pub type Read = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        hart: u32,
        offset: u64,
        into: *mut u8,
        length: usize,
    ) -> i64,
>;
/// Begins to fill `into`; returns 0, or another number for a fault.
pub type ReadStart = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        hart: u32,
        offset: u64,
        into: *mut u8,
        length: usize,
    ) -> i32,
>;
/// Returns 1 if the read is complete, 0 if not, less than 0 for a fault.
pub type ReadPoll = Option<unsafe extern "C" fn(context: *mut c_void, hart: u32) -> i32>;
/// Gives the requirements, which are read more than once; returns 0, or another number for a fault.
pub type Require = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        hart: u32,
        reading: u32,
        requirements: *mut CallerRequirements,
    ) -> i32,
>;
/// Returns 0 if a payload may be at its address, else 701, 702 or 703.
pub type MayLoad = Option<
    unsafe extern "C" fn(context: *mut c_void, hart: u32, payload: *const CallerPayload) -> u32,
>;
/// Returns the time in ticks.
pub type Ticks = Option<unsafe extern "C" fn(context: *mut c_void, hart: u32) -> u64>;
/// Returns where `size` bytes of physical memory are seen; null if nowhere.
pub type MapMemory = Option<
    unsafe extern "C" fn(context: *mut c_void, hart: u32, address: u64, size: u64) -> *mut c_void,
>;
/// Interrupts the other harts.
pub type Wake = Option<unsafe extern "C" fn(context: *mut c_void, hart: u32)>;
/// A function of the library that may trap. It uses no memory and no saved register.
pub type Attempted = Option<unsafe extern "C" fn(argument: u64)>;
/// Calls a function with an argument; returns `HARTLOCK_RETURNED`, or the cause of the trap.
pub type Attempt = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        hart: u32,
        function: Attempted,
        argument: u64,
    ) -> u64,
>;

/// Returns `HARTLOCK_GENUINE` or `HARTLOCK_NOT_GENUINE`; for any other number the library verifies the signature.
pub type VerifySignature = Option<
    unsafe extern "C" fn(context: *mut c_void, hart: u32, signature: *const CallerSignature) -> u32,
>;
/// Writes the content key of an encrypted payload, `HARTLOCK_KEY_SIZE` bytes; returns 0, or 517, 606 or 921.
pub type Unwrap = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        hart: u32,
        encryption: *const CallerEncryption,
        key: *mut u8,
    ) -> u32,
>;

/// What the library needs of the program that it is a part of (specification §3).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallerPlatform {
    /// `HARTLOCK_VERSION`.
    pub version: u32,
    /// `sizeof(struct hartlock_platform)`.
    pub size: u32,
    /// Passed to every function.
    pub context: *mut c_void,
    /// Size in bytes of the medium.
    pub medium_size: u64,
    /// Ticks of the clock in a second.
    pub ticks_per_second: u64,
    /// Memory that `read` fills, at a multiple of 8. A device may write to it at any time.
    pub buffer: *mut u8,
    /// Its size in bytes, at least `HARTLOCK_MIN_BUFFER_SIZE`.
    pub buffer_size: usize,
    /// Memory for what is in front of the payloads, at a multiple of 8.
    pub metadata: *mut u8,
    /// Its size in bytes.
    pub metadata_size: usize,
    /// Memory that has to be closed to the program; null if there is none.
    pub closed: *const CallerRange,
    /// Number of such ranges.
    pub closed_count: usize,
    /// Required.
    pub read: Read,
    /// Required.
    pub require: Require,
    /// Required.
    pub may_load: MayLoad,
    /// Required.
    pub ticks: Ticks,
    /// Null, or for a device that reads by itself.
    pub read_start: ReadStart,
    /// Null, or for a device that reads by itself.
    pub read_poll: ReadPoll,
    /// Null if physical addresses are addresses.
    pub map: MapMemory,
    /// Null if there are no other harts.
    pub wake: Wake,
    /// Null, or `hartlock_attempt_s` or `hartlock_attempt_m`, or one of the caller.
    pub attempt: Attempt,
    /// Null, or an engine for signatures.
    pub verify_signature: VerifySignature,
    /// Null if encrypted payloads are refused.
    pub unwrap: Unwrap,
}

impl CallerPlatform {
    /// Sizes of the structure in this header and in earlier ones of the same version. Members that an earlier one lacks are
    /// null.
    pub const SIZES: [usize; 2] =
        [core::mem::offset_of!(Self, verify_signature), size_of::<Self>()];
}
