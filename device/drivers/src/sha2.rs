//! The SHA-2 engine (`hw/ip/sha2`): SHA-256 and HMAC-SHA-256 of a message that the processor pushes or a stream
//! carries.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. The caller selects how to [wait](crate::wait).

use hartlock_kernels::engines::Wipe;
use hartlock_regs::Value;
use hartlock_regs::sha2::{
    Sha2Command, Sha2Control, Sha2InterruptEnable, Sha2MessageLengthHigh, Sha2Mode, Sha2Registers,
    Sha2Status,
};

use crate::wait::Wait;

/// Length of a block in bytes (FIPS 180-4 §1).
pub const BLOCK_LEN: usize = 64;
/// Length in bytes of a digest and of a MAC.
pub const DIGEST_LEN: usize = 32;
/// Value `sha2` of the identification register.
const MAGIC: u32 = 0x7368_6132;
/// Maximum number of status reads before the engine is treated as absent. The longest wait is for the last two blocks
/// of HMAC and takes far less than a thousand cycles.
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
    /// The key is longer than a block. The caller has to hash it first (FIPS 198-1 §4, step 2).
    KeyTooLong,
}

/// The function that the engine computes.
#[derive(Clone, Copy, Debug)]
pub enum Sha2Function<'a> {
    /// SHA-256 (FIPS 180-4 §6.2).
    Sha256,
    /// HMAC-SHA-256 (FIPS 198-1) with a key of at most one block.
    HmacSha256(&'a [u8]),
}

/// The driver of the SHA-2 engine.
pub struct Sha2<W> {
    registers: Sha2Registers,
    wait: W,
}

