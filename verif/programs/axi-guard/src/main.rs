//! The storage against the guard in front of its port: a host in M-mode closes four ranges, and has the storage write at
//! every edge of each. It ends the machine with 0 if nothing that is closed changed, all else was delivered, and the guard
//! reported each refusal.
//!
//! ```text
//! guard: <range> refused <count> delivered <count>
//! ```
//!
//! A request that begins outside of a range and ends inside is delivered up to the range. The storage counts refused
//! bursts as delivered: it does not look at responses, so that only memory and the guard say what happened.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::global_asm;

use hartlock_drivers::axi_guard::{AxiGuard, Error, Pages, RANGES};
use hartlock_regs::axi_guard as registers;
use hartlock_verify::board::{Region, hartlock_soc};
use hartlock_virt::console::{self, Number};
use hartlock_virt::soc::{SECTOR_SIZE, Storage};
use hartlock_virt::{board, machine, memory};

global_asm!(include_str!("../../bench/src/start.S"));

const SECTOR: usize = SECTOR_SIZE as usize;
const PAGE: u64 = 4096;
const RAM: u64 = hartlock_soc::RAM.start;
/// What the machine of this test has of memory (`MEMORY_SIZE` of verif/machines/run/src/machines/soc.rs).
const MEMORY_END: u64 = RAM + (1 << 30);
/// Where a sector goes before it is known what it holds.
const BUFFER: u64 = RAM + (64 << 20);
/// A sector of the medium without its header, and polls until it is there.
const FROM: u64 = 1;
const PATIENCE: u32 = 100_000;
/// What memory holds before the storage writes, other than any medium.
const CANARY: u8 = 0x5a;

/// Ranges that are closed: those that the board protects, which are what the host starts with (this program) and the
/// measurement log; a single page; and the end of memory.
const CLOSED: [Region; RANGES] = [
    hartlock_soc::FIRST,
    hartlock_soc::LOG,
    Region::new(RAM + (32 << 20), PAGE),
    Region::new(MEMORY_END - (1 << 20), 1 << 20),
];

/// A place of a sector.
struct Place {
    at: u64,
    is_closed: bool,
}

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let mut storage = Storage::new();
    let are_closed = hartlock_soc::PROTECTED.iter().all(|region| CLOSED.contains(region));
    expect(are_closed, "the board protects what is not tried");
    // Before the lock nothing passes.
    expect(!arrives(&mut storage, BUFFER), "the storage writes before the lock");
    let mut guard = close(CLOSED.map(pages));
    expect(guard.take_refused() == (false, true), "the first refusal is not reported");
    expect(arrives(&mut storage, BUFFER), "memory that is open is not written");
    expect(guard.take_refused() == (false, false), "something open is refused");
    // SAFETY: the storage has written it, and nothing else uses it.
    let delivered = unsafe { memory::bytes(Region::new(BUFFER, SECTOR_SIZE)) };
    open_what_is_locked();
    for (index, range) in CLOSED.iter().enumerate() {
        try_range(&mut storage, &mut guard, index, *range, delivered);
    }
    console::line(&["guard: done"]);
    machine::end(0)
}

/// Closes ranges; with the feature `open-range` one of them is left out.
fn close(mut closed: [Pages; RANGES]) -> AxiGuard {
    if cfg!(feature = "open-range") {
        closed[2] = Pages::NONE;
    }
    let base = core::ptr::with_exposed_provenance_mut(board::AXI_GUARD);
    // SAFETY: its registers, which only this program uses.
    match unsafe { AxiGuard::close(base, &closed) } {
        Ok(guard) => guard,
        Err(_) => fail("there is no guard"),
    }
}

/// Attempts to get rid of the lock and of a range, by the driver and past it.
fn open_what_is_locked() {
    let base = core::ptr::with_exposed_provenance_mut(board::AXI_GUARD);
    // SAFETY: as above; the ranges stay, which is what is tried.
    let again = unsafe { AxiGuard::close(base, &[Pages::NONE; RANGES]) };
    expect(matches!(again, Err(Error::Locked)), "the guard is locked twice");
    // SAFETY: its registers; a write of them changes no memory of Rust.
    let registers = unsafe { registers::AxiGuard::new(base) };
    registers.lock().write(registers::Lock::RESET);
    for (first, last) in registers.first().iter().zip(registers.last().iter()) {
        first.write(registers::First::RESET);
        last.write(registers::Last::RESET);
    }
    expect(registers.lock().read().locked(), "the lock is gone");
}

/// Both edges of a range from both sides, its middle, and requests across each edge.
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
        // No memory is there.
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
        // SAFETY: the storage has written it, and nothing else uses it.
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

/// Whether a sector from the storage changes memory at this address.
fn arrives(storage: &mut Storage, at: u64) -> bool {
    is_written(write(storage, Region::new(at, SECTOR_SIZE)))
}

/// Has the storage write a region, and returns what is there then.
///
/// The program itself is not overwritten before: it is no canary, and it would not run any more if it were changed.
fn write(storage: &mut Storage, region: Region) -> &'static [u8] {
    let is_program = region.start < CLOSED[0].end && region.end > RAM;
    if !is_program {
        // SAFETY: memory that nothing else uses.
        unsafe { memory::bytes_mut(region) }.fill(CANARY);
    }
    // SAFETY: memory that nothing reads until the request is done; or the program, which the guard protects.
    if !unsafe { storage.start(FROM, region) } {
        fail("the storage refused");
    }
    for _ in 0..PATIENCE {
        if storage.pending() == 0 {
            // SAFETY: nothing writes it until the next call.
            return unsafe { memory::bytes(region) };
        }
    }
    fail("the storage hangs")
}

/// Whether these are bytes of the medium: compared with what memory held before, and in the program's memory with the
/// buffer that has the same sector.
fn is_written(bytes: &[u8]) -> bool {
    let at = bytes.as_ptr().addr() as u64;
    if at >= CLOSED[0].end {
        return bytes.iter().any(|byte| *byte != CANARY);
    }
    // SAFETY: the storage has written it before.
    bytes == unsafe { memory::bytes(Region::new(BUFFER, SECTOR_SIZE)) }
}

fn pages(region: Region) -> Pages {
    Pages { first: (region.start / PAGE) as u32, last: ((region.end - 1) / PAGE) as u32 }
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
