//! Trust and requirements of a verifier, and the first check of both.
//!
//! Each check in this file takes a decision and returns its reason. `recheck.rs` computes the same requirements again,
//! as values that the verdict depends on.

use core::num::NonZeroU64;

use hartlock_image::{
    BundleType, Closing, Family, Identity, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, Name,
    Policy, Reason, TrustList,
};

use crate::board::Board;

/// The keys that a verifier trusts and the properties that it requires of a bundle. A requirement that is `None` is not
/// checked, which only a workstation may do; a boot stage uses [`Acceptance::of_device`].
#[derive(Clone, Copy, Debug)]
pub struct Acceptance<'a> {
    /// Trusted keys and signature policy.
    pub trust: TrustList,
    /// Bit mask of revoked keys: bit i revokes trusted key i (boot flow §3.2).
    pub revoked_keys: u32,
    /// Bundle type that this stage boots.
    pub bundle_type: Option<BundleType>,
    /// Name of this board.
    pub board: Option<Name>,
    /// Name of this SoC.
    pub soc: Option<Name>,
    /// Minimum security version.
    pub floor: Option<u64>,
    /// Security version of the boot bundle that this device runs. It is known where a system bundle is verified.
    pub boot_version: Option<u64>,
    /// Lifecycle state of this device.
    pub lifecycle: Option<Lifecycle>,
    /// Memory map for the check of load addresses.
    pub placement: Placement<'a>,
}

/// The memory map that load addresses are checked against (image format §8 step 12).
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// Memory map of this board.
    Board(&'a Board<'a>),
    /// Memory map of each board that the manifest names and this list contains.
    ByManifest(&'a [Board<'a>]),
}

impl<'a> Acceptance<'a> {
    /// Returns the acceptance of a device, which requires everything.
    pub const fn of_device(
        bundle_type: BundleType,
        trust: (TrustList, u32),
        identity: Identity,
        (floor, boot_version): (u64, Option<u64>),
        lifecycle: Lifecycle,
        board: &'a Board<'a>,
    ) -> Self {
        Self {
            trust: trust.0,
            revoked_keys: trust.1,
            bundle_type: Some(bundle_type),
            board: Some(identity.board),
            soc: Some(identity.soc),
            floor: Some(floor),
            boot_version,
            lifecycle: Some(lifecycle),
            placement: Placement::Board(board),
        }
    }

    /// Returns the keys that are trusted and not revoked.
    pub(crate) fn trusted(&self) -> impl Iterator<Item = &KeyRecord> + Clone {
        let is_revoked = |index: u32| self.revoked_keys.checked_shr(index).unwrap_or(0) & 1 == 1;
        self.trust
            .keys
            .iter()
            .zip(0..u32::BITS)
            .filter(move |(_, index)| !is_revoked(*index))
            .map(|(key, _)| key)
    }

    /// Checks that the signers satisfy the policy (step 5, §5.3).
    pub(crate) fn check_policy(
        &self,
        counted: &List<KeyRecord, MAX_SIGNERS>,
        block_count: usize,
    ) -> Result<(), Reason> {
        let policy = self.trust.policy;
        if policy == Policy::EverySigner {
            let is_every = counted.len() == block_count && block_count > 0;
            return if is_every { Ok(()) } else { Err(Reason::SignerWithoutKey) };
        }
        if counted.is_empty() {
            return Err(Reason::NoTrustedSigner);
        }
        match policy {
            Policy::Any | Policy::EverySigner => Ok(()),
            Policy::All => {
                let is_counted = |trusted: &KeyRecord| counted.iter().any(|key| key == trusted);
                let is_every = self.trusted().all(is_counted);
                if is_every { Ok(()) } else { Err(Reason::PolicyAllNotMet) }
            }
            Policy::Hybrid => {
                let has = |family| counted.iter().any(|key| key.is_of(family));
                let is_hybrid = has(Family::Classical) && has(Family::PostQuantum);
                if is_hybrid { Ok(()) } else { Err(Reason::PolicyHybridNotMet) }
            }
        }
    }

    /// Checks that the bundle is meant for this device (step 11, §7).
    pub(crate) fn check_device(&self, manifest: &Manifest<'_>) -> Result<(), Reason> {
        let is_board = |identity: &Identity| self.board.is_none_or(|own| own == identity.board);
        if !manifest.identities().any(|identity| is_board(&identity)) {
            return Err(Reason::WrongBoard);
        }
        let is_soc = |identity: Identity| self.soc.is_none_or(|own| own == identity.soc);
        if !manifest.identities().filter(is_board).any(is_soc) {
            return Err(Reason::WrongSoc);
        }
        if self.floor.is_some_and(|floor| manifest.security_version < floor) {
            return Err(Reason::RollbackBelowFloor);
        }
        let needed = manifest.extensions.boot_version.map_or(0, NonZeroU64::get);
        if self.boot_version.is_some_and(|booted| booted < needed) {
            return Err(Reason::BootVersionTooOld);
        }
        if self.lifecycle.is_some_and(|state| manifest.lifecycle_mask & state.bit() == 0) {
            return Err(Reason::LifecycleNotAllowed);
        }
        Ok(())
    }

    /// Returns the memory map for one of the boards that a manifest names, or `None` if the verifier does not know that
    /// board.
    pub(crate) fn map(&self, identity: &Identity) -> Option<&'a Board<'a>> {
        match self.placement {
            Placement::Board(board) => Some(board),
            Placement::ByManifest(known) => {
                known.iter().find(|board| identity.board.is(board.name))
            }
        }
    }

    /// Checks that every payload lies in the region that the boards provide for it, and that their kernels keep the whole
    /// command line (step 12, boot flow §2).
    pub(crate) fn check_placement(&self, manifest: &Manifest<'_>) -> Result<(), Reason> {
        for board in manifest.identities().filter_map(|identity| self.map(&identity)) {
            if matches!(manifest.closing, Closing::Bootargs(it) if it.len() > board.max_bootargs) {
                return Err(Reason::BootargsTooLong);
            }
            let check = |payload| board.check(manifest.bundle_type, payload);
            manifest.payloads.iter().try_for_each(check)?;
        }
        Ok(())
    }
}
