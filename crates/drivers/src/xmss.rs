//! The engine for XMSS and XMSS^MT (`hw/ip/xmss`): key, message and signature to the root that they lead to, and a verdict.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. [`Xmss::start`] and [`Xmss::root`] do what `with_hash_based_engine` of
//! `hartlock_kernels::Kernels` wants of an engine, for a request of the scheme XMSS, and [`Xmss::start_mt`] for XMSS^MT.

use hartlock_regs::Value;
use hartlock_regs::xmss::{
    Algorithm, Command, Control, FinalSize, Interrupt, InterruptEnable, Refusal, Scheme, Status,
    Xmss as Registers,
};

use crate::wait::Wait;

pub mod streamed;

/// `xmss` in the register that says what it is.
const MAGIC: u32 = 0x786d_7373;
/// Maximum number of status reads before the engine is treated as absent. The slowest one takes 400,000 cycles for two
/// passes, and a read more than one.
const PATIENCE: u32 = 400_000;
/// The same for XMSS^MT: twelve layers take 2.3 million cycles.
const PATIENCE_MT: u32 = 2_500_000;
/// What two counts and two walks without a difference make of the engine's start value: `verdict`.
const PASSED: u64 = passed();
/// Words of the longest root.
const ROOT_WORDS: usize = 8;
/// Words of a key before its seed.
const SEED_AT: usize = 8;
/// Bytes of a hash, of most types.
const HASH_LEN: usize = 32;

const fn passed() -> u64 {
    let mut value = 0x6861_7274_6c6f_636b_u64;
    let mut step = 0;
    while step < 18 {
        value = value.rotate_left(7) ^ 0x9e37_79b9_7f4a_7c15;
        step += 1;
    }
    value
}

/// Why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// It detected a fault, and does nothing until reset.
    Failed,
    /// It does not respond any more.
    Silent,
    /// It refused a command or a word: other code used it meanwhile.
    Refused,
    /// The key is not a type, a root and a seed.
    KeyLength,
}

/// What came of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Whether the signature is valid, and why not.
    pub verdict: Result<(), Refusal>,
    /// The root that it leads to, in words whose lowest byte comes first. Zero if it has another form than its type.
    pub root: [u32; ROOT_WORDS],
}

/// Bytes of a hash of a type. Nothing if it is no type of an engine: it has SHA-256 alone.
const fn hash_len(scheme: Scheme, kind: u32) -> Option<usize> {
    match (scheme, kind) {
        // XMSS-SHA2_10_256 to _20_256 (RFC 8391 §5.3), XMSSMT-SHA2_20/2_256 to _60/12_256 (§5.4).
        (Scheme::Xmss, 1..=3) | (Scheme::XmssMt, 1..=8) => Some(HASH_LEN),
        // XMSS-SHA2_10_192 to _20_192, XMSSMT-SHA2_20/2_192 to _60/12_192 (SP 800-208 §5.2).
        (Scheme::Xmss, 13..=15) | (Scheme::XmssMt, 33..=40) => Some(24),
        _ => None,
    }
}

/// The engine.
pub struct Xmss<W> {
    registers: Registers,
    wait: W,
    patience: u32,
}

