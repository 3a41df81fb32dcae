//! Options of a bundle's verifier.

use std::num::NonZeroU64;

use hartlock_image::{BundleType, KeyRecord, Lifecycle, List, Name, Policy, TrustList};
use hartlock_verify::{Acceptance, Placement};

use crate::choices::Choices;
use crate::draft::Draft;
use crate::keys::KEYS;

/// The options of `spec/vectors/image/expected.json`, and revoked keys.
pub struct Options {
    pub keys: Vec<KeyRecord>,
    pub policy: Policy,
    pub bundle_type: Option<BundleType>,
    pub board: Option<Name>,
    pub soc: Option<Name>,
    pub floor: Option<u64>,
    pub boot_version: Option<u64>,
    pub lifecycle: Option<Lifecycle>,
    pub is_medium: bool,
    pub revoked_keys: u32,
    /// True if the options are, or may be, wrong for the draft on purpose.
    pub has_fault: bool,
}

impl Options {
    /// Makes options under which a correct draft is accepted, or unusual ones.
    pub fn new(choices: &mut Choices<'_>, draft: &Draft) -> Self {
        let signers = draft.signers.iter().filter_map(|signer| KEYS.get(*signer));
        let mut options = Self {
            keys: signers.map(|key| key.record).collect(),
            policy: Policy::Any,
            bundle_type: Some(draft.fields.bundle_type),
            board: Name::new("qemu-virt"),
            soc: Name::new("virt"),
            floor: Some(draft.fields.security_version),
            boot_version: draft.fields.boot_version.map(NonZeroU64::get),
            lifecycle: draft.lifecycle(),
            is_medium: choices.rarely(3),
            revoked_keys: 0,
            has_fault: false,
        };
        let is_foreign = options.keys.len() < draft.signers.len();
        match choices.below(8) {
            // These are the options of `hartlock verify`: the signer must be known, and nothing
            // else is checked.
            1 if !is_foreign => {
                options.policy = Policy::EverySigner;
                options.bundle_type = None;
                (options.board, options.soc) = (None, None);
                (options.floor, options.lifecycle) = (None, None);
            }
            2 => {
                options.policy = Policy::All;
                options.has_fault = choices.rarely(3) && options.trust_another(choices);
            }
            // One trusted key of several is enough under the policy *any*.
            3 if choices.rarely(2) => options.keys.truncate(1),
            3 => {
                options.trust_another(choices);
            }
            choice @ 4..8 if choices.rarely(3) => {
                options.has_fault = true;
                options.distort(choice, choices, draft);
            }
            _ => {}
        }
        options
    }

    /// Adds a trusted key that need not have signed. Returns false if it was trusted before.
    fn trust_another(&mut self, choices: &mut Choices<'_>) -> bool {
        let another = KEYS[choices.below(KEYS.len())].record;
        let is_new = !self.keys.contains(&another);
        if is_new {
            self.keys.insert(choices.below(self.keys.len() + 1), another);
        }
        is_new
    }

    fn distort(&mut self, choice: usize, choices: &mut Choices<'_>, draft: &Draft) {
        match choice {
            4 => {
                self.keys = KEYS.iter().map(|key| key.record).take(choices.below(6)).collect();
                self.policy =
                    choices.of(&[Policy::All, Policy::Any, Policy::Hybrid, Policy::EverySigner]);
            }
            5 | 6 => {
                // Several options can be wrong at once. The order of checks in image format §8
                // determines the reported reason.
                if choices.rarely(4) {
                    self.bundle_type =
                        choices.of(&[Some(BundleType::Boot), Some(BundleType::System)]);
                }
                if choices.rarely(2) {
                    self.lifecycle = Some(choices.of(&Lifecycle::ALL));
                }
                if choices.rarely(2) {
                    self.floor = Some(draft.fields.security_version.wrapping_add(choices.number()));
                }
                if choices.rarely(3) {
                    self.boot_version = Some(choices.number());
                }
                if choices.rarely(3) {
                    self.board = Name::new("some-other-board");
                }
                if choices.rarely(3) {
                    self.soc = Name::new("other");
                }
            }
            _ => {
                self.revoked_keys = u32::from(choices.byte());
                self.board = Name::new(choices.of(&["qemu-virt2", "some-other-board"]));
                if choices.rarely(2) {
                    self.board = None;
                }
                if choices.rarely(4) {
                    self.keys.push(draft.signer_records().iter().last().copied().expect("one"));
                }
            }
        }
    }

    pub fn trust(&self) -> TrustList {
        let mut keys = List::new();
        for key in &self.keys {
            let _ = keys.push(*key);
        }
        TrustList { policy: self.policy, keys }
    }

    pub fn acceptance(&self) -> Acceptance<'static> {
        Acceptance {
            trust: self.trust(),
            revoked_keys: self.revoked_keys,
            bundle_type: self.bundle_type,
            board: self.board,
            soc: self.soc,
            floor: self.floor,
            boot_version: self.boot_version,
            lifecycle: self.lifecycle,
            placement: Placement::ByManifest(hartlock_maps::ALL),
        }
    }
}
