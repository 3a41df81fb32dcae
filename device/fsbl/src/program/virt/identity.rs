//! The identity of a device on QEMU `virt`: what the ROM takes from flash (boot flow §3.1, §3.2).

use hartlock_handoff::{RootOfTrust, StateRecord};
use hartlock_image::{Identity, Reason};
use hartlock_stage::identity::of_boot;
use hartlock_verify::Acceptance;
use hartlock_verify::board::Board;
use hartlock_virt::board::map;
use hartlock_virt::memory;

/// What a boot bundle has to meet on this device.
///
/// # Errors
/// `RootOfTrustInvalid`, `CounterStoreInvalid`.
#[inline(never)]
pub fn requirements(board: &'static Board) -> Result<Acceptance<'static>, Reason> {
    let root = RootOfTrust::parse(block())?;
    let [first, second] = copies();
    let (state, _) = StateRecord::choose(first, second, &root.state_key())?;
    Ok(of_boot(root.trust, Identity { board: root.board, soc: root.soc }, &state, board))
}

/// The same by a second reading, with swapped copies, for the redundant checks.
///
/// # Errors
/// As `requirements`.
#[inline(never)]
pub fn requirements_again(board: &'static Board) -> Result<Acceptance<'static>, Reason> {
    let key = RootOfTrust::parse(block())?.state_key();
    let (trust, identity) = RootOfTrust::requirements(block()).ok_or(Reason::RootOfTrustInvalid)?;
    let [first, second] = copies();
    let (state, _) = StateRecord::choose(second, first, &key)?;
    Ok(of_boot(trust, identity, &state, board))
}

// Opaque: the two readings are compared, and the compiler would take one for both.
fn block() -> &'static [u8] {
    // SAFETY: read-only flash of this board.
    core::hint::black_box(unsafe { memory::bytes(map::ROOT_OF_TRUST) })
}

fn copies() -> [&'static [u8]; 2] {
    map::STATE_COPIES.map(|copy| {
        // SAFETY: flash of this board, which the ROM left in read mode; nothing writes to it.
        core::hint::black_box(unsafe { memory::bytes(copy) })
    })
}
