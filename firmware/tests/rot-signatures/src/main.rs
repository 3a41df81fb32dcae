//! Roots of hash-based signatures, on the root of trust of `hw/soc`. A line for each case, whose root the workstation
//! judges:
//!
//! ```text
//! sig <number> <cycles> <root>
//! ```
//!
//! Cycles are from the call of the verifier to the root that is to be compared, everything in. A case is copied from the
//! host's memory into the scratchpad before, as a ROM copies what it judges.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use core::fmt::Write;

#[cfg(not(feature = "software"))]
use hartlock_drivers::sha2::Sha2;
#[cfg(not(feature = "software"))]
use hartlock_drivers::wait::Polling;
use hartlock_kat::roots::{Case, HEAD_LEN, Head, OFFSET};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Rejection;
#[cfg(not(feature = "software"))]
use hartlock_regs::Block;
#[cfg(not(feature = "software"))]
use hartlock_rot::SHA2;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{Console, HOST_MEMORY, cycle, exit};

/// Bytes of the longest case: SLH-DSA-SHA2-128s with a short message.
const ROOM: usize = 9 << 10;

static mut BYTES: [u8; ROOM] = [0; ROOM];

/// What went wrong.
#[derive(Debug)]
#[expect(dead_code, reason = "errors are printed")]
enum Error {
    /// The cases do not have their form.
    Form,
    Bus(BusError),
    Rejected(Rejection),
    Kernels,
}

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    match run() {
        Ok(()) => exit(0),
        Err(error) => {
            let _ = writeln!(Console, "rot-signatures: {error:?}");
            exit(1)
        }
    }
}

fn run() -> Result<(), Error> {
    let kernels = kernels()?;
    let bytes = &raw mut BYTES;
    // SAFETY: nothing else names it.
    let bytes = unsafe { &mut *bytes };
    let mut at = HOST_MEMORY as u64 + OFFSET;
    let mut count = [0; 8];
    take(&mut at, &mut count)?;
    for number in 0..u64::from_le_bytes(count) {
        let mut head = [0; HEAD_LEN];
        take(&mut at, &mut head)?;
        let head = Head::decode(&head).ok_or(Error::Form)?;
        let body = bytes.get_mut(..head.body_len()).ok_or(Error::Form)?;
        take(&mut at, body)?;
        judge(&kernels, number, &head.case(body).ok_or(Error::Form)?)?;
    }
    Ok(())
}

/// Copies what comes next in the host's memory.
fn take(at: &mut u64, into: &mut [u8]) -> Result<(), Error> {
    host::read(*at, into).map_err(Error::Bus)?;
    *at += into.len() as u64;
    Ok(())
}

fn judge(kernels: &Kernels, number: u64, case: &Case<'_>) -> Result<(), Error> {
    let start = cycle();
    let comparison = case.compare(kernels).map_err(Error::Rejected)?;
    let cycles = cycle().wrapping_sub(start);
    let _ = write!(Console, "sig {number} {cycles} ");
    for byte in comparison.computed.iter().take(case.root_len()) {
        let _ = write!(Console, "{byte:02x}");
    }
    let _ = writeln!(Console);
    Ok(())
}

#[cfg(feature = "software")]
fn kernels() -> Result<Kernels, Error> {
    Ok(Kernels::PORTABLE)
}

/// SHA-256 by its engine.
#[cfg(not(feature = "software"))]
fn kernels() -> Result<Kernels, Error> {
    Kernels::PORTABLE.with_sha256_engine(compress).map_err(|_| Error::Kernels)
}

#[cfg(not(feature = "software"))]
fn compress(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    // SAFETY: the engine's registers; no other reference to them lives while this one does.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    let done = Sha2::new(registers, Polling).and_then(|mut engine| engine.compress(state, blocks));
    if done.is_err() {
        *state = [u32::MAX; 8];
    }
}
