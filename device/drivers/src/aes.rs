//! The AES engine (`hw/ip/aes`): ECB, CBC, CTR, GCM, and AES-KW (SP 800-38F) on top of ECB.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. The processor transfers the text in words, or the caller connects
//! the engine's streams to DMA.
//!
//! The plaintext of a GCM message is output during decryption, before its tag is known. Therefore [`Aes::open`]
//! overwrites the text with zeros if the tag is wrong. A caller of [`Aes::begin`] has to do the same, and must not use
//! any byte before [`Aes::end`] has returned.

use hartlock_regs::Value;
use hartlock_regs::aes::{
    AesCommand, AesControl, AesError, AesIvLen, AesKeyLen, AesMode, AesRegisters, AesStatus,
    AesTagLen,
};

pub mod streamed;

/// Length of a block in bytes.
pub const BLOCK_LEN: usize = 16;
/// Length of a full GCM tag in bytes.
pub const TAG_LEN: usize = 16;
/// Maximum length in bytes of a key that [`Aes::wrap`] accepts. An RSA private key fits.
pub const MAX_WRAPPED_LEN: usize = 2048;
/// Value `aes1` of the identification register.
const MAGIC: u32 = 0x6165_7331;
/// Maximum number of status reads before the engine is treated as absent. The longest wait is for a wipe, which takes
/// less than two hundred cycles.
const PATIENCE: u32 = 10_000;
/// Number of status reads while a block is computed.
const BLOCK_POLLS: u32 = 16;
/// Initial value of AES-KW (SP 800-38F §6.2).
const KW_IV: Half = [0xa6a6_a6a6; 2];
/// Number of rounds over all half blocks in AES-KW.
const KW_ROUNDS: usize = 6;
/// Length in bytes of a half block, the unit of AES-KW.
const HALF_LEN: usize = 8;
/// A half block, as words in the byte order of memory. Reversing the bytes would take the core longer than the engine
/// takes for a block.
type Half = [u32; HALF_LEN / 4];

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// The engine detected a fault, and does nothing until reset.
    Failed,
    /// The engine does not respond.
    Silent,
    /// The engine refused a command or a word, because other code used it in the meantime or no key is loaded.
    Refused,
    /// The engine is masked, and its noise source delivers nothing or failed its health test. [`Aes::wipe`] tries
    /// again.
    Entropy,
    /// The length of a key, vector, text or tag is not valid for the mode.
    Length,
    /// The text was not encrypted with this key: the tag or the wrapped key is wrong.
    NotAuthentic,
}

/// A GCM tag, as words in the byte order of memory, which are cheaper to move than bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag([u32; TAG_LEN / 4]);

/// A mode of operation, with its initialization vector or counter.
#[derive(Clone, Copy, Debug)]
pub enum ModeOfOperation<'a> {
    /// Each block is encrypted independently.
    Ecb,
    /// The value is the initialization vector.
    Cbc(&'a [u8; BLOCK_LEN]),
    /// The value is the counter of the first block; see [`counter_at`].
    Ctr(&'a [u8; BLOCK_LEN]),
    /// The value is the initialization vector. A vector of 12 bytes must never be used again with the same key; any
    /// other length is also supported.
    Gcm(&'a [u8]),
}

/// The direction of a cipher operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Plaintext to ciphertext.
    Encrypt,
    /// Ciphertext to plaintext.
    Decrypt,
}

/// The paths of text and result, which otherwise pass through registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// True if the text comes from the stream port.
    pub input: bool,
    /// True if the result goes to the stream port.
    pub output: bool,
}

/// Returns the CTR counter of the block that contains the byte at `offset`, so that a text can be read from any offset.
/// Also returns the number of bytes of that block before the offset.
#[must_use]
pub fn counter_at(first: &[u8; BLOCK_LEN], offset: u64) -> ([u8; BLOCK_LEN], usize) {
    let block = u128::from(offset / BLOCK_LEN as u64);
    let counter = u128::from_be_bytes(*first).wrapping_add(block);
    (counter.to_be_bytes(), (offset % BLOCK_LEN as u64) as usize)
}

/// The driver of the AES engine.
pub struct Aes {
    registers: AesRegisters,
    is_masked: bool,
    key_len: AesKeyLen,
    /// Configuration of the current message.
    control: AesControl,
    /// True if the message has a tag that has to match at its end.
    needs_tag: bool,
}

impl Tag {
    /// Returns the bytes of the tag.
    #[must_use]
    pub fn to_bytes(self) -> [u8; TAG_LEN] {
        bytes(self.0)
    }
}

