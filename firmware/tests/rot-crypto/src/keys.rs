//! Requests with keys (`spec/requests.md`), served as the ROM serves them, without a host: the workstation has put the key of
//! the slot, records, and what they have to give into the host's memory (`hw/run/src/machines/key_requests.rs`):
//!
//! | bytes | what |
//! |---|---|
//! | 32 | key of the slot |
//! | 4 | number of requests |
//!
//! and for each request its operation, the lengths of record and result, four bytes each, then record and result. A line for each:
//!
//! ```text
//! key <number> <cycles> <word of the answer> <right, wrong, or the refusal>
//! ```

use core::fmt::Write;

use hartlock_drivers::key_slot::{KEY_LEN, KeySlot};
use hartlock_drivers::mailbox::key_engines::Hardware;
use hartlock_drivers::mailbox::keys::{BUFFER_LEN, Keys};
use hartlock_drivers::mailbox::request::Operation;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{AES, BIGNUM, Console, HOST_MEMORY, KEY_SLOT, NOISE_SOURCE, cycle};

/// Where they begin.
const REQUESTS: u64 = HOST_MEMORY as u64 + (16 << 20);

static mut KEYS: Keys = Keys::new();
static mut BUFFER: [u8; BUFFER_LEN] = [0; BUFFER_LEN];
static mut WANTED: [u8; BUFFER_LEN] = [0; BUFFER_LEN];

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// The requests do not have their form.
    Form,
    Bus(BusError),
    /// The slot is not filled.
    Slot,
}

impl From<BusError> for Error {
    fn from(error: BusError) -> Self {
        Self::Bus(error)
    }
}

pub fn run() -> Result<(), Error> {
    let mut requests = Requests { at: REQUESTS };
    fill_slot(&mut requests)?;
    let mut engines = engines();
    let (keys, buffer, wanted) = (&raw mut KEYS, &raw mut BUFFER, &raw mut WANTED);
    // SAFETY: nothing else names it.
    let keys = unsafe { &mut *keys };
    // SAFETY: likewise.
    let buffer = unsafe { &mut *buffer };
    // SAFETY: likewise.
    let wanted = unsafe { &mut *wanted };
    for number in 0..requests.word()? {
        let operation = u16::try_from(requests.word()?).ok().and_then(Operation::from_number);
        let operation = operation.ok_or(Error::Form)?;
        let (len, wanted_len) = (requests.word()? as usize, requests.word()? as usize);
        requests.take(buffer.get_mut(..len).ok_or(Error::Form)?)?;
        let wanted = wanted.get_mut(..wanted_len).ok_or(Error::Form)?;
        requests.take(wanted)?;
        let start = cycle();
        let served = keys.serve(engines.as_mut(), operation, buffer, len);
        let cycles = cycle().wrapping_sub(start);
        let _ = match served {
            Ok(output) => {
                let is_right = buffer.get(output.range) == Some(wanted);
                let verdict = if is_right { "right" } else { "wrong" };
                writeln!(Console, "key {number} {cycles} {} {verdict}", output.word)
            }
            Err(refusal) => writeln!(Console, "key {number} {cycles} 0 {refusal:?}"),
        };
    }
    Ok(())
}

/// What the workstation has written.
struct Requests {
    at: u64,
}

impl Requests {
    /// Copies what comes next.
    fn take(&mut self, into: &mut [u8]) -> Result<(), BusError> {
        host::read(self.at, into)?;
        self.at += into.len() as u64;
        Ok(())
    }

    fn word(&mut self) -> Result<u32, BusError> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

fn fill_slot(requests: &mut Requests) -> Result<(), Error> {
    let mut key = [0; KEY_LEN];
    requests.take(&mut key)?;
    // SAFETY: the page of the slot, of which this is the only user.
    let mut slot = unsafe { KeySlot::new(core::ptr::with_exposed_provenance_mut(KEY_SLOT)) };
    if slot.fill(&key, || ()) { Ok(()) } else { Err(Error::Slot) }
}

fn engines() -> Option<Hardware> {
    let [aes, numbers, noise] =
        [AES, BIGNUM, NOISE_SOURCE].map(core::ptr::with_exposed_provenance_mut);
    // SAFETY: their pages, of which this is the only user.
    unsafe { Hardware::at(aes, numbers, noise) }
}
