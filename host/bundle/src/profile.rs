//! Checks bundles against profiles (image format §2.2).

use hartlock_image::{Closing, Manifest, Profile, Reason};

use crate::describe::Key;
use crate::{Error, Refusal};

/// Returns the names of the profiles that a bundle conforms to, in the order of the table.
pub(crate) fn kept_by(manifest: &Manifest<'_>) -> Vec<&'static str> {
    let kept = Profile::ALL.into_iter().filter(|profile| manifest.keeps_to(*profile));
    kept.map(Profile::name).collect()
}

/// Lists the keys and payloads that do not conform to a profile, one line each.
pub(crate) fn outside(manifest: &Manifest<'_>, profile: Profile) -> Vec<String> {
    let name = profile.name();
    let mut lines = Vec::new();
    for signer in manifest.signers.iter().filter(|key| !key.is_in(profile)) {
        lines.push(format!("not in {name}: {} of a signer", Key::from(signer).algorithm));
    }
    if let Closing::Trust { list, .. } = &manifest.closing {
        for key in list.keys.iter().filter(|key| !key.is_in(profile)) {
            lines.push(format!("not in {name}: {} of a trusted key", Key::from(key).algorithm));
        }
    }
    for payload in manifest.payloads.iter().filter(|payload| !payload.is_in(profile)) {
        lines.push(format!(
            "not in {name}: {} in mode {} of payload {}",
            payload.hash.name(),
            payload.mode.name(),
            payload.payload_type.name()
        ));
    }
    lines
}

/// Refuses a manifest that does not conform to the profile, if one is given.
///
/// # Errors
/// Fails with `OutsideProfile` and the list of [`outside`].
pub(crate) fn check(manifest: &Manifest<'_>, profile: Option<Profile>) -> Result<(), Error> {
    match profile.filter(|profile| !manifest.keeps_to(*profile)) {
        None => Ok(()),
        Some(profile) => {
            let context = outside(manifest, profile);
            Err(Error::Refused(Refusal::of(Reason::OutsideProfile, context)))
        }
    }
}
