//! Requests of digests, and requests that have to be refused.

use hartlock_drivers::mailbox::request::{ENGINE_FAILED, INLINE, Operation, Refusal};
use hartlock_drivers::mailbox::{HostSide, Request};
use hartlock_maps::hartlock_soc;

use crate::asking::{MISSING, Patience, ask, expect, listen, sha256};
use crate::closed;

/// Addresses of messages and digests, in memory that no other code uses.
const MESSAGE: usize = hartlock_soc::RAM.start as usize + (16 << 20);
const MESSAGE_LEN: usize = 4096;
const DIGEST: usize = hartlock_soc::RAM.start as usize + (17 << 20);
/// Messages without a word, and across the ends of words, cache lines and pages: offset, length, and offset of the
/// digest.
const ODD: [(usize, usize, usize); 8] = [
    (0, 0, 0),
    (5, 0, 1),
    (3, 1, 2),
    (4095, 1, 3),
    (1, 4095, 4),
    (7, 4097, 61),
    (4093, 6, 4090),
    (4064, 8192 + 33, 0),
];
/// Address of a page whose accesses take longer than the root of trust waits, with the feature `bus-faults`.
const STALLED: u64 = hartlock_soc::RAM.start + (18 << 20);
/// End of the bundle, which is the end of memory with that feature.
const BUNDLE_END: u64 = hartlock_soc::BUNDLE.end;
/// Maximum number of requests until one is served after a stall.
const RETRIES: usize = 100;

/// Requests digests, and checks that forbidden requests are refused.
pub fn run(mailbox: &mut HostSide) {
    let expected = write_message(1);

    let good = Request {
        operation: Operation::Sha256 as u16,
        flags: 0,
        id: 1,
        source: MESSAGE as u64,
        destination: DIGEST as u64,
        length: MESSAGE_LEN as u32,
    };
    let answer = ask(mailbox, Patience::Awake, "a digest in memory", &good);
    expect(answer.status == 0 && digest() == expected, "the digest in memory is wrong");

    listen(mailbox);
    // The caches of this hart contain the old message and the old digest.
    let expected = write_message(2);
    let answer = ask(mailbox, Patience::Asleep, "a digest, asleep", &Request { id: 4, ..good });
    expect(answer.status == 0 && digest() == expected, "the second digest in memory is wrong");

    let inline = Request { flags: INLINE, id: 2, destination: 0, ..good };
    let answer = ask(mailbox, Patience::Asleep, "a digest in the answer", &inline);
    let words = answer.result.iter().flat_map(|word| word.to_le_bytes());
    expect(answer.status == 0 && words.zip(expected).all(|(a, b)| a == b), "its digest is wrong");

    for (what, request, refusal) in [
        (
            "its own M-mode memory",
            Request { source: hartlock_soc::FIRST.start, ..good },
            Refusal::Protected,
        ),
        (
            "a digest over the log",
            Request { destination: hartlock_soc::LOG.start, ..good },
            Refusal::Protected,
        ),
        ("the root of trust's ROM", Request { source: 0, ..good }, Refusal::OutsideMemory),
        ("its scratchpad", Request { source: 0x1000_0000, ..good }, Refusal::OutsideMemory),
        ("its registers", Request { destination: 0x4000_0000, ..good }, Refusal::OutsideMemory),
        (
            "an address that wraps",
            Request { source: u64::MAX - 100, ..good },
            Refusal::OutsideMemory,
        ),
        ("more than 4 GiB", Request { source: 0x1_8100_0000, ..good }, Refusal::OutsideMemory),
        ("too much at once", Request { length: u32::MAX, ..good }, Refusal::TooLong),
        ("an unknown operation", Request { operation: 9, ..good }, Refusal::UnknownOperation),
        (
            "a digest into its message",
            Request { destination: MESSAGE as u64, ..good },
            Refusal::Overlap,
        ),
    ] {
        let answer = ask(mailbox, Patience::Asleep, what, &request);
        expect(answer.status == refusal as u8, "it should have been refused");
    }
    closed::attack(mailbox, &good, Some(32));
    closed::attack(mailbox, &Request { flags: INLINE, destination: 0, ..good }, None);
    // A refused request must not affect the next one.
    for (source, length, destination) in ODD {
        let source = MESSAGE.saturating_add(source);
        // SAFETY: no other code uses this memory while no request is pending.
        let message = unsafe { core::slice::from_raw_parts(source as *const u8, length) };
        let expected = sha256(message);
        let odd = Request {
            source: source as u64,
            length: length as u32,
            destination: (DIGEST + destination) as u64,
            ..good
        };
        let answer = ask(mailbox, Patience::Asleep, "an odd message", &odd);
        let is_right = answer.status == 0 && digest_at(destination) == expected;
        expect(is_right, "the digest of an odd message is wrong");
    }
    let expected = write_message(3);
    let again = Request { id: 3, ..good };
    let answer = ask(mailbox, Patience::Asleep, "a digest again", &again);
    expect(answer.status == 0 && digest() == expected, "it serves no more");
    if cfg!(feature = "bus-faults") {
        survive_bus_faults(mailbox, &good);
    }
}

/// Checks that a memory error affects only its own request.
fn survive_bus_faults(mailbox: &mut HostSide, good: &Request) {
    for (salt, (what, request)) in (4..).zip([
        ("memory that is missing", Request { source: MISSING, ..*good }),
        ("a digest into memory that is missing", Request { destination: MISSING, ..*good }),
        // The range starts in memory, so that the engine has received a part of it.
        ("the end of memory", Request { source: BUNDLE_END - 1000, ..*good }),
        ("memory that stalls", Request { source: STALLED, ..*good }),
        ("a digest into memory that stalls", Request { destination: STALLED, ..*good }),
    ]) {
        let expected = write_message(salt);
        let answer = ask(mailbox, Patience::Asleep, what, &request);
        expect(answer.status == ENGINE_FAILED, "it should have failed");
        // Until a stalled access is answered, every further access fails immediately.
        let mut status = ENGINE_FAILED;
        for _ in 0..RETRIES {
            status = ask(mailbox, Patience::Asleep, "a digest after it", good).status;
            if status != ENGINE_FAILED {
                break;
            }
        }
        expect(status == 0 && digest() == expected, "it serves no more");
    }
}

/// Writes a message, and returns its digest.
fn write_message(salt: usize) -> [u8; 32] {
    // SAFETY: no other code uses this memory while no request is pending.
    let message = unsafe { core::slice::from_raw_parts_mut(MESSAGE as *mut u8, MESSAGE_LEN) };
    for (at, byte) in message.iter_mut().enumerate() {
        *byte = (at.wrapping_mul(salt) % 251) as u8;
    }
    sha256(message)
}

/// Reads the digest in memory.
fn digest() -> [u8; 32] {
    digest_at(0)
}

fn digest_at(offset: usize) -> [u8; 32] {
    // SAFETY: the answer has arrived, so nothing writes to this memory any more; bytes may have any alignment.
    unsafe { ((DIGEST + offset) as *const [u8; 32]).read_volatile() }
}
