//! The engines of the machine, with the traits of the library.

use hartlock_drivers::dma::{DescriptorList, Dma, Range, Window};
use hartlock_drivers::ed25519::Ed25519;
use hartlock_drivers::sha3::{Sha3, Sha3Function};
use hartlock_drivers::wait::Polling;
use hartlock_image::HashId;
use hartlock_kernels::engines::{
    Attached, Attachment, Challenge, EngineKind, Engines, Sha3Digest, SigningSlot, Wipe,
};
use hartlock_kernels::signature::Rejection;
use hartlock_regs::Block;
use hartlock_virt::board::{
    DMA_ENGINE as DMA, DMA_LISTS as LISTS, ED25519_ENGINE as ED25519, PUSH, SHA3_ENGINE as SHA3,
    map,
};

use super::Form;

/// Register that selects whether the next list continues the message.
const HOLD: usize = LISTS + 0x800;

/// Address of the end registers. An eight-byte store to it pushes no byte and ends the message; each address eight
/// bytes further pushes one more byte of the word (`hw/soc/tee/rtl/tee_push.sv`).
const END: usize = PUSH + 0x80;

/// Bit of the only sink of the DMA engine.
const SINK: u8 = 1;
/// Number of reads of the event register before a list counts as timed out. One more is added for every four bytes.
const PATIENCE: u32 = 10_000;

/// The engines of the machine, each until it fails.
pub struct TeeEngines {
    hash: Attached<HashEngine>,
    ed25519: Attached<Ed25519<Polling>>,
}

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for TeeEngines {}

impl TeeEngines {
    /// Takes the engines, once.
    pub fn take() -> Self {
        Self { hash: Attached::new(HashEngine::take()), ed25519: Attached::new(sign()) }
    }
}

impl Form for TeeEngines {
    type Engines = Self;

    fn engines() -> Self {
        Self::take()
    }

    fn forget() {
        forget();
    }
}

impl Engines for TeeEngines {
    fn attachment(&self, kind: EngineKind) -> Option<&dyn Attachment> {
        match kind {
            EngineKind::Sha3 => Some(&self.hash),
            EngineKind::Ed25519 => Some(&self.ed25519),
            _ => None,
        }
    }

    fn sha3(&self, hash: HashId, parts: &[&[u8]], digest: &mut Sha3Digest) -> Option<()> {
        if hash != HashId::Sha3_512 {
            return None;
        }
        self.hash.ask(|engine| engine.digest(parts, digest))
    }

    fn sha3_of_memory(&self, hash: HashId, bytes: &[u8], digest: &mut Sha3Digest) -> Option<()> {
        if hash != HashId::Sha3_512 {
            return None;
        }
        self.hash.ask(|engine| engine.digest_of_memory(bytes, digest))
    }

    fn begin_sha3_parts(&self) -> Option<bool> {
        self.hash.ask(HashEngine::begin_parts)
    }

    fn sha3_part(&self, bytes: &[u8], is_last: bool) -> Option<()> {
        self.hash.ask(|engine| engine.part(bytes, is_last))
    }

    fn end_sha3_parts(&self, digest: &mut Sha3Digest) -> Option<()> {
        self.hash.ask(|engine| engine.end_parts(digest))
    }

    fn verify_ed25519(
        &self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        self.ed25519.ask(|engine| engine.verify(public_key, signature, challenge).ok())
    }

    fn load_ed25519(
        &self,
        slot: SigningSlot,
        expanded: &[u8; 64],
        public_key: &mut [u8; 32],
    ) -> Option<()> {
        self.ed25519.ask(|engine| {
            *public_key = engine.load(slot.into(), expanded).ok()?;
            Some(())
        })
    }

    fn sign_ed25519(
        &self,
        slot: SigningSlot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        signature: &mut [u8; 64],
    ) -> Option<()> {
        self.ed25519.ask(|engine| {
            *signature = engine.sign(slot.into(), nonce, challenge).ok()?;
            Some(())
        })
    }
}

/// The SHA-3 engine, with the DMA engine for memory if there is one.
pub struct HashEngine {
    engine: Sha3<Polling>,
    dma: Option<Dma<'static, Polling>>,
}

impl HashEngine {
    /// Initialises the engines. This function is called once.
    pub fn take() -> Option<Self> {
        // SAFETY: these are registers of the machine, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
        Some(Self { engine: Sha3::new(registers, Polling).ok()?, dma: dma() })
    }

