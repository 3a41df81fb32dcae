//! A test program that the first-stage boot loader of a TEE starts in place of a monitor. It prints the record that it
//! receives, checks that the device secret is closed and the engines are cleared, and tries to access the closed pages
//! from S-mode and U-mode.
//!
//! ```text
//! monitor: record <hexadecimal>
//! monitor: entered: <cycles since reset, 0 where nothing counts them>
//! monitor: <s or u>-mode <load or store> <address> <mcause>
//! monitor: done
//! ```
//!
//! The program ends the machine with 0 if the secret stays closed, the engines hold neither keys nor results, the stack
//! of the loader is wiped, every access to a closed page causes a fault, and an access to other memory causes none.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod board;

use core::arch::{asm, global_asm};

use hartlock_verify::board::Region;
use hartlock_virt::console::Number;
use hartlock_virt::memory;

use board::{Board, PAGE, Secret};

global_asm!(include_str!("../../bench/src/start.S"));
global_asm!(include_str!("attempt.S"));

unsafe extern "C" {
    /// Loads or stores a word at this address in a mode, and returns the cause of the trap that follows (attempt.S).
    fn attempt_access(address: u64, mode: u64, is_store: u64) -> u64;
}

/// Word offsets of the latch of the secret, of status registers and of results.
const LATCH: usize = 16;
const ED25519_STATUS: usize = 0x1010 / 4;
const SHA3_STATUS: usize = 0x2010 / 4;
const SHA3_DIGEST: usize = 0x2100 / 4;
/// Size of the record in bytes (`device/fsbl/src/handover.rs`).
const RECORD_SIZE: u64 = 264;
/// Number of words of the secret.
const SECRET_WORDS: usize = 16;
/// End of the loader's memory: its stack, and memory that was never used (`device/fsbl/link.ld`).
const STACK: Region = Region { start: 0x880f_0000, end: 0x8810_0000 };

// These are trap causes (RISC-V Privileged Architecture, table of mcause).
const LOAD_ACCESS_FAULT: u64 = 5;
const STORE_ACCESS_FAULT: u64 = 7;
const CALL_OF_U_MODE: u64 = 8;
const CALL_OF_S_MODE: u64 = 9;

/// Value of mstatus.MPP for M-mode.
const M_MODE: u64 = 3 << 11;
/// Names of modes, their values of mstatus.MPP, and the cause of an `ecall` in them.
const MODES: [(&str, u64, u64); 2] =
    [("s-mode ", 1 << 11, CALL_OF_S_MODE), ("u-mode ", 0, CALL_OF_U_MODE)];

#[unsafe(no_mangle)]
extern "C" fn bench_main(_hart: u64, handed_over: u64) -> ! {
    let board = Board::find();
    let record_at = board.record.map_or(handed_over, |record| record.start);
    let begins = board.cycles();
    // SAFETY: the loader has written this memory, and no other code uses it.
    let record = unsafe { memory::bytes(Region::new(record_at, RECORD_SIZE)) };
    board.print("monitor: record ");
    for byte in record {
        let digits = [byte >> 4, byte & 15];
        for digit in digits {
            let text = "0123456789abcdef".get(usize::from(digit)..=usize::from(digit));
            board.print(text.unwrap_or("?"));
        }
    }
    board.line(&[""]);
    board.line(&["monitor: entered: ", Number::decimal(begins).as_str()]);
    match board.secret {
        Secret::Latched => engines_have_nothing(board),
        Secret::Locked => secret_is_locked(board),
        Secret::Elsewhere => close_pages(board, record_at),
    }
    if board.secret != Secret::Elsewhere {
        stack_is_wiped(board);
    }
    open_memory();
    for (name, mode, call) in MODES {
        for at in board.closed_pages(record_at) {
            expect(board, at, (name, mode), false, LOAD_ACCESS_FAULT);
            expect(board, at, (name, mode), true, STORE_ACCESS_FAULT);
        }
        // These controls show that the accesses were really tried.
        expect(board, record_at.wrapping_sub(PAGE), (name, mode), false, call);
        expect(board, record_at.wrapping_sub(PAGE), (name, mode), true, call);
    }
    board.line(&["monitor: done"]);
    board.end(0)
}

