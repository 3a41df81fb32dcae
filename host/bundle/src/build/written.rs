//! Verification of a bundle that was just written.

use std::fs::File;

use hartlock_boards::Boards;
use hartlock_image::{
    KeyRecord, List, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, MAX_TRUSTED_KEYS, Manifest,
    PayloadRecord, Policy, Reason, TrustList,
};
use hartlock_verify::{Acceptance, Loaded, Placement, Platform, authenticate};

use crate::describe::Description;
use crate::platform::FilePlatform;
use hartlock_keys::Signer;

/// A platform of the verifier that reads everything except payloads from the written file. The digest of a
/// payload is the one that was computed while it was written.
struct Written<'a> {
    file: FilePlatform<'a>,
    manifest: &'a Manifest<'a>,
}

impl Platform for Written<'_> {
    fn medium_len(&self) -> u64 {
        self.file.medium_len()
    }

    fn ends_with_bundle(&self) -> bool {
        self.file.ends_with_bundle()
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        self.file.read(offset, into)
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let written = self.manifest.payload(payload.payload_type).ok_or(Reason::InternalLimit)?;
        // The digest is valid only if the record has the same offset and size as the one that was written.
        if (written.offset, written.size) != (payload.offset, payload.size) {
            return Err(Reason::InternalLimit);
        }
        Ok(Loaded { digest: written.digest, padding: self.file.padding(payload)? })
    }
}

/// Verifies a bundle with the payload digests in `manifest` (image format §8).
pub(super) fn verify(
    file: File,
    manifest: &Manifest<'_>,
    keys: &[&dyn Signer],
    boards: &Boards,
) -> Result<Description, Reason> {
    let mut trusted = List::<KeyRecord, MAX_TRUSTED_KEYS>::new();
    for key in keys {
        if !trusted.push(key.public().record()) {
            return Err(Reason::TrustedKeyCountOutOfRange);
        }
    }
    let maps = boards.maps();
    let acceptance = Acceptance {
        trust: TrustList { policy: Policy::EverySigner, keys: trusted },
        revoked_keys: 0,
        bundle_type: None,
        board: None,
        soc: None,
        floor: None,
        boot_version: None,
        lifecycle: None,
        placement: Placement::ByManifest(&maps),
    };
    let len = file.metadata().map_err(|_| Reason::MediumError)?.len();
    let mut on_progress = |_| ();
    let file = FilePlatform::new(file, len, &mut on_progress);
    let mut platform = Written { file, manifest };
    let mut metadata = vec![0; MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE];
    let mut bundle = authenticate(&mut platform, &acceptance, &acceptance, &mut metadata)?;
    bundle.load_payloads(&mut platform)?;
    if !bundle.conclude()?.is_confirmed() {
        return Err(Reason::VerdictNotConfirmed);
    }
    Ok(Description::new(bundle.manifest(), boards))
}
