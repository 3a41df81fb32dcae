//! Decisions of the first-stage boot loader of a TEE, with engines that are right, wrong or broken.

use std::boxed::Box;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::vec::Vec;

use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use hartlock_image::{
    BundleType, HashId, Identity, Lifecycle, PAGE_SIZE, PayloadType, Policy, Reason, TreeMode,
};
use hartlock_kernels::Kernels;
use hartlock_kernels::ed25519_keystone;
use hartlock_kernels::ed25519_signer::KeyPair;
use hartlock_kernels::engines::{
    Attached, Attachment, Challenge, EngineFault as Fault, EngineKind, Engines, PART_UNIT,
    Sha3Digest, SigningSlot as Slot, Wipe,
};
use hartlock_kernels::signature::Rejection;
use hartlock_maps::hartlock_soc as map;
use hartlock_testkit::bundle::{Draft, Edit, Payload, build, identity, name, trust};
use hartlock_testkit::keys::A;
use hartlock_verify::Acceptance;
use hartlock_verify::board::Region;

use hartlock_fsbl::*;

const PAGE: usize = PAGE_SIZE as usize;

/// SHA3-512 of `a device of the tests`, clamped.
const SECRET: &str = "38397ca1a7c40ce1182c9b837ba22c1643d028e98a575bf2f48bb3518c348560e43f5cab125682e587ccb800bfdf4b5f99246f0d532482d40ede8f9e59d939b5";
/// SHA3-512 of `a monitor`.
const MEASUREMENT: &str = "e76414db26e47b00f1ed9a986e019df382af8536102e7373bc581a3b24f85705aa83925846c45dd77da1124317f8a5f4cef580111d8f1cd4bc5128eafef9bd0d";
// These values were computed by a program with Python's hashlib and the formulas of RFC 8032.
const SECRET_KEY: &str = "f8e303071891167a62635078ffbb52e1dd1a24c32488691a560364c79e3f056696a60a0e63a2b9c5b089b22ae0ee13654355465bf63e9bb4269308a8d761a645";
const PUBLIC_KEY: &str = "5a4495503943a4c55f0609cf678341c871f9b9cc325b9e7b44f89eb5c3ab295b";
const DEVICE_PUBLIC_KEY: &str = "14e68d06ba740fb1652ba467eb920fe242688f056939e5386197060fc8b60792";
const SIGNATURE: &str = "d25d2af0d786c338971b696cedd48426633c857cd6f2174f922b7d640bba500587066fd66b78a39b62df432709b0464ec517b2b96e9b55f95792a31d70af9b05";

fn hex<const N: usize>(text: &str) -> [u8; N] {
    assert_eq!(text.len(), 2 * N);
    core::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
}

fn secret() -> ExpandedDeviceKey {
    let mut secret = ExpandedDeviceKey::EMPTY;
    secret.take(|bytes| *bytes = hex(SECRET), || true).unwrap();
    secret
}

/// Endorses the monitor of the tests.
fn endorsed(computer: &mut Computer) -> Result<Endorsement, Reason> {
    let mut made = Endorsement { measurement: hex(MEASUREMENT), ..Endorsement::EMPTY };
    endorse(computer, &secret(), &mut made, |_| ()).map(|()| made)
}

/// A model of a hash engine. It returns correct digests until `left` is used up, and can flip bits of its digests.
struct Hashes {
    left: usize,
    flip: u8,
    can_wipe: bool,
    /// Parts of the message so far, if the engine supports messages in parts.
    parts: Option<Vec<u8>>,
}

impl Hashes {
    const GOOD: Self = Self { left: usize::MAX, flip: 0, can_wipe: true, parts: None };
}

