//! The big-number engine (`hw/ip/bignum`): RSA powers with public exponents and with private keys, where the caller
//! handles the padding, and ECDSA signatures with P-256 and P-384.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait by polling has a limit, and an
//! engine with a fault (`status.failed`) is not used until reset. Numbers are big-endian, as in RSA (RFC 8017 §4).

use hartlock_kernels::engines::Wipe;
use hartlock_regs::Value;
use hartlock_regs::bignum::{
    BignumChoice, BignumCommand, BignumInterrupt, BignumInterruptEnable, BignumLength,
    BignumOperand, BignumOutcome, BignumRegisters, BignumVerdict,
};

use crate::wait::Wait;

/// Value `bign` of the identification register.
const MAGIC: u32 = 0x6269_676e;
/// Maximum number of status reads before the engine is treated as absent. The longest public power, with 4,096 bits,
/// one DSP block and the exponent 65537, takes less than four million cycles, and a read takes more than two.
const PATIENCE: u32 = 2_000_000;
/// Maximum number of status reads for a private key, whose operation takes less than 200 million cycles.
const PRIVATE_PATIENCE: u32 = 100_000_000;

/// Length in bits of a secret exponent.
const SECRET_BITS: u16 = 64;

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// The engine detected a fault, and does nothing until reset.
    Failed,
    /// The engine does not respond.
    Silent,
    /// Other code used the engine in the meantime.
    Refused,
    /// The modulus has less than 256 or more than 4,096 bits, has leading zeros, or is even.
    BadModulus,
    /// The base is not less than the modulus, the length of the result differs from that of the modulus, or the key is
    /// not a point of the curve.
    BadOperand,
    /// The exponent is zero.
    BadExponent,
    /// The signature does not verify for this digest and key.
    BadSignature,
    /// The modulus is not the product of the two primes, or a part of the private key is out of range.
    BadKey,
    /// The key or the blinding pair is inconsistent, or the engine had a fault. The result was not released.
    BadResult,
}

/// An RSA private key (RFC 8017 §3.2) with two primes that each have half of the modulus's bits.
#[derive(Clone, Copy)]
pub struct PrivateKey<'a> {
    /// Modulus n, without leading zeros.
    pub modulus: &'a [u8],
    /// Public exponent e, with which the engine checks the result.
    pub exponent: u32,
    /// Primes p and q.
    pub primes: (&'a [u8], &'a [u8]),
    /// Exponents dP and dQ.
    pub exponents: (&'a [u8], &'a [u8]),
    /// Coefficient qInv.
    pub coefficient: &'a [u8],
}

/// A blinding pair: r^e and 1 / r modulo the modulus, for a random r. Each pair is for one operation.
pub struct Blinding<'a> {
    /// Factor r^e.
    pub factor: &'a [u8],
    /// Inverse 1 / r.
    pub inverse: &'a [u8],
}

/// The driver of the big-number engine.
pub struct Bignum<W> {
    registers: BignumRegisters,
    wait: W,
}

