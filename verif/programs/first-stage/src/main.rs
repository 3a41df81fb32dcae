//! A first stage: hardware has verified it with no core running, and it starts in what was hashed.
//!
//! It takes its security version and the key of the stage after it from its own header, and from no other source
//! (`spec/first-stage.md` §9), and has the same engine verify that stage. Of a stage that is refused nothing is started.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use core::fmt::Write;

use hartlock_drivers::otp::Otp;
use hartlock_drivers::wait::Polling;
use hartlock_drivers::xmss::Xmss;
use hartlock_image::first_stage::{
    FIRST_STAGE_HEADER_SIZE, FirstStageAlgorithm, FirstStageHeader, Image,
};
use hartlock_image::{Lifecycle, Reason};
use hartlock_regs::otp::Lifecycle as Stored;
use hartlock_regs::xmss::{Refusal, Xmss as Registers};
use hartlock_svu::{
    Console, ENGINE, FIRST_STAGE, OTP, SECOND_IMAGE, SECOND_STAGE, SECOND_STAGE_CAPACITY, enter,
    exit, mark, read_medium,
};
use hartlock_verify::first_stage::{Requirements, verify_with};

/// XMSS-SHA2_10_256, the one parameter set of the unit and the only one of this stage.
const XMSS: (u32, u32) = (17, 1);
/// Its signature in the encoding of RFC 8391.
const SIGNATURE: usize = 2500;
const KEY: usize = 68;

#[unsafe(no_mangle)]
extern "C" fn stage_main() {
    mark(1);
    match next() {
        Ok(code) => {
            mark(4);
            // SAFETY: it was verified, and linked for this place; nothing of this stage is used any more.
            unsafe { enter(code) }
        }
        Err(reason) => {
            let _ =
                writeln!(Console, "first stage: refuses what comes next, E{:04}", reason as u16);
            exit(2);
        }
    }
}

/// Shows what started, and verifies what starts after it: where its code is.
fn next() -> Result<usize, Reason> {
    let header: *const [u8; FIRST_STAGE_HEADER_SIZE] =
        core::ptr::with_exposed_provenance(FIRST_STAGE);
    // SAFETY: hardware has written it there before the release, and no write of a bus changes it.
    let header = unsafe { &*header };
    let algorithm =
        FirstStageAlgorithm::from_numbers(XMSS.0, XMSS.1).ok_or(Reason::InternalLimit)?;
    let own = FirstStageHeader::parse(header, algorithm)?;
    let _ = writeln!(
        Console,
        "first stage: runs, security version {}, {} bytes of code",
        own.security_version, own.code_size
    );
    // A stage that names no key starts nothing.
    let Some(next) = own.next_key else {
        let _ = writeln!(Console, "first stage: names no key");
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
        Console,
        "first stage: verified what comes next, security version {}",
        stage.header.security_version
    );
    Ok(stage.code.as_ptr().expose_provenance())
}

/// Floor and state of the device, from one-time-programmable storage.
fn device() -> Result<(u64, Lifecycle), Reason> {
    // SAFETY: its registers, which no other code uses.
    let otp = unsafe { Otp::new(core::ptr::with_exposed_provenance_mut(OTP)) };
    let lifecycle = match otp.lifecycle() {
        Stored::Development => Lifecycle::Development,
        Stored::Production => Lifecycle::Production,
        Stored::Returned => Lifecycle::Returned,
        _ => return Err(Reason::CounterStoreInvalid),
    };
    Ok((u64::from(otp.floor()), lifecycle))
}

/// Copies an image whose signed part begins at `front` to memory: what is verified is the copy, and so is what runs.
fn load(base: usize, front: usize) -> Result<&'static [u8], Reason> {
    let fixed = front.wrapping_add(FIRST_STAGE_HEADER_SIZE);
    // SAFETY: the second half of the scratchpad, which no other code of this stage uses; sizes are multiples of 64.
    unsafe { read_medium(base, SECOND_IMAGE, fixed / 4) };
    let size: *const u64 = core::ptr::with_exposed_provenance(SECOND_STAGE.wrapping_add(24));
    // SAFETY: the field that was just copied (spec/first-stage.md §6).
    let size = unsafe { size.read_volatile() };
    // Bounded before it is used; it is trusted after the signature verified.
    let size = usize::try_from(size).ok().filter(|size| *size <= SECOND_STAGE_CAPACITY);
    let size = size.filter(|size| size.is_multiple_of(64)).ok_or(Reason::CodeSizeOutOfRange)?;
    // SAFETY: as above: the code follows what was copied, and has room.
    unsafe {
        read_medium(base.wrapping_add(fixed), SECOND_IMAGE.wrapping_add(fixed), size / 4);
    }
    // SAFETY: bytes that were written above, and that are not written any more.
    Ok(unsafe {
        core::slice::from_raw_parts(
            core::ptr::with_exposed_provenance(base),
            fixed.wrapping_add(size),
        )
    })
}

/// Has the engine verify, which is the host's since the release.
fn check(parts: &Image<'_>, room: &mut [u8]) -> Result<(), Reason> {
    let algorithm = parts.front.algorithm();
    let mut key = [0; KEY];
    let len = algorithm.standard_key(parts.front.key(), &mut key).ok_or(Reason::InternalLimit)?;
    let key = key.get(..len).ok_or(Reason::InternalLimit)?;
    let len = algorithm.standard_signature(parts.signature, room)?;
    let signature = room.get(..len).ok_or(Reason::InternalLimit)?;
    // SAFETY: the registers of the engine, which no other code uses.
    let registers = unsafe { Registers::new(core::ptr::with_exposed_provenance_mut(ENGINE)) };
    let mut engine = Xmss::new(registers, Polling).map_err(|_| Reason::VerdictNotConfirmed)?;
    let judged = engine.verify(XMSS.1, key, &[parts.signed], signature);
    match judged.map_err(|_| Reason::VerdictNotConfirmed)?.verdict {
        Ok(()) => Ok(()),
        Err(Refusal::LeafIndex) => Err(Reason::SignatureIndexOutOfRange),
        Err(_) => Err(Reason::SignatureMismatch),
    }
}