impl Hashes {
    fn digest(&mut self, parts: &[&[u8]], into: &mut Sha3Digest) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        into.0 = software().digest(parts);
        into.0[63] ^= self.flip;
        Some(())
    }

    fn digest_of_memory(&mut self, bytes: &[u8], into: &mut Sha3Digest) -> Option<()> {
        assert!(self.parts.is_none(), "memory is hashed part by part");
        self.digest(&[bytes], into)
    }

    fn begin_parts(&mut self) -> Option<bool> {
        self.parts.as_mut().map(Vec::clear);
        Some(self.parts.is_some())
    }

    fn part(&mut self, bytes: &[u8], is_last: bool) -> Option<()> {
        assert!(is_last || bytes.len().is_multiple_of(PART_UNIT));
        self.left = self.left.checked_sub(1)?;
        self.parts.as_mut()?.extend_from_slice(bytes);
        Some(())
    }

    fn end_parts(&mut self, into: &mut Sha3Digest) -> Option<()> {
        let message = self.parts.clone()?;
        self.digest(&[&message], into)
    }
}

impl Wipe for Hashes {
    fn wipe(&mut self) -> Option<()> {
        self.can_wipe.then_some(())
    }
}

/// A model of a signature engine, which answers a limited number of times.
struct Signs {
    slots: [Option<[u8; 64]>; 3],
    left: usize,
    flip_key: u8,
    flip_signature: u8,
    can_wipe: bool,
    /// Overriding answers of verifications, the last one first.
    says: Vec<Result<(), Rejection>>,
    /// Number of slots with a key, shared with the test.
    keys: Option<Rc<Cell<usize>>>,
    /// The change of the engine after it was tested.
    change: Change,
    /// Keys that it was given.
    loads: usize,
    wipes: usize,
}

/// The change of an engine after its known answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Never,
    /// The public key of the device is wrong, and it does not sign.
    Ages,
    /// The engine does not clear its keys.
    Keeps,
}

impl Signs {
    const GOOD: Self = Self {
        slots: [None; 3],
        left: usize::MAX,
        flip_key: 0,
        flip_signature: 0,
        can_wipe: true,
        says: Vec::new(),
        keys: None,
        change: Change::Never,
        loads: 0,
        wipes: 0,
    };

    fn tell(&self) {
        if let Some(keys) = &self.keys {
            keys.set(self.slots.iter().flatten().count());
        }
    }
}

impl Signs {
    fn load(&mut self, slot: Slot, expanded: &[u8; 64], into: &mut [u8; 32]) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        // A slot can be written only once.
        if self.slots[slot as usize].replace(*expanded).is_some() {
            return None;
        }
        self.tell();
        *into = *KeyPair::new(expanded).unwrap().public_key();
        into[0] ^= self.flip_key;
        self.loads += 1;
        // The key after the known answer is that of the device.
        self.flip_key =
            if self.change == Change::Ages { u8::from(self.loads == 1) } else { self.flip_key };
        Some(())
    }

    fn sign(
        &mut self,
        slot: Slot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        into: &mut [u8; 64],
    ) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if self.change == Change::Ages && slot != Slot::Known {
            return None;
        }
        let expanded = self.slots[slot as usize]?;
        let (scalar, _) = expanded.split_first_chunk().unwrap();
        let s = Scalar::from_bytes_mod_order(clamp_integer(*scalar));
        let r = Scalar::from_bytes_mod_order_wide(nonce);
        let point = EdwardsPoint::mul_base(&r).compress().to_bytes();
        let k = Scalar::from_bytes_mod_order_wide(&challenge(&point));
        into.copy_from_slice(&[point, (r + k * s).to_bytes()].concat());
        into[63] ^= self.flip_signature;
        Some(())
    }

    fn verify(
        &mut self,
        key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        Some(self.says.pop().unwrap_or_else(|| verified(key, signature, challenge)))
    }
}

impl Wipe for Signs {
    fn wipe(&mut self) -> Option<()> {
        self.slots = [None; 3];
        self.tell();
        self.wipes += 1;
        (self.can_wipe && (self.change != Change::Keeps || self.wipes == 1)).then_some(())
    }
}

/// Both engines, or one of them.
struct Both {
    hash: Attached<Hashes>,
    sign: Attached<Signs>,
}

