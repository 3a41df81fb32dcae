//! The order of the checks (image format §8): bundles with two faults each, of which a verifier must report the
//! first.
//!
//! A file with one fault cannot show the order of checks. Here each fault is combined with the next one in the list
//! of §8, if one bundle can have both.

use core::num::NonZeroU64;

use hartlock_image::Reason::{
    self, BlockSizeNotAllowed, BoardNameInvalid, BootVersionTooOld, BootVersionZero,
    BootargsInvalid, BootargsPadding, BootargsTooLong, BundleSizeMismatch, DigestPadding,
    DuplicateSigner, DuplicateTrustedKey, EntryOutsidePayload, ExtensionLength, ExtensionOrder,
    ExtensionUnknown, ExtensionsSizeOutOfRange, HashModeNotAllowed, HashUnknown, IdentityRepeated,
    LabelInvalid, LifecycleMaskInvalid, LifecycleNotAllowed, LoadRangeForm, LoadRangeWraps,
    LoadRangesOverlap, ModeUnknown, NoTrustedSigner, OutsideMemory, OverlapsLiveRegion,
    PaddingNotZero, PayloadCountOutOfRange, PayloadDigestMismatch, PayloadMissing, PayloadOffset,
    PayloadOrder, PayloadSizeOutOfRange, PayloadTypeUnknown, PolicyAllNotMet, PolicyUnknown,
    PolicyUnsatisfiable, PublicKeyInvalid, ReservedNotZero, RollbackBelowFloor,
    SignatureAlgorithmZero, SignatureBlockMissing, SignatureBlockPadding, SignatureBlockSizes,
    SignatureBlockTruncated, SignatureMismatch, SignatureNotCanonical, SignaturesSizeOutOfRange,
    SignedSizeMismatch, SignedSizeOutOfRange, SignerCountOutOfRange, SignerMismatch,
    SocNameInvalid, TooManySignatureBlocks, TrailingBytes, Truncated, TrustedAlgorithmMissing,
    TrustedKeyCountOutOfRange, TrustedKeyNotCarried, UnknownTag, WrongBoard, WrongBundleType,
    WrongLoadAddress, WrongSoc,
};
use hartlock_image::{KeyRecord, Policy};

use super::row::Row;
use crate::bundle::Edit::{self, Area, Draft as Fields, File, Options, Signed};
use crate::bundle::{Block, Draft, Signed as Region, identity};
use crate::ed25519::KEY_ORDER_8;
use crate::keys::{A, B, C, D, E};

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

/// Returns a system bundle with two signers, three payloads and both extensions.
fn system() -> Draft {
    let mut draft = Draft::system();
    draft.blocks = [A, B].map(Block::By).into();
    draft.add_initramfs(900, 0x8200_0000);
    draft.others.push(identity("another", "virt").field());
    draft.boot_version = NonZeroU64::new(5);
    draft
}

/// Returns a boot bundle with two signers and one further device.
fn boot() -> Draft {
    let mut draft = Draft::boot();
    draft.blocks = [A, B].map(Block::By).into();
    draft.others.push(identity("another", "virt").field());
    draft
}

/// The offset of the second signature block: 16 + 32 + 64.
const SECOND: usize = 112;
/// The offsets of R and S in a block.
const R: usize = 48;
const S: usize = 80;

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Returns the offset of payload `index` in the file of [`system`].
fn data_of(file: &[u8], index: usize) -> usize {
    let at = 256 + 2 * 64 + 128 * index + 16;
    u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]) as usize
}

fn signers_end(file: &[u8]) -> usize {
    let size = |at: usize| u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
    (size(16) + size(20)) as usize
}

/// Returns the offset of the record with the boot version. The extension area of [`system`] has a record with
/// identities (8 + 64 bytes) before it.
fn boot_version_record(signed: &Region) -> usize {
    signed.extensions() + 72
}

// Single faults, in the order of §8.
const TAG: Fault = fault("tag", UnknownTag, File(|file| file[0] = b'h'));
const OTHER_TYPE: Fault =
    fault("type", WrongBundleType, Options(|options| options.bundle_type = Some("boot".into())));
