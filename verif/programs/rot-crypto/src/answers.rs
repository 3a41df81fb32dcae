//! Known answers of the AES engine and the big-number engine.

use core::fmt::Write;

use hartlock_drivers::aes::{self, Aes, Direction, ModeOfOperation};
use hartlock_drivers::bignum::{self, Bignum};
use hartlock_drivers::key_slot::{KEY_LEN, KeySlot};
use hartlock_drivers::wait::Sleeping;
use hartlock_regs::Block;
use hartlock_regs::aes::AesInterruptEnable;
use hartlock_rot::{AES, BIGNUM, KEY_SLOT, cause, cycle, interrupt, sleep_until};
use hartlock_rot_bench::{Console, exit, try_load, try_store};

use crate::known;

/// Public exponent of the RSA key.
const EXPONENT: u32 = 65537;

/// A test that returns true if its results are right.
type Part = fn() -> Option<bool>;

pub fn run() {
    let parts: [(&str, Part); 8] = [
        ("aes-256-cbc", encrypts_and_decrypts),
        ("aes-256-gcm", authenticates),
        ("aes-interrupt", interrupts),
        ("aes-slot", keeps_the_key_of_the_slot),
        ("aes-kw", wraps),
        ("rsa-2048", opens),
        ("ecdsa-p256", verifies_p256),
        ("ecdsa-p384", verifies_p384),
    ];
    for (number, (name, part)) in (1..).zip(parts) {
        let start = cycle();
        let result = part();
        let cycles = cycle().wrapping_sub(start);
        if result != Some(true) {
            let _ = writeln!(Console, "rot-crypto: {name}: {result:?}");
            exit(number);
        }
        let _ = writeln!(Console, "{name} {cycles}");
    }
}

/// Returns a driver of the engine. Only one driver may be in use at a time.
fn aes() -> Option<Aes> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(AES)) };
    let mut engine = Aes::new(registers).ok()?;
    engine.load_key(known::AES_KEY).ok()?;
    Some(engine)
}

/// Wraps a key with another one. A changed result has to be refused.
fn wraps() -> Option<bool> {
    let mut engine = aes()?;
    engine.load_key(known::WRAPPING_KEY).ok()?;
    let mut wrapped = [0; known::WRAPPED_KEY.len()];
    engine.wrap(known::WRAPPED, &mut wrapped).ok()?;
    let is_wrapped = wrapped == *known::WRAPPED_KEY;
    let mut key = [0; known::WRAPPED.len()];
    engine.unwrap_key(&wrapped, &mut key).ok()?;
    let is_unwrapped = key == *known::WRAPPED;
    if let Some(last) = wrapped.last_mut() {
        *last ^= 1;
    }
    let changed = engine.unwrap_key(&wrapped, &mut key);
    let is_refused = changed == Err(aes::Error::NotAuthentic) && key == [0; known::WRAPPED.len()];
    Some(is_wrapped && is_unwrapped && is_refused)
}

fn encrypts_and_decrypts() -> Option<bool> {
    let mut engine = aes()?;
    let mut text = *known::AES_PLAINTEXT;
    engine.process(ModeOfOperation::Cbc(known::AES_IV), Direction::Encrypt, &mut text).ok()?;
    let is_encrypted = text == *known::AES_CBC;
    engine.process(ModeOfOperation::Cbc(known::AES_IV), Direction::Decrypt, &mut text).ok()?;
    Some(is_encrypted && text == *known::AES_PLAINTEXT)
}

/// Decrypts a changed ciphertext, which has to be refused, and its text has to become zero.
fn authenticates() -> Option<bool> {
    let mut engine = aes()?;
    let (iv, more) = ([7; 12], [8; 20]);
    let mut text = *known::AES_PLAINTEXT;
    let tag = engine.seal(&iv, &more, &mut text).ok()?;
    let mut changed = text;
    *changed.last_mut()? ^= 1;
    let is_refused = engine.open(&iv, &more, &mut changed, &tag) == Err(aes::Error::NotAuthentic);
    engine.open(&iv, &more, &mut text, &tag).ok()?;
    Some(is_refused && changed == [0; 64] && text == *known::AES_PLAINTEXT)
}

