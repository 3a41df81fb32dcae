//! Profiles (image format §2.2): which of them a bundle keeps to, and what is outside of one.

use hartlock_image::{Closing, Manifest, Profile, Reason};

use crate::describe::Key;
use crate::{Error, Refusal};

/// Names of the profiles that a bundle keeps to, in the order of the table.
pub(crate) fn kept_by(manifest: &Manifest<'_>) -> Vec<&'static str> {
    let kept = Profile::ALL.into_iter().filter(|profile| manifest.keeps_to(*profile));
    kept.map(Profile::name).collect()
}

/// What is outside of a profile, a line each.
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

/// Refuses what does not keep to the profile, if one is asked for.
///
/// # Errors
/// `OutsideProfile`, with what is outside.
pub(crate) fn check(manifest: &Manifest<'_>, profile: Option<Profile>) -> Result<(), Error> {
    match profile.filter(|profile| !manifest.keeps_to(*profile)) {
        None => Ok(()),
        Some(profile) => {
            let context = outside(manifest, profile);
            Err(Error::Refused(Refusal::of(Reason::OutsideProfile, context)))
        }
    }
}
