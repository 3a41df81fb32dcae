//! The identity of a device on QEMU `virt`, which the ROM also reads from flash (boot flow §3.1,
//! §3.2).

use hartlock_handoff::{RootOfTrust, StateRecord};
use hartlock_image::{Identity, Reason};
use hartlock_kernels::secret::confined;
use hartlock_stage::identity::of_boot;
use hartlock_verify::Acceptance;
use hartlock_verify::board::Board;
use hartlock_virt::board::map;
use hartlock_virt::memory;

/// Returns the requirements of this device for a boot bundle.
///
/// # Errors
/// `RootOfTrustInvalid`, `CounterStoreInvalid`.
#[inline(never)]
pub fn requirements(board: &'static Board<'static>) -> Result<Acceptance<'static>, Reason> {
    confined(|| {
        let root = RootOfTrust::parse(block())?;
        let [first, second] = copies();
        let (state, _) = StateRecord::choose(first, second, &root.state_key())?;
        Ok(of_boot(root.trust, Identity { board: root.board, soc: root.soc }, &state, board))
    })
}

/// Returns the same requirements from a second reading, with swapped copies, for the redundant
/// checks.
///
/// # Errors
/// The same as those of `requirements`.
#[inline(never)]
pub fn requirements_again(board: &'static Board<'static>) -> Result<Acceptance<'static>, Reason> {
    confined(|| {
        let key = RootOfTrust::parse(block())?.state_key();
        let requirements = RootOfTrust::requirements(block());
        let (trust, identity) = requirements.ok_or(Reason::RootOfTrustInvalid)?;
        let [first, second] = copies();
        let (state, _) = StateRecord::choose(second, first, &key)?;
        Ok(of_boot(trust, identity, &state, board))
    })
}

// The value is opaque: the results of two readings are compared, and the compiler would otherwise
// merge them into one.
fn block() -> &'static [u8] {
    // SAFETY: the region is read-only flash of this board.
    core::hint::black_box(unsafe { memory::bytes(map::ROOT_OF_TRUST) })
}

fn copies() -> [&'static [u8]; 2] {
    map::STATE_COPIES.map(|copy| {
        // SAFETY: the copy is in flash of this board, which the ROM left in read mode; nothing
        // writes to it.
        core::hint::black_box(unsafe { memory::bytes(copy) })
    })
}
