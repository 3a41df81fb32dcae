//! The Ed25519 engine (`hw/ip/ed25519`): public keys, signatures and verifications. The engine takes digests; the
//! caller computes them with SHA-512 (RFC 8032) or with SHA3-512 (Keystone).
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. Secrets are written into the engine once and cannot be read from
//! it.

use hartlock_kernels::engines::{SigningSlot, Wipe};
use hartlock_kernels::signature::Rejection;
use hartlock_regs::ed25519::{
    Ed25519Command, Ed25519Control, Ed25519Interrupt, Ed25519InterruptEnable, Ed25519Registers,
    Ed25519Status, Ed25519Verdict,
};
use hartlock_regs::{Array, ReadOnly, WriteOnly};

use crate::wait::Wait;

/// Value `ed25` of the identification register.
const MAGIC: u32 = 0x6564_3235;
/// Maximum number of status reads before the engine is treated as absent. The longest command, a signature with its
/// verification, takes 43,000 cycles, and a read takes more than one.
const PATIENCE: u32 = 200_000;
/// Number of key slots of the engine.
const SLOTS: u8 = 4;

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// The engine detected a fault, and does nothing until reset.
    Failed,
    /// The engine does not respond.
    Silent,
    /// The slot does not exist, is empty, is full, or has no public key yet; or other code used the engine in the
    /// meantime, or an input was lost.
    Refused,
    /// The scalar or nonce is zero modulo L.
    ZeroScalar,
    /// Two computations of the engine differ: those of a key or a nonce, or the signature does not verify. The engine
    /// releases no result.
    Faulty,
}

/// The number of one of the four key slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ed25519Slot(u8);

impl Ed25519Slot {
    /// Returns a slot, or `None` if the number is too large.
    #[must_use]
    pub const fn new(number: u8) -> Option<Ed25519Slot> {
        if number < SLOTS { Some(Ed25519Slot(number)) } else { None }
    }
}

impl From<SigningSlot> for Ed25519Slot {
    fn from(slot: SigningSlot) -> Self {
        Self(slot as u8)
    }
}

const _: () = assert!((SigningSlot::Known as u8) < SLOTS, "there is a slot for each");

/// The driver of the Ed25519 engine.
pub struct Ed25519<W> {
    registers: Ed25519Registers,
    wait: W,
}

