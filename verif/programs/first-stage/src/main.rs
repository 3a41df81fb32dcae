//! A first stage. Hardware has verified it while no core was running, and the host starts it in the memory that was
//! hashed.
//!
//! The stage takes its security version and the key of the second stage only from its own header (`spec/first-stage.md`
//! §9), and lets the same engine verify the second stage. If that stage is refused, no code of it is executed.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use core::fmt::Write;

use hartlock_drivers::otp::Otp;
use hartlock_drivers::wait::Polling;
use hartlock_drivers::xmss::Xmss;
use hartlock_first_stage_model::{Requirements, verify_with};
use hartlock_image::first_stage::{
    FIRST_STAGE_HEADER_SIZE, FirstStageAlgorithm, FirstStageHeader, Image,
};
use hartlock_image::{Lifecycle, Reason};
use hartlock_regs::otp::OtpLifecycle;
use hartlock_regs::xmss::{XmssRefusal, XmssRegisters};
use hartlock_svu::{
    ENGINE, FIRST_STAGE, OTP, SECOND_IMAGE, SECOND_STAGE, SECOND_STAGE_CAPACITY, SvuConsole, enter,
    exit, mark, read_medium,
};

/// Numbers of XMSS-SHA2_10_256, the only parameter set of the unit and of this stage.
const XMSS: (u32, u32) = (17, 1);
/// Length in bytes of its signature in the encoding of RFC 8391.
const SIGNATURE: usize = 2500;
const KEY: usize = 68;

#[unsafe(no_mangle)]
extern "C" fn stage_main() {
    mark(1);
    match next() {
        Ok(code) => {
            mark(4);
            // SAFETY: the code was verified and linked for this address, and nothing of this stage is used any more.
            unsafe { enter(code) }
        }
        Err(reason) => {
            let _ =
                writeln!(SvuConsole, "first stage: refuses what comes next, E{:04}", reason as u16);
            exit(2);
        }
    }
}

/// Prints the header of this stage, verifies the second stage, and returns the address of its code.
fn next() -> Result<usize, Reason> {
    let header: *const [u8; FIRST_STAGE_HEADER_SIZE] =
        core::ptr::with_exposed_provenance(FIRST_STAGE);
    // SAFETY: hardware has written the header before the release, and no bus write can change it.
    let header = unsafe { &*header };
    let algorithm =
        FirstStageAlgorithm::from_numbers(XMSS.0, XMSS.1).ok_or(Reason::InternalLimit)?;
    let own = FirstStageHeader::parse(header, algorithm)?;
    let _ = writeln!(
        SvuConsole,
        "first stage: runs, security version {}, {} bytes of code",
        own.security_version, own.code_size
    );
    // A stage whose header names no key starts no other stage.
    let Some(next) = own.next_key else {
        let _ = writeln!(SvuConsole, "first stage: names no key");
        exit(0)
    };
    let (floor, lifecycle) = device()?;
    let front = next.algorithm.signed_offset();
    let base = SECOND_STAGE.wrapping_sub(front);
    let image = load(base, front)?;
    mark(2);
    let mut room = [0; SIGNATURE];
    let requirements = Requirements {
        trusted: &[next.digest],
        board: Some(own.board_name()?),
        soc: Some(own.soc_name()?),
        floor: Some(floor),
        lifecycle: Some(lifecycle),
        capacity: Some(SECOND_STAGE_CAPACITY as u64),
        is_file: true,
    };
    let stage =
        verify_with(image, &requirements, |it| it == algorithm, |parts| check(parts, &mut room));
    mark(3);
    let stage = stage?;
    let _ = writeln!(
        SvuConsole,
        "first stage: verified what comes next, security version {}",
        stage.header.security_version
    );
    Ok(stage.code.as_ptr().expose_provenance())
}

/// Reads floor and lifecycle state of the device from one-time-programmable storage.
fn device() -> Result<(u64, Lifecycle), Reason> {
    // SAFETY: these are the registers of the storage, which no other code uses.
    let otp = unsafe { Otp::new(core::ptr::with_exposed_provenance_mut(OTP)) };
    let lifecycle = match otp.lifecycle() {
        OtpLifecycle::Development => Lifecycle::Development,
        OtpLifecycle::Production => Lifecycle::Production,
        OtpLifecycle::Returned => Lifecycle::Returned,
        _ => return Err(Reason::CounterStoreInvalid),
    };
    Ok((u64::from(otp.floor()), lifecycle))
}

/// Copies an image to memory. The signed part begins at offset `front`. The copy is verified, and the same copy is
/// executed.
fn load(base: usize, front: usize) -> Result<&'static [u8], Reason> {
    let fixed = front.wrapping_add(FIRST_STAGE_HEADER_SIZE);
    // SAFETY: this is the second half of the scratchpad, which no other code of this stage uses; sizes are multiples of
    // 64.
    unsafe { read_medium(base, SECOND_IMAGE, fixed / 4) };
    let size: *const u64 = core::ptr::with_exposed_provenance(SECOND_STAGE.wrapping_add(24));
    // SAFETY: this is the field that was just copied (spec/first-stage.md §6).
    let size = unsafe { size.read_volatile() };
    // The size is limited before it is used; it is trusted only after the signature has verified.
    let size = usize::try_from(size).ok().filter(|size| *size <= SECOND_STAGE_CAPACITY);
    let size = size.filter(|size| size.is_multiple_of(64)).ok_or(Reason::CodeSizeOutOfRange)?;
    // SAFETY: the code follows the copied header in the same unused memory, and its size was checked.
    unsafe {
        read_medium(base.wrapping_add(fixed), SECOND_IMAGE.wrapping_add(fixed), size / 4);
    }
    // SAFETY: these bytes were written above, and are not written any more.
    Ok(unsafe {
        core::slice::from_raw_parts(
            core::ptr::with_exposed_provenance(base),
            fixed.wrapping_add(size),
        )
    })
}

/// Verifies the signature with the engine, which the host may use after its release.
fn check(parts: &Image<'_>, room: &mut [u8]) -> Result<(), Reason> {
    let algorithm = parts.front.algorithm();
    let mut key = [0; KEY];
    let len = algorithm.standard_key(parts.front.key(), &mut key).ok_or(Reason::InternalLimit)?;
    let key = key.get(..len).ok_or(Reason::InternalLimit)?;
    let len = algorithm.standard_signature(parts.signature, room)?;
    let signature = room.get(..len).ok_or(Reason::InternalLimit)?;
    // SAFETY: these are the registers of the engine, which no other code uses.
    let registers = unsafe { XmssRegisters::new(core::ptr::with_exposed_provenance_mut(ENGINE)) };
    let mut engine = Xmss::new(registers, Polling).map_err(|_| Reason::VerdictNotConfirmed)?;
    let judged = engine.verify(XMSS.1, key, &[parts.signed], signature);
    match judged.map_err(|_| Reason::VerdictNotConfirmed)?.verdict {
        Ok(()) => Ok(()),
        Err(XmssRefusal::LeafIndex) => Err(Reason::SignatureIndexOutOfRange),
        Err(_) => Err(Reason::SignatureMismatch),
    }
}
