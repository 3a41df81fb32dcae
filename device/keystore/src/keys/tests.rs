//! Model engines wrap a key with one mask and encrypt a text with another one. `cargo xtask hw soc-1-full --crypto`
//! tests the computations of the hardware.

use std::vec::Vec;

use super::*;
use hartlock_drivers::mailbox::request::MAX_TEXT_LEN;

const MASK: u8 = 0x5a;
const WRAP_MAGIC: [u8; WRAP_LEN] = [0xa6; WRAP_LEN];

/// Model engines that work, or fail in a given way.
#[derive(Default)]
struct Game {
    failure: Option<EngineFailure>,
    bases: Vec<Vec<u8>>,
    /// Failure of the noise source.
    noise_failure: Option<EngineFailure>,
    /// Failure of powers with secret exponents.
    power_failure: Option<EngineFailure>,
    noise: u8,
    exponents: Vec<[u8; NOISE_LEN]>,
    numbers: Vec<Vec<u8>>,
}

impl Game {
    fn result(&self) -> Result<(), EngineFailure> {
        self.failure.map_or(Ok(()), Err)
    }
}

impl KeyEngines for Game {
    fn unwrap_key(&mut self, wrapped: &[u8], key: &mut [u8]) -> Result<(), EngineFailure> {
        let (head, rest) = wrapped.split_first_chunk::<WRAP_LEN>().unwrap();
        key.iter_mut().zip(rest).for_each(|(to, from)| *to = from ^ MASK);
        self.result()?;
        if *head == WRAP_MAGIC { Ok(()) } else { Err(EngineFailure::NotAuthentic) }
    }

    fn encrypt(&mut self, cipher: Cipher<'_>, text: &mut [u8]) -> Result<[u8; 16], EngineFailure> {
        text.iter_mut().for_each(|byte| *byte ^= cipher.key[0] ^ cipher.iv[0]);
        self.result()?;
        Ok([cipher.more.len() as u8; 16])
    }

    fn decrypt(
        &mut self,
        cipher: Cipher<'_>,
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), EngineFailure> {
        text.iter_mut().for_each(|byte| *byte ^= cipher.key[0] ^ cipher.iv[0]);
        self.result()?;
        let is_right = cipher.mode == TextMode::Ctr || tag == [cipher.more.len() as u8; 16];
        if is_right { Ok(()) } else { Err(EngineFailure::NotAuthentic) }
    }

    fn private(
        &mut self,
        key: RsaPrivateKey<'_>,
        base: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        assert_eq!(key.halves.map(<[u8]>::len), [HALF_LEN; 5]);
        self.bases.push(key.blinding[0].to_vec());
        result.iter_mut().zip(base).for_each(|(to, from)| *to = from ^ key.modulus[1]);
        self.result()
    }

    fn square(&mut self, _: &[u8], number: &[u8], result: &mut [u8]) -> Result<(), EngineFailure> {
        result.iter_mut().zip(number).for_each(|(to, from)| *to = from ^ 1);
        self.result()
    }

    /// Returns the number, changed by the last byte of the exponent, instead of a power.
    fn power_secret(
        &mut self,
        _: &[u8],
        number: &[u8],
        exponent: &[u8; NOISE_LEN],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        self.power_failure.map_or(Ok(()), Err)?;
        self.exponents.push(*exponent);
        self.numbers.push(number.to_vec());
        result.iter_mut().zip(number).for_each(|(to, from)| *to = from ^ exponent[NOISE_LEN - 1]);
        self.result()
    }

    fn noise(&mut self, bits: &mut [u8; NOISE_LEN]) -> Result<(), EngineFailure> {
        self.noise_failure.map_or(Ok(()), Err)?;
        self.noise += 1;
        *bits = [0, 0, 0, 0, 0, 0, 0, self.noise];
        Ok(())
    }

    fn recover(
        &mut self,
        modulus: &[u8],
        signature: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        result.iter_mut().zip(signature).for_each(|(to, from)| *to = from ^ modulus[1]);
        self.result()
    }
}

