//! What the first-stage loader of a TEE starts in a test, in place of a monitor: prints the record that it was given, looks
//! for the secret of the device, and reads the closed pages from S-mode.
//!
//! ```text
//! monitor: record <hexadecimal>
//! monitor: s-mode <address> <mcause>
//! monitor: done
//! ```
//!
//! It ends the machine with 0 if the secret is closed, every closed page gives a load access fault, and other memory none.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

mod board;

use core::arch::{asm, global_asm};

use hartlock_verify::board::{Region, hartlock_soc as map};
use hartlock_virt::console::Number;
use hartlock_virt::memory;

use board::{Board, RECORD};

global_asm!(include_str!("../../bench/src/start.S"));
global_asm!(include_str!("attempt.S"));

unsafe extern "C" {
    /// Loads a word of this address in S-mode, and returns the cause of the trap that follows (attempt.S).
    fn attempt_load(address: u64) -> u64;
    /// The same in M-mode; 0 if nothing trapped.
    fn attempt_load_m(address: u64) -> u64;
}

/// Bytes of the record (`firmware/fsbl/src/handover.rs`).
const RECORD_SIZE: u64 = 264;
/// Words of the secret.
const SECRET_WORDS: usize = 16;

// Causes (RISC-V Privileged Architecture, table of mcause).
const LOAD_ACCESS_FAULT: u64 = 5;
const CALL_OF_S_MODE: u64 = 9;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let board = Board::find();
    // SAFETY: memory that the loader has written, and nothing else uses.
    let record = unsafe { memory::bytes(Region::new(RECORD.start, RECORD_SIZE)) };
    board.print("monitor: record ");
    for byte in record {
        let digits = [byte >> 4, byte & 15];
        for digit in digits {
            let text = "0123456789abcdef".get(usize::from(digit)..=usize::from(digit));
            board.print(text.unwrap_or("?"));
        }
    }
    board.line(&[""]);
    if !is_secret_closed(board) {
        fail(board, "the secret is open");
    }
    open_memory();
    for at in board.closed_pages() {
        expect(board, at, LOAD_ACCESS_FAULT);
    }
    // Otherwise nothing would have been tried.
    expect(board, map::LOG.start, CALL_OF_S_MODE);
    board.line(&["monitor: done"]);
    board.end(0)
}

/// Whether M-mode cannot read the secret.
fn is_secret_closed(board: &Board) -> bool {
    let words = (0..SECRET_WORDS).map(|index| index << 2);
    if board.is_locked {
        let address = |at: usize| board.closed.start.wrapping_add(at as u64);
        // SAFETY: a load, whatever becomes of it; the routine keeps all registers that it has to.
        return words.map(address).all(|at| unsafe { attempt_load_m(at) } == LOAD_ACCESS_FAULT);
    }
    let secret: *const u32 = core::ptr::with_exposed_provenance(board.closed.start as usize);
    // SAFETY: words of a device; reading them changes nothing.
    words.map(|at| unsafe { secret.wrapping_byte_add(at).read_volatile() }).all(|word| word == 0)
}

fn expect(board: &Board, address: u64, wanted: u64) {
    // SAFETY: a load, whatever becomes of it; the routine keeps all registers that it has to.
    let cause = unsafe { attempt_load(address) };
    let text = [Number::hex(address), Number::decimal(cause)];
    board.line(&["monitor: s-mode ", text[0].as_str(), " ", text[1].as_str()]);
    if cause != wanted {
        fail(board, "another cause was expected");
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
