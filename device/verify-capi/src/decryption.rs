//! Decryption of payloads (specification §8, image format §7.6), and what is wiped of it.
//!
//! A block is decrypted in place by the hart whose leaf of it was accepted: exactly one, and only after it has hashed the
//! cipher text. A refusal overwrites keys and plain text. Nobody here can stop a hart, so the boot hart waits until none
//! decrypts any more.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hartlock_handoff::payload_keys::{self, CIPHER_KEY_SIZE};
use hartlock_image::{BundleType, Manifest, PayloadRecord, PayloadType, Reason};
use hartlock_kernels::Kernels;
use hartlock_kernels::aes::AesKey;
use hartlock_kernels::secret::{confined, wipe};
use hartlock_verify::pool::Job;

use crate::library::Library;
use crate::port::{PATIENCE_SECONDS, Time};
use crate::types::CallerEncryption;

/// The types of payload that can be encrypted: those of a system bundle.
const TYPES: &[PayloadType] = BundleType::System.payload_types();
/// The only cipher of the format.
const AES_256_CTR: u32 = 1;
/// Number of words of an expanded key.
const KEY_WORDS: usize = size_of::<AesKey>() / size_of::<u64>();

/// State that only the boot hart changes, and only while no other hart decrypts.
struct Keys {
    /// Content keys by type of payload, zeros for those that are not encrypted.
    content: [[u8; CIPHER_KEY_SIZE]; TYPES.len()],
    /// The expanded key of the current payload, which all harts read.
    expanded: MaybeUninit<AesKey>,
    /// Where encrypted payloads are, by type, once a byte of them may be plain text; the size is 0 for the others.
    places: [(*mut u8, usize); TYPES.len()],
}

/// The decryption of a boot. All bytes are zero before the first payload.
pub struct Decryption {
    keys: UnsafeCell<Keys>,
    /// Bytes of the current payload that are decrypted.
    done: AtomicU64,
    /// Payloads that were decrypted as a whole, one bit for each type.
    whole: AtomicU64,
    /// Harts that decrypt now.
    active: AtomicU64,
    /// True from the moment at which nothing may be decrypted any more.
    is_over: AtomicBool,
}

fn index(payload_type: PayloadType) -> usize {
    TYPES.iter().position(|other| *other == payload_type).unwrap_or(TYPES.len())
}

impl Decryption {
    /// True: encrypted payloads are not refused if the platform unwraps their keys.
    pub(crate) const IS_THERE: bool = true;

    /// Returns the keys.
    ///
    /// # Safety
    /// The boot hart calls this, no other hart decrypts, and the reference ends before the next call.
    #[allow(clippy::mut_from_ref, reason = "a cell, whose use the caller restricts")]
    unsafe fn keys(&self) -> &mut Keys {
        // SAFETY: the caller guarantees that nothing else refers to them.
        unsafe { &mut *self.keys.get() }
    }

    /// Asks the platform for the content key of each encrypted payload.
    ///
    /// # Errors
    /// `ClassKeyMissing`, `ContentKeyInvalid`, `PayloadKeysInvalid`.
    pub fn unwrap(&self, library: &Library, manifest: &Manifest<'_>) -> Result<(), Reason> {
        let platform = library.platform();
        manifest.extensions.encrypted().try_for_each(|encryption| {
            let unwrap = platform.unwrap.ok_or(Reason::ClassKeyMissing)?;
            // SAFETY: no payload was loaded, so no hart decrypts.
            let keys = unsafe { self.keys() };
            let key = keys.content.get_mut(index(encryption.payload_type));
            let key = key.ok_or(Reason::InternalLimit)?;
            let told = CallerEncryption {
                payload_type: encryption.payload_type as u32,
                cipher: AES_256_CTR,
                class_id: encryption.class_id,
                wrapped_key: encryption.wrapped,
            };
            let (context, hart) = (platform.context, library.boot_hart());
            let answer = confined(|| {
                // SAFETY: the caller gave this function for this purpose, and both places live until it returns.
                unsafe { unwrap(context, hart, &raw const told, key.as_mut_ptr()) }
            });
            match reason_of(answer) {
                // A key that nobody has written would encrypt nothing.
                None if key.iter().any(|byte| *byte != 0) => Ok(()),
                reason => Err(reason.unwrap_or(Reason::PayloadKeysInvalid)),
            }
        })
    }

    /// Begins to decrypt a payload, before any of its blocks can be hashed. Returns false for one that is not encrypted.
    ///
    /// # Errors
    /// `InternalLimit`.
    pub fn begin(&self, payload: &PayloadRecord, place: *mut u8) -> Result<bool, Reason> {
        // SAFETY: every block of the payload before was decrypted, and no block of this one has been hashed.
        let Keys { content, expanded, places } = unsafe { self.keys() };
        let at = index(payload.payload_type);
        let (Some(content), Some(known)) = (content.get(at), places.get_mut(at)) else {
            return Ok(false);
        };
        if content.iter().all(|byte| *byte == 0) {
            return Ok(false);
        }
        *known = (place, payload.size as usize);
        self.done.store(0, Ordering::Relaxed);
        let key = expanded.write(AesKey::EMPTY);
        confined(|| key.expand(content)).map_err(|_| Reason::InternalLimit)?;
        Ok(true)
    }

