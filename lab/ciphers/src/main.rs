//! Counts AES-256 on a bare hart of QEMU: the form of this project that is the best one on the hart, OpenSSL's, and without
//! extensions also RustCrypto's and BearSSL's, with vectors also Linux', if it is linked. Each count is a line:
//!
//! ```text
//! count <who> <tier> <what> <bytes> <instructions> <tag>
//! ```
//!
//! `gcm` is a decryption in place, with the hash key, the hash and the check of the tag. `gcm-with-key` has the key schedule
//! too. `ctr` is counter mode in place; `ghash` is the tag of additional data without a text. Each of them has to restore
//! the text, or to give the tag, that another one made, and to refuse another tag.

#![no_std]
#![no_main]

mod bearssl;
#[cfg(linux)]
mod linux;
mod openssl;
mod ours;
mod rustcrypto;

use core::arch::global_asm;
use core::hint::black_box;

use hartlock_kernels::CipherTier;
use hartlock_kernels::aes::{AesKey, ctr, gcm};
use hartlock_virt::clock;
use hartlock_virt::console::{self, Number};
use hartlock_virt::machine;

global_asm!(include_str!("../../../verif/programs/bench/src/start.S"));

/// Bytes of the longest text, as many as those of the bench.
const LEN: usize = 64 << 10;
/// Bytes of the message for which the fourth paper has numbers.
const SHORT: usize = 1 << 10;
const KEY: [u8; 32] = *b"a key that is known to everybody";
const IV: [u8; 12] = *b"used so once";
const COUNTER: [u8; 16] = [3; 16];

/// An implementation.
struct Peer {
    name: &'static str,
    /// Expands a key for the extensions of a tier, and calls a function with it.
    with_key: fn(CipherTier, &[u8; 32], &mut dyn FnMut(&dyn Prepared)),
}

/// An expanded key.
trait Prepared {
    /// Decrypts a text in place if the tag is right, and returns false if it is not. The default is for a peer that is not
    /// counted with it.
    fn gcm(&self, _iv: &[u8; 12], _text: &mut [u8], _tag: &[u8; 16]) -> bool {
        false
    }

    /// Applies counter mode in place, and returns false if there is none to count.
    fn ctr(&self, _counter: &[u8; 16], _text: &mut [u8]) -> bool {
        false
    }

    /// Returns the tag of additional data without a text.
    fn ghash(&self, _iv: &[u8; 12], _data: &[u8]) -> Option<[u8; 16]> {
        None
    }
}

static mut TEXT: [u8; LEN] = [0; LEN];

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    // SAFETY: there is one hart, and this is the only use.
    let text = unsafe { &mut *(&raw mut TEXT) };
    let tier = ours::choose();
    let mut peers: &[Peer] = &[ours::PEER, openssl::PEER, rustcrypto::PEER, bearssl::PEER];
    if tier != CipherTier::Portable {
        // The others have nothing for this hart.
        peers = &peers[..2];
    }
    for peer in peers {
        for len in [LEN, SHORT] {
            count_gcm(peer, tier, &mut text[..len]);
        }
        count_parts(peer, tier, text);
    }
    #[cfg(linux)]
    count_parts(&linux::PEER, tier, text);
    console::line(&["bench: done"]);
    machine::end(0)
}

fn fill(text: &mut [u8]) {
    text.iter_mut().zip(0_usize..).for_each(|(byte, at)| *byte = (at * 73 + 5) as u8);
}

fn is_filled(text: &[u8]) -> bool {
    text.iter().zip(0_usize..).all(|(byte, at)| *byte == (at * 73 + 5) as u8)
}

fn instructions(work: impl FnOnce()) -> u64 {
    let start = clock::now().instret;
    work();
    clock::now().instret.wrapping_sub(start)
}

fn count_gcm(peer: &Peer, tier: CipherTier, text: &mut [u8]) {
    fill(text);
    let tag = rustcrypto::encrypt(&KEY, &IV, text);
    let mut taken = 0;
    let all = instructions(|| {
        (peer.with_key)(tier, black_box(&KEY), &mut |key| {
            taken = instructions(|| {
                if !key.gcm(black_box(&IV), text, black_box(&tag)) {
                    fail("a tag is refused");
                }
            });
        });
    });
    if !is_filled(text) {
        fail("a text is not restored");
    }
    print(peer, tier, "gcm", text.len(), taken, &tag);
    print(peer, tier, "gcm-with-key", text.len(), all, &tag);
    (peer.with_key)(tier, &KEY, &mut |key| {
        if key.gcm(&IV, text, &[!tag[0]; 16]) {
            fail("a wrong tag is accepted");
        }
    });
}

fn count_parts(peer: &Peer, tier: CipherTier, text: &mut [u8]) {
    let mut portable = AesKey::EMPTY;
    if portable.expand(&KEY).is_err() {
        fail("no key");
    }
    (peer.with_key)(tier, &KEY, &mut |key| {
        fill(text);
        let mut is_there = false;
        let taken = instructions(|| is_there = key.ctr(black_box(&COUNTER), text));
        if is_there {
            if ctr::apply(&portable, &COUNTER, text).is_err() || !is_filled(text) {
                fail("counter mode differs");
            }
            print(peer, tier, "ctr", text.len(), taken, &[0; 16]);
        }
        fill(text);
        let mut tag = None;
        let taken = instructions(|| tag = key.ghash(black_box(&IV), text));
        if let Some(tag) = tag {
            if gcm::tag(&portable, &IV, text, &[]) != Ok(tag) {
                fail("a hash differs");
            }
            print(peer, tier, "ghash", text.len(), taken, &tag);
        }
    });
}

fn print(peer: &Peer, tier: CipherTier, what: &str, len: usize, taken: u64, tag: &[u8; 16]) {
    let [len, taken] = [len as u64, taken].map(Number::decimal);
    for part in ["count ", peer.name, " ", tier.name(), " ", what, " "] {
        console::print(part);
    }
    for part in [len.as_str(), " ", taken.as_str(), " "] {
        console::print(part);
    }
    for byte in tag {
        console::print(if *byte < 16 { "0" } else { "" });
        console::print(Number::hex((*byte).into()).as_str());
    }
    console::print("\n");
}

fn fail(why: &str) -> ! {
    console::line(&["bench: ", why]);
    machine::end(1)
}

#[unsafe(no_mangle)]
extern "C" fn bench_trap(_: u64, _: u64, _: u64) -> ! {
    fail("trap")
}
