//! A model of the SHA-2 engine's registers (`hw/ip/sha2/doc/README.md`): SHA-256 of a message from the FIFO or
//! the stream, where every result is available at once.
//!
//! The model does not implement: HMAC, whose commands are refused; keys, which nothing reads; interrupts;
//! detection of upsets in the engine's own state.

use hartlock_regs::sha2::Sha2Mode;
use sha2::block_api::compress256;

use super::registers::sha2 as register;

/// Value of the ID register: the letters `sha2` (`data/sha2.rdl`).
const MAGIC: u32 = u32::from_be_bytes(*b"sha2");
/// Initial hash value H⁽⁰⁾ of SHA-256 (FIPS 180-4 §5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
const BLOCK: usize = 64;

/// Contents of the `digest` registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Digest,
    State,
}

/// Registers of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    control: u32,
    error: u32,
    interrupt_enable: u32,
    /// Message length in the form in which software reads and writes it.
    length: u64,
    state: [u32; 8],
    shown: Shown,
    is_open: bool,
    /// True if a block was hashed since the start, so that the state can be saved.
    has_block: bool,
    /// Number of hashed bytes of the message, and the bytes of the incomplete block.
    hashed: u64,
    block: [u8; BLOCK],
    filled: usize,
}

impl Engine {
    /// Makes an engine after reset.
    pub const fn new() -> Self {
        Self {
            control: 0,
            error: 0,
            interrupt_enable: 0,
            length: 0,
            state: [0; 8],
            shown: Shown::Nothing,
            is_open: false,
            has_block: false,
            hashed: 0,
            block: [0; BLOCK],
            filled: 0,
        }
    }

