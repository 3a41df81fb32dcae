//! Bundles that apply published attacks on other boot loaders to our format
//! (`spec/vectors/attacks`).
//!
//! `spec/attacks.md` describes the attacks, and a check keeps both lists equal. An attacker has no
//! trusted key, only genuine bundles signed by A (and B) and another key, E. If the fault was in the
//! tools of the other project, the bundle is signed by A and is nevertheless invalid.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hartlock_image::Reason::{
    LoadRangeWraps, LoadRangesOverlap, NoTrustedSigner, OverlapsLiveRegion, PaddingNotZero,
    PayloadDigestMismatch, PayloadOffset, PayloadOrder, RollbackBelowFloor, SignatureAlgorithmZero,
    SignatureMismatch, SignatureNotCanonical, SignaturesSizeOutOfRange, SignedSizeMismatch,
    SignedSizeOutOfRange, TrailingBytes, Truncated, WrongBundleType,
};
use hartlock_image::{BundleType, PayloadType, Policy};
use hartlock_maps::qemu_virt as map;
use sha2::{Digest, Sha384};

use super::bundle::Edit::{Draft as Fields, File, Options, Signed};
use super::bundle::{Block, Draft, Payload, build};
use super::catalogue::{Row, bad};
use super::expected;
use super::keys::{A, B, C, E};

const PAGE: &str = "spec/attacks.md";

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

fn two_signers() -> Draft {
    Draft { blocks: [A, B].map(Block::By).into(), ..Draft::system() }
}

/// Returns a genuine bundle of the same shape with an older security version and another kernel.
fn older() -> Draft {
    let mut draft = Draft::system();
    draft.security_version = 6;
    draft.payloads[0].data.reverse();
    draft
}

/// Replaces the kernel by one of the attacker, at the same place and of the same size.
fn other_kernel(draft: &mut Draft) {
    draft.payloads[0].data.iter_mut().for_each(|byte| *byte ^= 0x20);
}

/// The length in bytes of a signature block with Ed25519, and the offset of the signature in it.
const BLOCK: usize = 112;
const SIGNATURE: usize = 48;
/// The range of the kernel in the file.
const KERNEL: std::ops::Range<usize> = 4096..4096 + 1500;
/// The offset of the first payload record in a bundle with one signer, and the offset of the digest
/// in that record.
const RECORD: usize = 256 + 64;
const DIGEST: usize = RECORD + 64;

fn u32_at(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize
}

