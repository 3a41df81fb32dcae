//! The smoke program of the root of trust.
//!
//! The program uses each memory of the root of trust, provokes every error of the bus, and makes the accesses of a
//! driver without DMA, so that the machine's trace shows their cost. It ends with a code that identifies the part that
//! failed.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use core::arch::global_asm;
use core::fmt::Write;

use hartlock_drivers::boot_sequencer::{BootSequencer, Error};
use hartlock_regs::boot_sequencer::{
    BootSequencerRegisters, BootSequencerState, BootSequencerWord,
};
use hartlock_rot::{BENCH, BOOT_SEQUENCER, HOST_MEMORY, SCRATCHPAD, cause};
use hartlock_rot_bench::{Console, exit, mark, try_call, try_load, try_store};

global_asm!(include_str!("feed.S"));

unsafe extern "C" {
    fn feed_blocks(source: *const u32, port: *mut u32, status: *const u32, blocks: u32);
    fn load_cost(source: *const u32) -> u32;
}

/// Address that this program does not use: its data is at the start of the scratchpad, and its stack at the end.
const FREE: usize = SCRATCHPAD + 0x8000;
/// Address of the last word of the scratchpad.
const SCRATCHPAD_END: usize = SCRATCHPAD + 0xfffc;
/// Encoding of the instruction `ret`.
const RET: u32 = 0x0000_8067;
/// Address in the host's memory.
const SHARED: usize = HOST_MEMORY + 0x10_0000;
/// Address for which the bench has no memory of the host.
const BEYOND: usize = 0xf000_0000;
/// Address of the bench's register with the cycles since reset, which is never 0.
const CYCLES: usize = BENCH + 0xc;
const BLOCKS: u32 = 16;
/// Number of the reason that is written to the sequencer.
const REASON: u32 = 603;

/// A test that returns true if its results are right.
type Part = fn() -> bool;

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    hartlock_rot_bench::catch_traps();
    let parts: [(&str, Part); 7] = [
        ("scratchpad", || remembers(FREE)),
        ("host memory", || remembers(SHARED)),
        ("bytes", writes_bytes),
        ("errors", refuses),
        ("rom", keeps_the_rom),
        ("costs", costs),
        ("sequencer", decides),
    ];
    for (number, (name, part)) in (1..).zip(parts) {
        if !part() {
            let _ = writeln!(Console, "rot-smoke: {name} failed");
            exit(number);
        }
        let _ = writeln!(Console, "rot-smoke: {name} ok");
    }
    exit(0)
}

/// Checks that memory returns words that differ in every byte.
fn remembers(base: usize) -> bool {
    let word = |index: usize| 0x0102_0408_u32.rotate_left(index as u32) ^ index as u32;
    let addresses = || (base..).step_by(68).take(32).enumerate();
    addresses().all(|(index, address)| {
        // SAFETY: no object of this program is at these addresses.
        unsafe { try_store(address, word(index)) }.is_ok()
    }) && addresses().all(|(index, address)| try_load(address) == Ok(word(index)))
}

/// Checks that writes of parts of a word do not change its other bytes, in both halves of a 64-bit beat.
fn writes_bytes() -> bool {
    [FREE, FREE + 4, SHARED, SHARED + 4].into_iter().all(|address| {
        // SAFETY: no object of this program is at these addresses.
        let is_written = unsafe { try_store(address, 0x1122_3344) }.is_ok();
        let byte: *mut u8 = core::ptr::with_exposed_provenance_mut(address + 1);
        let half: *mut u16 = core::ptr::with_exposed_provenance_mut(address + 2);
        // SAFETY: this is a byte of the word that was just written.
        unsafe { byte.write_volatile(0xaa) };
        // SAFETY: this is the upper half of the same word.
        unsafe { half.write_volatile(0xbbcc) };
        is_written && try_load(address) == Ok(0xbbcc_aa44)
    })
}

