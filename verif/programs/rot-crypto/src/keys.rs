//! Requests with keys (`spec/requests.md`), served by the code of the ROM, without a host: the workstation has put the key of the
//! slot, records, and what they have to give into the host's memory (`verif/machines/run/src/machines/key_requests.rs`):
//!
//! | bytes | what |
//! |---|---|
//! | 32 | key of the slot |
//! | 4 | number of requests |
//!
//! and for each request its operation, the length of its record, its destination, which is zero if it has none, and the length
//! of its result, four bytes each, then record and result, with zeros up to a multiple of four bytes. A line for each:
//!
//! ```text
//! key <number> <cycles> <word of the answer> <right, wrong, or the refusal>
//! ```
//!
//! A refusal is followed by `written` if there is something at its destination.

use core::fmt::Write;
use core::hint::black_box;

use hartlock_drivers::key_slot::{KEY_LEN, KeySlot};
use hartlock_drivers::mailbox::keys::BUFFER_LEN;
use hartlock_drivers::mailbox::request::{INLINE, Limits};
use hartlock_drivers::mailbox::{Answer, Request};
use hartlock_rot::host::{self, BusError};
use hartlock_rot::keys::Service;
use hartlock_rot::{Console, HOST_MEMORY, KEY_SLOT, cycle};
use hartlock_verify::board::Region;

/// Where they begin.
const REQUESTS: u64 = HOST_MEMORY as u64 + (16 << 20);
const LIMITS: Limits<'static> = Limits {
    memory: Region::new(HOST_MEMORY as u64, 32 << 20),
    protected: &[],
    max_input: 0,
    has_keys: true,
};
/// Bytes of a destination that a refusal must not have changed.
const UNCHANGED: usize = 64;

static mut WANTED: [u8; BUFFER_LEN] = [0; BUFFER_LEN];
static mut FOUND: [u8; BUFFER_LEN] = [0; BUFFER_LEN];

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
    let mut service = Service::take();
    let (wanted, found) = (&raw mut WANTED, &raw mut FOUND);
    // SAFETY: nothing else names it.
    let wanted = unsafe { &mut *wanted };
    // SAFETY: likewise.
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
    // Copies of results, which the machine must not find.
    black_box(wanted).fill(0);
    black_box(found).fill(0);
    rot_keys_served();
    Ok(())
}

/// Where the machine saves the scratchpad.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn rot_keys_served() {
    black_box(());
}

/// What the workstation has written.
struct Requests {
    at: u64,
}

impl Requests {
    /// Copies what comes next.
    fn take(&mut self, into: &mut [u8]) -> Result<(), BusError> {
        let at = self.skip(into.len() as u32);
        host::read(at, into)
    }

    fn word(&mut self) -> Result<u32, BusError> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The address of what comes next, which has so many bytes and zeros after them.
    fn skip(&mut self, len: u32) -> u64 {
        let at = self.at;
        self.at += u64::from(len).next_multiple_of(4);
        at
    }
}

fn fill_slot(requests: &mut Requests) -> Result<(), Error> {
    let mut key = [0; KEY_LEN];
    requests.take(&mut key)?;
    // SAFETY: the page of the slot, of which this is the only user.
    let mut slot = unsafe { KeySlot::new(core::ptr::with_exposed_provenance_mut(KEY_SLOT)) };
    if slot.fill(&key, || ()) { Ok(()) } else { Err(Error::Slot) }
}