impl Aes {
    /// Initialises the driver and wipes the engine.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`, `Entropy`.
    pub fn new(registers: AesRegisters) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let (key_len, control) = (AesKeyLen::Key256, AesControl::RESET);
        let is_masked = registers.parameters().read().masked();
        let mut engine = Self { registers, is_masked, key_len, control, needs_tag: false };
        engine.wipe()?;
        Ok(engine)
    }

    /// Returns true if the engine computes on shares (masking), which needs its noise source.
    #[must_use]
    pub const fn is_masked(&self) -> bool {
        self.is_masked
    }

    /// Overwrites key, vector and data, and waits for the start-up test of the noise source if the engine needs one.
    ///
    /// # Errors
    /// `Failed`, `Silent`, `Entropy`.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.registers.command().write(AesCommand::RESET.with_wipe(true));
        self.poll(|status| status.idle().then_some(Ok(())))?;
        if self.is_masked {
            let trusts = |status: AesStatus| status.entropy_healthy().then_some(Ok(()));
            return self.poll(trusts).map_err(|error| match error {
                Error::Silent => Error::Entropy,
                other => other,
            });
        }
        Ok(())
    }

    /// Loads a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    /// `Length` for any other length, or the errors of the engine.
    pub fn load_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let key_len = key_len(key.len()).ok_or(Error::Length)?;
        self.until(AesStatus::idle)?;
        self.forget_errors();
        let (words, _) = key.as_chunks::<4>();
        for (register, word) in self.registers.key().iter().zip(words) {
            register.write(u32::from_le_bytes(*word));
        }
        // The register block keeps the last written word, so it is overwritten with zero.
        self.registers.aad_len().write(0);
        self.key_len = key_len;
        self.check()
    }

    /// Loads the 32-byte key of the key slot, which software cannot read.
    ///
    /// # Errors
    /// `Refused` if the slot holds no key, or the errors of the engine.
    pub fn load_slot(&mut self) -> Result<(), Error> {
        self.until(AesStatus::idle)?;
        self.forget_errors();
        self.registers.command().write(AesCommand::RESET.with_load_slot(true));
        self.key_len = AesKeyLen::Key256;
        self.until(AesStatus::idle)?;
        self.check()
    }

    /// Processes a whole message in place through registers, in any mode except GCM.
    ///
    /// # Errors
    /// `Length` for an empty text or, except in CTR, for a text that does not consist of whole blocks; the errors of
    /// the engine.
    pub fn process(
        &mut self,
        mode: ModeOfOperation<'_>,
        direction: Direction,
        text: &mut [u8],
    ) -> Result<(), Error> {
        if matches!(mode, ModeOfOperation::Gcm(_)) {
            return Err(Error::Length);
        }
        self.begin(mode, direction, &[], text.len(), None, Streams::default())?;
        self.text(text)?;
        self.end()
    }

    /// Encrypts a GCM message in place, and returns its tag.
    ///
    /// # Errors
    /// `Length` for an empty vector, or the errors of the engine.
    pub fn seal(&mut self, iv: &[u8], aad: &[u8], text: &mut [u8]) -> Result<[u8; TAG_LEN], Error> {
        let (mode, streams) = (ModeOfOperation::Gcm(iv), Streams::default());
        self.begin(mode, Direction::Encrypt, aad, text.len(), None, streams)?;
        self.text(text)?;
        self.end()?;
        Ok(self.sealed()?.to_bytes())
    }

    /// Decrypts a GCM message in place. If the tag is wrong, the text is overwritten with zeros.
    ///
    /// # Errors
    /// `NotAuthentic`; `Length` for an empty vector or a tag of less than 4 or more than 16 bytes; the errors of the
    /// engine.
    pub fn open(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        let (mode, streams) = (ModeOfOperation::Gcm(iv), Streams::default());
        let result = self
            .begin(mode, Direction::Decrypt, aad, text.len(), Some(tag), streams)
            .and_then(|()| self.text(text))
            .and_then(|()| self.end());
        if result.is_err() {
            text.fill(0);
        }
        result
    }

    /// Begins a message. If a stream is selected, it carries the text, and [`end`](Self::end) follows when all of the
    /// text has passed. The decryption of a GCM message needs the tag.
    ///
    /// # Errors
    /// `Length`, or the errors of the engine.
    pub fn begin(
        &mut self,
        mode: ModeOfOperation<'_>,
        direction: Direction,
        aad: &[u8],
        text_len: usize,
        tag: Option<&[u8]>,
        streams: Streams,
    ) -> Result<(), Error> {
        self.until(AesStatus::idle)?;
        self.forget_errors();
        let registers = &self.registers;
        let (value, iv): (_, &[u8]) = match mode {
            ModeOfOperation::Ecb => (AesMode::Ecb, &[]),
            ModeOfOperation::Cbc(iv) => (AesMode::Cbc, iv),
            ModeOfOperation::Ctr(counter) => (AesMode::Ctr, counter),
            ModeOfOperation::Gcm(iv) => (AesMode::Gcm, iv),
        };
        let is_gcm = value == AesMode::Gcm;
        let is_decryption = direction == Direction::Decrypt;
        if is_gcm && is_decryption != tag.is_some() {
            return Err(Error::Length);
        }
        let control = AesControl::RESET.with_mode(value).with_key_len(self.key_len);
        let control = control.with_decrypt(is_decryption);
        let control = control.with_stream_in(streams.input).with_stream_out(streams.output);
        registers.control().write(control);
        registers.text_len().write(length(text_len)?);
        registers.aad_len().write(length(aad.len())?);
        registers.iv_len().write(AesIvLen::from_bits(length(iv.len())?));
        let is_short_iv = !is_gcm || iv.len() == 12;
        if is_short_iv {
            let (words, _) = iv.as_chunks::<4>();
            for (register, word) in registers.iv().iter().zip(words) {
                register.write(u32::from_le_bytes(*word));
            }
        }
        if let Some(tag) = tag {
            let size = u32::try_from(tag.len()).map_err(|_| Error::Length)?;
            if !(4..=TAG_LEN).contains(&tag.len()) {
                return Err(Error::Length);
            }
            registers.tag_len().write(AesTagLen::from_bits(size));
            for (register, word) in registers.tag().iter().zip(block_words(tag)) {
                register.write(word);
            }
        }
        registers.command().write(AesCommand::RESET.with_start(true));
        self.control = control;
        self.needs_tag = tag.is_some();
        self.check()?;
        if !is_short_iv {
            self.feed(iv)?;
        }
        self.feed(aad)
    }

    /// Processes the text of a message in place through registers, in parts. All parts except the last consist of whole
    /// blocks.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn text(&mut self, text: &mut [u8]) -> Result<(), Error> {
        let (blocks, rest) = text.as_chunks_mut::<BLOCK_LEN>();
        if !blocks.is_empty() {
            self.until_input()?;
        }
        for block in blocks {
            self.push_block(words(block));
            self.until_result()?;
            *block = bytes(self.pull_block());
        }
        if !rest.is_empty() {
            self.feed(rest)?;
            self.until_result()?;
            // All four words have to be read, else the block remains in the engine.
            let last: [u8; BLOCK_LEN] = bytes(self.pull_block());
            rest.iter_mut().zip(last).for_each(|(to, from)| *to = from);
        }
        Ok(())
    }

    /// Waits until the first block of a text can be written. Before that the engine expands a new key.
    ///
    /// # Errors
    /// The errors of the engine.
    pub fn until_input(&self) -> Result<(), Error> {
        self.until(AesStatus::input_free)
    }

    /// Waits until a result can be read.
    ///
    /// # Errors
    /// `Failed`, `Silent`, `Entropy`.
    #[inline(always)]
    pub fn until_result(&mut self) -> Result<(), Error> {
        // A block takes less time than these reads. No other check is done between them; errors are handled later.
        for _ in 0..BLOCK_POLLS {
            if self.registers.status().read().output_valid() {
                return Ok(());
            }
        }
        self.until_late_result()
    }

    #[cold]
    #[inline(never)]
    fn until_late_result(&self) -> Result<(), Error> {
        self.until(AesStatus::output_valid)
    }

    /// Writes a block of the text, with its words in the byte order of memory. This is allowed after
    /// [`until_input`](Self::until_input) has returned, and after each result that was read.
    #[inline(always)]
    pub fn push_block(&mut self, block: [u32; BLOCK_LEN / 4]) {
        for (register, word) in self.registers.data_in().iter().zip(block) {
            register.write(word);
        }
    }

    /// Reads a result that [`until_result`](Self::until_result) has waited for.
    #[inline(always)]
    pub fn pull_block(&mut self) -> [u32; BLOCK_LEN / 4] {
        let mut block = [0; BLOCK_LEN / 4];
        for (word, register) in block.iter_mut().zip(self.registers.data_out().iter()) {
            *word = register.read();
        }
        block
    }

    /// Waits for the end of a message.
    ///
    /// # Errors
    /// `NotAuthentic`; `Length` if a stream ended at an unexpected position; or the errors of the engine.
    #[inline(always)]
    pub fn end(&mut self) -> Result<(), Error> {
        self.until(AesStatus::idle)?;
        // After an upset of the bus handshakes each write may carry the word of the previous write, or its address, and
        // no error reports this. Writing and reading back the configuration, which is possible here, reveals it.
        self.registers.control().write(self.control);
        if self.registers.control().read().to_bits() != self.control.to_bits() {
            return Err(Error::Refused);
        }
        self.check()?;
        // The absence of an error is not sufficient: the engine has to confirm that the tag is right.
        if self.needs_tag && !self.registers.status().read().tag_matches() {
            return Err(Error::NotAuthentic);
        }
        Ok(())
    }

    /// Returns the tag of an encrypted GCM message if two reads of it agree. No other check detects that an upset of
    /// the bus delivered a word from another address. A wipe in the meantime is an error.
    #[inline(always)]
    fn sealed(&self) -> Result<Tag, Error> {
        let (first, [a, b, c, d]) = (self.tag_words(), self.tag_words());
        self.check()?;
        // The words are compared one by one, because a comparison of arrays would be a function call.
        let [e, f, g, h] = first;
        if (a, b, c, d) == (e, f, g, h) { Ok(Tag(first)) } else { Err(Error::Refused) }
    }

    #[inline(always)]
    fn tag_words(&self) -> [u32; TAG_LEN / 4] {
        let tag = self.registers.tag();
        let word = |index| tag.get(index).map_or(0, |register| register.read());
        [word(0), word(1), word(2), word(3)]
    }

    /// Aborts a message.
    ///
    /// # Errors
    /// `Failed`, `Silent`.
    pub fn abort(&mut self) -> Result<(), Error> {
        self.registers.command().write(AesCommand::RESET.with_abort(true));
        self.until(AesStatus::idle)
    }

    /// Wraps a key with the loaded key (SP 800-38F §6.2). The result is 8 bytes longer. After an error it is
    /// overwritten with zeros, because the first steps contain the key itself.
    ///
    /// # Errors
    /// `Length` if the key does not have 16 to [`MAX_WRAPPED_LEN`] bytes in steps of 8, or if the result has the wrong
    /// length; the errors of the engine.
    pub fn wrap(&mut self, key: &[u8], wrapped: &mut [u8]) -> Result<(), Error> {
        if !is_wrappable(key.len()) || wrapped.len() != key.len() + HALF_LEN {
            return Err(Error::Length);
        }
        let result = self.wrap_steps(key, wrapped);
        if result.is_err() {
            wrapped.fill(0);
        }
        result
    }

    fn wrap_steps(&mut self, key: &[u8], wrapped: &mut [u8]) -> Result<(), Error> {
        let (head, halves) = wrapped.split_first_chunk_mut::<HALF_LEN>().ok_or(Error::Length)?;
        halves.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        let mut first = KW_IV;
        let steps = self.kw_begin(Direction::Encrypt, halves.len())?;
        let mut step = 0;
        while step < steps {
            for half in halves.as_chunks_mut().0 {
                step = step.wrapping_add(1);
                first = numbered(self.kw_step(first, half)?, step);
            }
        }
        self.end()?;
        *head = bytes(first);
        Ok(())
    }

    /// Unwraps a key. If it was not wrapped with the loaded key, the result is zero.
    ///
    /// # Errors
    /// `NotAuthentic`; `Length` as in [`wrap`](Self::wrap); the errors of the engine.
    pub fn unwrap_key(&mut self, wrapped: &[u8], key: &mut [u8]) -> Result<(), Error> {
        if !is_wrappable(key.len()) || wrapped.len() != key.len() + HALF_LEN {
            return Err(Error::Length);
        }
        let result = self.unwrap_steps(wrapped, key);
        if result != Ok(KW_IV) {
            key.fill(0);
        }
        if result? == KW_IV { Ok(()) } else { Err(Error::NotAuthentic) }
    }

    fn unwrap_steps(&mut self, wrapped: &[u8], key: &mut [u8]) -> Result<Half, Error> {
        let (head, halves) = wrapped.split_first_chunk::<HALF_LEN>().ok_or(Error::Length)?;
        key.iter_mut().zip(halves).for_each(|(to, from)| *to = *from);
        let mut first = words(head);
        let mut step = self.kw_begin(Direction::Decrypt, key.len())?;
        while step > 0 {
            for half in key.as_chunks_mut().0.iter_mut().rev() {
                first = self.kw_step(numbered(first, step), half)?;
                step = step.saturating_sub(1);
            }
        }
        self.end()?;
        Ok(first)
    }

    /// Begins an ECB message with one block for each step of AES-KW, and returns the number of steps.
    fn kw_begin(&mut self, direction: Direction, key_len: usize) -> Result<u32, Error> {
        let steps = key_len / HALF_LEN * KW_ROUNDS;
        self.begin(
            ModeOfOperation::Ecb,
            direction,
            &[],
            steps * BLOCK_LEN,
            None,
            Streams::default(),
        )?;
        self.until_input()?;
        length(steps)
    }

    /// Computes one step of AES-KW: returns the first half of the block for the next step, and stores the second one in
    /// `half`.
    fn kw_step(&mut self, [a, b]: Half, half: &mut [u8; HALF_LEN]) -> Result<Half, Error> {
        let [c, d] = words(half);
        self.push_block([a, b, c, d]);
        self.until_result()?;
        let [a, b, c, d] = self.pull_block();
        *half = bytes([c, d]);
        Ok([a, b])
    }

    /// Writes blocks to `data_in`; the last one is filled with zeros.
    fn feed(&self, data: &[u8]) -> Result<(), Error> {
        for block in data.chunks(BLOCK_LEN) {
            self.until(AesStatus::input_free)?;
            for (register, word) in self.registers.data_in().iter().zip(block_words(block)) {
                register.write(word);
            }
        }
        Ok(())
    }

    /// Clears the errors of an earlier message.
    fn forget_errors(&self) {
        let errors = self.registers.error();
        errors.write(errors.read());
    }

    /// Returns the errors that the engine has reported since they were last cleared, and clears them.
    #[inline(always)]
    fn check(&self) -> Result<(), Error> {
        let errors = self.registers.error().read();
        if errors.to_bits() == 0 { Ok(()) } else { self.judge(errors) }
    }

    #[cold]
    #[inline(never)]
    fn judge(&self, errors: AesError) -> Result<(), Error> {
        self.registers.error().write(errors);
        // A failed noise source does not change the results of an unmasked cipher.
        if errors.entropy() && self.is_masked {
            Err(Error::Entropy)
        } else if errors.tag() {
            Err(Error::NotAuthentic)
        } else if errors.length() || errors.stream() || errors.iv() {
            Err(Error::Length)
        } else if errors.with_entropy(false).to_bits() != 0 {
            Err(Error::Refused)
        } else {
            Ok(())
        }
    }

    /// Waits until the status has the expected value. A masked engine drops a message when its noise source fails.
    fn until(&self, is_wanted: impl Fn(AesStatus) -> bool) -> Result<(), Error> {
        self.poll(|status| {
            if is_wanted(status) {
                Some(Ok(()))
            } else {
                (self.is_masked && !status.entropy_healthy()).then_some(Err(Error::Entropy))
            }
        })
    }

    /// Reads the status until `answer` returns a result.
    fn poll(&self, answer: impl Fn(AesStatus) -> Option<Result<(), Error>>) -> Result<(), Error> {
        for _ in 0..PATIENCE {
            let status = self.registers.status().read();
            if status.failed() {
                return Err(Error::Failed);
            }
            if let Some(result) = answer(status) {
                return result;
            }
        }
        Err(Error::Silent)
    }
}

