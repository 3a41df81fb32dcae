//! The SHA-2 engine (`hw/ip/sha2`): SHA-256 and HMAC-SHA-256 of a message that the processor pushes.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an
//! engine with a fault (`status.failed`) is not used until reset. The caller chooses how to [wait](crate::wait).

use hartlock_regs::Value;
use hartlock_regs::sha2::{
    Command, Control, InterruptEnable, MessageLengthHigh, Mode, Sha2 as Registers, Status,
};

use crate::wait::Wait;

/// Bytes of a block (FIPS 180-4 §1).
pub const BLOCK_LEN: usize = 64;
/// Bytes of a digest and of a MAC.
pub const DIGEST_LEN: usize = 32;
/// `sha2` in the register that says what it is.
const MAGIC: u32 = 0x7368_6132;
/// Maximum number of status reads before the engine is treated as absent. The longest wait is for the last
/// two blocks of HMAC, far below a thousand cycles.
const PATIENCE: u32 = 10_000;

/// Why there is no digest.
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
    /// A key of more than a block: hash it first (FIPS 198-1 §4, step 2).
    KeyTooLong,
}

/// What is computed.
#[derive(Clone, Copy, Debug)]
pub enum Function<'a> {
    /// SHA-256 (FIPS 180-4 §6.2).
    Sha256,
    /// HMAC-SHA-256 (FIPS 198-1) with a key of at most a block.
    HmacSha256(&'a [u8]),
}

/// The engine.
pub struct Sha2<W> {
    registers: Registers,
    wait: W,
}

