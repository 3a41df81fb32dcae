//! A model of the SHA-3 engine for the words that the ROM of the root of trust pushes: short messages for its known
//! answers. Streams are not supported, because the bundles of the campaigns use other hashes.

use sha3::{Digest, Sha3_256, Sha3_384, Sha3_512};

use super::registers::sha3 as register;

/// Maximum length of a message in bytes, which is more than the known answers need.
const ROOM: usize = 64;

/// The engine and the message that was pushed.
#[derive(Clone, Copy, Debug)]
pub struct Sha3 {
    control: u32,
    low: u32,
    final_size: u32,
    message: [u8; ROOM],
    len: usize,
    is_open: bool,
    digest: Option<[u8; 64]>,
}

impl Sha3 {
    pub const fn new() -> Self {
        Self {
            control: 0,
            low: 0,
            final_size: 0,
            message: [0; ROOM],
            len: 0,
            is_open: false,
            digest: None,
        }
    }

    pub fn read(&self, offset: u32) -> Option<u32> {
        let digest = offset.wrapping_sub(register::DIGEST) / 4;
        match offset {
            register::ID => Some(u32::from_be_bytes(*b"sha3")),
            register::STATUS => {
                let shown = if self.digest.is_some() { register::DIGEST_VALID } else { 0 };
                Some(if self.is_open { 0 } else { register::IDLE } | shown)
            }
            // The engine refuses nothing that the ROM does, so it has no error.
            register::ERROR => Some(0),
            register::DIGEST.. if digest < 16 => {
                let bytes = self.digest.unwrap_or([0; 64]);
                let (words, _) = bytes.as_chunks();
                words.get(digest as usize).map(|word| u32::from_le_bytes(*word))
            }
            _ => None,
        }
    }

    pub fn write(&mut self, offset: u32, word: u32) -> Option<()> {
        match offset {
            register::CONTROL => self.control = word,
            register::COMMAND if word & register::START != 0 => {
                *self = Self { control: self.control, is_open: true, ..Self::new() };
            }
            register::COMMAND => *self = Self { control: self.control, ..Self::new() },
            register::ERROR | register::INTERRUPT | register::INTERRUPT_ENABLE => {}
            register::FINAL_SIZE => self.final_size = word,
            register::DATA => self.low = word,
            register::DATA_HIGH if self.is_open => {
                self.push(u64::from(word) << 32 | u64::from(self.low))
            }
            register::DATA_HIGH => {}
            _ => return None,
        }
        Some(())
    }

    fn push(&mut self, word: u64) {
        let is_last = self.final_size & register::LAST != 0;
        let count = if is_last { (self.final_size & register::SIZE) as usize } else { 8 };
        let end = (self.len + count).min(ROOM);
        let bytes = word.to_le_bytes();
        self.message[self.len..end].iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        self.len = end;
        if is_last {
            self.is_open = false;
            self.digest = self.compute();
        }
    }

    fn compute(&self) -> Option<[u8; 64]> {
        let message = &self.message[..self.len];
        let mut digest = [0; 64];
        let mut put = |bytes: &[u8]| digest[..bytes.len()].copy_from_slice(bytes);
        match self.control & register::MODE {
            register::SHA3_256 => put(&Sha3_256::digest(message)),
            register::SHA3_384 => put(&Sha3_384::digest(message)),
            register::SHA3_512 => put(&Sha3_512::digest(message)),
            _ => return None,
        }
        Some(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_pushed_has_its_digest() {
        let known: [(u32, Vec<u8>); 3] = [
            (register::SHA3_256, Sha3_256::digest(b"abc").to_vec()),
            (register::SHA3_384, Sha3_384::digest(b"abc").to_vec()),
            (register::SHA3_512, Sha3_512::digest(b"abc").to_vec()),
        ];
        for (mode, digest) in known {
            let mut engine = Sha3::new();
            let word = u32::from_le_bytes(*b"abc\0");
            let steps = [
                (register::CONTROL, mode),
                (register::COMMAND, register::START),
                (register::FINAL_SIZE, register::LAST | 3),
                (register::DATA, word),
                (register::DATA_HIGH, 0),
            ];
            steps.into_iter().for_each(|(offset, word)| engine.write(offset, word).unwrap());
            let given: Vec<u8> = (0..digest.len() as u32 / 4)
                .flat_map(|at| engine.read(register::DIGEST + 4 * at).unwrap().to_le_bytes())
                .collect();
            assert_eq!(given, digest);
        }
    }
}
