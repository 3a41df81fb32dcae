//! The boards that the program runs on. It determines the board at run time: the program is measured, so its bytes have
//! to be the same on all boards.

use core::arch::asm;

use hartlock_maps::hartlock_soc as map;
use hartlock_verify::board::Region;
use hartlock_virt::hart;

pub const PAGE: u64 = 4096;

/// Value of `marchid` for Rocket.
const ROCKET: usize = 1;
const LINE_STATUS: usize = 5;
const TRANSMITTER_EMPTY: u8 = 0x20;
// These are commands of the device that ends a machine (hartlock_virt::machine).
const PASS: u32 = 0x5555;
const FAIL: u32 = 0x3333;

/// The properties in which the boards differ.
pub struct Board {
    /// Address of a 16550 UART.
    uart: usize,
    /// Maximum number of polls for a byte; 0 if the UART can always accept one.
    patience: u32,
    /// Address of the device that ends the machine.
    end: usize,
    /// Address of a bench's cycle counter, or 0.
    cycles: usize,
    /// Pages that S-mode and U-mode must not access, in addition to the record. The first one starts with the secret.
    pub closed: Region,
    /// Page of the record, on boards where its address is not passed to the program.
    pub record: Option<Region>,
    /// Place of the device secret.
    pub secret: Secret,
}

/// The place where a board keeps the device secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// The secret is next to the engines, and a latch closes it.
    Latched,
    /// The secret is in flash, and PMP closes it, also to M-mode.
    Locked,
    /// The secret is not on any bus of the host. No software has run on the host before this program, so the program
    /// closes the pages itself.
    Elsewhere,
}

/// Board with secret, engines, lists and push registers, and empty pages (`hw/soc/tee/rtl/tee_axi_pkg.sv`).
const TEE_1: Board = Board {
    uart: 0x1100_0000,
    patience: 0,
    end: 0x1200_0000,
    cycles: 0x1400_0000,
    closed: Region::new(0x1500_0000, 8 * PAGE),
    record: None,
    secret: Secret::Latched,
};

/// Board with a mailbox to the root of trust, which has secret and engines, and with a guard (`hw/soc/README.md`).
const SOC_1: Board = Board {
    uart: 0x1100_0000,
    patience: 0,
    end: 0x1200_0000,
    cycles: 0x1400_0000,
    closed: Region::new(0x1500_0000, 2 * PAGE),
    record: Some(Region::new(map::LOG.end - PAGE, PAGE)),
    secret: Secret::Elsewhere,
};

/// Address of the first register in the second page of `TEE_1`. Its value shows that an Ed25519 engine is there.
const ED25519: usize = 0x1500_1000;
const ED25519_ID: u32 = 0x6564_3235;

/// Board with the secret in flash (`device/fsbl/src/program/virt/machine.rs`).
const QEMU_VIRT: Board = Board {
    uart: 0x1000_0000,
    patience: 1_000_000,
    end: 0x10_0000,
    cycles: 0,
    closed: Region::new(0x23f0_0000, PAGE),
    record: None,
    secret: Secret::Locked,
};

impl Board {
    /// Returns the board on which the program runs.
    pub fn find() -> &'static Self {
        let architecture: usize;
        // SAFETY: the instruction reads a constant of the hart.
        unsafe {
            asm!("csrr {}, marchid", out(reg) architecture, options(nomem, nostack, preserves_flags));
        }
        if architecture != ROCKET {
            return &QEMU_VIRT;
        }
        let id = core::ptr::with_exposed_provenance::<u32>(ED25519);
        // SAFETY: every board with this core has a device at this address; reading its first register has no side
        // effect.
        if unsafe { id.read_volatile() } == ED25519_ID { &TEE_1 } else { &SOC_1 }
    }

    /// Prints texts and a line end.
    pub fn line(&self, parts: &[&str]) {
        parts.iter().for_each(|part| self.print(part));
        self.print("\r\n");
    }

    /// Prints text.
    pub fn print(&self, text: &str) {
        let uart: *mut u8 = core::ptr::with_exposed_provenance_mut(self.uart);
        for byte in text.bytes() {
            for _ in 0..self.patience {
                // SAFETY: this is the UART of the board; reading its line status has no side effect that matters here.
                if unsafe { uart.wrapping_add(LINE_STATUS).read_volatile() } & TRANSMITTER_EMPTY
                    != 0
                {
                    break;
                }
            }
            // SAFETY: this is the transmit register of the same device.
            unsafe { uart.write_volatile(byte) };
        }
    }

    /// Returns the cycles since reset, or 0 on a board that does not count them.
    pub fn cycles(&self) -> u64 {
        let counter: *const u64 = core::ptr::with_exposed_provenance(self.cycles);
        // SAFETY: this is a register of the bench, and reading it has no side effect.
        if self.cycles == 0 { 0 } else { unsafe { counter.read_volatile() } }
    }

    /// Returns the first addresses of the pages that S-mode and U-mode must not access, including the page of the
    /// record.
    pub fn closed_pages(&self, record: u64) -> impl Iterator<Item = u64> {
        (self.closed.start..self.closed.end).step_by(PAGE as usize).chain([record])
    }

    /// Ends the machine with this exit code.
    pub fn end(&self, code: u16) -> ! {
        let command = if code == 0 { PASS } else { (u32::from(code) << 16) | FAIL };
        hart::fence();
        let end: *mut u32 = core::ptr::with_exposed_provenance_mut(self.end);
        // SAFETY: this is the only register of the device, and the machine ends with this write.
        unsafe { end.write_volatile(command) };
        hart::halt()
    }
}
