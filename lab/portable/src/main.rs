//! Counts the endorsement of a monitor in software on a bare hart of the cycle-accurate machine: with the crates of
//! RustCrypto and dalek, and with this project's kernels. Each count is a line:
//!
//! ```text
//! count <who> <measure|derive|key|sign> <bytes> <cycles> <instructions> <result>
//! ```
//!
//! Byte i of the monitor is i mod 251, and byte i of the device's expanded key is 255 - i. The reader of the lines
//! computes all results again.

#![no_std]
#![no_main]

mod counting;
mod crates;
mod ours;
mod software;

use core::hint::black_box;

use hartlock_virt::console;

use counting::count;
use software::Software;

/// Sizes of the monitors in bytes: two for the cost of a byte, and one with which the result is compared.
const SIZES: [usize; 3] = [8 << 10, 16 << 10, 64 << 10];
const LARGEST: usize = SIZES[2];
/// Length of the signed message: the measurement, followed by the public key.
const MESSAGE_LEN: usize = 64 + 32;

static mut MONITOR: [u8; LARGEST] = [0; LARGEST];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: there is one hart, and this is the only use.
    let monitor = unsafe { &mut *(&raw mut MONITOR) };
    for (at, byte) in monitor.iter_mut().enumerate() {
        *byte = (at % 251) as u8;
    }
    boot(&crates::Crates, monitor);
    boot(&ours::Ours::new(), monitor);
    console::line(&["bench: done"]);
    hartlock_virt::machine::end(0)
}

/// Executes each part once in the order of the first-stage loader (device/fsbl), because a boot executes each part
/// only once.
fn boot<S: Software>(software: &S, monitor: &[u8; LARGEST]) {
    let device: [u8; 64] = core::array::from_fn(|at| 255 - at as u8);
    let mut measurement = [0; 64];
    for size in SIZES {
        let monitor = black_box(&monitor[..size]);
        measurement = count(S::WHO, "measure", size, || software.digest(&[monitor]));
    }
    let expanded = count(S::WHO, "derive", 64, || {
        let derived = software.digest(&[black_box(&device), &measurement]);
        let mut key = software.digest(&[&derived[..32]]);
        key[0] &= 0xf8;
        key[31] = key[31] & 0x7f | 0x40;
        key
    });
    let public_key = count(S::WHO, "key", 32, || software.public_key(black_box(&expanded)));
    let device_key = software.public_key(&device);
    let mut message = [0; MESSAGE_LEN];
    message[..64].copy_from_slice(&measurement);
    message[64..].copy_from_slice(&public_key);
    // The reader of the lines refuses a result of zeros.
    count(S::WHO, "sign", MESSAGE_LEN, || {
        software.sign(black_box(&device), &device_key, &message).unwrap_or([0; 64])
    });
}