// SAFETY: the thread of the test that made it is its only user.
#[allow(unsafe_code, reason = "tests have one thread each")]
unsafe impl Sync for Both {}

impl Engines for Both {
    fn attachment(&self, kind: EngineKind) -> Option<&dyn Attachment> {
        match kind {
            EngineKind::Sha3 => Some(&self.hash),
            EngineKind::Ed25519 => Some(&self.sign),
            _ => None,
        }
    }

    fn sha3(&self, hash: HashId, parts: &[&[u8]], into: &mut Sha3Digest) -> Option<()> {
        if hash != HashId::Sha3_512 {
            return None;
        }
        self.hash.ask(|engine| engine.digest(parts, into))
    }

    fn sha3_of_memory(&self, hash: HashId, bytes: &[u8], into: &mut Sha3Digest) -> Option<()> {
        assert_eq!(hash, HashId::Sha3_512);
        self.hash.ask(|engine| engine.digest_of_memory(bytes, into))
    }

    fn begin_sha3_parts(&self) -> Option<bool> {
        self.hash.ask(Hashes::begin_parts)
    }

    fn sha3_part(&self, bytes: &[u8], is_last: bool) -> Option<()> {
        self.hash.ask(|engine| engine.part(bytes, is_last))
    }

    fn end_sha3_parts(&self, into: &mut Sha3Digest) -> Option<()> {
        self.hash.ask(|engine| engine.end_parts(into))
    }

    fn verify_ed25519(
        &self,
        key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        self.sign.ask(|engine| engine.verify(key, signature, challenge))
    }

    fn load_ed25519(&self, slot: Slot, expanded: &[u8; 64], into: &mut [u8; 32]) -> Option<()> {
        self.sign.ask(|engine| engine.load(slot, expanded, into))
    }

    fn sign_ed25519(
        &self,
        slot: Slot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        into: &mut [u8; 64],
    ) -> Option<()> {
        self.sign.ask(|engine| engine.sign(slot, nonce, challenge, into))
    }
}

/// Kernels with these engines.
fn joined(hash: Option<Hashes>, sign: Option<Signs>) -> Kernels {
    let (hash, sign) = (Attached::new(hash), Attached::new(sign));
    Kernels::PORTABLE.join(Box::leak(Box::new(Both { hash, sign })))
}

fn computer(hash: Option<Hashes>, sign: Option<Signs>) -> Computer {
    Computer::new(joined(hash, sign))
}

/// Checks that an endorsement has the known values.
fn is_known(made: &Endorsement) {
    assert_eq!(made.measurement, hex(MEASUREMENT));
    assert_eq!(made.secret_key, hex(SECRET_KEY));
    assert_eq!(made.public_key, hex(PUBLIC_KEY));
    assert_eq!(made.device_public_key, hex(DEVICE_PUBLIC_KEY));
    assert_eq!(made.signature, hex(SIGNATURE));
}

#[test]
fn derives_and_endorses_as_another_program_does() {
    let mut software = software();
    let mut points = Vec::new();
    let mut made = Endorsement { measurement: hex(MEASUREMENT), ..Endorsement::EMPTY };
    endorse(&mut software, &secret(), &mut made, |point| points.push(point)).unwrap();
    is_known(&made);
    assert_eq!(points, [Point::DeviceKey, Point::Derived, Point::KeyPair, Point::Endorsed]);
    assert_eq!(software.fault(), [Some(Fault::Missing); 2]);
}

#[test]
fn a_verifier_accepts_the_endorsement_and_keys_of_the_monitor_sign() {
    let message = [&hex::<64>(MEASUREMENT)[..], &hex::<32>(PUBLIC_KEY)].concat();
    let verified = ed25519_keystone::verify(&hex(DEVICE_PUBLIC_KEY), &message, &hex(SIGNATURE));
    assert_eq!(verified, Ok(()));
    let expanded = hex(SECRET_KEY);
    let pair = KeyPair::new(&expanded).unwrap();
    assert_eq!(*pair.public_key(), hex::<32>(PUBLIC_KEY));
}

