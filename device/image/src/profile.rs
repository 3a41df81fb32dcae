//! Check that a bundle keeps to a profile (§2.2).

use hartlock_algorithm::Profile;

use crate::manifest::{Closing, Manifest};
use crate::payload::PayloadRecord;
use crate::types::KeyRecord;

impl Manifest<'_> {
    /// Returns true if the profile contains all algorithms, hashes and modes that the bundle uses: those of its
    /// signers, of the keys that a boot bundle trusts, and of its payloads.
    pub fn keeps_to(&self, profile: Profile) -> bool {
        let trusts_within = match &self.closing {
            Closing::Trust { list, .. } => list.keys.iter().all(|key| key.is_in(profile)),
            Closing::Bootargs(_) => true,
        };
        trusts_within
            && self.signers.iter().all(|key| key.is_in(profile))
            && self.payloads.iter().all(|payload| payload.is_in(profile))
    }
}

impl KeyRecord {
    /// Returns true if the profile contains the algorithm of the key.
    pub fn is_in(&self, profile: Profile) -> bool {
        self.known_algorithm().is_some_and(|algorithm| profile.has_algorithm(algorithm))
    }
}

impl PayloadRecord {
    /// Returns true if the profile contains the hash and the mode of the payload.
    pub fn is_in(&self, profile: Profile) -> bool {
        let (mode, _) = self.mode.fields();
        profile.has_hash(self.hash) && profile.has_mode(mode)
    }
}
