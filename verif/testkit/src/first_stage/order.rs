//! The order of the checks (first stage §8): images with two faults each, of which a verifier must report the first.

use hartlock_image::Reason::{
    self, BoardNameInvalid, CodeSizeOutOfRange, FirstStageAlgorithm as NotInForm,
    LifecycleMaskInvalid, LifecycleNotAllowed, NextKeyInvalid, NoTrustedSigner, ReservedNotZero,
    RollbackBelowFloor, SignatureBlockPadding, SignatureIndexOutOfRange, SignatureMismatch,
    SignerMismatch, SocNameInvalid, TrailingBytes, Truncated, UnknownTag, WrongBoard,
    WrongBundleType, WrongSoc,
};

use super::catalogue::{put_index, put32, put64};
use super::image::FirstStageEdit::{self, File, Options, Signed};
use super::image::{FirstStageDraft, FirstStageRow};
use crate::signers::LMS;

/// A fault, and its reason if it is the only one.
#[derive(Clone, Copy)]
struct FirstStageFault {
    name: &'static str,
    reason: Reason,
    edit: FirstStageEdit,
}

const fn fault(name: &'static str, reason: Reason, edit: FirstStageEdit) -> FirstStageFault {
    FirstStageFault { name, reason, edit }
}

// Single faults, in the order of §8.
const BELOW_128: FirstStageFault =
    fault("file_of_127_bytes", Truncated, File(|file, _| file.truncate(127)));
const TAG: FirstStageFault = fault("tag", UnknownTag, File(|file, _| file[0] = b'h'));
const ALGORITHM: FirstStageFault =
    fault("algorithm", NotInForm, File(|file, _| put32(file, 16, 19)));
const LEAD: FirstStageFault =
    fault("lead_reserved", SignatureBlockPadding, File(|file, _| file[63] = 1));
const KEY: FirstStageFault =
    fault("other_key", NoTrustedSigner, Options(|options| options.trust(&[&LMS])));
const OF_128: FirstStageFault =
    fault("file_of_128_bytes", Truncated, File(|file, _| file.truncate(128)));
const IN_HEADER: FirstStageFault =
    fault("file_in_header", Truncated, File(|file, at| file.truncate(at.code - 1)));
const NO_HEADER: FirstStageFault =
    fault("file_without_header", Truncated, File(|file, at| file.truncate(at.signed)));
const PADDING: FirstStageFault =
    fault("signature_padding", SignatureBlockPadding, File(|file, at| file[at.signature_end] = 1));
const SIZE: FirstStageFault =
    fault("code_size", CodeSizeOutOfRange, Signed(|signed| put64(signed, 24, 0)));
const CAPACITY: FirstStageFault =
    fault("capacity", CodeSizeOutOfRange, Options(|options| options.capacity = Some(64)));
const NO_CODE: FirstStageFault =
    fault("file_without_code", Truncated, File(|file, at| file.truncate(at.code)));
const INDEX: FirstStageFault =
    fault("index", SignatureIndexOutOfRange, File(|file, _| put_index(file, 128, 32)));
const SIGNATURE: FirstStageFault =
    fault("signature", SignatureMismatch, File(|file, at| file[at.signature_end - 1] ^= 1));
const SIGNED_TAG: FirstStageFault = fault(
    "signed_tag",
    WrongBundleType,
    Signed(|signed| signed[..16].copy_from_slice(b"HARTLOCK-SYST-v1")),
);
const PARAMETERS: FirstStageFault =
    fault("signed_parameters", SignerMismatch, Signed(|signed| put32(signed, 20, 1)));
const RESERVED: FirstStageFault =
    fault("reserved", ReservedNotZero, Signed(|signed| signed[255] = 1));
const MASK: FirstStageFault =
    fault("lifecycle_mask", LifecycleMaskInvalid, Signed(|signed| put32(signed, 40, 0)));
