//! Tests of the whole verification, over a platform in memory: bundles that boot, each reason of the order of §8 that
//! this file decides, and faults. A fault is a branch that is not taken, or a redundant check that finds a defect; the
//! verdict alone has to refuse then.

use core::num::NonZeroU64;
use std::vec::Vec;

use ed25519_dalek::{Signer as _, SigningKey};
use hartlock_image::{
    Closing, Extensions, HashId, Identity, KEY_ID_SIZE, Label, Lifecycle, Name, PayloadType,
    Policy, TreeMode, TrustList, encode_manifest,
};

use super::*;
use crate::Placement;
use crate::board::{Board, Fixed, Place, Region};
use crate::faults::{self, Fault};
use crate::tree;

const ED25519: (u32, u32) = (1, 0);
/// Numbers of an algorithm that no verifier has.
const FOREIGN: (u32, u32) = (999, 0);
const KERNEL: Region = Region::new(0x8200_0000, 0x10_0000);
const INITRAMFS: Region = Region::new(0x8800_0000, 0x10_0000);
const FDT: Region = Region::new(0x8600_0000, 0x1_0000);

const fn place(payload_type: PayloadType, region: Region) -> Place {
    Place { payload_type, region, fixed: Fixed::No }
}

static BOARD: Board<'static> = Board {
    name: "board",
    soc: "soc",
    hart_count: 1,
    max_bootargs: 1023,
    places: &[
        place(PayloadType::Kernel, KERNEL),
        place(PayloadType::Initramfs, INITRAMFS),
        place(PayloadType::SystemFdt, FDT),
    ],
    live_in_rom: &[],
    live_in_loader: &[],
    closed: &[],
};
/// The same board with memory in use where the kernel is loaded.
static BUSY: Board<'static> = Board { live_in_loader: &[KERNEL], ..BOARD };

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn signer(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

fn record(number: u8) -> KeyRecord {
    let (algorithm, parameters) = ED25519;
    let public_key = signer(number).verifying_key().to_bytes();
    KeyRecord { algorithm, parameters, key_id: crate::key_id(algorithm, parameters, &public_key) }
}

fn trust(policy: Policy, keys: &[u8]) -> TrustList {
    TrustList { policy, keys: keys.iter().map(|number| record(*number)).collect() }
}

/// The requirements of a device that trusts the keys 1 and 2.
fn acceptance() -> Acceptance<'static> {
    Acceptance::of_device(
        BundleType::System,
        (trust(Policy::Any, &[1, 2]), 0),
        Identity { board: name("board"), soc: name("soc") },
        (7, Some(3)),
        Lifecycle::Production,
        &BOARD,
    )
}

/// A bundle in memory, and what was asked of it.
struct Memory {
    file: Vec<u8>,
    /// True for each byte that was read.
    seen: Vec<bool>,
    must_end: bool,
    /// The read with this number fails.
    broken_read: Option<usize>,
    reads: usize,
    loads: Vec<u64>,
    metadata_size: usize,
    /// Answers about the place of the first payload: to the first question, and to the second.
    refused: [u32; 2],
    asked: usize,
}

impl Platform for Memory {
    fn medium_len(&self) -> u64 {
        self.file.len() as u64
    }

    fn ends_with_bundle(&self) -> bool {
        self.must_end
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        self.reads += 1;
        if self.broken_read == Some(self.reads) {
            return Err(Reason::MediumError);
        }
        let range = offset as usize..offset as usize + into.len();
        into.copy_from_slice(&self.file[range.clone()]);
        for seen in &mut self.seen[range] {
            assert!(!*seen, "a byte is read twice");
            *seen = true;
        }
        Ok(())
    }

    fn refuses_place(&mut self, payload: &PayloadRecord) -> u32 {
        self.asked += 1;
        let [first, second] = self.refused;
        match payload.payload_type {
            PayloadType::Kernel if self.asked <= 3 => first,
            PayloadType::Kernel => second,
            _ => 0,
        }
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        self.loads.push(payload.load_address);
        let size = payload.size.next_multiple_of(PAGE_SIZE) as usize;
        let mut bytes = std::vec![0; size];
        self.read(payload.offset, &mut bytes)?;
        let (content, padding) = bytes.split_at(payload.size as usize);
        Ok(Loaded { digest: tree::digest(payload, content), padding: bits_of(padding) })
    }
}

