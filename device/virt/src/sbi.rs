//! Calls into OpenSBI (RISC-V SBI specification v2.0).

use core::arch::asm;

const BASE: usize = 0x10;
const HSM: usize = 0x48_534d;
const IPI: usize = 0x73_5049;
const SRST: usize = 0x5352_5354;
/// The extension of the project's own build of OpenSBI (boot flow §2.3).
const HARTLOCK: usize = 0x0a00_0001;

/// The extensions of the SBI specification v3.0 with a call that takes the address of memory, and the calls of its §5 that
/// read a mask of harts from memory.
const WITH_ADDRESSES: [usize; 11] = [
    0x04,        // legacy: send IPI
    0x05,        // legacy: remote FENCE.I
    0x06,        // legacy: remote SFENCE.VMA
    0x07,        // legacy: remote SFENCE.VMA with ASID
    0x4442_434e, // DBCN, console
    0x50_4d55,   // PMU, counters
    0x4e41_434c, // NACL, nested acceleration
    0x53_5441,   // STA, steal time
    0x53_5345,   // SSE, events
    0x4442_5452, // DBTR, triggers
    0x4d50_5859, // MPXY, messages
];

/// Hart state STARTED (SBI v2.0 §9, table 5).
pub const STARTED: usize = 0;
/// Hart state STOPPED (SBI v2.0 §9, table 5).
pub const STOPPED: usize = 1;

/// An SBI error number.
pub type Error = isize;

fn call(extension: usize, function: usize, args: [usize; 3]) -> Result<usize, Error> {
    let error: isize;
    let value: usize;
    // SAFETY: by the calling convention of SBI v2.0 §3 only a0 and a1 change. No call of this file passes a pointer to
    // memory that Rust uses.
    unsafe {
        asm!(
            "ecall",
            inlateout("a0") args[0] => error,
            inlateout("a1") args[1] => value,
            in("a2") args[2],
            in("a6") function,
            in("a7") extension,
        );
    };
    if error == 0 { Ok(value) } else { Err(error) }
}

/// Returns the numbers of the extensions with a call that takes the address of memory, as far as there may be any: anything
/// but the answer that there is none counts (§4.4).
pub fn calls_with_address() -> impl Iterator<Item = usize> {
    WITH_ADDRESSES.into_iter().filter(|extension| call(BASE, 3, [*extension, 0, 0]) != Ok(0))
}

/// Starts a stopped hart at `address` with its number in a0 and `opaque` in a1 (§9.1).
///
/// # Errors
/// The error number of the specification. Success only means that the request was accepted.
pub fn hart_start(hart: usize, address: usize, opaque: usize) -> Result<(), Error> {
    call(HSM, 0, [hart, address, opaque]).map(|_| ())
}

/// Stops the calling hart (§9.2). The function returns only if this fails. It is not inlined, because fault campaigns
/// wait for harts to reach its address.
#[inline(never)]
pub fn hart_stop() {
    let _ = call(HSM, 1, [0; 3]);
}

/// Returns the state of a hart (§9.3).
///
/// # Errors
/// An error number if OpenSBI does not know the hart.
pub fn hart_status(hart: usize) -> Result<usize, Error> {
    call(HSM, 2, [hart, 0, 0])
}

/// Raises the supervisor software interrupt of the harts in `mask` (§8.1).
pub fn send_ipi(mask: u64) {
    if call(IPI, 0, [mask as usize, 0, 0]).is_ok() {
        return;
    }
    // OpenSBI 1.7 to 1.9 refuse a mask as a whole if one hart of it is stopped, as a hart is that trapped.
    let mut left = mask;
    while left != 0 {
        let lowest = left & left.wrapping_neg();
        let _ = call(IPI, 0, [lowest as usize, 0, 0]);
        left ^= lowest;
    }
}

/// Resets the machine (§10.1). The function returns only if this fails.
pub fn cold_reset() {
    let _ = call(SRST, 0, [1, 1, 0]);
}

/// Switches the machine off (§10.1). The function returns only if this fails.
pub fn power_off() {
    let _ = call(SRST, 0, [0, 0, 0]);
}

/// Asks the monitor to let devices access the memory of the system (boot flow §2.3).
///
/// # Errors
/// The error number of a monitor that does not do it: it has no IOMMU, has done it before, or was called by another
/// hart than the boot hart.
pub fn system_map() -> Result<(), Error> {
    call(HARTLOCK, 0, [0; 3]).map(|_| ())
}
