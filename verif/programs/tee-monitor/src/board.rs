//! The boards that the program runs on. It finds out at run time which one that is: its bytes are measured, and have to be
//! the same on all of them.

use core::arch::asm;

use hartlock_verify::board::{Region, hartlock_soc as map};
use hartlock_virt::hart;

pub const PAGE: u64 = 4096;

/// `marchid` of Rocket.
const ROCKET: usize = 1;
const LINE_STATUS: usize = 5;
const TRANSMITTER_EMPTY: u8 = 0x20;
// What the device that ends a machine takes (hartlock_virt::machine).
const PASS: u32 = 0x5555;
const FAIL: u32 = 0x3333;

/// What differs.
pub struct Board {
    /// A 16550.
    uart: usize,
    /// Polls before a byte is given up; none where there is always room.
    patience: u32,
    /// The device that ends the machine.
    end: usize,
    /// The counter of cycles of a bench, or 0.
    cycles: usize,
    /// Pages that S- and U-mode must not reach, beside the record. The first one begins with the secret.
    pub closed: Region,
    /// The page of the record, where nothing hands its address over.
    pub record: Option<Region>,
    /// Where the secret is.
    pub secret: Secret,
}

/// Where a board keeps the secret of the device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// Beside engines, with a latch.
    Latched,
    /// In flash, which PMP closes to M-mode as well.
    Locked,
    /// On no bus of the host. Nothing ran here before this program, so it closes pages itself.
    Elsewhere,
}

/// Secret, engines, lists and words to push, and empty pages (`hw/soc/tee/rtl/tee_axi_pkg.sv`).
const TEE_1: Board = Board {
    uart: 0x1100_0000,
    patience: 0,
    end: 0x1200_0000,
    cycles: 0x1400_0000,
    closed: Region::new(0x1500_0000, 8 * PAGE),
    record: None,
    secret: Secret::Latched,
};

/// Mailbox to the root of trust, which has secret and engines, and guard (`hw/soc/README.md`).
const SOC_1: Board = Board {
    uart: 0x1100_0000,
    patience: 0,
    end: 0x1200_0000,
    cycles: 0x1400_0000,
    closed: Region::new(0x1500_0000, 2 * PAGE),
    record: Some(Region::new(map::LOG.end - PAGE, PAGE)),
    secret: Secret::Elsewhere,
};

/// What says that an Ed25519 engine is at the second page of `TEE_1`: its first register.
const ED25519: usize = 0x1500_1000;
const ED25519_ID: u32 = 0x6564_3235;

/// The secret is in flash (`device/fsbl/src/virt/machine.rs`).
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
    /// The one that this is.
    pub fn find() -> &'static Self {
        let architecture: usize;
        // SAFETY: reads a constant of the hart.
        unsafe {
            asm!("csrr {}, marchid", out(reg) architecture, options(nomem, nostack, preserves_flags));
        }
        if architecture != ROCKET {
            return &QEMU_VIRT;
        }
        let id = core::ptr::with_exposed_provenance::<u32>(ED25519);
        // SAFETY: a device of every board with this core; reading its first register changes nothing.
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
                // SAFETY: the UART of the board; reading its line status changes nothing that matters here.
                if unsafe { uart.wrapping_add(LINE_STATUS).read_volatile() } & TRANSMITTER_EMPTY
                    != 0
                {
                    break;
                }
            }
            // SAFETY: the transmit register of the same device.
            unsafe { uart.write_volatile(byte) };
        }
    }

    /// Cycles since reset; 0 on a board that does not count them.
    pub fn cycles(&self) -> u64 {
        let counter: *const u64 = core::ptr::with_exposed_provenance(self.cycles);
        // SAFETY: a register of the bench; reading it changes nothing.
        if self.cycles == 0 { 0 } else { unsafe { counter.read_volatile() } }
    }

    /// First addresses of the pages that S- and U-mode must not reach, with that of the record.
    pub fn closed_pages(&self, record: u64) -> impl Iterator<Item = u64> {
        (self.closed.start..self.closed.end).step_by(PAGE as usize).chain([record])
    }

    /// Ends the machine with this exit code.
    pub fn end(&self, code: u16) -> ! {
        let command = if code == 0 { PASS } else { (u32::from(code) << 16) | FAIL };
        hart::fence();
        let end: *mut u32 = core::ptr::with_exposed_provenance_mut(self.end);
        // SAFETY: the only register of the device; the machine ends with this write.
        unsafe { end.write_volatile(command) };
        hart::halt()
    }
}