const SIGNED_SIZE: Fault =
    fault("signed_size", SignedSizeOutOfRange, File(|file| put32(file, 16, 455)));
const SIGNATURES_SIZE: Fault =
    fault("signatures_size", SignaturesSizeOutOfRange, File(|file| put32(file, 20, 4)));
const SHORT: Fault = fault("file_short", Truncated, File(|file| file.truncate(700)));
const BELOW_HEADER: Fault = fault("file_of_255_bytes", Truncated, File(|file| file.truncate(255)));
const HEADER_ALONE: Fault = fault("file_of_256_bytes", Truncated, File(|file| file.truncate(256)));
const NO_PAYLOAD_BYTES: Fault =
    fault("file_without_payloads", Truncated, File(|file| file.truncate(signers_end(file))));
const LIFECYCLE: Fault =
    fault("lifecycle_mask", LifecycleMaskInvalid, Signed(|signed| signed.put32(48, 0)));
const NO_SIGNERS: Fault =
    fault("signer_count", SignerCountOutOfRange, Signed(|signed| signed.put32(52, 0)));
const NO_PAYLOADS: Fault =
    fault("payload_count", PayloadCountOutOfRange, Signed(|signed| signed.put32(56, 0)));
const BOARD: Fault = fault("board", BoardNameInvalid, Signed(|signed| signed.put(64, b" ")));
const SOC: Fault = fault("soc", SocNameInvalid, Signed(|signed| signed.put(96, b" ")));
const LABEL: Fault = fault("label", LabelInvalid, Signed(|signed| signed.put(128, b"\x7f")));
const RESERVED: Fault =
    fault("reserved", ReservedNotZero, Signed(|signed| signed.put(255, b"\x01")));
const EXTENSIONS_SIZE: Fault =
    fault("extensions_size", ExtensionsSizeOutOfRange, Signed(|signed| signed.put32(60, 2056)));
const BOOTARGS_LONG: Fault = fault(
    "bootargs_length",
    BootargsTooLong,
    Signed(|signed| signed.put32(signed.closing(), 2049)),
);
const POLICY: Fault =
    fault("policy", PolicyUnknown, Signed(|signed| signed.put32(signed.closing(), 0)));
const NO_KEYS: Fault = fault(
    "key_count",
    TrustedKeyCountOutOfRange,
    Signed(|signed| signed.put32(signed.closing() + 4, 0)),
);
const TOO_LONG: Fault = fault(
    "signed_region_too_long",
    SignedSizeMismatch,
    Signed(|signed| signed.insert(signed.bytes.len(), &[0; 8])),
);
const SIGNER_RESERVED: Fault = fault(
    "signer_reserved",
    ReservedNotZero,
    Signed(|signed| signed.put(signed.signer(1) + 63, b"\x01")),
);
const SIGNER_TWICE: Fault = fault(
    "signer_twice",
    DuplicateSigner,
    Fields(|draft| draft.blocks = [A, A].map(Block::By).into()),
);
const BLOCK_MISSING: Fault = fault(
    "block_missing",
    SignatureBlockMissing,
    Fields(|draft| draft.listed = Some([A, B, C].map(|key| key.record()).into())),
);
const SWAPPED: Fault =
    fault("blocks_swapped", SignerMismatch, Area(|area| area.rotate_left(SECOND)));
const TYPE: Fault =
    fault("payload_type", PayloadTypeUnknown, Signed(|signed| signed.put32(signed.payload(2), 19)));
const ORDER: Fault =
    fault("payload_order", PayloadOrder, Signed(|signed| signed.put32(signed.payload(1), 16)));
const HASH: Fault =
    fault("hash", HashUnknown, Signed(|signed| signed.put32(signed.payload(1) + 4, 0)));
const MODE: Fault =
    fault("mode", ModeUnknown, Signed(|signed| signed.put32(signed.payload(1) + 8, 0)));
