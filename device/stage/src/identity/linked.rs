//! The identity of a device that is part of its program: root-of-trust block and state record (boot flow §3.1, §3.2).
//!
//! They are in a separate section that is filled in when a device is made. One-time programmable memory is not read for them:
//! until then no floor rises and no key is revoked in the field.

use hartlock_handoff::{ROOT_OF_TRUST_SIZE, RootOfTrust, STATE_SIZE, StateRecord};
use hartlock_image::{Identity, Reason};
use hartlock_verify::Acceptance;
use hartlock_verify::board::Board;

use super::of_boot;

const SIZE: usize = ROOT_OF_TRUST_SIZE + STATE_SIZE;

/// Filled in after linking, which is why it is read as something that may change.
#[unsafe(link_section = ".rodata.hartlock.identity")]
#[unsafe(no_mangle)]
static HARTLOCK_IDENTITY: [u8; SIZE] = [0xff; SIZE];

/// What a boot bundle has to meet on this device.
///
/// # Errors
/// `RootOfTrustInvalid`, `CounterStoreInvalid`.
#[inline(never)]
pub fn requirements(board: &'static Board) -> Result<Acceptance<'static>, Reason> {
    let (root, state) = blocks().ok_or(Reason::RootOfTrustInvalid)?;
    let root = RootOfTrust::parse(root)?;
    let state = StateRecord::parse(state, &root.state_key()).ok_or(Reason::CounterStoreInvalid)?;
    Ok(of_boot(root.trust, Identity { board: root.board, soc: root.soc }, &state, board))
}

/// The same by a second reading, for the redundant checks. Whether the blocks are authentic was checked by the
/// first.
///
/// # Errors
/// `RootOfTrustInvalid`.
#[inline(never)]
pub fn requirements_again(board: &'static Board) -> Result<Acceptance<'static>, Reason> {
    let read = || {
        let (root, state) = blocks()?;
        let (trust, identity) = RootOfTrust::requirements(root)?;
        Some(of_boot(trust, identity, &StateRecord::fields(state)?, board))
    };
    read().ok_or(Reason::RootOfTrustInvalid)
}

fn blocks() -> Option<(&'static [u8], &'static [u8])> {
    // The compiler must not assume its initial value.
    core::hint::black_box(&HARTLOCK_IDENTITY).split_at_checked(ROOT_OF_TRUST_SIZE)
}
