//! The identity of a device: root-of-trust block and state record (boot flow §3.1, §3.2).
//!
//! They are located in the ROM, in a separate section that is filled in when a device is made. One-time
//! programmable memory is not built yet: until then no floor rises and no key is revoked in the field.

use hartlock_handoff::{ROOT_OF_TRUST_SIZE, RootOfTrust, STATE_SIZE, StateRecord};
use hartlock_image::Reason;

const SIZE: usize = ROOT_OF_TRUST_SIZE + STATE_SIZE;

/// Filled in after linking, which is why it is read as something that may change.
#[unsafe(link_section = ".rodata.hartlock.identity")]
#[unsafe(no_mangle)]
static HARTLOCK_IDENTITY: [u8; SIZE] = [0xff; SIZE];

/// The root of trust and the state.
///
/// # Errors
/// `RootOfTrustInvalid`, `CounterStoreInvalid`.
pub fn read() -> Result<(RootOfTrust, StateRecord), Reason> {
    // The compiler must not assume its initial value.
    let bytes = core::hint::black_box(&HARTLOCK_IDENTITY);
    let (root, state) =
        bytes.split_at_checked(ROOT_OF_TRUST_SIZE).ok_or(Reason::RootOfTrustInvalid)?;
    let root = RootOfTrust::parse(root)?;
    let state = StateRecord::parse(state, &root.state_key()).ok_or(Reason::CounterStoreInvalid)?;
    Ok((root, state))
}
