//! Job 4 on the board. It prints these lines on the console, for each tier and mode:
//!
//! ```text
//! cipher <mode> <tier> works|absent|wrong
//! checked <mode> <tier> <cases>
//! wrong <mode> <tier> <what> key <bits> bytes <length> wrap <blocks>
//! wrong <mode> <tier> <what> is left
//! count <mode>-<bits> <tier> one <bytes> <instructions>
//! count ghash <tier> one <bytes> <instructions>
//! count aes-key-<bits> <tier> one <bytes of the key> <instructions>
//! ```

use core::arch::{asm, global_asm};
use core::hint::black_box;

use hartlock_jobs::ciphers::{BEFORE_WRAP, COUNTED_LEN, KEY_SIZES, LENGTHS};
use hartlock_jobs::fill;
use hartlock_kernels::aes::{AesKey, BLOCK_SIZE, ctr, gcm};
use hartlock_kernels::secret::confined;
use hartlock_kernels::{CipherMode, CipherTier, KernelFault, Kernels};
use hartlock_verify::board::Region;
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{PrivilegeMode, choose_cipher_only};
use hartlock_virt::memory;

use super::taken::{NO_TAG, Taken};

global_asm!(include_str!("../store_vectors.S"));

unsafe extern "C" {
    /// Stores the vector registers, and returns the length of one in bytes.
    fn bench_store_vectors(to: *mut u8) -> usize;
}

/// Two texts between program and pack: that of the kernel, and that of the portable form.
const OURS: u64 = map::RAM.start + (16 << 20);
const WANTED: u64 = map::RAM.start + (24 << 20);
/// Bytes in front of a text and after it, which no kernel may change.
const GUARD: usize = 64;
/// Longest misalignment of a text, in bytes.
const MAX_OFFSET: usize = 16;
const ROOM: u64 = (COUNTED_LEN + MAX_OFFSET + 2 * GUARD) as u64;

/// Checks each tier, then counts its instructions. Returns `false` if the pack is not empty.
pub fn run(count: u32, body: &[u8]) -> bool {
    if count != 0 || !body.is_empty() {
        return false;
    }
    for tier in CipherTier::ALL {
        let (kernels, faults) = choose_cipher_only(PrivilegeMode::Machine, tier);
        for mode in CipherMode::ALL {
            let fault = faults.get(mode as usize).and_then(|tiers| *tiers.get(tier as usize)?);
            let word = match fault {
                _ if kernels.cipher_tier(mode) == tier => "works",
                Some(KernelFault::WrongAnswer) => "wrong",
                _ => "absent",
            };
            console::line(&["cipher ", mode.name(), " ", tier.name(), " ", word]);
            if word == "works" {
                check(&kernels, mode, tier);
                check_remains(&kernels, mode, tier);
                for size in [16, 32] {
                    count_mode(&kernels, mode, tier, size);
                }
            }
        }
    }
    true
}

/// The text of the kernel and that of the portable form, each with its guards.
struct Texts {
    ours: &'static mut [u8],
    wanted: &'static mut [u8],
    from: usize,
    len: usize,
}

impl Texts {
    /// Fills both with the same bytes. They overwrite those of the previous case.
    fn new(len: usize, offset: usize, seed: u64) -> Self {
        // SAFETY: this is memory of this board between program and pack, of which this is the only user, and no earlier
        // text is referenced any more.
        let ours = unsafe { memory::bytes_mut(Region::new(OURS, ROOM)) };
        // SAFETY: the same argument applies.
        let wanted = unsafe { memory::bytes_mut(Region::new(WANTED, ROOM)) };
        let all = len.saturating_add(offset).saturating_add(2 * GUARD).min(ours.len());
        let (ours, wanted) =
            (ours.get_mut(..all).unwrap_or_default(), wanted.get_mut(..all).unwrap_or_default());
        fill(ours, seed);
        fill(wanted, seed);
        Self { ours, wanted, from: GUARD.saturating_add(offset), len }
    }

    fn ours(&mut self) -> &mut [u8] {
        let to = self.from.saturating_add(self.len);
        self.ours.get_mut(self.from..to).unwrap_or_default()
    }

    fn wanted(&mut self) -> &mut [u8] {
        let to = self.from.saturating_add(self.len);
        self.wanted.get_mut(self.from..to).unwrap_or_default()
    }

    /// Returns true if texts and guards are equal.
    fn are_equal(&self) -> bool {
        *self.ours == *self.wanted
    }
}

/// A key for a kernel, and the same for the portable form.
fn keys(kernels: &Kernels, size: usize) -> (AesKey, AesKey) {
    let mut bytes = [0; 32];
    fill(&mut bytes, size as u64);
    let bytes = bytes.get(..size).unwrap_or_default();
    let (mut ours, mut portable) = (AesKey::with(kernels), AesKey::EMPTY);
    if ours.expand(bytes).is_err() || portable.expand(bytes).is_err() {
        console::line(&["wrong key"]);
    }
    (ours, portable)
}

