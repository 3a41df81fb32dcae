//! What a verifier trusts and requires, and the first check of it.
//!
//! Each check here takes a decision and names its reason. `recheck.rs` computes the same
//! requirements again, as values that the verdict depends on.

use hartlock_image::{
    BundleType, Family, KeyRecord, Lifecycle, List, MAX_SIGNERS, Manifest, Name, Policy, Reason,
    TrustList,
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
    /// State of this device.
    pub lifecycle: Option<Lifecycle>,
    /// Memory map.
    pub placement: Placement<'a>,
}

/// Which memory map placement is checked against (image format §8 step 11).
#[derive(Clone, Copy, Debug)]
pub enum Placement<'a> {
    /// The map of this board.
    Board(&'a Board),
    /// The map of the board that the manifest names, if this crate knows it.
    ByManifest,
}

impl<'a> Acceptance<'a> {
    /// Requires everything.
    pub const fn of_device(
        bundle_type: BundleType,
        trust: (TrustList, u32),
        identity: (Name, Name),
        floor: u64,
        lifecycle: Lifecycle,
        board: &'a Board,
    ) -> Self {
        Self {
            trust: trust.0,
            revoked_keys: trust.1,
            bundle_type: Some(bundle_type),
            board: Some(identity.0),
            soc: Some(identity.1),
            floor: Some(floor),
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

    /// Step 10: is the bundle for this device (§7)?
    pub(crate) fn check_device(&self, manifest: &Manifest<'_>) -> Result<(), Reason> {
        if self.board.is_some_and(|board| board != manifest.board) {
            return Err(Reason::WrongBoard);
        }
        if self.soc.is_some_and(|soc| soc != manifest.soc) {
            return Err(Reason::WrongSoc);
        }
        if self.floor.is_some_and(|floor| manifest.security_version < floor) {
            return Err(Reason::RollbackBelowFloor);
        }
        if self.lifecycle.is_some_and(|state| manifest.lifecycle_mask & state.bit() == 0) {
            return Err(Reason::LifecycleNotAllowed);
        }
        Ok(())
    }

    /// The map that placement is checked against; `None` if this crate does not know the board.
    pub(crate) fn map(&self, manifest: &Manifest<'_>) -> Option<&'a Board> {
        match self.placement {
            Placement::Board(board) => Some(board),
            Placement::ByManifest => Board::by_name(manifest.board.as_str()),
        }
    }

    /// Step 11: does every payload go where the board has room for it (boot flow §2)?
    pub(crate) fn check_placement(&self, manifest: &Manifest<'_>) -> Result<(), Reason> {
        let Some(board) = self.map(manifest) else { return Ok(()) };
        manifest.payloads.iter().try_for_each(|payload| board.check(manifest.bundle_type, payload))
    }
}
