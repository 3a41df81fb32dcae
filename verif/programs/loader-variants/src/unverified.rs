//! A loader that verifies nothing. Its only purpose is to measure the cost of verification.
//!
//! The program does the same as the real loader without the checks: the same driver reads the same bytes from the disk
//! to the same addresses, and Linux's device tree gets the same edits. No key, floor, signature or digest is checked.
//! The other harts stay STOPPED, because there is no work for them.

use hartlock_handoff::{Entry, Log, MAX_ROM_ENTRIES, Step, entries};
use hartlock_image::{BundleType, List, PayloadType, Reason};
use hartlock_kernels::Kernels;
use hartlock_loader::disk::Disk;
use hartlock_loader::harts::Harts;
use hartlock_loader::log::{self, step};
use hartlock_loader::{enter_kernel, refusal, write_fdt};
use hartlock_virt::board::map;
use hartlock_virt::clock::{self, Instant};
use hartlock_virt::{console, environment, machine, memory};

use crate::Variant;
use crate::manifest::read_manifest;

#[unsafe(no_mangle)]
extern "C" fn loader_main(hart: usize) -> ! {
    refusal::set_boot_hart(hart);
    let start = clock::now();
    console::line(&["\nhartlock: UNVERIFIED loader: checks nothing, for measurements only"]);
    // SAFETY: this is the only user of the log region until Linux reads it.
    let region = unsafe { memory::bytes_mut(map::LOG) };
    // The unverified ROM has left its log in this region.
    let mut of_rom = List::<Entry, MAX_ROM_ENTRIES>::new();
    let header = entries(region).map(|(header, entries)| {
        entries.for_each(|entry| {
            let _ = of_rom.push(entry);
        });
        header
    });
    let Some(header) = header else {
        console::line(&["hartlock: no log: this is not the ROM of this loader"]);
        hartlock_virt::hart::halt()
    };
    let log = refusal::keep_log(Log::start(region, &header));
    of_rom.iter().for_each(|entry| log.push(entry));
    let reported = of_rom.iter().find(|entry| entry.step == Step::Start).map_or(0, |it| it.harts);
    let harts = refusal::keep_harts(Harts::new(hart, reported));
    match load(reported, harts, log, start) {
        Ok(entry) => leave(entry, hart, harts, log),
        Err(reason) => refusal::refuse(reason, log, Some(harts)),
    }
}

/// Reads the system bundle to its load addresses and writes Linux's device tree. Returns the entry point of the kernel.
fn load(
    reported: u64,
    harts: &mut Harts,
    log: &mut Log<'_>,
    start: Instant,
) -> Result<u64, Reason> {
    // No hash is computed, so the kernels do not matter.
    let mut disk = Disk::<Variant>::open(Kernels::PORTABLE, harts, log)?;
    let own_bit = disk.harts.own_bit();
    disk.log.push(&Entry { harts: own_bit, ..step(Step::Start, start) });

    let read_start = clock::now();
    // SAFETY: the metadata buffer belongs to the running stage, and this is its only user.
    let metadata = unsafe { memory::bytes_mut(map::METADATA) };
    let (manifest, bytes) = read_manifest(&mut disk, BundleType::System, metadata)?;
    disk.log.push(&Entry { bytes, harts: own_bit, ..step(Step::Read, read_start) });
    for payload in manifest.payloads.iter() {
        // This check does not belong to verification: it ensures that the program writes only to free RAM.
        map::BOARD.check(BundleType::System, payload)?;
        let mut transfer = disk.begin(payload)?;
        disk.finish(&mut transfer)?;
        disk.push(payload, Entry { harts: own_bit, ..transfer.entry() });
    }
    // Dropping the disk resets the device.
    drop(disk);
    write_fdt(&manifest, reported)?;
    Ok(manifest.payload(PayloadType::Kernel).ok_or(Reason::InternalLimit)?.entry)
}

fn leave(entry: u64, hart: usize, harts: &Harts, log: &mut Log<'_>) -> ! {
    let start = clock::now();
    console::line(&["hartlock: UNVERIFIED loader: nothing was checked, entering Linux"]);
    log.push(&Entry { harts: harts.own_bit(), ..step(Step::Handover, start) });
    refusal::clear_boot_hart();
    if environment::IS_ALONE {
        log::print();
        machine::end(0)
    }
    // SAFETY: no other hart runs and no device writes to memory; whether the bundle contains a kernel is not known.
    unsafe { enter_kernel(hart, map::LINUX_FDT.start as usize, entry as usize) }
}