    /// Decrypts bytes of the current payload, from `offset` on, which is a multiple of 16.
    ///
    /// # Safety
    /// The bytes are a part of the payload for which [`begin`](Self::begin) has returned true, were hashed, and are
    /// decrypted by this call alone.
    pub unsafe fn decrypt(&self, kernels: &Kernels, hart: u32, at: *mut u8, offset: u64, len: u64) {
        let bit = 1_u64 << (hart & 63);
        // The boot hart sees this hart, or this hart sees that it is over.
        self.active.fetch_or(bit, Ordering::SeqCst);
        if !self.is_over.load(Ordering::SeqCst) {
            let keys = self.keys.get();
            // SAFETY: the boot hart changes the key only while no hart decrypts.
            let key = unsafe { &(*keys).expanded };
            // SAFETY: `begin` has written it.
            let key = unsafe { key.assume_init_ref() };
            let start = at.wrapping_add(offset as usize);
            // SAFETY: the caller guarantees the bytes.
            let bytes = unsafe { core::slice::from_raw_parts_mut(start, len as usize) };
            payload_keys::decrypt(kernels, key, offset, bytes);
            self.done.fetch_add(len, Ordering::Release);
        }
        self.active.fetch_and(!bit, Ordering::SeqCst);
    }

    /// Decrypts a block of the current payload, if it is encrypted.
    ///
    /// # Safety
    /// The caller's leaf of the block was accepted.
    pub unsafe fn decrypt_block(&self, kernels: &Kernels, hart: u32, job: &Job, block: u64) {
        let offset = block.saturating_mul(job.block_size());
        if job.is_encrypted
            && let Some((_, len)) = job.block(block)
        {
            // SAFETY: a leaf is accepted from one hart alone, which has hashed the block.
            unsafe { self.decrypt(kernels, hart, job.address as *mut u8, offset, len) }
        }
    }

    /// Returns true if this many bytes of the current payload are decrypted.
    pub fn is_done(&self, size: u64) -> bool {
        self.done.load(Ordering::Acquire) == size
    }

    /// Ends the decryption of the current payload.
    pub fn end(&self, payload: &PayloadRecord) {
        if self.is_done(payload.size) {
            self.whole.fetch_or(1 << index(payload.payload_type), Ordering::Relaxed);
        }
    }

    /// Refuses if a payload that is encrypted according to the signed manifest was not decrypted: nothing before the
    /// verdict notices a decryption that was skipped.
    ///
    /// # Errors
    /// `VerdictNotConfirmed`.
    pub fn confirm(&self, manifest: &Manifest<'_>) -> Result<(), Reason> {
        let whole = self.whole.load(Ordering::Relaxed);
        let mut types = manifest.extensions.encrypted().map(|it| index(it.payload_type));
        let is_whole = types.all(|index| whole & (1 << index) != 0);
        if is_whole { Ok(()) } else { Err(Reason::VerdictNotConfirmed) }
    }

    /// Overwrites all keys. Every payload was decrypted.
    pub fn forget_keys(&self) {
        // SAFETY: the boot hart calls this when no other hart decrypts.
        let Keys { content, expanded, .. } = unsafe { self.keys() };
        wipe(content.as_flattened_mut());
        let words = expanded.as_mut_ptr().cast::<u64>();
        // SAFETY: the key is at a multiple of 8, has as many words, and any bytes are a value of the place.
        wipe(unsafe { core::slice::from_raw_parts_mut(words, KEY_WORDS) });
    }

    /// Overwrites all keys and all plain text, when no hart decrypts any more. One that still does after the time for a block
    /// is out of control (specification §8).
    pub fn forget(&self, library: &Library) {
        self.is_over.store(true, Ordering::SeqCst);
        let time = Time::of(library);
        let end = time.after(PATIENCE_SECONDS);
        let trapped = || library.trapped.load(Ordering::SeqCst);
        while self.active.load(Ordering::SeqCst) & !trapped() != 0 && time.now() < end {
            core::hint::spin_loop();
        }
        self.forget_keys();
        // SAFETY: the boot hart calls this, and no hart decrypts any more.
        for (place, size) in unsafe { self.keys() }.places {
            // SAFETY: the caller permitted all of the memory of the payload, and nothing of it is used after a refusal.
            unsafe { overwrite(place, size) }
        }
    }
}

/// Returns the reason for an answer of `unwrap`, or `None` for a key.
const fn reason_of(answer: u32) -> Option<Reason> {
    const MISSING: u32 = Reason::ClassKeyMissing as u32;
    const INVALID: u32 = Reason::ContentKeyInvalid as u32;
    match answer {
        0 => None,
        MISSING => Some(Reason::ClassKeyMissing),
        INVALID => Some(Reason::ContentKeyInvalid),
        _ => Some(Reason::PayloadKeysInvalid),
    }
}

/// Overwrites memory, a word at a time where it is aligned.
///
/// # Safety
/// The memory can be written, unless `size` is 0.
unsafe fn overwrite(place: *mut u8, size: usize) {
    if size == 0 {
        return;
    }
    // SAFETY: the caller guarantees the memory.
    let bytes = unsafe { core::slice::from_raw_parts_mut(place, size) };
    // SAFETY: any bytes are words.
    let (before, words, after) = unsafe { bytes.align_to_mut::<u64>() };
    wipe(before);
    wipe(words);
    wipe(after);
}