impl<W: Wait> Sha2<W> {
    /// Takes the engine and clears its state.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`.
    pub fn new(registers: Registers, wait: W) -> Result<Self, Error> {
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
    /// `KeyTooLong`, or those of the engine.
    #[inline]
    pub fn start(&mut self, function: Function<'_>) -> Result<(), Error> {
        self.start_from(function, false)
    }

    /// Begins a message that comes from the stream port, for instance by DMA. The stream ends it as well:
    /// [`until_done`](Self::until_done) follows.
    ///
    /// # Errors
    /// `KeyTooLong`, or those of the engine.
    pub fn start_stream(&mut self, function: Function<'_>) -> Result<(), Error> {
        self.start_from(function, true)
    }

    #[inline(always)]
    fn start_from(&mut self, function: Function<'_>, is_stream: bool) -> Result<(), Error> {
        let mode = match function {
            Function::Sha256 => Mode::Sha256,
            Function::HmacSha256(key) => {
                self.write_key(key)?;
                Mode::HmacSha256
            }
        };
        self.configure(Control::RESET.with_mode(mode).with_stream(is_stream));
        self.command(Command::RESET.with_start(true));
        Ok(())
    }

    /// Waits until the FIFO is empty: a block can be pushed without waiting on the bus.
    ///
    /// # Errors
    /// Those of the engine.
    #[inline(always)]
    pub fn until_empty(&mut self) -> Result<(), Error> {
        self.until(Status::fifo_empty)
    }

    /// Pushes a block, with its words in the byte order of memory.
    #[inline(always)]
    pub fn push_block(&mut self, block: &[u32; BLOCK_LEN / 4]) {
        // Sixteen loads and stores, which no loop interrupts.
        for (register, word) in self.registers.fifo().iter().zip(block) {
            register.write(*word);
        }
    }

    /// Pushes a part of the message, of any length. While the FIFO is full, the bus waits; the engine
    /// empties it, whatever else happens.
    pub fn push(&mut self, data: &[u8]) {
        // SAFETY: every four bytes are a word.
        let (before, words, after) = unsafe { data.align_to::<u32>() };
        self.push_bytes(before);
        let (blocks, rest) = words.as_chunks();
        blocks.iter().for_each(|block| self.push_block(block));
        for (register, word) in self.registers.fifo().iter().zip(rest) {
            register.write(*word);
        }
        self.push_bytes(after);
    }

    /// Where words of the message can be written, for code that has to survive an error of the memory that they come
    /// from: sixteen registers, each of which pushes.
    #[must_use]
    pub fn port(&mut self) -> Option<*mut u32> {
        self.registers.fifo().get(0).map(|register| register.as_ptr())
    }

    /// Ends the message and takes digest or MAC.
    ///
    /// # Errors
    /// Those of the engine.
    #[inline]
    pub fn finish(&mut self) -> Result<[u8; DIGEST_LEN], Error> {
        self.process();
        self.until_done()?;
        self.digest()
    }

    /// Says that the message is complete.
    #[inline(always)]
    pub fn process(&mut self) {
        self.command(Command::RESET.with_process(true));
    }

    /// Waits for the digest.
    ///
    /// # Errors
    /// Those of the engine.
    #[inline(always)]
    pub fn until_done(&mut self) -> Result<(), Error> {
        self.until(Status::digest_valid)
    }

    /// The digest, once it is there.
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

    /// The same as words in the byte order of memory, little-endian: bytes of it need no copy.
    ///
    /// # Errors
    /// `Refused` if a part of the message was refused.
    #[inline(always)]
    pub fn digest_words(&mut self, words: &mut [u32; DIGEST_LEN / 4]) -> Result<(), Error> {
        for (word, register) in words.iter_mut().zip(self.registers.digest().iter()) {
            *word = register.read();
        }
        // What was refused is not in the digest.
        match self.registers.error().read().to_bits() {
            0 => Ok(()),
            _ => Err(Error::Refused),
        }
    }

    /// Compresses blocks into a hash value in memory (FIPS 180-4 §6.2.2): the engine serves as a kernel of
    /// the SHA-256 in software.
    ///
    /// # Errors
    /// Those of the engine. The state is worthless then.
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
            self.command(Command::RESET.with_wipe(true));
        }
        done
    }

    fn compress_blocks(
        &mut self,
        state: &mut [u32; 8],
        blocks: &[[u8; BLOCK_LEN]],
    ) -> Result<(), Error> {
        self.configure(Control::RESET.with_mode(Mode::Sha256).with_digest_swap(true));
        for (register, word) in self.registers.digest().iter().zip(&*state) {
            register.write(*word);
        }
        self.registers.message_length_low().write(BLOCK_LEN as u32);
        self.registers.message_length_high().write(MessageLengthHigh::RESET);
        self.command(Command::RESET.with_resume(true));
        self.push(blocks.as_flattened());
        self.command(Command::RESET.with_stop(true));
        self.until(Status::state_valid)?;
        for (word, register) in state.iter_mut().zip(self.registers.digest().iter()) {
            *word = register.read();
        }
        match self.registers.error().read().to_bits() {
            0 => Ok(()),
            _ => Err(Error::Refused),
        }
    }

    /// Clears message, digest and key, and what was refused before.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.command(Command::RESET.with_wipe(true));
        self.until_idle()?;
        // Otherwise no later digest would count.
        let error = self.registers.error();
        error.write(error.read());
        Ok(())
    }

    #[inline(always)]
    fn configure(&mut self, control: Control) {
        self.registers.control().write(control);
        if W::BY_INTERRUPT {
            let enabled =
                InterruptEnable::RESET.with_done(true).with_fifo_empty(true).with_error(true);
            self.registers.interrupt_enable().write(enabled);
        }
    }

    /// K0 of FIPS 198-1 §4.
    fn write_key(&mut self, key: &[u8]) -> Result<(), Error> {
        if key.len() > BLOCK_LEN {
            return Err(Error::KeyTooLong);
        }
        let mut block = [0; BLOCK_LEN / 4];
        // SAFETY: every four bytes are a word.
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
    fn command(&mut self, command: Command) {
        self.registers.command().write(command);
    }

    /// Waits until everything is cleared: dozens of cycles, without an interrupt at the end.
    fn until_idle(&mut self) -> Result<(), Error> {
        self.until_polled(Status::idle, |_| ())
    }

    /// Waits until the status has the expected value.
    #[inline(always)]
    fn until(&mut self, is_wanted: impl Fn(Status) -> bool) -> Result<(), Error> {
        self.until_polled(is_wanted, |engine| {
            if W::BY_INTERRUPT {
                engine.wait.wait();
                // The status is read after this, so no earlier event is missed.
                let interrupt = engine.registers.interrupt();
                interrupt.write(interrupt.read());
            }
        })
    }

    #[inline(always)]
    fn until_polled(
        &mut self,
        is_wanted: impl Fn(Status) -> bool,
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