impl<W: Wait> Ed25519<W> {
    /// Initialises the driver and wipes the engine including its keys.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: Ed25519Registers, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let mut engine = Self { registers, wait };
        engine.wipe()?;
        Ok(engine)
    }

    /// Returns the value of `control` for a command with this slot.
    const fn config(slot: Ed25519Slot) -> Ed25519Control {
        Ed25519Control::RESET.with_slot(slot.0)
    }

    /// Wipes all keys and the nonce.
    ///
    /// # Errors
    /// `Failed`, `Silent`.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.registers.command().write(Ed25519Command::RESET.with_wipe(true));
        self.until_idle()
    }

    /// Loads the digest of a seed (RFC 8032 §5.1.5) into an empty slot: a scalar, which the engine clamps, and a
    /// prefix. Returns the public key, which the engine also keeps.
    ///
    /// # Errors
    /// `Refused` if the slot already holds a key, or the errors of the engine.
    pub fn load(&mut self, slot: Ed25519Slot, expanded: &[u8; 64]) -> Result<[u8; 32], Error> {
        self.begin()?;
        let config = Self::config(slot).with_clamp(true);
        self.registers.control().write(config);
        write(self.registers.digest(), expanded);
        // If other bits were set, the engine would use another scalar, whose signatures reveal the key together with
        // those of the correct one.
        if self.registers.control().read() != config {
            return Err(Error::Failed);
        }
        // The register block keeps the last written word, so it is overwritten.
        self.registers.control().write(Self::config(slot));
        self.run(slot, Ed25519Command::RESET.with_load(true))?;
        self.public_key(slot)
    }

    /// Computes the public key of a loaded slot again and returns it.
    ///
    /// # Errors
    /// `Refused` if the slot is empty, or the errors of the engine.
    pub fn public_key(&mut self, slot: Ed25519Slot) -> Result<[u8; 32], Error> {
        self.begin()?;
        self.run(slot, Ed25519Command::RESET.with_public_key(true))?;
        self.point()
    }

    /// Signs with the key of a slot. `nonce` is the digest of prefix and message. `challenge` receives R, and returns
    /// the digest of R, public key and message (RFC 8032 §5.1.6). The engine verifies the signature before it releases
    /// it.
    ///
    /// # Errors
    /// `Refused`, `ZeroScalar`, `Faulty`, or the errors of the engine.
    pub fn sign(
        &mut self,
        slot: Ed25519Slot,
        nonce: &[u8; 64],
        challenge: impl FnOnce(&[u8; 32]) -> [u8; 64],
    ) -> Result<[u8; 64], Error> {
        self.begin()?;
        write(self.registers.digest(), nonce);
        self.run(slot, Ed25519Command::RESET.with_nonce(true))?;
        let r = self.point()?;
        self.begin()?;
        write(self.registers.digest(), &challenge(&r));
        self.run(slot, Ed25519Command::RESET.with_sign(true))?;
        let s: [u8; 32] = read(self.registers.s());
        let mut signature = [0; 64];
        if let Some((first, second)) = signature.split_first_chunk_mut() {
            *first = r;
            second.iter_mut().zip(s).for_each(|(to, from)| *to = from);
        }
        Ok(signature)
    }

    /// Verifies a signature with the digest of R, public key and message, by the strict rule of
    /// `hartlock_kernels::ed25519`.
    ///
    /// # Errors
    /// The outer result holds the errors of the engine, which decide nothing; the inner one holds the reason of a
    /// refusal.
    pub fn verify(
        &mut self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Result<Result<(), Rejection>, Error> {
        self.begin()?;
        let (r, s) = signature.split_at(32);
        write(self.registers.key(), public_key);
        write(self.registers.r_in(), r);
        write(self.registers.s_in(), s);
        write(self.registers.digest(), challenge);
        Ok(match self.ends(Ed25519Slot(0), Ed25519Command::RESET.with_verify(true))? {
            Ed25519Verdict::Good => Ok(()),
            Ed25519Verdict::InvalidKey => Err(Rejection::InvalidKey),
            Ed25519Verdict::InvalidSignature => Err(Rejection::NonCanonicalSignature),
            Ed25519Verdict::Mismatch => Err(Rejection::Mismatch),
            _ => return Err(Error::Refused),
        })
    }

    fn run(&mut self, slot: Ed25519Slot, command: Ed25519Command) -> Result<(), Error> {
        match self.ends(slot, command)? {
            Ed25519Verdict::Done => Ok(()),
            Ed25519Verdict::ZeroScalar => Err(Error::ZeroScalar),
            Ed25519Verdict::Mismatch => Err(Error::Faulty),
            _ => Err(Error::Refused),
        }
    }

    /// Runs a command and returns its outcome. A word that is not a verdict is a fault.
    fn ends(
        &mut self,
        slot: Ed25519Slot,
        command: Ed25519Command,
    ) -> Result<Ed25519Verdict, Error> {
        let config = Self::config(slot);
        self.registers.control().write(config);
        if W::BY_INTERRUPT {
            self.registers
                .interrupt()
                .write(Ed25519Interrupt::RESET.with_done(true).with_error(true));
            let enabled = Ed25519InterruptEnable::RESET.with_done(true).with_error(true);
            self.registers.interrupt_enable().write(enabled);
        }
        self.registers.command().write(command);
        self.until_idle()?;
        let error = self.registers.error().read();
        if error.command() || error.write() {
            return Err(Error::Refused);
        }
        // If the configuration differs, the engine has used the key of another slot, or returned a signature that it
        // did not verify.
        if self.registers.control().read() != config {
            return Err(Error::Failed);
        }
        self.registers.outcome().read().value().ok_or(Error::Failed)
    }

    /// Waits until the engine is idle, and clears earlier errors, so that errors of the inputs are detected.
    fn begin(&mut self) -> Result<(), Error> {
        self.until_idle()?;
        let error = self.registers.error();
        error.write(error.read());
        Ok(())
    }

    /// Reads a public key or R twice. The value is part of the challenge: if one bit of it were wrong, S together with
    /// the correct one would reveal the key, and the engine cannot detect this.
    fn point(&mut self) -> Result<[u8; 32], Error> {
        let bytes = read(self.registers.point());
        let again = self.registers.point();
        let words = bytes.as_chunks::<4>().0.iter().zip(again.iter());
        // The values are compared by words, because a comparison of bytes takes as long as all of the reads.
        let differ = words
            .fold(0, |seen, (word, register)| seen | (u32::from_le_bytes(*word) ^ register.read()));
        if differ == 0 { Ok(bytes) } else { Err(Error::Failed) }
    }

    fn until_idle(&mut self) -> Result<(), Error> {
        for _ in 0..PATIENCE {
            let status: Ed25519Status = self.registers.status().read();
            if status.failed() {
                return Err(Error::Failed);
            }
            if status.idle() {
                return Ok(());
            }
            self.wait.wait();
            if W::BY_INTERRUPT {
                // The status is read after this write, so that no earlier event is missed.
                let interrupt = self.registers.interrupt();
                interrupt.write(interrupt.read());
            }
        }
        Err(Error::Silent)
    }
}