fn wrapped(kind: KeyKind, uses: u8) -> Vec<u8> {
    let mut key = [&KEY_MAGIC[..], &[kind as u8, uses, 0, 0]].concat();
    key.extend((0..kind.len()).map(|at| (at as u8).wrapping_add(7)));
    let masked = key.iter().map(|byte| byte ^ MASK);
    WRAP_MAGIC.into_iter().chain(masked).collect()
}

fn secret() -> Vec<u8> {
    wrapped(KeyKind::Aes256, uses::ENCRYPT | uses::DECRYPT)
}

fn counter() -> Vec<u8> {
    wrapped(KeyKind::Aes256, uses::COUNTER)
}

fn private() -> Vec<u8> {
    wrapped(KeyKind::Rsa2048, uses::SIGN | uses::VERIFY)
}

struct Served {
    keys: KeyStore,
    engines: Game,
}

impl Served {
    fn new() -> Self {
        Self { keys: KeyStore::new(), engines: Game::default() }
    }

    fn ask(&mut self, operation: Operation, record: &[u8]) -> Result<(u32, Vec<u8>), Refusal> {
        let mut buffer = [0xee; BUFFER_LEN];
        buffer[..record.len()].copy_from_slice(record);
        let served = self.keys.serve(Some(&mut self.engines), operation, &mut buffer, record.len());
        let unused = &buffer[used_len(record.len())..];
        assert!(unused.iter().all(|byte| *byte == 0xee), "{operation:?} changes more");
        let output = served?;
        Ok((output.word, buffer[output.range].to_vec()))
    }

    fn import(&mut self, wrapped: &[u8]) -> Result<u32, Refusal> {
        self.ask(Operation::ImportKey, wrapped).map(|(handle, _)| handle)
    }

    fn is_empty(&self) -> bool {
        self.keys.keys.iter().all(|key| key.handle == 0 && key.bytes == [0; MAX_KEY_LEN])
    }
}

/// Returns the record of a text.
fn text_record(handle: u32, mode: u16, more: &[u8], text: &[u8]) -> Vec<u8> {
    let iv: [u8; 16] = if mode == 1 { *b"abcdefghijkl\0\0\0\0" } else { *b"abcdefghijklmnop" };
    let (mode, len) = (mode.to_le_bytes(), (more.len() as u16).to_le_bytes());
    [&handle.to_le_bytes()[..], &mode, &len, &iv, more, text].concat()
}

fn digest_record(handle: u32, rest: &[u8]) -> Vec<u8> {
    [&handle.to_le_bytes()[..], &[9; DIGEST_LEN], rest].concat()
}

#[test]
fn a_text_is_encrypted_and_decrypted_by_handle() {
    let mut served = Served::new();
    let keys = [secret(), counter()].map(|key| served.import(&key).unwrap());
    for (handle, (mode, more, tag_len)) in
        keys.into_iter().zip([(1, &b"more"[..], TAG_LEN), (2, b"", 0)])
    {
        let plain = text_record(handle, mode, more, b"some text");
        let (len, sealed) = served.ask(Operation::Encrypt, &plain).unwrap();
        assert_eq!((len as usize, sealed.len()), (9 + tag_len, 9 + tag_len));
        assert_ne!(sealed[..9], *b"some text");
        let cipher = text_record(handle, mode, more, &sealed);
        let (len, opened) = served.ask(Operation::Decrypt, &cipher).unwrap();
        assert_eq!((len, &opened[..]), (9, &b"some text"[..]));
    }
    // These are the longest texts of both modes, and an empty text of GCM.
    for (mode, len) in [(1, MAX_TEXT_LEN), (2, MAX_TEXT_LEN + TAG_LEN), (1, 0)] {
        let record = text_record(keys[usize::from(mode) - 1], mode, b"", &std::vec![1; len]);
        assert!(record.len() <= MAX_RECORD_LEN);
        assert!(served.ask(Operation::Encrypt, &record).is_ok());
    }
}