#[test]
fn engines_give_the_same() {
    let mut engines = computer(Some(Hashes::GOOD), Some(Signs::GOOD));
    assert_eq!(engines.fault(), [None; 2]);
    is_known(&endorsed(&mut engines).unwrap());
    assert_eq!(engines.fault(), [None; 2]);
}

#[test]
fn software_does_what_engines_answer_wrong() {
    let wrong = [
        Signs { flip_key: 1, ..Signs::GOOD },
        Signs { flip_signature: 1, ..Signs::GOOD },
        Signs { can_wipe: false, ..Signs::GOOD },
    ];
    for sign in wrong {
        let mut engines = computer(Some(Hashes { flip: 1, ..Hashes::GOOD }), Some(sign));
        assert_eq!(engines.fault(), [Some(Fault::WrongAnswer); 2]);
        is_known(&endorsed(&mut engines).unwrap());
    }
}

#[test]
fn software_does_what_engines_leave_undone() {
    // The known-answer tests take one digest and two answers of the signature engine. Seed and key take two digests,
    // and a signature by the engine takes its nonce and its challenge.
    for (digests, answers) in (1..5).flat_map(|digests| (2..5).map(move |left| (digests, left))) {
        let hash = Hashes { left: digests, ..Hashes::GOOD };
        let mut engines = computer(Some(hash), Some(Signs { left: answers, ..Signs::GOOD }));
        assert_eq!(engines.fault(), [None; 2], "{digests} {answers}");
        is_known(&endorsed(&mut engines).unwrap());
        let needs_more = digests < 3 || (digests, answers) == (3, 4);
        let of_hash = needs_more.then_some(Fault::Failed);
        assert_eq!(engines.fault(), [of_hash, Some(Fault::Failed)], "{digests} {answers}");
    }
}

/// Verifies a signature with this challenge by the strict rule.
fn verified(key: &[u8; 32], signature: &[u8; 64], challenge: &[u8; 64]) -> Result<(), Rejection> {
    let (r, s) = signature.split_first_chunk::<32>().unwrap();
    let key = CompressedEdwardsY(*key).decompress().ok_or(Rejection::InvalidKey)?;
    let s = Option::from(Scalar::from_canonical_bytes(s.try_into().unwrap()));
    let s: Scalar = s.ok_or(Rejection::NonCanonicalSignature)?;
    let k = Scalar::from_bytes_mod_order_wide(challenge);
    let point = EdwardsPoint::vartime_double_scalar_mul_basepoint(&k, &-key, &s);
    if point.compress().to_bytes() == *r { Ok(()) } else { Err(Rejection::Mismatch) }
}

#[test]
fn one_scalar_never_signs_under_two_public_keys() {
    let mut engines = computer(None, Some(Signs { change: Change::Ages, ..Signs::GOOD }));
    assert_eq!(engines.fault()[1], None);
    let made = endorsed(&mut engines);
    assert_eq!(made.unwrap_err(), Reason::NotEndorsed);
}

#[test]
fn a_monitor_beside_an_engine_that_keeps_keys_is_not_endorsed() {
    let mut engines = computer(None, Some(Signs { change: Change::Keeps, ..Signs::GOOD }));
    let made = endorsed(&mut engines);
    assert_eq!(made.unwrap_err(), Reason::NotEndorsed);
    let mut engines = computer(Some(Hashes { can_wipe: false, ..Hashes::GOOD }), None);
    let made = endorsed(&mut engines);
    assert_eq!(made.unwrap_err(), Reason::NotEndorsed);
}