/// A bundle by its parts.
struct Draft {
    signers: Vec<u8>,
    has_foreign: bool,
    boot_version: u64,
    payloads: Vec<PayloadRecord>,
    /// Changes the signed bytes before they are signed.
    edit: fn(&mut [u8]),
}

fn draft() -> Draft {
    let payload = |payload_type: PayloadType, region: Region, size, mode| PayloadRecord {
        payload_type,
        hash: HashId::Sha384,
        mode,
        offset: 0,
        size,
        load_address: region.start,
        memory_size: 0x4000,
        entry: if payload_type.is_code() { region.start } else { 0 },
        digest: [0; 64],
    };
    Draft {
        signers: std::vec![1, 2],
        has_foreign: false,
        boot_version: 3,
        payloads: std::vec![
            payload(PayloadType::Kernel, KERNEL, 9001, TreeMode::Blocks { block_size: 4096 }),
            payload(PayloadType::Initramfs, INITRAMFS, 4096, TreeMode::Flat),
            payload(PayloadType::SystemFdt, FDT, 3000, TreeMode::Flat),
        ],
        edit: |_| (),
    }
}

impl Draft {
    fn build(mut self) -> Memory {
        let foreign = [(FOREIGN, b"a key of others".to_vec(), std::vec![0xa5; 40])];
        let blocks = self.signers.len() * 112 + if self.has_foreign { 16 + 16 + 40 } else { 0 };
        let mut offset = PAGE_SIZE;
        let mut contents = Vec::new();
        for (index, payload) in self.payloads.iter_mut().enumerate() {
            payload.offset = offset;
            let byte = |at: u64| (at as u8).wrapping_mul(37) ^ index as u8 | 1;
            let bytes: Vec<u8> = (0..payload.size).map(byte).collect();
            payload.digest = tree::digest(payload, &bytes);
            offset += payload.size.next_multiple_of(PAGE_SIZE);
            contents.extend(bytes);
            contents.resize((offset - PAGE_SIZE) as usize, 0);
        }
        let mut signers: List<KeyRecord, MAX_SIGNERS> =
            self.signers.iter().map(|number| record(*number)).collect();
        if self.has_foreign {
            let [((algorithm, parameters), key, _)] = &foreign;
            let key_id = crate::key_id(*algorithm, *parameters, key);
            assert!(signers.push(KeyRecord {
                algorithm: *algorithm,
                parameters: *parameters,
                key_id
            }));
        }
        let manifest = Manifest {
            bundle_type: BundleType::System,
            signatures_size: blocks as u32,
            bundle_size: offset,
            security_version: 7,
            created: 0,
            lifecycle_mask: Lifecycle::Production.bit(),
            identity: Identity { board: name("board"), soc: name("soc") },
            label: Label::new("a test").unwrap(),
            signers,
            payloads: self.payloads.iter().copied().collect(),
            extensions: Extensions {
                boot_version: NonZeroU64::new(self.boot_version),
                ..Extensions::NONE
            },
            closing: Closing::Bootargs(b"quiet"),
        };
        let mut file = std::vec![0; PAGE_SIZE as usize];
        let signed = encode_manifest(&manifest, &mut file).unwrap();
        (self.edit)(&mut file[..signed]);
        let mut area = Vec::new();
        let mut put = |(algorithm, parameters): (u32, u32), key: &[u8], signature: &[u8]| {
            for field in [algorithm, parameters, key.len() as u32, signature.len() as u32] {
                area.extend(field.to_le_bytes());
            }
            for part in [key, signature] {
                area.extend(part);
                area.resize(area.len().next_multiple_of(8), 0);
            }
        };
        for number in &self.signers {
            let key = signer(*number);
            let signature = key.sign(&file[..signed]).to_bytes();
            put(ED25519, key.verifying_key().as_bytes(), &signature);
        }
        if self.has_foreign {
            let [(numbers, key, signature)] = &foreign;
            put(*numbers, key, signature);
        }
        assert_eq!(area.len(), blocks);
        file[signed..signed + blocks].copy_from_slice(&area);
        file.extend(contents);
        Memory {
            seen: std::vec![false; file.len()],
            file,
            must_end: true,
            broken_read: None,
            reads: 0,
            loads: Vec::new(),
            metadata_size: signed + blocks,
            refused: [0; 2],
            asked: 0,
        }
    }
}