const BLOCK_SIZE: Fault = fault(
    "block_size",
    BlockSizeNotAllowed,
    Signed(|signed| signed.put32(signed.payload(1) + 12, 1)),
);
const HASH_MODE: Fault =
    fault("hash_mode", HashModeNotAllowed, Signed(|signed| signed.put32(signed.payload(1) + 4, 8)));
const DIGEST_TAIL: Fault = fault(
    "digest_tail",
    DigestPadding,
    Signed(|signed| signed.put(signed.payload(1) + 127, b"\x01")),
);
const PAYLOAD_RESERVED: Fault = fault(
    "payload_reserved",
    ReservedNotZero,
    Signed(|signed| signed.put(signed.payload(1) + 63, b"\x01")),
);
const OFFSET: Fault =
    fault("offset", PayloadOffset, Signed(|signed| signed.put64(signed.payload(1) + 16, 4096)));
const SIZE: Fault = fault(
    "size",
    PayloadSizeOutOfRange,
    Signed(|signed| signed.put64(signed.payload(1) + 24, (1 << 40) + 1)),
);
const FORM: Fault = fault(
    "form",
    LoadRangeForm,
    Signed(|signed| signed.put64(signed.payload(1) + 32, 0x8200_0001)),
);
const WRAPS: Fault = fault(
    "wraps",
    LoadRangeWraps,
    Signed(|signed| {
        signed.put64(signed.payload(1) + 32, 0x8120_0000);
        signed.put64(signed.payload(1) + 40, 0xffff_ffff_ffff_f000);
    }),
);
const WRAPS_FORM: Fault = fault(
    "load_range_wraps",
    LoadRangeWraps,
    Signed(|signed| signed.put64(signed.payload(1) + 40, 0xffff_ffff_ffff_f000)),
);
const OVERLAP: Fault = fault(
    "overlap",
    LoadRangesOverlap,
    Signed(|signed| signed.put64(signed.payload(1) + 32, 0x8120_0000)),
);
const ENTRY: Fault =
    fault("entry", EntryOutsidePayload, Signed(|signed| signed.put64(signed.payload(1) + 48, 4)));
const MISSING: Fault =
    fault("payload_missing", PayloadMissing, Fields(|draft| draft.payloads.truncate(2)));
const BUNDLE_SIZE: Fault =
    fault("bundle_size", BundleSizeMismatch, Signed(|signed| signed.put64(24, 4096)));
const EXTENSION_TYPE: Fault = fault(
    "extension_type",
    ExtensionUnknown,
    Signed(|signed| signed.put32(signed.extensions(), 0)),
);
const EXTENSION_ORDER: Fault = fault(
    "extension_order",
    ExtensionOrder,
    Signed(|signed| {
        let at = boot_version_record(signed);
        signed.put32(at, 1);
    }),
);
const EXTENSION_LENGTH: Fault = fault(
    "extension_length",
    ExtensionLength,
    Signed(|signed| {
        let at = boot_version_record(signed);
        signed.put32(at + 4, 4);
    }),
);
const EXTENSION_PAST_AREA: Fault = fault(
    "extension_past_area",
    ExtensionLength,
    Signed(|signed| {
        let at = boot_version_record(signed);
        signed.put32(at + 4, 16);
    }),
);
const DEVICES_LENGTH: Fault = fault(
    "devices_length",
    ExtensionLength,
    Signed(|signed| signed.put32(signed.extensions() + 4, 65)),
);
const OTHER_BOARD: Fault = fault(
    "listed_board",
    BoardNameInvalid,
    Signed(|signed| signed.put(signed.extensions() + 8, b" ")),
);
const OTHER_SOC: Fault = fault(
    "listed_soc",
    SocNameInvalid,
    Signed(|signed| signed.put(signed.extensions() + 40, b" ")),
);
const REPEATED: Fault = fault(
    "listed_twice",
    IdentityRepeated,
    Fields(|draft| draft.others = vec![identity("qemu-virt", "virt").field()]),
);
const VERSION_ZERO: Fault = fault(
    "version_zero",
    BootVersionZero,
    Signed(|signed| {
        let at = boot_version_record(signed);
        signed.put64(at + 8, 0);
    }),
);
const CLOSING_RESERVED: Fault = fault(
    "closing_reserved",
    ReservedNotZero,
    Signed(|signed| signed.put(signed.closing() + 4, b"\x01")),
);
const BOOTARGS: Fault = fault(
    "bootargs_text",
    BootargsInvalid,
    Signed(|signed| signed.put(signed.closing() + 8, b"\x7f")),
);
const BOOTARGS_TAIL: Fault = fault(
    "bootargs_tail",
    BootargsPadding,
    Signed(|signed| signed.put(signed.bytes.len() - 1, b"\x01")),
);
const KEY_RESERVED: Fault = fault(
    "key_reserved",
    ReservedNotZero,
    Signed(|signed| signed.put(signed.bytes.len() - 1, b"\x01")),
);
const KEY_TWICE: Fault = fault(
    "key_twice",
    DuplicateTrustedKey,
    Fields(|draft| draft.trust = crate::bundle::trust(Policy::Any, [B.record(), B.record()])),
);
const NEVER_MET: Fault = fault(
    "policy_never_met",
    PolicyUnsatisfiable,
    Fields(|draft| draft.trust.policy = Policy::Hybrid),
);
const NOT_CARRIED: Fault =
    fault("not_carried", TrustedKeyNotCarried, Fields(|draft| draft.carried = 0));
