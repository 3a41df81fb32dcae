//! Roots of hash-based signatures, on the root of trust of `hw/soc`. The program prints a line for each case, and the
//! workstation checks the root:
//!
//! ```text
//! sig <number> <cycles> <roots that the engine for such signatures gave> <root>, or why there is none
//! ```
//!
//! The cycles are those from the call of the verifier to the root, ready for the comparison. Each case is copied from
//! the host's memory into the scratchpad before, as a ROM does with its input.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use core::fmt::Write;

#[cfg(feature = "engine")]
mod engine;
#[cfg(not(any(feature = "software", feature = "engine")))]
#[path = "sha256.rs"]
mod engine;

use hartlock_kat::roots::{HEAD_LEN, OFFSET, RootCase, RootCaseHead};
use hartlock_kernels::Kernels;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{HOST_MEMORY, cycle};
use hartlock_rot_bench::{Console, exit};

/// Length in bytes of the longest case, which is SLH-DSA-SHA2-128s with a message of some thousand bytes.
const ROOM: usize = 12 << 10;

/// A buffer that is aligned to eight bytes, as a stream requires.
#[repr(align(8))]
struct Bytes([u8; ROOM]);

static mut BYTES: Bytes = Bytes([0; ROOM]);

/// The reason why the program stopped.
#[derive(Debug)]
enum Error {
    /// The cases are malformed.
    Form,
    Bus(BusError),
    #[cfg(not(feature = "software"))]
    Kernels,
}

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    hartlock_rot_bench::catch_traps();
    match run() {
        Ok(()) => exit(0),
        Err(error) => {
            let _ = writeln!(Console, "rot-signatures: {error:?}");
            exit(1)
        }
    }
}

fn run() -> Result<(), Error> {
    let bytes = &raw mut BYTES;
    // SAFETY: no other code names the buffer.
    let Bytes(bytes) = unsafe { &mut *bytes };
    #[cfg(not(feature = "software"))]
    let (kernels, given) = engine::kernels(bytes).ok_or(Error::Kernels)?;
    #[cfg(feature = "software")]
    let (kernels, given) = (Kernels::PORTABLE, || 0);
    let mut at = HOST_MEMORY as u64 + OFFSET;
    let mut count = [0; 8];
    take(&mut at, &mut count)?;
    for number in 0..u64::from_le_bytes(count) {
        let mut head = [0; HEAD_LEN];
        take(&mut at, &mut head)?;
        let head = RootCaseHead::decode(&head).ok_or(Error::Form)?;
        let body = bytes.get_mut(..head.body_len()).ok_or(Error::Form)?;
        take(&mut at, body)?;
        judge(&kernels, &given, number, &head.case(body).ok_or(Error::Form)?);
    }
    Ok(())
}

/// Copies the next bytes of the host's memory.
fn take(at: &mut u64, into: &mut [u8]) -> Result<(), Error> {
    host::read(*at, into).map_err(Error::Bus)?;
    *at += into.len() as u64;
    Ok(())
}

/// `given` counts the roots that the engine for such signatures gave since the last call.
fn judge(kernels: &Kernels, given: &impl Fn() -> u32, number: u64, case: &RootCase<'_>) {
    let start = cycle();
    let compared = case.compare(kernels);
    let cycles = cycle().wrapping_sub(start);
    let _ = write!(Console, "sig {number} {cycles} {} ", given());
    match compared {
        Ok(comparison) => {
            for byte in comparison.computed.iter().take(case.root_len()) {
                let _ = write!(Console, "{byte:02x}");
            }
        }
        Err(rejection) => {
            let _ = write!(Console, "{rejection:?}");
        }
    }
    let _ = writeln!(Console);
}
