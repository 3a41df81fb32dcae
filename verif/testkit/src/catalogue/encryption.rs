//! Records of encrypted payloads (image format §4.6). Without the key of the class a verifier of files judges their form
//! alone, so that class ids and wrapped keys are noise here.

use core::num::NonZeroU64;

use hartlock_image::PayloadType::{Initramfs, Kernel, SystemFdt};
use hartlock_image::Reason::{
    CipherUnknown, EncryptionOrder, EncryptionWithoutPayload, ExtensionLength, ExtensionUnknown,
    PayloadDigestMismatch,
};
use hartlock_image::{Encryption, EncryptionField, PayloadType};
use hartlock_maps::qemu_virt as map;

use super::extensions::record;
use super::row::{Row, bad, good};
use crate::bundle::Edit::{File, Signed};
use crate::bundle::{Draft, Signed as Region, identity};

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

/// The offset of the first payload in the file.
const FIRST_PAYLOAD: usize = 4096;

fn field(payload_type: PayloadType) -> EncryptionField {
    let class_id = *b"class of a fleet";
    let wrapped = core::array::from_fn(|index| 0x80 | index as u8);
    Encryption { payload_type, class_id, wrapped }.encode()
}

/// Returns a bundle whose kernel is encrypted.
fn kernel() -> Draft {
    let mut draft = Draft::system();
    draft.encryption = vec![field(Kernel)];
    draft
}

/// Returns a bundle with an initramfs, whose payloads are all encrypted.
fn all() -> Draft {
    let mut draft = Draft::system();
    draft.add_initramfs(900, map::SYSTEM.start + 0x180_0000);
    draft.encryption = [Kernel, Initramfs, SystemFdt].map(field).to_vec();
    draft
}

/// Returns a bundle with every kind of extension record.
fn every_kind() -> Draft {
    let mut draft = kernel();
    draft.others.push(identity("board-b", "soc-b").field());
    draft.boot_version = NonZeroU64::new(5);
    draft
}

/// Returns a bundle whose initramfs is empty, and said to be encrypted.
fn empty_initramfs() -> Draft {
    let mut draft = Draft::system();
    draft.add_initramfs(0, map::SYSTEM.start + 0x180_0000);
    draft.encryption = vec![field(Initramfs)];
    draft
}

/// Returns the offset of the first record of an encrypted payload, where it is the only extension.
fn first(signed: &Region) -> usize {
    signed.extensions() + 8
}

pub const ROWS: &[Row] = &[
    good("encrypted_kernel", kernel, "The kernel is encrypted.", &[]),
    good("encrypted_payloads", all, "All payloads are encrypted, each with a key of its own.", &[]),
    good(
        "encrypted_with_every_extension",
        every_kind,
        "The record of an encrypted payload follows all others.",
        &[],
    ),
    good(
        "encrypted_class_of_zeros",
        kernel,
        "The class id and the wrapped key are zeros: nothing but a device with this class can judge them.",
        &[Signed(|signed| signed.put(first(signed) + 8, &[0; 56]))],
    ),
    bad(
        "encryption_in_boot_bundle",
        ExtensionUnknown,
        BOOT,
        "The device tree for OpenSBI is said to be encrypted: the ROM decrypts nothing.",
        &[Signed(|signed| signed.extend(&record(3, &field(PayloadType::BootFdt))))],
    ),
    bad(
        "encryption_of_nothing",
        ExtensionLength,
        SYSTEM,
        "A record that names no payload.",
        &[Signed(|signed| signed.extend(&record(3, &[])))],
    ),
    bad(
        "encryption_wrap_truncated",
        ExtensionLength,
        SYSTEM,
        "The wrapped key has 32 bytes, and the last eight are missing.",
        &[Signed(|signed| signed.extend(&record(3, &field(Kernel)[..56])))],
    ),
    bad(
        "encryption_with_another_word",
        ExtensionLength,
        SYSTEM,
        "Eight bytes after the record of the only encrypted payload.",
        &[Signed(|signed| signed.extend(&record(3, &[&field(Kernel)[..], &[0; 8]].concat())))],
    ),
    bad(
        "encryption_of_nine",
        ExtensionLength,
        SYSTEM,
        "Nine records: more than a bundle has payloads.",
        &[Signed(|signed| signed.extend(&record(3, &[field(Kernel); 9].concat())))],
    ),
    bad(
        "encryption_of_eight",
        EncryptionOrder,
        SYSTEM,
        "Eight records, as many as there may be, of one payload.",
        &[Signed(|signed| signed.extend(&record(3, &[field(Kernel); 8].concat())))],
    ),
    bad(
        "encryption_cipher_zero",
        CipherUnknown,
        kernel,
        "The cipher has number 0.",
        &[Signed(|signed| signed.put32(first(signed) + 4, 0))],
    ),
    bad(
        "encryption_cipher_unknown",
        CipherUnknown,
        kernel,
        "The cipher has the first number that is not assigned.",
        &[Signed(|signed| signed.put32(first(signed) + 4, 2))],
    ),
    bad(
        "encryption_cipher_of_second",
        CipherUnknown,
        all,
        "The first payload has the right cipher, and the second one none.",
        &[Signed(|signed| signed.put32(first(signed) + 68, 0))],
    ),
    bad(
        "encryption_swapped",
        EncryptionOrder,
        all,
        "The records of kernel and initramfs are exchanged.",
        &[Signed(|signed| {
            let at = first(signed);
            signed.put(at, &field(Initramfs));
            signed.put(at + 64, &field(Kernel));
        })],
    ),
    bad(
        "encryption_repeated",
        EncryptionOrder,
        all,
        "The initramfs has two keys.",
        &[Signed(|signed| signed.put(first(signed) + 128, &field(Initramfs)))],
    ),
    bad(
        "encryption_of_missing_payload",
        EncryptionWithoutPayload,
        SYSTEM,
        "An initramfs is said to be encrypted, and there is none.",
        &[Signed(|signed| signed.extend(&record(3, &field(Initramfs))))],
    ),
    bad(
        "encryption_of_empty_payload",
        EncryptionWithoutPayload,
        empty_initramfs,
        "The initramfs has no bytes that could be encrypted.",
        &[],
    ),
    bad(
        "encryption_of_other_type",
        EncryptionWithoutPayload,
        SYSTEM,
        "A payload of a boot bundle is said to be encrypted in a system bundle.",
        &[Signed(|signed| signed.extend(&record(3, &field(PayloadType::Opensbi))))],
    ),
    bad(
        "encryption_of_unknown_type",
        EncryptionWithoutPayload,
        kernel,
        "The number of the payload is none of a payload.",
        &[Signed(|signed| signed.put32(first(signed), u32::MAX))],
    ),
    bad(
        "encrypted_payload_of_other_version",
        PayloadDigestMismatch,
        kernel,
        "The cipher text of the kernel is that of another version, with the manifest of this one.",
        &[File(|file| file[FIRST_PAYLOAD..][..1500].fill(0x5a))],
    ),
];
