//! The engines of the machine, in the form that the library asks for.

use hartlock_drivers::dma::{Dma, List, Range, Window};
use hartlock_drivers::ed25519::{self, Ed25519};
use hartlock_drivers::sha3::{Function, Sha3};
use hartlock_drivers::wait::Polling;
use hartlock_fsbl::{Challenge, HashEngine, SignEngine, Slot};
use hartlock_regs::Block;
use hartlock_verify::board::hartlock_soc as map;

const ED25519: usize = 0x1500_1000;
const SHA3: usize = 0x1500_2000;
const DMA: usize = 0x1500_3000;
const LISTS: usize = 0x1500_4000;

/// The only sink of the DMA engine.
const SINK: u8 = 1;
/// Reads of its events before a list is given up: a fixed number, and one for four bytes.
const PATIENCE: u32 = 10_000;

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
    fn digest(&mut self, parts: &[&[u8]]) -> Option<[u8; 64]> {
        let mut digest = [0; 64];
        self.engine.start(Function::Sha3_512).ok()?;
        parts.iter().for_each(|part| self.engine.push(part));
        self.engine.finish(&mut digest).ok()?;
        Some(digest)
    }

    fn digest_of_memory(&mut self, bytes: &[u8]) -> Option<[u8; 64]> {
        let Some(dma) = &mut self.dma else { return self.digest(&[bytes]) };
        let source = u32::try_from(bytes.as_ptr().expose_provenance()).ok()?;
        let length = u32::try_from(bytes.len()).ok()?;
        self.engine.start_stream(Function::Sha3_512).ok()?;
        dma.start(&[Range { source, destination: 0, length }], SINK, false).ok()?;
        dma.finish(PATIENCE.saturating_add(length / 4)).ok()?;
        let mut digest = [0; 64];
        self.engine.read(&mut digest).ok()?;
        Some(digest)
    }

    fn wipe(&mut self) -> Option<()> {
        self.engine.wipe().ok()
    }
}

/// Ed25519.
pub struct Sign(Ed25519<Polling>);

impl Sign {
    /// Takes the engine, once.
    pub fn take() -> Option<Self> {
        // SAFETY: as above.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(ED25519)) };
        Some(Self(Ed25519::new(registers, Polling).ok()?))
    }
}

fn slot(slot: Slot) -> Option<ed25519::Slot> {
    ed25519::Slot::new(slot as u8)
}

impl SignEngine for Sign {
    fn load(&mut self, number: Slot, expanded: &[u8; 64]) -> Option<[u8; 32]> {
        self.0.load(slot(number)?, expanded).ok()
    }

    fn sign(
        &mut self,
        number: Slot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
    ) -> Option<[u8; 64]> {
        self.0.sign(slot(number)?, nonce, challenge).ok()
    }

    fn wipe(&mut self) -> Option<()> {
        self.0.wipe().ok()
    }
}