    /// Lets DMA stream memory to the engine.
    fn list(&mut self, bytes: &[u8]) -> Option<()> {
        let source = u32::try_from(bytes.as_ptr().expose_provenance()).ok()?;
        let length = u32::try_from(bytes.len()).ok()?;
        let dma = self.dma.as_mut()?;
        dma.start(&[Range { source, destination: 0, length }], SINK, false).ok()?;
        dma.finish(PATIENCE.saturating_add(length / 4)).ok()
    }
}

/// Initialises the DMA engine, which can read the memory of the board and cannot write.
fn dma() -> Option<Dma<'static, Polling>> {
    // SAFETY: these are registers of the machine, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
    // SAFETY: these are words that this program writes and the engine reads; every value is a valid `DescriptorList`.
    let list: &'static mut DescriptorList =
        unsafe { &mut *core::ptr::with_exposed_provenance_mut(LISTS) };
    let mut dma = Dma::new(registers, list, 0, Polling).ok()?;
    let page = |address: u64| (address >> 12) as u32;
    let source = Window { first: page(map::RAM.start), last: page(map::RAM.end.wrapping_sub(1)) };
    dma.lock(source, Window::EMPTY).ok()?;
    Some(dma)
}

impl HashEngine {
    fn digest(&mut self, parts: &[&[u8]], digest: &mut Sha3Digest) -> Option<()> {
        self.engine.start_stream(Sha3Function::Sha3_512).ok()?;
        push(parts);
        self.end_parts(digest)
    }

    fn digest_of_memory(&mut self, bytes: &[u8], digest: &mut Sha3Digest) -> Option<()> {
        if self.dma.is_none() {
            return self.digest(&[bytes], digest);
        }
        self.engine.start_stream(Sha3Function::Sha3_512).ok()?;
        self.part(bytes, true)?;
        self.end_parts(digest)
    }

    fn begin_parts(&mut self) -> Option<bool> {
        let has_parts = self.dma.is_some();
        if has_parts {
            self.engine.start_stream(Sha3Function::Sha3_512).ok()?;
        }
        Some(has_parts)
    }

    fn part(&mut self, bytes: &[u8], is_last: bool) -> Option<()> {
        hold(!is_last);
        self.list(bytes)
    }

    fn end_parts(&mut self, digest: &mut Sha3Digest) -> Option<()> {
        self.engine.read(&mut digest.0).ok()
    }
}

impl Wipe for HashEngine {
    fn wipe(&mut self) -> Option<()> {
        hold(false);
        Wipe::wipe(&mut self.engine)
    }
}

/// Pushes a message by eight-byte stores. The engine accepts them faster than the processor can store.
fn push(parts: &[&[u8]]) {
    let store = |to: usize, word: u64| {
        // SAFETY: these registers of the machine push a word and have no other effect.
        unsafe { core::ptr::with_exposed_provenance_mut::<u64>(to).write_volatile(word) };
    };
    let push_word = |word: u64| store(PUSH, word);
    // These bytes do not form a word yet. The first byte is the lowest.
    let (mut rest, mut rest_len) = (0, 0_usize);
    for part in parts {
        // SAFETY: any bits are a valid word. The code loads words where they are aligned, and bytes elsewhere.
        let (before, words, after) = unsafe { part.align_to::<u64>() };
        let bytes = if rest_len > 0 {
            *part
        } else if before.is_empty() {
            words.iter().for_each(|word| push_word(u64::from_le(*word)));
            after
        } else {
            let (words, after) = part.as_chunks();
            words.iter().for_each(|word| push_word(u64::from_le_bytes(*word)));
            after
        };
        for byte in bytes {
            rest |= u64::from(*byte) << (8 * rest_len);
            rest_len = rest_len.wrapping_add(1);
            if rest_len == 8 {
                push_word(rest);
                (rest, rest_len) = (0, 0);
            }
        }
    }
    store(END.wrapping_add(8 * rest_len), rest);
}

/// Selects whether the next list of the DMA engine continues the message.
fn hold(is_held: bool) {
    // SAFETY: this register of the machine has no other effect.
    unsafe { core::ptr::with_exposed_provenance_mut::<u32>(HOLD).write_volatile(is_held.into()) };
}

/// Initialises the Ed25519 engine. This function is called once.
pub fn sign() -> Option<Ed25519<Polling>> {
    // SAFETY: these are registers of the machine, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(ED25519)) };
    Ed25519::new(registers, Polling).ok()
}

/// Clears both engines, in whatever state they are. A boot that is refused calls this.
pub fn forget() {
    // Initialising an engine wipes it. Drivers that were created earlier are not used from here on.
    let _ = sign();
    let _ = HashEngine::take();
}