#[test]
fn a_digest_is_signed_and_verified_by_handle() {
    let mut served = Served::new();
    let handle = served.import(&private()).unwrap();
    let (len, signature) = served.ask(Operation::Sign, &digest_record(handle, &[])).unwrap();
    assert_eq!((len as usize, signature.len()), (SIGNATURE_LEN, SIGNATURE_LEN));
    let record = digest_record(handle, &signature);
    assert_eq!(served.ask(Operation::Verify, &record), Ok((0, Vec::new())));
    let mut changed = record;
    changed[100] ^= 1;
    let answer = served.ask(Operation::Verify, &changed);
    assert_eq!(answer, Err(Refusal::SignatureNotAuthentic));
    served.engines.failure = Some(EngineFailure::BadOperand);
    let answer = served.ask(Operation::Verify, &changed);
    assert_eq!(answer, Err(Refusal::SignatureNotAuthentic));
}

#[test]
fn the_encoded_digest_is_that_of_the_standard() {
    let encoded = encoded(&[9; DIGEST_LEN]).unwrap();
    let start = [&[0, 1][..], &[0xff; SIGNATURE_LEN - 54], &[0], &DIGEST_INFO].concat();
    assert_eq!(encoded[..], [&start[..], &[9; DIGEST_LEN]].concat());
}

#[test]
fn a_pair_of_blinding_is_used_once() {
    let mut served = Served::new();
    let handle = served.import(&private()).unwrap();
    for _ in 0..2 {
        served.ask(Operation::Sign, &digest_record(handle, &[])).unwrap();
    }
    assert_ne!(served.engines.bases[0], served.engines.bases[1]);
}

/// Each import raises the pair of the wrapped key to an exponent that no other import has.
#[test]
fn each_import_begins_with_another_pair() {
    let mut served = Served::new();
    for round in 1..3 {
        let handle = served.import(&private()).unwrap();
        served.ask(Operation::Sign, &digest_record(handle, &[])).unwrap();
        served.ask(Operation::ReleaseKey, &handle.to_le_bytes()).unwrap();
        assert_eq!(served.engines.exponents, [[0x80, 0, 0, 0, 0, 0, 0, round]; 2]);
        let wrapped = private();
        let whole: Vec<u8> = wrapped.iter().map(|byte| byte ^ MASK).collect();
        let pair = &whole[whole.len() - 2 * SIGNATURE_LEN..];
        assert_eq!(served.engines.numbers.concat(), pair, "other numbers are raised");
        let first: Vec<u8> = pair[..SIGNATURE_LEN].iter().map(|byte| byte ^ round).collect();
        assert_eq!(served.engines.bases, [first], "it begins with what was wrapped");
        served.engines.exponents.clear();
        served.engines.numbers.clear();
        served.engines.bases.clear();
    }
}

#[test]
fn a_private_key_needs_noise_and_others_do_not() {
    let mut served = Served::new();
    served.engines.noise_failure = Some(EngineFailure::Failed);
    for _ in 0..=MAX_FAILED_IMPORTS {
        assert_eq!(served.import(&private()), Err(Refusal::Failed));
        assert!(served.is_empty());
    }
    assert!(served.engines.exponents.is_empty());
    assert!(served.import(&secret()).is_ok());
    served.engines.noise_failure = None;
    assert!(served.import(&private()).is_ok(), "it is no guess");
}

#[test]
fn a_pair_that_cannot_be_raised_is_refused_with_its_key() {
    for (failure, refusal) in [
        (EngineFailure::BadOperand, Refusal::KeyMalformed),
        (EngineFailure::BadKey, Refusal::KeyMalformed),
        (EngineFailure::Failed, Refusal::Failed),
    ] {
        let mut served = Served::new();
        served.engines.power_failure = Some(failure);
        assert_eq!(served.import(&private()), Err(refusal));
        assert!(served.is_empty());
    }
}

