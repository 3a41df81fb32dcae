//! Guests of a few instructions, which are assembled here. Testing the machine that runs them needs
//! no boot stage.

use std::fs;
use std::path::Path;

use hartlock_emulator::images::BANK_SIZE;
use hartlock_emulator::qemu::{Config, Qemu};
use tempfile::TempDir;

const T0: u32 = 5;
const T1: u32 = 6;
const T2: u32 = 7;

/// The devices of the board.
#[allow(dead_code, unused_imports, reason = "guests use two devices")]
mod board {
    use hartlock_maps as maps;

    include!("../../../../device/boards/qemu-virt/generated/board.rs");
}
/// The address of the 16550 UART.
const UART: u32 = board::UART as u32;
/// The address of the test device, which ends the machine when it is written.
const TEST_DEVICE: u32 = board::TEST as u32;
pub const POWER_OFF: u32 = 0x5555;
pub const RESET: u32 = 0x7777;

/// A program for flash bank 0, where harts begin.
#[derive(Default)]
pub struct Guest {
    code: Vec<u32>,
    data: Vec<(usize, Vec<u8>)>,
}

impl Guest {
    fn add(mut self, words: &[u32]) -> Self {
        self.code.extend(words);
        self
    }

    /// Adds `auipc` and `addi`, which load the address of data that is placed after the code.
    fn address_of(mut self, register: u32, bytes: Vec<u8>) -> Self {
        self.data.push((self.code.len(), bytes));
        // The instructions are `auipc register, 0` and `addi register, register, 0`; the distance
        // is filled in later.
        self.add(&[0x17 | register << 7, addi(register, register, 0)])
    }

    /// Adds code that prints text.
    pub fn print(self, text: &str) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.address_of(T0, bytes).add(&[
            lui(T1, UART),
            // Load the next byte; at the end of the text, jump forward by 7 instructions.
            lbu(T2, T0, 0),
            beq(T2, 0, 28),
            // Wait until the transmitter is empty, which is bit 5 of the line status.
            lbu(28, T1, 5),
            0x20 << 20 | 28 << 15 | 7 << 12 | 28 << 7 | 0x13,
            beq(28, 0, -8),
            sb(T2, T1, 0),
            addi(T0, T0, 1),
            beq(0, 0, -28),
        ])
    }

    /// Adds code that waits until a byte is received.
    pub fn wait_for_input(self) -> Self {
        self.add(&[
            lui(T1, UART),
            // Bit 0 of the line status is set when a byte was received.
            lbu(T2, T1, 5),
            1 << 20 | T2 << 15 | 7 << 12 | T2 << 7 | 0x13,
            beq(T2, 0, -8),
            lbu(T2, T1, 0),
        ])
    }

    /// Adds code that copies bytes to RAM; their number must be a multiple of four.
    pub fn store(self, bytes: &[u8], address: u32) -> Self {
        let count = u32::try_from(bytes.len() / 4).unwrap();
        self.address_of(T0, bytes.to_vec()).add(&[
            // `lui` extends the sign, which these shifts remove: t1 = t1 << 32 >> 32
            lui(T1, address),
            (32 << 20) | (T1 << 15) | (1 << 12) | (T1 << 7) | 0x13,
            (32 << 20) | (T1 << 15) | (5 << 12) | (T1 << 7) | 0x13,
            lui(28, count << 12),
            // count = count >> 12
            12 << 20 | 28 << 15 | 5 << 12 | 28 << 7 | 0x13,
            // lwu t2, (t0); sw t2, (t1)
            T0 << 15 | 6 << 12 | T2 << 7 | 0x03,
            T2 << 20 | T1 << 15 | 2 << 12 | 0x23,
            addi(T0, T0, 4),
            addi(T1, T1, 4),
            addi(28, 28, -1),
            bne(28, 0, -20),
        ])
    }

    /// Adds code that powers off or resets.
    pub fn end(self, value: u32) -> Self {
        let upper = (value + 0x800) & !0xfff;
        self.add(&[
            lui(T1, TEST_DEVICE),
            lui(T2, upper),
            addi(T2, T2, value.wrapping_sub(upper) as i32),
            T2 << 20 | T1 << 15 | 2 << 12 | 0x23,
        ])
    }

    /// Adds an endless loop and the data, and returns the image of flash bank 0.
    fn image(mut self) -> Vec<u8> {
        // The loop is `wfi` and a jump back to it.
        self.code.extend([0x1050_0073, beq(0, 0, -4)]);
        let mut image = vec![0xff; BANK_SIZE];
        let mut at = self.code.len() * 4;
        for (index, bytes) in self.data {
            let distance = i32::try_from(at - index * 4).unwrap();
            // The immediate of `addi` has 12 bits, and `auipc` adds the upper bits.
            let upper = (distance + 0x800) & !0xfff;
            self.code[index] |= upper as u32;
            self.code[index + 1] |= ((distance - upper) as u32) << 20;
            image[at..][..bytes.len()].copy_from_slice(&bytes);
            at = (at + bytes.len()).next_multiple_of(4);
        }
        for (word, place) in self.code.iter().zip(image.chunks_mut(4)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        image
    }

    /// Returns the configuration of a machine with one hart that runs the guest.
    pub fn config(self, folder: &Path) -> Config {
        let (rom, bundle) = (folder.join("pflash0.img"), folder.join("pflash1.img"));
        fs::write(&rom, self.image()).unwrap();
        fs::write(&bundle, vec![0xff; BANK_SIZE]).unwrap();
        Config { harts: 1, ..Config::new(rom, bundle, None) }
    }
}

fn lui(register: u32, value: u32) -> u32 {
    assert_eq!(value & 0xfff, 0);
    value | register << 7 | 0x37
}

fn addi(to: u32, from: u32, value: i32) -> u32 {
    (value as u32) << 20 | from << 15 | to << 7 | 0x13
}

fn lbu(to: u32, base: u32, offset: u32) -> u32 {
    offset << 20 | base << 15 | 4 << 12 | to << 7 | 0x03
}

fn sb(from: u32, base: u32, offset: u32) -> u32 {
    from << 20 | base << 15 | offset << 7 | 0x23
}

fn beq(left: u32, right: u32, distance: i32) -> u32 {
    let bits = distance as u32;
    (bits >> 12 & 1) << 31
        | (bits >> 5 & 0x3f) << 25
        | right << 20
        | left << 15
        | (bits >> 1 & 0xf) << 8
        | (bits >> 11 & 1) << 7
        | 0x63
}

fn bne(left: u32, right: u32, distance: i32) -> u32 {
    beq(left, right, distance) | 1 << 12
}

/// Returns QEMU and a temporary folder, or `None` after a message that the test is skipped.
pub fn emulator() -> Option<(Qemu, TempDir)> {
    match Qemu::find(None) {
        Ok(qemu) => Some((qemu, tempfile::tempdir().unwrap())),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}
