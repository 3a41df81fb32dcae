//! Images with one fault each, in the order of first stage §8.

use hartlock_image::Lifecycle;
use hartlock_image::Reason;
use hartlock_image::Reason::{
    BoardNameInvalid, CodeSizeOutOfRange, FirstStageAlgorithm as NotInForm, LifecycleMaskInvalid,
    LifecycleNotAllowed, NextKeyInvalid, NoTrustedSigner, ReservedNotZero, RollbackBelowFloor,
    SignatureBlockPadding, SignatureIndexOutOfRange, SignatureMismatch, SignerMismatch,
    SocNameInvalid, TrailingBytes, Truncated, UnknownTag, WrongBoard, WrongBundleType, WrongSoc,
};
use hartlock_image::first_stage::{FirstStageAlgorithm, NextKey};

use super::image::FirstStageEdit::{self, Draft as Fields, File, Options, Signed};
use super::image::{self, FirstStageDraft, FirstStageRow, digest};
use crate::bundle::{self, name};
use crate::signers::{
    HSS, LMS, LMS_192, SLH_DSA_128S, XMSS, XMSS_192, XMSS_MT, XMSS_MT_40, XMSS_MT_60,
};

const BASE: fn() -> FirstStageDraft = FirstStageDraft::smallest;

const fn good(
    name: &'static str,
    base: fn() -> FirstStageDraft,
    description: &'static str,
    edits: &'static [FirstStageEdit],
) -> FirstStageRow {
    FirstStageRow { name, reason: None, base, description, edits }
}

const fn bad(
    name: &'static str,
    reason: Reason,
    base: fn() -> FirstStageDraft,
    description: &'static str,
    edits: &'static [FirstStageEdit],
) -> FirstStageRow {
    FirstStageRow { name, reason: Some(reason), base, description, edits }
}

pub(super) fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

pub(super) fn put64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Sets the index of a signature, which is big-endian.
pub(super) fn put_index(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_be_bytes());
}

/// An image whose lead states these numbers of algorithm and parameters.
macro_rules! stated {
    ($name:literal, $algorithm:literal, $parameters:literal, $description:literal) => {
        bad(
            $name,
            NotInForm,
            BASE,
            $description,
            &[File(|file, _| {
                put32(file, 16, $algorithm);
                put32(file, 20, $parameters);
            })],
        )
    };
}

/// An image with a change to its header, which is signed.
macro_rules! header {
    ($name:literal, $reason:ident, $description:literal, $edit:expr) => {
        bad($name, $reason, BASE, $description, &[Signed($edit)])
    };
}

/// An image that names a key of this algorithm for the next stage, with the numbers at the limit of a row in the
/// table of §2.
macro_rules! next {
    ($name:literal, $algorithm:literal, $parameters:literal, $what:literal) => {
        good(
            $name,
            BASE,
            concat!("The key of the next stage is of ", $what, "."),
            &[Fields(|draft| {
                draft.header.next_key = FirstStageAlgorithm::from_numbers($algorithm, $parameters)
                    .map(|algorithm| NextKey { algorithm, digest: [0x5a; 32] });
            })],
        )
    };
}

/// Two images of a signer: a valid one, and one in which the last byte of the signature is changed.
macro_rules! signed {
    ($good:literal, $bad:literal, $signer:ident, $what:literal) => {
        [
            good($good, || FirstStageDraft::of(&$signer), concat!("Signed with ", $what, "."), &[]),
            bad(
                $bad,
                SignatureMismatch,
                || FirstStageDraft::of(&$signer),
                concat!("The last bit of a signature with ", $what, " is another one."),
                &[File(|file, at| file[at.signature_end - 1] ^= 1)],
            ),
        ]
    };
}

const SIGNED: [[FirstStageRow; 2]; 8] = [
    signed!("signed_lms", "signed_lms_changed", LMS, "LMS, SHA-256, h = 5, w = 4"),
    signed!(
        "signed_hss",
        "signed_hss_changed",
        HSS,
        "HSS of eight levels, SHA-256/192, h = 5, w = 8"
    ),
    signed!("signed_xmss", "signed_xmss_changed", XMSS, "XMSS-SHA2_10_256"),
    signed!("signed_xmss_192", "signed_xmss_192_changed", XMSS_192, "XMSS-SHA2_10_192"),
    signed!("signed_xmssmt", "signed_xmssmt_changed", XMSS_MT, "XMSSMT-SHA2_20/2_256"),
    signed!(
        "signed_xmssmt_40",
        "signed_xmssmt_40_changed",
        XMSS_MT_40,
        "XMSSMT-SHA2_40/8_192, whose index has five bytes in the standard"
    ),
    signed!(
        "signed_xmssmt_60",
        "signed_xmssmt_60_changed",
        XMSS_MT_60,
        "XMSSMT-SHA2_60/12_192, whose index has eight"
    ),
    signed!("signed_slh_dsa", "signed_slh_dsa_changed", SLH_DSA_128S, "SLH-DSA-SHA2-128s"),
];