impl<W: Wait> Bignum<W> {
    /// Initialises the driver and wipes the engine.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: BignumRegisters, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let mut engine = Self { registers, wait };
        engine.wipe()?;
        Ok(engine)
    }

    /// Computes the base to the power of a public exponent: RSAEP (RFC 8017 §5.1.1). The result has the length of the
    /// modulus. Signatures need [`recover`](Self::recover) instead.
    ///
    /// # Errors
    /// `BadModulus`, `BadOperand`, `BadExponent`, or the errors of the engine; then `result` is not changed.
    pub fn power(
        &mut self,
        modulus: &[u8],
        base: &[u8],
        exponent: u32,
        result: &mut [u8],
    ) -> Result<(), Error> {
        let length = length(modulus, base, exponent, result)?;
        self.compute(modulus, base, exponent, length)?;
        self.read(result)
    }

    /// Computes the encoded message of a signature: RSAVP1 (RFC 8017 §5.2.2). The power is computed twice, because a
    /// single upset of the engine may produce the encoded message that a verifier expects from a forged signature, but
    /// not twice (`docs/src/hardware/upsets.md`).
    ///
    /// # Errors
    /// The same as those of `power`, and `Failed` if the two results differ; then `result` is zero or not changed.
    pub fn recover(
        &mut self,
        modulus: &[u8],
        signature: &[u8],
        exponent: u32,
        result: &mut [u8],
    ) -> Result<(), Error> {
        let length = length(modulus, signature, exponent, result)?;
        self.compute(modulus, signature, exponent, length)?;
        self.read(result)?;
        let again = self
            .compute(modulus, signature, exponent, length)
            .and_then(|()| self.is_result(result))
            .and_then(|is_it| if is_it { Ok(()) } else { Err(Error::Failed) });
        if again.is_err() {
            result.fill(0);
        }
        again
    }

    /// Computes the base to the power of a secret 64-bit exponent, in a time that does not depend on the exponent. The
    /// exponent has to be random, because the engine does not check the result. No data of the operation stays in the
    /// engine.
    ///
    /// # Errors
    /// The same as those of `power`; `BadExponent` if the exponent is zero. Then `result` is zero or not changed.
    pub fn power_secret(
        &mut self,
        modulus: &[u8],
        base: &[u8],
        exponent: &[u8; 8],
        result: &mut [u8],
    ) -> Result<(), Error> {
        // The time depends on the length of the exponent, which is therefore always set to the maximum.
        let length = length(modulus, base, 1, result)?.with_exponent(SECRET_BITS);
        self.begin()?;
        self.write_power(modulus, base, exponent, length);
        self.run_secret(BignumCommand::RESET.with_secret(true), result)
    }

    /// Computes a power with a public exponent, up to the outcome.
    fn compute(
        &mut self,
        modulus: &[u8],
        base: &[u8],
        exponent: u32,
        length: BignumLength,
    ) -> Result<(), Error> {
        self.begin()?;
        self.write_power(modulus, base, &exponent.to_be_bytes(), length);
        self.run(BignumCommand::RESET.with_power(true), PATIENCE)
    }

    /// Computes the base to the power of a private key: RSADP, RSASP1 (RFC 8017 §5.1.2, §5.2.1). The engine checks the
    /// result before it releases it. Neither key nor result stays in the engine.
    ///
    /// # Errors
    /// `BadModulus`, `BadOperand`, `BadExponent`, `BadKey`, `BadResult`, or the errors of the engine; then `result` is
    /// zero or not changed.
    pub fn private(
        &mut self,
        key: &PrivateKey<'_>,
        blinding: &Blinding<'_>,
        base: &[u8],
        result: &mut [u8],
    ) -> Result<(), Error> {
        let length = length(key.modulus, base, key.exponent, result)?;
        let halves =
            [key.primes.0, key.primes.1, key.exponents.0, key.exponents.1, key.coefficient];
        if halves.iter().any(|bytes| bytes.len() > key.modulus.len().div_ceil(2)) {
            return Err(Error::BadKey);
        }
        if blinding.factor.len().max(blinding.inverse.len()) > key.modulus.len() {
            return Err(Error::BadOperand);
        }
        self.begin()?;
        self.write_power(key.modulus, base, &key.exponent.to_be_bytes(), length);
        let choices = [
            BignumChoice::PrimeP,
            BignumChoice::PrimeQ,
            BignumChoice::ExponentP,
            BignumChoice::ExponentQ,
            BignumChoice::QInverse,
        ];
        for (choice, bytes) in choices.into_iter().zip(halves) {
            self.write(choice, bytes);
        }
        self.write(BignumChoice::Blinding, blinding.factor);
        self.write(BignumChoice::Unblinding, blinding.inverse);
        self.run_secret(BignumCommand::RESET.with_private_rsa(true), result)
    }

    /// Runs a command with a secret and wipes the engine. After an error `result` is zero.
    fn run_secret(&mut self, command: BignumCommand, result: &mut [u8]) -> Result<(), Error> {
        let outcome = self.run(command, PRIVATE_PATIENCE).and_then(|()| self.read(result));
        // The engine overwrites a key itself, except if it refused to start with it. Without the wipe the result is not
        // used.
        let outcome = outcome.and(self.wipe());
        if outcome.is_err() {
            result.fill(0);
        }
        outcome
    }

    /// Clears the outcome of the previous command and the errors of others. Outcome and result would otherwise remain
    /// until the next start: if a skipped instruction loses that start, they must not be those of another signature.
    fn begin(&mut self) -> Result<(), Error> {
        self.wipe()?;
        let error = self.registers.error();
        error.write(error.read());
        Ok(())
    }

    /// Writes the operands that every power needs.
    fn write_power(&self, modulus: &[u8], base: &[u8], exponent: &[u8], length: BignumLength) {
        self.write(BignumChoice::Modulus, modulus);
        self.write(BignumChoice::Base, base);
        self.write(BignumChoice::Exponent, exponent);
        self.registers.control().write(hartlock_regs::bignum::BignumControl::RESET);
        self.registers.length().write(length);
    }

    /// Reads the result, from its end on.
    fn read(&self, result: &mut [u8]) -> Result<(), Error> {
        self.registers.operand().write(BignumOperand::RESET.with_value(BignumChoice::Result));
        for bytes in result.rchunks_mut(4) {
            let word = self.registers.data().read().to_be_bytes();
            for (to, byte) in bytes.iter_mut().rev().zip(word.iter().rev()) {
                *to = *byte;
            }
        }
        // A refused read returns zero, so the error register is checked.
        self.no_error()
    }

    /// Returns true if the result equals `wanted`.
    fn is_result(&self, wanted: &[u8]) -> Result<bool, Error> {
        self.registers.operand().write(BignumOperand::RESET.with_value(BignumChoice::Result));
        let mut is_it = true;
        for bytes in wanted.rchunks(4) {
            is_it &= self.registers.data().read() == word_of(bytes);
        }
        self.no_error()?;
        Ok(is_it)
    }

    /// Verifies an ECDSA signature with P-256 (FIPS 186-5 §6.4.2). The arguments are the key (x, y), the digest, and
    /// (r, s). For a digest longer than that of SHA-256 the caller passes its first 32 bytes.
    ///
    /// # Errors
    /// `BadOperand` if the key is not a point of the curve, `BadSignature`, or the errors of the engine.
    pub fn verify_p256(
        &mut self,
        key: (&[u8; 32], &[u8; 32]),
        digest: &[u8; 32],
        signature: (&[u8; 32], &[u8; 32]),
    ) -> Result<(), Error> {
        let operands = [&key.0[..], key.1, signature.0, signature.1, digest];
        verdict(self.judge_numbers(BignumCommand::RESET.with_verify_p256(true), operands)?)
    }

    /// Verifies an ECDSA signature with P-384, the same as `verify_p256`. A digest shorter than that of SHA-384 is a
    /// number: the caller puts zeros before it.
    ///
    /// # Errors
    /// The same as those of `verify_p256`.
    pub fn verify_p384(
        &mut self,
        key: (&[u8; 48], &[u8; 48]),
        digest: &[u8; 48],
        signature: (&[u8; 48], &[u8; 48]),
    ) -> Result<(), Error> {
        let operands = [&key.0[..], key.1, signature.0, signature.1, digest];
        verdict(self.judge_numbers(BignumCommand::RESET.with_verify_p384(true), operands)?)
    }

    /// Verifies an ECDSA signature with P-384 or P-256, and returns the word of the outcome, `BignumVerdict::Good` or
    /// `BignumVerdict::BadSignature`, for a caller that compares it redundantly. `point` is x and y, `signature` is r and s,
    /// and each number is as long as the digest.
    ///
    /// # Errors
    /// `BadOperand` if a length differs, the key is not a point of the curve or a number is out of range, or the errors
    /// of the engine.
    pub fn judge(
        &mut self,
        is_p384: bool,
        point: &[u8],
        digest: &[u8],
        signature: &[u8],
    ) -> Result<u32, Error> {
        let len = if is_p384 { 48 } else { 32 };
        if digest.len() != len || point.len() != 2 * len || signature.len() != 2 * len {
            return Err(Error::BadOperand);
        }
        let ((x, y), (r, s)) = (point.split_at(len), signature.split_at(len));
        let command = BignumCommand::RESET.with_verify_p384(is_p384).with_verify_p256(!is_p384);
        self.judge_numbers(command, [x, y, r, s, digest])
    }

    /// Verifies key, signature and digest, in the order of the standard. If the engine accepts, the operation is
    /// repeated and has to be accepted again: one upset may change a verdict, and none changes both
    /// (`docs/src/hardware/upsets.md`).
    fn judge_numbers(
        &mut self,
        command: BignumCommand,
        operands: [&[u8]; 5],
    ) -> Result<u32, Error> {
        let word = self.judge_once(command, operands)?;
        if verdict(word) == Err(Error::BadSignature) || self.judge_once(command, operands)? == word
        {
            Ok(word)
        } else {
            Err(Error::Failed)
        }
    }

    fn judge_once(&mut self, command: BignumCommand, operands: [&[u8]; 5]) -> Result<u32, Error> {
        self.begin()?;
        let choices = [
            BignumChoice::KeyX,
            BignumChoice::KeyY,
            BignumChoice::SignatureR,
            BignumChoice::SignatureS,
            BignumChoice::Digest,
        ];
        for (choice, bytes) in choices.into_iter().zip(operands) {
            self.write(choice, bytes);
        }
        let word = self.outcome(command, PATIENCE)?;
        match verdict(word) {
            Ok(()) | Err(Error::BadSignature) => Ok(word),
            Err(error) => Err(error),
        }
    }

    /// Writes an operand in words, from the end of the bytes on.
    fn write(&self, operand: BignumChoice, bytes: &[u8]) {
        self.registers.operand().write(BignumOperand::RESET.with_value(operand));
        for bytes in bytes.rchunks(4) {
            self.registers.data().write(word_of(bytes));
        }
    }

    fn run(&mut self, command: BignumCommand, patience: u32) -> Result<(), Error> {
        verdict(self.outcome(command, patience)?)
    }

    /// Runs a command and returns the word of its outcome.
    fn outcome(&mut self, command: BignumCommand, patience: u32) -> Result<u32, Error> {
        if W::BY_INTERRUPT {
            self.registers
                .interrupt()
                .write(BignumInterrupt::RESET.with_done(true).with_error(true));
            let enabled = BignumInterruptEnable::RESET.with_done(true).with_error(true);
            self.registers.interrupt_enable().write(enabled);
        }
        self.registers.command().write(command);
        self.until_done_within(patience)?;
        self.no_error()?;
        Ok(self.registers.outcome().read().to_bits())
    }

    fn no_error(&self) -> Result<(), Error> {
        let error = self.registers.error().read();
        if error.command() || error.write() || error.read() { Err(Error::Refused) } else { Ok(()) }
    }

    fn is_idle(&self) -> Result<bool, Error> {
        let status = self.registers.status().read();
        if status.failed() { Err(Error::Failed) } else { Ok(status.idle()) }
    }

    /// Overwrites operands, result and outcome. The function polls, because the end of a wipe raises no interrupt.
    ///
    /// # Errors
    /// `Failed`, `Silent`.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.registers.command().write(BignumCommand::RESET.with_wipe(true));
        for _ in 0..PATIENCE {
            if self.is_idle()? {
                return Ok(());
            }
        }
        Err(Error::Silent)
    }

    /// Waits for the end of a command.
    fn until_done_within(&mut self, reads: u32) -> Result<(), Error> {
        for _ in 0..reads {
            if self.is_idle()? {
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

/// Returns the big-endian value of at most four bytes.
fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Converts the word of an outcome. A word that is not a verdict is a fault.
fn verdict(word: u32) -> Result<(), Error> {
    match BignumOutcome::from_bits(word).value().ok_or(Error::Failed)? {
        BignumVerdict::Good => Ok(()),
        BignumVerdict::BadLength | BignumVerdict::BadModulus => Err(Error::BadModulus),
        BignumVerdict::BadOperand => Err(Error::BadOperand),
        BignumVerdict::BadExponent => Err(Error::BadExponent),
        BignumVerdict::BadSignature => Err(Error::BadSignature),
        BignumVerdict::BadKey => Err(Error::BadKey),
        BignumVerdict::BadResult => Err(Error::BadResult),
        BignumVerdict::None => Err(Error::Refused),
    }
}

/// Returns the lengths of modulus and exponent in bits, if all lengths are valid.
fn length(
    modulus: &[u8],
    base: &[u8],
    exponent: u32,
    result: &[u8],
) -> Result<BignumLength, Error> {
    let top = modulus.first().ok_or(Error::BadModulus)?;
    if *top == 0 || modulus.len() > 512 {
        return Err(Error::BadModulus);
    }
    if result.len() != modulus.len() || base.len() > modulus.len() {
        return Err(Error::BadOperand);
    }
    if exponent == 0 {
        return Err(Error::BadExponent);
    }
    // Both values fit into 16 bits: they are at most 4,096 and 32.
    let bits = u16::try_from(modulus.len() * 8).map_err(|_| Error::BadModulus)?;
    Ok(BignumLength::RESET
        .with_modulus(bits - top.leading_zeros() as u16)
        .with_exponent(32 - exponent.leading_zeros() as u16))
}

impl<W: Wait> Wipe for Bignum<W> {
    /// Does nothing: what a verifier asks for is public, and [`KeyEngines`](crate::mailbox::keys::KeyEngines) wipe for themselves.
    fn wipe(&mut self) -> Option<()> {
        Some(())
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers. The tests in `hw/ip/bignum/tb` check the computations of the
    //! hardware.

    use core::cell::Cell;
    use std::vec::Vec;

    use super::*;
    use crate::wait::{Polling, Sleeping};

    // These are offsets in words.
    const LENGTH: usize = 2;
    const COMMAND: usize = 4;
    const STATUS: usize = 5;
    const ERROR: usize = 6;
    const OUTCOME: usize = 9;
    const OPERAND: usize = 10;
    const DATA: usize = 11;
    const IDLE: u32 = 1;
    const WIPE: u32 = 1 << 7;
    const GOOD: u32 = 0xc33c_c33c;

    struct FakeBignum(Vec<Cell<u32>>);

    impl FakeBignum {
        /// Returns an engine that answers every command with this word.
        fn with_outcome(outcome: u32) -> FakeBignum {
            let fake = FakeBignum((0..12).map(|_| Cell::new(0)).collect());
            fake.0[0].set(MAGIC);
            fake.0[STATUS].set(1);
            fake.0[OUTCOME].set(outcome);
            fake
        }

        fn base(&self) -> *mut u32 {
            self.0.as_ptr().cast::<u32>().cast_mut()
        }

        fn engine(&self) -> Result<Bignum<Polling>, Error> {
            // SAFETY: there is a word for each register, in cells that may be written through a shared reference and
            // outlive the engine in every test.
            Bignum::new(unsafe { BignumRegisters::new(self.base()) }, Polling)
        }
    }

    #[test]
    fn takes_only_an_engine_that_is_there_and_works() {
        let fake = FakeBignum::with_outcome(GOOD);
        assert!(fake.engine().is_ok());
        assert_eq!(fake.0[COMMAND].get(), 1 << 7, "it does not wipe");
        fake.0[STATUS].set(4 | 1);
        assert_eq!(fake.engine().err(), Some(Error::Failed));
        fake.0[STATUS].set(0);
        assert_eq!(fake.engine().err(), Some(Error::Silent));
        fake.0[0].set(0);
        assert_eq!(fake.engine().err(), Some(Error::NoEngine));
    }

    #[test]
    fn polls_for_a_wipe_whose_end_raises_no_interrupt() {
        let fake = FakeBignum::with_outcome(GOOD);
        fake.0[STATUS].set(0);
        let base = fake.0.as_ptr().cast::<u32>().cast_mut();
        let asleep = Sleeping(|| panic!("it would sleep for ever"));
        // SAFETY: the same argument as in `engine` applies.
        let engine = Bignum::new(unsafe { BignumRegisters::new(base) }, asleep);
        assert_eq!(engine.err(), Some(Error::Silent));
    }

    #[test]
    fn every_outcome_has_its_meaning() {
        for (outcome, wanted) in [
            (GOOD, Ok(())),
            (0x3cc3_3cc3, Err(Error::BadModulus)),
            (0x55aa_55aa, Err(Error::BadModulus)),
            (0xaa55_aa55, Err(Error::BadOperand)),
            (0x6996_6996, Err(Error::BadExponent)),
            (0, Err(Error::Refused)),
            (1, Err(Error::Failed)),
        ] {
            let fake = FakeBignum::with_outcome(outcome);
            let mut result = [0; 33];
            let mut modulus = [0xff; 33];
            modulus[0] = 0x10;
            assert_eq!(
                fake.engine().unwrap().power(&modulus, &[2; 32], 65537, &mut result),
                wanted
            );
            assert_eq!(fake.0[COMMAND].get(), 1);
            assert_eq!(fake.0[LENGTH].get(), 17 << 16 | 261);
        }
    }

    #[test]
    fn a_signature_is_what_its_outcome_says() {
        let (number, longer) = ([7; 32], [7; 48]);
        for (outcome, wanted) in [
            (GOOD, Ok(())),
            (0x9669_9669, Err(Error::BadSignature)),
            (0xaa55_aa55, Err(Error::BadOperand)),
            (0, Err(Error::Refused)),
            (1, Err(Error::Failed)),
        ] {
            let fake = FakeBignum::with_outcome(outcome);
            let mut engine = fake.engine().unwrap();
            let got = engine.verify_p256((&number, &number), &[9; 32], (&number, &number));
            assert_eq!(got, wanted);
            let word = match wanted {
                Ok(()) | Err(Error::BadSignature) => Ok(outcome),
                Err(error) => Err(error),
            };
            assert_eq!(engine.judge(false, &[7; 64], &[9; 32], &[7; 64]), word);
            assert_eq!(fake.0[COMMAND].get(), 1 << 4);
            let got = engine.verify_p384((&longer, &longer), &[9; 48], (&longer, &longer));
            assert_eq!(got, wanted);
            assert_eq!(fake.0[COMMAND].get(), 1 << 5);
            assert_eq!(engine.judge(true, &[7; 96], &[9; 48], &[7; 96]), word);
            assert_eq!(fake.0[COMMAND].get(), 1 << 5);
            assert_eq!(fake.0[OPERAND].get(), 11);
            assert_eq!(fake.0[DATA].get(), 0x0909_0909);
        }
    }

    #[test]
    fn numbers_of_another_length_are_not_judged() {
        let fake = FakeBignum::with_outcome(GOOD);
        let mut engine = fake.engine().unwrap();
        fake.0[COMMAND].set(0);
        for (is_p384, point, digest, signature) in [
            (false, &[7; 63][..], &[9; 32][..], &[7; 64][..]),
            (false, &[7; 64], &[9; 33], &[7; 64]),
            (false, &[7; 64], &[9; 32], &[7; 65]),
            (true, &[7; 64], &[9; 32], &[7; 64]),
            (false, &[7; 96], &[9; 48], &[7; 96]),
        ] {
            assert_eq!(engine.judge(is_p384, point, digest, signature), Err(Error::BadOperand));
        }
        assert_eq!(fake.0[COMMAND].get(), 0);
    }

    /// A lost start must not return the outcome of the previous command.
    #[test]
    fn an_earlier_outcome_is_wiped_before_anything_else() {
        type BignumCall = fn(&mut Bignum<Polling>) -> Result<(), Error>;
        let operations: [BignumCall; 5] = [
            |engine| engine.power_secret(&[0xff; 32], &[2; 32], &[1; 8], &mut [0; 32]),
            |engine| engine.recover(&[0xff; 32], &[2; 32], 65537, &mut [0; 32]),
            |engine| engine.power(&[0xff; 32], &[2; 32], 65537, &mut [0; 32]),
            |engine| engine.judge(false, &[7; 64], &[9; 32], &[7; 64]).map(drop),
            |engine| engine.private(&KEY, &BLINDING, &[2; 64], &mut [0; 64]),
        ];
        let fake = FakeBignum::with_outcome(GOOD);
        let mut engine = fake.engine().unwrap();
        for operation in operations {
            fake.0[STATUS].set(IDLE);
            assert_eq!(operation(&mut engine), Ok(()));
            // The wipe does not end.
            fake.0[STATUS].set(0);
            fake.0[OPERAND].set(0);
            assert_eq!(operation(&mut engine), Err(Error::Silent));
            assert_eq!((fake.0[COMMAND].get(), fake.0[OPERAND].get()), (WIPE, 0));
        }
    }

    /// A 512-bit key whose numbers are all ones.
    const KEY: PrivateKey<'_> = PrivateKey {
        modulus: &[0xff; 64],
        exponent: 65537,
        primes: (&[0xff; 32], &[0xff; 32]),
        exponents: (&[0xff; 32], &[0xff; 32]),
        coefficient: &[0xff; 32],
    };
    const BLINDING: Blinding<'_> = Blinding { factor: &[5; 64], inverse: &[6; 64] };

    #[test]
    fn a_private_operation_ends_with_a_wipe() {
        for (outcome, wanted) in [
            (GOOD, Ok(())),
            (0x5aa5_5aa5, Err(Error::BadKey)),
            (0xa55a_a55a, Err(Error::BadResult)),
            (0x6996_6996, Err(Error::BadExponent)),
            (0, Err(Error::Refused)),
            (1, Err(Error::Failed)),
        ] {
            let fake = FakeBignum::with_outcome(outcome);
            let mut result = [1; 64];
            let got = fake.engine().unwrap().private(&KEY, &BLINDING, &[2; 64], &mut result);
            assert_eq!(got, wanted);
            assert_eq!(fake.0[LENGTH].get(), 17 << 16 | 512);
            assert_eq!(fake.0[COMMAND].get(), 1 << 7, "the key stays");
            // Every read returns the last written word, which is one of 1 / r.
            let word = if wanted.is_ok() { 6 } else { 0 };
            assert_eq!(result, [word; 64]);
        }
    }

    #[test]
    fn a_power_by_a_secret_exponent_has_one_length_and_ends_with_a_wipe() {
        for (outcome, wanted) in [
            (GOOD, Ok(())),
            (0x6996_6996, Err(Error::BadExponent)),
            (0xaa55_aa55, Err(Error::BadOperand)),
            (0, Err(Error::Refused)),
        ] {
            for exponent in [[0xff; 8], [0, 0, 0, 0, 0, 0, 0, 1]] {
                let fake = FakeBignum::with_outcome(outcome);
                let mut result = [7; 64];
                let mut engine = fake.engine().unwrap();
                let got = engine.power_secret(&[0xff; 64], &[2; 64], &exponent, &mut result);
                assert_eq!(got, wanted);
                assert_eq!(fake.0[LENGTH].get(), 64 << 16 | 512);
                assert_eq!(fake.0[COMMAND].get(), WIPE, "the exponent stays");
                // The word that was written last is the highest word of the exponent.
                let word = if wanted.is_ok() { exponent[0] } else { 0 };
                assert_eq!(result, [word; 64]);
            }
        }
    }

    #[test]
    fn a_result_is_compared_in_every_byte() {
        let fake = FakeBignum::with_outcome(GOOD);
        let mut engine = fake.engine().unwrap();
        let mut result = [0; 36];
        engine.recover(&[0xff; 36], &[2; 36], 65537, &mut result).unwrap();
        // Every read returns the word that was written last, which is that of the exponent.
        assert_eq!(result[..6], [0, 1, 0, 1, 0, 1]);
        assert_eq!(engine.is_result(&result), Ok(true));
        for at in 0..result.len() {
            result[at] ^= 1;
            assert_eq!(engine.is_result(&result), Ok(false), "byte {at}");
            result[at] ^= 1;
        }
    }

    #[test]
    fn refuses_parts_of_a_key_that_are_too_long() {
        let fake = FakeBignum::with_outcome(GOOD);
        let mut engine = fake.engine().unwrap();
        fake.0[COMMAND].set(0);
        let long = [1; 33];
        for key in [
            PrivateKey { primes: (&long, KEY.primes.1), ..KEY },
            PrivateKey { exponents: (KEY.exponents.0, &long), ..KEY },
            PrivateKey { coefficient: &long, ..KEY },
        ] {
            let got = engine.private(&key, &BLINDING, &[2; 64], &mut [0; 64]);
            assert_eq!(got, Err(Error::BadKey));
        }
        let blinding = Blinding { factor: &[1; 65], inverse: &[1; 64] };
        let got = engine.private(&KEY, &blinding, &[2; 64], &mut [0; 64]);
        assert_eq!(got, Err(Error::BadOperand));
        let key = PrivateKey { exponent: 0, ..KEY };
        let got = engine.private(&key, &BLINDING, &[2; 64], &mut [0; 64]);
        assert_eq!(got, Err(Error::BadExponent));
        assert_eq!(fake.0[COMMAND].get(), 0);
    }

    #[test]
    fn reads_words_from_the_end() {
        let fake = FakeBignum::with_outcome(GOOD);
        let mut result = [0; 33];
        fake.engine().unwrap().power(&[0x11; 33], &[2; 3], 3, &mut result).unwrap();
        assert_eq!(fake.0[OPERAND].get(), 6);
        // Every read returns the last written word.
        let mut wanted = [[0, 0, 0, 3]; 9].concat();
        wanted.drain(..3);
        assert_eq!(result[..], wanted);
        assert_eq!(fake.0[DATA].get(), 3);
    }

    #[test]
    fn refuses_lengths_before_it_uses_the_engine() {
        let fake = FakeBignum::with_outcome(GOOD);
        let mut engine = fake.engine().unwrap();
        fake.0[COMMAND].set(0);
        assert_eq!(engine.power(&[], &[], 3, &mut []), Err(Error::BadModulus));
        assert_eq!(engine.power(&[0, 1], &[1], 3, &mut [0; 2]), Err(Error::BadModulus));
        assert_eq!(engine.power(&[1; 513], &[1], 3, &mut [0; 513]), Err(Error::BadModulus));
        assert!(length(&[1; 512], &[1], 3, &[0; 512]).is_ok());
        assert_eq!(engine.power(&[1; 32], &[1; 33], 3, &mut [0; 32]), Err(Error::BadOperand));
        assert_eq!(engine.power(&[1; 32], &[1], 3, &mut [0; 31]), Err(Error::BadOperand));
        assert_eq!(engine.power(&[1; 32], &[1], 0, &mut [0; 32]), Err(Error::BadExponent));
        assert_eq!(fake.0[COMMAND].get(), 0);
        fake.0[ERROR].set(0);
    }
}

#[cfg(test)]
mod model;
