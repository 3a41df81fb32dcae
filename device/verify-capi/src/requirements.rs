//! The requirements of the device, as the caller gives them (specification §5).

use hartlock_handoff::Handoff;
use hartlock_image::{
    BundleType, CallReason, Identity, KeyRecord, Lifecycle, List, Name, Policy, TrustList,
};
use hartlock_verify::{Acceptance, Placement};

use crate::library::Refusal;
use crate::types::{CallerKey, CallerRequirements, HARTLOCK_MAX_KEYS, HARTLOCK_NO_BOOT_VERSION};

impl CallerRequirements {
    /// Requirements before the caller has filled them: no bundle meets them.
    pub const NONE: Self = Self {
        bundle_type: 0,
        policy: 0,
        lifecycle: 0,
        revoked_keys: 0,
        floor: u64::MAX,
        boot_version: 0,
        max_bootargs: 0,
        key_count: 0,
        board: [0; 32],
        soc: [0; 32],
        keys: [CallerKey { algorithm: 0, parameters: 0, key_id: [0; 48] }; HARTLOCK_MAX_KEYS],
    };

    /// Returns what the ROM hands over.
    pub fn of_handoff(handoff: &Handoff, max_bootargs: u32) -> Self {
        let mut keys = Self::NONE.keys;
        for (place, key) in keys.iter_mut().zip(handoff.trust.keys.iter()) {
            let KeyRecord { algorithm, parameters, key_id } = *key;
            *place = CallerKey { algorithm, parameters, key_id };
        }
        Self {
            bundle_type: Self::number_of(BundleType::System),
            policy: handoff.trust.policy.number(),
            lifecycle: handoff.lifecycle as u32,
            // The ROM hands over no key that is revoked.
            revoked_keys: 0,
            floor: handoff.system_floor,
            boot_version: handoff.boot_version,
            max_bootargs,
            key_count: handoff.trust.keys.len() as u32,
            board: *handoff.board.field(),
            soc: *handoff.soc.field(),
            keys,
        }
    }

    /// Returns the number of a type of bundle.
    pub const fn number_of(bundle_type: BundleType) -> u32 {
        match bundle_type {
            BundleType::Boot => 1,
            BundleType::System => 2,
        }
    }

    /// Converts them into what verification requires. Places are asked of the platform.
    ///
    /// # Errors
    /// `CallRequirements`.
    pub fn acceptance(&self) -> Result<Acceptance<'static>, Refusal> {
        self.parsed().ok_or_else(|| CallReason::CallRequirements.into())
    }

    fn parsed(&self) -> Option<Acceptance<'static>> {
        let bundle_type = [BundleType::Boot, BundleType::System]
            .into_iter()
            .find(|it| Self::number_of(*it) == self.bundle_type)?;
        let identity =
            Identity { board: Name::from_field(&self.board)?, soc: Name::from_field(&self.soc)? };
        let mut keys = List::new();
        let given = self.keys.get(..self.key_count as usize).filter(|keys| !keys.is_empty())?;
        for (index, key) in given.iter().enumerate() {
            let CallerKey { algorithm, parameters, key_id } = *key;
            let is_new = given.iter().take(index).all(|earlier| earlier.key_id != key_id);
            if !is_new || !keys.push(KeyRecord { algorithm, parameters, key_id }) {
                return None;
            }
        }
        let boot_version =
            (self.boot_version != HARTLOCK_NO_BOOT_VERSION).then_some(self.boot_version);
        Some(Acceptance {
            trust: TrustList { policy: Policy::from_number(self.policy)?, keys },
            revoked_keys: self.revoked_keys,
            bundle_type: Some(bundle_type),
            board: Some(identity.board),
            soc: Some(identity.soc),
            floor: Some(self.floor),
            boot_version,
            lifecycle: Some(Lifecycle::from_number(self.lifecycle)?),
            placement: Placement::ByManifest(&[]),
        })
    }
}
