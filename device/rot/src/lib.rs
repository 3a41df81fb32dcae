//! Support for programs of the root of trust (`hw/soc/README.md`): start-up code, traps, device addresses and the host's
//! memory.
//!
//! A program defines `rot_main` and is linked with `link.ld`.

#![no_std]
#![cfg(target_arch = "riscv32")]

pub mod host;
#[cfg(feature = "keys")]
pub mod keys;

use core::arch::{asm, global_asm};
use core::panic::PanicInfo;

use hartlock_image::Reason;
use hartlock_regs::boot_sequencer::{BootSequencerState, BootSequencerWord};

global_asm!(
    include_str!("start.S"),
    sequencer = const BOOT_SEQUENCER,
    stop = const BootSequencerWord::Stop as u32,
    held = const BootSequencerState::Held as u32,
    error = const BootSequencerState::Error as u32,
    unexpected_trap = const Reason::UnexpectedTrap as u32,
    load_access = const cause::LOAD_ACCESS,
    store_access = const cause::STORE_ACCESS,
);

include!(env!("HARTLOCK_ROOT_OF_TRUST_CONSTANTS"));

/// Causes of traps (RISC-V Privileged Architecture §3.1.15).
pub mod cause {
    /// An instruction fetch that the bus refused.
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

/// Overwrites data that returned functions have left on the stack and in registers.
pub fn wipe_stack() {
    // SAFETY: the routine of start.S only changes memory between the variables and the stack pointer. That memory is
    // unused: no interrupt is taken, and RISC-V has no red zone.
    unsafe { rot_wipe_stack() }
}

/// Reports that the root of trust has failed. The host is in reset from here on, whatever was decided before, and the
/// hart stops until reset.
pub fn stop() -> ! {
    // SAFETY: the routine of start.S does not return and uses no data of this program.
    unsafe { rot_stop() }
}

/// Returns the lower half of the cycle counter. Differences below 2^32 cycles are correct.
pub fn cycle() -> u32 {
    let value;
    // SAFETY: the instruction only reads a counter.
    unsafe { asm!("csrr {}, mcycle", out(reg) value, options(nomem, nostack)) };
    value
}

/// Fast interrupts of Ibex that are connected (hw/soc/README.md), as bits of `mie`.
pub mod interrupt {
    /// Interrupt of the SHA-2 engine.
    pub const SHA2: u32 = 1 << 16;
    /// Interrupt of the mailbox.
    pub const MAILBOX: u32 = 1 << 17;
    /// Interrupt of the DMA engine.
    pub const DMA: u32 = 1 << 18;
    /// Interrupt of the SHA-3 engine.
    pub const SHA3: u32 = 1 << 19;
    /// Interrupt of the Ed25519 engine.
    pub const ED25519: u32 = 1 << 20;
    /// Interrupt of the AES engine.
    pub const AES: u32 = 1 << 22;
    /// Interrupt of the big-number engine.
    pub const BIGNUM: u32 = 1 << 23;
    /// Interrupt of the stream writer.
    pub const STREAM_WRITER: u32 = 1 << 24;
}

/// Sleeps until one of these interrupts is pending; returns immediately if one is. No interrupt is taken, because
/// `mstatus.MIE` stays clear (RISC-V Privileged Architecture §3.3.3).
pub fn sleep_until(interrupts: u32) {
    // SAFETY: start-up code leaves interrupts disabled, so this only waits.
    unsafe { asm!("csrw mie, {}", "wfi", in(reg) interrupts, options(nomem, nostack)) };
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    stop()
}
