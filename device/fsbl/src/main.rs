//! The program of the first-stage boot loader (module `program` of the library). On a workstation
//! it does nothing.

#![cfg_attr(any(feature = "machine", feature = "virt"), no_std, no_main)]

#[cfg(any(feature = "machine", feature = "virt"))]
mod entries {
    use hartlock_fsbl::program::{self, Shipped};
    use hartlock_image::Reason;

    #[unsafe(no_mangle)]
    extern "C" fn fsbl_main() -> ! {
        program::run::<Shipped>()
    }

    #[unsafe(no_mangle)]
    extern "C" fn fsbl_trap(cause: u64, pc: u64, value: u64) -> ! {
        program::trap::<Shipped>(cause, pc, value)
    }

    #[unsafe(no_mangle)]
    extern "C" fn fsbl_refused(reason: Reason) -> ! {
        program::refused(reason)
    }
}

#[cfg(not(any(feature = "machine", feature = "virt")))]
fn main() {}
