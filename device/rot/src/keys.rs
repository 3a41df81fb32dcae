//! Requests with keys (feature `keys`, `spec/requests.md`): their records are copied from the host's memory, and served by the
//! engines for AES and for big numbers.
//!
//! The engines' pages are empty on machines without them: an access traps there.

use hartlock_drivers::mailbox::Answer;
use hartlock_drivers::mailbox::key_engines::Hardware;
use hartlock_drivers::mailbox::keys::{BUFFER_LEN, Keys, used_len};
use hartlock_drivers::mailbox::request::{Operation, Permitted, Refusal};

use crate::{AES, BIGNUM, NOISE_SOURCE, host, wipe_stack};

/// Keys, and the record of the request that is served: the scratchpad, which only the root of trust reaches.
static mut KEYS: Keys = Keys::new();
static mut BUFFER: Buffer = Buffer([0; BUFFER_LEN]);

/// Aligned, so that words of the host's memory are copied as words.
#[repr(align(4))]
struct Buffer([u8; BUFFER_LEN]);

/// What serves requests with keys.
pub struct Service {
    engines: Option<Hardware>,
    keys: &'static mut Keys,
    buffer: &'static mut [u8; BUFFER_LEN],
}

impl Service {
    /// Takes the engines. Called once.
    pub fn take() -> Self {
        let (keys, buffer) = (&raw mut KEYS, &raw mut BUFFER);
        // SAFETY: this is its only user.
        let keys = unsafe { &mut *keys };
        // SAFETY: likewise.
        let Buffer(buffer) = unsafe { &mut *buffer };
        Self { engines: engines(), keys, buffer }
    }

    /// Serves a request, and leaves its result in memory and answer.
    ///
    /// # Errors
    /// A refusal; then nothing was written, or memory did not take all of it.
    pub fn serve(&mut self, permitted: Permitted, answer: &mut Answer) -> Result<(), Refusal> {
        let result = self.serve_copy(permitted, answer);
        // The rest is zero.
        let len = usize::try_from(permitted.input.size()).unwrap_or(BUFFER_LEN);
        self.buffer.iter_mut().take(used_len(len)).for_each(|byte| *byte = 0);
        if permitted.operation == Operation::ImportKey {
            // Copies of the key that the compiler made.
            wipe_stack();
        }
        result
    }

    /// In a frame of its own, which is below the stack pointer when it has returned.
    #[inline(never)]
    fn serve_copy(
        &mut self,
        Permitted { operation, input, output }: Permitted,
        answer: &mut Answer,
    ) -> Result<(), Refusal> {
        let len = usize::try_from(input.size()).map_err(|_| Refusal::TooLong)?;
        let record = self.buffer.get_mut(..len).ok_or(Refusal::TooLong)?;
        // Each byte is read once: what the host changes from now on changes nothing.
        host::read(input.start, record).map_err(|_| Refusal::Failed)?;
        let done = self.keys.serve(self.engines.as_mut(), operation, self.buffer, len)?;
        if let Some(output) = output {
            // The room that was judged has at least so many bytes.
            let result = self.buffer.get(done.range).ok_or(Refusal::Failed)?;
            host::write(output.start, result).map_err(|_| Refusal::Failed)?;
        }
        if let Some(word) = answer.result.first_mut() {
            *word = done.word;
        }
        Ok(())
    }
}

fn engines() -> Option<Hardware> {
    let [aes, numbers, noise] =
        [AES, BIGNUM, NOISE_SOURCE].map(core::ptr::with_exposed_provenance_mut);
    // SAFETY: their pages, of which this is the only user: the kernel that verified the bundle is not called any more.
    unsafe { Hardware::at(aes, numbers, noise) }
}
