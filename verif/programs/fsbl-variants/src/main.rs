//! Variants of the first-stage boot loader of the machine `tee-1`. They use fewer engines, to measure the benefit of
//! each, or report the state of an engine after a refusal. A feature selects the variant.

#![no_std]
#![no_main]
#![cfg(target_arch = "riscv64")]

use hartlock_fsbl::program::engines::TeeEngines;
use hartlock_fsbl::program::{self, Form, Software};
use hartlock_image::{HashId, Reason};
use hartlock_kernels::Kernels;
use hartlock_kernels::engines::{
    Attachment, Challenge, EngineKind, Engines, NoEngines, Sha3Digest, SigningSlot,
};
use hartlock_kernels::signature::Rejection;

/// The engines of the machine, of which that for SHA3-512 gets memory as a whole: by DMA, once all of it is there, or by stores of
/// the processor. Without `HAS_ED25519` it is the only one.
struct Whole<const HAS_ED25519: bool>(TeeEngines);

impl<const HAS_ED25519: bool> Engines for Whole<HAS_ED25519> {
    fn attachment(&self, kind: EngineKind) -> Option<&dyn Attachment> {
        if kind == EngineKind::Sha3 || HAS_ED25519 { self.0.attachment(kind) } else { None }
    }

    fn sha3(&self, hash: HashId, parts: &[&[u8]], digest: &mut Sha3Digest) -> Option<()> {
        self.0.sha3(hash, parts, digest)
    }

    fn sha3_of_memory(&self, hash: HashId, bytes: &[u8], digest: &mut Sha3Digest) -> Option<()> {
        if cfg!(feature = "pushed") {
            return self.0.sha3(hash, &[bytes], digest);
        }
        self.0.sha3_of_memory(hash, bytes, digest)
    }

    fn verify_ed25519(
        &self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        HAS_ED25519.then(|| self.0.verify_ed25519(public_key, signature, challenge))?
    }

    fn load_ed25519(
        &self,
        slot: SigningSlot,
        expanded: &[u8; 64],
        public_key: &mut [u8; 32],
    ) -> Option<()> {
        HAS_ED25519.then(|| self.0.load_ed25519(slot, expanded, public_key))?
    }

    fn sign_ed25519(
        &self,
        slot: SigningSlot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        signature: &mut [u8; 64],
    ) -> Option<()> {
        HAS_ED25519.then(|| self.0.sign_ed25519(slot, nonce, challenge, signature))?
    }
}

/// These engines, one step after the other.
impl<const HAS_ED25519: bool> Form for Whole<HAS_ED25519> {
    type Engines = Self;

    fn engines() -> Self {
        Self(TeeEngines::take())
    }

    fn forget() {
        TeeEngines::forget();
    }
}

/// The unchanged loader without a timeline on the console.
struct Quiet;

impl Form for Quiet {
    type Engines = TeeEngines;
    const IS_QUIET: bool = true;

    fn engines() -> TeeEngines {
        TeeEngines::take()
    }

    fn forget() {
        TeeEngines::forget();
    }
}

/// A variant in software without assembly.
struct Portable;

impl Form for Portable {
    type Engines = NoEngines;

    fn kernels() -> Kernels {
        Kernels::PORTABLE
    }

    fn engines() -> NoEngines {
        NoEngines
    }

    fn forget() {}
}

/// Calls `run` or `trap` with the variant that the feature selects.
macro_rules! chosen {
    ($function:ident($($argument:expr),*)) => {
        if cfg!(feature = "hash-engine") {
            program::$function::<Whole<false>>($($argument),*)
        } else if cfg!(feature = "portable") {
            program::$function::<Portable>($($argument),*)
        } else if cfg!(feature = "quiet") {
            program::$function::<Quiet>($($argument),*)
        } else if cfg!(feature = "says-key") {
            program::$function::<TeeEngines>($($argument),*)
        } else if cfg!(feature = "software") {
            program::$function::<Software>($($argument),*)
        } else {
            program::$function::<Whole<true>>($($argument),*)
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
    use hartlock_regs::ed25519::{Ed25519Command, Ed25519Control, Ed25519Registers};

    let base = core::ptr::with_exposed_provenance_mut(hartlock_virt::board::ED25519_ENGINE);
    // SAFETY: these are registers of the machine, which no other code uses any more.
    let registers = unsafe { Ed25519Registers::new(base) };
    registers.control().write(Ed25519Control::RESET.with_slot(SigningSlot::Device as u8));
    registers.command().write(Ed25519Command::RESET.with_public_key(true));
    while !registers.status().read().idle() {}
    !registers.error().read().command()
}
