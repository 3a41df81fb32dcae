//! The ROM of the root of trust on a test bench: it prints, and a refusal or an unexpected trap ends the run. A feature
//! selects the variant.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv32")]

use hartlock_drivers::boot_sequencer::BootSequencer;
use hartlock_image::Reason;
// The build script takes the linker script of this crate, and `rot_main` is called by its start-up code.
use hartlock_rot as _;
use hartlock_rot_rom::Environment;

struct Bench;

impl Environment for Bench {
    fn put(byte: u8) {
        hartlock_rot_bench::put(byte);
    }

    fn released() {
        if cfg!(feature = "alone") {
            hartlock_rot_bench::exit(0)
        }
    }

    fn refuse(sequencer: &mut BootSequencer, reason: Reason) {
        // The result does not matter: the test reads the state of the sequencer.
        let _ = if cfg!(feature = "trap-on-refusal") {
            sequencer.trap(reason as u32)
        } else {
            sequencer.refuse(reason as u32)
        };
    }

    fn refused() -> ! {
        hartlock_rot_bench::exit(1)
    }
}

#[unsafe(no_mangle)]
extern "C" fn rot_main() -> ! {
    hartlock_rot_bench::catch_traps();
    hartlock_rot_rom::run::<Bench>()
}
