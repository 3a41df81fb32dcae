//! A ROM that verifies nothing. Its only purpose is to measure the cost of verification.
//!
//! The program does the same as the real ROM without the checks: the harts are counted, the same
//! code reads the boot bundle and copies it to the same addresses, and OpenSBI is entered in the
//! same way. No key, floor, signature or digest is checked. There is no hand-off block; the
//! unverified loader finds the harts in the measurement log.

use hartlock_handoff::{Entry, LogHeader, Step};
use hartlock_image::{BundleType, Reason};
use hartlock_kernels::Kernels;
use hartlock_rom::{
    BOOT_HART, generation, harts, medium, refuse, rom_handover, step, write_dynamic_info,
};
use hartlock_stage::{RomLog, push, start_log};
use hartlock_virt::board::map;
use hartlock_virt::{clock, console, dma, memory};

use crate::manifest::read_manifest;

#[unsafe(no_mangle)]
extern "C" fn rom_main() -> ! {
    let mut log = RomLog::new();
    let result = load(&mut log).and_then(harts::release);
    if let Err(reason) = result {
        refuse(reason, &log)
    }
    console::line(&["hartlock: UNVERIFIED ROM: nothing was checked, entering OpenSBI"]);
    // SAFETY: the call does not return, so it does not matter that the current stack is zeroed.
    unsafe { rom_handover() }
}

/// Copies the boot bundle to its load addresses. Returns the mask of the harts that reported.
fn load(log: &mut RomLog) -> Result<u64, Reason> {
    let start = clock::now();
    console::line(&["\nhartlock: UNVERIFIED ROM: checks nothing, for measurements only"]);
    dma::close()?;
    let reported = harts::count();
    medium::reset_flash();
    push(log, Entry { harts: reported, ..step(Step::Start, start) });

    // No hash is computed, so the kernels do not matter.
    let mut flash = medium::open(Kernels::PORTABLE, log);
    let read_start = clock::now();
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    let metadata = unsafe { memory::bytes_mut(map::METADATA) };
    let (manifest, bytes) = read_manifest(&mut flash, BundleType::Boot, metadata)?;
    flash.push(Entry { bytes, harts: 1 << BOOT_HART, ..step(Step::Read, read_start) });
    for payload in manifest.payloads.iter() {
        // This check does not belong to verification: it ensures that the program writes only to
        // free RAM.
        map::BOARD.check(BundleType::Boot, payload)?;
        let _ = flash.copy(payload)?;
    }
    write_dynamic_info();
    dma::guard()?;

    // SAFETY: no other code uses the log region while the ROM runs.
    let region = unsafe { memory::bytes_mut(map::LOG) };
    let header = LogHeader { ticks_per_second: clock::TICKS_PER_SECOND, generation: generation() };
    let _ = start_log(region, &header, log);
    // A hand-off block of an earlier boot must not be mistaken for one of this boot.
    // SAFETY: the hand-off region belongs to the ROM until OpenSBI closes it for writing.
    unsafe { memory::bytes_mut(map::HANDOFF) }.fill(0);
    Ok(reported)
}
