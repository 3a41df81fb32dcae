//! The engine for XMSS, XMSS^MT, LMS and SLH-DSA (`hw/ip/xmss`). From key, message and signature it computes a root and
//! a verdict.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. [`Xmss::start`] and [`Xmss::root`] answer requests of
//! `hartlock_kernels::engines::Engines`, with a [`Key`] of the request's scheme.

use hartlock_kernels::engines::Wipe;
use hartlock_regs::xmss::{
    XmssAlgorithm, XmssCommand, XmssControl, XmssFinalSize, XmssInterrupt, XmssInterruptEnable,
    XmssParameters, XmssRefusal, XmssRegisters, XmssScheme, XmssStatus,
};
use hartlock_regs::{Register, Value, WriteOnly};

use crate::wait::Wait;

mod key;
pub mod streamed;

pub use key::Key;
use key::Needs;

/// Value `xmss` of the identification register.
const MAGIC: u32 = 0x786d_7373;
/// Maximum number of status reads before the engine is treated as absent. The slowest engine takes 400,000 cycles for
/// two passes, and a read takes more than one.
const PATIENCE: u32 = 400_000;
/// Maximum number of status reads for XMSS^MT, whose twelve layers take 2.3 million cycles.
const PATIENCE_MT: u32 = 2_500_000;
/// Value of `verdict` if both counts and both walks found no difference; it is derived from the engine's start value.
const PASSED: u64 = passed();
/// Index of the first key word of the back part.
const BACK_AT: usize = 8;
/// Length in bytes of the part of an XMSS^MT signature that comes before the message.
const HEAD_LEN: usize = 40;
/// Number of 32-bit words of the longest root.
const ROOT_WORDS: usize = 8;

const fn passed() -> u64 {
    let mut value = 0x6861_7274_6c6f_636b_u64;
    let mut step = 0;
    while step < 18 {
        value = value.rotate_left(7) ^ 0x9e37_79b9_7f4a_7c15;
        step += 1;
    }
    value
}

/// The reason why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// The engine detected a fault, and does nothing until reset.
    Failed,
    /// The engine does not respond.
    Silent,
    /// The engine refused a command or a word, because other code used it in the meantime.
    Refused,
    /// The key does not consist of a type, a root and a seed of XMSS.
    KeyLength,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Verdict on the signature, with the reason if it is not valid.
    pub verdict: Result<(), XmssRefusal>,
    /// Root that the signature leads to, in words whose lowest byte comes first. The root is zero if the signature does
    /// not have the format of its type.
    pub root: [u32; ROOT_WORDS],
}

/// The driver of the engine.
pub struct Xmss<W> {
    registers: XmssRegisters,
    wait: W,
    patience: u32,
    /// Parameters of the engine, which do not change.
    built: XmssParameters,
}

