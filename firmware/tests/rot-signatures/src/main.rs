//! Roots of hash-based signatures, on the root of trust of `hw/soc`: by the verifiers of `crates/kernels`. A line for each
//! case, whose root the workstation judges:
//!
//! ```text
//! sig <number> <cycles> <root>
//! ```
//!
//! Cycles are from the call of the verifier to the root that it has compared with, everything in. Cases are in the host's
//! memory: their count, and for each scheme, lengths of key, message and signature in words of four bytes, then the
//! bytes of each, padded to eight. They are copied into the scratchpad first, as a ROM copies what it judges.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

mod cases;

use core::fmt::Write;

#[cfg(not(feature = "software"))]
use hartlock_drivers::sha2::Sha2;
#[cfg(not(feature = "software"))]
use hartlock_drivers::wait::Polling;
use hartlock_kernels::hash_based::Scheme;
use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::{Kernels, lms, slh_dsa, xmss};
#[cfg(not(feature = "software"))]
use hartlock_regs::Block;
#[cfg(not(feature = "software"))]
use hartlock_rot::SHA2;
use hartlock_rot::{Console, cycle, exit};

use cases::{Case, Cases};

/// What went wrong.
#[derive(Debug)]
#[expect(dead_code, reason = "errors are printed")]
enum Error {
    /// The cases do not have the form above, or the host's memory failed.
    Cases,
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
    let mut cases = Cases::open().ok_or(Error::Cases)?;
    for number in 0..cases.count {
        let case = cases.next().ok_or(Error::Cases)?;
        let start = cycle();
        let comparison = root(&kernels, &case).map_err(Error::Rejected)?;
        let cycles = cycle().wrapping_sub(start);
        let _ = write!(Console, "sig {number} {cycles} ");
        for byte in comparison.computed.iter().take(case.root_len()) {
            let _ = write!(Console, "{byte:02x}");
        }
        let _ = writeln!(Console);
    }
    Ok(())
}

#[inline(never)]
fn root(kernels: &Kernels, case: &Case<'_>) -> Result<Comparison, Rejection> {
    let Case { scheme, key, message, signature } = *case;
    match scheme {
        Scheme::Xmss | Scheme::XmssMt => {
            let kind =
                if scheme == Scheme::Xmss { xmss::Scheme::Xmss } else { xmss::Scheme::XmssMt };
            xmss::compare(kernels, kind, xmss::Sets::Approved, key, &[message], signature)
        }
        Scheme::Lms => lms::compare(kernels, key, &[message], signature),
        Scheme::SlhDsaSha2_128s => {
            let set = slh_dsa::SlhDsaSet::Sha2_128s;
            let message = slh_dsa::Message::Pure { context: &[], message };
            slh_dsa::compare(kernels, set, key, message, signature)
        }
    }
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
