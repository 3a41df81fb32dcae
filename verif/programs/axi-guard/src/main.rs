//! A test of the guard in front of the storage's port. A host in M-mode closes four ranges and lets the storage write
//! at every edge of each. The program ends the machine with 0 if no closed memory changed, all other data was
//! delivered, and the guard reported each refusal.
//!
//! ```text
//! guard: <range> refused <count> delivered <count>
//! ```
//!
//! A request that begins outside of a range and ends inside is delivered up to the range. The storage counts refused
//! bursts as delivered, because it ignores responses; only memory and the guard show the result.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;

use hartlock_drivers::axi_guard::{AxiGuard, Error, PageRange, RANGES};
use hartlock_maps::hartlock_soc;
use hartlock_regs::axi_guard::{AxiGuardFirst, AxiGuardLast, AxiGuardLock, AxiGuardRegisters};
use hartlock_verify::board::Region;
use hartlock_virt::console::{self, Number};
use hartlock_virt::soc::{SECTOR_SIZE, Storage};
use hartlock_virt::{board, machine, memory};

global_asm!(include_str!("../../bench/src/start.S"));

const SECTOR: usize = SECTOR_SIZE as usize;
const PAGE: u64 = 4096;
const RAM: u64 = hartlock_soc::RAM.start;
/// End of the machine's RAM in this test (`MEMORY_SIZE` of verif/machines/run/src/machines/soc.rs).
const MEMORY_END: u64 = RAM + (1 << 30);
/// Destination of a sector whose content is not known yet.
const BUFFER: u64 = RAM + (64 << 20);
/// First sector of the medium without its header. The next constant is the maximum number of polls for a sector.
const FROM: u64 = 1;
const PATIENCE: u32 = 100_000;
/// Value of memory before the storage writes; no medium contains it.
const CANARY: u8 = 0x5a;

/// Ranges that are closed: the two that the board protects (the first memory of the host, which contains this program,
/// and the measurement log), a single page, and the end of RAM.
const CLOSED: [Region; RANGES] = [
    hartlock_soc::FIRST,
    hartlock_soc::LOG,
    Region::new(RAM + (32 << 20), PAGE),
    Region::new(MEMORY_END - (1 << 20), 1 << 20),
];

/// The destination of a sector.
struct Place {
    at: u64,
    is_closed: bool,
}

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let mut storage = Storage::new();
    let are_closed = hartlock_soc::PROTECTED.iter().all(|region| CLOSED.contains(region));
    expect(are_closed, "the board protects what is not tried");
    // Before the lock nothing passes the guard.
    expect(!arrives(&mut storage, BUFFER), "the storage writes before the lock");
    let mut guard = close(CLOSED.map(pages));
    expect(guard.take_refused() == (false, true), "the first refusal is not reported");
    expect(arrives(&mut storage, BUFFER), "memory that is open is not written");
    expect(guard.take_refused() == (false, false), "something open is refused");
    // SAFETY: the storage has written this memory, and no other code uses it.
    let delivered = unsafe { memory::bytes(Region::new(BUFFER, SECTOR_SIZE)) };
    open_what_is_locked();
    for (index, range) in CLOSED.iter().enumerate() {
        try_range(&mut storage, &mut guard, index, *range, delivered);
    }
    console::line(&["guard: done"]);
    machine::end(0)
}

/// Closes the ranges. With the feature `open-range` one of them is omitted.
fn close(mut closed: [PageRange; RANGES]) -> AxiGuard {
    if cfg!(feature = "open-range") {
        closed[2] = PageRange::NONE;
    }
    let base = core::ptr::with_exposed_provenance_mut(board::AXI_GUARD);
    // SAFETY: these are the guard's registers, which only this program uses.
    match unsafe { AxiGuard::close(base, &closed) } {
        Ok(guard) => guard,
        Err(_) => fail("there is no guard"),
    }
}

/// Attempts to remove the lock and a range, with the driver and without it.
fn open_what_is_locked() {
    let base = core::ptr::with_exposed_provenance_mut(board::AXI_GUARD);
    // SAFETY: only this program uses the registers; the ranges remain closed, which is what this test checks.
    let again = unsafe { AxiGuard::close(base, &[PageRange::NONE; RANGES]) };
    expect(matches!(again, Err(Error::Locked)), "the guard is locked twice");
    // SAFETY: these are the guard's registers; a write to them changes no memory that Rust uses.
    let registers = unsafe { AxiGuardRegisters::new(base) };
    registers.lock().write(AxiGuardLock::RESET);
    for (first, last) in registers.first().iter().zip(registers.last().iter()) {
        first.write(AxiGuardFirst::RESET);
        last.write(AxiGuardLast::RESET);
    }
    expect(registers.lock().read().locked(), "the lock is gone");
}

