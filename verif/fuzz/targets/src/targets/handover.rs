//! The fixed blocks that the stages hand over to each other (boot flow §3).
//!
//! Each block ends with a digest of its contents, which a fuzzer cannot guess. Two of three inputs get
//! the correct digest, so that the checks after it are reached. Rule: an accepted block has only one
//! encoding.

use hartlock_handoff::payload_keys::{
    ClassKeyStore, PAYLOAD_KEY_PAGE_SIZE, WrappedClassKey, unwrap_content_key, write_page,
};
use hartlock_handoff::{
    DeviceSecret, Entry, HANDOFF_SIZE, Handoff, KEY_SIZE, LOG_ENTRY_SIZE, Log, LogHeader,
    MAX_LOG_ENTRIES, ROOT_OF_TRUST_SIZE, RootOfTrust, SECRET_SIZE, STATE_SIZE, Stage, StateRecord,
    Step, entries,
};
use hartlock_image::{
    Encryption, Lifecycle, List, Name, PayloadType, Policy, Reason, TrustList, u32_at,
};
use hartlock_keys::ClassKey;
use hartlock_timeline::Measurements;
use sha2::Digest as _;

use crate::choices::Choices;
use crate::keys::KEYS;

/// Writes the digest of all bytes before `digest_at`.
fn seal(block: &mut [u8], digest_at: usize) {
    let (body, rest) = block.split_at_mut(digest_at);
    rest[..48].copy_from_slice(&sha2::Sha384::digest(body));
}

/// Writes the tag of a state record: HMAC-SHA-384 (FIPS 198-1) with [`KEY`].
fn authenticate(block: &mut [u8; STATE_SIZE]) {
    let keyed = |pad: u8| {
        let mut key = [pad; 128];
        key.iter_mut().zip(KEY).for_each(|(place, byte)| *place ^= byte);
        sha2::Sha384::new().chain_update(key)
    };
    let (content, rest) = block.split_at_mut(64);
    let inner = keyed(0x36).chain_update(content).finalize();
    rest[..48].copy_from_slice(&keyed(0x5c).chain_update(inner).finalize());
}

/// Returns a correct block with changes, with a correct digest in two of three cases.
fn distorted<const N: usize>(
    choices: &mut Choices<'_>,
    right: [u8; N],
    seal: impl Fn(&mut [u8; N]),
) -> [u8; N] {
    let mut block = right;
    for _ in 0..choices.below(5) {
        let at = choices.below(N);
        match choices.below(3) {
            0 => block[at] = choices.byte(),
            1 => block[at] ^= 1 << choices.below(8),
            _ => {
                let value = (choices.number() as u32).to_le_bytes();
                block[at & !3..][..4].copy_from_slice(&value);
            }
        }
    }
    if !choices.rarely(3) {
        seal(&mut block);
    }
    block
}

/// Returns a list of one to five different keys, or a list that no block may contain.
fn trust(choices: &mut Choices<'_>) -> TrustList {
    let mut keys = List::new();
    let has_fault = choices.rarely(8);
    for key in KEYS.iter().take(if has_fault { 0 } else { 1 + choices.below(5) }) {
        let _ = keys.push(key.record);
    }
    if has_fault && choices.rarely(2) {
        keys = [0, 1, 0].map(|key: usize| KEYS[key].record).into_iter().collect();
    }
    TrustList { policy: choices.of(&[Policy::Any, Policy::All, Policy::Hybrid]), keys }
}

fn is_right(trust: &TrustList) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    !trust.keys.is_empty() && trust.keys.iter().all(|key| seen.insert(key.key_id))
}

fn name(choices: &mut Choices<'_>) -> Name {
    Name::new(choices.of(&["qemu-virt", "v", "a-name-of-thirty-two-characters-!"[..32].trim()]))
        .expect("a name")
}

pub fn root_of_trust(data: &[u8]) {
    let mut choices = Choices::new(data);
    let right = RootOfTrust {
        trust: trust(&mut choices),
        board: name(&mut choices),
        soc: name(&mut choices),
        // Secrets of only 0x00 or only 0xff bytes are invalid.
        secret: DeviceSecret::new([choices.byte() & 0x7f | 1; SECRET_SIZE]).expect("a secret"),
    };
    let encoded = right.encode();
    let wanted = is_right(&right.trust).then_some(right);
    assert_eq!(RootOfTrust::parse(&encoded).ok(), wanted);
    let block: [u8; ROOT_OF_TRUST_SIZE] =
        distorted(&mut choices, encoded, |block| seal(block, 640));
    if let Ok(read) = RootOfTrust::parse(&block) {
        assert!(is_right(&read.trust), "no key, or a key twice");
        assert!(read.encode() == block, "one encoding of a root-of-trust block");
    }
    let _ = RootOfTrust::parse(choices.rest());
}