const OTHERS: &[FirstStageRow] = &[
    good("minimal", BASE, "Signed with LMS, SHA-256/192, h = 5, w = 8.", &[]),
    good(
        "on_device",
        BASE,
        "All that hardware checks is checked, and version and capacity are just enough.",
        &[Options(image::FirstStageOptions::of_device)],
    ),
    good(
        "medium_goes_on",
        BASE,
        "What follows the image on a medium is not part of it.",
        &[File(|file, _| file.extend([0xa5; 100])), Options(|options| options.medium = true)],
    ),
    good(
        "code_of_one_block",
        BASE,
        "The shortest code, of zeros.",
        &[Fields(|draft| draft.code = vec![0; 64])],
    ),
    good(
        "one_of_two_keys",
        BASE,
        "A tool trusts two keys, and the second one signed.",
        &[Options(|options| options.trust(&[&XMSS, &LMS_192]))],
    ),
    good(
        "fields_at_their_ends",
        BASE,
        "Longest names, highest version, one state, and a device that demands just that.",
        &[
            Fields(|draft| {
                draft.header.board = *name("0123456789abcdef0123456789ABCDE~").field();
                draft.header.soc = *name("!").field();
                draft.header.security_version = u64::MAX;
                draft.header.lifecycle_mask = Lifecycle::Returned.bit();
            }),
            Options(|options| {
                options.board = Some("0123456789abcdef0123456789ABCDE~".into());
                options.soc = Some("!".into());
                options.floor = Some(u64::MAX);
                options.lifecycle = Some("returned".into());
            }),
        ],
    ),
    good(
        "next_key",
        BASE,
        "It names the key of the next stage, of another algorithm than its own.",
        &[Fields(|draft| {
            draft.header.next_key = Some(NextKey {
                algorithm: FirstStageDraft::of(&XMSS).algorithm(),
                digest: digest(&XMSS),
            });
        })],
    ),
    next!("next_key_lms_first", 16, 0x0001_0105, "LMS with the first types of 32 bytes"),
    next!("next_key_lms_last", 16, 0x0001_0409, "LMS with the last types of 32 bytes"),
    next!("next_key_lms_192_first", 16, 0x0001_050a, "LMS with the first types of 24 bytes"),
    next!("next_key_hss_last", 16, 0x0008_080e, "HSS with the last types of 24 bytes"),
    next!("next_key_xmss_3", 17, 3, "the last set of XMSS with 32 bytes"),
    next!("next_key_xmss_13", 17, 13, "the first set of XMSS with 24 bytes"),
    next!("next_key_xmss_14", 17, 14, "the second set of XMSS with 24 bytes"),
    next!("next_key_xmss_15", 17, 15, "the last set of XMSS with 24 bytes"),
    next!("next_key_xmss_2", 17, 2, "the second set of XMSS with 32 bytes"),
    next!("next_key_xmssmt_8", 18, 8, "the last set of XMSS^MT with 32 bytes"),
    next!("next_key_xmssmt_33", 18, 33, "the first set of XMSS^MT with 24 bytes"),
    next!("next_key_xmssmt_40", 18, 40, "the last set of XMSS^MT with 24 bytes"),
    next!("next_key_slh_dsa", 20, 1, "SLH-DSA-SHA2-128s"),
    good(
        "names_at_their_ends",
        BASE,
        "Names of the lowest and the highest character, which no device compares.",
        &[Fields(|draft| {
            draft.header.board = *name("!~").field();
            draft.header.soc = *name("~!0123456789abcdef0123456789ABCD").field();
        })],
    ),
    bad(
        "truncated_to_nothing",
        Truncated,
        BASE,
        "The file has no bytes at all.",
        &[File(|file, _| file.clear())],
    ),
    bad(
        "truncated_in_key",
        Truncated,
        BASE,
        "The file ends one byte before the end of the key.",
        &[File(|file, _| file.truncate(127))],
    ),
    bad(
        "truncated_after_key",
        Truncated,
        BASE,
        "The file ends with the key.",
        &[File(|file, _| file.truncate(128))],
    ),
    bad(
        "truncated_in_signature",
        Truncated,
        BASE,
        "The file ends one byte before the end of the signature.",
        &[File(|file, at| file.truncate(at.signature_end - 1))],
    ),
    bad(
        "truncated_in_header",
        Truncated,
        BASE,
        "The file ends one byte before the end of the header.",
        &[File(|file, at| file.truncate(at.code - 1))],
    ),
    bad(
        "truncated_after_header",
        Truncated,
        BASE,
        "The file ends with the header.",
        &[File(|file, at| file.truncate(at.code))],
    ),
    bad(
        "truncated_by_one_byte",
        Truncated,
        BASE,
        "The last byte of the code is missing.",
        &[File(|file, _| file.truncate(file.len() - 1))],
    ),
    bad(
        "truncated_medium",
        Truncated,
        BASE,
        "The medium ends one byte before the end of the code.",
        &[File(|file, _| file.truncate(file.len() - 1)), Options(|options| options.medium = true)],
    ),
    bad(
        "code_size_beyond_file",
        Truncated,
        BASE,
        "The code is one block longer by its size than it is.",
        &[File(|file, at| put64(file, at.signed + 24, 192))],
    ),
    bad(
        "tag_of_later_version",
        UnknownTag,
        BASE,
        "The tag ends with v2.",
        &[File(|file, _| {
            file[15] = b'2';
        })],
    ),
    bad(
        "tag_of_signed_part",
        UnknownTag,
        BASE,
        "The file begins with the tag of the signed part.",
        &[File(|file, _| file[..16].copy_from_slice(b"HARTLOCK-CODE-v1"))],
    ),
    bad(
        "boot_bundle",
        UnknownTag,
        BASE,
        "A boot bundle is located where the first stage is expected.",
        &[File(|file, _| *file = bundle::build(bundle::Draft::boot(), &[]).0)],
    ),
    bad(
        "signed_part_alone",
        UnknownTag,
        BASE,
        "Lead, key and signature are missing.",
        &[File(|file, at| drop(file.drain(..at.signed)))],
    ),
    stated!("algorithm_zero", 0, 0, "Algorithm 0 is not assigned."),
    stated!("algorithm_ed25519", 1, 0, "Ed25519 is no algorithm of the form."),
    stated!("algorithm_ml_dsa", 19, 65, "ML-DSA is no algorithm of the form."),
    stated!("lms_type_unknown", 16, 0x0001_0104, "LMS type 4 is of another hash."),
    stated!("lms_type_above", 16, 0x0001_050f, "There is no LMS type 15 in the table."),
    stated!("lm_ots_type_unknown", 16, 0x0001_0005, "There is no LM-OTS type 0."),
    stated!("lm_ots_type_above", 16, 0x0001_090a, "There is no LM-OTS type 9 in the table."),
    stated!("lms_types_of_two_lengths", 16, 0x0001_0805, "LMS of 32 bytes, LM-OTS of 24."),
    stated!("hss_of_no_level", 16, 0x0000_080a, "HSS with no level at all."),
    stated!("hss_of_nine_levels", 16, 0x0009_080a, "HSS with nine levels."),
    stated!("hss_high_byte", 16, 0x0101_080a, "The highest byte of the parameters is not zero."),
    stated!("xmss_sha512", 17, 4, "XMSS with SHA-512 is not approved."),
    stated!("xmss_number_12", 17, 12, "Number 12 is the last one before SHA-256/192."),
    stated!("xmss_shake", 17, 16, "XMSS with SHAKE256 is not of the form."),
    stated!("xmss_of_no_number", 17, 0, "Number 0 is no set of XMSS."),
    stated!("xmssmt_sha512", 18, 9, "XMSS^MT with SHA-512 is not approved."),
    stated!("xmssmt_number_32", 18, 32, "Number 32 is the last one before SHA-256/192."),
    stated!("xmssmt_shake", 18, 41, "XMSS^MT with SHAKE256 is not of the form."),
    stated!("slh_dsa_shake", 20, 2, "SLH-DSA-SHAKE-128s is not of the form."),
    stated!("slh_dsa_fast", 20, 3, "SLH-DSA-SHA2-128f is not of the form."),
    stated!("slh_dsa_of_no_number", 20, 0, "Number 0 is no set of SLH-DSA."),
    bad(
        "lead_first_reserved_byte",
        SignatureBlockPadding,
        BASE,
        "Byte 24 of the lead is not zero.",
        &[File(|file, _| file[24] = 1)],
    ),
    bad(
        "lead_last_reserved_byte",
        SignatureBlockPadding,
        BASE,
        "Byte 63 of the lead is not zero.",
        &[File(|file, _| file[63] = 0x80)],
    ),
    bad(
        "key_first_padding_byte",
        SignatureBlockPadding,
        BASE,
        "The byte after a key of 40 bytes is not zero.",
        &[File(|file, _| file[64 + 40] = 1)],
    ),
    bad(
        "key_last_padding_byte",
        SignatureBlockPadding,
        BASE,
        "The last byte after the key is not zero.",
        &[File(|file, _| file[127] = 1)],
    ),
    bad(
        "key_of_other_signer",
        NoTrustedSigner,
        BASE,
        "Another key signed than the trusted one.",
        &[Options(|options| options.trust(&[&LMS]))],
    ),
    bad(
        "no_key",
        NoTrustedSigner,
        BASE,
        "A tool trusts no key.",
        &[Options(|options| {
            options.trust(&[]);
        })],
    ),
    bad(
        "key_changed",
        NoTrustedSigner,
        BASE,
        "One bit of the key is another one.",
        &[File(|file, _| file[64] ^= 1)],
    ),
    bad(
        "parameters_changed",
        NoTrustedSigner,
        BASE,
        "The lead states another set; the digest covers it.",
        &[File(|file, _| put32(file, 20, 0x0001_080b))],
    ),
    bad(
        "algorithm_changed",
        NoTrustedSigner,
        || FirstStageDraft::of(&XMSS),
        "The lead states XMSS^MT with a key of XMSS, which has no padding either.",
        &[File(|file, _| {
            put32(file, 16, 18);
            put32(file, 20, 1);
        })],
    ),
    bad(
        "signature_first_padding_byte",
        SignatureBlockPadding,
        BASE,
        "The byte after the signature is not zero.",
        &[File(|file, at| file[at.signature_end] = 1)],
    ),
    bad(
        "signature_last_padding_byte",
        SignatureBlockPadding,
        BASE,
        "The byte before the header is not zero.",
        &[File(|file, at| file[at.signed - 1] = 1)],
    ),
    header!("code_size_zero", CodeSizeOutOfRange, "There is no code by its size.", |signed| {
        put64(signed, 24, 0);
    }),
    header!(
        "code_size_not_multiple",
        CodeSizeOutOfRange,
        "The code has 120 bytes by its size.",
        |signed| {
            put64(signed, 24, 120);
        }
    ),
    header!(
        "code_size_of_half_a_block",
        CodeSizeOutOfRange,
        "The code has 96 bytes by its size.",
        |signed| {
            put64(signed, 24, 96);
        }
    ),
    header!("code_size_above_maximum", CodeSizeOutOfRange, "One block above 16 MiB.", |signed| {
        put64(signed, 24, (16 << 20) + 64);
    }),
    bad(
        "code_size_of_maximum",
        Truncated,
        BASE,
        "16 MiB are possible, and are not in the file.",
        &[Signed(|signed| put64(signed, 24, 16 << 20))],
    ),
    header!(
        "code_size_of_33_bits",
        CodeSizeOutOfRange,
        "The lower half of the size alone would be right.",
        |signed| put64(signed, 24, (1 << 32) + 128)
    ),
    header!("code_size_wraps", CodeSizeOutOfRange, "2^64 − 64 bytes of code.", |signed| {
        put64(signed, 24, u64::MAX - 63);
    }),
    bad(
        "capacity_too_small",
        CodeSizeOutOfRange,
        BASE,
        "The hardware has room for one block less.",
        &[Options(|options| options.capacity = Some(127))],
    ),
    bad(
        "index_of_no_leaf",
        SignatureIndexOutOfRange,
        BASE,
        "The index of LMS with h = 5 is 32.",
        &[File(|file, _| put_index(file, 128, 32))],
    ),
    bad(
        "index_of_64_bits",
        SignatureIndexOutOfRange,
        BASE,
        "The lower half of the index alone would be right.",
        &[File(|file, _| file[128] = 0x80)],
    ),
    bad(
        "index_of_33_bits",
        SignatureIndexOutOfRange,
        BASE,
        "Four bytes of the index alone would be right.",
        &[File(|file, _| file[131] = 1)],
    ),
    bad(
        "hss_index_of_lowest_level",
        SignatureIndexOutOfRange,
        || FirstStageDraft::of(&HSS),
        "The index of the last of eight levels is 32.",
        &[File(|file, _| {
            let level = 8 + 24 * (1 + 26 + 5) + 16 + 24;
            put_index(file, 128 + 7 * level, 32);
        })],
    ),
    bad(
        "xmss_index_of_no_leaf",
        SignatureIndexOutOfRange,
        || FirstStageDraft::of(&XMSS),
        "The index of XMSS with h = 10 is 1,024.",
        &[File(|file, _| put_index(file, 128, 1 << 10))],
    ),
    bad(
        "xmssmt_index_of_no_leaf",
        SignatureIndexOutOfRange,
        || FirstStageDraft::of(&XMSS_MT),
        "The index of XMSS^MT with h = 20 is 2^20.",
        &[File(|file, _| put_index(file, 128, 1 << 20))],
    ),
    bad(
        "xmssmt_60_index_of_no_leaf",
        SignatureIndexOutOfRange,
        || FirstStageDraft::of(&XMSS_MT_60),
        "The index of XMSS^MT with h = 60 is 2^60.",
        &[File(|file, _| put_index(file, 128, 1 << 60))],
    ),
    bad(
        "index_changed",
        SignatureMismatch,
        BASE,
        "The index is that of another leaf.",
        &[File(|file, _| file[135] ^= 1)],
    ),
    bad(
        "randomizer_changed",
        SignatureMismatch,
        BASE,
        "One bit of C is another one.",
        &[File(|file, _| file[136] ^= 1)],
    ),
    bad(
        "signature_of_other_image",
        SignatureMismatch,
        BASE,
        "A signature by the same key over an image of a higher version.",
        &[File(|file, at| {
            let mut other = FirstStageDraft::smallest();
            other.header.security_version = 8;
            let (other, _) = image::build(other, &[]);
            file[128..at.signature_end].copy_from_slice(&other[128..at.signature_end]);
        })],
    ),
    bad(
        "version_raised",
        SignatureMismatch,
        BASE,
        "The version is raised after signing.",
        &[File(|file, at| put64(file, at.signed + 32, 8))],
    ),
    bad(
        "code_changed",
        SignatureMismatch,
        BASE,
        "One bit of the code is another one.",
        &[File(|file, at| file[at.code] ^= 1)],
    ),
    bad(
        "code_last_byte_changed",
        SignatureMismatch,
        BASE,
        "So is one of its last byte.",
        &[File(|file, _| *file.last_mut().expect("it has code") ^= 0x80)],
    ),
    bad(
        "code_shortened",
        SignatureMismatch,
        BASE,
        "The last block of the code is cut off, and the size is lowered.",
        &[File(|file, at| {
            put64(file, at.signed + 24, 64);
            file.truncate(file.len() - 64);
        })],
    ),
    bad(
        "code_extended",
        SignatureMismatch,
        BASE,
        "A block of zeros is appended, and the size is raised.",
        &[File(|file, at| {
            put64(file, at.signed + 24, 192);
            file.extend([0; 64]);
        })],
    ),
    bad(
        "tag_of_signed_part_changed",
        SignatureMismatch,
        BASE,
        "The tag of the signed part is changed after signing: the signature is judged first.",
        &[File(|file, at| file[at.signed] ^= 1)],
    ),
    header!(
        "signed_as_boot_bundle",
        WrongBundleType,
        "The signature is genuine, and over bytes with the tag of a boot bundle.",
        |signed| signed[..16].copy_from_slice(b"HARTLOCK-BOOT-v1")
    ),
    header!(
        "signed_as_lead",
        WrongBundleType,
        "The signed part begins with the tag of the file.",
        |signed| signed[..16].copy_from_slice(b"HARTLOCK-FRST-v1")
    ),
    header!("signed_tag_of_later_version", WrongBundleType, "The signed tag is v2.", |signed| {
        signed[15] = b'2';
    }),
    header!("signed_algorithm_differs", SignerMismatch, "The header states XMSS.", |signed| {
        put32(signed, 16, 17);
    }),
    header!("signed_parameters_differ", SignerMismatch, "The header states h = 10.", |signed| {
        put32(signed, 20, 0x0001_080b);
    }),
    header!("reserved_at_44", ReservedNotZero, "Byte 44 of the header is not zero.", |signed| {
        signed[44] = 1;
    }),
    header!("reserved_at_63", ReservedNotZero, "Byte 63 of the header is not zero.", |signed| {
        signed[63] = 1;
    }),
    header!("reserved_at_136", ReservedNotZero, "Byte 136 of the header is not zero.", |signed| {
        signed[136] = 1;
    }),
    header!("reserved_at_159", ReservedNotZero, "Byte 159 of the header is not zero.", |signed| {
        signed[159] = 1;
    }),
    header!("reserved_at_192", ReservedNotZero, "Byte 192 of the header is not zero.", |signed| {
        signed[192] = 1;
    }),
    header!("reserved_at_255", ReservedNotZero, "Byte 255 of the header is not zero.", |signed| {
        signed[255] = 0x80;
    }),
    header!(
        "lifecycle_mask_zero",
        LifecycleMaskInvalid,
        "The mask has no state at all.",
        |signed| {
            put32(signed, 40, 0);
        }
    ),
    header!(
        "lifecycle_mask_bit_3",
        LifecycleMaskInvalid,
        "Bit 3 of the mask is no state.",
        |signed| {
            put32(signed, 40, 0xa);
        }
    ),
    header!(
        "lifecycle_mask_bit_31",
        LifecycleMaskInvalid,
        "Bit 31 of the mask is no state.",
        |signed| {
            put32(signed, 40, 0x8000_0002);
        }
    ),
    header!(
        "next_key_without_algorithm",
        NextKeyInvalid,
        "There is a digest, and no algorithm.",
        |signed| signed[191] = 1
    ),
    header!(
        "next_parameters_without_algorithm",
        NextKeyInvalid,
        "There are parameters, and no algorithm.",
        |signed| put32(signed, 132, 1)
    ),
    header!("next_key_ed25519", NextKeyInvalid, "The next key is of Ed25519.", |signed| {
        put32(signed, 128, 1);
        signed[160] = 1;
    }),
    header!(
        "next_key_xmss_shake",
        NextKeyInvalid,
        "The next key is of a set that is not of the form.",
        |signed| {
            put32(signed, 128, 17);
            put32(signed, 132, 16);
            signed[160] = 1;
        }
    ),
    bad(
        "board_of_other_device",
        WrongBoard,
        BASE,
        "The name is longer by one character.",
        &[Options(|options| options.board = Some("hartlock-so".into()))],
    ),
    bad(
        "board_is_no_name_on_device",
        WrongBoard,
        BASE,
        "The name has a space, and a device compares bytes.",
        &[
            Signed(|signed| signed[64] = b' '),
            Options(|options| options.board = Some("hartlock-soc".into())),
        ],
    ),
    header!("board_is_no_name", BoardNameInvalid, "The name has a space.", |signed| {
        signed[64] = b' ';
    }),
    header!("board_is_empty", BoardNameInvalid, "The name has no character.", |signed| {
        signed[64..96].fill(0);
    }),
    header!("board_goes_on", BoardNameInvalid, "A byte follows the zeros.", |signed| {
        signed[95] = b'x';
    }),
    bad(
        "soc_of_other_device",
        WrongSoc,
        BASE,
        "The image is for another SoC.",
        &[Options(|options| options.soc = Some("rotten".into()))],
    ),
    bad(
        "soc_is_no_name_on_device",
        WrongSoc,
        BASE,
        "A byte follows the zeros, and a device compares all of them.",
        &[Signed(|signed| signed[127] = 1), Options(|options| options.soc = Some("rot".into()))],
    ),
    header!("soc_is_no_name", SocNameInvalid, "The name has a byte above 0x7e.", |signed| {
        signed[96] = 0x7f;
    }),
    bad(
        "rollback_below_floor",
        RollbackBelowFloor,
        BASE,
        "The floor is above by one.",
        &[Options(|options| options.floor = Some(8))],
    ),
    bad(
        "floor_of_33_bits",
        RollbackBelowFloor,
        BASE,
        "The lower half of the floor alone would be low enough.",
        &[Options(|options| options.floor = Some(1 << 32))],
    ),
    bad(
        "state_not_allowed",
        LifecycleNotAllowed,
        BASE,
        "The device was returned.",
        &[Options(|options| options.lifecycle = Some("returned".into()))],
    ),
    bad(
        "file_goes_on",
        TrailingBytes,
        BASE,
        "A byte follows the image in a file.",
        &[File(|file, _| file.push(0))],
    ),
];

/// Returns all rows.
pub fn rows() -> impl Iterator<Item = &'static FirstStageRow> {
    OTHERS.iter().chain(SIGNED.as_flattened())
}