/// Runs the whole verification, and takes both decisions.
fn run(memory: &mut Memory, first: &Acceptance<'_>, again: &Acceptance<'_>) -> Result<(), Reason> {
    let mut metadata = [0xee; 4096];
    let mut bundle = authenticate(memory, first, again, &mut metadata)?;
    bundle.load_payloads(memory)?;
    let verdict = bundle.conclude()?;
    assert!(verdict.is_accepted() && verdict.is_confirmed());
    Ok(())
}

fn judge(memory: &mut Memory) -> Result<(), Reason> {
    run(memory, &acceptance(), &acceptance())
}

#[test]
fn a_good_bundle_is_read_once_and_loaded_in_order() {
    for (signers, has_foreign) in [(&[1][..], false), (&[1, 2], false), (&[2], true)] {
        let mut memory = Draft { signers: signers.to_vec(), has_foreign, ..draft() }.build();
        assert_eq!(judge(&mut memory), Ok(()), "{signers:?}");
        assert!(memory.seen.iter().all(|seen| *seen), "a byte is not read");
        assert_eq!(memory.loads, [KERNEL.start, INITRAMFS.start, FDT.start]);
    }
}

#[test]
fn a_command_line_that_the_kernel_of_the_board_would_cut_is_refused() {
    for (max_bootargs, result) in [(5, Ok(())), (4, Err(Reason::BootargsTooLong))] {
        let board = Board { max_bootargs, ..BOARD };
        let accepted = Acceptance { placement: Placement::Board(&board), ..acceptance() };
        assert_eq!(run(&mut draft().build(), &accepted, &accepted), result, "{max_bootargs}");
    }
}

#[test]
fn a_platform_refuses_places_and_is_asked_twice() {
    for (answer, reason) in [
        (701, Reason::OutsideMemory),
        (702, Reason::OverlapsLiveRegion),
        (703, Reason::WrongLoadAddress),
        (1, Reason::OutsideMemory),
    ] {
        let mut memory = Memory { refused: [answer, 0], ..draft().build() };
        assert_eq!(judge(&mut memory), Err(reason), "{answer}");
        assert!(memory.loads.is_empty());
    }
    let mut memory = Memory { refused: [0, 702], ..draft().build() };
    assert_eq!(judge(&mut memory), Err(Reason::VerdictNotConfirmed));
    let mut memory = draft().build();
    assert_eq!((judge(&mut memory), memory.asked), (Ok(()), 6));
}

#[test]
fn what_is_authenticated_is_what_was_signed() {
    let mut memory = draft().build();
    let file = memory.file.clone();
    let mut metadata = [0; 4096];
    let requirements = acceptance();
    let bundle = authenticate(&mut memory, &requirements, &requirements, &mut metadata).unwrap();
    let signed = memory.metadata_size - 2 * 112;
    assert_eq!(bundle.signed(), &file[..signed]);
    assert_eq!(bundle.manifest().payloads.len(), 3);
    assert_eq!(bundle.manifest().security_version, 7);
}

#[test]
fn a_bundle_that_ends_early_or_late_is_refused() {
    for (len, reason) in [(0, Reason::Truncated), (HEADER_SIZE - 1, Reason::Truncated)] {
        let mut memory = draft().build();
        memory.file.truncate(len);
        assert_eq!(judge(&mut memory), Err(reason));
        assert_eq!(memory.reads, 0, "it reads past the end");
    }
    let mut memory = draft().build();
    memory.file.truncate(memory.metadata_size - 1);
    assert_eq!(judge(&mut memory), Err(Reason::Truncated));
    assert_eq!(memory.reads, 1, "it reads past the end");
    let mut memory = draft().build();
    let len = memory.file.len();
    memory.file.truncate(len - 1);
    assert_eq!(judge(&mut memory), Err(Reason::Truncated));
    assert!(memory.loads.is_empty());
    let mut memory = draft().build();
    memory.file.push(0);
    memory.seen.push(false);
    assert_eq!(judge(&mut memory), Err(Reason::TrailingBytes));
    memory.seen.fill(false);
    memory.must_end = false;
    assert_eq!(judge(&mut memory), Ok(()), "a medium may be longer than its bundle");
}