fn check(kernels: &Kernels, mode: CipherMode, tier: CipherTier) {
    let mut cases = 0_u64;
    for size in KEY_SIZES {
        let (key, portable) = keys(kernels, size);
        for len in LENGTHS {
            for wrap in BEFORE_WRAP {
                cases = cases.wrapping_add(1);
                // The offset is another one in every case.
                let texts = Texts::new(len, cases as usize % MAX_OFFSET, cases);
                let mut counter = [0; BLOCK_SIZE];
                fill(&mut counter, cases);
                if wrap != 0
                    && let Some(last) = counter.last_chunk_mut()
                {
                    *last = wrap.wrapping_neg().to_be_bytes();
                }
                let fault = match mode {
                    CipherMode::Ctr => check_ctr(&key, &portable, &counter, texts),
                    CipherMode::Gcm => check_gcm(&key, &portable, &counter, texts, cases),
                };
                if let Some(what) = fault {
                    let numbers = [size.wrapping_mul(8) as u64, len as u64, wrap.into()];
                    let [bits, len, wrap] = numbers.map(Number::decimal);
                    for part in ["wrong ", mode.name(), " ", tier.name(), " ", what, " key "] {
                        console::print(part);
                    }
                    let (bits, len) = (bits.as_str(), len.as_str());
                    console::line(&[bits, " bytes ", len, " wrap ", wrap.as_str()]);
                }
            }
        }
    }
    let cases = Number::decimal(cases);
    console::line(&["checked ", mode.name(), " ", tier.name(), " ", cases.as_str()]);
}

/// Compares counter mode with both widths of the counter. Returns what differs.
fn check_ctr(
    key: &AesKey,
    portable: &AesKey,
    counter: &[u8; BLOCK_SIZE],
    mut texts: Texts,
) -> Option<&'static str> {
    let is_short = ctr::apply(key, counter, texts.ours()).is_ok()
        && ctr::apply(portable, counter, texts.wanted()).is_ok();
    if !is_short || !texts.are_equal() {
        return Some("counter");
    }
    ctr::apply_wide(key, counter, texts.ours());
    ctr::apply_wide(portable, counter, texts.wanted());
    (!texts.are_equal()).then_some("wide-counter")
}

/// Compares tag and text of GCM, and the refusal of another tag. Returns what differs.
fn check_gcm(
    key: &AesKey,
    portable: &AesKey,
    counter: &[u8; BLOCK_SIZE],
    mut texts: Texts,
    case: u64,
) -> Option<&'static str> {
    // The initialization vector takes any length, and so does the additional data.
    let (iv_len, aad_len) = (1 + case as usize % BLOCK_SIZE, case as usize % 83);
    let mut aad = [0; 83];
    fill(&mut aad, !case);
    let iv = counter.get(..iv_len).unwrap_or_default();
    let aad = aad.get(..aad_len).unwrap_or_default();
    let tag = gcm::tag(portable, iv, aad, texts.wanted());
    if gcm::tag(key, iv, aad, texts.ours()) != tag {
        return Some("tag");
    }
    let tag = tag.unwrap_or_default();
    let is_open = gcm::decrypt(key, iv, aad, texts.ours(), &tag).is_ok()
        && gcm::decrypt(portable, iv, aad, texts.wanted(), &tag).is_ok();
    if !is_open || !texts.are_equal() {
        return Some("text");
    }
    let is_refused = gcm::decrypt(key, iv, aad, texts.ours(), &[!tag[0]; BLOCK_SIZE]).is_err();
    (!is_refused || texts.ours().iter().any(|byte| *byte != 0)).then_some("refusal")
}

/// Looks for the key and powers of the hash key, in the forms that kernels store, in the stack that a call has used, and
/// for anything in the vector registers; after a key was expanded, and after the mode. The portable form is not looked at:
/// it runs inside of `confined`.
fn check_remains(kernels: &Kernels, mode: CipherMode, tier: CipherTier) {
    /// Odd powers of the hash key; as many as there are up to that of the longest vector register.
    const POWERS: usize = 16;
    if tier == CipherTier::Portable {
        return;
    }
    let (key, _) = keys(kernels, 32);
    let mut parts = [[0; BLOCK_SIZE]; 2 + 2 * POWERS];
    let (bytes, powers) = parts.split_at_mut(2);
    fill(bytes.as_flattened_mut(), 32);
    let mut power = [0; BLOCK_SIZE];
    let mut is_done = ctr::apply(&key, &[0; BLOCK_SIZE], &mut power).is_ok();
    for [plain, reversed] in powers.as_chunks_mut().0 {
        *plain = power;
        *reversed = power.map(u8::reverse_bits);
        // Tags are linear in the additional data, which a single block multiplies by the square of the hash key.
        let tags = [power, [0; BLOCK_SIZE]].map(|aad| gcm::tag(&key, &[3; 12], &aad, &[]));
        let [Ok(one), Ok(other)] = tags else { return console::line(&["wrong power"]) };
        for ((to, one), other) in power.iter_mut().zip(one).zip(other) {
            *to = one ^ other;
        }
        is_done &= power != [0; BLOCK_SIZE];
    }
    confined(|| ());
    let mut fresh = AesKey::with(kernels);
    is_done &= fresh.expand(parts.as_flattened().get(..32).unwrap_or_default()).is_ok();
    look(&parts, mode, tier, "of the key");
    let mut texts = Texts::new(1000, 0, 1);
    let text = texts.ours();
    confined(|| ());
    is_done &= match mode {
        CipherMode::Ctr => ctr::apply(&fresh, &[3; BLOCK_SIZE], text).is_ok(),
        CipherMode::Gcm => gcm::decrypt(&fresh, &[3; 12], &[9; 600], text, &[0; 16]).is_err(),
    };
    look(&parts, mode, tier, "of the text");
    if !is_done {
        console::line(&["wrong ", mode.name(), " ", tier.name(), " call is left"]);
    }
}

