//! Runs each computation on this machine with a secret that memcheck takes for uninitialised memory. Memcheck then
//! reports every branch and every address that depends on it. The program prints for each computation how many it
//! reported.

use core::arch::asm;
use core::hint::black_box;

use hartlock_kernels::Kernels;
use hartlock_timing::{LEAKS, SECRET_LEN, SUBJECTS, fill};

/// Requests of Valgrind and of memcheck (Valgrind manual §3.1, `valgrind.h` and `memcheck.h`).
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MAKE_MEM_UNDEFINED: u64 = 0x4d43_0001;
const MAKE_MEM_DEFINED: u64 = 0x4d43_0002;

/// Makes a request of Valgrind. Without Valgrind the result is 0.
fn request(number: u64, first: u64, second: u64) -> u64 {
    let arguments = [number, first, second, 0, 0, 0];
    let mut result = 0_u64;
    // SAFETY: the instructions rotate a register by 128 bits and exchange one with itself, so they change nothing.
    // Valgrind takes them for a request, whose arguments are in memory that is borrowed here.
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") &raw const arguments,
            inlateout("rdx") result,
            options(nostack),
        );
    }
    result
}

fn main() {
    assert!(request(RUNNING_ON_VALGRIND, 0, 0) > 0, "this program runs under valgrind");
    let mut secret = [0; SECRET_LEN];
    let address = secret.as_ptr() as u64;
    for subject in SUBJECTS.iter().chain(LEAKS) {
        fill(&mut secret, 4);
        let before = request(COUNT_ERRORS, 0, 0);
        request(MAKE_MEM_UNDEFINED, address, SECRET_LEN as u64);
        black_box((subject.run)(&Kernels::PORTABLE, black_box(&secret)));
        request(MAKE_MEM_DEFINED, address, SECRET_LEN as u64);
        println!("{} {}", subject.name, request(COUNT_ERRORS, 0, 0) - before);
    }
}