/// Writes bytes to registers, in the byte order of memory.
fn write<const N: usize>(to: Array<'_, u32, WriteOnly, N>, bytes: &[u8]) {
    for (register, word) in to.iter().zip(bytes.as_chunks::<4>().0) {
        register.write(u32::from_le_bytes(*word));
    }
}

fn read(from: Array<'_, u32, ReadOnly, 8>) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (register, word) in from.iter().zip(bytes.as_chunks_mut::<4>().0) {
        *word = register.read().to_le_bytes();
    }
    bytes
}

impl<W: Wait> Wipe for Ed25519<W> {
    fn wipe(&mut self) -> Option<()> {
        // An engine with a fault has cleared itself.
        match self.wipe() {
            Ok(()) | Err(Error::Failed) => Some(()),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers, and `Counted` changes it as the hardware would. The tests in
    //! `hw/ip/ed25519/tb` check the computations of the hardware.

    use core::cell::Cell;
    use std::vec::Vec;

    use super::*;

    // These are offsets in words.
    const ID: usize = 0;
    const CONTROL: usize = 2;
    const COMMAND: usize = 3;
    const STATUS: usize = 4;
    const ERROR: usize = 5;
    const OUTCOME: usize = 8;
    const KEY: usize = 0x40 / 4;
    const DIGEST: usize = 0xc0 / 4;
    const POINT: usize = 0x100 / 4;
    const S: usize = 0x120 / 4;
    const IDLE: u32 = 1;
    const FAILED: u32 = 16;

    struct FakeEd25519(Vec<Cell<u32>>);

    impl FakeEd25519 {
        /// Returns an engine that answers every command with this word.
        fn with_outcome(outcome: u32) -> FakeEd25519 {
            let fake = FakeEd25519((0..0x140 / 4).map(Cell::new).collect());
            fake.0[ID].set(MAGIC);
            fake.0[STATUS].set(IDLE);
            fake.0[ERROR].set(0);
            fake.0[OUTCOME].set(outcome);
            fake
        }

        fn engine(&self) -> Result<Ed25519<IdleAfterWait<'_>>, Error> {
            let base = self.0.as_ptr().cast::<u32>().cast_mut();
            // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
            // outlive the engine in every test.
            Ed25519::new(unsafe { Ed25519Registers::new(base) }, IdleAfterWait(self))
        }

        fn word(&self, at: usize) -> u32 {
            self.0[at].get()
        }
    }

    /// A wait after which the engine is idle.
    struct IdleAfterWait<'a>(&'a FakeEd25519);

    impl Wait for IdleAfterWait<'_> {
        const BY_INTERRUPT: bool = false;

