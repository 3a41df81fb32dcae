//! The order of the checks (first stage §8): images with two faults each, of which a verifier must report the first.

use hartlock_image::Reason::{
    self, BoardNameInvalid, CodeSizeOutOfRange, FirstStageAlgorithm as NotInForm,
    LifecycleMaskInvalid, LifecycleNotAllowed, NextKeyInvalid, NoTrustedSigner, ReservedNotZero,
    RollbackBelowFloor, SignatureBlockPadding, SignatureIndexOutOfRange, SignatureMismatch,
    SignerMismatch, SocNameInvalid, TrailingBytes, Truncated, UnknownTag, WrongBoard,
    WrongBundleType, WrongSoc,
};

use super::catalogue::{put_index, put32, put64};
use super::image::Edit::{self, File, Options, Signed};
use super::image::{Draft, Row};
use crate::signers::LMS;

/// A fault, and its reason if it is the only one.
#[derive(Clone, Copy)]
struct Fault {
    name: &'static str,
    reason: Reason,
    edit: Edit,
}

const fn fault(name: &'static str, reason: Reason, edit: Edit) -> Fault {
    Fault { name, reason, edit }
}

// Single faults, in the order of §8.
const BELOW_128: Fault = fault("file_of_127_bytes", Truncated, File(|file, _| file.truncate(127)));
const TAG: Fault = fault("tag", UnknownTag, File(|file, _| file[0] = b'h'));
const ALGORITHM: Fault = fault("algorithm", NotInForm, File(|file, _| put32(file, 16, 19)));
const LEAD: Fault = fault("lead_reserved", SignatureBlockPadding, File(|file, _| file[63] = 1));
const KEY: Fault = fault("other_key", NoTrustedSigner, Options(|options| options.trust(&[&LMS])));
const OF_128: Fault = fault("file_of_128_bytes", Truncated, File(|file, _| file.truncate(128)));
const IN_HEADER: Fault =
    fault("file_in_header", Truncated, File(|file, at| file.truncate(at.code - 1)));
const NO_HEADER: Fault =
    fault("file_without_header", Truncated, File(|file, at| file.truncate(at.signed)));
const PADDING: Fault =
    fault("signature_padding", SignatureBlockPadding, File(|file, at| file[at.signature_end] = 1));
const SIZE: Fault = fault("code_size", CodeSizeOutOfRange, Signed(|signed| put64(signed, 24, 0)));
const CAPACITY: Fault =
    fault("capacity", CodeSizeOutOfRange, Options(|options| options.capacity = Some(64)));
const NO_CODE: Fault =
    fault("file_without_code", Truncated, File(|file, at| file.truncate(at.code)));
const INDEX: Fault =
    fault("index", SignatureIndexOutOfRange, File(|file, _| put_index(file, 128, 32)));
const SIGNATURE: Fault =
    fault("signature", SignatureMismatch, File(|file, at| file[at.signature_end - 1] ^= 1));
const SIGNED_TAG: Fault = fault(
    "signed_tag",
    WrongBundleType,
    Signed(|signed| signed[..16].copy_from_slice(b"HARTLOCK-SYST-v1")),
);
const PARAMETERS: Fault =
    fault("signed_parameters", SignerMismatch, Signed(|signed| put32(signed, 20, 1)));
const RESERVED: Fault = fault("reserved", ReservedNotZero, Signed(|signed| signed[255] = 1));
const MASK: Fault =
    fault("lifecycle_mask", LifecycleMaskInvalid, Signed(|signed| put32(signed, 40, 0)));
const NEXT: Fault = fault("next_key", NextKeyInvalid, Signed(|signed| put32(signed, 128, 1)));
const BOARD: Fault =
    fault("board", WrongBoard, Options(|options| options.board = Some("other".into())));
const BOARD_NAME: Fault = fault("board_name", BoardNameInvalid, Signed(|signed| signed[64] = b' '));
const SOC: Fault = fault("soc", WrongSoc, Options(|options| options.soc = Some("other".into())));
const SOC_NAME: Fault = fault("soc_name", SocNameInvalid, Signed(|signed| signed[96] = b' '));
const FLOOR: Fault = fault("floor", RollbackBelowFloor, Options(|options| options.floor = Some(8)));
const STATE: Fault = fault(
    "lifecycle",
    LifecycleNotAllowed,
    Options(|options| options.lifecycle = Some("returned".into())),
);
const LONGER: Fault = fault("file_longer", TrailingBytes, File(|file, _| file.push(0)));

/// Pairs of faults. Each pair is in the order of §8.
const PAIRS: &[(Fault, Fault)] = &[
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
pub fn rows() -> impl Iterator<Item = Row> {
    PAIRS.iter().map(|(first, second)| {
        let (one, other) = (first.name, second.name);
        Row {
            name: format!("{one}_before_{other}").leak(),
            reason: Some(first.reason),
            base: Draft::smallest,
            description: format!("Two faults, {one} and {other}: the first is named.").leak(),
            edits: vec![first.edit, second.edit].leak(),
        }
    })
}

/// Returns an image for each single fault, with its reason. If the second fault of a pair were no fault, the pair would
/// prove nothing about the order.
pub fn alone() -> impl Iterator<Item = Row> {
    PAIRS.iter().flat_map(|(first, second)| [first, second]).map(|fault| Row {
        name: fault.name,
        reason: Some(fault.reason),
        base: Draft::smallest,
        description: fault.name,
        edits: vec![fault.edit].leak(),
    })
}
