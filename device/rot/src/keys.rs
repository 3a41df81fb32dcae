//! Requests with keys (feature `keys`, `spec/requests.md`). Their records are copied from the host's memory, and the
//! AES engine and the big-number engine serve them.
//!
//! On machines without these engines their pages are empty, and an access to them traps.

use hartlock_drivers::aes::Aes;
use hartlock_drivers::bignum::Bignum;
use hartlock_drivers::mailbox::Answer;
use hartlock_drivers::mailbox::request::{Operation, Permitted, Refusal};
use hartlock_drivers::noise_source::NoiseSource;
use hartlock_drivers::wait::Polling;
use hartlock_kernels::secret::wipe;
use hartlock_keystore::engines::HardwareKeyEngines;
use hartlock_keystore::keys::{BUFFER_LEN, KeyStore, used_len};
use hartlock_regs::Block;

use crate::{AES, BIGNUM, NOISE_SOURCE, host, wipe_stack};

/// These are the keys, and the record of the current request. Both are in the scratchpad, which only the root of trust
/// can access.
static mut KEYS: KeyStore = KeyStore::new();
static mut BUFFER: Buffer = Buffer([0; BUFFER_LEN]);

/// A buffer that is aligned, so that words of the host's memory are copied as words.
#[repr(align(4))]
struct Buffer([u8; BUFFER_LEN]);

/// The service for requests with keys.
pub struct KeyService {
    engines: Option<HardwareKeyEngines>,
    keys: &'static mut KeyStore,
    buffer: &'static mut [u8; BUFFER_LEN],
}

impl KeyService {
    /// Initialises the engines. This function is called once.
    pub fn take() -> Self {
        let (keys, buffer) = (&raw mut KEYS, &raw mut BUFFER);
        // SAFETY: this is the only user of the keys.
        let keys = unsafe { &mut *keys };
        // SAFETY: this is the only user of the buffer.
        let Buffer(buffer) = unsafe { &mut *buffer };
        Self { engines: engines(), keys, buffer }
    }

    /// Serves a request, and writes its result to the host's memory and into the answer.
    ///
    /// # Errors
    /// A refusal. Then no result was written, or the write to memory was not completed.
    pub fn serve(&mut self, permitted: Permitted, answer: &mut Answer) -> Result<(), Refusal> {
        let result = self.serve_copy(permitted, answer);
        // The rest of the buffer is already zero.
        let len = usize::try_from(permitted.input.size()).unwrap_or(BUFFER_LEN);
        wipe(self.buffer.get_mut(..used_len(len)).unwrap_or_default());
        if permitted.operation == Operation::ImportKey {
            // The compiler may have left copies of the key on the stack.
            wipe_stack();
        }
        result
    }

    /// Serves the copy of a request. The function has its own stack frame, so that all its data is below the stack
    /// pointer when it has returned.
    #[inline(never)]
    fn serve_copy(
        &mut self,
        Permitted { operation, input, output }: Permitted,
        answer: &mut Answer,
    ) -> Result<(), Refusal> {
        let len = usize::try_from(input.size()).map_err(|_| Refusal::TooLong)?;
        let record = self.buffer.get_mut(..len).ok_or(Refusal::TooLong)?;
        // Each byte is read once, so later changes by the host have no effect.
        host::read(input.start, record).map_err(|_| Refusal::Failed)?;
        let done = self.keys.serve(self.engines.as_mut(), operation, self.buffer, len)?;
        if let Some(output) = output {
            // The output range was checked and has at least this number of bytes.
            let result = self.buffer.get(done.range).ok_or(Refusal::Failed)?;
            host::write(output.start, result).map_err(|_| Refusal::Failed)?;
        }
        if let Some(word) = answer.result.first_mut() {
            *word = done.word;
        }
        Ok(())
    }
}

/// The engines, if there are any and they work.
fn engines() -> Option<HardwareKeyEngines> {
    let [aes, numbers, noise] =
        [AES, BIGNUM, NOISE_SOURCE].map(core::ptr::with_exposed_provenance_mut);
    // SAFETY: the engine's page, of which this is the only user: the kernel that verified the bundle is not called any more.
    let aes = Aes::new(unsafe { Block::new(aes) }).ok()?;
    // SAFETY: as above.
    let numbers = Bignum::new(unsafe { Block::new(numbers) }, Polling).ok()?;
    // SAFETY: as above.
    let noise = unsafe { NoiseSource::new(noise) };
    Some(HardwareKeyEngines::new(aes, numbers, noise))
}
