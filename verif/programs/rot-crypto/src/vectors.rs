//! Verdicts of the big-number engine on RSA and ECDSA signatures, as in the ROM. The program prints a line for each
//! case, and the workstation checks it:
//!
//! ```text
//! sig <number> <cycles> <answers of the engine> <verdict>
//! ```
//!
//! With the feature `software` the verifiers do not get the engine, and it gives no answers. The cycles are those from
//! the call of the verifier to its verdict. Each case is copied from the host's memory into the scratchpad before, as a
//! ROM does with its input.

#[cfg(not(feature = "software"))]
mod engine;
#[cfg(feature = "software")]
mod software;

use core::fmt::Write;

use hartlock_kat::numbers::{HEAD_LEN, NumberCaseHead};
use hartlock_kat::roots::OFFSET;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{HOST_MEMORY, cycle};
use hartlock_rot_bench::Console;

#[cfg(not(feature = "software"))]
use engine::kernels;
#[cfg(feature = "software")]
use software::kernels;

/// Length of the longest case in bytes.
const ROOM: usize = 12 << 10;
static mut BYTES: [u8; ROOM] = [0; ROOM];

/// The reason why the program stopped.
#[derive(Debug)]
pub enum Error {
    /// The cases are malformed.
    Form,
    Bus(BusError),
    /// The engine is missing, or failed its known-answer tests.
    Engine,
}

pub fn run() -> Result<(), Error> {
    let (kernels, given) = kernels().ok_or(Error::Engine)?;
    let bytes = &raw mut BYTES;
    // SAFETY: no other code names the buffer.
    let bytes = unsafe { &mut *bytes };
    let mut at = HOST_MEMORY as u64 + OFFSET;
    let mut count = [0; 8];
    take(&mut at, &mut count)?;
    for number in 0..u64::from_le_bytes(count) {
        let mut head = [0; HEAD_LEN];
        take(&mut at, &mut head)?;
        let head = NumberCaseHead::decode(&head).ok_or(Error::Form)?;
        let body = bytes.get_mut(..head.body_len()).ok_or(Error::Form)?;
        take(&mut at, body)?;
        let _ = given();
        let start = cycle();
        let verdict = head.verify(&kernels, body);
        let cycles = cycle().wrapping_sub(start);
        let given = given();
        let _ = writeln!(Console, "sig {number} {cycles} {given} {verdict:?}");
    }
    Ok(())
}

/// Copies the next bytes of the host's memory.
fn take(at: &mut u64, into: &mut [u8]) -> Result<(), Error> {
    host::read(*at, into).map_err(Error::Bus)?;
    *at += into.len() as u64;
    Ok(())
}
