//! Requests with keys (`spec/requests.md`), which the code of the ROM serves without a host. The workstation has
//! written the key of the slot, the records, and the expected results into the host's memory
//! (`verif/machines/run/src/machines/key_requests.rs`):
//!
//! | bytes | what |
//! |---|---|
//! | 32 | key of the slot |
//! | 4 | number of requests |
//!
//! For each request the operation, the length of its record, its destination (zero if there is none) and the length of
//! its result follow, in four bytes each, then record and result, with zeros up to a multiple of four bytes. The
//! program prints a line for each request:
//!
//! ```text
//! key <number> <cycles> <word of the answer> <right, wrong, or the refusal>
//! ```
//!
//! After a refusal the line ends with `written` if there is data at the destination.

use core::fmt::Write;
use core::hint::black_box;

use hartlock_drivers::key_slot::{KEY_LEN, KeySlot};
use hartlock_drivers::mailbox::request::{INLINE, Limits};
use hartlock_drivers::mailbox::{Answer, Request};
use hartlock_kernels::secret::wipe;
use hartlock_keystore::keys::BUFFER_LEN;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::keys::KeyService;
use hartlock_rot::{HOST_MEMORY, KEY_SLOT, cycle};
use hartlock_rot_bench::Console;
use hartlock_verify::board::Region;

/// Address of the requests.
const REQUESTS: u64 = HOST_MEMORY as u64 + (16 << 20);
const LIMITS: Limits<'static> = Limits {
    memory: Region::new(HOST_MEMORY as u64, 32 << 20),
    protected: &[],
    max_input: 0,
    has_keys: true,
};
/// Number of bytes at a destination that a refused request must not have changed.
const UNCHANGED: usize = 64;

static mut WANTED: [u8; BUFFER_LEN] = [0; BUFFER_LEN];
static mut FOUND: [u8; BUFFER_LEN] = [0; BUFFER_LEN];

/// The reason why the program stopped.
#[derive(Debug)]
pub enum Error {
    /// The requests are malformed.
    Form,
    Bus(BusError),
    /// The slot was not filled.
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
    let mut service = KeyService::take();
    let (wanted, found) = (&raw mut WANTED, &raw mut FOUND);
    // SAFETY: no other code names this buffer.
    let wanted = unsafe { &mut *wanted };
    // SAFETY: no other code names this buffer.
    let found = unsafe { &mut *found };
    for number in 0..requests.word()? {
        let operation = u16::try_from(requests.word()?).map_err(|_| Error::Form)?;
        let (length, destination) = (requests.word()?, u64::from(requests.word()?));
        let wanted_len = requests.word()? as usize;
        let source = requests.skip(length);
        let wanted = wanted.get_mut(..wanted_len).ok_or(Error::Form)?;
        requests.take(wanted)?;
        let flags = if destination == 0 { INLINE } else { 0 };
        let request = Request { operation, flags, id: 0, source, destination, length };
        let mut answer = Answer::default();
        let start = cycle();
        let served =
            LIMITS.judge(&request).and_then(|permitted| service.serve(permitted, &mut answer));
        let cycles = cycle().wrapping_sub(start);
        let found_len = if served.is_ok() { wanted_len } else { UNCHANGED };
        let found = found.get_mut(..found_len).ok_or(Error::Form)?;
        if destination != 0 {
            host::read(destination, found)?;
        }
        let [word, ..] = answer.result;
        let _ = match served {
            Ok(()) => {
                let is_right = destination == 0 || found == wanted;
                let verdict = if is_right { "right" } else { "wrong" };
                writeln!(Console, "key {number} {cycles} {word} {verdict}")
            }
            Err(refusal) => {
                let is_written = destination != 0 && found.iter().any(|byte| *byte != 0);
                let written = if is_written { " written" } else { "" };
                writeln!(Console, "key {number} {cycles} {word} {refusal:?}{written}")
            }
        };
    }
    // The copies of results are cleared, because the machine must not find them.
    wipe(wanted);
    wipe(found);
    rot_keys_served();
    Ok(())
}

/// The address at which the machine saves the scratchpad.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn rot_keys_served() {
    black_box(());
}

/// A reader of the data that the workstation has written.
struct Requests {
    at: u64,
}

impl Requests {
    /// Copies the next bytes.
    fn take(&mut self, into: &mut [u8]) -> Result<(), BusError> {
        let at = self.skip(into.len() as u32);
        host::read(at, into)
    }

    fn word(&mut self) -> Result<u32, BusError> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Returns the address of the next `len` bytes and skips them with the zeros after them.
    fn skip(&mut self, len: u32) -> u64 {
        let at = self.at;
        self.at += u64::from(len).next_multiple_of(4);
        at
    }
}

fn fill_slot(requests: &mut Requests) -> Result<(), Error> {
    let mut key = [0; KEY_LEN];
    requests.take(&mut key)?;
    // SAFETY: the address is the page of the slot, of which this is the only user.
    let mut slot = unsafe { KeySlot::new(core::ptr::with_exposed_provenance_mut(KEY_SLOT)) };
    if slot.fill(&key, || ()) { Ok(()) } else { Err(Error::Slot) }
}
