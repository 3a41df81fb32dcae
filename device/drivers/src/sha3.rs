//! The SHA-3 engine (`hw/ip/sha3`): SHA-3, SHAKE, KMAC and TurboSHAKE128 of a message that the processor pushes or a
//! stream carries.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. The caller selects how to [wait](crate::wait).

use core::iter;

use hartlock_kernels::engines::Wipe;
use hartlock_kernels::parallelhash::{left_encode, right_encode};
use hartlock_regs::Value;
use hartlock_regs::sha3::{
    Sha3Command, Sha3Control, Sha3FinalSize, Sha3InterruptEnable, Sha3Mode, Sha3Registers,
    Sha3Status,
};

use crate::wait::Wait;

/// Size in bytes of a word of the engine.
const WORD_LEN: usize = 8;
/// Number of 32-bit words in the key register, which holds nine lanes.
const KEY_WORDS: usize = 18;
/// Maximum length of a key in bytes. Together with the encodings of its length and of the rate it fits the register.
pub const MAX_KEY_LEN: usize = 64;
/// Value `sha3` of the identification register.
const MAGIC: u32 = 0x7368_6133;
/// Maximum number of status reads before the engine is treated as absent. The longest wait is for a block of output and
/// takes less than a hundred cycles.
const PATIENCE: u32 = 10_000;

/// The reason why there is no digest.
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
    /// The key is longer than [`MAX_KEY_LEN`] bytes, the customization string does not fit the first block, or more
    /// output was requested than the digest has.
    TooLong,
}

/// The function that the engine computes.
#[derive(Clone, Copy, Debug)]
pub enum Sha3Function<'a> {
    /// SHA3-224 (FIPS 202).
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// SHAKE128.
    Shake128,
    /// SHAKE256.
    Shake256,
    /// TurboSHAKE128 (RFC 9861 §2.2) with this domain separation byte, 0x01 to 0x7f.
    TurboShake128(u8),
    /// KMAC128 (SP 800-185 §4).
    Kmac128(Kmac<'a>),
    /// KMAC256.
    Kmac256(Kmac<'a>),
}

/// The inputs of KMAC in addition to the message.
#[derive(Clone, Copy)]
pub struct Kmac<'a> {
    /// Key of at most [`MAX_KEY_LEN`] bytes.
    pub key: &'a [u8],
    /// Customization string S of SP 800-185. Together with its prefix it has to fit into a block.
    pub customization: &'a [u8],
}

impl core::fmt::Debug for Kmac<'_> {
    /// Formats the inputs without the key.
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Kmac").field("customization", &self.customization).finish_non_exhaustive()
    }
}

impl Sha3Function<'_> {
    const fn mode(&self) -> Sha3Mode {
        match self {
            Self::Sha3_224 => Sha3Mode::Sha3224,
            Self::Sha3_256 => Sha3Mode::Sha3256,
            Self::Sha3_384 => Sha3Mode::Sha3384,
            Self::Sha3_512 => Sha3Mode::Sha3512,
            Self::Shake128 => Sha3Mode::Shake128,
            Self::Shake256 => Sha3Mode::Shake256,
            Self::TurboShake128(_) => Sha3Mode::Turboshake128,
            Self::Kmac128(_) => Sha3Mode::Kmac128,
            Self::Kmac256(_) => Sha3Mode::Kmac256,
        }
    }

    /// Returns the number of bytes that the `digest` register holds at once, and whether more output can follow.
    const fn output(&self) -> (usize, bool) {
        match self {
            Self::Sha3_224 => (28, false),
            Self::Sha3_256 => (32, false),
            Self::Sha3_384 => (48, false),
            Self::Sha3_512 => (64, false),
            Self::Shake128 | Self::TurboShake128(_) | Self::Kmac128(_) => (168, true),
            Self::Shake256 | Self::Kmac256(_) => (136, true),
        }
    }
}

/// The driver of the SHA-3 engine.
pub struct Sha3<W> {
    registers: Sha3Registers,
    wait: W,
    /// Bytes that do not form a whole word yet. The first byte is the lowest.
    rest: u64,
    rest_len: usize,
    /// Number of output bytes that the `digest` register holds at once, and whether more can follow.
    shown_len: usize,
    is_endless: bool,
    is_kmac: bool,
}

