//! Runs with their cycles, and the line of a case.

use hartlock_virt::console::{self, Number};
use hartlock_virt::soc;

/// A run, with its cycles.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, u64) {
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
