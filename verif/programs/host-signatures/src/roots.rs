//! Cases of hash-based signatures. Each prints a line `sig <number> <cycles> 0 <root>`.

use core::hint::black_box;

use hartlock_kat::roots::{HEAD_LEN, RootCaseHead};
use hartlock_kernels::Kernels;
use hartlock_virt::console;

use crate::timed::{begin, timed};

/// Computes the root of the first case, and returns the bytes after it. Returns `None` if the case
/// is malformed.
pub fn judge<'a>(kernels: &Kernels, number: u64, cases: &'a [u8]) -> Option<&'a [u8]> {
    let (head, body) = cases.split_first_chunk::<HEAD_LEN>()?;
    let head = RootCaseHead::decode(head)?;
    let (body, after) = body.split_at_checked(head.body_len())?;
    let case = head.case(body)?;
    let compare = || black_box(&case).compare(kernels);
    let _ = compare();
    let (comparison, cycles) = timed(compare);
    begin(number, cycles);
    for byte in comparison.ok()?.computed.iter().take(case.root_len()) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or_default();
        let digits = [digit(byte >> 4), digit(*byte)];
        console::print(core::str::from_utf8(&digits).unwrap_or_default());
    }
    console::line(&[""]);
    Some(after)
}