const NEED_BOARD: Fault =
    fault("other_board", WrongBoard, Options(|options| options.board = Some("third".into())));
const NEED_SOC: Fault =
    fault("other_soc", WrongSoc, Options(|options| options.soc = Some("third".into())));
const NEED_FLOOR: Fault =
    fault("floor", RollbackBelowFloor, Options(|options| options.floor = Some(8)));
const NEED_BOOT: Fault =
    fault("boot_version", BootVersionTooOld, Options(|options| options.boot_version = Some(4)));
const NEED_STATE: Fault = fault(
    "lifecycle",
    LifecycleNotAllowed,
    Options(|options| options.lifecycle = Some("returned".into())),
);
const LIVE: Fault = fault(
    "live_region",
    OverlapsLiveRegion,
    Fields(|draft| draft.payloads[1].load_at(0x8050_0000)),
);
const OUTSIDE: Fault =
    fault("outside_memory", OutsideMemory, Fields(|draft| draft.payloads[1].load_at(0x8080_0000)));
const NOT_FIXED: Fault = fault(
    "fixed_address",
    WrongLoadAddress,
    Fields(|draft| draft.payloads[0].load_at(0x8121_0000)),
);
const CUT: Fault = fault("file_cut", Truncated, File(|file| file.truncate(file.len() - 4096)));
const LONGER: Fault = fault("file_longer", TrailingBytes, File(|file| file.push(0)));
const PADDING: Fault = fault(
    "padding_of_signatures",
    PaddingNotZero,
    File(|file| {
        let end = signers_end(file);
        file[end] = 1;
    }),
);
const DATA_0: Fault = fault(
    "first_payload",
    PayloadDigestMismatch,
    File(|file| {
        let at = data_of(file, 0);
        file[at] ^= 1;
    }),
);
const PADDING_0: Fault = fault(
    "padding_of_first_payload",
    PaddingNotZero,
    File(|file| {
        let at = data_of(file, 1) - 1;
        file[at] = 1;
    }),
);
const DATA_1: Fault = fault(
    "second_payload",
    PayloadDigestMismatch,
    File(|file| {
        let at = data_of(file, 1);
        file[at] ^= 1;
    }),
);

// Faults in the signature blocks of [`system`], which are first that of A, then that of B.
const ODD_KEY: Fault = fault(
    "key_of_small_order",
    PublicKeyInvalid,
    Fields(|draft| draft.blocks = vec![Block::Unusual(&KEY_ORDER_8), Block::By(B)]),
);
const R_A: Fault = fault("first_r", SignatureNotCanonical, Area(|area| area[R..R + 32].fill(0)));
const S_A: Fault = fault("first_s", SignatureMismatch, Area(|area| area[S] ^= 1));
const S_B: Fault = fault("second_s", SignatureMismatch, Area(|area| area[SECOND + S] ^= 1));
const FIFTH: Fault = fault(
    "fifth_block",
    TooManySignatureBlocks,
    Fields(|draft| {
        draft.blocks = [A, B, C, D].map(Block::By).into();
        draft.blocks.push(Block::Raw(vec![0; 8]));
    }),
);
const BLOCK_ENDS: Fault =
    fault("block_end", SignatureBlockTruncated, Area(|area| put32(area, SECOND + 12, 65)));