/// Checks that M-mode cannot access the secret, either.
fn secret_is_locked(board: &Board) {
    for at in (0..SECRET_WORDS as u64).map(|index| board.closed.start.wrapping_add(index << 2)) {
        for (is_store, wanted) in [(0, LOAD_ACCESS_FAULT), (1, STORE_ACCESS_FAULT)] {
            // SAFETY: this access is forbidden; the routine preserves all registers that it has to.
            if unsafe { attempt_access(at, M_MODE, is_store) } != wanted {
                fail(board, "the secret is open");
            }
        }
    }
}

/// Checks that the secret is closed and does not open, and that engines hold no key and no result.
fn engines_have_nothing(board: &Board) {
    let word = |index: usize| {
        core::ptr::with_exposed_provenance_mut::<u32>(board.closed.start as usize)
            .wrapping_add(index)
    };
    // SAFETY: this is a register of a device, and reading it has no side effect.
    let read = |index: usize| unsafe { word(index).read_volatile() };
    // The program tries what an attacker would try.
    for (index, value) in [(LATCH, 0), (0, 0), (LATCH, 1), (LATCH, 0)] {
        // SAFETY: this is the page of the secret, where a store closes the secret or has no effect.
        unsafe { word(index).write_volatile(value) };
        if read(LATCH) != 1 || (0..SECRET_WORDS).any(|index| read(index) != 0) {
            fail(board, "the secret is open");
        }
    }
    /// Status bit idle. The mask for SHA-3 also contains the bits for a digest, a key and a failure.
    const IDLE: u32 = 1;
    const MASK: u32 = 0x1d;
    if read(ED25519_STATUS) != IDLE || read(SHA3_STATUS) & MASK != IDLE {
        fail(board, "an engine has keys or results");
    }
    // The highest bit of a broken engine is stuck.
    if (0..16).any(|index| read(SHA3_DIGEST + index) << 1 != 0) {
        fail(board, "a digest is left");
    }
}

/// Checks that the loader has wiped its stack, and that the stack did not exceed its region.
fn stack_is_wiped(board: &Board) {
    let start: *const u64 = core::ptr::with_exposed_provenance(STACK.start as usize);
    // SAFETY: this is memory of the loader, which does not run any more.
    let word = |index: usize| unsafe { start.wrapping_add(index).read_volatile() };
    if (0..STACK.size() as usize / 8).any(|index| word(index) != 0) {
        fail(board, "the stack of the loader is not wiped");
    }
}

fn expect(board: &Board, address: u64, (name, mode): (&str, u64), is_store: bool, wanted: u64) {
    // SAFETY: the access is to devices that are closed or to memory that no code uses; the routine preserves all
    // registers that it has to.
    let cause = unsafe { attempt_access(address, mode, is_store.into()) };
    let text = [Number::hex(address), Number::decimal(cause)];
    let kind = if is_store { "store " } else { "load " };
    board.line(&["monitor: ", name, kind, text[0].as_str(), " ", text[1].as_str()]);
    if cause != wanted {
        fail(board, "another cause was expected");
    }
}

/// Closes the pages and the record to S-mode and U-mode, which on other boards the loader does before it enters the
/// monitor.
fn close_pages(board: &Board, record_at: u64) {
    const NAPOT: u64 = 3 << 3;
    // In the address of a range of 2^n bytes (NAPOT) the trailing ones encode the size (RISC-V Privileged Architecture
    // §3.7.1).
    let napot = |region: Region| (region.start >> 2) | ((region.size() >> 3).wrapping_sub(1));
    // SAFETY: the write changes the access rights of lower modes only, and none of them runs.
    unsafe {
        asm!(
            "csrw pmpaddr0, {}", "csrw pmpaddr1, {}", "csrw pmpcfg0, {}",
            in(reg) napot(board.closed), in(reg) napot(Region::new(record_at, PAGE)), in(reg) NAPOT | NAPOT << 8,
            options(nostack)
        );
    }
}

/// Opens all memory that no earlier PMP entry closes to S-mode, by the last entry of eight, as a monitor does.
fn open_memory() {
    /// Access bits: read, write, execute, naturally aligned power of two.
    const OPEN: u64 = 0x1f;
    // SAFETY: the write changes the access rights of lower modes only.
    unsafe {
        asm!(
            "csrw pmpaddr7, {}", "csrs pmpcfg0, {}",
            in(reg) u64::MAX >> 10, in(reg) OPEN << 56,
            options(nostack)
        );
    }
}

fn fail(board: &Board, what: &str) -> ! {
    board.line(&["monitor: failed: ", what]);
    board.end(1)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let board = Board::find();
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    board.line(&["monitor: trap ", cause, " at ", pc, " value ", value]);
    board.end(2)
}