        fn wait(&mut self) {
            if self.0.word(CONTROL) != u32::MAX {
                self.0.0[STATUS].set(IDLE);
            }
        }
    }

    const GOOD: u32 = 0xc33c_c33c;
    const DONE: u32 = 0xa55a_a55a;

    #[test]
    fn takes_only_an_engine_that_is_there_and_works() {
        let fake = FakeEd25519::with_outcome(GOOD);
        assert!(fake.engine().is_ok());
        assert_eq!(fake.word(COMMAND), 1 << 7, "it does not wipe");
        fake.0[STATUS].set(FAILED | IDLE);
        assert_eq!(fake.engine().err(), Some(Error::Failed));
        fake.0[ID].set(0);
        assert_eq!(fake.engine().err(), Some(Error::NoEngine));
    }

    #[test]
    fn an_engine_that_never_ends_is_silent() {
        let fake = FakeEd25519::with_outcome(GOOD);
        fake.0[STATUS].set(0);
        fake.0[CONTROL].set(u32::MAX);
        assert_eq!(fake.engine().err(), Some(Error::Silent));
    }

    #[test]
    fn every_outcome_has_its_meaning() {
        let rejections = [
            (GOOD, Ok(Ok(()))),
            (0x3cc3_3cc3, Ok(Err(Rejection::InvalidKey))),
            (0x55aa_55aa, Ok(Err(Rejection::NonCanonicalSignature))),
            (0xaa55_aa55, Ok(Err(Rejection::Mismatch))),
            (0x6996_6996, Err(Error::Refused)),
            (0x9669_9669, Err(Error::Refused)),
            (DONE, Err(Error::Refused)),
            (0, Err(Error::Refused)),
            (1, Err(Error::Failed)),
        ];
        for (outcome, wanted) in rejections {
            let fake = FakeEd25519::with_outcome(outcome);
            let mut engine = fake.engine().unwrap();
            assert_eq!(engine.verify(&[1; 32], &[2; 64], &[3; 64]), wanted, "{outcome:#x}");
            assert_eq!(fake.word(COMMAND), 1 << 4);
        }
        for (outcome, wanted) in [
            (0xaa55_aa55, Error::Faulty),
            (0x6996_6996, Error::ZeroScalar),
            (0x9669_9669, Error::Refused),
            (0x3cc3_3cc3, Error::Refused),
            (GOOD, Error::Refused),
            (0xc33c_c33d, Error::Failed),
        ] {
            let fake = FakeEd25519::with_outcome(outcome);
            let mut engine = fake.engine().unwrap();
            let slot = Ed25519Slot::new(0).unwrap();
            assert_eq!(engine.sign(slot, &[0; 64], |_| [0; 64]), Err(wanted));
            assert_eq!(engine.load(slot, &[0; 64]), Err(wanted));
        }
    }

    #[test]
    fn an_error_of_the_driver_is_no_verdict() {
        // Plain memory does not clear the bits that the driver writes back.
        for bits in [1, 2] {
            let fake = FakeEd25519::with_outcome(GOOD);
            let mut engine = fake.engine().unwrap();
            fake.0[ERROR].set(bits);
            assert_eq!(engine.verify(&[1; 32], &[2; 64], &[3; 64]), Err(Error::Refused));
        }
    }

    #[test]
    fn a_signature_is_r_and_s() {
        let fake = FakeEd25519::with_outcome(DONE);
        let mut engine = fake.engine().unwrap();
        for word in 0..8 {
            fake.0[POINT + word].set(0x0101_0101 * word as u32);
            fake.0[S + word].set(0x0101_0101 * (8 + word as u32));
        }
        let signature = engine.sign(Ed25519Slot::new(3).unwrap(), &[5; 64], |r| {
            assert_eq!(fake.word(DIGEST + 15), 0x0505_0505);
            assert_eq!(fake.word(COMMAND), 1 << 2);
            assert_eq!(r[..5], [0, 0, 0, 0, 1]);
            [6; 64]
        });
        let wanted: Vec<u8> = (0..64).map(|at| at / 4).collect();
        assert_eq!(signature.unwrap().as_slice(), wanted);
        assert_eq!((fake.word(CONTROL), fake.word(COMMAND)), (3, 1 << 3));
        assert_eq!(fake.word(DIGEST), 0x0606_0606);
    }

    #[test]
    fn inputs_are_where_the_engine_takes_them() {
        let fake = FakeEd25519::with_outcome(GOOD);
        let mut engine = fake.engine().unwrap();
        let bytes: [u8; 64] = core::array::from_fn(|at| at as u8);
        engine.verify(bytes[..32].try_into().unwrap(), &bytes, &bytes).unwrap().unwrap();
        assert_eq!(fake.word(KEY), 0x0302_0100);
        assert_eq!((fake.word(KEY + 8), fake.word(KEY + 16)), (0x0302_0100, 0x2322_2120));
        assert_eq!(fake.word(DIGEST + 15), 0x3f3e_3d3c);
    }

    #[test]
    fn there_are_four_slots() {
        assert!(Ed25519Slot::new(3).is_some() && Ed25519Slot::new(4).is_none());
    }
}

#[cfg(test)]
mod model;
