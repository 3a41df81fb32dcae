//! The identity of a device that is part of its program: the root-of-trust block and the state record (boot flow §3.1,
//! §3.2).
//!
//! Both are in a separate section, which is filled in when a device is made. They do not use one-time-programmable
//! memory; therefore the floors cannot rise and keys cannot be revoked in the field.

use hartlock_handoff::{ROOT_OF_TRUST_SIZE, RootOfTrust, STATE_SIZE, StateRecord};
use hartlock_image::{Identity, Reason};
use hartlock_kernels::secret::confined;
use hartlock_verify::Acceptance;
use hartlock_verify::board::Board;

use super::of_boot;

const SIZE: usize = ROOT_OF_TRUST_SIZE + STATE_SIZE;

/// The identity, which is filled in after linking. For this reason it is read through `black_box`.
#[unsafe(link_section = ".rodata.hartlock.identity")]
#[unsafe(no_mangle)]
static HARTLOCK_IDENTITY: [u8; SIZE] = [0xff; SIZE];

/// Returns the requirements of this device for a boot bundle.
///
/// # Errors
/// `RootOfTrustInvalid`, `CounterStoreInvalid`.
#[inline(never)]
pub fn requirements(board: &'static Board<'static>) -> Result<Acceptance<'static>, Reason> {
    let (root, state) = blocks().ok_or(Reason::RootOfTrustInvalid)?;
    confined(|| {
        let root = RootOfTrust::parse(root)?;
        let state = StateRecord::parse(state, &root.state_key());
        let state = state.ok_or(Reason::CounterStoreInvalid)?;
        Ok(of_boot(root.trust, Identity { board: root.board, soc: root.soc }, &state, board))
    })
}

/// Returns the same requirements from a second reading, for the redundant checks. The first reading has checked that
/// the blocks are authentic.
///
/// # Errors
/// `RootOfTrustInvalid`.
#[inline(never)]
pub fn requirements_again(board: &'static Board<'static>) -> Result<Acceptance<'static>, Reason> {
    let read = || {
        let (root, state) = blocks()?;
        let (trust, identity) = RootOfTrust::requirements(root)?;
        Some(of_boot(trust, identity, &StateRecord::fields(state)?, board))
    };
    read().ok_or(Reason::RootOfTrustInvalid)
}

fn blocks() -> Option<(&'static [u8], &'static [u8])> {
    // The compiler must not assume the initial value.
    core::hint::black_box(&HARTLOCK_IDENTITY).split_at_checked(ROOT_OF_TRUST_SIZE)
}
