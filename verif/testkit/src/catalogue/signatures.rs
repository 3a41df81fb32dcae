//! Groups 03 and 10: signatures and trusted keys.

use hartlock_image::Reason::{
    NoTrustedSigner, PolicyAllNotMet, PolicyHybridNotMet, PublicKeyInvalid, SignatureMismatch,
    SignatureNotCanonical, SignerWithoutKey, TrustedAlgorithmMissing,
};
use hartlock_image::{KeyRecord, Policy};

use super::row::{Row, bad};
use crate::bundle::Edit::{Area, Draft as Fields, File, Options};
use crate::bundle::{Block, Draft};
use crate::ed25519 as odd;
use crate::keys::{A, B, C};

const SYSTEM: fn() -> Draft = Draft::system;

fn two_signers() -> Draft {
    Draft { blocks: [A, B].map(Block::By).into(), ..Draft::system() }
}

/// The edits of a bundle with this signature.
macro_rules! signed_by {
    ($odd:ident) => {
        &[Fields(|draft| draft.blocks = vec![Block::Unusual(&odd::$odd)])]
    };
}

/// Offsets in the signature area: R and S of the first block, and the second block.
const R: usize = 48;
const S: usize = 80;
const SECOND: usize = 112;

fn swap(area: &mut [u8], one: usize, other: usize, len: usize) {
    for index in 0..len {
        area.swap(one + index, other + index);
    }
}

