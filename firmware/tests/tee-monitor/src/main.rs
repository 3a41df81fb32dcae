//! What the first-stage loader of a TEE starts in a test, in place of a monitor: prints the record that it was given, looks
//! for the secret of the device, and reads the closed pages from S-mode.
//!
//! ```text
//! monitor: record <hexadecimal>
//! monitor: s-mode <address> <mcause>
//! ```
//!
//! It ends the machine with 0 if the secret is closed, every closed page gives a load access fault, and other memory none.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use core::arch::{asm, global_asm};

use hartlock_verify::board::{Region, hartlock_soc as map};
use hartlock_virt::console::{self, Number};
use hartlock_virt::{machine, memory};

global_asm!(include_str!("../../bench/src/start.S"));
global_asm!(include_str!("attempt.S"));

unsafe extern "C" {
    /// Loads a word of this address in S-mode, and returns the cause of the trap that follows (attempt.S).
    fn attempt_load(address: u64) -> u64;
}

const PAGE: u64 = 4096;
/// Engines, secret and lists (`hw/soc/tee/tee_axi_pkg.sv`).
const ENGINES: Region = Region::new(0x1500_0000, 5 * PAGE);
/// The record (`firmware/fsbl/src/machine.rs`), and its size.
const RECORD: Region = Region::new(map::LOG.end - PAGE, 264);
/// Words of the secret.
const SECRET_WORDS: usize = 16;

// Causes (RISC-V Privileged Architecture, table of mcause).
const LOAD_ACCESS_FAULT: u64 = 5;
const CALL_OF_S_MODE: u64 = 9;

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: memory that the loader has written, and nothing else uses.
    let record = unsafe { memory::bytes(RECORD) };
    console::print("monitor: record ");
    for byte in record {
        let digits = [byte >> 4, byte & 15];
        for digit in digits {
            let text = "0123456789abcdef".get(usize::from(digit)..=usize::from(digit));
            console::print(text.unwrap_or("?"));
        }
    }
    console::line(&[""]);
    let secret: *const u32 = core::ptr::with_exposed_provenance(ENGINES.start as usize);
    for index in 0..SECRET_WORDS {
        // SAFETY: a word of a device; reading it changes nothing.
        if unsafe { secret.wrapping_add(index).read_volatile() } != 0 {
            fail("the secret is open");
        }
    }
    open_memory();
    for at in (ENGINES.start..ENGINES.end).step_by(PAGE as usize).chain([RECORD.start]) {
        expect(at, LOAD_ACCESS_FAULT);
    }
    // Otherwise nothing would have been tried.
    expect(map::LOG.start, CALL_OF_S_MODE);
    machine::end(0)
}

fn expect(address: u64, wanted: u64) {
    // SAFETY: a load, whatever becomes of it; the routine keeps all registers that it has to.
    let cause = unsafe { attempt_load(address) };
    let text = [Number::hex(address), Number::decimal(cause)];
    console::line(&["monitor: s-mode ", text[0].as_str(), " ", text[1].as_str()]);
    if cause != wanted {
        fail("another cause was expected");
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

fn fail(what: &str) -> ! {
    console::line(&["monitor: failed: ", what]);
    machine::end(1)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["monitor: trap ", cause, " at ", pc, " value ", value]);
    machine::end(2)
}