#[test]
fn a_secret_of_equal_bits_is_none_and_one_that_stays_open_is_not_used() {
    let take = |bytes: [u8; 64], is_closed| {
        let (mut is_asked, mut secret) = (false, ExpandedDeviceKey::EMPTY);
        let taken = secret.take(
            |place| *place = bytes,
            || {
                is_asked = true;
                is_closed
            },
        );
        assert!(is_asked, "the secret is closed in any case");
        taken
    };
    for byte in [0, u8::MAX] {
        let mut bytes = [byte; 64];
        for is_closed in [true, false] {
            assert_eq!(take(bytes, is_closed), Err(Reason::DeviceSecretInvalid));
        }
        bytes[63] ^= 0x10;
        assert_eq!(take(bytes, true), Ok(()));
        assert_eq!(take(bytes, false), Err(Reason::NotEndorsed));
    }
}

#[test]
fn secrets_are_not_shown() {
    let mut software = software();
    let made = endorsed(&mut software).unwrap();
    assert!(!std::format!("{made:?}").contains("secret"));
    assert_eq!(std::format!("{:?}", secret()), "ExpandedDeviceKey { .. }");
}

#[test]
fn a_handover_is_read_as_it_was_written() {
    let mut software = software();
    let made = endorsed(&mut software).unwrap();
    let mut record = [0; HANDOVER_SIZE];
    Handover::encode(&made, &mut record);
    is_known(&Handover::parse(&record).unwrap());
    assert_eq!(record[200..], hex::<64>(SECRET_KEY));
    record[0] ^= 1;
    assert!(Handover::parse(&record).is_none());
}

/// A board in memory. The storage counts how often each page is read.
struct Bench {
    medium: Vec<u8>,
    memory: Vec<u8>,
    reads: BTreeMap<u64, usize>,
    points: Vec<Point>,
    is_broken_from: u64,
    secrets_taken: usize,
    /// Ranges that could be read ahead: offset, address and size.
    ahead: Vec<(u64, Option<u64>, u64)>,
}

impl Bench {
    fn new(medium: Vec<u8>) -> Self {
        let memory = std::vec![0xa5; (map::BOOT_FDT.end - map::RAM.start) as usize];
        let (reads, points) = (BTreeMap::new(), Vec::new());
        let (is_broken_from, ahead) = (u64::MAX, Vec::new());
        Self { medium, memory, reads, points, is_broken_from, secrets_taken: 0, ahead }
    }

    fn page(&mut self, offset: u64) -> Result<[u8; PAGE], Reason> {
        if offset >= self.is_broken_from {
            return Err(Reason::MediumError);
        }
        assert!(offset.is_multiple_of(PAGE_SIZE) && offset < self.size());
        *self.reads.entry(offset).or_default() += 1;
        let mut page = [0; PAGE];
        let from = &self.medium[offset as usize..];
        let len = from.len().min(PAGE);
        page[..len].copy_from_slice(&from[..len]);
        Ok(page)
    }

    fn boot(&mut self, computer: &mut Computer) -> Result<(Booted, Endorsement), Reason> {
        let acceptance = Acceptance::of_device(
            BundleType::Boot,
            (trust(Policy::Any, [A.record()]), 0),
            Identity { board: name(map::BOARD.name), soc: name(map::BOARD.soc) },
            (3, None),
            Lifecycle::Production,
            &map::BOARD,
        );
        let mut page = [0; PAGE];
        let mut pages = Pages::new(&mut page);
        pages.begin(self);
        let mut medium = Medium::new(self, computer, &mut pages);
        let secret = |bench: &mut Bench, place: &mut ExpandedDeviceKey| {
            bench.secrets_taken += 1;
            place.take(|bytes| *bytes = hex(SECRET), || true)
        };
        let (mut metadata, mut made) = ([0; 24 << 10], Endorsement::EMPTY);
        let booted = boot(&mut medium, &acceptance, &acceptance, &mut metadata, &mut made, secret);
        assert!(booted.is_ok() || made.secret_key == [0; 64], "a secret is left");
        booted.map(|booted| (booted, made))
    }
}

impl FsblBoard for Bench {
    fn size(&self) -> u64 {
        self.medium.len() as u64
    }