/// Tests both edges of a range from both sides, its middle, and requests across each edge.
fn try_range(
    storage: &mut Storage,
    guard: &mut AxiGuard,
    index: usize,
    range: Region,
    delivered: &[u8],
) {
    let (mut refused, mut open) = (0_u64, 0_u64);
    let inside = |at| Place { at, is_closed: true };
    let outside = |at| Place { at, is_closed: false };
    let places = [
        outside(range.start.saturating_sub(SECTOR_SIZE)),
        inside(range.start),
        inside(range.start + PAGE - SECTOR_SIZE),
        inside(range.start + range.size() / 2),
        inside(range.end - PAGE),
        inside(range.end - SECTOR_SIZE),
        outside(range.end),
    ];
    for Place { at, is_closed } in places {
        // There is no memory at this address.
        if !(RAM..MEMORY_END).contains(&at) {
            continue;
        }
        let has_arrived = arrives(storage, at);
        expect(has_arrived != is_closed, "a sector is where it must not be, or not where it must");
        expect(guard.take_refused() == (false, is_closed), "the guard does not say what it did");
        if is_closed {
            refused = refused.saturating_add(1);
            continue;
        }
        open = open.saturating_add(1);
        // SAFETY: the storage has written this memory, and no other code uses it.
        let bytes = unsafe { memory::bytes(Region::new(at, SECTOR_SIZE)) };
        expect(bytes == delivered, "another sector was delivered");
    }
    if range.start > RAM {
        let across = Region::new(range.start - SECTOR_SIZE, 2 * SECTOR_SIZE);
        let after = write(storage, across);
        let (before_edge, after_edge) = after.split_at(SECTOR);
        expect(is_written(before_edge), "the part before the range was not delivered");
        expect(!is_written(after_edge), "a request reaches the range from before it");
        expect(guard.take_refused() == (false, true), "the request across is not reported");
        refused = refused.saturating_add(1);
    }
    let [index, refused, open] = [index as u64, refused, open].map(Number::decimal);
    console::line(&[
        "guard: ",
        index.as_str(),
        " refused ",
        refused.as_str(),
        " delivered ",
        open.as_str(),
    ]);
}

/// Returns true if a sector from the storage changes memory at this address.
fn arrives(storage: &mut Storage, at: u64) -> bool {
    is_written(write(storage, Region::new(at, SECTOR_SIZE)))
}

/// Lets the storage write a region, and returns the contents of the region afterwards.
///
/// The program itself is not overwritten with the canary, because it could not continue.
fn write(storage: &mut Storage, region: Region) -> &'static [u8] {
    let is_program = region.start < CLOSED[0].end && region.end > RAM;
    if !is_program {
        // SAFETY: no other code uses this memory.
        unsafe { memory::bytes_mut(region) }.fill(CANARY);
    }
    // SAFETY: no code reads this memory until the request has ended, or it is the program, which the guard protects.
    if !unsafe { storage.start(FROM, region) } {
        fail("the storage refused");
    }
    for _ in 0..PATIENCE {
        if storage.pending() == 0 {
            // SAFETY: nothing writes to the region until the next call.
            return unsafe { memory::bytes(region) };
        }
    }
    fail("the storage hangs")
}

/// Returns true if these are bytes of the medium. They are compared with the canary, and in the program's memory with
/// the buffer that holds the same sector.
fn is_written(bytes: &[u8]) -> bool {
    let at = bytes.as_ptr().addr() as u64;
    if at >= CLOSED[0].end {
        return bytes.iter().any(|byte| *byte != CANARY);
    }
    // SAFETY: the storage has written the buffer before.
    bytes == unsafe { memory::bytes(Region::new(BUFFER, SECTOR_SIZE)) }
}

fn pages(region: Region) -> PageRange {
    PageRange { first: (region.start / PAGE) as u32, last: ((region.end - 1) / PAGE) as u32 }
}

fn expect(is_right: bool, what: &str) {
    if !is_right {
        fail(what)
    }
}

fn fail(what: &str) -> ! {
    console::line(&["guard: failed: ", what]);
    machine::end(1)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    console::line(&[
        "guard: trap ",
        text[0].as_str(),
        " at ",
        text[1].as_str(),
        " value ",
        text[2].as_str(),
    ]);
    machine::end(2)
}
