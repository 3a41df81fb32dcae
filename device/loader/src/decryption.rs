//! Decryption of payloads (image format §7.6), and what is wiped of it (boot flow §5.9).
//!
//! A payload is decrypted in place, block by block, each by the hart whose leaf of the block was accepted: exactly one,
//! and only after it has hashed the cipher text. No byte is used before the verdict, and a refusal overwrites all of them.

use core::sync::atomic::{AtomicU64, Ordering};

use hartlock_handoff::payload_keys::{self, CIPHER_KEY_SIZE, unwrap_content_key};
use hartlock_handoff::{Entry, Stage, Step};
use hartlock_image::{BundleType, Manifest, PayloadRecord, PayloadType, Reason};
use hartlock_kernels::aes::AesKey;
use hartlock_kernels::secret::{Secret, confined, wipe};
use hartlock_kernels::{CipherMode, Kernels};
use hartlock_verify::board::Region;
use hartlock_verify::pool::Job;
use hartlock_virt::board::map;
use hartlock_virt::{clock, memory};

/// The types of payload that can be encrypted: those of a system bundle.
const TYPES: &[PayloadType] = BundleType::System.payload_types();

/// Content keys by type of payload. Only the boot hart uses them.
static mut CONTENT_KEYS: [Secret<CIPHER_KEY_SIZE>; TYPES.len()] =
    [const { Secret::ZERO }; TYPES.len()];
/// The expanded key of the payload that is being decrypted. The boot hart writes it while no other hart has a block of
/// this payload, and all harts read it.
static mut KEY: AesKey = AesKey::EMPTY;
/// Load addresses and sizes of the encrypted payloads, by type; the size is 0 for the others.
static PLACES: [[AtomicU64; 2]; TYPES.len()] =
    [const { [const { AtomicU64::new(0) }; 2] }; TYPES.len()];
/// Payloads that were decrypted as a whole, one bit for each type.
static DECRYPTED: AtomicU64 = AtomicU64::new(0);

/// Bytes of the current payload that are decrypted, and what the log says of it: harts, first and last time, ticks.
static DONE: AtomicU64 = AtomicU64::new(0);
static HARTS: AtomicU64 = AtomicU64::new(0);
static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);
static LAST: AtomicU64 = AtomicU64::new(0);
static BUSY: AtomicU64 = AtomicU64::new(0);

fn index(payload_type: PayloadType) -> usize {
    TYPES.iter().position(|other| *other == payload_type).unwrap_or(TYPES.len())
}

/// Unwraps the content keys of all encrypted payloads, and overwrites the payload-key page. The boot hart calls this
/// before it reads a payload.
///
/// # Errors
/// `PayloadKeysInvalid`, `ClassKeyMissing`, `ContentKeyInvalid`.
pub(crate) fn prepare(manifest: &Manifest<'_>) -> Result<(), Reason> {
    let result = manifest.extensions.encrypted().try_for_each(|encryption| {
        let at = index(encryption.payload_type);
        let payload = manifest.payload(encryption.payload_type).ok_or(Reason::InternalLimit)?;
        let [address, size] = PLACES.get(at).ok_or(Reason::InternalLimit)?;
        address.store(payload.load_address, Ordering::Relaxed);
        size.store(payload.size, Ordering::Release);
        // SAFETY: the ROM wrote the page, and only this hart accesses it.
        let page = unsafe { memory::bytes(map::PAYLOAD_KEYS) };
        let key = content_key(at).ok_or(Reason::InternalLimit)?;
        confined(|| unwrap_content_key(page, &encryption, key))
    });
    wipe(page());
    result
}

fn page() -> &'static mut [u8] {
    // SAFETY: only the boot hart accesses the page, or a hart that stops after it; nothing keeps this reference.
    unsafe { memory::bytes_mut(map::PAYLOAD_KEYS) }
}

fn content_key(at: usize) -> Option<&'static mut [u8; CIPHER_KEY_SIZE]> {
    let keys = &raw mut CONTENT_KEYS;
    // SAFETY: only the boot hart accesses the keys, and nothing keeps this reference.
    let keys = unsafe { &mut *keys };
    keys.get_mut(at).map(|key| &mut **key)
}

/// Begins to decrypt a payload, before any of its blocks can be hashed. Returns false for one that is not encrypted.
///
/// # Errors
/// `InternalLimit`.
// Not inlined, because a test looks what happens without it.
#[inline(never)]
pub(crate) fn begin(payload: &PayloadRecord) -> Result<bool, Reason> {
    let at = index(payload.payload_type);
    let is_encrypted = PLACES.get(at).is_some_and(|[_, size]| size.load(Ordering::Acquire) > 0);
    if !is_encrypted {
        return Ok(false);
    }
    for (number, value) in [(&DONE, 0), (&HARTS, 0), (&FIRST, u64::MAX), (&LAST, 0), (&BUSY, 0)] {
        number.store(value, Ordering::Relaxed);
    }
    let content_key = content_key(at).ok_or(Reason::InternalLimit)?;
    let key = &raw mut KEY;
    // SAFETY: every block of the payload before was decrypted, and no block of this one has been hashed, so no other hart
    // uses the key.
    let key = unsafe { &mut *key };
    confined(|| key.expand(content_key)).map_err(|_| Reason::InternalLimit)?;
    Ok(true)
}