    fn read(&mut self, offset: u64, into: &mut [u8; PAGE]) -> Result<(), Reason> {
        *into = self.page(offset)?;
        Ok(())
    }

    fn load(&mut self, offset: u64, address: u64, size: u64) -> Result<(), Reason> {
        assert!(size.is_multiple_of(PAGE_SIZE));
        for at in (0..size).step_by(PAGE) {
            let page = self.page(offset + at)?;
            self.memory(address + at, PAGE_SIZE).unwrap().copy_from_slice(&page);
        }
        Ok(())
    }

    fn read_ahead(&mut self, offset: u64, address: Option<u64>, size: u64) {
        self.ahead.push((offset, address, size));
    }

    fn load_parts(
        &mut self,
        offset: u64,
        address: u64,
        (size, used): (u64, u64),
        arrived: &mut dyn FnMut(&[u8], bool),
    ) -> Result<(), Reason> {
        for at in (0..size).step_by(PAGE) {
            self.load(offset + at, address + at, PAGE_SIZE)?;
            let len = used.saturating_sub(at).min(PAGE_SIZE);
            if len > 0 {
                arrived(self.memory(address + at, len).unwrap(), at + len == used);
            }
        }
        Ok(())
    }

    fn memory(&mut self, address: u64, size: u64) -> Option<&mut [u8]> {
        let at = usize::try_from(address.checked_sub(map::RAM.start)?).ok()?;
        self.memory.get_mut(at..at + usize::try_from(size).ok()?)
    }

    fn reached(&mut self, point: Point) {
        self.points.push(point);
    }
}

const MONITOR_SIZE: usize = 10_000;

/// Returns a boot bundle whose monitor has this hash, and the bytes of the monitor.
fn bundle(hash: HashId, edits: &[Edit]) -> (Vec<u8>, Vec<u8>) {
    let payload = |kind, size, region: Region| Payload::new(kind, size, region.start);
    let mut draft = Draft::boot();
    draft.identity = identity(map::BOARD.name, map::BOARD.soc);
    draft.payloads = std::vec![
        payload(PayloadType::Opensbi, MONITOR_SIZE, map::FIRST),
        payload(PayloadType::Loader, 5000, map::LOADER),
        payload(PayloadType::BootFdt, 1024, map::BOOT_FDT),
    ];
    draft.payloads[0].hash = hash;
    draft.payloads[0].memory_size = 5 * PAGE_SIZE;
    draft.payloads[1].hash = HashId::Sha3_512;
    draft.payloads[1].mode = TreeMode::Flat;
    let (file, draft) = build(draft, edits);
    (file, draft.payloads[0].data.clone())
}

#[test]
fn a_bundle_is_verified_measured_and_read_once() {
    for hash in [HashId::Sha3_512, HashId::Sha384] {
        for engines in [false, true] {
            let (file, monitor) = bundle(hash, &[]);
            let pages = file.len().div_ceil(PAGE);
            let mut bench = Bench::new(file);
            let hash = engines.then_some(Hashes::GOOD);
            let mut computer = computer(hash, engines.then_some(Signs::GOOD));
            let (booted, made) = bench.boot(&mut computer).unwrap();
            assert!(booted.verdict.is_confirmed());
            assert_eq!(booted.entry, map::FIRST.start);
            assert_eq!(made.measurement, computer.digest(&[&monitor]));
            let mut again = Endorsement { measurement: made.measurement, ..Endorsement::EMPTY };
            endorse(&mut computer, &secret(), &mut again, |_| ()).unwrap();
            assert_eq!((made.public_key, made.signature), (again.public_key, again.signature));
            assert_eq!(bench.memory[..MONITOR_SIZE], monitor);
            assert!(bench.memory[MONITOR_SIZE..5 * PAGE].iter().all(|byte| *byte == 0));
            assert_eq!(bench.memory[5 * PAGE], 0xa5);
            assert_eq!(bench.reads.len(), pages);
            assert!(bench.reads.values().all(|count| *count == 1), "{:?}", bench.reads);
            assert_eq!(bench.points.last(), Some(&Point::Endorsed));
            let ahead = [
                (PAGE_SIZE, None, 3 * PAGE_SIZE),
                (4 * PAGE_SIZE, Some(map::LOADER.start), 2 * PAGE_SIZE),
                (6 * PAGE_SIZE, Some(map::BOOT_FDT.start), PAGE_SIZE),
            ];
            assert_eq!(bench.ahead, ahead);
        }
    }
}

