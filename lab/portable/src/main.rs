//! What the endorsement of a monitor takes in software on a bare hart of the cycle-accurate machine: the crates of
//! RustCrypto and dalek, and our own kernels. A line for each:
//!
//! ```text
//! count <who> <measure|derive|key|sign> <bytes> <cycles> <instructions> <result>
//! ```
//!
//! The monitor is byte i = i mod 251, the device's expanded key byte i = 255 - i; the reader of the lines computes all
//! results again.

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

/// Bytes of the monitors: two for the cost of a byte, and one that is held against it.
const SIZES: [usize; 3] = [8 << 10, 16 << 10, 64 << 10];
const LARGEST: usize = SIZES[2];
/// Measurement, then public key.
const MESSAGE_LEN: usize = 64 + 32;

static mut MONITOR: [u8; LARGEST] = [0; LARGEST];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: one hart, and this is the only use.
    let monitor = unsafe { &mut *(&raw mut MONITOR) };
    for (at, byte) in monitor.iter_mut().enumerate() {
        *byte = (at % 251) as u8;
    }
    boot(&crates::Crates, monitor);
    boot(&ours::Ours::new(), monitor);
    console::line(&["bench: done"]);
    hartlock_virt::machine::end(0)
}

/// As the first-stage loader does it (device/fsbl), each part once: a boot has no second time.
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
    // A result of zeros is refused by the reader.
    count(S::WHO, "sign", MESSAGE_LEN, || {
        software.sign(black_box(&device), &device_key, &message).unwrap_or([0; 64])
    });
}
