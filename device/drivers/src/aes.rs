//! The AES engine (`hw/ip/aes`): ECB, CBC, CTR, GCM, and AES-KW (SP 800-38F) on top of ECB.
//!
//! The driver trusts the results of the engine, but not that it responds: every wait has a limit, and an engine with a
//! fault (`status.failed`) is not used until reset. Text goes by words of the processor, or by streams that the caller has
//! connected to DMA.
//!
//! A text of GCM is given out while it is decrypted, before its tag can be known. [`Aes::open`] therefore overwrites it with
//! zeros if the tag is wrong; a caller of [`Aes::begin`] has to do the same, and must not use a byte before
//! [`Aes::end`] has returned.

use hartlock_regs::Value;
use hartlock_regs::aes::{
    Aes as Registers, Command, Control, Error as ErrorBits, IvLen, KeyLen, Mode as ModeValue,
    Status, TagLen,
};

pub mod streamed;

/// Bytes of a block.
pub const BLOCK_LEN: usize = 16;
/// Bytes of a tag.
pub const TAG_LEN: usize = 16;
/// The longest key that [`Aes::wrap`] takes: a private key of RSA.
pub const MAX_WRAPPED_LEN: usize = 2048;
/// `aes1` in the register that says what it is.
const MAGIC: u32 = 0x6165_7331;
/// Maximum number of status reads before the engine is treated as absent. The longest wait is for a wipe, below two hundred
/// cycles.
const PATIENCE: u32 = 10_000;
/// Reads of the status while a block is computed.
const BLOCK_POLLS: u32 = 16;
/// SP 800-38F §6.2.
const KW_IV: Half = [0xa6a6_a6a6; 2];
/// Rounds over all halves.
const KW_ROUNDS: usize = 6;
/// Bytes of a half block, the unit of AES-KW.
const HALF_LEN: usize = 8;
/// A half block, as words in the byte order of memory: reversing bytes takes the core longer than the engine takes for a block.
type Half = [u32; HALF_LEN / 4];

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// It detected a fault, and does nothing until reset.
    Failed,
    /// It does not respond any more.
    Silent,
    /// It refused a command or a word: other code used it meanwhile, or no key is loaded.
    Refused,
    /// The engine is masked, and its noise source gives nothing or failed its health test. [`Aes::wipe`] tries again.
    Entropy,
    /// A key, vector, text or tag of a length that the mode does not have.
    Length,
    /// The text is not what was encrypted: tag or wrapped key are wrong.
    NotAuthentic,
}

/// A tag of GCM, as words in the byte order of memory, which cost less to move than bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag([u32; TAG_LEN / 4]);

/// What is computed, with its vector.
#[derive(Clone, Copy, Debug)]
pub enum Mode<'a> {
    /// Blocks one by one.
    Ecb,
    /// With an initialization vector.
    Cbc(&'a [u8; BLOCK_LEN]),
    /// With the counter of the first block; see [`counter_at`].
    Ctr(&'a [u8; BLOCK_LEN]),
    /// With a vector of 12 bytes, which must never be used again with this key, or of any other length.
    Gcm(&'a [u8]),
}

/// Encryption or decryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To ciphertext.
    Encrypt,
    /// To plaintext.
    Decrypt,
}

/// Ways of text and result, beside registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// The text comes from the stream port.
    pub input: bool,
    /// The result goes to the stream port.
    pub output: bool,
}

/// The counter of the block that has a byte of a stream in CTR: a text can be read from any offset. The remainder of the
/// offset is the number of bytes of that block before it.
#[must_use]
pub fn counter_at(first: &[u8; BLOCK_LEN], offset: u64) -> ([u8; BLOCK_LEN], usize) {
    let block = u128::from(offset / BLOCK_LEN as u64);
    let counter = u128::from_be_bytes(*first).wrapping_add(block);
    (counter.to_be_bytes(), (offset % BLOCK_LEN as u64) as usize)
}

/// The engine.
pub struct Aes {
    registers: Registers,
    is_masked: bool,
    key_len: KeyLen,
    /// Of the message.
    control: Control,
    /// The message has a tag, which has to match at its end.
    needs_tag: bool,
}

impl Tag {
    /// Its bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; TAG_LEN] {
        bytes(self.0)
    }
}