#[test]
fn handles_are_given_once_and_end_with_their_keys() {
    let mut served = Served::new();
    let handles: Vec<u32> = (0..MAX_KEYS).map(|_| served.import(&secret()).unwrap()).collect();
    assert_eq!(served.import(&secret()), Err(Refusal::NoFreeHandle));
    let release =
        |served: &mut Served, handle: u32| served.ask(Operation::ReleaseKey, &handle.to_le_bytes());
    assert!(release(&mut served, handles[1]).is_ok());
    assert_eq!(release(&mut served, handles[1]), Err(Refusal::UnknownHandle));
    let again = served.import(&secret()).unwrap();
    assert!(!handles.contains(&again));
    let old = text_record(handles[1], 2, b"", b"text");
    assert_eq!(served.ask(Operation::Encrypt, &old), Err(Refusal::UnknownHandle));
    for handle in [again, handles[0], handles[2], handles[3]] {
        release(&mut served, handle).unwrap();
    }
    assert!(served.is_empty());
    // The handle zero is refused, although unused entries have it.
    for operation in [Operation::ReleaseKey, Operation::Encrypt, Operation::Sign, Operation::Verify]
    {
        assert_eq!(served.ask(operation, &[0; 4]), Err(Refusal::UnknownHandle));
    }
}

#[test]
fn malformed_records_are_refused() {
    let mut served = Served::new();
    let cipher = served.import(&secret()).unwrap();
    let counter = served.import(&counter()).unwrap();
    let signer = served.import(&private()).unwrap();
    let good = text_record(cipher, 1, b"more", b"some text and a tag");
    let with = |at: usize, value: u8| {
        let mut record = good.clone();
        record[at] = value;
        record
    };
    let handle = cipher.to_le_bytes();
    let long = [&handle[..], &[0]].concat();
    for (operation, record) in [
        (Operation::Encrypt, with(4, 0)),
        (Operation::Encrypt, with(4, 3)),
        (Operation::Encrypt, with(5, 1)),
        (Operation::Encrypt, with(6, good.len() as u8 - TEXT_AT as u8 + 1)),
        (Operation::Encrypt, with(7, 255)),
        (Operation::Encrypt, with(20, 1)),
        (Operation::Encrypt, with(23, 1)),
        (Operation::Encrypt, good[..TEXT_AT - 1].to_vec()),
        (Operation::Encrypt, good[..3].to_vec()),
        (Operation::Encrypt, Vec::new()),
        (Operation::Decrypt, text_record(cipher, 1, b"more", &[0; TAG_LEN - 1])),
        (Operation::Decrypt, text_record(counter, 2, b"more", b"text")),
        (Operation::Encrypt, text_record(counter, 2, b"", b"")),
        (Operation::Sign, digest_record(signer, &[0])),
        (Operation::Sign, digest_record(signer, &[])[..35].to_vec()),
        (Operation::Verify, digest_record(signer, &[0; SIGNATURE_LEN - 1])),
        (Operation::Verify, digest_record(signer, &[0; SIGNATURE_LEN + 1])),
        (Operation::Verify, signer.to_le_bytes().to_vec()),
        (Operation::ReleaseKey, Vec::new()),
        (Operation::ReleaseKey, handle[..3].to_vec()),
        (Operation::ReleaseKey, long),
        (Operation::ImportKey, Vec::new()),
        (Operation::ImportKey, secret()[..47].to_vec()),
        (Operation::ImportKey, [secret(), std::vec![0; 8]].concat()),
    ] {
        assert_eq!(served.ask(operation, &record), Err(Refusal::Malformed), "{record:x?}");
    }
    assert!(served.ask(Operation::Encrypt, &good).is_ok(), "a key is gone");
}

