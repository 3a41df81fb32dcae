//! Bundles that satisfy all rules, many of them at the limit of a rule.

use hartlock_image::HashId::{
    Kt128, Sha3_256, Sha3_384, Sha3_512, Sha256, Sha384, Sha512, Shake128, Shake256,
};
use hartlock_image::{BundleType, HashId, KeyRecord, PAGE_SIZE, Policy};
use hartlock_maps::qemu_virt as map;

use super::row::{Row, good};
use crate::bundle::Edit::{Area, Draft as Fields, File, Options};
use crate::bundle::{Block, Draft, identity, label, name, trust};
use crate::ed25519::{KEY_AND_R_MIXED, KEY_MIXED_HIDDEN, KEY_ORDER_8};
use crate::keys::{A, B, C, D, E};

const SYSTEM: fn() -> Draft = Draft::system;
const BOOT: fn() -> Draft = Draft::boot;

fn flat(draft: &mut Draft, hash: HashId) {
    draft.payloads[0].hash = hash;
}

/// Sets three blocks, of which the last is shorter.
fn blocks(draft: &mut Draft, hash: HashId) {
    draft.payloads[0].resize(2500);
    draft.payloads[0].hash = hash;
    draft.payloads[0].use_blocks(1024);
}

/// Sets the sizes of kernel and device tree, and the mode *flat* with KT128.
fn flat_kt128(draft: &mut Draft, sizes: [usize; 2]) {
    for (payload, size) in draft.payloads.iter_mut().zip(sizes) {
        payload.resize(size);
        payload.hash = Kt128;
    }
}

/// Sets the sizes of kernel and device tree, and ParallelHash128 and ParallelHash256.
fn parallelhash(draft: &mut Draft, sizes: [usize; 2], block_size: u32) {
    for ((payload, size), hash) in draft.payloads.iter_mut().zip(sizes).zip([Shake128, Shake256]) {
        payload.resize(size);
        payload.use_parallelhash(hash, block_size);
    }
}

/// Returns the record of a key of an algorithm that is not defined yet. No such key exists.
fn unknown_key(byte: u8) -> KeyRecord {
    KeyRecord { algorithm: 9, parameters: 0, key_id: [byte; 48] }
}