/// Looks for secrets below the caller's frame, and in the vector registers.
// Inlined, so that its own frame does not overwrite what it looks for.
#[inline(always)]
fn look(parts: &[[u8; BLOCK_SIZE]], mode: CipherMode, tier: CipherTier, call: &str) {
    /// Bytes of stack below this function, fewer than `confined` overwrites.
    const STACK: u64 = 6 << 10;
    let end: u64;
    // SAFETY: the instruction reads a register.
    unsafe { asm!("mv {}, sp", out(reg) end, options(nomem, nostack)) };
    // SAFETY: this is the free part of the stack. What is read there need not be stable.
    let stack = unsafe { memory::bytes(Region::new(end.saturating_sub(STACK), STACK)) };
    let is_there = |part: &[u8; 8]| stack.as_chunks::<8>().0.contains(part);
    let is_in_stack = parts.as_flattened().as_chunks::<8>().0.iter().any(is_there);
    let mut is_in_registers = false;
    if tier >= CipherTier::Zvkned {
        // SAFETY: this memory is larger than 32 registers of 1024 bits, and the texts in it are not used any more.
        let room = unsafe { memory::bytes_mut(Region::new(WANTED, ROOM)) };
        // SAFETY: the hart has the vector extension, and the routine writes 32 registers.
        let len = unsafe { bench_store_vectors(room.as_mut_ptr()) };
        let registers = room.get(..len.saturating_mul(32)).unwrap_or_default();
        is_in_registers = registers.is_empty() || registers.iter().any(|byte| *byte != 0);
    }
    for (what, is_left) in [("stack ", is_in_stack), ("registers ", is_in_registers)] {
        if is_left {
            console::line(&["wrong ", mode.name(), " ", tier.name(), " ", what, call, " is left"]);
        }
    }
}

/// Counts the instructions for one long text, with everything that a call does, and for the key schedule.
fn count_mode(kernels: &Kernels, mode: CipherMode, tier: CipherTier, size: usize) {
    let (key, _) = keys(kernels, size);
    let key = black_box(&key);
    let mut texts = Texts::new(COUNTED_LEN, 0, 1);
    let text = texts.ours();
    let counter = [3; BLOCK_SIZE];
    let iv = counter.first_chunk::<12>().map_or(&[][..], |iv| iv);
    let tag = gcm::tag(key, iv, &[], text).unwrap_or_default();
    let bits = Number::decimal(size.wrapping_mul(8) as u64);
    let name = [mode.name(), "-", bits.as_str()];
    match mode {
        CipherMode::Ctr => {
            count(&name, tier, COUNTED_LEN, || ctr::apply(key, &counter, text).is_ok());
            let mut bytes = [0; 32];
            fill(&mut bytes, size as u64);
            let bytes = black_box(bytes.get(..size).unwrap_or_default());
            let mut fresh = AesKey::with(kernels);
            count(&["aes-key-", bits.as_str()], tier, size, || fresh.expand(bytes).is_ok());
            black_box(&fresh);
        }
        CipherMode::Gcm => {
            count(&name, tier, COUNTED_LEN, || gcm::decrypt(key, iv, &[], text, &tag).is_ok());
            // The hash alone is that of additional data without a text. It does not depend on the size of the key.
            if size == 32 {
                count(&["ghash"], tier, COUNTED_LEN, || gcm::tag(key, iv, text, &[]).is_ok());
            }
        }
    }
}

fn count(name: &[&str], tier: CipherTier, len: usize, work: impl FnOnce() -> bool) {
    let mut is_done = false;
    let taken = Taken::by(NO_TAG, || is_done = work());
    let bytes = Number::decimal(len as u64);
    console::print("count ");
    name.iter().for_each(|part| console::print(part));
    for part in [" ", tier.name(), " one ", bytes.as_str()] {
        console::print(part);
    }
    taken.print();
    if !is_done {
        console::line(&["wrong count"]);
    }
}
