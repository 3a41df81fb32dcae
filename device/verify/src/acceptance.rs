//! What a verifier trusts and requires, and the first check of it.
//!
//! Each check here takes a decision and names its reason. `recheck.rs` computes the same
//! requirements again, as values that the verdict depends on.

use core::num::NonZeroU64;

use hartlock_image::{
    BundleType, Family, Identity, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, Name, Policy,
    Reason, TrustList,
};

use crate::board::Board;

/// What a verifier trusts, and what it requires. `None` requires nothing, which only a
/// workstation may do; a boot stage uses [`Acceptance::of_device`].
#[derive(Clone, Copy, Debug)]
pub struct Acceptance<'a> {
    /// Keys and policy.
    pub trust: TrustList,
    /// Bit i revokes key i (boot flow §3.2).
    pub revoked_keys: u32,
    /// Type that is booted here.
    pub bundle_type: Option<BundleType>,
    /// Name of this board.
    pub board: Option<Name>,
    /// Name of this SoC.
    pub soc: Option<Name>,
    /// Lowest security version that boots.
    pub floor: Option<u64>,
    /// Security version of the boot bundle that this device runs: known where a system bundle is verified.
    pub boot_version: Option<u64>,
    /// State of this device.
    pub lifecycle: Option<Lifecycle>,
    /// Memory map.
    pub placement: Placement<'a>,
}

/// Which memory map placement is checked against (image format §8 step 12).
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// The map of this board.
    Board(&'a Board),
    /// The map of each board that the manifest names, if it is one of these.
    ByManifest(&'a [&'a Board]),
}

impl<'a> Acceptance<'a> {
    /// Requires everything.
    pub const fn of_device(
        bundle_type: BundleType,
        trust: (TrustList, u32),
        identity: Identity,
        (floor, boot_version): (u64, Option<u64>),
        lifecycle: Lifecycle,
        board: &'a Board,
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

    /// Keys that are trusted and not revoked.
    pub(crate) fn trusted(&self) -> impl Iterator<Item = &KeyRecord> + Clone {
        let is_revoked = |index: u32| self.revoked_keys.checked_shr(index).unwrap_or(0) & 1 == 1;
        self.trust
            .keys
            .iter()
            .zip(0..u32::BITS)
            .filter(move |(_, index)| !is_revoked(*index))
            .map(|(key, _)| key)
    }

    /// Step 5: do the signers satisfy the policy (§5.3)?
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

    /// Step 11: is the bundle for this device (§7)?
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

    /// The map that placement is checked against for one of the boards of a manifest; `None` if it is not
    /// known.
    pub(crate) fn map(&self, identity: &Identity) -> Option<&'a Board> {
        match self.placement {
            Placement::Board(board) => Some(board),
            Placement::ByManifest(known) => {
                known.iter().copied().find(|board| identity.board.is(board.name))
            }
        }
    }

    /// Step 12: does every payload go where the boards have room for it (boot flow §2)?
    pub(crate) fn check_placement(&self, manifest: &Manifest<'_>) -> Result<(), Reason> {
        for board in manifest.identities().filter_map(|identity| self.map(&identity)) {
            let check = |payload| board.check(manifest.bundle_type, payload);
            manifest.payloads.iter().try_for_each(check)?;
        }
        Ok(())
    }
}
