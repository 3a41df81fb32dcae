//! The root of trust as its programs see it (`hw/soc/README.md`): start-up code, traps, where devices are, the host's
//! memory, and with the feature `bench` the bench.
//!
//! A program defines `rot_main` and is linked with `link.ld`.

#![no_std]
#![cfg(target_arch = "riscv32")]

#[cfg(feature = "bench")]
mod bench;
pub mod host;
#[cfg(feature = "keys")]
pub mod keys;

use core::arch::{asm, global_asm};
use core::panic::PanicInfo;

use hartlock_image::Reason;
use hartlock_regs::boot_sequencer::{State, Word};

#[cfg(feature = "bench")]
pub use bench::{Console, exit, mark, put, try_call, try_load, try_store};

global_asm!(
    include_str!("start.S"),
    has_bench = const cfg!(feature = "bench") as u32,
    bench_exit = const BENCH_EXIT,
    sequencer = const BOOT_SEQUENCER,
    stop = const Word::Stop as u32,
    held = const State::Held as u32,
    error = const State::Error as u32,
    unexpected_trap = const Reason::UnexpectedTrap as u32,
    load_access = const cause::LOAD_ACCESS,
    store_access = const cause::STORE_ACCESS,
);

include!(env!("HARTLOCK_ROOT_OF_TRUST_CONSTANTS"));

#[cfg(feature = "bench")]
const BENCH_EXIT: usize = bench::EXIT;
/// Not used.
#[cfg(not(feature = "bench"))]
const BENCH_EXIT: usize = 0;

/// Causes of traps (RISC-V Privileged Architecture §3.1.15).
pub mod cause {
    /// A fetch that the bus refused.
    pub const INSTRUCTION_ACCESS: u32 = 1;
    /// A load that the bus refused.
    pub const LOAD_ACCESS: u32 = 5;
    /// A store that the bus refused.
    pub const STORE_ACCESS: u32 = 7;
}

unsafe extern "C" {
    fn rot_stop() -> !;
    fn rot_wipe_stack();
}

/// Overwrites what functions that have returned left on the stack and in registers.
pub fn wipe_stack() {
    // SAFETY: code of start.S, which changes memory between variables and stack pointer alone. Nothing is there: no interrupt
    // is taken, and RISC-V has no red zone.
    unsafe { rot_wipe_stack() }
}

/// The root of trust has failed: the host is in reset from now on, whatever was decided before, and nothing else is
/// done until reset.
pub fn stop() -> ! {
    // SAFETY: code of start.S, which keeps nothing of this program.
    unsafe { rot_stop() }
}

/// The cycle counter, lower half. Differences up to 2^32 are right.
pub fn cycle() -> u32 {
    let value;
    // SAFETY: reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) value, options(nomem, nostack)) };
    value
}

/// Fast interrupts of Ibex that are wired (hw/soc/README.md), as bits of `mie`.
pub mod interrupt {
    /// The SHA-2 engine's.
    pub const SHA2: u32 = 1 << 16;
    /// The mailbox's.
    pub const MAILBOX: u32 = 1 << 17;
    /// The DMA engine's.
    pub const DMA: u32 = 1 << 18;
    /// The SHA-3 engine's.
    pub const SHA3: u32 = 1 << 19;
    /// The Ed25519 engine's.
    pub const ED25519: u32 = 1 << 20;
    /// The AES engine's.
    pub const AES: u32 = 1 << 22;
    /// That of the engine for big numbers.
    pub const BIGNUM: u32 = 1 << 23;
    /// That of the stream writer.
    pub const STREAM_WRITER: u32 = 1 << 24;
}

/// Sleeps until one of these interrupts is pending, or returns at once if one is. None is ever taken:
/// `mstatus.MIE` stays clear (RISC-V Privileged Architecture §3.3.3).
pub fn sleep_until(interrupts: u32) {
    // SAFETY: start-up code leaves interrupts off, so this only waits.
    unsafe { asm!("csrw mie, {}", "wfi", in(reg) interrupts, options(nomem, nostack)) };
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    stop()
}