const NO_ALGORITHM: Fault =
    fault("algorithm_zero", SignatureAlgorithmZero, Area(|area| put32(area, SECOND, 0)));
const KEY_SIZE: Fault =
    fault("key_size", SignatureBlockSizes, Area(|area| put32(area, SECOND + 8, 31)));
const KEY_TAIL: Fault = fault(
    "key_padding",
    SignatureBlockPadding,
    Area(|area| {
        put32(area, SECOND + 8, 31);
        area[SECOND + 16 + 31] = 1;
    }),
);
const KEY_SIZE_A: Fault =
    fault("first_key_size", SignatureBlockSizes, Area(|area| put32(area, 8, 31)));
const UNKNOWN_TRUSTED: Fault = fault(
    "trusted_algorithm",
    TrustedAlgorithmMissing,
    Options(|options| {
        options.add_record(KeyRecord { algorithm: 9, parameters: 0, key_id: [9; 48] });
    }),
);
const NOT_ALL: Fault =
    fault("policy_all", PolicyAllNotMet, Options(|options| options.trust(Policy::All, &[A, B, E])));
const NO_SIGNER: Fault =
    fault("policy_any", NoTrustedSigner, Options(|options| options.trust(Policy::Any, &[E])));

/// Pairs of faults of a system bundle. Each pair is in the order of §8.
const OF_SYSTEM: &[(Fault, Fault)] = &[
    (BELOW_HEADER, TAG),
    (TAG, HEADER_ALONE),
    (TAG, SIGNED_SIZE),
    (TAG, OTHER_TYPE),
    (OTHER_TYPE, SIGNED_SIZE),
    (SIGNED_SIZE, SIGNATURES_SIZE),
    (SIGNATURES_SIZE, SHORT),
    (SHORT, BLOCK_ENDS),
    (KEY_SIZE_A, BLOCK_ENDS),
    (BLOCK_ENDS, NO_ALGORITHM),
    (NO_ALGORITHM, KEY_SIZE),
    (KEY_SIZE, KEY_TAIL),
    (FIFTH, UNKNOWN_TRUSTED),
    (KEY_SIZE, UNKNOWN_TRUSTED),
    (UNKNOWN_TRUSTED, S_A),
    (UNKNOWN_TRUSTED, LIFECYCLE),
    (ODD_KEY, R_A),
    (R_A, S_A),
    (S_A, S_B),
    (R_A, S_B),
    (S_A, NOT_ALL),
    (S_B, LIFECYCLE),
    (S_B, NO_PAYLOAD_BYTES),
    (NOT_ALL, LIFECYCLE),
    (NO_SIGNER, LIFECYCLE),
    (LIFECYCLE, NO_SIGNERS),
    (NO_SIGNERS, NO_PAYLOADS),
    (NO_PAYLOADS, BOARD),
    (BOARD, SOC),
    (SOC, LABEL),
    (LABEL, RESERVED),
    (RESERVED, EXTENSIONS_SIZE),
    (EXTENSIONS_SIZE, SIGNER_RESERVED),
    (RESERVED, BOOTARGS_LONG),
    (BOOTARGS_LONG, TOO_LONG),
    (TOO_LONG, SIGNER_RESERVED),
    (SIGNER_RESERVED, SIGNER_TWICE),
    (SIGNER_RESERVED, SWAPPED),
    (BLOCK_MISSING, TYPE),
    (SWAPPED, TYPE),
    (TYPE, EXTENSION_TYPE),
    (ORDER, HASH),
    (HASH, MODE),
    (MODE, BLOCK_SIZE),
    (BLOCK_SIZE, HASH_MODE),
    (HASH_MODE, DIGEST_TAIL),
    (DIGEST_TAIL, PAYLOAD_RESERVED),
    (PAYLOAD_RESERVED, OFFSET),
    (OFFSET, SIZE),
    (SIZE, FORM),
    (FORM, WRAPS_FORM),
    (WRAPS, ENTRY),
    (OVERLAP, ENTRY),
    (ENTRY, MISSING),
    (MISSING, BUNDLE_SIZE),
    (BUNDLE_SIZE, EXTENSION_TYPE),
    (EXTENSION_TYPE, EXTENSION_ORDER),
    (EXTENSION_ORDER, EXTENSION_LENGTH),
    (EXTENSION_ORDER, EXTENSION_PAST_AREA),
    (DEVICES_LENGTH, OTHER_BOARD),
    (OTHER_BOARD, OTHER_SOC),
    (OTHER_BOARD, EXTENSION_ORDER),
    (REPEATED, VERSION_ZERO),
    (EXTENSION_LENGTH, VERSION_ZERO),
    (VERSION_ZERO, CLOSING_RESERVED),
    (CLOSING_RESERVED, BOOTARGS),
    (BOOTARGS, BOOTARGS_TAIL),
    (BOOTARGS_TAIL, NEED_BOARD),
    (NEED_BOARD, NEED_SOC),
    (NEED_SOC, NEED_FLOOR),
    (NEED_FLOOR, NEED_BOOT),
    (NEED_BOOT, NEED_STATE),
    (NEED_STATE, LIVE),
    (NOT_FIXED, OUTSIDE),
    (LIVE, CUT),
    (OUTSIDE, CUT),
    (NOT_FIXED, LONGER),
    (CUT, PADDING),
    (LONGER, PADDING),
    (PADDING, DATA_0),
    (DATA_0, PADDING_0),
    (PADDING_0, DATA_1),
];

