//! The engines of the machine, in the form that the library asks for.

use hartlock_drivers::dma::{Dma, List, Range, Window};
use hartlock_drivers::ed25519::Ed25519;
use hartlock_drivers::sha3::{self, Function, Sha3};
use hartlock_drivers::wait::Polling;
use hartlock_regs::Block;
use hartlock_virt::board::{
    DMA_ENGINE as DMA, DMA_LISTS as LISTS, ED25519_ENGINE as ED25519, PUSH, SHA3_ENGINE as SHA3,
    map,
};

use super::Form;
use crate::{Digest, HashEngine};

/// Whether the next list continues the message.
const HOLD: usize = LISTS + 0x800;

/// A store of eight bytes there pushes none of them, and eight bytes further on one more each, as the end of the message
/// (`hw/soc/tee/rtl/tee_push.sv`).
const END: usize = PUSH + 0x80;

/// The only sink of the DMA engine.
const SINK: u8 = 1;
/// Reads of its events before a list is given up: a fixed number, and one for four bytes.
const PATIENCE: u32 = 10_000;

/// The engines of the machine.
pub struct Engines;

impl Form for Engines {
    type Hash = Hash;
    type Sign = Ed25519<Polling>;

    fn engines() -> (Option<Self::Hash>, Option<Self::Sign>) {
        (Hash::take(), sign())
    }

    fn forget() {
        forget();
    }
}

/// SHA-3, with DMA for memory if there is such an engine.
pub struct Hash {
    engine: Sha3<Polling>,
    dma: Option<Dma<'static, Polling>>,
}

impl Hash {
    /// Takes the engines, once.
    pub fn take() -> Option<Self> {
        // SAFETY: registers of the machine, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
        Some(Self { engine: Sha3::new(registers, Polling).ok()?, dma: dma() })
    }

    /// Has DMA bring memory to the engine.
    fn list(&mut self, bytes: &[u8]) -> Option<()> {
        let source = u32::try_from(bytes.as_ptr().expose_provenance()).ok()?;
        let length = u32::try_from(bytes.len()).ok()?;
        let dma = self.dma.as_mut()?;
        dma.start(&[Range { source, destination: 0, length }], SINK, false).ok()?;
        dma.finish(PATIENCE.saturating_add(length / 4)).ok()
    }
}

/// DMA that reads the memory of the board and writes nothing.
fn dma() -> Option<Dma<'static, Polling>> {
    // SAFETY: as above.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
    // SAFETY: words that this program writes and the engine reads; any of their values is one of a list.
    let list: &'static mut List = unsafe { &mut *core::ptr::with_exposed_provenance_mut(LISTS) };
    let mut dma = Dma::new(registers, list, 0, Polling).ok()?;
    let page = |address: u64| (address >> 12) as u32;
    let source = Window { first: page(map::RAM.start), last: page(map::RAM.end.wrapping_sub(1)) };
    dma.lock(source, Window::EMPTY).ok()?;
    Some(dma)
}

impl HashEngine for Hash {
    fn digest(&mut self, parts: &[&[u8]]) -> Option<Digest> {
        self.engine.start_stream(Function::Sha3_512).ok()?;
        push(parts);
        self.end_parts()
    }

    fn digest_of_memory(&mut self, bytes: &[u8]) -> Option<Digest> {
        if self.dma.is_none() {
            return self.digest(&[bytes]);
        }
        self.engine.start_stream(Function::Sha3_512).ok()?;
        self.part(bytes, true)?;
        self.end_parts()
    }

    fn begin_parts(&mut self) -> Option<bool> {
        let has_parts = self.dma.is_some();
        if has_parts {
            self.engine.start_stream(Function::Sha3_512).ok()?;
        }
        Some(has_parts)
    }

    fn part(&mut self, bytes: &[u8], is_last: bool) -> Option<()> {
        hold(!is_last);
        self.list(bytes)
    }

    fn end_parts(&mut self) -> Option<Digest> {
        let mut digest = Digest([0; 64]);
        self.engine.read(&mut digest.0).ok()?;
        Some(digest)
    }

    fn wipe(&mut self) -> Option<()> {
        hold(false);
        // An engine with a fault has cleared itself.
        match self.engine.wipe() {
            Ok(()) | Err(sha3::Error::Failed) => Some(()),
            Err(_) => None,
        }
    }
}

/// Pushes a message by stores of eight bytes. The engine takes them faster than the processor stores them.
fn push(parts: &[&[u8]]) {
    let store = |to: usize, word: u64| {
        // SAFETY: registers of the machine, which push a word and do nothing else.
        unsafe { core::ptr::with_exposed_provenance_mut::<u64>(to).write_volatile(word) };
    };
    let push_word = |word: u64| store(PUSH, word);
    // Bytes that do not make a word yet, the first one lowest.
    let (mut rest, mut rest_len) = (0, 0_usize);
    for part in parts {
        // SAFETY: any bits are a word. The target loads words where they are aligned, and bytes where they are not.
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

/// Whether the next list of the DMA engine continues the message.
fn hold(is_held: bool) {
    // SAFETY: a register of the machine that does nothing else.
    unsafe { core::ptr::with_exposed_provenance_mut::<u32>(HOLD).write_volatile(is_held.into()) };
}

/// Takes the engine for Ed25519, once.
pub fn sign() -> Option<Ed25519<Polling>> {
    // SAFETY: as above.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(ED25519)) };
    Ed25519::new(registers, Polling).ok()
}

/// Has both engines forget everything, whatever they do: for a boot that ends here.
pub fn forget() {
    // Who takes an engine wipes it. Nothing uses those that were taken before from here on.
    let _ = sign();
    let _ = Hash::take();
}