pub const ROWS: &[Row] = &[
    bad(
        "signed_tag_changed",
        SignatureMismatch,
        SYSTEM,
        "The tag of the other type was put in after signing.",
        &[File(|file| file[..16].copy_from_slice(b"HARTLOCK-BOOT-v1"))],
    ),
    bad(
        "signed_security_version_changed",
        SignatureMismatch,
        SYSTEM,
        "The security version was raised after signing, to pass the floor.",
        &[File(|file| file[32] = 8), Options(|options| options.floor = Some(8))],
    ),
    bad(
        "signature_r_flipped",
        SignatureMismatch,
        SYSTEM,
        "A bit of R was flipped.",
        &[Area(|area| area[R + 8] ^= 1)],
    ),
    bad(
        "signatures_exchanged",
        SignatureMismatch,
        two_signers,
        "The signatures of two blocks are exchanged, their keys are not.",
        &[Area(|area| swap(area, R, SECOND + R, 64))],
    ),
    bad(
        "second_trusted_signature_damaged",
        SignatureMismatch,
        two_signers,
        "The second of two trusted signatures is damaged; one would be enough for the policy.",
        &[
            Area(|area| area[SECOND + S] ^= 1),
            Options(|options| options.trust(Policy::Any, &[A, B])),
        ],
    ),
    bad(
        "ed25519_r_off_curve",
        SignatureMismatch,
        SYSTEM,
        "R is a canonical encoding of no point; it is compared and never decoded.",
        signed_by!(R_OFF_CURVE),
    ),
    bad(
        "ed25519_r_mixed",
        SignatureMismatch,
        SYSTEM,
        "R has a component of small order: only the equation times 8 holds.",
        signed_by!(R_MIXED),
    ),
    bad(
        "ed25519_key_mixed_shown",
        SignatureMismatch,
        SYSTEM,
        "The key has a component of small order that the challenge shows: only the equation times 8 holds.",
        signed_by!(KEY_MIXED_SHOWN),
    ),
    bad(
        "ed25519_key_identity",
        PublicKeyInvalid,
        SYSTEM,
        "The key is the identity, for which an attacker can sign.",
        signed_by!(KEY_IDENTITY),
    ),
    bad(
        "ed25519_key_order_4",
        PublicKeyInvalid,
        SYSTEM,
        "The key has order 4 (y = 0), and the equation holds.",
        signed_by!(KEY_ORDER_4),
    ),
    bad(
        "ed25519_key_order_8",
        PublicKeyInvalid,
        SYSTEM,
        "The key has order 8 (y = y8), and the equation holds.",
        signed_by!(KEY_ORDER_8),
    ),
    bad(
        "ed25519_key_order_8_negated",
        PublicKeyInvalid,
        SYSTEM,
        "The key has order 8 (y = p − y8), and the equation holds.",
        signed_by!(KEY_ORDER_8_NEGATED),
    ),
    bad(
        "ed25519_key_minus_zero",
        PublicKeyInvalid,
        SYSTEM,
        "The key is an encoding with x = 0 and the sign bit set.",
        signed_by!(KEY_MINUS_ZERO),
    ),
    bad(
        "ed25519_key_y_not_reduced",
        PublicKeyInvalid,
        SYSTEM,
        "The key is an encoding with y ≥ p of a point that is not of small order.",
        signed_by!(KEY_NOT_REDUCED),
    ),
    bad(
        "ed25519_key_off_curve",
        PublicKeyInvalid,
        SYSTEM,
        "The key is a canonical encoding of no point.",
        signed_by!(KEY_OFF_CURVE),
    ),
    bad(
        "ed25519_s_plus_l",
        SignatureNotCanonical,
        SYSTEM,
        "S + L in place of S: a second encoding of a right signature.",
        signed_by!(S_PLUS_L),
    ),
    bad(
        "ed25519_s_is_l",
        SignatureNotCanonical,
        SYSTEM,
        "S is the group order itself, the smallest that is too large.",
        &[Area(|area| area[S..].copy_from_slice(&odd::L))],
    ),
    bad(
        "ed25519_r_identity",
        SignatureNotCanonical,
        SYSTEM,
        "R is the identity, and the equation holds.",
        signed_by!(R_IDENTITY),
    ),
    bad(
        "ed25519_r_minus_zero",
        SignatureNotCanonical,
        SYSTEM,
        "R is an encoding with x = 0 and the sign bit set, and as a point fits the equation.",
        signed_by!(R_MINUS_ZERO),
    ),
    bad(
        "ed25519_r_y_not_reduced",
        SignatureNotCanonical,
        SYSTEM,
        "R is an encoding with y = p + 1, and as a point fits the equation.",
        signed_by!(R_Y_PLUS_P),
    ),
    bad(
        "ed25519_r_y_not_reduced_of_large_order",
        SignatureNotCanonical,
        SYSTEM,
        "R is an encoding with y ≥ p of a point that is not of small order.",
        signed_by!(R_NOT_REDUCED),
    ),
    bad(
        "ed25519_r_order_8",
        SignatureNotCanonical,
        SYSTEM,
        "R has order 8, so the equation times 8 holds.",
        signed_by!(R_ORDER_8),
    ),
    bad(
        "signer_not_trusted",
        NoTrustedSigner,
        SYSTEM,
        "Who signed is not trusted: the trusted keys are others.",
        &[Options(|options| options.trust(Policy::Any, &[B, C]))],
    ),
    bad(
        "nobody_is_trusted",
        NoTrustedSigner,
        SYSTEM,
        "There is no trusted key, as after the revocation of all; an empty list accepts none.",
        &[Options(|options| options.trust(Policy::All, &[]))],
    ),
    bad(
        "policy_all_one_missing",
        PolicyAllNotMet,
        two_signers,
        "One of three who all must sign has not signed.",
        &[Options(|options| options.trust(Policy::All, &[A, B, C]))],
    ),
    bad(
        "policy_hybrid_classical_only",
        PolicyHybridNotMet,
        two_signers,
        "Two trusted signers of the same family do not make a hybrid.",
        &[Options(|options| options.trust(Policy::Hybrid, &[A, B]))],
    ),
    bad(
        "trusted_algorithm_missing",
        TrustedAlgorithmMissing,
        SYSTEM,
        "Beside the signer's key, a key of an algorithm that is not carried is trusted.",
        &[Options(|options| {
            options.trust(Policy::Any, &[A]);
            options.add_record(KeyRecord { algorithm: 9, parameters: 0, key_id: [9; 48] });
        })],
    ),
    bad(
        "signer_without_key",
        SignerWithoutKey,
        two_signers,
        "A workstation has the first signer's key and not the second's.",
        &[Options(|options| options.trust(Policy::EverySigner, &[A]))],
    ),
    bad(
        "foreign_signer_without_key",
        SignerWithoutKey,
        SYSTEM,
        "The second signer cannot be checked, so not every signer is counted.",
        &[Fields(|draft| draft.blocks.push(Block::foreign()))],
    ),
];