#[test]
fn an_engine_hashes_what_was_read_while_the_rest_is() {
    // The engine is called for the known answer, the parts of each payload and their digests: three pages and two, and
    // one page of the third payload, which has another hash. Software hashes everything that the engine does not, from
    // the copy in memory.
    const WHOLE: usize = 1 + (3 + 1) + (2 + 1) + 4;
    for left in 1..=WHOLE {
        let (file, monitor) = bundle(HashId::Sha3_512, &[]);
        let mut bench = Bench::new(file);
        let hash = Hashes { left, parts: Some(Vec::new()), ..Hashes::GOOD };
        let mut computer = computer(Some(hash), Some(Signs::GOOD));
        let (_, made) = bench.boot(&mut computer).unwrap();
        let fault = (left < WHOLE).then_some(Fault::Failed);
        assert_eq!(computer.fault(), [fault, None], "{left}");
        assert_eq!(made.measurement, software().digest(&[&monitor]), "{left}");
        assert!(bench.reads.values().all(|count| *count == 1), "{:?}", bench.reads);
    }
}

#[test]
fn an_engine_that_fails_and_does_not_forget_is_stuck() {
    for digests in 1..4 {
        let hash = Hashes { left: digests, can_wipe: false, ..Hashes::GOOD };
        let mut engines = computer(Some(hash), None);
        let made = endorsed(&mut engines);
        assert_eq!(made.unwrap_err(), Reason::NotEndorsed);
        assert_eq!(engines.fault()[0], Some(Fault::Stuck));
    }
}

fn software() -> Computer {
    Computer::new(Kernels::PORTABLE)
}

#[test]
fn a_refused_bundle_leaves_no_key_and_one_that_is_not_genuine_touches_no_secret() {
    let flip = Edit::File(|file| file[4096 + 77] ^= 4);
    let of_key = Edit::File(|file| {
        let at = file.windows(32).position(|bytes| bytes == A.public_key()).unwrap();
        file[at + 40] ^= 1;
    });
    let cut = Edit::File(|file| file.truncate(file.len() - PAGE));
    let short = Edit::File(|file| file.truncate(300));
    let empty = Edit::File(Vec::clear);
    for (edit, reason, secrets) in [
        (flip, Reason::PayloadDigestMismatch, 1),
        (of_key, Reason::SignatureMismatch, 0),
        (cut, Reason::Truncated, 1),
        (short, Reason::Truncated, 0),
        (empty, Reason::Truncated, 0),
    ] {
        let mut bench = Bench::new(bundle(HashId::Sha3_512, &[edit]).0);
        let keys = Rc::new(Cell::new(usize::MAX));
        let sign = Signs { keys: Some(keys.clone()), ..Signs::GOOD };
        let booted = bench.boot(&mut computer(Some(Hashes::GOOD), Some(sign)));
        assert_eq!(booted.err(), Some(reason));
        assert_eq!((bench.secrets_taken, keys.get()), (secrets, 0), "{reason:?}");
    }
}

#[test]
fn a_storage_that_fails_at_any_page_is_told() {
    let (file, _) = bundle(HashId::Sha3_512, &[]);
    for from in (0..file.len() as u64).step_by(PAGE) {
        let mut bench = Bench { is_broken_from: from, ..Bench::new(file.clone()) };
        let booted = bench.boot(&mut computer(None, None));
        assert_eq!(booted.err(), Some(Reason::MediumError), "{from}");
        // The first page holds everything before the payloads.
        assert_eq!(bench.secrets_taken, usize::from(from > 0));
    }
}

