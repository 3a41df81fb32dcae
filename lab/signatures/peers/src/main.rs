//! Runs verifiers of other projects in the program that measures this project's verifiers
//! (`verif/programs/footprint`): entry point, packs and counting are the same. A feature selects the verifier;
//! without any the program is empty.

#![no_std]
#![no_main]

mod heap;
mod verifiers;

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(feature = "library")]
mod der;
#[cfg(feature = "library")]
mod libc;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(feature = "wolfssl")]
mod wolfssl;

#[cfg(feature = "aws-lc")]
use aws_lc::AwsLcKey as LibraryKey;
#[cfg(feature = "openssl")]
use openssl::OpensslKey as LibraryKey;
#[cfg(feature = "wolfssl")]
use wolfssl::WolfsslKey as LibraryKey;

use hartlock_footprint::program;
use hartlock_virt::console::{self, Number};

/// Same as `hartlock_footprint::program!`, with the peak heap use in addition.
#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    #[cfg(feature = "library")]
    judge_all_before();
    program::judge_all(&(), |(), case| verifiers::verify(case));
    print_number("heap ", heap::most());
    #[cfg(feature = "library")]
    judge_all_with_a_key();
    program::finish()
}

/// Verifies all cases once before, because a library initialises itself at the first call.
#[cfg(feature = "library")]
fn judge_all_before() {
    libc::start();
    program::judge_all(&(), |(), case| verifiers::verify(case));
    print_number("kept ", heap::in_use());
    console::line(&["again"]);
}

/// Verifies all cases with a key that was read before and used twice, because a library may compute tables for
/// a key that is used again.
#[cfg(feature = "library")]
fn judge_all_with_a_key() {
    print_number("kept ", heap::in_use());
    console::line(&["with a key"]);
    let key = LibraryKey::new();
    let is_used = program::first_case()
        .is_some_and(|case| key.read(case.key) && key.verify(&case) && key.verify(&case));
    program::judge_all(&(key, is_used), |(key, is_used), case| *is_used && key.verify(case));
}

fn print_number(what: &str, number: usize) {
    console::line(&[what, Number::decimal(number as u64).as_str()]);
}
