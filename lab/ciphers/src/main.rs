//! Counts AES-256-GCM without instructions for it on a bare hart of QEMU: our portable form, RustCrypto's and BearSSL's, all
//! in constant time. Each count is a line:
//!
//! ```text
//! count <who> aes-256-gcm <bytes> <instructions> <tag>
//! ```
//!
//! A count has the key schedule, the check of the tag and the decryption of one text in place. Each of them first encrypts
//! or gets the text that the first one encrypted, and has to restore it.

#![no_std]
#![no_main]

mod bearssl;
mod ours;
mod rustcrypto;

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_virt::clock;
use hartlock_virt::console::{self, Number};
use hartlock_virt::machine;

global_asm!(include_str!("../../../verif/programs/bench/src/start.S"));

/// Bytes of the text, as many as those of the bench.
const LEN: usize = 64 << 10;
const KEY: [u8; 32] = *b"a key that is known to everybody";
const IV: [u8; 12] = *b"used so once";

/// Decrypts a text in place if the tag is right, and returns false if it is not.
type Decrypt = fn(&[u8; 32], &[u8; 12], &mut [u8], &[u8; 16]) -> bool;

static mut TEXT: [u8; LEN] = [0; LEN];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: there is one hart, and this is the only use.
    let text = unsafe { &mut *(&raw mut TEXT) };
    let decrypt: [(&str, Decrypt); 3] = [
        ("hartlock", ours::decrypt),
        ("rustcrypto", rustcrypto::decrypt),
        ("bearssl", bearssl::decrypt),
    ];
    for (who, decrypt) in decrypt {
        for (byte, at) in text.iter_mut().zip(0_usize..) {
            *byte = (at * 73 + 5) as u8;
        }
        let tag = rustcrypto::encrypt(&KEY, &IV, text);
        let start = clock::now();
        let is_right = decrypt(black_box(&KEY), black_box(&IV), text, black_box(&tag));
        let taken = clock::now().instret.wrapping_sub(start.instret);
        if !is_right || text.iter().zip(0_usize..).any(|(byte, at)| *byte != (at * 73 + 5) as u8) {
            fail("a text is not restored");
        }
        let [len, taken] = [LEN as u64, taken].map(Number::decimal);
        for part in ["count ", who, " aes-256-gcm ", len.as_str(), " ", taken.as_str(), " "] {
            console::print(part);
        }
        for byte in tag {
            console::print(if byte < 16 { "0" } else { "" });
            console::print(Number::hex(byte.into()).as_str());
        }
        console::print("\n");
        // Another tag is refused.
        if decrypt(&KEY, &IV, text, &[!tag[0]; 16]) {
            fail("a wrong tag is accepted");
        }
    }
    console::line(&["bench: done"]);
    machine::end(0)
}

fn fail(why: &str) -> ! {
    console::line(&["bench: ", why]);
    machine::end(1)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(_: u64, _: u64, _: u64) -> ! {
    fail("trap")
}
