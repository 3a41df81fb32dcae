//! What the identity of a device and its state require of a boot bundle.

use hartlock_handoff::StateRecord;
use hartlock_image::{BundleType, Identity, TrustList};
use hartlock_verify::Acceptance;
use hartlock_verify::board::Board;

#[cfg(feature = "linked-identity")]
pub mod linked;

/// What a device with this identity and state requires of a boot bundle.
pub fn of_boot(
    trust: TrustList,
    identity: Identity,
    state: &StateRecord,
    board: &'static Board,
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
