//! Variants of the first-stage boot loader of the machine `tee-1`. They use fewer engines, to measure the benefit of
//! each, or report the state of an engine after a refusal. A feature selects the variant.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use hartlock_drivers::ed25519::Ed25519;
use hartlock_drivers::wait::Polling;
use hartlock_fsbl::program::engines::{self, Engines, Hash};
use hartlock_fsbl::program::{self, Form, Software};
use hartlock_fsbl::{Digest, HashEngine, Never};
use hartlock_image::Reason;
use hartlock_kernels::Kernels;

/// A SHA3-512 engine that gets the memory as a whole, either by DMA after all of it was read, or by stores of the
/// processor.
struct Whole(Hash);

impl HashEngine for Whole {
    fn digest(&mut self, parts: &[&[u8]]) -> Option<Digest> {
        self.0.digest(parts)
    }

    fn digest_of_memory(&mut self, bytes: &[u8]) -> Option<Digest> {
        if cfg!(feature = "pushed") {
            return self.digest(&[bytes]);
        }
        self.0.digest_of_memory(bytes)
    }

    fn wipe(&mut self) -> Option<()> {
        self.0.wipe()
    }
}

/// A variant with both engines, whose steps run one after the other.
struct InTurn;

impl Form for InTurn {
    type Hash = Whole;
    type Sign = Ed25519<Polling>;

    fn engines() -> (Option<Self::Hash>, Option<Self::Sign>) {
        (Hash::take().map(Whole), engines::sign())
    }

    fn forget() {
        Engines::forget();
    }
}

/// A variant with only the SHA-3 engine.
struct HashAlone;

impl Form for HashAlone {
    type Hash = Whole;
    type Sign = Never;

    fn engines() -> (Option<Self::Hash>, Option<Self::Sign>) {
        (Hash::take().map(Whole), None)
    }

    fn forget() {
        Engines::forget();
    }
}

/// The unchanged loader without a timeline on the console.
struct Quiet;

impl Form for Quiet {
    type Hash = Hash;
    type Sign = Ed25519<Polling>;
    const IS_QUIET: bool = true;

    fn engines() -> (Option<Self::Hash>, Option<Self::Sign>) {
        Engines::engines()
    }

    fn forget() {
        Engines::forget();
    }
}

/// A variant in software without assembly.
struct Portable;

impl Form for Portable {
    type Hash = Never;
    type Sign = Never;

    fn kernels() -> Kernels {
        Kernels::PORTABLE
    }

    fn engines() -> (Option<Self::Hash>, Option<Self::Sign>) {
        (None, None)
    }

    fn forget() {}
}

/// Calls `run` or `trap` with the variant that the feature selects.
macro_rules! chosen {
    ($function:ident($($argument:expr),*)) => {
        if cfg!(feature = "hash-engine") {
            program::$function::<HashAlone>($($argument),*)
        } else if cfg!(feature = "portable") {
            program::$function::<Portable>($($argument),*)
        } else if cfg!(feature = "quiet") {
            program::$function::<Quiet>($($argument),*)
        } else if cfg!(feature = "says-key") {
            program::$function::<Engines>($($argument),*)
        } else if cfg!(feature = "software") {
            program::$function::<Software>($($argument),*)
        } else {
            program::$function::<InTurn>($($argument),*)
        }
    };
}

#[unsafe(no_mangle)]
extern "C" fn fsbl_main() -> ! {
    chosen!(run())
}

#[unsafe(no_mangle)]
extern "C" fn fsbl_trap(cause: u64, pc: u64, value: u64) -> ! {
    chosen!(trap(cause, pc, value))
}

#[unsafe(no_mangle)]
extern "C" fn fsbl_refused(reason: Reason) -> ! {
    if cfg!(feature = "says-key") && has_key() {
        hartlock_virt::console::line(&["fsbl: the engine has a key"]);
    }
    program::refused(reason)
}

/// Returns true if the engine still has the key of the device, from which it would compute a public key.
fn has_key() -> bool {
    use hartlock_regs::ed25519::{Command, Control, Ed25519 as Registers};

    let base = core::ptr::with_exposed_provenance_mut(hartlock_virt::board::ED25519_ENGINE);
    // SAFETY: these are registers of the machine, which no other code uses any more.
    let registers = unsafe { Registers::new(base) };
    registers.control().write(Control::RESET.with_slot(hartlock_fsbl::Slot::Device as u8));
    registers.command().write(Command::RESET.with_public_key(true));
    while !registers.status().read().idle() {}
    !registers.error().read().command()
}
