//! The page of the noise source (`hw/soc/rtl/noise_source.sv`). It delivers samples that the hardware has tested; each
//! sample is read once.
//!
//! The samples are not conditioned. The hardware tests assume 16 bits of entropy in each sample.

/// Word offsets of the registers.
const DATA: usize = 0;
const STATUS: usize = 1;
/// Bits of the status register: a sample is available, the source is healthy, the source has failed.
const THERE: u32 = 1;
const HEALTHY: u32 = 2;
const FAILED: u32 = 4;
/// Maximum number of status reads before the source is treated as absent. The start-up test takes 1,024 samples and
/// begins at reset.
const PATIENCE: u32 = 20_000;

/// The reason why there is no noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The source did not pass its tests, and delivers nothing until reset.
    Failed,
    /// The source delivers nothing, or has not passed its start-up test in time.
    Silent,
}

/// The driver of the page of the noise source.
#[derive(Debug)]
pub struct NoiseSource(*mut u32);

impl NoiseSource {
    /// Creates the driver of the page at this address.
    ///
    /// # Safety
    /// The page is at this address, and no other code uses it.
    #[must_use]
    pub const unsafe fn new(base: *mut u32) -> Self {
        Self(base)
    }

    /// Reads two samples, which are 64 bits. `wait` is called before each further read of the status.
    ///
    /// # Errors
    /// `Failed`, `Silent`; then `bits` is zero.
    pub fn read(&mut self, bits: &mut [u8; 8], mut wait: impl FnMut()) -> Result<(), Error> {
        for to in bits.as_chunks_mut::<4>().0 {
            if let Err(error) = self.until_there(&mut wait) {
                bits.fill(0);
                return Err(error);
            }
            // SAFETY: a sample is available, so the read causes no bus error: only a read removes it, and no test fails
            // before the next sample arrives.
            *to = unsafe { self.word(DATA).read_volatile() }.to_le_bytes();
        }
        // The bus keeps the last value that was read, which must not be a sample.
        self.status();
        Ok(())
    }

    fn until_there(&self, wait: &mut impl FnMut()) -> Result<(), Error> {
        for _ in 0..PATIENCE {
            match self.status() & (FAILED | HEALTHY | THERE) {
                status if status & FAILED != 0 => return Err(Error::Failed),
                status if status == HEALTHY | THERE => return Ok(()),
                _ => wait(),
            }
        }
        Err(Error::Silent)
    }

    fn status(&self) -> u32 {
        // SAFETY: this is the status register, and reading it has no side effect.
        unsafe { self.word(STATUS).read_volatile() }
    }

    const fn word(&self, index: usize) -> *mut u32 {
        self.0.wrapping_add(index)
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers; a read does not remove a sample.

    use core::cell::Cell;

    use super::*;

    const SAMPLE: u32 = 0x4433_2211;

    fn page(status: u32) -> [Cell<u32>; 2] {
        [SAMPLE, status].map(Cell::new)
    }

    fn read(words: &[Cell<u32>; 2], wait: impl FnMut()) -> (Result<(), Error>, [u8; 8]) {
        // SAFETY: the cells may be written through a shared reference and outlive the driver in every test.
        let mut source = unsafe { NoiseSource::new(words.as_ptr().cast::<u32>().cast_mut()) };
        let mut bits = [0xee; 8];
        (source.read(&mut bits, wait), bits)
    }

    #[test]
    fn two_samples_are_bytes_in_the_order_of_memory() {
        let wanted = [0x11, 0x22, 0x33, 0x44, 0x11, 0x22, 0x33, 0x44];
        assert_eq!(read(&page(HEALTHY | THERE), || panic!("it waits")), (Ok(()), wanted));
    }

    #[test]
    fn waits_for_a_sample_and_for_health() {
        for first in [0, THERE, HEALTHY] {
            let (words, waits) = (page(first), Cell::new(0));
            let wait = || {
                waits.set(waits.get() + 1);
                if waits.get() == PATIENCE - 1 {
                    words[STATUS].set(HEALTHY | THERE);
                }
            };
            assert_eq!(read(&words, wait).0, Ok(()));
            assert_eq!(waits.get(), PATIENCE - 1);
        }
    }

    #[test]
    fn the_wait_has_an_end() {
        for status in [0, THERE, HEALTHY] {
            let mut waits = 0;
            assert_eq!(read(&page(status), || waits += 1), (Err(Error::Silent), [0; 8]));
            assert_eq!(waits, PATIENCE);
        }
    }

    /// The error is the same for any other status bits.
    #[test]
    fn a_source_that_failed_is_not_used() {
        for others in [0, THERE, HEALTHY, HEALTHY | THERE] {
            let failed = read(&page(FAILED | others), || panic!("it waits"));
            assert_eq!(failed, (Err(Error::Failed), [0; 8]));
        }
        let words = page(0);
        assert_eq!(read(&words, || words[STATUS].set(FAILED)), (Err(Error::Failed), [0; 8]));
    }
}