#[test]
fn the_metadata_of_the_shortest_media_are_read() {
    // A medium of exactly the header is long enough for the header, and one of exactly the metadata for these.
    let mut memory = draft().build();
    memory.file.truncate(HEADER_SIZE);
    assert_eq!(judge(&mut memory), Err(Reason::Truncated));
    assert_eq!(memory.reads, 1);
    let mut memory = draft().build();
    memory.file.truncate(memory.metadata_size);
    assert_eq!(judge(&mut memory), Err(Reason::Truncated));
    assert_eq!(memory.reads, 2);
}

#[test]
fn a_buffer_that_is_too_small_is_refused() {
    let size = draft().build().metadata_size;
    for len in [0, HEADER_SIZE - 1, HEADER_SIZE, size - 1] {
        let mut memory = draft().build();
        let mut metadata = std::vec![0; len];
        let requirements = acceptance();
        let made = authenticate(&mut memory, &requirements, &requirements, &mut metadata);
        assert_eq!(made.err(), Some(Reason::InternalLimit), "{len}");
    }
    let mut memory = draft().build();
    let mut metadata = std::vec![0; size];
    let requirements = acceptance();
    assert!(authenticate(&mut memory, &requirements, &requirements, &mut metadata).is_ok());
}

#[test]
fn a_read_that_fails_is_a_refusal() {
    let reads = {
        let mut memory = draft().build();
        judge(&mut memory).unwrap();
        memory.reads
    };
    for broken in 1..=reads {
        let mut memory = draft().build();
        memory.broken_read = Some(broken);
        assert_eq!(judge(&mut memory), Err(Reason::MediumError), "{broken}");
    }
}

#[test]
fn keys_that_this_build_cannot_verify_are_refused_if_they_are_trusted() {
    let mut requirements = acceptance();
    let foreign = KeyRecord { algorithm: 999, parameters: 0, key_id: [9; KEY_ID_SIZE] };
    requirements.trust.keys = [record(1), foreign].into_iter().collect();
    let found = run(&mut draft().build(), &requirements, &requirements);
    assert_eq!(found, Err(Reason::TrustedAlgorithmMissing));
    // A revoked key does not have to be verified.
    requirements.revoked_keys = 0b10;
    let mut memory = Draft { signers: std::vec![1], ..draft() }.build();
    assert_eq!(run(&mut memory, &requirements, &requirements), Ok(()));
}

#[test]
fn every_flipped_bit_of_a_signature_is_refused() {
    let good = draft().build();
    let start = good.metadata_size - 64;
    for bit in (0..64 * 8).step_by(5) {
        let mut memory = draft().build();
        memory.file[start + bit / 8] ^= 1 << (bit % 8);
        let reason = judge(&mut memory).unwrap_err();
        let is_of_signature =
            matches!(reason, Reason::SignatureMismatch | Reason::SignatureNotCanonical);
        assert!(is_of_signature, "{bit}: {reason:?}");
    }
}

/// A bundle with one fault, and the reason for its refusal.
fn bad() -> [(Memory, Reason); 6] {
    let of_signature = |at_end: usize| {
        let mut memory = draft().build();
        let at = memory.metadata_size - at_end;
        memory.file[at] ^= 1;
        memory
    };
    let flipped = |at: usize| {
        let mut memory = draft().build();
        memory.file[at] ^= 1;
        memory
    };
    let page = PAGE_SIZE as usize;
    [
        // The first byte of R, of the first signer and of the second.
        (of_signature(112 + 64), Reason::SignatureMismatch),
        (of_signature(64), Reason::SignatureMismatch),
        (flipped(page - 1), Reason::PaddingNotZero),
        (flipped(page + 17), Reason::PayloadDigestMismatch),
        (flipped(page + 9001), Reason::PaddingNotZero),
        (flipped(5 * page + 2999), Reason::PayloadDigestMismatch),
    ]
}

#[test]
fn each_fault_is_refused_by_its_branch() {
    for (mut memory, reason) in bad() {
        assert_eq!(judge(&mut memory), Err(reason));
    }
}

