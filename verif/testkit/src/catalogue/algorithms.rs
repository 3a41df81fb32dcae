//! Every signature algorithm of the format, separately and in combinations.
//!
//! `spec/verify.py` implements these algorithms from the standards, and `host/keys` makes the
//! signatures, so that three implementations check each row. Wrong signatures are in the module
//! `altered`.

use hartlock_image::Policy;
use hartlock_image::Reason::{
    PolicyHybridNotMet, SignatureBlockExtra, SignatureMismatch, SignerMismatch,
};

use super::row::{Row, bad, good};
use crate::bundle::Edit::{Area, Draft as Fields, Options};
use crate::bundle::{Block, Draft};
use crate::keys::A;
use crate::signers;
use crate::signers::Signer;

const SYSTEM: fn() -> Draft = Draft::system;

/// An accepted bundle that one key has signed.
macro_rules! signed {
    ($name:literal, $signer:ident, $description:literal) => {
        good(
            $name,
            SYSTEM,
            $description,
            &[Fields(|draft| draft.blocks = vec![Block::BySigner(&signers::$signer)])],
        )
    };
}

/// Returns a bundle with signatures of both families, for the policy *hybrid*.
fn hybrid() -> Draft {
    Draft { blocks: vec![Block::By(A), Block::BySigner(&signers::ML_DSA_87)], ..Draft::system() }
}

fn is_hybrid(options: &mut crate::expected::Options) {
    options.policy = Policy::Hybrid.name().into();
}

/// The offset of the second block of a hybrid bundle: 16 + 32 + 64.
const SECOND: usize = 112;

/// Returns the length of a signature block in bytes.
fn block_size(signer: &Signer) -> usize {
    let sizes = [signer.public_key().len(), signer.blank().len()];
    16 + sizes.map(|size| size.next_multiple_of(8)).iter().sum::<usize>()
}

pub const ROWS: &[Row] = &[
    signed!(
        "signed_rsa_pss_2048",
        RSA_PSS_2048,
        "Signed with RSA-PSS with 2,048 bits and SHA-256."
    ),
    signed!(
        "signed_rsa_pss_3072",
        RSA_PSS_3072,
        "Signed with RSA-PSS with 3,072 bits and SHA-384."
    ),
    signed!(
        "signed_rsa_pss_4096",
        RSA_PSS_4096,
        "Signed with RSA-PSS with 4,096 bits and SHA-512."
    ),
    signed!(
        "signed_rsa_pkcs1_2048",
        RSA_PKCS1_2048,
        "Signed with RSA PKCS#1 v1.5 with 2,048 bits and SHA-256."
    ),
    signed!(
        "signed_rsa_pkcs1_3072",
        RSA_PKCS1_3072,
        "Signed with RSA PKCS#1 v1.5 with 3,072 bits and SHA-512."
    ),
    signed!("signed_ecdsa_p256", ECDSA_P256, "Signed with ECDSA on P-256."),
    signed!("signed_ecdsa_p384", ECDSA_P384, "Signed with ECDSA on P-384."),
    signed!("signed_lms", LMS, "Signed with LMS with a tree of height 5."),
    signed!("signed_lms_192", LMS_192, "Signed with LMS with hash values of 24 bytes."),
    signed!("signed_hss", HSS, "Signed with HSS with eight levels, as many as there may be."),
    signed!("signed_xmss", XMSS, "Signed with XMSS with SHA-256."),
    signed!(
        "signed_xmss_shake",
        XMSS_SHAKE,
        "Signed with XMSS with SHAKE256 and hash values of 24 bytes."
    ),
    signed!(
        "signed_xmss_mt",
        XMSS_MT,
        "Signed with XMSS^MT with two layers, from the middle of its trees."
    ),
    signed!("signed_ml_dsa_44", ML_DSA_44, "Signed with ML-DSA-44."),
    signed!("signed_ml_dsa_65", ML_DSA_65, "Signed with ML-DSA-65."),
    signed!("signed_ml_dsa_87", ML_DSA_87, "Signed with ML-DSA-87."),
    signed!("signed_slh_dsa_128s", SLH_DSA_128S, "Signed with SLH-DSA-SHA2-128s."),
    signed!("signed_slh_dsa_192s", SLH_DSA_192S, "Signed with SLH-DSA-SHA2-192s."),
    signed!("signed_slh_dsa_shake_128f", SLH_DSA_SHAKE_128F, "Signed with SLH-DSA-SHAKE-128f."),
    good(
        "hybrid_of_two_families",
        hybrid,
        "Ed25519 and ML-DSA-87 under the policy that wants both families.",
        &[Options(is_hybrid)],
    ),
    good(
        "four_families",
        SYSTEM,
        "Four signers of four families, as many as there may be.",
        &[Fields(|draft| {
            let others = [&signers::ECDSA_P384, &signers::LMS, &signers::ML_DSA_65];
            draft.blocks = [Block::By(A)].into_iter().chain(others.map(Block::BySigner)).collect();
        })],
    ),
    bad(
        "hybrid_stripped",
        PolicyHybridNotMet,
        hybrid,
        "The signature of ML-DSA was taken away, the signer is still in the manifest.",
        &[
            Fields(|draft| {
                draft.listed = Some(draft.blocks.iter().filter_map(Block::record).collect());
                draft.blocks.truncate(1);
            }),
            Options(is_hybrid),
        ],
    ),
    bad(
        "hybrid_of_one",
        PolicyHybridNotMet,
        SYSTEM,
        "ML-DSA alone under the policy that wants both families.",
        &[
            Fields(|draft| draft.blocks = vec![Block::BySigner(&signers::ML_DSA_87)]),
            Options(is_hybrid),
        ],
    ),
    bad(
        "hybrid_reordered",
        SignerMismatch,
        hybrid,
        "Both blocks are there and right, in the order of the other.",
        &[Area(|area| area.rotate_left(SECOND)), Options(is_hybrid)],
    ),
    bad(
        "hybrid_doubled",
        SignatureBlockExtra,
        hybrid,
        "The block of ML-DSA follows a second time.",
        &[
            Fields(|draft| {
                draft.listed = Some(draft.blocks.iter().filter_map(Block::record).collect());
                draft.blocks.push(Block::BySigner(&signers::ML_DSA_87));
            }),
            Options(is_hybrid),
        ],
    ),
    bad(
        "hybrid_of_same_family",
        PolicyHybridNotMet,
        SYSTEM,
        "Two post-quantum signers are of one family.",
        &[
            Fields(|draft| {
                draft.blocks = [&signers::ML_DSA_44, &signers::LMS].map(Block::BySigner).into();
            }),
            Options(is_hybrid),
        ],
    ),
    bad(
        "hybrid_classical_damaged",
        SignatureMismatch,
        hybrid,
        "ML-DSA is right, a bit of the Ed25519 signature was flipped.",
        &[Area(|area| area[48] ^= 1), Options(is_hybrid)],
    ),
    bad(
        "post_quantum_blocks_exchanged",
        SignerMismatch,
        SYSTEM,
        "The blocks of ECDSA and LMS are exchanged.",
        &[
            Fields(|draft| {
                draft.blocks = [&signers::ECDSA_P256, &signers::LMS].map(Block::BySigner).into();
            }),
            Area(|area| area.rotate_left(block_size(&signers::ECDSA_P256))),
        ],
    ),
];