pub const ROWS: &[Row] = &[
    good("minimal_system", SYSTEM, "A kernel, a device tree, one signer.", &[]),
    good("minimal_boot", BOOT, "The three payloads of a boot bundle, one signer.", &[]),
    good(
        "system_on_device",
        SYSTEM,
        "Everything that a device checks is checked, and the security version equals the floor.",
        &[Options(|options| options.of_device(BundleType::System))],
    ),
    good("flat_sha256", SYSTEM, "A flat SHA-256 digest.", &[Fields(|draft| flat(draft, Sha256))]),
    good("flat_sha512", SYSTEM, "A flat SHA-512 digest.", &[Fields(|draft| flat(draft, Sha512))]),
    good(
        "flat_sha3_256",
        SYSTEM,
        "A flat SHA3-256 digest.",
        &[Fields(|draft| flat(draft, Sha3_256))],
    ),
    good(
        "flat_sha3_384",
        SYSTEM,
        "A flat SHA3-384 digest.",
        &[Fields(|draft| flat(draft, Sha3_384))],
    ),
    good(
        "flat_sha3_512",
        SYSTEM,
        "A flat SHA3-512 digest.",
        &[Fields(|draft| flat(draft, Sha3_512))],
    ),
    good(
        "blocks_sha256",
        SYSTEM,
        "Three blocks under SHA-256.",
        &[Fields(|draft| blocks(draft, Sha256))],
    ),
    good(
        "blocks_sha384",
        SYSTEM,
        "Three blocks under SHA-384.",
        &[Fields(|draft| blocks(draft, Sha384))],
    ),
    good(
        "blocks_sha512",
        SYSTEM,
        "Three blocks under SHA-512.",
        &[Fields(|draft| blocks(draft, Sha512))],
    ),
    good(
        "blocks_sha3_256",
        SYSTEM,
        "Three blocks under SHA3-256.",
        &[Fields(|draft| blocks(draft, Sha3_256))],
    ),
    good(
        "blocks_sha3_384",
        SYSTEM,
        "Three blocks under SHA3-384.",
        &[Fields(|draft| blocks(draft, Sha3_384))],
    ),
    good(
        "blocks_sha3_512",
        SYSTEM,
        "Three blocks under SHA3-512.",
        &[Fields(|draft| blocks(draft, Sha3_512))],
    ),
    good(
        "flat_kt128",
        SYSTEM,
        "Flat KT128 digests of one chunk: of one byte, and of as many as a single chunk has room for.",
        &[Fields(|draft| {
            flat_kt128(draft, [8191, 1]);
        })],
    ),
    good(
        "flat_kt128_two_chunks",
        SYSTEM,
        "Flat KT128 digests of two chunks, the second of one byte and of two.",
        &[Fields(|draft| flat_kt128(draft, [8192, 8193]))],
    ),
    good(
        "blocks_kt128",
        SYSTEM,
        "Three blocks under KT128, and a block that its leaf prefix makes longer than a chunk.",
        &[Fields(|draft| {
            blocks(draft, Kt128);
            draft.payloads[1].resize(8192);
            draft.payloads[1].hash = Kt128;
            draft.payloads[1].use_blocks(8192);
        })],
    ),
    good(
        "parallelhash",
        SYSTEM,
        "Three blocks under ParallelHash128, the last one shorter, and one byte under ParallelHash256.",
        &[Fields(|draft| parallelhash(draft, [2500, 1], 1024))],
    ),
    good(
        "parallelhash_whole_blocks",
        SYSTEM,
        "One whole block under ParallelHash128, three under ParallelHash256.",
        &[Fields(|draft| parallelhash(draft, [1024, 3072], 1024))],
    ),
    good(
        "parallelhash_around_blocks",
        SYSTEM,
        "A byte less than a block of 8 KiB under ParallelHash128, a byte more under ParallelHash256.",
        &[Fields(|draft| parallelhash(draft, [8191, 8193], 8192))],
    ),
    good(
        "parallelhash_empty",
        SYSTEM,
        "No bytes and so no blocks under ParallelHash256, and under KT128 no bytes at all.",
        &[Fields(|draft| {
            draft.payloads[0].hash = Kt128;
            draft.add_initramfs(0, 0x8300_1000).use_parallelhash(Shake256, 1024);
        })],
    ),
    good(
        "blocks_of_16_mib",
        SYSTEM,
        "The largest block size; the payload is one short block.",
        &[Fields(|draft| draft.payloads[0].use_blocks(16 << 20))],
    ),
    good(
        "payload_of_one_block",
        SYSTEM,
        "The payload is exactly one block and fills its page, so no padding follows it.",
        &[Fields(|draft| {
            draft.payloads[0].resize(4096);
            draft.payloads[0].use_blocks(4096);
        })],
    ),
    good(
        "payload_of_one_block_and_a_byte",
        SYSTEM,
        "The payload is one byte longer than its first block.",
        &[Fields(|draft| {
            draft.payloads[0].resize(1025);
            draft.payloads[0].use_blocks(1024);
        })],
    ),
    good(
        "initramfs_empty_blocks",
        SYSTEM,
        "No bytes and so no blocks, inside the range of the payload that follows.",
        &[Fields(|draft| {
            draft.payloads[1].memory_size = 0x4000;
            draft.add_initramfs(0, 0x8300_1000).use_blocks(1024);
        })],
    ),
    good(
        "initramfs_empty_inside_kernel",
        SYSTEM,
        "An empty load range shares no byte with the range around it.",
        &[Fields(|draft| {
            draft.payloads[0].memory_size = 0x4000;
            draft.add_initramfs(0, 0x8120_1000);
        })],
    ),
    good(
        "initramfs_empty_at_end_of_place",
        SYSTEM,
        "An empty load range at the end of RAM is still inside its place.",
        &[Fields(|draft| {
            draft.add_initramfs(0, map::RAM.end);
        })],
    ),
    good(
        "load_ranges_touch",
        SYSTEM,
        "Three load ranges without a gap between them, the later ones on both sides of the first.",
        &[Fields(|draft| {
            draft.add_initramfs(900, 0x811f_f000);
            draft.payloads[2].load_at(0x8120_1000);
        })],
    ),
    good(
        "load_range_to_end_of_ram",
        SYSTEM,
        "The last load range ends with the RAM of the board.",
        &[Fields(|draft| draft.payloads[1].load_at(map::RAM.end - PAGE_SIZE))],
    ),
    good(
        "load_range_fills_place",
        BOOT,
        "The memory of each payload is all of its place.",
        &[Fields(|draft| {
            for (payload, size) in draft.payloads.iter_mut().zip([1 << 20, 2 << 20, 128 << 10]) {
                payload.memory_size = size;
            }
        })],
    ),
    good(
        "load_range_below_end_of_addresses",
        SYSTEM,
        "The sum of load address and memory size is 2^64 − 4096, on a board that is not described.",
        &[Fields(|draft| {
            draft.use_unknown_board();
            draft.payloads[1].load_at(0xffff_ffff_ffff_e000);
        })],
    ),
    good(
        "fields_at_their_ends",
        SYSTEM,
        "Longest names and label, highest numbers, lowest address, last entry, most padding.",
        &[
            Fields(|draft| {
                draft.identity.board = name("!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!~");
                draft.identity.soc = name("~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~!");
                draft.label =
                    label(" 234567890123456789012345678901234567890123456789012345678901~~ ");
                draft.security_version = u64::MAX;
                draft.created = u64::MAX;
                draft.lifecycle_mask = 0b111;
                // The command line has 17 bytes, so seven bytes of padding follow.
                draft.bootargs = "root=/dev/ram0 ro".into();
                // This board has no memory map, so placement is not checked.
                draft.payloads[0].load_at(0);
                draft.payloads[0].entry = 1496;
            }),
            Options(|options| {
                options.floor = Some(u64::MAX);
                options.lifecycle = Some("returned".into());
            }),
        ],
    ),
    good(
        "names_of_one_character",
        SYSTEM,
        "The shortest names of board and SoC.",
        &[Fields(|draft| draft.identity = identity("b", "s"))],
    ),
    good(
        "label_empty",
        SYSTEM,
        "The label may be empty.",
        &[Fields(|draft| draft.label = label(""))],
    ),
    good(
        "trust_one_key",
        BOOT,
        "One trusted key, as few as there may be.",
        &[Fields(|draft| draft.trust = trust(Policy::Any, [B.record()]))],
    ),
    good(
        "bootargs_empty",
        SYSTEM,
        "The kernel's command line may be empty.",
        &[Fields(|draft| draft.bootargs.clear())],
    ),
    good(
        "bootargs_of_1023_bytes",
        SYSTEM,
        "The longest command line, of the lowest and the highest character.",
        &[Fields(|draft| draft.bootargs = " ~ ".repeat(341))],
    ),
    good(
        "largest_boot",
        BOOT,
        "Four signers, eight trusted keys; there are only three types of payload.",
        &[Fields(|draft| {
            draft.blocks = [D, C, B, A].map(Block::By).into();
            let known = [A, B, C, D, E].map(|key| key.record());
            let unknown = [1, 2, 3].map(unknown_key);
            draft.carried |= 1 << 9;
            draft.trust = trust(Policy::Any, known.into_iter().chain(unknown));
        })],
    ),
    good(
        "trust_all_of_four",
        BOOT,
        "Four keys that must all sign: as many as a bundle can have.",
        &[Fields(|draft| {
            draft.trust = trust(Policy::All, [A, B, C, D].map(|key| key.record()));
        })],
    ),
    good(
        "policy_any_of_two_signers",
        SYSTEM,
        "One of two signers is trusted, which is enough.",
        &[
            Fields(|draft| draft.blocks = [A, B].map(Block::By).into()),
            Options(|options| options.trust(Policy::Any, &[B])),
        ],
    ),
    good(
        "policy_all_of_two",
        SYSTEM,
        "Both trusted keys signed, and a third key.",
        &[
            Fields(|draft| draft.blocks = [A, C, B].map(Block::By).into()),
            Options(|options| options.trust(Policy::All, &[B, A])),
        ],
    ),
    good(
        "untrusted_signature_changed",
        SYSTEM,
        "The second signer is not trusted: its signature is not checked, so it can be changed.",
        &[
            Fields(|draft| draft.blocks = [A, B].map(Block::By).into()),
            Options(|options| options.trust(Policy::Any, &[A])),
            Area(|area| area[112 + 80] ^= 1),
        ],
    ),
    good(
        "untrusted_key_of_small_order",
        SYSTEM,
        "The second signer is not trusted: its key, which would be refused, is not parsed.",
        &[
            Fields(|draft| draft.blocks = vec![Block::By(A), Block::Unusual(&KEY_ORDER_8)]),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    good(
        "foreign_block_changed",
        SYSTEM,
        "A signature of an algorithm that is not carried is not checked, so it can be changed.",
        &[
            Fields(|draft| draft.blocks.push(Block::foreign())),
            Options(|options| options.trust(Policy::Any, &[A])),
            File(|file| {
                let end = u32::from_le_bytes([file[16], file[17], file[18], file[19]]) as usize;
                file[end + 112 + 16 + 16] ^= 1;
            }),
        ],
    ),
    good(
        "signature_area_to_end_of_page",
        SYSTEM,
        "The signature area ends on a page, so no padding follows it.",
        &[
            Fields(|draft| {
                // The metadata has 4096 bytes; the sizes of all other parts are subtracted.
                let signature = vec![0xa5; 4096 - 600 - 64 - 112 - 16 - 16];
                draft.blocks.push(Block::Foreign { public_key: vec![1; 12], signature });
            }),
            Options(|options| options.trust(Policy::Any, &[A])),
        ],
    ),
    good(
        "ed25519_mixed_key_hidden",
        SYSTEM,
        "The key has a component of small order, and the equation holds without a cofactor.",
        &[Fields(|draft| draft.blocks = vec![Block::Unusual(&KEY_MIXED_HIDDEN)])],
    ),
    good(
        "ed25519_mixed_key_and_r",
        SYSTEM,
        "Key and R have components of small order that cancel each other in the equation.",
        &[Fields(|draft| draft.blocks = vec![Block::Unusual(&KEY_AND_R_MIXED)])],
    ),
    good(
        "medium_goes_on",
        SYSTEM,
        "What follows the bundle on a medium is not part of it.",
        &[
            File(|file| file.extend(b"whatever the medium held before")),
            Options(|options| options.medium = true),
        ],
    ),
];
