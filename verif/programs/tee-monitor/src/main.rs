//! What the first-stage loader of a TEE starts in a test, in place of a monitor: prints the record that it was given, looks
//! for the secret of the device and for what engines still have, and tries the closed pages from S- and U-mode.
//!
//! ```text
//! monitor: record <hexadecimal>
//! monitor: entered: <cycles since reset, 0 where nothing counts them>
//! monitor: <s or u>-mode <load or store> <address> <mcause>
//! monitor: done
//! ```
//!
//! It ends the machine with 0 if the secret stays closed, engines have neither keys nor results, the stack of the loader is
//! wiped, every access to a closed page is a fault, and one to other memory none.

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
    /// Loads or stores a word of this address in a mode, and returns the cause of the trap that follows (attempt.S).
    fn attempt_access(address: u64, mode: u64, is_store: u64) -> u64;
}

/// In words: the latch of the secret, status registers, results.
const LATCH: usize = 16;
const ED25519_STATUS: usize = 0x1010 / 4;
const SHA3_STATUS: usize = 0x2010 / 4;
const SHA3_DIGEST: usize = 0x2100 / 4;
/// Bytes of the record (`device/fsbl/src/handover.rs`).
const RECORD_SIZE: u64 = 264;
/// Words of the secret.
const SECRET_WORDS: usize = 16;
/// The end of the memory of the loader: its stack, and what nothing has used (`device/fsbl/link.ld`).
const STACK: Region = Region { start: 0x880f_0000, end: 0x8810_0000 };

// Causes (RISC-V Privileged Architecture, table of mcause).
const LOAD_ACCESS_FAULT: u64 = 5;
const STORE_ACCESS_FAULT: u64 = 7;
const CALL_OF_U_MODE: u64 = 8;
const CALL_OF_S_MODE: u64 = 9;

/// mstatus.MPP of M-mode.
const M_MODE: u64 = 3 << 11;
/// Name, mstatus.MPP, and the cause of its `ecall`.
const MODES: [(&str, u64, u64); 2] =
    [("s-mode ", 1 << 11, CALL_OF_S_MODE), ("u-mode ", 0, CALL_OF_U_MODE)];

#[unsafe(no_mangle)]
extern "C" fn bench_main(_hart: u64, handed_over: u64) -> ! {
    let board = Board::find();
    let record_at = board.record.map_or(handed_over, |record| record.start);
    let begins = board.cycles();
    // SAFETY: memory that the loader has written, and nothing else uses.
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
        // Otherwise nothing would have been tried.
        expect(board, record_at.wrapping_sub(PAGE), (name, mode), false, call);
        expect(board, record_at.wrapping_sub(PAGE), (name, mode), true, call);
    }
    board.line(&["monitor: done"]);
    board.end(0)
}

/// M-mode cannot reach the secret either.
fn secret_is_locked(board: &Board) {
    for at in (0..SECRET_WORDS as u64).map(|index| board.closed.start.wrapping_add(index << 2)) {
        for (is_store, wanted) in [(0, LOAD_ACCESS_FAULT), (1, STORE_ACCESS_FAULT)] {
            // SAFETY: an access that is closed; the routine keeps all registers that it has to.
            if unsafe { attempt_access(at, M_MODE, is_store) } != wanted {
                fail(board, "the secret is open");
            }
        }
    }
}

/// The secret is closed and does not open, no slot has a key, and no result is there.
fn engines_have_nothing(board: &Board) {
    let word = |index: usize| {
        core::ptr::with_exposed_provenance_mut::<u32>(board.closed.start as usize)
            .wrapping_add(index)
    };
    // SAFETY: a word of a device; reading it changes nothing.
    let read = |index: usize| unsafe { word(index).read_volatile() };
    // As an attacker would.
    for (index, value) in [(LATCH, 0), (0, 0), (LATCH, 1), (LATCH, 0)] {
        // SAFETY: the page of the secret, where a store closes it or does nothing.
        unsafe { word(index).write_volatile(value) };
        if read(LATCH) != 1 || (0..SECRET_WORDS).any(|index| read(index) != 0) {
            fail(board, "the secret is open");
        }
    }
    /// Idle; of SHA-3 beside it, whether a digest and a key are there and whether it has failed.
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

/// Nothing is left of what the loader had on its stack, nor did that reach past its place.
fn stack_is_wiped(board: &Board) {
    let start: *const u64 = core::ptr::with_exposed_provenance(STACK.start as usize);
    // SAFETY: memory of the loader, which does not run any more.
    let word = |index: usize| unsafe { start.wrapping_add(index).read_volatile() };
    if (0..STACK.size() as usize / 8).any(|index| word(index) != 0) {
        fail(board, "the stack of the loader is not wiped");
    }
}

fn expect(board: &Board, address: u64, (name, mode): (&str, u64), is_store: bool, wanted: u64) {
    // SAFETY: an access to devices that close it or to memory that nothing uses; the routine keeps all registers that it has to.
    let cause = unsafe { attempt_access(address, mode, is_store.into()) };
    let text = [Number::hex(address), Number::decimal(cause)];
    let kind = if is_store { "store " } else { "load " };
    board.line(&["monitor: ", name, kind, text[0].as_str(), " ", text[1].as_str()]);
    if cause != wanted {
        fail(board, "another cause was expected");
    }
}

/// What the loader of another board does before it enters the monitor: closes the pages and the record to S- and U-mode.
fn close_pages(board: &Board, record_at: u64) {
    const NAPOT: u64 = 3 << 3;
    // A range of 2^n bytes: ones below its size say how many (RISC-V Privileged Architecture §3.7.1).
    let napot = |region: Region| (region.start >> 2) | ((region.size() >> 3).wrapping_sub(1));
    // SAFETY: changes what lower modes may access, none of which runs.
    unsafe {
        asm!(
            "csrw pmpaddr0, {}", "csrw pmpaddr1, {}", "csrw pmpcfg0, {}",
            in(reg) napot(board.closed), in(reg) napot(Region::new(record_at, PAGE)), in(reg) NAPOT | NAPOT << 8,
            options(nostack)
        );
    }
}

/// As a monitor does: everything that no earlier entry closes is open to S-mode, by the last entry of eight.
fn open_memory() {
    /// Read, write, execute, a naturally aligned power of two.
    const OPEN: u64 = 0x1f;
    // SAFETY: changes what lower modes may access.
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
