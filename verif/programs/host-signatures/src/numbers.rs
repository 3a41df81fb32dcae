//! Cases of RSA and ECDSA. Each prints a line `sig <number> <cycles> 0 <verdict>`. The cycles are those from the call
//! of the verifier to its verdict.

use core::fmt::{self, Write};
use core::hint::black_box;

use hartlock_kat::numbers::{HEAD_LEN, NumberCaseHead};
use hartlock_kernels::Kernels;
use hartlock_virt::console;

use crate::timed::{begin, timed};

struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        console::print(text);
        Ok(())
    }
}

/// Verifies the first case, and returns the bytes after it. Returns `None` if the case is malformed.
pub fn judge<'a>(kernels: &Kernels, number: u64, cases: &'a [u8]) -> Option<&'a [u8]> {
    let (head, body) = cases.split_first_chunk::<HEAD_LEN>()?;
    let head = NumberCaseHead::decode(head)?;
    let (body, after) = body.split_at_checked(head.body_len())?;
    // The verifier runs only once: it takes millions of cycles, and after a small part of them its code is in the
    // caches.
    let (verdict, cycles) = timed(|| black_box(&head).verify(kernels, black_box(body)));
    begin(number, cycles);
    writeln!(Console, "{verdict:?}").ok()?;
    Some(after)
}