/// Key of the device that reads the records.
const KEY: [u8; KEY_SIZE] = [0x42; KEY_SIZE];

pub fn state(data: &[u8]) {
    let mut choices = Choices::new(data);
    let copy = |choices: &mut Choices<'_>| {
        let right = StateRecord {
            sequence: choices.number().max(1),
            boot_floor: choices.number(),
            system_floor: choices.long(),
            lifecycle: choices.of(&Lifecycle::ALL),
            revoked_keys: choices.word(),
        };
        assert_eq!(StateRecord::parse(&right.encode(&KEY), &KEY), Some(right));
        let block: [u8; STATE_SIZE] = distorted(choices, right.encode(&KEY), authenticate);
        let read = StateRecord::parse(&block, &KEY);
        assert!(read.is_none_or(|read| read.encode(&KEY) == block), "one encoding of a record");
        (block, read)
    };
    let copies = [copy(&mut choices), copy(&mut choices)];
    // The record with the higher sequence number counts; of two equal ones the first (boot flow §3.2).
    let sequence = |index: &usize| copies[*index].1.map_or(0, |record| record.sequence);
    let wanted = [1, 0].into_iter().filter(|index| sequence(index) > 0).max_by_key(sequence);
    let chosen = StateRecord::choose(&copies[0].0, &copies[1].0, &KEY);
    assert_eq!(chosen.ok().map(|(_, index)| index), wanted, "the copy in force");
    if let Ok((record, index)) = chosen {
        assert_eq!(Some(record), copies[index].1);
    }
}

/// Compares the keys of payloads that a device unwraps with those that another implementation of AES does.
pub fn class_keys(data: &[u8]) {
    let mut choices = Choices::new(data);
    let device = ClassKey::from_bytes(KEY.first_chunk().expect("32 bytes"));
    let class_key = |number: usize| ClassKey::from_bytes(&[number as u8; 32]);
    let entry = |choices: &mut Choices<'_>| {
        let key = class_key(choices.below(6));
        let wrapping = if choices.rarely(8) { &key } else { &device };
        WrappedClassKey { class_id: key.id(), wrapped: wrapping.wrap(&key) }
    };
    let right =
        ClassKeyStore { keys: (0..choices.below(5)).map(|_| entry(&mut choices)).collect() };
    let store = distorted(&mut choices, right.encode(), |block| seal(block, 288));
    let read = ClassKeyStore::parse(&store);
    if let Ok(read) = &read {
        let ids: Vec<_> = read.keys.iter().map(|key| key.class_id).collect();
        assert!((1..ids.len()).all(|at| !ids[..at].contains(&ids[at])), "a class twice");
        assert!(read.encode() == store, "one encoding of a store");
    }

    let key = class_key(choices.below(6));
    let content = ClassKey::from_bytes(&[0x77; 32]);
    let mut wrapped = key.wrap(&content);
    if choices.rarely(4) {
        wrapped[choices.below(40)] ^= choices.byte();
    }
    let payload_type = PayloadType::Kernel;
    let encryption = Encryption { payload_type, class_id: key.id(), wrapped };
    let mut page = [0; PAYLOAD_KEY_PAGE_SIZE];
    write_page(&mut page, &KEY, &store);
    let mut found = [0; 32];
    let result = unwrap_content_key(&page, &encryption, &mut found);
    let expected = read.map_err(|_| Reason::PayloadKeysInvalid).and_then(|store| {
        let of_class = store.keys.iter().find(|it| it.class_id == encryption.class_id);
        let own = device.unwrap(&of_class.ok_or(Reason::ClassKeyMissing)?.wrapped);
        let own = own.filter(|own| own.id() == encryption.class_id);
        let own = own.ok_or(Reason::PayloadKeysInvalid)?;
        own.unwrap(&wrapped).ok_or(Reason::ContentKeyInvalid)
    });
    assert_eq!(result.map(|()| found), expected.map(|key| *key.bytes()), "the content key");
    assert!(result.is_ok() || found == [0; 32], "a part of a key stays");
}