#[test]
fn a_key_is_for_the_uses_that_it_was_wrapped_for() {
    let mut served = Served::new();
    let sealer = served.import(&wrapped(KeyKind::Aes256, uses::ENCRYPT)).unwrap();
    let opener = served.import(&wrapped(KeyKind::Aes256, uses::DECRYPT)).unwrap();
    let signer = served.import(&wrapped(KeyKind::Rsa2048, uses::SIGN)).unwrap();
    let judge = served.import(&wrapped(KeyKind::Rsa2048, uses::VERIFY)).unwrap();
    for (handle, wrong) in [
        (sealer, [Operation::Decrypt, Operation::Sign, Operation::Verify]),
        (opener, [Operation::Encrypt, Operation::Sign, Operation::Verify]),
        (signer, [Operation::Encrypt, Operation::Decrypt, Operation::Verify]),
        (judge, [Operation::Encrypt, Operation::Decrypt, Operation::Sign]),
    ] {
        for operation in wrong {
            let record = text_record(handle, 1, b"", &[0; 16]);
            assert_eq!(served.ask(operation, &record), Err(Refusal::KeyUse));
        }
    }
}

/// With the key stream of CTR a key that may only encrypt would decrypt GCM texts, and one that may only decrypt would
/// forge them.
#[test]
fn a_key_is_for_one_mode() {
    let mut served = Served::new();
    let sealer = served.import(&wrapped(KeyKind::Aes256, uses::ENCRYPT)).unwrap();
    let opener = served.import(&wrapped(KeyKind::Aes256, uses::DECRYPT)).unwrap();
    let counter = served.import(&counter()).unwrap();
    for (handle, mode) in [(sealer, 2), (opener, 2), (counter, 1)] {
        for operation in [Operation::Encrypt, Operation::Decrypt] {
            let record = text_record(handle, mode, b"", &[0; 16]);
            assert_eq!(served.ask(operation, &record), Err(Refusal::KeyUse));
        }
    }
    for others in [uses::ENCRYPT, uses::DECRYPT, uses::ENCRYPT | uses::DECRYPT] {
        let key = wrapped(KeyKind::Aes256, uses::COUNTER | others);
        assert_eq!(served.import(&key), Err(Refusal::KeyMalformed));
    }
}

#[test]
fn keys_without_their_form_are_refused_and_forgotten() {
    let mut served = Served::new();
    let change = |at: usize| {
        let mut key = secret();
        key[WRAP_LEN + at] ^= 0x40;
        key
    };
    let malformed: Vec<_> = (0..KEY_HEADER_LEN).map(change).collect();
    for key in malformed {
        assert_eq!(served.import(&key), Err(Refusal::KeyMalformed));
    }
    // The uses are one that the kind does not have, none, and one of a kind with another length.
    for (kind, uses) in [(KeyKind::Aes256, uses::SIGN), (KeyKind::Aes256, 0), (KeyKind::Rsa2048, 1)]
    {
        assert_eq!(served.import(&wrapped(kind, uses)), Err(Refusal::KeyMalformed));
    }
    let mut other = secret();
    other[WRAP_LEN + 4] = KeyKind::Rsa2048 as u8 ^ MASK;
    other[WRAP_LEN + 5] = uses::SIGN ^ MASK;
    assert_eq!(served.import(&other), Err(Refusal::KeyMalformed));
    assert!(served.is_empty());
}

#[test]
fn wrong_keys_are_refused_up_to_a_number() {
    let mut served = Served::new();
    let mut wrong = secret();
    wrong[0] ^= 1;
    for _ in 1..MAX_FAILED_IMPORTS {
        assert_eq!(served.import(&wrong), Err(Refusal::KeyNotAuthentic));
        assert!(served.is_empty());
    }
    // Correct keys, and failures of engines, do not count.
    let handle = served.import(&secret()).unwrap();
    served.engines.failure = Some(EngineFailure::NoKey);
    assert_eq!(served.import(&secret()), Err(Refusal::NoKeys));
    served.engines.failure = Some(EngineFailure::Failed);
    assert_eq!(served.import(&secret()), Err(Refusal::Failed));
    served.engines.failure = None;
    assert_eq!(served.import(&wrong), Err(Refusal::KeyNotAuthentic));
    assert_eq!(served.import(&secret()), Err(Refusal::QuotaSpent));
    // Existing keys can still be used.
    let record = text_record(handle, 1, b"", b"text");
    assert!(served.ask(Operation::Encrypt, &record).is_ok());
}