/// Lets the processor sleep until a message has ended. Without the interrupt it would not wake up.
fn interrupts() -> Option<bool> {
    let mut engine = aes()?;
    // SAFETY: these are the same registers; only this value is used, between calls of the driver.
    let registers: hartlock_regs::aes::AesRegisters =
        unsafe { Block::new(core::ptr::with_exposed_provenance_mut(AES)) };
    registers.interrupt().write(registers.interrupt().read());
    registers.interrupt_enable().write(AesInterruptEnable::RESET.with_done(true));
    engine.process(ModeOfOperation::Ecb, Direction::Encrypt, &mut [0; 16]).ok()?;
    sleep_until(interrupt::AES);
    registers.interrupt_enable().write(AesInterruptEnable::RESET);
    Some(registers.interrupt().read().done())
}

/// Checks that the slot is empty at first. After it was closed, the engine holds the key, and no load or store can
/// access the slot.
fn keeps_the_key_of_the_slot() -> Option<bool> {
    let mut engine = aes()?;
    let was_empty = engine.load_slot() == Err(aes::Error::Refused);
    // SAFETY: the address is the page of the slot, of which this is the only user.
    let mut slot = unsafe { KeySlot::new(core::ptr::with_exposed_provenance_mut(KEY_SLOT)) };
    let is_filled = slot.fill(known::AES_KEY, || ());
    let is_shut = (0..KEY_LEN).step_by(4).all(|offset| {
        let address = KEY_SLOT.wrapping_add(offset);
        // SAFETY: these are registers of the slot, which is closed.
        let stored = unsafe { try_store(address, 0) };
        (try_load(address), stored) == (Err(cause::LOAD_ACCESS), Err(cause::STORE_ACCESS))
    });
    // Another key is loaded first, so that the result depends on the key of the slot.
    engine.load_key(&[0; KEY_LEN]).ok()?;
    engine.load_slot().ok()?;
    let mut text = *known::AES_PLAINTEXT;
    engine.process(ModeOfOperation::Cbc(known::AES_IV), Direction::Encrypt, &mut text).ok()?;
    Some(was_empty && is_filled && is_shut && text == *known::AES_CBC)
}

/// Returns the driver of the big-number engine, whose interrupt wakes the processor.
fn bignum() -> Option<Bignum<Sleeping>> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)) };
    Bignum::new(registers, Sleeping(|| sleep_until(interrupt::BIGNUM))).ok()
}

/// Checks that the encoded message is that of the digest (RFC 8017 §9.2), and that a changed signature has another one.
fn opens() -> Option<bool> {
    let mut engine = bignum()?;
    let (mut encoded, mut other) = ([0; 256], [0; 256]);
    engine.recover(known::RSA_MODULUS, known::RSA_SIGNATURE, EXPONENT, &mut encoded).ok()?;
    let mut changed = *known::RSA_SIGNATURE;
    *changed.last_mut()? ^= 1;
    engine.recover(known::RSA_MODULUS, &changed, EXPONENT, &mut other).ok()?;
    let mut expected = [0xff; 256];
    *expected.first_chunk_mut()? = [0, 1];
    let (padding, digest) = expected.split_last_chunk_mut()?;
    *digest = *known::SHA256;
    let (padding, info) = padding.split_last_chunk_mut()?;
    *info = *known::DIGEST_INFO;
    *padding.last_mut()? = 0;
    Some(encoded == expected && other != expected)
}

fn verifies_p256() -> Option<bool> {
    let mut engine = bignum()?;
    let (x, y) = halves(known::P256_KEY)?;
    let (r, s) = halves(known::P256_SIGNATURE)?;
    let mut changed = *known::SHA256;
    engine.verify_p256((x, y), &changed, (r, s)).ok()?;
    *changed.last_mut()? ^= 1;
    Some(is_refused(engine.verify_p256((x, y), &changed, (r, s))))
}

fn verifies_p384() -> Option<bool> {
    let mut engine = bignum()?;
    let (x, y) = halves(known::P384_KEY)?;
    let (r, s) = halves(known::P384_SIGNATURE)?;
    let mut changed = *known::SHA384;
    engine.verify_p384((x, y), &changed, (r, s)).ok()?;
    *changed.last_mut()? ^= 1;
    Some(is_refused(engine.verify_p384((x, y), &changed, (r, s))))
}

/// Returns true if the verdict is a refusal. An engine that accepts is reported separately from one that fails, because
/// both end the program.
fn is_refused(verdict: Result<(), bignum::Error>) -> bool {
    if verdict.is_ok() {
        let _ = writeln!(Console, "rot-crypto: a changed message is accepted");
    }
    verdict == Err(bignum::Error::BadSignature)
}

/// Splits bytes into two numbers of equal length.
fn halves<const N: usize>(both: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
    let (first, second) = both.split_first_chunk()?;
    Some((first, second.try_into().ok()?))
}