pub fn entry(choices: &mut Choices<'_>) -> Entry {
    let steps: Vec<Step> = (1..=99).filter_map(Step::from_number).collect();
    Entry {
        payload: hartlock_image::PayloadType::from_number(choices.below(20) as u32),
        kernel: u32::from(choices.byte()) & 3,
        harts: u64::from(choices.byte()),
        bytes: choices.number(),
        time: (choices.number(), choices.number()),
        instret: (choices.number(), choices.number()),
        hash: hartlock_image::HashId::from_number(choices.below(11) as u32),
        reason: u32::from(choices.byte()) * 9,
        value: choices.number(),
        digest: [choices.byte(); 48],
        ..Entry::new(choices.of(&[Stage::Rom, Stage::Loader]), choices.of(&steps))
    }
}

pub fn handoff(data: &[u8]) {
    let mut choices = Choices::new(data);
    let boot_hart = choices.below(64) as u64;
    let mut log = List::new();
    for _ in 0..choices.below(25) {
        let _ = log.push(entry(&mut choices));
    }
    let right = Handoff {
        generation: choices.long(),
        harts: choices.number() | 1 << boot_hart,
        boot_hart,
        system_floor: choices.number(),
        boot_version: choices.number(),
        lifecycle: choices.of(&Lifecycle::ALL),
        trust: trust(&mut choices),
        board: name(&mut choices),
        soc: name(&mut choices),
        boot_digest: [choices.byte(); 48],
        log,
    };
    let mut block = [0xee; HANDOFF_SIZE];
    right.encode(&mut block);
    let wanted = is_right(&right.trust).then_some(right);
    assert_eq!(Handoff::parse(&block).ok(), wanted);
    let block: [u8; HANDOFF_SIZE] = distorted(&mut choices, block, |block| seal(block, 3840));
    if let Ok(read) = Handoff::parse(&block) {
        let mut encoded = [0xee; HANDOFF_SIZE];
        read.encode(&mut encoded);
        assert!(encoded == block, "one encoding of a hand-off block");
        assert!(is_right(&read.trust), "no key, or a key twice");
        let is_there = read.boot_hart < 64 && read.harts >> read.boot_hart & 1 == 1;
        assert!(is_there, "hart {} runs and is not there", read.boot_hart);
    }
}

/// Writes a log like a stage, and reads it after a few changes.
pub fn log(data: &[u8]) {
    let mut choices = Choices::new(data);
    let header = LogHeader { ticks_per_second: choices.number(), generation: choices.long() };
    let room = choices.of(&[2048, 128, 256, 384, 100, 0]);
    let mut memory = vec![0xaa; room];
    let capacity = (room / LOG_ENTRY_SIZE).saturating_sub(1);
    let mut wanted: Vec<Entry> = Vec::new();
    {
        let mut log = Log::start(&mut memory, &header);
        for _ in 0..choices.below(24) {
            let entry = entry(&mut choices);
            log.push(&entry);
            // The last entry is reserved for a refusal (boot flow §3.5).
            if wanted.len() + usize::from(entry.step != Step::Refusal) < capacity {
                wanted.push(entry);
            }
        }
    }
    match entries(&memory) {
        Some((read, found)) => {
            assert!(room >= LOG_ENTRY_SIZE);
            assert_eq!((read, found.collect::<Vec<_>>()), (header, wanted));
        }
        None => assert!(room < LOG_ENTRY_SIZE, "what was written is read"),
    }
    for _ in 0..choices.below(6) {
        let at = choices.below(room.max(1));
        if let Some(byte) = memory.get_mut(at) {
            *byte = choices.byte();
        }
    }
    if let Some((read, found)) = entries(&memory) {
        let count = u32_at(&memory, 16).expect("a header") as usize;
        assert!(count <= MAX_LOG_ENTRIES && found.count() <= count);
        let mut again = [0xee; LOG_ENTRY_SIZE];
        let _ = Log::start(&mut again, &read);
        again[16..20].copy_from_slice(&memory[16..20]);
        assert!(again[..] == memory[..LOG_ENTRY_SIZE], "one encoding of a header");
    }
    for measured in [Measurements::read(choices.rest(), &memory), Measurements::read(&memory, &[])]
    {
        assert!(measured.is_none_or(|it| it.header.ticks_per_second > 0), "divided by, later");
    }
}