/// Checks that accesses to addresses without a device end with an error, and that none hangs.
fn refuses() -> bool {
    // The addresses are between the regions, in a register page without a block, and past the host's memory.
    let unmapped = [0x0002_0000, 0x2000_0000, 0x4000_e000, 0x4001_0000, 0x7fff_fffc, BEYOND];
    // The scratchpad gets a function that would return if it were executed.
    // SAFETY: no object of this program is at this address.
    unsafe { try_store(FREE, RET) }.is_ok()
        && unmapped.into_iter().all(|address| {
            // SAFETY: there is no memory at this address.
            let stored = unsafe { try_store(address, 1) };
            try_load(address) == Err(cause::LOAD_ACCESS) && stored == Err(cause::STORE_ACCESS)
        })
        && [SCRATCHPAD, FREE, SCRATCHPAD_END, SHARED, CYCLES, 0x2000_0000].into_iter().all(
            |address| {
                // SAFETY: the bus refuses instruction fetches from these addresses.
                unsafe { try_call(address) == Err(cause::INSTRUCTION_ACCESS) }
            },
        )
}

/// Checks that a write to the ROM is an error and changes nothing.
fn keeps_the_rom() -> bool {
    [0, 0x80, 0x1_fffc].into_iter().all(|address| {
        let before = try_load(address);
        // SAFETY: the ROM cannot be written, which is what this test checks.
        let stored = unsafe { try_store(address, !0) };
        stored == Err(cause::STORE_ACCESS) && before.is_ok() && try_load(address) == before
    })
}

fn costs() -> bool {
    let pointer = core::ptr::with_exposed_provenance::<u32>;
    let port = core::ptr::with_exposed_provenance_mut(FREE - 4);
    for (name, source) in [("scratchpad", FREE), ("host", SHARED)] {
        // SAFETY: the memory is as long as the blocks; the second round finds them in the host's cache.
        unsafe { feed_blocks(pointer(source), port, pointer(CYCLES), BLOCKS) };
        mark(1);
        // SAFETY: the memory is as long as the blocks.
        unsafe { feed_blocks(pointer(source), port, pointer(CYCLES), BLOCKS) };
        mark(2);
        // SAFETY: the memory has at least 64 bytes.
        let cycles = unsafe { load_cost(pointer(source)) };
        let _ = writeln!(Console, "rot-smoke: 16 loads {name} {cycles}");
    }
    true
}

/// Checks that the first decision is final, and that another one is an error.
fn decides() -> bool {
    let base = core::ptr::with_exposed_provenance_mut(BOOT_SEQUENCER);
    // SAFETY: these are registers of the sequencer, which no other code uses.
    let mut sequencer = unsafe { BootSequencer::new(base) };
    // SAFETY: these are the same registers; only their addresses are used, between calls of the driver.
    let registers = unsafe { BootSequencerRegisters::new(base) };
    let is_held = sequencer.state() == BootSequencerState::Held
        && is_guarded(&registers, BootSequencerWord::Release as u32);
    let (decision, state) = if cfg!(feature = "release-host") {
        (sequencer.release(), BootSequencerState::Released)
    } else if cfg!(feature = "trap-host") {
        (sequencer.trap(REASON), BootSequencerState::Trapped)
    } else {
        (sequencer.refuse(REASON), BootSequencerState::Refused)
    };
    let reason = if state == BootSequencerState::Released { 0 } else { REASON };
    is_held
        && decision == Ok(())
        && is_refused(registers.decision().as_ptr(), BootSequencerWord::Release as u32)
        && is_refused(registers.reason().as_ptr(), 1)
        && is_guarded(&registers, BootSequencerWord::Release as u32)
        && sequencer.release() == Err(Error::Decided)
        && sequencer.state() == state
        && sequencer.reason() == reason
}

/// Checks that reads of write-only registers, writes of read-only registers, and accesses past the last register are
/// errors.
fn is_guarded(registers: &BootSequencerRegisters, word: u32) -> bool {
    let status = registers.status().as_ptr();
    try_load(registers.decision().as_ptr().addr()) == Err(cause::LOAD_ACCESS)
        && is_refused(status, word)
        && is_refused(status.wrapping_add(1), word)
}

fn is_refused(register: *mut u32, word: u32) -> bool {
    // SAFETY: the address is that of a register of the sequencer or of none, and the access touches no memory.
    unsafe { try_store(register.addr(), word) == Err(cause::STORE_ACCESS) }
}