/// Pairs of faults of a boot bundle.
const OF_BOOT: &[(Fault, Fault)] = &[
    (RESERVED, POLICY),
    (POLICY, NO_KEYS),
    (NO_KEYS, SIGNER_RESERVED),
    (BUNDLE_SIZE, KEY_RESERVED),
    (REPEATED, KEY_RESERVED),
    (KEY_RESERVED, KEY_TWICE),
    (KEY_TWICE, NEVER_MET),
    (NEVER_MET, NOT_CARRIED),
    (NOT_CARRIED, NEED_BOARD),
    (NEED_FLOOR, NEED_STATE),
];

/// Returns the bundles. The expected reason is that of the first fault of each pair.
pub fn rows() -> Vec<&'static Row> {
    let row = |base: fn() -> Draft| {
        move |(first, second): &(Fault, Fault)| {
            let (one, other) = (first.name, second.name);
            let row = Row {
                name: format!("{one}_before_{other}").leak(),
                reason: Some(first.reason),
                base,
                description: format!("Two faults, {one} and {other}: the first is named.").leak(),
                edits: vec![first.edit, second.edit].leak(),
            };
            &*Box::leak(Box::new(row))
        }
    };
    OF_SYSTEM.iter().map(row(system)).chain(OF_BOOT.iter().map(row(boot))).collect()
}

/// Returns a bundle for each single fault, with its reason. If the second fault of a pair were no fault, the pair
/// would prove nothing about the order. The fault of padding after a key is left out, because it needs a key of
/// another size.
pub fn alone() -> Vec<Row> {
    let row = |base: fn() -> Draft| {
        move |fault: &Fault| Row {
            name: fault.name,
            reason: Some(fault.reason),
            base,
            description: fault.name,
            edits: vec![fault.edit].leak(),
        }
    };
    let of = |pairs: &'static [(Fault, Fault)]| {
        let faults = pairs.iter().flat_map(|(first, second)| [first, second]);
        faults.filter(|fault| fault.name != KEY_TAIL.name)
    };
    of(OF_SYSTEM).map(row(system)).chain(of(OF_BOOT).map(row(boot))).collect()
}