fn put32(file: &mut [u8], at: usize, value: usize) {
    file[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
}

/// Returns the offset of the signature area.
fn area(file: &[u8]) -> usize {
    u32_at(file, 16)
}

pub const ROWS: &[Row] = &[
    bad(
        "attack_uboot_cve_2020_10648_signature_of_other_bundle",
        SignatureMismatch,
        SYSTEM,
        "A manifest of the attacker's own, under a genuine signature of another manifest.",
        &[
            Fields(|draft| {
                other_kernel(draft);
                draft.bootargs = "rdinit=/bin/sh".into();
            }),
            File(|file| {
                let (genuine, _) = build(Draft::system(), &[]);
                let (to, from) = (area(file), area(&genuine));
                file[to..to + BLOCK].copy_from_slice(&genuine[from..from + BLOCK]);
            }),
        ],
    ),
    bad(
        "attack_uboot_cve_2020_10648_signature_stripped",
        SignatureAlgorithmZero,
        two_signers,
        "One of two signatures was taken out; the one that is left would be enough.",
        &[
            File(|file| {
                let second = area(file) + BLOCK;
                file[second..second + BLOCK].fill(0);
            }),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    bad(
        "attack_uboot_cve_2020_10648_signature_stripped_and_size_lowered",
        SignatureMismatch,
        two_signers,
        "One of two signatures was taken out, and the size of the area says so.",
        &[
            File(|file| {
                let second = area(file) + BLOCK;
                file[second..second + BLOCK].fill(0);
                put32(file, 20, BLOCK);
            }),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    bad(
        "attack_uboot_cve_2020_10648_kernel_added",
        TrailingBytes,
        SYSTEM,
        "A second kernel follows a genuine bundle, and no record refers to it.",
        &[File(|file| file.extend([0x13; 4096]))],
    ),
    bad(
        "attack_uboot_cve_2026_46728_coverage_shortened",
        SignatureMismatch,
        SYSTEM,
        "The signed region was cut before the second payload's record, and its size says so.",
        &[File(|file| {
            let (second, at) = (RECORD + 128, area(file));
            file.drain(second..second + 128);
            // The payloads keep their offsets.
            file.splice(at - 128 + BLOCK..at - 128 + BLOCK, [0; 128]);
            put32(file, 16, at - 128);
        })],
    ),
    bad(
        "attack_uboot_cve_2026_46728_kernel_replaced",
        PayloadDigestMismatch,
        SYSTEM,
        "The kernel is the attacker's; manifest and signature are genuine.",
        &[File(|file| file[KERNEL].iter_mut().for_each(|byte| *byte ^= 0x20))],
    ),
    bad(
        "attack_uboot_cve_2026_46728_kernel_and_digest_replaced",
        SignatureMismatch,
        SYSTEM,
        "The kernel is the attacker's, and its record holds the right digest of it.",
        &[File(|file| {
            file[KERNEL].iter_mut().for_each(|byte| *byte ^= 0x20);
            let digest = Sha384::digest(&file[KERNEL]);
            file[DIGEST..DIGEST + digest.len()].copy_from_slice(&digest);
        })],
    ),
    bad(
        "attack_uboot_cve_2021_27138_kernel_record_twice",
        PayloadOrder,
        SYSTEM,
        "A signed manifest has two records of a kernel: one reader would find this, another that.",
        &[Fields(|draft| {
            draft.payloads.insert(1, Payload::new(PayloadType::Kernel, 900, 0x8140_0000));
        })],
    ),
    bad(
        "attack_uboot_cve_2021_27097_second_manifest",
        NoTrustedSigner,
        SYSTEM,
        "A medium holds a manifest of the attacker and after it a genuine bundle.",
        &[
            Fields(|draft| draft.blocks = vec![Block::By(E)]),
            File(|file| file.extend(build(Draft::system(), &[]).0)),
            Options(|options| {
                options.trust(Policy::Any, &[A]);
                options.medium = true;
            }),
        ],
    ),
    bad(
        "attack_uboot_cve_2018_18440_sizes_before_signature",
        SignaturesSizeOutOfRange,
        SYSTEM,
        "The signature area has nearly 4 GiB; nothing of it may be read.",
        &[File(|file| put32(file, 20, 0xffff_fff8))],
    ),
    bad(
        "attack_uboot_cve_2018_18440_payload_over_the_verifier",
        OverlapsLiveRegion,
        SYSTEM,
        "A payload would be loaded over the copy of the manifest that is being verified.",
        &[Fields(|draft| draft.payloads[1].load_at(map::METADATA.start))],
    ),
    bad(
        "attack_uboot_69f6272b24a_data_outside_image",
        PayloadOffset,
        SYSTEM,
        "The kernel is located one page before the beginning of the file: the offset is negative.",
        &[Signed(|signed| signed.put64(signed.payload(0) + 16, 0_u64.wrapping_sub(4096)))],
    ),
    bad(
        "attack_uboot_2601d94691c_root_hash_replaced",
        SignatureMismatch,
        SYSTEM,
        "The hash of the root file system, on the command line, was exchanged for another one.",
        &[
            Fields(|draft| draft.bootargs = "root=/dev/dm-0 verity.hash=8d969eef6ecad3c2".into()),
            File(|file| {
                let end = area(file) - 5;
                file[end - 8..end].copy_from_slice(b"5e884898");
            }),
        ],
    ),
    bad(
        "attack_mcuboot_cve_2024_32883_record_behind_signatures",
        PaddingNotZero,
        SYSTEM,
        "A payload record follows the signatures, where no signature covers it.",
        &[File(|file| {
            let after = area(file) + BLOCK;
            file.copy_within(RECORD..RECORD + 128, after);
        })],
    ),
    bad(
        "attack_mcuboot_cve_2024_32883_block_added",
        SignatureMismatch,
        SYSTEM,
        "A signature block with a record instead of a signature was added, and the size raised.",
        &[
            File(|file| {
                let after = area(file) + BLOCK;
                let head = [9, 0, 0, 128].map(u32::to_le_bytes).concat();
                file[after..after + 16].copy_from_slice(&head);
                file.copy_within(RECORD..RECORD + 128, after + 16);
                put32(file, 20, BLOCK + 16 + 128);
            }),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    bad(
        "attack_mcuboot_1191_header_larger_than_buffer",
        SignedSizeOutOfRange,
        SYSTEM,
        "The signed region is 8 bytes larger than any verifier's buffer for it.",
        &[File(|file| put32(file, 16, 16_384 + 8))],
    ),
    bad(
        "attack_mcuboot_2659_bundle_larger_than_medium",
        Truncated,
        SYSTEM,
        "A genuine bundle continues past the end of its medium.",
        &[File(|file| file.truncate(file.len() - 4096)), Options(|options| options.medium = true)],
    ),
    bad(
        "attack_mcuboot_1708_older_bundle",
        RollbackBelowFloor,
        older,
        "A genuine bundle, one version below the floor of the device.",
        &[Options(|options| options.of_device(BundleType::System))],
    ),
    bad(
        "attack_mcuboot_628_version_raised",
        SignatureMismatch,
        older,
        "A genuine bundle below the floor, with the version of the floor written into it.",
        &[File(|file| file[32] = 7), Options(|options| options.of_device(BundleType::System))],
    ),
    bad(
        "attack_wolfboot_184_header_size_missing",
        SignedSizeOutOfRange,
        SYSTEM,
        "The signing tool left the size of the signed region at 0.",
        &[Signed(|signed| signed.put32(16, 0))],
    ),
    bad(
        "attack_wolfboot_187_header_size_too_small",
        SignedSizeMismatch,
        SYSTEM,
        "The signing tool signed the smallest region there is, and records continue past its end.",
        &[Signed(|signed| {
            signed.bytes.truncate(456);
            signed.put32(16, 456);
        })],
    ),
    bad(
        "attack_wolfboot_349_header_size_too_large",
        SignedSizeMismatch,
        SYSTEM,
        "The signing tool filled the signed region up with zeros to a size of its own.",
        &[Signed(|signed| {
            let missing = 1024 - signed.bytes.len();
            signed.insert(signed.bytes.len(), &vec![0; missing]);
        })],
    ),
    bad(
        "attack_wolfboot_808_second_signature_of_digest",
        SignatureMismatch,
        two_signers,
        "The second signature is genuine and over the digest of the signed region.",
        &[File(|file| {
            let at = area(file);
            let signature = B.sign(&Sha384::digest(&file[..at]));
            let second = at + BLOCK + SIGNATURE;
            file[second..second + 64].copy_from_slice(&signature);
        })],
    ),
    bad(
        "attack_wolfboot_808_second_signature_of_other_bundle",
        SignatureMismatch,
        two_signers,
        "The second signature is genuine and over an older manifest.",
        &[
            File(|file| {
                let other = Draft { security_version: 6, ..two_signers() };
                let (other, _) = build(other, &[]);
                let second = area(file) + BLOCK;
                file[second..second + BLOCK].copy_from_slice(&other[second..second + BLOCK]);
            }),
            Options(|options| options.trust(Policy::All, &[A, B])),
        ],
    ),
    bad(
        "attack_wolfboot_1016c4d5_floor_with_top_bit",
        RollbackBelowFloor,
        SYSTEM,
        "The floor has its top bit set: as a signed number it would be below every version.",
        &[Options(|options| {
            options.of_device(BundleType::System);
            options.floor = Some(1 << 63);
        })],
    ),
    bad(
        "attack_wolfboot_f193b9c2_load_range_wraps",
        LoadRangeWraps,
        SYSTEM,
        "The memory of the device tree ends past 2^64, which in 64 bits is the first page.",
        &[Fields(|draft| {
            let payload = &mut draft.payloads[1];
            payload.memory_size = 0_u64.wrapping_sub(payload.load_address) + 4096;
        })],
    ),
    bad(
        "attack_overlap_initramfs_into_kernel",
        LoadRangesOverlap,
        SYSTEM,
        "The initramfs ends in the kernel's first page: what was hashed there would not run.",
        &[Fields(|draft| {
            draft.add_initramfs(900, 0x811f_f000).memory_size = 8192;
        })],
    ),
    bad(
        "attack_mix_kernel_of_older_bundle",
        PayloadDigestMismatch,
        SYSTEM,
        "A genuine newer bundle carries the kernel of a genuine older one.",
        &[File(|file| file[KERNEL].copy_from_slice(&build(older(), &[]).0[KERNEL]))],
    ),
    bad(
        "attack_mix_record_of_older_bundle",
        SignatureMismatch,
        SYSTEM,
        "A newer bundle carries the kernel of a genuine older one, and its record with it.",
        &[File(|file| {
            let (other, _) = build(older(), &[]);
            for range in [RECORD..RECORD + 128, KERNEL] {
                file[range.clone()].copy_from_slice(&other[range]);
            }
        })],
    ),
    bad(
        "attack_mix_root_key_signs_system",
        NoTrustedSigner,
        SYSTEM,
        "A key that may sign boot bundles signed a system bundle, for which others are trusted.",
        &[Options(|options| {
            options.of_device(BundleType::System);
            options.trust(Policy::Any, &[B, C]);
        })],
    ),
    bad(
        "attack_mix_boot_bundle_as_system",
        WrongBundleType,
        BOOT,
        "A genuine boot bundle is located where the system bundle is booted from.",
        &[Options(|options| options.of_device(BundleType::System))],
    ),
    bad(
        "attack_ecdsautils_cve_2022_24884_signature_of_zeros",
        SignatureNotCanonical,
        two_signers,
        "Both signatures are zeros, and both keys are trusted.",
        &[
            Fields(other_kernel),
            File(|file| {
                for block in [0, BLOCK] {
                    let at = area(file) + block + SIGNATURE;
                    file[at..at + 64].fill(0);
                }
            }),
            Options(|options| options.trust(Policy::All, &[A, B])),
        ],
    ),
];

/// Compares the attacks with the page that explains them. Its tables have a row for each attack,
/// with name, reason and description.
pub fn check_page(root: &Path) -> Result<Vec<String>> {
    let page =
        fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    Ok(compare(&page))
}

fn compare(page: &str) -> Vec<String> {
    let mut explained: BTreeMap<&str, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for line in page.lines() {
        let Some((name, rest)) = line.strip_prefix("| `").and_then(|it| it.split_once("` | "))
        else {
            continue;
        };
        let reason = rest.split(' ').next().unwrap_or_default();
        if explained.insert(name, reason).is_some() {
            findings.push(format!("{PAGE}: {name} has two rows"));
        }
    }
    for row in ROWS {
        let reason = expected::answer(row.reason);
        match explained.remove(row.name) {
            None => findings.push(format!("{PAGE}: {} is not explained", row.name)),
            Some(other) if other != reason => {
                findings.push(format!("{PAGE}: {} gives {reason}, not {other}", row.name));
            }
            Some(_) => {}
        }
    }
    findings.extend(explained.into_keys().map(|name| format!("{PAGE}: {name} is no vector")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_explains_every_attack() {
        assert_eq!(check_page(&crate::root()).unwrap(), [""; 0]);
    }

    #[test]
    fn finds_attacks_that_are_missing_unknown_or_refused_for_another_reason() {
        let rows: Vec<String> = ROWS
            .iter()
            .map(|row| format!("| `{}` | {} | text |", row.name, expected::answer(row.reason)))
            .collect();
        assert_eq!(compare(&rows.join("\n")), [""; 0]);
        assert_eq!(compare(&rows[1..].join("\n")).len(), 1);
        assert_eq!(compare(&rows.join("\n").replacen("E03", "E04", 1)).len(), 1);
        assert_eq!(compare(&format!("{}\n| `attack_x` | E0301 | y |", rows.join("\n"))).len(), 1);
        assert_eq!(compare(&format!("{}\n{}", rows.join("\n"), rows[0])).len(), 1);
    }

    #[test]
    fn attacks_are_named_so() {
        assert!(ROWS.iter().all(|row| row.name.starts_with("attack_")));
    }
}