impl<W: Wait> Xmss<W> {
    /// Takes the engine and ends what it does.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: Registers, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let engine = Self { registers, wait, patience: PATIENCE };
        engine.abort();
        engine.until_idle()?;
        Ok(engine)
    }

    /// Begins to compute the root that a signature leads to. Nothing if the engine does not have its parameters, or does not
    /// respond: software computes it then.
    pub fn start(&mut self, public_key: &[u8], message: &[&[u8]], signature: &[u8]) -> Option<()> {
        let kind = self.known_kind(Scheme::Xmss, public_key)?;
        self.begin(Scheme::Xmss, kind, public_key, Control::RESET).ok()?;
        self.push(&[signature]);
        self.push(message);
        Some(())
    }

    /// The same for a signature of XMSS^MT.
    pub fn start_mt(
        &mut self,
        public_key: &[u8],
        message: &[&[u8]],
        signature: &[u8],
    ) -> Option<()> {
        let kind = self.known_kind(Scheme::XmssMt, public_key)?;
        self.begin(Scheme::XmssMt, kind, public_key, Control::RESET).ok()?;
        self.push(&[signature]);
        self.push(message);
        Some(())
    }

    /// [`Self::start`] with signature and message by the stream port, each with its end, which `bring` has streamed.
    pub fn start_stream(
        &mut self,
        public_key: &[u8],
        bring: impl FnOnce() -> Option<()>,
    ) -> Option<()> {
        let control = Control::RESET.with_stream(true);
        let kind = self.known_kind(Scheme::Xmss, public_key)?;
        self.begin(Scheme::Xmss, kind, public_key, control).ok()?;
        let brought = bring();
        if brought.is_none() {
            self.abort();
        }
        brought
    }

    /// Waits for the root. Nothing if the signature has another form, or the engine does not respond.
    pub fn root(&mut self, root: &mut [u32; ROOT_WORDS]) -> Option<()> {
        match self.end(root) {
            Ok(Ok(()) | Err(Refusal::Mismatch)) => Some(()),
            _ => None,
        }
    }

    /// Verifies a signature. `expected` is the type that the caller trusts, `message` the message in parts.
    ///
    /// # Errors
    /// Those of the engine, which decide nothing, and `KeyLength`.
    pub fn verify(
        &mut self,
        expected: u32,
        public_key: &[u8],
        message: &[&[u8]],
        signature: &[u8],
    ) -> Result<Judged, Error> {
        self.verify_of(Scheme::Xmss, expected, public_key, message, signature)
    }

    /// The same for a signature of XMSS^MT, whose types have numbers of their own.
    ///
    /// # Errors
    /// As above.
    pub fn verify_mt(
        &mut self,
        expected: u32,
        public_key: &[u8],
        message: &[&[u8]],
        signature: &[u8],
    ) -> Result<Judged, Error> {
        self.verify_of(Scheme::XmssMt, expected, public_key, message, signature)
    }

    fn verify_of(
        &mut self,
        scheme: Scheme,
        expected: u32,
        public_key: &[u8],
        message: &[&[u8]],
        signature: &[u8],
    ) -> Result<Judged, Error> {
        self.begin(scheme, expected, public_key, Control::RESET)?;
        self.push(&[signature]);
        self.push(message);
        let mut root = [0; ROOT_WORDS];
        let verdict = self.end(&mut root)?;
        Ok(Judged { verdict, root })
    }

    /// The type of a key, if it is built in. Another engine would drop the whole signature before it refuses it.
    fn known_kind(&self, scheme: Scheme, public_key: &[u8]) -> Option<u32> {
        let kind = u32::from_be_bytes(*public_key.first_chunk()?);
        let is_short = hash_len(scheme, kind)? != HASH_LEN;
        // All engines with XMSS have its first types.
        if scheme == Scheme::Xmss && !is_short {
            return Some(kind);
        }
        let built = self.registers.parameters().read();
        let is_built =
            (scheme == Scheme::Xmss || built.has_xmss_mt()) && (!is_short || built.has_short());
        is_built.then_some(kind)
    }

    /// Has the engine wait for a signature and a message.
    fn begin(
        &mut self,
        scheme: Scheme,
        expected: u32,
        public_key: &[u8],
        control: Control,
    ) -> Result<(), Error> {
        let len = hash_len(scheme, expected).unwrap_or(HASH_LEN);
        let Some((kind, key)) =
            public_key.split_first_chunk().filter(|(_, key)| key.len() == len.wrapping_mul(2))
        else {
            return Err(Error::KeyLength);
        };
        self.until_idle()?;
        self.select(scheme)?;
        self.patience = if scheme == Scheme::XmssMt { PATIENCE_MT } else { PATIENCE };
        let registers = &self.registers;
        registers.control().write(control);
        registers.expected_type().write(expected);
        registers.key_type().write(u32::from_be_bytes(*kind));
        let (root, seed) = key.split_at_checked(len).ok_or(Error::KeyLength)?;
        self.write_key(0, root);
        self.write_key(SEED_AT, seed);
        if W::BY_INTERRUPT {
            registers.interrupt().write(Interrupt::RESET.with_done(true).with_error(true));
            let enabled = InterruptEnable::RESET.with_done(true).with_error(true);
            registers.interrupt_enable().write(enabled);
        }
        registers.command().write(Command::RESET.with_start(true));
        Ok(())
    }

    /// A part of the key, from a word on.
    fn write_key(&self, first: usize, part: &[u8]) {
        let registers = self.registers.key().iter().skip(first);
        // SAFETY: bytes of any values are words.
        let (before, words, _) = unsafe { part.align_to::<u32>() };
        if before.is_empty() {
            // As a boot bundle has it. A processor without a cache takes a third of the time.
            for (register, word) in registers.zip(words) {
                register.write(u32::from_le(*word));
            }
        } else {
            for (register, word) in registers.zip(part.as_chunks().0) {
                register.write(u32::from_le_bytes(*word));
            }
        }
    }

    /// Waits for the verdict on what it has got, and for the root.
    fn end(&mut self, root: &mut [u32; ROOT_WORDS]) -> Result<Result<(), Refusal>, Error> {
        let judged = match self.until(Status::done) {
            Ok(()) => self.judged(root),
            Err(error) => Err(error),
        };
        // Nothing of it is left for the next user. The next start waits for the end of this, and nothing else does.
        let refused = self.registers.error().read().to_bits() != 0;
        self.abort();
        if refused { Err(Error::Refused) } else { judged }
    }

    fn judged(&self, root: &mut [u32; ROOT_WORDS]) -> Result<Result<(), Refusal>, Error> {
        let half = |index| self.registers.verdict().get(index).map_or(0, |half| half.read().into());
        let reason = self.registers.reason().read().code();
        let verdict = match (half(0) | half(1) << 32, reason) {
            (PASSED, Some(Refusal::None)) => Ok(()),
            (0, Some(refusal)) if refusal != Refusal::None && refusal != Refusal::Upset => {
                Err(refusal)
            }
            // A word that is no verdict is a fault.
            _ => return Err(Error::Failed),
        };
        for (register, word) in self.registers.root().iter().zip(root) {
            *word = register.read();
        }
        Ok(verdict)
    }

    /// Pushes the signature or the message, and its end. The bus waits while a word does.
    fn push(&self, parts: &[&[u8]]) {
        let mut word = [0; 8];
        let mut filled = 0;
        for byte in parts.iter().flat_map(|part| part.iter()) {
            // A whole word is pushed when another byte follows, because the last one is announced.
            if filled == word.len() {
                self.push_word(word);
                (word, filled) = ([0; 8], 0);
            }
            if let Some(to) = word.get_mut(filled) {
                *to = *byte;
            }
            filled = filled.wrapping_add(1);
        }
        self.registers.final_size().write(FinalSize::RESET.with_size(filled as u8).with_last(true));
        self.push_word(word);
    }

    /// The upper half pushes both.
    fn push_word(&self, word: [u8; 8]) {
        for (register, half) in self.registers.data().iter().zip(word.as_chunks().0) {
            register.write(u32::from_le_bytes(*half));
        }
    }

    /// Gives the hash cores to the family of an algorithm. One that is not built in refuses every type.
    fn select(&self, scheme: Scheme) -> Result<(), Error> {
        let algorithm = self.registers.algorithm();
        if algorithm.read().code() == Some(scheme) {
            return Ok(());
        }
        algorithm.write(Algorithm::RESET.with_code(scheme));
        self.until_idle()
    }

    /// Ends what the engine does.
    fn abort(&self) {
        self.registers.command().write(Command::RESET.with_abort(true));
    }

    /// Waits for the end of an abort, hundreds of cycles at most, and forgets what was refused before.
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

    fn until(&mut self, is_wanted: impl Fn(Status) -> bool) -> Result<(), Error> {
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
                // The status is read after this, so no earlier event is missed.
                let interrupt = self.registers.interrupt();
                interrupt.write(interrupt.read());
            }
        }
        Err(Error::Silent)
    }
}