impl<W: Wait> Xmss<W> {
    /// Initialises the driver and aborts any operation.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: XmssRegisters, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let built = registers.parameters().read();
        let engine = Self { registers, wait, patience: PATIENCE, built };
        engine.abort();
        engine.until_idle()?;
        Ok(engine)
    }

    /// Starts to compute the root that a signature leads to. Returns `None` if the engine does not support the
    /// parameters or does not respond; then software computes the root.
    pub fn start(&mut self, key: &Key<'_>, message: &[&[u8]], signature: &[u8]) -> Option<()> {
        self.begin(self.known_kind(key)?, key, XmssControl::RESET).ok()?;
        self.push_both(key.scheme, message, signature);
        Some(())
    }

    /// Same as [`start`](Self::start), except that signature and message arrive at the stream port. `bring` streams
    /// both, each with its end.
    pub fn start_stream(
        &mut self,
        key: &Key<'_>,
        bring: impl FnOnce() -> Option<()>,
    ) -> Option<()> {
        let control = XmssControl::RESET.with_stream(true);
        self.begin(self.known_kind(key)?, key, control).ok()?;
        let brought = bring();
        if brought.is_none() {
            self.abort();
        }
        brought
    }

    /// Waits for the root. Returns `None` if the signature has a wrong format, or if the engine does not respond.
    pub fn root(&mut self, root: &mut [u32; ROOT_WORDS]) -> Option<()> {
        match self.end(root) {
            Ok(Ok(()) | Err(XmssRefusal::Mismatch)) => Some(()),
            _ => None,
        }
    }

    /// Verifies a signature of XMSS. `expected` is the type that the caller trusts; `message` is given in parts.
    ///
    /// # Errors
    /// The errors of the engine, which decide nothing, and `KeyLength`.
    pub fn verify(
        &mut self,
        expected: u32,
        public_key: &[u8],
        message: &[&[u8]],
        signature: &[u8],
    ) -> Result<Judged, Error> {
        self.verify_by(
            expected,
            &Key::xmss(public_key).ok_or(Error::KeyLength)?,
            message,
            signature,
        )
    }

    /// Same as [`verify`](Self::verify), with a key of any family.
    ///
    /// # Errors
    /// The errors of the engine, which decide nothing.
    pub fn verify_by(
        &mut self,
        expected: u32,
        key: &Key<'_>,
        message: &[&[u8]],
        signature: &[u8],
    ) -> Result<Judged, Error> {
        self.begin(expected, key, XmssControl::RESET)?;
        self.push_both(key.scheme, message, signature);
        let mut root = [0; ROOT_WORDS];
        let verdict = self.end(&mut root)?;
        Ok(Judged { verdict, root })
    }

    /// Returns the type of a key if the engine supports it. An engine that does not would discard the whole signature
    /// before it refuses it.
    fn known_kind(&self, key: &Key<'_>) -> Option<u32> {
        let has_family = match key.scheme {
            XmssScheme::Xmss => self.built.has_xmss(),
            XmssScheme::XmssMt => self.built.has_xmss_mt(),
            XmssScheme::Lms => self.built.has_lms(),
            XmssScheme::SlhDsa => self.built.has_slh_dsa(),
        };
        let has_length = match key.needs()? {
            Needs::Family => true,
            Needs::Short => self.built.has_short(),
        };
        (has_family && has_length).then_some(key.kind)
    }

    /// Prepares the engine for a signature and a message.
    fn begin(&mut self, expected: u32, key: &Key<'_>, control: XmssControl) -> Result<(), Error> {
        self.until_idle()?;
        self.select(key.scheme)?;
        self.patience = if key.scheme == XmssScheme::XmssMt { PATIENCE_MT } else { PATIENCE };
        let registers = &self.registers;
        registers.control().write(control);
        registers.expected_type().write(expected);
        registers.key_type().write(key.kind);
        write_words(registers.key().iter(), key.front);
        if !key.back.is_empty() {
            write_words(registers.key().iter().skip(BACK_AT), key.back);
        }
        if W::BY_INTERRUPT {
            registers.interrupt().write(XmssInterrupt::RESET.with_done(true).with_error(true));
            let enabled = XmssInterruptEnable::RESET.with_done(true).with_error(true);
            registers.interrupt_enable().write(enabled);
        }
        registers.command().write(XmssCommand::RESET.with_start(true));
        Ok(())
    }

    /// Waits for the verdict on the input, and for the root.
    fn end(&mut self, root: &mut [u32; ROOT_WORDS]) -> Result<Result<(), XmssRefusal>, Error> {
        let judged = match self.until(XmssStatus::done) {
            Ok(()) => self.judged(root),
            Err(error) => Err(error),
        };
        // No data is left for the next user. Only the next start waits for the end of the abort.
        let refused = self.registers.error().read().to_bits() != 0;
        self.abort();
        if refused { Err(Error::Refused) } else { judged }
    }

    fn judged(&self, root: &mut [u32; ROOT_WORDS]) -> Result<Result<(), XmssRefusal>, Error> {
        let half = |index| self.registers.verdict().get(index).map_or(0, |half| half.read().into());
        let reason = self.registers.reason().read().code();
        let verdict = match (half(0) | half(1) << 32, reason) {
            (PASSED, Some(XmssRefusal::None)) => Ok(()),
            (0, Some(refusal)) if refusal != XmssRefusal::None && refusal != XmssRefusal::Upset => {
                Err(refusal)
            }
            // A word that is not a verdict is a fault.
            _ => return Err(Error::Failed),
        };
        for (register, word) in self.registers.root().iter().zip(root) {
            *word = register.read();
        }
        Ok(verdict)
    }

    /// Pushes signature and message. The lowest layer of XMSS^MT signs the message, so the message comes before the
    /// other layers.
    fn push_both(&self, scheme: XmssScheme, message: &[&[u8]], signature: &[u8]) {
        match signature.split_at_checked(HEAD_LEN) {
            Some((head, rest)) if scheme == XmssScheme::XmssMt && !rest.is_empty() => {
                for word in head.as_chunks().0 {
                    self.push_word(*word);
                }
                self.push(message);
                self.push(&[rest]);
            }
            _ => {
                self.push(&[signature]);
                self.push(message);
            }
        }
    }

    /// Pushes the signature or the message, and marks its end. The bus waits as long as the engine cannot take a word.
    fn push(&self, parts: &[&[u8]]) {
        let mut word = [0; 8];
        let mut filled = 0;
        for byte in parts.iter().flat_map(|part| part.iter()) {
            // A whole word is pushed when another byte follows, because the last word has to be announced.
            if filled == word.len() {
                self.push_word(word);
                (word, filled) = ([0; 8], 0);
            }
            if let Some(to) = word.get_mut(filled) {
                *to = *byte;
            }
            filled = filled.wrapping_add(1);
        }
        self.registers
            .final_size()
            .write(XmssFinalSize::RESET.with_size(filled as u8).with_last(true));
        self.push_word(word);
    }

    /// Pushes a word of eight bytes. The write of the upper half pushes both halves.
    fn push_word(&self, word: [u8; 8]) {
        for (register, half) in self.registers.data().iter().zip(word.as_chunks().0) {
            register.write(u32::from_le_bytes(*half));
        }
    }

    /// Selects the algorithm family that uses the hash cores. A family that is not built in refuses every type.
    fn select(&self, scheme: XmssScheme) -> Result<(), Error> {
        let algorithm = self.registers.algorithm();
        if algorithm.read().code() == Some(scheme) {
            return Ok(());
        }
        algorithm.write(XmssAlgorithm::RESET.with_code(scheme));
        self.until_idle()
    }

    /// Aborts the operation of the engine.
    fn abort(&self) {
        self.registers.command().write(XmssCommand::RESET.with_abort(true));
    }

    /// Waits for the end of an abort, which takes at most some hundred cycles, and clears earlier errors.
    fn until_idle(&self) -> Result<(), Error> {
        for _ in 0..PATIENCE {
            let status = self.registers.status().read();
            if status.failed() {
                return Err(Error::Failed);
            }
            if status.idle() {
                let error = self.registers.error();
                error.write(error.read());
                return Ok(());
            }
        }
        Err(Error::Silent)
    }

    fn until(&mut self, is_wanted: impl Fn(XmssStatus) -> bool) -> Result<(), Error> {
        for _ in 0..self.patience {
            let status = self.registers.status().read();
            if status.failed() {
                return Err(Error::Failed);
            }
            if is_wanted(status) {
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

/// Writes bytes to registers in whole words, until either ends.
fn write_words<'a>(registers: impl Iterator<Item = Register<'a, u32, WriteOnly>>, bytes: &[u8]) {
    // SAFETY: any four bytes are a valid word.
    if let ([], words, []) = unsafe { bytes.align_to::<u32>() } {
        // In a boot bundle the bytes are aligned. On a processor without a cache this takes a third of the time.
        for (register, word) in registers.zip(words) {
            register.write(u32::from_le(*word));
        }
    } else {
        for (register, word) in registers.zip(bytes.as_chunks().0) {
            register.write(u32::from_le_bytes(*word));
        }
    }
}

impl<W: Wait> Wipe for Xmss<W> {
    /// Does nothing: all of it is public.
    fn wipe(&mut self) -> Option<()> {
        Some(())
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers. The tests in `hw/ip/xmss/tb` check the computations of the
    //! hardware.

    use core::cell::Cell;
    use std::vec::Vec;

    use super::*;

    // These are offsets in words.
    const ID: usize = 0;
    const PARAMETERS: usize = 1;
    const CONTROL: usize = 2;
    const COMMAND: usize = 3;
    const STATUS: usize = 4;
    const ERROR: usize = 5;
    const EXPECTED_TYPE: usize = 8;
    const KEY_TYPE: usize = 9;
    const REASON: usize = 10;
    const FINAL_SIZE: usize = 11;
    const VERDICT: usize = 12;
    const DATA: usize = 14;
    const KEY: usize = 16;
    const ROOT: usize = 32;
    const ALGORITHM: usize = 40;
    const IDLE: u32 = 1;
    const DONE: u32 = 4;
    const FAILED: u32 = 8;
    /// Parameters of an engine that supports everything.
    const ALL: u32 = 0x1f << 8;

    struct FakeXmss(Vec<Cell<u32>>);

    impl FakeXmss {
        fn new(reason: u32, verdict: u64) -> FakeXmss {
            let fake = FakeXmss((0..41).map(Cell::new).collect());
            fake.0[ID].set(MAGIC);
            fake.0[PARAMETERS].set(ALL);
            fake.0[STATUS].set(IDLE | DONE);
            fake.0[ERROR].set(0);
            fake.0[REASON].set(reason);
            fake.0[VERDICT].set(verdict as u32);
            fake.0[VERDICT + 1].set((verdict >> 32) as u32);
            fake
        }

        fn engine(&self) -> Result<Xmss<Never>, Error> {
            let base = self.0.as_ptr().cast::<u32>().cast_mut();
            // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
            // outlive the engine in every test.
            Xmss::new(unsafe { XmssRegisters::new(base) }, Never)
        }

        fn word(&self, at: usize) -> u32 {
            self.0[at].get()
        }
    }

    /// A wait during which the state of the engine does not change.
    struct Never;

    impl Wait for Never {
        const BY_INTERRUPT: bool = false;

        fn wait(&mut self) {}
    }

    fn key_of(bytes: &[u8]) -> Key<'_> {
        Key::xmss(bytes).unwrap()
    }

    fn key(kind: u32) -> Vec<u8> {
        key_with(kind, 64)
    }

    fn key_with(kind: u32, len: u8) -> Vec<u8> {
        let mut key = kind.to_be_bytes().to_vec();
        key.extend(0..len);
        key
    }

    #[test]
    fn a_signature_of_several_trees_is_waited_for_longer() {
        let bytes = key(1);
        let several = Key::xmss_mt(&bytes).unwrap();
        for (key, patience) in [(key_of(&bytes), PATIENCE), (several, PATIENCE_MT)] {
            let fake = FakeXmss::new(0, PASSED);
            let waits = Cell::new(0);
            let base = fake.0.as_ptr().cast::<u32>().cast_mut();
            // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
            // outlive the engine.
            let registers = unsafe { XmssRegisters::new(base) };
            let mut engine = Xmss::new(registers, crate::wait::Counted(&waits)).ok().unwrap();
            engine.begin(1, &key, XmssControl::RESET).unwrap();
            assert_eq!((engine.until(|_| false), waits.get()), (Err(Error::Silent), patience));
        }
    }

    #[test]
    fn takes_only_an_engine_that_is_there_and_works() {
        let fake = FakeXmss::new(0, PASSED);
        assert!(fake.engine().is_ok());
        assert_eq!(fake.word(COMMAND), 2, "it does not abort");
        fake.0[STATUS].set(0);
        assert_eq!(fake.engine().err(), Some(Error::Silent));
        fake.0[STATUS].set(FAILED | IDLE);
        assert_eq!(fake.engine().err(), Some(Error::Failed));
        fake.0[ID].set(0);
        assert_eq!(fake.engine().err(), Some(Error::NoEngine));
    }

    #[test]
    fn only_the_constant_without_a_reason_is_a_valid_signature() {
        let mut wanted = [(0, PASSED, Ok(Ok(()))), (1, 0, Ok(Err(XmssRefusal::Mismatch)))].to_vec();
        wanted.extend([
            (5, 0, Ok(Err(XmssRefusal::Truncated))),
            (9, 0, Err(Error::Failed)),
            (7, 0, Err(Error::Failed)),
        ]);
        wanted.extend([(0, 0, Err(Error::Failed)), (1, PASSED, Err(Error::Failed))]);
        wanted.extend((0..64).map(|bit| (0, PASSED ^ 1 << bit, Err(Error::Failed))));
        for (reason, verdict, result) in wanted {
            let fake = FakeXmss::new(reason, verdict);
            let judged = fake.engine().unwrap().verify(1, &key(1), &[b"a"], &[0; 9]);
            assert_eq!(judged.map(|judged| judged.verdict), result, "{reason} {verdict:#x}");
        }
    }

    #[test]
    fn an_error_of_the_driver_is_no_verdict() {
        let fake = FakeXmss::new(0, PASSED);
        let mut engine = fake.engine().unwrap();
        fake.0[ERROR].set(2);
        assert_eq!(engine.verify(1, &key(1), &[], &[]), Err(Error::Refused));
    }

    #[test]
    fn inputs_are_where_the_engine_takes_them() {
        let fake = FakeXmss::new(0, PASSED);
        let mut engine = fake.engine().unwrap();
        fake.0[ALGORITHM].set(2);
        let judged = engine.verify(2, &key(3), &[b"0123", b"456789"], &[7; 8]).unwrap();
        assert_eq!(fake.word(ALGORITHM), 0);
        assert_eq!((fake.word(EXPECTED_TYPE), fake.word(KEY_TYPE)), (2, 3));
        assert_eq!((fake.word(KEY), fake.word(KEY + 15)), (0x0302_0100, 0x3f3e_3d3c));
        // The last word has two bytes.
        assert_eq!(fake.word(FINAL_SIZE), 2 | 1 << 8);
        assert_eq!(
            (fake.word(DATA), fake.word(DATA + 1)),
            (u32::from(b'8') | u32::from(b'9') << 8, 0)
        );
        assert_eq!(judged.root[0], ROOT as u32);
        assert_eq!(engine.verify(1, &key(1)[1..], &[], &[]), Err(Error::KeyLength));
        assert!(engine.verify_by(8, &Key::xmss_mt(&key(7)).unwrap(), &[], &[]).is_ok());
        assert_eq!(
            (fake.word(ALGORITHM), fake.word(EXPECTED_TYPE), fake.word(KEY_TYPE)),
            (1, 8, 7)
        );
        // The message is pushed after the first 40 bytes of the signature, or after its end if it is not longer.
        for (len, size, word) in [(45, 5, 0x0909_0909), (40, 1, u32::from(b'm'))] {
            let mt = key(8);
            let mt = Key::xmss_mt(&mt).unwrap();
            assert!(engine.verify_by(8, &mt, &[b"m"], &std::vec![9; len]).is_ok());
            assert_eq!((fake.word(FINAL_SIZE), fake.word(DATA)), (size | 1 << 8, word));
        }
        assert!(engine.verify(1, &key(1), &[], &[]).is_ok());
        assert_eq!(fake.word(ALGORITHM), 0, "a type of XMSS^MT is another one of XMSS");
    }

    #[test]
    fn a_key_of_48_bytes_has_its_seed_where_one_of_64_has_it() {
        let fake = FakeXmss::new(0, PASSED);
        let mut engine = fake.engine().unwrap();
        // The key may have any alignment.
        for skipped in 0..4 {
            let mut bytes = [0; 4][..skipped].to_vec();
            bytes.extend(key_with(13, 48));
            for at in 0..16 {
                fake.0[KEY + at].set(0);
            }
            assert!(engine.verify(13, &bytes[skipped..], &[], &[]).is_ok());
            assert_eq!((fake.word(KEY), fake.word(KEY + 5)), (0x0302_0100, 0x1716_1514));
            assert_eq!((fake.word(KEY + 8), fake.word(KEY + 13)), (0x1b1a_1918, 0x2f2e_2d2c));
            assert_eq!((fake.word(KEY + 6), fake.word(KEY + 14)), (0, 0));
        }
        assert_eq!(engine.verify(13, &key(13), &[], &[]), Err(Error::KeyLength));
    }

    #[test]
    fn what_is_not_built_in_is_not_asked_for() {
        let fake = FakeXmss::new(1, 0);
        let [xmss, mt] = [key(1), key(8)];
        let [short, short_mt] = [(13, 48), (33, 48)].map(|(kind, len)| key_with(kind, len));
        let lms = [6, 3].map(u32::to_be_bytes).concat().into_iter().chain(0..48);
        let (lms, slh_dsa) = (lms.collect::<Vec<u8>>(), [0; 32]);
        let started = |parameters: u32| {
            fake.0[PARAMETERS].set(parameters);
            let mut engine = fake.engine().unwrap();
            [
                Key::xmss(&xmss),
                Key::xmss_mt(&mt),
                Key::lms(&lms),
                Key::slh_dsa_sha2_128s(&slh_dsa),
                Key::xmss(&short),
                Key::xmss_mt(&short_mt),
            ]
            .map(|key| engine.start(&key.unwrap(), &[b"m"], &[1; 5]).is_some())
        };
        assert_eq!(started(1 << 12), [false; 6]);
        assert_eq!(fake.word(ALGORITHM), ALGORITHM as u32, "it is asked");
        for family in 0..4 {
            let only = core::array::from_fn(|at| at == family);
            assert_eq!(started(1 << (8 + family)), only);
        }
        assert_eq!(started(1 << 8 | 1 << 12), [true, false, false, false, true, false]);
        assert_eq!(started(3 << 8 | 1 << 12), [true, true, false, false, true, true]);
        let mut engine = fake.engine().unwrap();
        for kind in [0, 9, 32, 41] {
            assert_eq!(engine.start(&Key::xmss_mt(&key(kind)).unwrap(), &[], &[]), None);
        }
    }

    #[test]
    fn each_family_has_its_algorithm_types_and_places_of_the_key() {
        let word = |fake: &FakeXmss, at: usize| fake.word(KEY + at).to_le_bytes()[0];
        let mut lms = [6, 3].map(u32::to_be_bytes).concat();
        lms.extend(0..48);
        let slh_dsa: Vec<u8> = (0..32).collect();
        for (key, algorithm, kind, root, seed) in [
            (Key::lms(&lms), 2, 3 << 16 | 6, 16, 0),
            (Key::lms(&lms[..48]), 2, 3 << 16 | 6, 16, 0),
            (Key::slh_dsa_sha2_128s(&slh_dsa), 3, 1, 16, 0),
        ] {
            let fake = FakeXmss::new(1, 0);
            let mut engine = fake.engine().unwrap();
            assert_eq!(engine.start(&key.unwrap(), &[b"m"], &[1; 5]), Some(()));
            assert_eq!(fake.word(ALGORITHM), algorithm);
            assert_eq!((fake.word(EXPECTED_TYPE), fake.word(KEY_TYPE)), (kind, kind));
            assert_eq!((word(&fake, 0), word(&fake, BACK_AT)), (root, seed));
            assert_eq!(word(&fake, BACK_AT + 3), 12, "the identifier has four words");
            assert_eq!(fake.word(KEY + 12), (KEY + 12) as u32, "a word after it is written");
        }
    }

    #[test]
    fn what_is_streamed_gives_the_same_root_and_a_stream_that_fails_none() {
        let fake = FakeXmss::new(1, 0);
        let mut engine = fake.engine().unwrap();
        let [mut root, mut streamed] = [[0; ROOT_WORDS]; 2];
        assert_eq!(engine.start(&key_of(&key(1)), &[b"m"], &[1; 5]), Some(()));
        assert_eq!(engine.root(&mut root), Some(()));
        fake.0[COMMAND].set(0);
        let bring = || {
            assert_eq!(
                (fake.word(COMMAND), fake.word(CONTROL)),
                (1, 1),
                "it does not wait for one"
            );
            Some(())
        };
        assert_eq!(engine.start_stream(&key_of(&key(1)), bring), Some(()));
        assert_eq!(engine.root(&mut streamed), Some(()));
        assert!(streamed == root && root != [0; ROOT_WORDS]);
        assert_eq!(engine.start_stream(&key_of(&key(1)), || None), None);
        assert_eq!(fake.word(COMMAND), 2, "it does not abort");
        assert_eq!(engine.start_stream(&key_of(&key(4)), || unreachable!("nothing starts")), None);
    }

    #[test]
    fn a_kernel_gets_a_root_or_nothing() {
        for (reason, verdict, has_root) in
            [(0, PASSED, true), (1, 0, true), (4, 0, false), (9, 0, false)]
        {
            let fake = FakeXmss::new(reason, verdict);
            let mut engine = fake.engine().unwrap();
            assert_eq!(engine.start(&key_of(&key(1)), &[b"m"], &[1; 5]), Some(()));
            assert_eq!(engine.root(&mut [0; ROOT_WORDS]).is_some(), has_root, "{reason}");
            for kind in [0, 4, 16] {
                assert_eq!(engine.start(&key_of(&key(kind)), &[b"m"], &[1; 5]), None);
            }
        }
    }
}

#[cfg(test)]
mod model;