#[test]
fn what_a_header_claims_is_read_ahead_only_if_it_can_be_a_payload() {
    use hartlock_fsbl::{HEAD as LEN, PredictedRange};
    let (file, _) = bundle(HashId::Sha3_512, &[]);
    let first = |edit: &dyn Fn(&mut [u8; LEN])| {
        let mut page: [u8; LEN] = file[..LEN].try_into().unwrap();
        edit(&mut page);
        PredictedRange::of(&page)
    };
    let right = PredictedRange { offset: PAGE_SIZE, size: 3 * PAGE_SIZE };
    assert_eq!(first(&|_| ()), Some(right));
    assert_eq!(first(&|page| page[0] ^= 1), None);
    for signers in [0, 5, u32::MAX] {
        assert_eq!(first(&|page| page[52..56].copy_from_slice(&signers.to_le_bytes())), None);
    }
    // The record follows the header and one signer. The sizes are 0 and one that leaves no room for padding.
    let size = hartlock_image::HEADER_SIZE + hartlock_image::KEY_RECORD_SIZE + 24;
    for none in [0, u64::MAX] {
        assert_eq!(first(&|page| page[size..size + 8].copy_from_slice(&none.to_le_bytes())), None);
    }
}

#[test]
fn engines_are_not_used_before_they_are_tried() {
    let wrong = Hashes { flip: 1, ..Hashes::GOOD };
    let mut engines = Computer::untried(joined(Some(wrong), Some(Signs::GOOD)));
    assert_eq!(engines.digest(&[b"a"]), software().digest(&[b"a"]));
    assert_eq!(engines.fault(), [Some(Fault::Missing); 2]);
    engines.try_engines();
    assert_eq!(engines.fault(), [Some(Fault::WrongAnswer), None]);
}

#[test]
fn an_engine_that_cannot_tell_signatures_apart_is_not_used() {
    let (yes, no) = (Ok(()), Err(Rejection::Mismatch));
    // The first answer is that to a genuine signature, the second that to another one.
    for says in [[yes, yes], [no, no], [yes, no]] {
        let is_right = says == [yes, no];
        let sign = Signs { says: says.into_iter().rev().collect(), ..Signs::GOOD };
        let fault = (!is_right).then_some(Fault::WrongAnswer);
        assert_eq!(computer(None, Some(sign)).fault()[1], fault);
    }
}

#[test]
fn an_engine_decides_on_the_bundle_and_has_to_do_so_twice() {
    let (yes, no) = (Ok(()), Err(Rejection::Mismatch));
    let forged = Edit::File(|file| {
        let at = file.windows(32).position(|bytes| bytes == A.public_key()).unwrap();
        file[at + 40] ^= 1;
    });
    let boot = |edits: &[Edit], says: [Result<(), Rejection>; 2]| {
        let mut bench = Bench::new(bundle(HashId::Sha3_512, edits).0);
        // The answers to the known-answer tests are correct.
        let says = std::vec![says[1], says[0], no, yes];
        bench.boot(&mut computer(None, Some(Signs { says, ..Signs::GOOD }))).err()
    };
    // The engine decides, and software does not; otherwise both results would be different.
    assert_eq!(boot(&[], [no, no]), Some(Reason::SignatureMismatch));
    assert_eq!(boot(&[forged], [yes, yes]), None);
    for says in [[yes, no], [no, yes]] {
        assert_eq!(boot(&[forged], says), Some(Reason::SignatureMismatch));
    }
    let of_key = [Err(Rejection::InvalidKey); 2];
    assert_eq!(boot(&[], of_key), Some(Reason::PublicKeyInvalid));
    let of_s = [Err(Rejection::NonCanonicalSignature); 2];
    assert_eq!(boot(&[], of_s), Some(Reason::SignatureNotCanonical));
}
