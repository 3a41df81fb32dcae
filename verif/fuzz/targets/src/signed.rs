//! A signature with its key and message, the modifications of these, and the comparison of two verifiers'
//! verdicts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};

use hartlock_kernels::signature::Rejection;

use crate::choices::Choices;

/// The input of a signature verifier.
#[derive(Clone, PartialEq, Eq)]
pub struct Signed {
    pub key: Vec<u8>,
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

impl Signed {
    /// Returns a copy with up to three changes, or none at the end of the fuzzer's bytes. `values` are
    /// limits of the algorithm, which are written at positions where numbers of their length can be.
    pub fn changed(&self, choices: &mut Choices<'_>, values: &[&[u8]]) -> Self {
        let mut changed = self.clone();
        for _ in 0..choices.of(&[0, 1, 1, 2, 1, 3]) {
            let part = match choices.below(8) {
                0..=4 => &mut changed.signature,
                5 | 6 => &mut changed.key,
                _ => &mut changed.message,
            };
            change(choices, part, values);
        }
        changed
    }
}

/// Changes bytes at some position, or the number of bytes.
pub fn change(choices: &mut Choices<'_>, bytes: &mut Vec<u8>, values: &[&[u8]]) {
    let at = place(choices, bytes.len());
    match choices.below(10) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << choices.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = choices.byte();
            }
        }
        2 => bytes.truncate(at),
        3 => {
            // At least one byte is appended, even at the end of the fuzzer's bytes.
            bytes.push(choices.byte());
            bytes.extend(choices.bytes(40));
        }
        4 => bytes.insert(at.min(bytes.len()), choices.byte()),
        5 => {
            let end = bytes.len().min(at + choices.of(&[4, 16, 32, 64, 4096]));
            bytes[at.min(end)..end].fill(choices.of(&[0, 0xff, 0x80]));
        }
        6 => put(bytes, at, choices.bytes(64)),
        7 => {
            // A part of the bytes is copied to another position.
            let from = place(choices, bytes.len());
            let end = bytes.len().min(from + choices.of(&[1, 4, 24, 32, 64]));
            let part = bytes[from.min(end)..end].to_vec();
            put(bytes, at, &part);
        }
        8 if !values.is_empty() => {
            let value = choices.of(values);
            let slots = bytes.len() / value.len();
            let slot = choices.below(slots.max(1)) * value.len();
            // The value starts at a multiple of its length, or after a type or tag of 1 or 4 bytes.
            put(bytes, slot + choices.of(&[0, 0, 1, 4]), value);
        }
        _ => {
            // The bytes up to this position are incremented or decremented as a big-endian number.
            let step = choices.of(&[1, 0xff]);
            for byte in bytes.iter_mut().take(at + 1).rev() {
                *byte = byte.wrapping_add(step);
                if (step == 1 && *byte != 0) || (step == 0xff && *byte != 0xff) {
                    break;
                }
            }
        }
    }
}

/// Returns a position near the start, near the end, or anywhere.
fn place(choices: &mut Choices<'_>, len: usize) -> usize {
    match choices.below(4) {
        0 => choices.below(len.clamp(1, 72)),
        1 => len.saturating_sub(1 + choices.below(len.clamp(1, 160))),
        _ => choices.below(len.max(1)),
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    for (to, from) in bytes.iter_mut().skip(at).zip(value) {
        *to = *from;
    }
}

/// A cache of genuine signatures, because making one takes longer than verifying it.
pub struct Pool<K>(Mutex<BTreeMap<K, Signed>>);

impl<K: Ord> Pool<K> {
    /// Maximum number of cached signatures.
    const CAPACITY: usize = 1024;

    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    pub fn get(&self, what: K, make: impl FnOnce(&K) -> Signed) -> Signed {
        let mut pool = self.0.lock().expect("one thread");
        if let Some(signed) = pool.get(&what) {
            return signed.clone();
        }
        let signed = make(&what);
        if pool.len() < Self::CAPACITY {
            pool.insert(what, signed.clone());
        }
        signed
    }
}

static ACCEPTED: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// Checks that both verifiers give the same verdict, and returns it; `by` names the second one.
#[track_caller]
pub fn agree(by: &str, what: &str, ours: Result<(), Rejection>, theirs: bool) -> bool {
    count(ours.is_ok());
    assert!(
        ours.is_ok() == theirs,
        "{what}: Hartlock says {ours:?}, and {by} {} it",
        if theirs { "accepts" } else { "refuses" }
    );
    theirs
}

/// Counts a verdict. The number of each kind is printed when the program ends, for `cargo xtask fuzz`,
/// which reports a target without an accepted signature as failed.
pub fn count(is_accepted: bool) {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        unsafe extern "C" {
            fn atexit(function: extern "C" fn()) -> core::ffi::c_int;
        }
        // SAFETY: the declaration is that of the C standard. The function may run at any time and does not
        // call `exit`.
        unsafe { atexit(print_counts) };
    });
    let counter = if is_accepted { &ACCEPTED } else { &REFUSED };
    counter.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn print_counts() {
    eprintln!("stat::accepted: {}", ACCEPTED.load(Ordering::Relaxed));
    eprintln!("stat::refused: {}", REFUSED.load(Ordering::Relaxed));
}
