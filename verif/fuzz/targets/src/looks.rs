//! Runs the check and the redundant check separately on the same bundle (boot flow §7).
//!
//! Both are private to `hartlock-verify`, which runs the redundant check only after the first check
//! accepted. So no caller can see the result of the redundant check for a bundle that the first
//! refuses. That result matters if a fault skips the first check, so `lib.rs` compiles the sources
//! of both again.

use hartlock_image::{KeyRecord, List, MAX_SIGNERS, Manifest};

use crate::acceptance::{Acceptance, Placement};
use crate::options::Options;
use crate::recheck;

/// The inputs of both checks.
pub struct Checks<'a> {
    acceptance: Acceptance<'static>,
    counted: List<KeyRecord, MAX_SIGNERS>,
    blocks: &'a List<KeyRecord, MAX_SIGNERS>,
    signed: &'a [u8],
}

impl<'a> Checks<'a> {
    /// Makes the inputs. `blocks` are the keys of all signature blocks: trusted keys, whose
    /// signatures verified, and others.
    pub fn new(
        options: &Options,
        blocks: &'a List<KeyRecord, MAX_SIGNERS>,
        signed: &'a [u8],
    ) -> Self {
        let acceptance = Acceptance {
            trust: options.trust(),
            revoked_keys: options.revoked_keys,
            bundle_type: options.bundle_type,
            board: options.board,
            soc: options.soc,
            floor: options.floor,
            boot_version: options.boot_version,
            lifecycle: options.lifecycle,
            placement: Placement::ByManifest(hartlock_maps::ALL),
        };
        let is_counted = |key: &&KeyRecord| {
            key.known_algorithm().is_some() && acceptance.trusted().any(|trusted| trusted == *key)
        };
        let counted = blocks.iter().filter(is_counted).copied().collect();
        Self { acceptance, counted, blocks, signed }
    }

    /// Counts a signer that is not trusted, as a fault in the first check could. Returns false if
    /// the key is trusted or does not fit.
    pub fn count_untrusted_signer(&mut self, key: KeyRecord) -> bool {
        !self.acceptance.trusted().any(|trusted| *trusted == key) && self.counted.push(key)
    }

    pub fn first_accepts_signers(&self) -> bool {
        self.acceptance.check_policy(&self.counted, self.blocks.len()).is_ok()
    }

    pub fn second_accepts_signers(&self) -> bool {
        recheck::signers(&self.acceptance, &self.counted, self.blocks, self.signed) == 0
    }

    /// Runs the first check of board, SoC, floor, lifecycle, and of the type, which the verifier
    /// reads with the sizes.
    pub fn first_accepts_device(&self, manifest: &Manifest<'_>) -> bool {
        self.acceptance.bundle_type.is_none_or(|kind| kind == manifest.bundle_type)
            && self.acceptance.check_device(manifest).is_ok()
    }

    pub fn second_accepts_device(&self) -> bool {
        recheck::device(&self.acceptance, self.signed) == 0
    }

    pub fn first_accepts_placement(&self, manifest: &Manifest<'_>) -> bool {
        self.acceptance.check_placement(manifest).is_ok()
    }

    pub fn second_accepts_placement(&self, manifest: &Manifest<'_>) -> bool {
        let boards = manifest.identities().filter_map(|identity| self.acceptance.map(&identity));
        boards.fold(recheck::ranges(manifest), |seen, board| {
            seen | recheck::placement(board, manifest)
        }) == 0
    }

    pub fn second_accepts_parse(&self, manifest: &Manifest<'_>) -> bool {
        recheck::parsed(manifest, self.signed) == 0
    }
}
