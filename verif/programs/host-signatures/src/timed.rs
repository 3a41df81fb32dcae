//! Measurement of runs in cycles, and the start of the line for a case.

use hartlock_virt::console::{self, Number};
use hartlock_virt::soc;

/// Runs a function, and also returns the number of cycles that it took.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let start = soc::cycles();
    let result = run();
    (result, soc::cycles().saturating_sub(start))
}

/// Prints the start of the line for a case. The number of answers of an engine is zero.
pub fn begin(number: u64, cycles: u64) {
    let numbers = [number, cycles].map(Number::decimal);
    let [number, cycles] = numbers.each_ref().map(Number::as_str);
    ["sig ", number, " ", cycles, " 0 "].into_iter().for_each(console::print);
}