#[cfg(test)]
mod tests {
    //! Registers are memory here. What hardware computes is what `hw/ip/xmss/tb` tests.

    use core::cell::Cell;
    use std::vec::Vec;

    use super::*;

    // In words.
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

    struct File(Vec<Cell<u32>>);

    impl File {
        fn new(reason: u32, verdict: u64) -> File {
            let file = File((0..41).map(Cell::new).collect());
            file.0[ID].set(MAGIC);
            file.0[STATUS].set(IDLE | DONE);
            file.0[ERROR].set(0);
            file.0[REASON].set(reason);
            file.0[VERDICT].set(verdict as u32);
            file.0[VERDICT + 1].set((verdict >> 32) as u32);
            file
        }

        fn engine(&self) -> Result<Xmss<Never>, Error> {
            let base = self.0.as_ptr().cast::<u32>().cast_mut();
            // SAFETY: a word for each register, in cells that may be written through a shared reference, which outlive the
            // engine in every test.
            Xmss::new(unsafe { Registers::new(base) }, Never)
        }

        fn word(&self, at: usize) -> u32 {
            self.0[at].get()
        }
    }

    /// Nothing happens while the driver waits.
    struct Never;

    impl Wait for Never {
        const BY_INTERRUPT: bool = false;

        fn wait(&mut self) {}
    }

