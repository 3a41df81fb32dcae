//! Verdicts on signatures of RSA and ECDSA by the engine for big numbers, as the ROM has them. A line for each case, which the
//! workstation judges:
//!
//! ```text
//! sig <number> <cycles> <answers of the engine> <verdict>
//! ```
//!
//! Cycles are from the call of the verifier to its verdict. A case is copied from the host's memory into the scratchpad
//! before, as a ROM copies what it judges.

use core::cell::UnsafeCell;
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};

use hartlock_drivers::bignum::Bignum;
use hartlock_drivers::wait::Polling;
use hartlock_kat::numbers::{HEAD_LEN, Head};
use hartlock_kat::roots::OFFSET;
use hartlock_kernels::Kernels;
use hartlock_kernels::numbers::{EXPONENT, Engine, Purpose, Request};
use hartlock_regs::Block;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{BIGNUM, Console, HOST_MEMORY, cycle};

/// Bytes of the longest case.
const ROOM: usize = 12 << 10;
static mut BYTES: [u8; ROOM] = [0; ROOM];

struct Place(UnsafeCell<Option<Bignum<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Place {}

static THE_ENGINE: Place = Place(UnsafeCell::new(None));
/// Answers that it gave.
static GIVEN: AtomicU32 = AtomicU32::new(0);

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// The cases do not have their form.
    Form,
    Bus(BusError),
    /// The engine is not there, or gives no known answers.
    Engine,
}

pub fn run() -> Result<(), Error> {
    let kernels = kernels().ok_or(Error::Engine)?;
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
        GIVEN.store(0, Ordering::Relaxed);
        let start = cycle();
        let verdict = head.verify(&kernels, body);
        let cycles = cycle().wrapping_sub(start);
        let given = GIVEN.load(Ordering::Relaxed);
        let _ = writeln!(Console, "sig {number} {cycles} {given} {verdict:?}");
    }
    Ok(())
}

/// Copies what comes next in the host's memory.
fn take(at: &mut u64, into: &mut [u8]) -> Result<(), Error> {
    host::read(*at, into).map_err(Error::Bus)?;
    *at += into.len() as u64;
    Ok(())
}

/// Kernels with the engine, if it gives all known answers.
fn kernels() -> Option<Kernels> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)) };
    let engine = Bignum::new(registers, Polling).ok()?;
    // SAFETY: no reference to its content exists: the functions below are not called before.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    let kernels = Kernels::PORTABLE.with_number_engine(Engine { power, verify }).ok()?;
    let purposes = [Purpose::Rsa, Purpose::P256, Purpose::P384];
    purposes.iter().all(|purpose| kernels.has_number_engine(*purpose)).then_some(kernels)
}

fn with<T>(action: impl FnOnce(&mut Bignum<Polling>) -> Option<T>) -> Option<T> {
    // SAFETY: as above.
    let result = action(unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?)?;
    // One hart without interrupts: nothing is between the two, and the processor has no instructions for both.
    GIVEN.store(GIVEN.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    Some(result)
}

fn power(modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
    with(|engine| engine.recover(modulus, base, EXPONENT, result).ok())
}

fn verify(request: &Request<'_>) -> Option<u32> {
    let Request { is_p384, point, digest, signature } = *request;
    with(|engine| engine.judge(is_p384, point, digest, signature).ok())
}