impl<W: Wait> Sha2<W> {
    /// Initialises the driver and wipes the engine.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: Sha2Registers, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let mut engine = Self { registers, wait };
        engine.wipe()?;
        Ok(engine)
    }

    /// Begins a message.
    ///
    /// # Errors
    /// `KeyTooLong`, or the errors of the engine.
    #[inline]
    pub fn start(&mut self, function: Sha2Function<'_>) -> Result<(), Error> {
        self.start_from(function, false)
    }

    /// Begins a message that arrives at the stream port, for example by DMA. The stream also ends the message;
    /// [`until_done`](Self::until_done) follows.
    ///
    /// # Errors
    /// `KeyTooLong`, or the errors of the engine.
    pub fn start_stream(&mut self, function: Sha2Function<'_>) -> Result<(), Error> {
        self.start_from(function, true)
    }

    #[inline(always)]
    fn start_from(&mut self, function: Sha2Function<'_>, is_stream: bool) -> Result<(), Error> {
        let mode = match function {
            Sha2Function::Sha256 => Sha2Mode::Sha256,
            Sha2Function::HmacSha256(key) => {
                self.write_key(key)?;
                Sha2Mode::HmacSha256
            }
        };
        self.configure(Sha2Control::RESET.with_mode(mode).with_stream(is_stream));
        self.command(Sha2Command::RESET.with_start(true));
        Ok(())
    }

    /// Waits until the FIFO is empty, so that a block can be pushed without waiting on the bus.
    ///
    /// # Errors
    /// The errors of the engine.
    #[inline(always)]
    pub fn until_empty(&mut self) -> Result<(), Error> {
        self.until(Sha2Status::fifo_empty)
    }

    /// Pushes a block, with its words in the byte order of memory.
    #[inline(always)]
    pub fn push_block(&mut self, block: &[u32; BLOCK_LEN / 4]) {
        // The compiler unrolls this into sixteen loads and stores.
        for (register, word) in self.registers.fifo().iter().zip(block) {
            register.write(*word);
        }
    }

    /// Pushes a part of the message, of any length. While the FIFO is full, the bus waits; the engine always empties
    /// the FIFO.
    pub fn push(&mut self, data: &[u8]) {
        // SAFETY: any four bytes are a valid word.
        let (before, words, after) = unsafe { data.align_to::<u32>() };
        self.push_bytes(before);
        let (blocks, rest) = words.as_chunks();
        blocks.iter().for_each(|block| self.push_block(block));
        for (register, word) in self.registers.fifo().iter().zip(rest) {
            register.write(*word);
        }
        self.push_bytes(after);
    }

    /// Returns the address at which words of the message can be written, for code that has to survive an error of the
    /// memory that it reads. There are sixteen registers, each of which pushes a word.
    #[must_use]
    pub fn port(&mut self) -> Option<*mut u32> {
        self.registers.fifo().get(0).map(|register| register.as_ptr())
    }

    /// Ends the message and returns the digest or the MAC.
    ///
    /// # Errors
    /// The errors of the engine.
    #[inline]
    pub fn finish(&mut self) -> Result<[u8; DIGEST_LEN], Error> {
        self.process();
        self.until_done()?;
        self.digest()
    }

    /// Tells the engine that the message is complete.
    #[inline(always)]
    pub fn process(&mut self) {
        self.command(Sha2Command::RESET.with_process(true));
    }

    /// Waits for the digest.
    ///
    /// # Errors
    /// The errors of the engine.
    #[inline(always)]
    pub fn until_done(&mut self) -> Result<(), Error> {
        self.until(Sha2Status::digest_valid)
    }

    /// Returns the digest, after a wait for it.
    ///
    /// # Errors
    /// `Refused` if a part of the message was refused.
    #[inline(always)]
    pub fn digest(&mut self) -> Result<[u8; DIGEST_LEN], Error> {
        let mut digest = [0; DIGEST_LEN];
        let mut words = [0; DIGEST_LEN / 4];
        self.digest_words(&mut words)?;
        let (bytes, _) = digest.as_chunks_mut();
        bytes.iter_mut().zip(words).for_each(|(to, from)| *to = from.to_le_bytes());
        Ok(digest)
    }

    /// Reads the digest as words in the byte order of memory (little-endian), so that no copy is needed for its bytes.
    ///
    /// # Errors
    /// `Refused` if a part of the message was refused.
    #[inline(always)]
    pub fn digest_words(&mut self, words: &mut [u32; DIGEST_LEN / 4]) -> Result<(), Error> {
        for (word, register) in words.iter_mut().zip(self.registers.digest().iter()) {
            *word = register.read();
        }
        // A refused part of the message is not included in the digest.
        match self.registers.error().read().to_bits() {
            0 => Ok(()),
            _ => Err(Error::Refused),
        }
    }

    /// Compresses blocks into a hash state in memory (FIPS 180-4 §6.2.2). With this function the engine serves as a
    /// kernel of the SHA-256 in software.
    ///
    /// # Errors
    /// The errors of the engine. Then the state is invalid.
    pub fn compress(
        &mut self,
        state: &mut [u32; 8],
        blocks: &[[u8; BLOCK_LEN]],
    ) -> Result<(), Error> {
        if blocks.is_empty() {
            return Ok(());
        }
        let done = self.compress_blocks(state, blocks);
        if done.is_err() {
            // A computation in progress must not affect the next one.
            self.command(Sha2Command::RESET.with_wipe(true));
        }
        done
    }

    fn compress_blocks(
        &mut self,
        state: &mut [u32; 8],
        blocks: &[[u8; BLOCK_LEN]],
    ) -> Result<(), Error> {
        self.configure(Sha2Control::RESET.with_mode(Sha2Mode::Sha256).with_digest_swap(true));
        for (register, word) in self.registers.digest().iter().zip(&*state) {
            register.write(*word);
        }
        self.registers.message_length_low().write(BLOCK_LEN as u32);
        self.registers.message_length_high().write(Sha2MessageLengthHigh::RESET);
        self.command(Sha2Command::RESET.with_resume(true));
        self.push(blocks.as_flattened());
        self.command(Sha2Command::RESET.with_stop(true));
        self.until(Sha2Status::state_valid)?;
        for (word, register) in state.iter_mut().zip(self.registers.digest().iter()) {
            *word = register.read();
        }
        match self.registers.error().read().to_bits() {
            0 => Ok(()),
            _ => Err(Error::Refused),
        }
    }

    /// Clears message, digest and key, and the errors of refused writes.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.command(Sha2Command::RESET.with_wipe(true));
        self.until_idle()?;
        // An old error would make every later digest invalid.
        let error = self.registers.error();
        error.write(error.read());
        Ok(())
    }

    #[inline(always)]
    fn configure(&mut self, control: Sha2Control) {
        self.registers.control().write(control);
        if W::BY_INTERRUPT {
            let enabled =
                Sha2InterruptEnable::RESET.with_done(true).with_fifo_empty(true).with_error(true);
            self.registers.interrupt_enable().write(enabled);
        }
    }

    /// Writes K0 of FIPS 198-1 §4, which is the key padded with zeros.
    fn write_key(&mut self, key: &[u8]) -> Result<(), Error> {
        if key.len() > BLOCK_LEN {
            return Err(Error::KeyTooLong);
        }
        let mut block = [0; BLOCK_LEN / 4];
        // SAFETY: any four bytes are a valid word.
        if let ([], words, []) = unsafe { key.align_to::<u32>() } {
            block.iter_mut().zip(words).for_each(|(to, from)| *to = *from);
        } else {
            for (at, byte) in key.iter().enumerate() {
                if let Some(word) = block.get_mut(at / 4) {
                    *word |= u32::from(*byte) << (8 * (at % 4));
                }
            }
        }
        for (register, word) in self.registers.key().iter().zip(block) {
            register.write(u32::from_le(word));
        }
        Ok(())
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if let Some(register) = self.registers.fifo().get(0) {
            bytes.iter().for_each(|byte| register.write_byte(*byte));
        }
    }

    #[inline(always)]
    fn command(&mut self, command: Sha2Command) {
        self.registers.command().write(command);
    }

    /// Waits until everything is cleared. This takes dozens of cycles and raises no interrupt at the end.
    fn until_idle(&mut self) -> Result<(), Error> {
        self.until_polled(Sha2Status::idle, |_| ())
    }

    /// Waits until the status has the expected value.
    #[inline(always)]
    fn until(&mut self, is_wanted: impl Fn(Sha2Status) -> bool) -> Result<(), Error> {
        self.until_polled(is_wanted, |engine| {
            if W::BY_INTERRUPT {
                engine.wait.wait();
                // The status is read after this write, so that no earlier event is missed.
                let interrupt = engine.registers.interrupt();
                interrupt.write(interrupt.read());
            }
        })
    }

    #[inline(always)]
    fn until_polled(
        &mut self,
        is_wanted: impl Fn(Sha2Status) -> bool,
        pass_time: impl Fn(&mut Self),
    ) -> Result<(), Error> {
        let mut left = PATIENCE;
        loop {
            let status = self.registers.status().read();
            if is_wanted(status) {
                return Ok(());
            }
            if status.failed() {
                return Err(Error::Failed);
            }
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return Err(Error::Silent),
            };
            pass_time(self);
        }
    }
}

impl<W: Wait> Wipe for Sha2<W> {
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
