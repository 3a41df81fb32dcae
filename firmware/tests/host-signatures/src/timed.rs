//! Runs with their cycles, and the line of a case.

use hartlock_virt::console::{self, Number};
use hartlock_virt::soc;

/// The second of two runs, with its cycles: code and data are in the caches.
pub fn warm<T>(mut run: impl FnMut() -> T) -> (T, u64) {
    let _ = run();
    let start = soc::cycles();
    let result = run();
    (result, soc::cycles().saturating_sub(start))
}

/// The beginning of the line of a case: no engine has given an answer.
pub fn begin(number: u64, cycles: u64) {
    let numbers = [number, cycles].map(Number::decimal);
    let [number, cycles] = numbers.each_ref().map(Number::as_str);
    ["sig ", number, " ", cycles, " 0 "].into_iter().for_each(console::print);
}