const NEXT: FirstStageFault =
    fault("next_key", NextKeyInvalid, Signed(|signed| put32(signed, 128, 1)));
const BOARD: FirstStageFault =
    fault("board", WrongBoard, Options(|options| options.board = Some("other".into())));
const BOARD_NAME: FirstStageFault =
    fault("board_name", BoardNameInvalid, Signed(|signed| signed[64] = b' '));
const SOC: FirstStageFault =
    fault("soc", WrongSoc, Options(|options| options.soc = Some("other".into())));
const SOC_NAME: FirstStageFault =
    fault("soc_name", SocNameInvalid, Signed(|signed| signed[96] = b' '));
const FLOOR: FirstStageFault =
    fault("floor", RollbackBelowFloor, Options(|options| options.floor = Some(8)));
const STATE: FirstStageFault = fault(
    "lifecycle",
    LifecycleNotAllowed,
    Options(|options| options.lifecycle = Some("returned".into())),
);
const LONGER: FirstStageFault = fault("file_longer", TrailingBytes, File(|file, _| file.push(0)));

/// Pairs of faults. Each pair is in the order of §8.
const PAIRS: &[(FirstStageFault, FirstStageFault)] = &[
    (BELOW_128, TAG),
    (BELOW_128, ALGORITHM),
    (TAG, ALGORITHM),
    (TAG, OF_128),
    (KEY, OF_128),
    (IN_HEADER, PADDING),
    (IN_HEADER, CAPACITY),
    (TAG, NO_HEADER),
    (ALGORITHM, LEAD),
    (ALGORITHM, KEY),
    (LEAD, KEY),
    (KEY, NO_HEADER),
    (KEY, PADDING),
    (KEY, INDEX),
    (NO_HEADER, SIZE),
    (PADDING, SIZE),
    (PADDING, CAPACITY),
    (PADDING, NO_CODE),
    (SIZE, NO_CODE),
    (SIZE, INDEX),
    (CAPACITY, SIGNATURE),
    (NO_CODE, INDEX),
    (NO_CODE, SIGNED_TAG),
    (INDEX, SIGNATURE),
    (INDEX, SIGNED_TAG),
    (SIGNATURE, SIGNED_TAG),
    (SIGNATURE, RESERVED),
    (SIGNATURE, BOARD),
    (SIGNATURE, LONGER),
    (SIGNED_TAG, PARAMETERS),
    (PARAMETERS, RESERVED),
    (RESERVED, MASK),
    (MASK, NEXT),
    (NEXT, BOARD),
    (NEXT, BOARD_NAME),
    (MASK, STATE),
    (BOARD, SOC),
    (BOARD, SOC_NAME),
    (BOARD_NAME, SOC),
    (BOARD_NAME, SOC_NAME),
    (SOC, FLOOR),
    (SOC_NAME, FLOOR),
    (FLOOR, STATE),
    (STATE, LONGER),
    (FLOOR, LONGER),
];

/// Returns the images. The expected reason is that of the first fault of each pair.
pub fn rows() -> impl Iterator<Item = FirstStageRow> {
    PAIRS.iter().map(|(first, second)| {
        let (one, other) = (first.name, second.name);
        FirstStageRow {
            name: format!("{one}_before_{other}").leak(),
            reason: Some(first.reason),
            base: FirstStageDraft::smallest,
            description: format!("Two faults, {one} and {other}: the first is named.").leak(),
            edits: vec![first.edit, second.edit].leak(),
        }
    })
}

/// Returns an image for each single fault, with its reason. If the second fault of a pair were no fault, the pair would
/// prove nothing about the order.
pub fn alone() -> impl Iterator<Item = FirstStageRow> {
    PAIRS.iter().flat_map(|(first, second)| [first, second]).map(|fault| FirstStageRow {
        name: fault.name,
        reason: Some(fault.reason),
        base: FirstStageDraft::smallest,
        description: fault.name,
        edits: vec![fault.edit].leak(),
    })
}