    /// Reads a word. `None` is a bus error.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            register::ID => MAGIC,
            register::CONTROL => self.control,
            register::STATUS => self.status(),
            register::ERROR => self.error,
            // Interrupts are not modelled, because the ROM does not wait for any.
            register::INTERRUPT => 0,
            register::INTERRUPT_ENABLE => self.interrupt_enable,
            register::LENGTH_LOW => self.length as u32,
            register::LENGTH_HIGH => (self.length >> 32) as u32,
            register::DIGEST..register::DIGEST_END => {
                let index = (offset - register::DIGEST) as usize / 4;
                match self.shown {
                    Shown::Nothing => 0,
                    _ => self.ordered(self.state.get(index).copied().unwrap_or(0)),
                }
            }
            _ => return None,
        })
    }

    /// Writes a word. `None` is a bus error.
    pub fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        match offset {
            register::CONTROL if !self.is_open => self.control = value & 0xff & !(1 << 3),
            register::LENGTH_LOW if !self.is_open => {
                self.length = self.length >> 32 << 32 | u64::from(value);
            }
            register::LENGTH_HIGH if !self.is_open => {
                self.length = u64::from(value & 0x1fff_ffff) << 32 | u64::from(self.length as u32);
            }
            // The write is ignored while a message is being hashed.
            register::CONTROL | register::LENGTH_LOW | register::LENGTH_HIGH => {}
            register::COMMAND => self.command(value),
            register::ERROR => self.error &= !value,
            register::INTERRUPT => {}
            register::INTERRUPT_ENABLE => self.interrupt_enable = value & 7,
            register::KEY..register::KEY_END | register::DIGEST..register::DIGEST_END
                if self.is_open =>
            {
                self.error |= register::BAD_WRITE;
            }
            register::KEY..register::KEY_END => {}
            register::DIGEST..register::DIGEST_END => {
                let ordered = self.ordered(value);
                if let Some(word) = self.state.get_mut((offset - register::DIGEST) as usize / 4) {
                    *word = ordered;
                }
                self.shown = Shown::Nothing;
            }
            register::FIFO..register::FIFO_END => self.push(&value.to_le_bytes()),
            _ => return None,
        }
        Some(())
    }

    /// Appends bytes to the message.
    pub fn push(&mut self, bytes: &[u8]) {
        if !self.is_open || self.is_streaming() {
            self.error |= register::BAD_PUSH;
            return;
        }
        self.absorb(bytes);
    }

    /// Returns true if the current message comes from the stream.
    pub fn is_streaming(&self) -> bool {
        self.is_open && self.control & register::STREAM != 0
    }

    /// Appends bytes of the stream to the message.
    pub fn stream(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.absorb(&[*byte]));
    }

    /// Ends the stream: a complete message is finished, an aborted one is discarded.
    pub fn end_stream(&mut self, is_complete: bool) {
        if is_complete {
            self.finish();
        } else {
            self.end(Shown::Nothing);
            (self.state, self.filled) = ([0; 8], 0);
        }
    }

    fn absorb(&mut self, bytes: &[u8]) {
        let is_swapped = self.control & register::MESSAGE_SWAP != 0;
        for index in 0..bytes.len() {
            let at = if is_swapped { bytes.len() - 1 - index } else { index };
            self.block[self.filled] = bytes[at];
            self.filled += 1;
            if self.filled == BLOCK {
                self.compress();
            }
        }
    }

    fn compress(&mut self) {
        compress256(&mut self.state, &[self.block]);
        self.hashed += BLOCK as u64;
        self.filled = 0;
        self.has_block = true;
    }

    fn status(&self) -> u32 {
        let bit = |is_set: bool, mask: u32| if is_set { mask } else { 0 };
        bit(!self.is_open, register::IDLE)
            | bit(self.filled.is_multiple_of(4), register::FIFO_EMPTY)
            | bit(self.shown == Shown::Digest, register::DIGEST_VALID)
            | bit(self.shown == Shown::State, register::STATE_VALID)
    }

    /// Converts a digest word between hash value and register.
    fn ordered(&self, word: u32) -> u32 {
        if self.control & register::DIGEST_SWAP != 0 { word } else { word.swap_bytes() }
    }

    fn command(&mut self, command: u32) {
        let has = |mask: u32| command & mask != 0;
        let was_open = self.is_open;
        if has(register::START) || has(register::RESUME) {
            let is_sha256 =
                Sha2Mode::from_bits(self.control & register::MODE) == Some(Sha2Mode::Sha256);
            if was_open || !is_sha256 || has(register::START) == has(register::RESUME) {
                self.error |= register::BAD_COMMAND;
            } else {
                self.begin(has(register::RESUME));
            }
        }
        if has(register::PROCESS) {
            if was_open { self.finish() } else { self.error |= register::BAD_COMMAND }
        }
        if has(register::STOP) {
            match was_open {
                false => self.error |= register::BAD_COMMAND,
                true if self.filled > 0 || !self.has_block => self.error |= register::BAD_STOP,
                true => self.end(Shown::State),
            }
        }
        if has(register::ABORT) || has(register::WIPE) {
            self.end(Shown::Nothing);
            (self.state, self.filled) = ([0; 8], 0);
        }
    }

    fn begin(&mut self, resumes: bool) {
        if !resumes {
            self.state = INITIAL;
        }
        self.hashed = if resumes { self.length } else { 0 };
        self.shown = Shown::Nothing;
        (self.is_open, self.has_block, self.filled) = (true, false, 0);
    }

    /// Ends a message. If a digest or a state is shown, the length register takes the number of hashed bytes.
    fn end(&mut self, shown: Shown) {
        if shown != Shown::Nothing {
            self.length = self.hashed;
        }
        (self.shown, self.is_open) = (shown, false);
    }

    /// Appends the padding and finishes the message (FIPS 180-4 §5.1.1).
    fn finish(&mut self) {
        let len = self.hashed + self.filled as u64;
        self.absorb(&[0x80]);
        while self.filled != BLOCK - 8 {
            self.absorb(&[0]);
        }
        let bits = (len * 8).to_be_bytes();
        bits.iter().for_each(|byte| self.absorb(&[*byte]));
        self.hashed = len;
        self.end(Shown::Digest);
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    const SHA256: u32 = Sha2Mode::Sha256 as u32;

    fn digest(engine: &Engine) -> Vec<u8> {
        let words = (register::DIGEST..register::DIGEST + 32).step_by(4);
        words.flat_map(|offset| engine.read(offset).unwrap().to_le_bytes()).collect()
    }

    #[test]
    fn hashes_messages_of_every_length_around_a_block() {
        for len in [0, 1, 3, 55, 56, 63, 64, 65, 200] {
            let message: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let mut engine = Engine::new();
            engine.write(register::CONTROL, SHA256).unwrap();
            engine.write(register::COMMAND, register::START).unwrap();
            message.chunks(3).for_each(|piece| engine.push(piece));
            assert_eq!(engine.status() & register::DIGEST_VALID, 0);
            engine.write(register::COMMAND, register::PROCESS).unwrap();
            assert_eq!(digest(&engine), Sha256::digest(&message).to_vec(), "{len}");
            assert_eq!(engine.read(register::LENGTH_LOW), Some(len as u32));
        }
    }

    #[test]
    fn hashes_a_stream_and_forgets_one_that_fails() {
        let start = || {
            let mut engine = Engine::new();
            engine.write(register::CONTROL, SHA256 | register::STREAM).unwrap();
            engine.write(register::COMMAND, register::START).unwrap();
            engine.stream(&[7; 100]);
            engine
        };
        let mut engine = start();
        engine.end_stream(true);
        assert_eq!(digest(&engine), Sha256::digest([7; 100]).to_vec());
        let mut engine = start();
        engine.push(&[1]);
        assert_eq!(engine.read(register::ERROR), Some(register::BAD_PUSH));
        engine.end_stream(false);
        assert_eq!(digest(&engine), [0; 32]);
        assert_eq!(engine.status() & register::DIGEST_VALID, 0);
        assert!(!engine.is_streaming());
    }

    #[test]
    fn goes_on_from_a_state_that_it_left() {
        let message = [7; 192];
        let mut engine = Engine::new();
        engine.write(register::CONTROL, SHA256).unwrap();
        engine.write(register::COMMAND, register::START).unwrap();
        engine.push(&message[..64]);
        engine.write(register::COMMAND, register::STOP).unwrap();
        assert_ne!(engine.status() & register::STATE_VALID, 0);
        let state = digest(&engine);
        engine.write(register::COMMAND, register::WIPE).unwrap();
        assert_eq!(digest(&engine), [0; 32]);
        for (offset, word) in (register::DIGEST..).step_by(4).zip(state.as_chunks().0) {
            engine.write(offset, u32::from_le_bytes(*word)).unwrap();
        }
        engine.write(register::LENGTH_LOW, 64).unwrap();
        engine.write(register::COMMAND, register::RESUME).unwrap();
        engine.push(&message[64..]);
        engine.write(register::COMMAND, register::PROCESS).unwrap();
        assert_eq!(digest(&engine), Sha256::digest(message).to_vec());
        assert_eq!(engine.read(register::ERROR), Some(0));
    }

    #[test]
    fn what_comes_at_the_wrong_time_is_an_error_and_shows_nothing() {
        let error = |act: fn(&mut Engine)| {
            let mut engine = Engine::new();
            engine.write(register::CONTROL, SHA256).unwrap();
            act(&mut engine);
            assert_eq!(digest(&engine), [0; 32]);
            engine.read(register::ERROR).unwrap()
        };
        fn command(engine: &mut Engine, command: u32) {
            engine.write(register::COMMAND, command).unwrap();
        }
        assert_eq!(error(|engine| engine.push(&[1])), register::BAD_PUSH);
        assert_eq!(error(|engine| command(engine, register::STOP)), register::BAD_COMMAND);
        assert_eq!(
            error(|engine| {
                command(engine, register::START);
                engine.push(&[0; 63]);
                command(engine, register::STOP);
            }),
            register::BAD_STOP
        );
        assert_eq!(
            error(|engine| {
                command(engine, register::START);
                engine.write(register::DIGEST, 1).unwrap();
            }),
            register::BAD_WRITE
        );
        // The model does not implement HMAC.
        assert_eq!(
            error(|engine| {
                engine.write(register::CONTROL, Sha2Mode::HmacSha256 as u32).unwrap();
                command(engine, register::START);
            }),
            register::BAD_COMMAND
        );
        assert_eq!(Engine::new().read(register::COMMAND), None);
        assert_eq!(Engine::new().read(0x200), None);
    }
}