#[test]
fn no_branch_is_needed_for_a_refusal() {
    let (verdict, branches) = faults::with(Fault::EveryBranch, || judge(&mut draft().build()));
    assert_eq!(verdict, Ok(()), "a good bundle does not need the branches");
    // One for each signature, one for the padding of the metadata, two for each payload.
    assert_eq!(branches, 2 + 1 + 2 * 3);
    for (mut memory, reason) in bad() {
        let (verdict, _) = faults::with(Fault::EveryBranch, || judge(&mut memory));
        assert_eq!(verdict, Err(Reason::VerdictNotConfirmed), "{reason:?}");
    }
    // The same with one branch at a time. That of the fault is reached and skipped, or another one refuses.
    for skipped in 0..branches {
        for (mut memory, reason) in bad() {
            let (verdict, _) = faults::with(Fault::Branch(skipped), || judge(&mut memory));
            let refused = verdict.unwrap_err();
            assert!(refused == reason || refused == Reason::VerdictNotConfirmed, "{refused:?}");
        }
    }
}

#[test]
fn every_bit_that_a_redundant_check_finds_stops_the_boot() {
    for check in ["signers", "parsed", "device", "ranges", "placement"] {
        for bit in 0..64 {
            let fault = Fault::Defect(check, 1 << bit);
            let (verdict, _) = faults::with(fault, || judge(&mut draft().build()));
            assert_eq!(verdict, Err(Reason::VerdictNotConfirmed), "{check} {bit}");
        }
    }
    // A check of this name does not exist, so that nothing is forced.
    let (verdict, _) = faults::with(Fault::Defect("none", 1), || judge(&mut draft().build()));
    assert_eq!(verdict, Ok(()));
}

#[test]
fn what_the_first_check_lets_through_is_stopped_by_the_second() {
    // The first reading of the requirements lacks one of them, as if its branch were not there.
    let good = acceptance();
    let strict = [
        Acceptance { floor: Some(8), ..good },
        Acceptance { boot_version: Some(2), ..good },
        Acceptance { lifecycle: Some(Lifecycle::Development), ..good },
        Acceptance { board: Some(name("other")), ..good },
        Acceptance { soc: Some(name("other")), ..good },
        Acceptance { bundle_type: Some(BundleType::Boot), ..good },
        Acceptance { revoked_keys: 0b01, ..good },
        Acceptance { trust: trust(Policy::All, &[1, 2, 3]), ..good },
        Acceptance { trust: trust(Policy::Any, &[2]), ..good },
        Acceptance { trust: trust(Policy::Hybrid, &[1, 2]), ..good },
        Acceptance { placement: Placement::Board(&BUSY), ..good },
    ];
    let reasons = [
        Reason::RollbackBelowFloor,
        Reason::BootVersionTooOld,
        Reason::LifecycleNotAllowed,
        Reason::WrongBoard,
        Reason::WrongSoc,
        Reason::WrongBundleType,
        Reason::VerdictNotConfirmed,
        Reason::PolicyAllNotMet,
        Reason::VerdictNotConfirmed,
        Reason::PolicyHybridNotMet,
        Reason::OverlapsLiveRegion,
    ];
    for (index, (strict, reason)) in strict.iter().zip(reasons).enumerate() {
        let (lax, strict) = (&good, strict);
        let found = run(&mut draft().build(), lax, strict);
        assert_eq!(found, Err(Reason::VerdictNotConfirmed), "{index}");
        // Where both readings have the requirement, the branch gives its reason. A key that is not trusted or revoked is
        // not counted, and another one suffices.
        let found = run(&mut draft().build(), strict, strict);
        match reason {
            Reason::VerdictNotConfirmed => assert_eq!(found, Ok(()), "{index}"),
            reason => assert_eq!(found, Err(reason), "{index}"),
        }
        // A second reading that lacks the requirement changes nothing.
        let found = run(&mut draft().build(), strict, lax);
        match reason {
            Reason::VerdictNotConfirmed => assert_eq!(found, Ok(()), "{index}"),
            reason => assert_eq!(found, Err(reason), "{index}"),
        }
    }
}

#[test]
fn nobody_is_trusted_without_a_signature_that_counts() {
    for policy in [Policy::Any, Policy::All, Policy::Hybrid] {
        let strangers = Acceptance { trust: trust(policy, &[3]), ..acceptance() };
        let found = run(&mut draft().build(), &strangers, &strangers);
        assert_eq!(found, Err(Reason::NoTrustedSigner));
    }
    let strangers = Acceptance { trust: trust(Policy::EverySigner, &[3]), ..acceptance() };
    let found = run(&mut draft().build(), &strangers, &strangers);
    assert_eq!(found, Err(Reason::SignerWithoutKey));
    let every = Acceptance { trust: trust(Policy::EverySigner, &[2, 1]), ..acceptance() };
    assert_eq!(run(&mut draft().build(), &every, &every), Ok(()));
}

