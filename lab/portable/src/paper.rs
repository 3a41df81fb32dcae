//! Counts the endorsement of a monitor by engines in the manner of the third paper, on a bare hart of the machine
//! `tee-1-full`: each word of the monitor is stored, and a second store commits it. Each count is a line in the format
//! of the other program:
//!
//! ```text
//! count paper <measure|derive|key|device|sign> <bytes> <cycles> <instructions> <result>
//! ```
//!
//! `device` is the key pair of the device. Further lines have the cycles of each command of the Ed25519 engine within a
//! part, and the result of the part: `key-product`, `device-product`, `sign-product` and `sign-s`. The engine verifies
//! S before it shows it, so the reader of the lines replaces these cycles by those of the paper's engine.
//!
//! The monitor is memory that was not written, which is zero in a simulation and in no cache. Byte i of the device's
//! expanded key is 255 - i.

#![no_std]
#![no_main]

mod counting;

use core::cell::Cell;
use core::hint::black_box;
use core::ptr::with_exposed_provenance_mut;

use hartlock_drivers::ed25519::{Ed25519, Ed25519Slot};
use hartlock_drivers::sha3::{Sha3Function, Sha3};
use hartlock_drivers::wait::{Polling, Wait};
use hartlock_regs::Block;
use hartlock_virt::console;

use counting::{count, cycles, line};

// Addresses of devices of the machine (hw/soc/README.md).
const ED25519: usize = 0x1500_1000;
const SHA3: usize = 0x1500_2000;
/// Address of a word in the list memory of the DMA engine, which is not used here: the data is stored to it.
const DATA: usize = 0x1500_4000;
const PUSH: usize = 0x1500_5000;
const END: usize = PUSH + 0x80;
/// Address of memory after this program and its stack.
const MONITOR: usize = 0x9000_0000;
/// Sizes of the monitors in bytes.
const SIZES: &[usize] = if option_env!("QUICK").is_some() {
    &[64 << 10]
} else {
    &[64 << 10, 256 << 10, 1 << 20, 2 << 20]
};
/// Size in bytes of the monitor that is endorsed.
const ENDORSED: usize = 64 << 10;
const WHO: &str = "paper";

/// Cycles of the last two commands for which the driver waited.
struct Commands([Cell<u64>; 2]);

impl Wait for &Commands {
    const BY_INTERRUPT: bool = false;

    fn wait(&mut self) {
        const IDLE_OR_FAILED: u32 = 1 | 1 << 4;
        let status = with_exposed_provenance_mut::<u32>(ED25519 + 0x10);
        let start = cycles();
        // SAFETY: the pointer is to the status register of the engine.
        while unsafe { status.read_volatile() } & IDLE_OR_FAILED == 0 {}
        let [first, second] = &self.0;
        first.set(second.replace(cycles().wrapping_sub(start)));
    }
}

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let commands = Commands([const { Cell::new(0) }; 2]);
    let is_done = endorse(&commands).is_some();
    console::line(&[if is_done { "bench: done" } else { "bench: an engine failed" }]);
    hartlock_virt::machine::end(u16::from(!is_done))
}

/// Executes the parts in the order of the first-stage loader (`device/fsbl`).
fn endorse(commands: &Commands) -> Option<()> {
    // SAFETY: these are registers of the machine, of which this is the only user.
    let registers = unsafe { Block::new(with_exposed_provenance_mut(SHA3)) };
    let mut sha3 = Sha3::new(registers, Polling).ok()?;
    // SAFETY: these are registers of the machine, of which this is the only user.
    let registers = unsafe { Block::new(with_exposed_provenance_mut(ED25519)) };
    let mut ed25519 = Ed25519::new(registers, commands).ok()?;
    let (of_monitor, of_device) = (Ed25519Slot::new(0)?, Ed25519Slot::new(1)?);

    let mut measurement = [0; 64];
    for size in SIZES {
        // SAFETY: this is memory of the board that nothing else uses.
        let words =
            unsafe { core::slice::from_raw_parts(with_exposed_provenance_mut(MONITOR), size / 8) };
        let digest = count(WHO, "measure", *size, || hash(&mut sha3, words, 0));
        if *size == ENDORSED {
            measurement = digest;
        }
    }
    let device: [u8; 64] = core::array::from_fn(|at| 255 - at as u8);
    let expanded = count(WHO, "derive", 64, || {
        let derived = digest(&mut sha3, &[black_box(&device), &measurement]);
        let mut key = digest(&mut sha3, &[&derived[..32]]);
        key[0] &= 0xf8;
        key[31] = key[31] & 0x7f | 0x40;
        key
    });
    let mut load = |what, part, slot, expanded: &[u8; 64]| {
        let key =
            count(WHO, what, 32, || ed25519.load(slot, black_box(expanded)).unwrap_or([0; 32]));
        line(WHO, part, 32, [commands.0[1].get(), 0], &key);
        key
    };
    let public_key = load("key", "key-product", of_monitor, &expanded);
    let device_key = load("device", "device-product", of_device, &device);
    let message = [measurement.as_slice(), &public_key];
    let signature = count(WHO, "sign", 96, || {
        let nonce = digest(&mut sha3, &[&device[32..], message[0], message[1]]);
        let challenge = |r: &[u8; 32]| digest(&mut sha3, &[r, &device_key, message[0], message[1]]);
        // The reader of the lines refuses a result of zeros.
        ed25519.sign(of_device, &nonce, challenge).unwrap_or([0; 64])
    });
    for (part, taken) in ["sign-product", "sign-s"].into_iter().zip(&commands.0) {
        line(WHO, part, 96, [taken.get(), 0], &signature);
    }
    Some(())
}

/// Returns the digest of several short parts.
fn digest(sha3: &mut Sha3<Polling>, parts: &[&[u8]]) -> [u8; 64] {
    let (mut words, mut len) = ([0_u64; 32], 0);
    for byte in parts.iter().copied().flatten() {
        words[len / 8] |= u64::from(*byte) << (8 * (len % 8));
        len += 1;
    }
    hash(sha3, &words[..len.div_ceil(8)], len % 8)
}

/// Returns the digest of words, of which the last one has `of_last` bytes if that is not zero.
fn hash(sha3: &mut Sha3<Polling>, words: &[u64], of_last: usize) -> [u8; 64] {
    let mut digest = [0; 64];
    let (whole, rest) = words.split_at(words.len() - usize::from(of_last > 0));
    if sha3.start_stream(Sha3Function::Sha3_512).is_err() {
        return digest;
    }
    for word in whole {
        store(PUSH, *word);
    }
    store(END + 8 * of_last, rest.first().copied().unwrap_or(0));
    match sha3.read(&mut digest) {
        Ok(()) => digest,
        Err(_) => [0; 64],
    }
}

/// Stores data, and commits it with a second store.
fn store(to: usize, word: u64) {
    // SAFETY: the address is a word of memory in the DMA engine, which is idle.
    unsafe { with_exposed_provenance_mut::<u32>(DATA).write_volatile(word as u32) };
    // SAFETY: the register only pushes a word to the engine.
    unsafe { with_exposed_provenance_mut::<u64>(to).write_volatile(word) };
}