    fn key(kind: u32) -> Vec<u8> {
        key_of(kind, 64)
    }

    fn key_of(kind: u32, len: u8) -> Vec<u8> {
        let mut key = kind.to_be_bytes().to_vec();
        key.extend(0..len);
        key
    }

    #[test]
    fn takes_only_an_engine_that_is_there_and_works() {
        let file = File::new(0, PASSED);
        assert!(file.engine().is_ok());
        assert_eq!(file.word(COMMAND), 2, "it does not abort");
        file.0[STATUS].set(0);
        assert_eq!(file.engine().err(), Some(Error::Silent));
        file.0[STATUS].set(FAILED | IDLE);
        assert_eq!(file.engine().err(), Some(Error::Failed));
        file.0[ID].set(0);
        assert_eq!(file.engine().err(), Some(Error::NoEngine));
    }

    #[test]
    fn only_the_constant_without_a_reason_is_a_valid_signature() {
        let mut wanted = [(0, PASSED, Ok(Ok(()))), (1, 0, Ok(Err(Refusal::Mismatch)))].to_vec();
        wanted.extend([
            (5, 0, Ok(Err(Refusal::Truncated))),
            (9, 0, Err(Error::Failed)),
            (7, 0, Err(Error::Failed)),
        ]);
        wanted.extend([(0, 0, Err(Error::Failed)), (1, PASSED, Err(Error::Failed))]);
        wanted.extend((0..64).map(|bit| (0, PASSED ^ 1 << bit, Err(Error::Failed))));
        for (reason, verdict, result) in wanted {
            let file = File::new(reason, verdict);
            let judged = file.engine().unwrap().verify(1, &key(1), &[b"a"], &[0; 9]);
            assert_eq!(judged.map(|judged| judged.verdict), result, "{reason} {verdict:#x}");
        }
    }

    #[test]
    fn an_error_of_the_driver_is_no_verdict() {
        let file = File::new(0, PASSED);
        let mut engine = file.engine().unwrap();
        file.0[ERROR].set(2);
        assert_eq!(engine.verify(1, &key(1), &[], &[]), Err(Error::Refused));
    }

    #[test]
    fn inputs_are_where_the_engine_takes_them() {
        let file = File::new(0, PASSED);
        let mut engine = file.engine().unwrap();
        file.0[ALGORITHM].set(2);
        let judged = engine.verify(2, &key(3), &[b"0123", b"456789"], &[7; 8]).unwrap();
        assert_eq!(file.word(ALGORITHM), 0);
        assert_eq!((file.word(EXPECTED_TYPE), file.word(KEY_TYPE)), (2, 3));
        assert_eq!((file.word(KEY), file.word(KEY + 15)), (0x0302_0100, 0x3f3e_3d3c));
        // The last word has two bytes.
        assert_eq!(file.word(FINAL_SIZE), 2 | 1 << 8);
        assert_eq!(
            (file.word(DATA), file.word(DATA + 1)),
            (u32::from(b'8') | u32::from(b'9') << 8, 0)
        );
        assert_eq!(judged.root[0], ROOT as u32);
        assert_eq!(engine.verify(1, &key(1)[1..], &[], &[]), Err(Error::KeyLength));
        assert!(engine.verify_mt(8, &key(7), &[], &[]).is_ok());
        assert_eq!(
            (file.word(ALGORITHM), file.word(EXPECTED_TYPE), file.word(KEY_TYPE)),
            (1, 8, 7)
        );
        assert!(engine.verify(1, &key(1), &[], &[]).is_ok());
        assert_eq!(file.word(ALGORITHM), 0, "a type of XMSS^MT is another one of XMSS");
    }

