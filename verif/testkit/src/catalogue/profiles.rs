//! Profiles, which a verifier can require in addition to all rules (image format §2.2).

use hartlock_image::HashId;
use hartlock_image::Reason::OutsideProfile;
use hartlock_image::{Policy, TrustList};

use super::row::{Row, bad, good};
use crate::bundle::Edit::{Draft as Fields, Options};
use crate::bundle::{Block, Draft, trust};
use crate::keys::A;
use crate::signers::{ML_DSA_65, ML_DSA_87};

const SYSTEM: fn() -> Draft = Draft::system;

/// Returns a bundle that uses only algorithms of the profile `cnsa2`.
fn cnsa2() -> Draft {
    let mut draft = Draft { blocks: vec![Block::BySigner(&ML_DSA_87)], ..Draft::system() };
    draft.payloads[0].hash = HashId::Sha512;
    draft.payloads[1].use_blocks(1024);
    draft
}

/// Returns a boot bundle that is signed with an algorithm of the profile `cnsa2` and trusts keys of
/// another profile.
fn boot_cnsa2() -> Draft {
    Draft { blocks: vec![Block::BySigner(&ML_DSA_87)], ..Draft::boot() }
}

fn trust_of_cnsa2() -> TrustList {
    trust(Policy::Any, Block::BySigner(&ML_DSA_87).record())
}

macro_rules! asked_for {
    ($profile:literal $(, $edit:expr)*) => {
        &[$($edit,)* Options(|options| options.profile = Some($profile.into()))]
    };
}

pub const ROWS: &[Row] = &[
    good(
        "profile_default",
        SYSTEM,
        "Ed25519 and SHA-384 are of the profile default.",
        asked_for!("default"),
    ),
    good(
        "profile_default_boot",
        Draft::boot,
        "The keys that a boot bundle trusts are of the profile default, too.",
        asked_for!("default"),
    ),
    good(
        "profile_cnsa2",
        cnsa2,
        "ML-DSA-87, SHA-384 and SHA-512 are of the profile cnsa2.",
        asked_for!("cnsa2"),
    ),
    good(
        "profile_cnsa2_boot",
        boot_cnsa2,
        "A boot bundle and the keys that it trusts are of the profile cnsa2.",
        asked_for!("cnsa2", Fields(|draft| draft.trust = trust_of_cnsa2())),
    ),
    good(
        "profile_all",
        SYSTEM,
        "ParallelHash with SHAKE256 is of the profile all.",
        asked_for!(
            "all",
            Fields(|draft| draft.payloads[0].use_parallelhash(HashId::Shake256, 1024))
        ),
    ),
    bad(
        "signer_outside_profile",
        OutsideProfile,
        SYSTEM,
        "Ed25519 is not of the profile that the verifier is asked for, cnsa2.",
        asked_for!("cnsa2"),
    ),
    bad(
        "signer_parameters_outside_profile",
        OutsideProfile,
        cnsa2,
        "ML-DSA-65 is not of the profile cnsa2, which has ML-DSA-87.",
        asked_for!("cnsa2", Fields(|draft| draft.blocks = vec![Block::BySigner(&ML_DSA_65)])),
    ),
    bad(
        "second_signer_outside_profile",
        OutsideProfile,
        cnsa2,
        "One of two signers is not of the profile.",
        asked_for!("cnsa2", Fields(|draft| draft.blocks.push(Block::By(A)))),
    ),
    bad(
        "trusted_key_outside_profile",
        OutsideProfile,
        boot_cnsa2,
        "A boot bundle trusts keys that are not of the profile.",
        asked_for!("cnsa2"),
    ),
    bad(
        "hash_outside_profile",
        OutsideProfile,
        cnsa2,
        "One payload has a hash that is not of the profile.",
        asked_for!("cnsa2", Fields(|draft| draft.payloads[1].hash = HashId::Sha3_256)),
    ),
    bad(
        "mode_outside_profile",
        OutsideProfile,
        SYSTEM,
        "One payload is hashed with ParallelHash, which is not of the profile default.",
        asked_for!(
            "default",
            Fields(|draft| draft.payloads[0].use_parallelhash(HashId::Shake256, 1024))
        ),
    ),
];
