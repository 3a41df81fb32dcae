//! Requests of a host that was taken over: input or output touches memory that is closed to it, in each way that a range
//! can. None may be served, and none may change a closed byte.

use hartlock_drivers::mailbox::request::Refusal;
use hartlock_drivers::mailbox::{HostSide, Request};
use hartlock_maps::hartlock_soc::{PROTECTED, RAM};

use crate::asking::{Patience, ask, expect};

/// Number of bytes at each end of a closed region that are compared.
const COMPARED: usize = 64;
/// Places outside of the host's memory: ROM, scratchpad and registers of the root of trust, and the ends of memory.
const OUTSIDE: [u64; 10] = [
    0,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
    RAM.start - 1,
    RAM.end - 16,
    RAM.end,
    RAM.start + (1 << 32),
    RAM.start | 1 << 63,
    u64::MAX - 15,
];

/// Sends `good`, which would be served, with each range in the place of its input, and of its output in memory, which has
/// `output` bytes.
pub fn attack(mailbox: &mut HostSide, good: &Request, output: Option<u64>) {
    let before = PROTECTED.map(|region| ends(region.start, region.end));
    for start in OUTSIDE {
        refused(mailbox, Request { source: start, length: 32, ..*good });
        if output.is_some() {
            refused(mailbox, Request { destination: start, ..*good });
        }
    }
    refused(mailbox, Request { length: u32::MAX, ..*good });
    for region in PROTECTED {
        let (start, end) = (region.start, region.end);
        for (first, length) in [
            (start, 1),
            (start + 64, 64),
            (end - 1, 1),
            (start - 16, 32),
            (end - 16, 32),
            (start - 16, end - start + 32),
        ] {
            refused(mailbox, Request { source: first, length: length as u32, ..*good });
        }
        if let Some(output) = output {
            for first in [start, start + 64, end - 1, start - output + 1, end - output] {
                refused(mailbox, Request { destination: first, ..*good });
            }
        }
    }
    expect(
        PROTECTED.map(|region| ends(region.start, region.end)) == before,
        "closed memory was changed",
    );
}

fn refused(mailbox: &mut HostSide, request: Request) {
    let answer = ask(mailbox, Patience::Awake, "a closed place", &request);
    let refusals = [Refusal::TooLong, Refusal::OutsideMemory, Refusal::Protected];
    let is_refused = refusals.iter().any(|refusal| answer.status == *refusal as u8);
    expect(is_refused, "a closed place was served");
    expect(answer.result.iter().all(|word| *word == 0), "a refusal has a result");
}

/// Returns the first and the last bytes of a region.
fn ends(start: u64, end: u64) -> [[u8; COMPARED]; 2] {
    let bytes = |start: u64| {
        let place = core::ptr::with_exposed_provenance::<[u8; COMPARED]>(start as usize);
        // SAFETY: this is memory of the machine, which this program in M-mode may read.
        unsafe { place.read_volatile() }
    };
    [bytes(start), bytes(end - COMPARED as u64)]
}