    #[test]
    fn a_key_of_48_bytes_has_its_seed_where_one_of_64_has_it() {
        let file = File::new(0, PASSED);
        let mut engine = file.engine().unwrap();
        // At any address.
        for skipped in 0..4 {
            let mut bytes = [0; 4][..skipped].to_vec();
            bytes.extend(key_of(13, 48));
            let key = &bytes[skipped..];
            for at in 0..16 {
                file.0[KEY + at].set(0);
            }
            assert!(engine.verify(13, key, &[], &[]).is_ok());
            assert_eq!((file.word(KEY), file.word(KEY + 5)), (0x0302_0100, 0x1716_1514));
            assert_eq!((file.word(KEY + 8), file.word(KEY + 13)), (0x1b1a_1918, 0x2f2e_2d2c));
            assert_eq!((file.word(KEY + 6), file.word(KEY + 14)), (0, 0));
        }
        // The type that is expected says how long a key is.
        let short = key_of(13, 48);
        assert_eq!(engine.verify(1, &short, &[], &[]), Err(Error::KeyLength));
        assert_eq!(engine.verify(13, &key(13), &[], &[]), Err(Error::KeyLength));
        assert_eq!(engine.verify_mt(13, &short, &[], &[]), Err(Error::KeyLength));
        assert!(engine.verify_mt(40, &key_of(40, 48), &[], &[]).is_ok());
        // What is not built in is not asked for.
        file.0[PARAMETERS].set(3 << 8);
        assert_eq!(engine.start(&short, &[], &[]), None);
        assert_eq!(engine.start_mt(&key_of(33, 48), &[], &[]), None);
        file.0[PARAMETERS].set(1 << 8 | 1 << 12);
        assert_eq!(engine.start(&short, &[], &[]), Some(()));
        assert_eq!(engine.start_mt(&key_of(33, 48), &[], &[]), None);
        file.0[PARAMETERS].set(3 << 8 | 1 << 12);
        assert_eq!(engine.start_mt(&key_of(33, 48), &[], &[]), Some(()));
    }

    #[test]
    fn what_is_streamed_gives_the_same_root_and_a_stream_that_fails_none() {
        let file = File::new(1, 0);
        let mut engine = file.engine().unwrap();
        let [mut root, mut streamed] = [[0; ROOT_WORDS]; 2];
        assert_eq!(engine.start(&key(1), &[b"m"], &[1; 5]), Some(()));
        assert_eq!(engine.root(&mut root), Some(()));
        file.0[COMMAND].set(0);
        let bring = || {
            assert_eq!(
                (file.word(COMMAND), file.word(CONTROL)),
                (1, 1),
                "it does not wait for one"
            );
            Some(())
        };
        assert_eq!(engine.start_stream(&key(1), bring), Some(()));
        assert_eq!(engine.root(&mut streamed), Some(()));
        assert!(streamed == root && root != [0; ROOT_WORDS]);
        assert_eq!(engine.start_stream(&key(1), || None), None);
        assert_eq!(file.word(COMMAND), 2, "it does not abort");
        assert_eq!(engine.start_stream(&key(4), || unreachable!("nothing starts")), None);
    }

    #[test]
    fn a_kernel_gets_a_root_or_nothing() {
        for (reason, verdict, has_root) in
            [(0, PASSED, true), (1, 0, true), (4, 0, false), (9, 0, false)]
        {
            let file = File::new(reason, verdict);
            let mut engine = file.engine().unwrap();
            assert_eq!(engine.start(&key(1), &[b"m"], &[1; 5]), Some(()));
            assert_eq!(engine.root(&mut [0; ROOT_WORDS]).is_some(), has_root, "{reason}");
            for kind in [0, 4, 13] {
                assert_eq!(engine.start(&key(kind), &[b"m"], &[1; 5]), None);
            }
            // What is not built in is not asked for.
            file.0[PARAMETERS].set(1 << 8);
            assert_eq!(engine.start_mt(&key(8), &[b"m"], &[1; 5]), None);
            assert_eq!(file.word(ALGORITHM), ALGORITHM as u32, "it is asked");
            file.0[PARAMETERS].set(3 << 8);
            assert_eq!(engine.start_mt(&key(8), &[b"m"], &[1; 5]), Some(()));
            assert_eq!(file.word(ALGORITHM), 1);
            assert_eq!(engine.root(&mut [0; ROOT_WORDS]).is_some(), has_root, "{reason}");
            for kind in [0, 9, 33] {
                assert_eq!(engine.start_mt(&key(kind), &[b"m"], &[1; 5]), None);
            }
        }
    }
}