/// The last handle is unique, and no import restarts the numbers.
#[test]
fn imports_end_with_their_quota() {
    let mut served = Served::new();
    served.keys.imports = MAX_IMPORTS - 1;
    assert_eq!(served.import(&secret()), Ok(MAX_IMPORTS << 8 | 1));
    assert_eq!(served.import(&secret()), Err(Refusal::QuotaSpent));
    assert_eq!(MAX_IMPORTS << 8 >> 8, MAX_IMPORTS);
}

#[test]
fn signatures_end_with_their_quota() {
    let mut served = Served::new();
    let handle = served.import(&private()).unwrap();
    for _ in 0..MAX_SIGNATURES {
        assert!(served.ask(Operation::Sign, &digest_record(handle, &[])).is_ok());
    }
    let answer = served.ask(Operation::Sign, &digest_record(handle, &[]));
    assert_eq!(answer, Err(Refusal::QuotaSpent));
    let verify = digest_record(handle, &[0; SIGNATURE_LEN]);
    assert_eq!(served.ask(Operation::Verify, &verify), Err(Refusal::SignatureNotAuthentic));
}

#[test]
fn a_wrong_tag_gives_nothing_and_keeps_the_key() {
    let mut served = Served::new();
    let handle = served.import(&secret()).unwrap();
    let record = text_record(handle, 1, b"more", &[0; 40]);
    for _ in 0..2 {
        assert_eq!(served.ask(Operation::Decrypt, &record), Err(Refusal::TextNotAuthentic));
    }
}

#[test]
fn a_key_that_an_engine_failed_with_is_forgotten() {
    for (failure, refusal) in
        [(EngineFailure::Failed, Refusal::Failed), (EngineFailure::BadKey, Refusal::KeyMalformed)]
    {
        let mut served = Served::new();
        for (key, operation) in [
            (secret(), Operation::Encrypt),
            (secret(), Operation::Decrypt),
            (private(), Operation::Sign),
            (private(), Operation::Verify),
        ] {
            served.engines.failure = None;
            let handle = served.import(&key).unwrap();
            served.engines.failure = Some(failure);
            let record = match operation {
                Operation::Sign => digest_record(handle, &[]),
                Operation::Verify => digest_record(handle, &[0; SIGNATURE_LEN]),
                _ => text_record(handle, 1, b"", &[0; 16]),
            };
            assert_eq!(served.ask(operation, &record), Err(refusal));
            assert!(served.is_empty());
        }
    }
}

#[test]
fn a_record_that_does_not_fit_is_refused() {
    let mut served = Served::new();
    let mut buffer = [0; BUFFER_LEN];
    let answer =
        served.keys.serve(Some(&mut served.engines), Operation::Sign, &mut buffer, usize::MAX);
    assert_eq!(answer, Err(Refusal::TooLong));
}

#[test]
fn sizes_are_those_of_the_specification() {
    // spec/requests.md: records have at most 4,136 bytes, tags 16, and a key of RSA has n, five halves and a pair.
    assert_eq!(BUFFER_LEN, 4136 + 16);
    assert_eq!(MAX_KEY_LEN, 8 + 256 + 5 * 128 + 2 * 256);
    let sizes = [0, 239, 240, 241, 4135, 4136, usize::MAX].map(used_len);
    assert_eq!(sizes, [256, 256, 256, 257, 4151, 4152, 4152]);
}

#[test]
fn nothing_is_served_without_engines() {
    let mut keys = KeyStore::new();
    for operation in (2..=7).filter_map(Operation::from_number) {
        let served = keys.serve(None::<&mut Game>, operation, &mut [0; BUFFER_LEN], 0);
        assert_eq!(served, Err(Refusal::NoKeys));
    }
}
