//! A program that tries, in S-mode and on every hart, accesses that are forbidden to S-mode (boot
//! flow §5.1).
//!
//! A test signs this program in place of the loader. The program prints one line for each hart and
//! region, and decides nothing: the test knows the expected results.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;
use core::sync::atomic::{AtomicBool, Ordering};

use hartlock_handoff::Handoff;
use hartlock_virt::board::{CLINT, FW_CFG, UART, map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::{clock, hart, memory, sbi};

global_asm!(include_str!("start.S"));

unsafe extern "C" {
    fn worker_entry();
    fn try_read(address: u64) -> bool;
    fn try_write(address: u64) -> bool;
    fn try_execute(address: u64) -> bool;
}

/// Names and addresses to try. The first and the last byte of a region are equally important.
const PLACES: [(&str, u64); 22] = [
    ("rom-flash-first", map::ROM_FLASH.start),
    ("root-of-trust", map::ROOT_OF_TRUST.start),
    ("bundle-flash-first", map::BUNDLE_FLASH.start),
    ("state-copy-0", map::STATE_COPIES[0].start),
    ("state-copy-1", map::STATE_COPIES[1].start),
    ("bundle-flash-last", map::BUNDLE_FLASH.end - 4),
    ("opensbi-code", map::OPENSBI.start),
    ("opensbi-data", map::OPENSBI.start + 0x4_0000),
    ("rom-ram-first", map::ROM_RAM.start),
    ("rom-ram-last", map::ROM_RAM.end - 4),
    ("handoff-first", map::HANDOFF.start),
    ("handoff-last", map::HANDOFF.end - 4),
    ("clint-msip", CLINT as u64),
    ("clint-mtimecmp", CLINT as u64 + 0x4000),
    ("clint-mtime", CLINT as u64 + 0xbff8),
    ("fw-cfg", FW_CFG as u64),
    ("fw-cfg-dma", FW_CFG as u64 + 16),
    // This is the address of the IOMMU on boards that have one; on others there is no device.
    ("iommu-mode", 0x301_0010),
    // These are the slots of virtio-mmio, which QEMU's `virt` has on every board, after the page of the console.
    ("virtio-mmio-first", UART as u64 + 0x1000),
    ("virtio-mmio-last", UART as u64 + 0x8000),
    // These are controls, to which an access has to succeed.
    ("log", map::LOG.start),
    ("metadata", map::METADATA.start),
];

static DONE: AtomicBool = AtomicBool::new(false);

fn probe(number: usize) {
    for (name, address) in PLACES {
        // SAFETY: the routine survives a trap, and a write stores the value that was read.
        let read = unsafe { try_read(address) };
        // SAFETY: the routine survives a trap, and a write stores the value that was read.
        let write = unsafe { try_write(address) };
        let is_control = matches!(name, "log" | "metadata");
        // SAFETY: the routine is called only for addresses that must not be executable; if one is,
        // the test ends visibly.
        let execute = !is_control && unsafe { try_execute(address) };
        let word = |is_allowed| if is_allowed { "yes" } else { "no" };
        console::line(&[
            "probe: hart ",
            Number::decimal(number as u64).as_str(),
            " ",
            name,
            " read ",
            word(read),
            " write ",
            word(write),
            " execute ",
            word(execute),
        ]);
    }
}

#[unsafe(no_mangle)]
extern "C" fn probe_main(own: usize) -> ! {
    // SAFETY: this is the hand-off block of the ROM, which nothing writes to.
    let handoff = Handoff::parse(unsafe { memory::bytes(map::HANDOFF) });
    let harts = handoff.map_or(0, |handoff| handoff.harts);
    print_ram();
    probe(own);
    for other in (0..8).filter(|other| *other != own && harts & (1 << other) != 0) {
        DONE.store(false, Ordering::Release);
        let _ = sbi::hart_start(other, worker_entry as *const () as usize, 0);
        let deadline = clock::deadline(2000);
        while !DONE.load(Ordering::Acquire) && !clock::is_past(deadline) {
            core::hint::spin_loop();
        }
    }
    console::line(&["probe: done"]);
    sbi::power_off();
    hart::halt()
}

/// Prints the number of bytes of the ROM's metadata buffer that are not zero. S-mode can read this
/// memory, so all of it has to be zero.
fn print_ram() {
    // SAFETY: nothing writes to the buffer at this time.
    let metadata = unsafe { memory::bytes(map::METADATA) };
    let left = metadata.iter().filter(|byte| **byte != 0).count();
    console::line(&["probe: metadata bytes left ", Number::decimal(left as u64).as_str()]);
}

#[unsafe(no_mangle)]
extern "C" fn probe_worker(number: usize) {
    probe(number);
    DONE.store(true, Ordering::Release);
    sbi::hart_stop();
}