/// Decrypts bytes of the current payload, from `offset` on, which is a multiple of 16.
///
/// # Safety
/// The range is a part of the payload for which [`begin`] has returned true, was hashed, and is decrypted by this call
/// alone.
pub(crate) unsafe fn decrypt(kernels: &Kernels, hart: usize, address: u64, offset: u64, len: u64) {
    let start = clock::now().time;
    let key = &raw const KEY;
    // SAFETY: the boot hart changes the key only after all blocks of a payload were decrypted.
    let key = unsafe { &*key };
    let place = Region::new(address.saturating_add(offset), len);
    // SAFETY: the caller guarantees the range.
    let bytes = unsafe { memory::bytes_mut(place) };
    payload_keys::decrypt(kernels, key, offset, bytes);
    let end = clock::now().time;
    HARTS.fetch_or(1 << (hart & 63), Ordering::Relaxed);
    FIRST.fetch_min(start, Ordering::Relaxed);
    LAST.fetch_max(end, Ordering::Relaxed);
    BUSY.fetch_add(end.saturating_sub(start), Ordering::Relaxed);
    DONE.fetch_add(len, Ordering::Release);
}

/// Decrypts a block of the current payload, if it is encrypted.
///
/// # Safety
/// The caller's leaf of the block was accepted.
pub(crate) unsafe fn decrypt_block(kernels: &Kernels, hart: usize, job: &Job, block: u64) {
    let offset = block.saturating_mul(job.block_size());
    if job.is_encrypted
        && let Some((_, len)) = job.block(block)
    {
        // SAFETY: a leaf is accepted from one hart alone, which has hashed the block.
        unsafe { decrypt(kernels, hart, job.address, offset, len) }
    }
}

/// Returns true if this many bytes of the current payload are decrypted.
pub(crate) fn is_done(size: u64) -> bool {
    DONE.load(Ordering::Acquire) == size
}

/// Ends the decryption of the current payload, and returns its log entry (boot flow §3.5, step 13).
pub(crate) fn end(payload: &PayloadRecord, kernels: &Kernels) -> Entry {
    if is_done(payload.size) {
        DECRYPTED.fetch_or(1 << index(payload.payload_type), Ordering::Relaxed);
    }
    let [harts, first, last, busy] =
        [&HARTS, &FIRST, &LAST, &BUSY].map(|number| number.load(Ordering::Relaxed));
    Entry {
        payload: Some(payload.payload_type),
        kernel: kernels.cipher_tier(CipherMode::Ctr) as u32,
        harts,
        bytes: payload.size,
        time: (first, last),
        value: busy,
        ..Entry::new(Stage::Loader, Step::Decrypt)
    }
}

/// Refuses if a payload that is encrypted according to the signed manifest was not decrypted: nothing before the verdict
/// notices a decryption that was skipped.
///
/// # Errors
/// `VerdictNotConfirmed`.
pub(crate) fn confirm(manifest: &Manifest<'_>) -> Result<(), Reason> {
    let decrypted = DECRYPTED.load(Ordering::Relaxed);
    let mut types = manifest.extensions.encrypted().map(|it| index(it.payload_type));
    if types.all(|index| decrypted & (1 << index) != 0) {
        Ok(())
    } else {
        Err(Reason::VerdictNotConfirmed)
    }
}

/// Overwrites all keys. No other hart decrypts any more.
// Not inlined, because a test looks what is left without it.
#[inline(never)]
pub(crate) fn forget_keys() {
    wipe(page());
    (0..TYPES.len()).filter_map(content_key).for_each(|key| wipe(key));
    let key = &raw mut KEY;
    // SAFETY: no other hart uses the key any more, and nothing keeps this reference.
    let key = unsafe { &mut *key };
    // The error is meant: an empty key of no length.
    let _ = key.expand(&[]);
}

/// Overwrites the payload-key page. A hart that is not the boot hart may call this, too: at worst the boot hart finds no
/// key.
pub(crate) fn forget_page() {
    wipe(page());
}

/// Overwrites all keys, all encrypted payloads, and the copy of the device tree. A refusal calls this when the other harts
/// are stopped.
#[inline(never)]
pub(crate) fn forget() {
    forget_keys();
    for (payload_type, [address, size]) in TYPES.iter().zip(&PLACES) {
        let size = size.load(Ordering::Acquire);
        if size == 0 {
            continue;
        }
        // SAFETY: the range was checked against the board's map, and nothing of the payload is used after a refusal.
        unsafe { overwrite(Region::new(address.load(Ordering::Relaxed), size)) };
        if *payload_type == PayloadType::SystemFdt {
            // SAFETY: the edited copy of the tree is the only thing there, and is not used after a refusal.
            unsafe { overwrite(map::LINUX_FDT) };
        }
    }
}

/// Overwrites memory, a word at a time.
///
/// # Safety
/// The range is memory that begins at a page, and nobody uses it.
unsafe fn overwrite(place: Region) {
    // SAFETY: the caller guarantees the range.
    let (words, rest) = unsafe { memory::bytes_mut(place) }.as_chunks_mut::<8>();
    words.iter_mut().for_each(|word| {
        // SAFETY: the range begins at a page, so that a chunk of eight bytes is an aligned word.
        unsafe { core::ptr::from_mut(word).cast::<u64>().write_volatile(0) };
    });
    wipe(rest);
}