impl<W: Wait> Sha3<W> {
    /// Initialises the driver and wipes the engine.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: Sha3Registers, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let (shown_len, is_endless) = Sha3Function::Sha3_384.output();
        let mut engine =
            Self { registers, wait, rest: 0, rest_len: 0, shown_len, is_endless, is_kmac: false };
        engine.wipe()?;
        Ok(engine)
    }

    /// Begins a message.
    ///
    /// # Errors
    /// `TooLong`, or the errors of the engine.
    pub fn start(&mut self, function: Sha3Function<'_>) -> Result<(), Error> {
        self.start_from(function, false)
    }

    /// Begins a message that arrives at the stream port, for example by DMA. The stream also ends the message;
    /// [`read`](Self::read) follows.
    ///
    /// # Errors
    /// `Refused` for KMAC, because its message ends with the length of the output; or the errors of the engine.
    pub fn start_stream(&mut self, function: Sha3Function<'_>) -> Result<(), Error> {
        self.start_from(function, true)
    }

    /// Begins a message, from the stream port or not.
    ///
    /// # Errors
    /// As [`start`](Self::start) and [`start_stream`](Self::start_stream).
    pub fn start_from(&mut self, function: Sha3Function<'_>, is_stream: bool) -> Result<(), Error> {
        if is_stream && matches!(function, Sha3Function::Kmac128(_) | Sha3Function::Kmac256(_)) {
            return Err(Error::Refused);
        }
        // The engine may still be computing output of the previous message.
        self.until_polled(Sha3Status::idle, |_| ())?;
        (self.rest, self.rest_len) = (0, 0);
        (self.shown_len, self.is_endless) = function.output();
        let suffix = match function {
            Sha3Function::TurboShake128(suffix) => suffix,
            _ => 0,
        };
        let kmac = match function {
            Sha3Function::Kmac128(kmac) | Sha3Function::Kmac256(kmac) => Some(kmac),
            _ => None,
        };
        self.is_kmac = kmac.is_some();
        if let Some(kmac) = kmac {
            if header(self.shown_len, kmac.customization).count() > self.shown_len {
                return Err(Error::TooLong);
            }
            let words = key_block(self.shown_len, kmac.key).ok_or(Error::TooLong)?;
            for (register, word) in self.registers.key().iter().zip(words) {
                register.write(word);
            }
            // The register block keeps the last written word, so it is overwritten.
            self.registers.final_size().write(Sha3FinalSize::RESET);
        }
        let control = Sha3Control::RESET.with_mode(function.mode()).with_suffix(suffix);
        let control = control.with_stream(is_stream);
        self.registers.control().write(control);
        if W::BY_INTERRUPT {
            let enabled = Sha3InterruptEnable::RESET.with_done(true).with_error(true);
            self.registers.interrupt_enable().write(enabled);
        }
        self.command(Sha3Command::RESET.with_start(true));
        if let Some(kmac) = kmac {
            // The driver pushes the prefix as the first block; the engine appends the key (§4.3).
            header(self.shown_len, kmac.customization)
                .chain(iter::repeat(0))
                .take(self.shown_len)
                .for_each(|byte| self.push_byte(byte));
        }
        Ok(())
    }

    /// Pushes a part of the message, of any length. While the engine works on a block, the bus waits.
    pub fn push(&mut self, data: &[u8]) {
        let mut data = data;
        // Whole words are pushed directly as soon as no single bytes are left over.
        while self.rest_len != 0 {
            let Some((byte, others)) = data.split_first() else { return };
            self.push_byte(*byte);
            data = others;
        }
        let (words, rest) = data.as_chunks::<WORD_LEN>();
        words.iter().for_each(|word| self.push_word(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.push_byte(*byte));
    }

    /// Ends the message and reads the digest, the MAC, or the requested amount of output.
    ///
    /// # Errors
    /// `TooLong` if the digest is shorter; `Refused` if a part of the message was refused; the errors of the engine.
    pub fn finish(&mut self, output: &mut [u8]) -> Result<(), Error> {
        self.fits(output)?;
        if self.is_kmac {
            // The message includes the length of the output in bits (§4.3).
            self.push(right_encode(output.len() as u64 * 8).as_ref());
        }
        self.end();
        self.read(output)
    }

    /// Ends a message that was pushed: [`read`](Self::read) follows. KMAC ends with the length of its output
    /// ([`finish`](Self::finish)).
    pub fn end(&mut self) {
        let size = u8::try_from(self.rest_len).unwrap_or(0);
        self.registers.final_size().write(Sha3FinalSize::RESET.with_size(size).with_last(true));
        self.push_word(self.rest);
        (self.rest, self.rest_len) = (0, 0);
    }

    /// Checks that no more output is requested than a digest has.
    fn fits(&self, output: &[u8]) -> Result<(), Error> {
        if self.is_endless || output.len() <= self.shown_len { Ok(()) } else { Err(Error::TooLong) }
    }

    /// Waits for the first block of output of a message that has ended.
    ///
    /// # Errors
    /// The errors of the engine.
    #[inline]
    pub fn until_done(&mut self) -> Result<(), Error> {
        self.until(Sha3Status::digest_valid)
    }

    /// Reads the digest, or the requested amount of output, of a message that has ended.
    ///
    /// # Errors
    /// `TooLong` if the digest is shorter; `Refused` if a part of the message was refused; the errors of the engine.
    pub fn read(&mut self, output: &mut [u8]) -> Result<(), Error> {
        self.fits(output)?;
        // `shown_len` is never zero; the maximum tells the compiler so.
        for (number, block) in output.chunks_mut(self.shown_len.max(1)).enumerate() {
            if number > 0 {
                // The core permutes the next block while this one is read.
                self.command(Sha3Command::RESET.with_squeeze(true));
            }
            self.until(Sha3Status::digest_valid)?;
            // Whole words are handled separately, because a copy of unknown length would take longer than the reads.
            let (words, rest) = block.as_chunks_mut::<4>();
            let mut registers = self.registers.digest().iter();
            for (word, register) in words.iter_mut().zip(registers.by_ref()) {
                *word = register.read().to_le_bytes();
            }
            if let Some(register) = registers.next().filter(|_| !rest.is_empty()) {
                let word = register.read().to_le_bytes();
                rest.iter_mut().zip(word).for_each(|(to, from)| *to = from);
            }
        }
        // A refused part of the message is not included in the digest.
        match self.registers.error().read().to_bits() {
            0 => Ok(()),
            _ => Err(Error::Refused),
        }
    }

    /// Clears message, output and key, and the errors of refused writes.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn wipe(&mut self) -> Result<(), Error> {
        (self.rest, self.rest_len) = (0, 0);
        self.command(Sha3Command::RESET.with_wipe(true));
        self.until_polled(Sha3Status::idle, |_| ())?;
        // An old error would make every later digest invalid.
        let error = self.registers.error();
        error.write(error.read());
        Ok(())
    }

    fn push_byte(&mut self, byte: u8) {
        self.rest |= u64::from(byte) << (8 * self.rest_len);
        self.rest_len += 1;
        if self.rest_len == WORD_LEN {
            self.push_word(self.rest);
            (self.rest, self.rest_len) = (0, 0);
        }
    }

    /// Pushes a word of eight bytes. The write of the upper half pushes both halves.
    #[inline(always)]
    fn push_word(&mut self, word: u64) {
        for (register, half) in self.registers.data().iter().zip([word as u32, (word >> 32) as u32])
        {
            register.write(half);
        }
    }

    fn command(&mut self, command: Sha3Command) {
        self.registers.command().write(command);
    }

    /// Waits until the status has the expected value.
    fn until(&mut self, is_wanted: impl Fn(Sha3Status) -> bool) -> Result<(), Error> {
        self.until_polled(is_wanted, |engine| {
            if W::BY_INTERRUPT {
                engine.wait.wait();
                // The status is read after this write, so that no earlier event is missed.
                let interrupt = engine.registers.interrupt();
                interrupt.write(interrupt.read());
            }
        })
    }

    fn until_polled(
        &mut self,
        is_wanted: impl Fn(Sha3Status) -> bool,
        pass_time: impl Fn(&mut Self),
    ) -> Result<(), Error> {
        for _ in 0..PATIENCE {
            let status = self.registers.status().read();
            if is_wanted(status) {
                return Ok(());
            }
            if status.failed() {
                return Err(Error::Failed);
            }
            pass_time(self);
        }
        Err(Error::Silent)
    }
}