const fn key_len(bytes: usize) -> Option<AesKeyLen> {
    match bytes {
        16 => Some(AesKeyLen::Key128),
        24 => Some(AesKeyLen::Key192),
        32 => Some(AesKeyLen::Key256),
        _ => None,
    }
}

const fn is_wrappable(bytes: usize) -> bool {
    bytes >= BLOCK_LEN && bytes <= MAX_WRAPPED_LEN && bytes.is_multiple_of(HALF_LEN)
}

fn length(bytes: usize) -> Result<u32, Error> {
    u32::try_from(bytes).map_err(|_| Error::Length)
}

/// Returns the four words of a block that is filled with zeros.
fn block_words(data: &[u8]) -> [u32; BLOCK_LEN / 4] {
    let mut block = [0; BLOCK_LEN];
    block.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
    words(&block)
}

/// Combines the first half with the number of an AES-KW step, which is big-endian in the last bytes.
const fn numbered([high, low]: Half, step: u32) -> Half {
    [high, low ^ step.swap_bytes()]
}

/// Converts a block or half block to words in the byte order of memory.
fn words<const BYTES: usize, const WORDS: usize>(block: &[u8; BYTES]) -> [u32; WORDS] {
    const { assert!(BYTES == 4 * WORDS) };
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Converts words back to bytes.
fn bytes<const BYTES: usize, const WORDS: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    const { assert!(BYTES == 4 * WORDS) };
    let mut bytes = [0; BYTES];
    for (part, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *part = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests;