#[test]
fn a_verification_that_is_not_whole_has_no_verdict() {
    let requirements = acceptance();
    let mut metadata = [0; 4096];
    let mut memory = draft().build();
    let mut bundle =
        authenticate(&mut memory, &requirements, &requirements, &mut metadata).unwrap();
    assert_eq!(bundle.conclude().err(), Some(Reason::VerdictNotConfirmed), "nothing is loaded");
    bundle.load_payloads(&mut memory).unwrap();
    assert!(bundle.conclude().is_ok());
    memory.seen.fill(false);
    bundle.load_payloads(&mut memory).unwrap();
    assert_eq!(bundle.conclude().err(), Some(Reason::VerdictNotConfirmed), "loaded twice");
}

#[test]
fn a_signed_manifest_that_is_malformed_is_refused() {
    let mut memory = Draft { edit: |signed| signed[192] = 1, ..draft() }.build();
    assert_eq!(judge(&mut memory), Err(Reason::ReservedNotZero));
}

#[test]
fn bits_of_bytes_are_their_disjunction() {
    assert_eq!(bits_of(&[]), 0);
    assert_eq!(bits_of(&[0, 0]), 0);
    assert_eq!(bits_of(&[0x81, 0x81, 0x02]), 0x83);
}

/// A platform that states only what it has to.
struct Plain(Memory);

impl Platform for Plain {
    fn medium_len(&self) -> u64 {
        self.0.medium_len()
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        self.0.read(offset, into)
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        self.0.load(payload)
    }
}

#[test]
fn a_medium_may_be_longer_if_its_platform_does_not_say_otherwise() {
    let mut memory = draft().build();
    memory.file.push(0);
    memory.seen.push(false);
    let (mut plain, mut metadata) = (Plain(memory), [0; 4096]);
    let requirements = acceptance();
    let mut bundle = authenticate(&mut plain, &requirements, &requirements, &mut metadata).unwrap();
    assert_eq!(bundle.load_payloads(&mut plain), Ok(()));
    assert!(bundle.conclude().is_ok());
}

#[test]
fn nothing_is_accepted_without_a_signature() {
    let mut memory = draft().build();
    let requirements = acceptance();
    let mut metadata = [0; 4096];
    let mut bundle =
        authenticate(&mut memory, &requirements, &requirements, &mut metadata).unwrap();
    bundle.load_payloads(&mut memory).unwrap();
    // The progress that a bundle without a signature would have, with all other steps.
    let mut progress = Progress::start()
        .step(Checkpoint::Policy)
        .compared(0)
        .step(Checkpoint::Manifest)
        .compared(0)
        .step(Checkpoint::Acceptance)
        .compared(0)
        .step(Checkpoint::Placement)
        .compared(0)
        .compared(0);
    for (index, payload) in (MAX_SIGNERS as u32..).zip(bundle.manifest.payloads.iter()) {
        let equal = harden::seal(index) ^ harden::mark(payload);
        progress = progress.step(Checkpoint::Payload).compared(equal).compared(0);
    }
    let bundle = Authenticated { counted: 0, progress, ..bundle };
    assert_eq!(bundle.conclude().err(), Some(Reason::VerdictNotConfirmed));
}

#[test]
fn one_block_is_checked_for_tools() {
    let memory = draft().build();
    let (signed, rest) = memory.file.split_at(memory.metadata_size - 2 * 112);
    let check = |area: &[u8], signed: &[u8]| {
        let blocks = SignatureBlocks::parse(area).unwrap();
        crate::check_signature(blocks.iter().next().unwrap(), signed)
    };
    let area = rest[..112].to_vec();
    assert_eq!(check(&area, signed), Some(Ok(())));
    assert_eq!(check(&area, &signed[1..]), Some(Err(Reason::SignatureMismatch)));
    let mut foreign = area;
    foreign[..4].copy_from_slice(&FOREIGN.0.to_le_bytes());
    assert_eq!(check(&foreign, signed), None);
}
