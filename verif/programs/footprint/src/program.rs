//! All parts of the program except the algorithm. It prints these lines on the console:
//!
//! ```text
//! hartlock: hashes sha256 <tier> …
//! case <index> right|WRONG <instructions> <stack>
//! footprint: done
//! ```

use core::arch::global_asm;
use core::ffi::c_void;
use core::hint::black_box;

use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::{machine, memory};

use crate::pack::{Case, HEADER_SIZE, Header};

global_asm!(include_str!("../../bench/src/start.S"));
global_asm!(include_str!("measure.S"));

/// Address of the pack, far after the program and its stack (link.ld).
pub const PACK: u64 = map::RAM.start + (256 << 20);

/// A function that verifies a case with additional data, and returns true if the signature is
/// genuine.
pub type Verify<T> = fn(&T, &Case<'_>) -> bool;

/// Defines a program from an expression for the additional data and a [`Verify`] function.
#[macro_export]
macro_rules! program {
    ($needed:expr, $verify:expr) => {
        #[unsafe(no_mangle)]
        extern "C" fn bench_main() -> ! {
            $crate::program::run(&$needed, $verify)
        }
    };
}

/// The result of footprint_measure.
#[derive(Default)]
#[repr(C)]
struct Taken {
    instructions: u64,
    stack: u64,
}

/// The argument that footprint_measure passes to [`work`].
struct Job<'a, T> {
    verify: Verify<T>,
    needed: &'a T,
    case: &'a Case<'a>,
    answer: bool,
}

unsafe extern "C" {
    fn footprint_measure(
        work: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        bottom: *mut u64,
        taken: *mut Taken,
    );
    /// Lowest word of the stack (link.ld).
    static mut __stack_bottom: u64;
}

/// Verifies a case; called at the bottom of the stack in use. The frame of this function, which has
/// a few words, is counted as part of the verifier.
extern "C" fn work<T>(job: *mut c_void) {
    // SAFETY: `measure` passes its own job, which no other code uses during the call.
    let job = unsafe { &mut *job.cast::<Job<'_, T>>() };
    job.answer = (job.verify)(job.needed, job.case);
}

fn measure<T>(job: &mut Job<'_, T>) -> Taken {
    let mut taken = Taken::default();
    let (job, bottom) = ((&raw mut *job).cast(), &raw mut __stack_bottom);
    // SAFETY: the stack below the caller is unused, `bottom` is its end, and job and taken exist
    // until the call returns.
    unsafe { footprint_measure(black_box(work::<T>), job, bottom, &raw mut taken) };
    taken
}

/// Verifies every case of the pack and ends the machine.
pub fn run<T>(needed: &T, verify: Verify<T>) -> ! {
    judge_all(needed, verify);
    finish()
}

/// Returns the number of cases, and their bytes.
fn pack() -> (u32, &'static [u8]) {
    // SAFETY: this is memory of this board that nothing writes to after the start.
    let header = unsafe { memory::bytes(Region::new(PACK, HEADER_SIZE as u64)) };
    let Some(header) = Header::parse(header) else { fail("there is no pack") };
    let body = Region::new(PACK.saturating_add(HEADER_SIZE as u64), header.body_size as u64);
    // SAFETY: nothing writes to this memory, either, and the size was checked.
    (header.count, unsafe { memory::bytes(body) })
}

/// Returns the first case. All cases of a pack have the same key.
pub fn first_case() -> Option<Case<'static>> {
    Case::parse(pack().1).map(|(case, _)| case)
}

/// Verifies every case of the pack and prints a line for each.
pub fn judge_all<T>(needed: &T, verify: Verify<T>) {
    let (count, mut body) = pack();
    for index in 0..count {
        let Some((case, rest)) = Case::parse(body) else { fail("the pack is malformed") };
        body = rest;
        let mut job = Job { verify: black_box(verify), needed, case: &case, answer: false };
        let taken = measure(&mut job);
        let judged = if job.answer == case.is_genuine { "right" } else { "WRONG" };
        let numbers = [index.into(), taken.instructions, taken.stack].map(Number::decimal);
        let [index, instructions, stack] = numbers.each_ref().map(Number::as_str);
        console::line(&["case ", index, " ", judged, " ", instructions, " ", stack]);
    }
}

/// Ends the machine after all cases.
pub fn finish() -> ! {
    console::line(&["footprint: done"]);
    machine::end(0)
}

/// Handles a trap; called by start.S with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["footprint: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    machine::end(1)
}

fn fail(why: &str) -> ! {
    console::line(&["footprint: ", why]);
    machine::end(1)
}
