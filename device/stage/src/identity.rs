//! The requirements for a boot bundle that follow from a device's identity and state.

use hartlock_handoff::StateRecord;
use hartlock_image::{BundleType, Identity, TrustList};
use hartlock_verify::Acceptance;
use hartlock_verify::board::Board;

#[cfg(feature = "linked-identity")]
pub mod linked;

/// Returns the requirements for a boot bundle on a device with this identity and state.
pub fn of_boot(
    trust: TrustList,
    identity: Identity,
    state: &StateRecord,
    board: &'static Board<'static>,
) -> Acceptance<'static> {
    Acceptance::of_device(
        BundleType::Boot,
        (trust, state.revoked_keys),
        identity,
        (state.boot_floor, None),
        state.lifecycle,
        board,
    )
}