impl Aes {
    /// Takes the engine and wipes it.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `Silent`, `Entropy`.
    pub fn new(registers: Registers) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        let (key_len, control) = (KeyLen::Key256, Control::RESET);
        let is_masked = registers.parameters().read().masked();
        let mut engine = Self { registers, is_masked, key_len, control, needs_tag: false };
        engine.wipe()?;
        Ok(engine)
    }

    /// The engine computes on shares, and needs its noise source.
    #[must_use]
    pub const fn is_masked(&self) -> bool {
        self.is_masked
    }

    /// Overwrites key, vector and data, and waits for the start-up test of the noise source, if the engine needs one.
    ///
    /// # Errors
    /// `Failed`, `Silent`, `Entropy`.
    pub fn wipe(&mut self) -> Result<(), Error> {
        self.registers.command().write(Command::RESET.with_wipe(true));
        self.poll(|status| status.idle().then_some(Ok(())))?;
        if self.is_masked {
            let trusts = |status: Status| status.entropy_healthy().then_some(Ok(()));
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
    /// `Length` for other keys, or those of the engine.
    pub fn load_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let key_len = key_len(key.len()).ok_or(Error::Length)?;
        self.until(Status::idle)?;
        self.forget_errors();
        let (words, _) = key.as_chunks::<4>();
        for (register, word) in self.registers.key().iter().zip(words) {
            register.write(u32::from_le_bytes(*word));
        }
        // The register block keeps the last word that was written.
        self.registers.aad_len().write(0);
        self.key_len = key_len;
        self.check()
    }

    /// Takes the key of 32 bytes of the slot, which no software sees.
    ///
    /// # Errors
    /// `Refused` if there is none, or those of the engine.
    pub fn load_slot(&mut self) -> Result<(), Error> {
        self.until(Status::idle)?;
        self.forget_errors();
        self.registers.command().write(Command::RESET.with_load_slot(true));
        self.key_len = KeyLen::Key256;
        self.until(Status::idle)?;
        self.check()
    }

    /// A whole message in place by registers, for all modes but GCM.
    ///
    /// # Errors
    /// `Length` for no text or, but in CTR, for one that is no whole blocks; those of the engine.
    pub fn process(
        &mut self,
        mode: Mode<'_>,
        direction: Direction,
        text: &mut [u8],
    ) -> Result<(), Error> {
        if matches!(mode, Mode::Gcm(_)) {
            return Err(Error::Length);
        }
        self.begin(mode, direction, &[], text.len(), None, Streams::default())?;
        self.text(text)?;
        self.end()
    }

    /// Encrypts a message of GCM in place, and returns its tag.
    ///
    /// # Errors
    /// `Length` for a vector without bytes, or those of the engine.
    pub fn seal(&mut self, iv: &[u8], aad: &[u8], text: &mut [u8]) -> Result<[u8; TAG_LEN], Error> {
        let (mode, streams) = (Mode::Gcm(iv), Streams::default());
        self.begin(mode, Direction::Encrypt, aad, text.len(), None, streams)?;
        self.text(text)?;
        self.end()?;
        Ok(self.sealed()?.to_bytes())
    }

    /// Decrypts a message of GCM in place. If its tag is wrong, the text becomes zero.
    ///
    /// # Errors
    /// `NotAuthentic`; `Length` for a vector without bytes, or a tag of less than 4 or more than 16; those of the engine.
    pub fn open(
        &mut self,
        iv: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), Error> {
        let (mode, streams) = (Mode::Gcm(iv), Streams::default());
        let result = self
            .begin(mode, Direction::Decrypt, aad, text.len(), Some(tag), streams)
            .and_then(|()| self.text(text))
            .and_then(|()| self.end());
        if result.is_err() {
            text.fill(0);
        }
        result
    }

    /// Begins a message. A stream that is asked for carries the text; [`end`](Self::end) follows when it has passed. A
    /// decryption of GCM needs the tag.
    ///
    /// # Errors
    /// `Length`, or those of the engine.
    pub fn begin(
        &mut self,
        mode: Mode<'_>,
        direction: Direction,
        aad: &[u8],
        text_len: usize,
        tag: Option<&[u8]>,
        streams: Streams,
    ) -> Result<(), Error> {
        self.until(Status::idle)?;
        self.forget_errors();
        let registers = &self.registers;
        let (value, iv): (_, &[u8]) = match mode {
            Mode::Ecb => (ModeValue::Ecb, &[]),
            Mode::Cbc(iv) => (ModeValue::Cbc, iv),
            Mode::Ctr(counter) => (ModeValue::Ctr, counter),
            Mode::Gcm(iv) => (ModeValue::Gcm, iv),
        };
        let is_gcm = value == ModeValue::Gcm;
        let is_decryption = direction == Direction::Decrypt;
        if is_gcm && is_decryption != tag.is_some() {
            return Err(Error::Length);
        }
        let control = Control::RESET.with_mode(value).with_key_len(self.key_len);
        let control = control.with_decrypt(is_decryption);
        let control = control.with_stream_in(streams.input).with_stream_out(streams.output);
        registers.control().write(control);
        registers.text_len().write(length(text_len)?);
        registers.aad_len().write(length(aad.len())?);
        registers.iv_len().write(IvLen::from_bits(length(iv.len())?));
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
            registers.tag_len().write(TagLen::from_bits(size));
            for (register, word) in registers.tag().iter().zip(block_words(tag)) {
                register.write(word);
            }
        }
        registers.command().write(Command::RESET.with_start(true));
        self.control = control;
        self.needs_tag = tag.is_some();
        self.check()?;
        if !is_short_iv {
            self.feed(iv)?;
        }
        self.feed(aad)
    }

    /// The text of a message in place, by registers, in parts that are whole blocks except the last one.
    ///
    /// # Errors
    /// Those of the engine.
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
            // All four words have to be read, or the block stays.
            let last: [u8; BLOCK_LEN] = bytes(self.pull_block());
            rest.iter_mut().zip(last).for_each(|(to, from)| *to = from);
        }
        Ok(())
    }

    /// Waits until the first block of a text can be written: the engine expands a new key before.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn until_input(&self) -> Result<(), Error> {
        self.until(Status::input_free)
    }

    /// Waits until a result can be read.
    ///
    /// # Errors
    /// `Failed`, `Silent`, `Entropy`.
    #[inline(always)]
    pub fn until_result(&mut self) -> Result<(), Error> {
        // A block takes less. Nothing is between these reads: what goes wrong is for later.
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
        self.until(Status::output_valid)
    }

    /// Writes a block of the text, with its words in the byte order of memory, where one can be written: once
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
    /// `NotAuthentic`, `Length` if a stream ended at another place than it should, or those of the engine.
    #[inline(always)]
    pub fn end(&mut self) -> Result<(), Error> {
        self.until(Status::idle)?;
        // After an upset of the bus's handshakes each write has the word of the one before, or its address, and no error
        // tells. The configuration does, which can be written and read now, or a store into a block that is not wanted.
        self.registers.control().write(self.control);
        if self.registers.control().read().to_bits() != self.control.to_bits() {
            return Err(Error::Refused);
        }
        self.check()?;
        // No error is not enough: the engine has to say that the tag is right.
        if self.needs_tag && !self.registers.status().read().tag_matches() {
            return Err(Error::NotAuthentic);
        }
        Ok(())
    }

    /// The tag of a message of GCM that was encrypted, if it is read twice alike: nothing else tells that a word of it came
    /// from another address, an upset of the bus. A wipe meanwhile is an error.
    #[inline(always)]
    fn sealed(&self) -> Result<Tag, Error> {
        let (first, [a, b, c, d]) = (self.tag_words(), self.tag_words());
        self.check()?;
        // One by one, since a comparison of arrays is a call.
        let [e, f, g, h] = first;
        if (a, b, c, d) == (e, f, g, h) { Ok(Tag(first)) } else { Err(Error::Refused) }
    }

    #[inline(always)]
    fn tag_words(&self) -> [u32; TAG_LEN / 4] {
        let tag = self.registers.tag();
        let word = |index| tag.get(index).map_or(0, |register| register.read());
        [word(0), word(1), word(2), word(3)]
    }

    /// Gives a message up.
    ///
    /// # Errors
    /// `Failed`, `Silent`.
    pub fn abort(&mut self) -> Result<(), Error> {
        self.registers.command().write(Command::RESET.with_abort(true));
        self.until(Status::idle)
    }

    /// Wraps a key under the loaded one (SP 800-38F §6.2). The result has 8 bytes more. If there is none, it is zero: the steps
    /// begin with the key itself.
    ///
    /// # Errors
    /// `Length` if the key is no 16 to [`MAX_WRAPPED_LEN`] bytes, in steps of 8, or the result has another length; those
    /// of the engine.
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

    /// Unwraps a key. If it was not wrapped under the loaded one, the result is zero.
    ///
    /// # Errors
    /// `NotAuthentic`; `Length` as in [`wrap`](Self::wrap); those of the engine.
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

    /// Begins a message of ECB with a block for each step of AES-KW, and returns their number.
    fn kw_begin(&mut self, direction: Direction, key_len: usize) -> Result<u32, Error> {
        let steps = key_len / HALF_LEN * KW_ROUNDS;
        self.begin(Mode::Ecb, direction, &[], steps * BLOCK_LEN, None, Streams::default())?;
        self.until_input()?;
        length(steps)
    }

    /// A block of AES-KW: the first half goes to the next step, the second one stays.
    fn kw_step(&mut self, [a, b]: Half, half: &mut [u8; HALF_LEN]) -> Result<Half, Error> {
        let [c, d] = words(half);
        self.push_block([a, b, c, d]);
        self.until_result()?;
        let [a, b, c, d] = self.pull_block();
        *half = bytes([c, d]);
        Ok([a, b])
    }

    /// Blocks into `data_in`, the last one filled with zeros.
    fn feed(&self, data: &[u8]) -> Result<(), Error> {
        for block in data.chunks(BLOCK_LEN) {
            self.until(Status::input_free)?;
            for (register, word) in self.registers.data_in().iter().zip(block_words(block)) {
                register.write(word);
            }
        }
        Ok(())
    }

    /// Errors of an earlier message.
    fn forget_errors(&self) {
        let errors = self.registers.error();
        errors.write(errors.read());
    }

    /// Errors that the engine reported since they were cleared last, which this does.
    #[inline(always)]
    fn check(&self) -> Result<(), Error> {
        let errors = self.registers.error().read();
        if errors.to_bits() == 0 { Ok(()) } else { self.judge(errors) }
    }

    #[cold]
    #[inline(never)]
    fn judge(&self, errors: ErrorBits) -> Result<(), Error> {
        self.registers.error().write(errors);
        // A noise source that failed changes no result of the cipher without masks.
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

    /// Waits until the status has the expected value. The masked engine drops a message when its source fails.
    fn until(&self, is_wanted: impl Fn(Status) -> bool) -> Result<(), Error> {
        self.poll(|status| {
            if is_wanted(status) {
                Some(Ok(()))
            } else {
                (self.is_masked && !status.entropy_healthy()).then_some(Err(Error::Entropy))
            }
        })
    }

    /// Reads the status until it has an answer.
    fn poll(&self, answer: impl Fn(Status) -> Option<Result<(), Error>>) -> Result<(), Error> {
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

const fn key_len(bytes: usize) -> Option<KeyLen> {
    match bytes {
        16 => Some(KeyLen::Key128),
        24 => Some(KeyLen::Key192),
        32 => Some(KeyLen::Key256),
        _ => None,
    }
}

const fn is_wrappable(bytes: usize) -> bool {
    bytes >= BLOCK_LEN && bytes <= MAX_WRAPPED_LEN && bytes.is_multiple_of(HALF_LEN)
}

fn length(bytes: usize) -> Result<u32, Error> {
    u32::try_from(bytes).map_err(|_| Error::Length)
}

/// The four words of a block, filled with zeros.
fn block_words(data: &[u8]) -> [u32; BLOCK_LEN / 4] {
    let mut block = [0; BLOCK_LEN];
    block.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
    words(&block)
}

/// A first half with the number of a step of AES-KW, big-endian in its last bytes.
const fn numbered([high, low]: Half, step: u32) -> Half {
    [high, low ^ step.swap_bytes()]
}

/// A block, or a half of one, as words in the byte order of memory.
fn words<const BYTES: usize, const WORDS: usize>(block: &[u8; BYTES]) -> [u32; WORDS] {
    const { assert!(BYTES == 4 * WORDS) };
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The same back.
fn bytes<const BYTES: usize, const WORDS: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    const { assert!(BYTES == 4 * WORDS) };
    let mut bytes = [0; BYTES];
    for (part, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *part = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
pub(crate) mod tests;