/// Encodes a string with its length (SP 800-185 §2.3.2, `encode_string`).
fn encode_string(string: &[u8]) -> impl Iterator<Item = u8> {
    left_encode(string.len() as u64 * 8).into_iter().chain(string.iter().copied())
}

/// Returns the prefix of KMAC without the zeros that fill its block (§3.3, §4.3).
fn header(rate: usize, customization: &[u8]) -> impl Iterator<Item = u8> {
    left_encode(rate as u64)
        .into_iter()
        .chain(encode_string(b"KMAC"))
        .chain(encode_string(customization))
}

/// Returns the content of the key register, which the engine appends to the prefix and fills with zeros.
fn key_block(rate: usize, key: &[u8]) -> Option<[u32; KEY_WORDS]> {
    if key.len() > MAX_KEY_LEN {
        return None;
    }
    let mut words = [0; KEY_WORDS];
    for (at, byte) in left_encode(rate as u64).into_iter().chain(encode_string(key)).enumerate() {
        *words.get_mut(at / 4)? |= u32::from(byte) << (8 * (at % 4));
    }
    Some(words)
}

impl<W: Wait> Wipe for Sha3<W> {
    fn wipe(&mut self) -> Option<()> {
        // An engine with a fault has cleared itself.
        match self.wipe() {
            Ok(()) | Err(Error::Failed) => Some(()),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
