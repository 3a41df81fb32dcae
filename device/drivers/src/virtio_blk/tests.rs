//! In these tests a transport records what the driver asks for, and the test is the device.

use core::cell::RefCell;
use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use super::*;

#[derive(Clone, Debug, PartialEq)]
enum Call {
    Status(u32),
    Queue(u32, [usize; 3]),
    Notify,
}

#[derive(Debug)]
struct Fake {
    is_block: bool,
    features: Result<bool, Error>,
    /// Status bits that the device does not set.
    withheld: u32,
    /// Number of reads of the status until a reset is complete.
    reads: RefCell<u32>,
    limit: u32,
    calls: RefCell<Vec<Call>>,
}

/// Returns a modern device that works.
fn modern() -> Fake {
    let (reads, calls) = (RefCell::new(3), RefCell::new(Vec::new()));
    Fake { is_block: true, features: Ok(true), withheld: 0, reads, limit: 32, calls }
}

impl Transport for &Fake {
    fn is_block(&self) -> bool {
        self.is_block
    }

    fn status(&self) -> u32 {
        let last = self.calls.borrow().iter().rev().find_map(|call| match call {
            Call::Status(status) => Some(*status),
            _ => None,
        });
        let mut reads = self.reads.borrow_mut();
        *reads = reads.saturating_sub(1);
        last.filter(|status| *status != 0 || *reads == 0).unwrap_or(8) & !self.withheld
    }

    fn set_status(&self, status: u32) {
        self.calls.borrow_mut().push(Call::Status(status));
    }

    fn take_features(&self) -> Result<bool, Error> {
        self.features
    }

    fn queue_limit(&self) -> u32 {
        self.limit
    }

    fn set_queue(&self, size: u32, places: [usize; 3]) {
        self.calls.borrow_mut().push(Call::Queue(size, places));
    }

    fn notify(&self) {
        self.calls.borrow_mut().push(Call::Notify);
    }

    fn config(&self, offset: usize) -> u32 {
        [(0, 5), (4, 1)].into_iter().find(|(at, _)| *at == offset).map_or(9, |(_, word)| word)
    }
}

/// Returns a driver, and the address of its queue.
fn driver(fake: &Fake) -> Result<(VirtioBlk<&Fake>, *mut Queue), Error> {
    let queue = Box::into_raw(Box::new(Queue::new()));
    // SAFETY: the queue is never freed, and the test is the only device.
    unsafe { VirtioBlk::new(fake, queue) }.map(|driver| (driver, queue))
}

#[test]
fn a_device_is_set_up_in_the_order_of_the_specification() {
    for (fake, status) in [(modern(), 8), (Fake { features: Ok(false), ..modern() }, 0)] {
        let (driver, queue) = driver(&fake).unwrap();
        let at = queue.addr();
        let mut wanted = vec![Call::Status(0), Call::Status(1), Call::Status(3)];
        wanted.extend((status != 0).then_some(Call::Status(11)));
        wanted.push(Call::Queue(32, [at, at + 512, at + 4096]));
        wanted.push(Call::Status(7 | status));
        assert_eq!(*fake.calls.borrow(), wanted);
        assert_eq!(driver.capacity(), 0x1_0000_0005 * 512);
        *fake.reads.borrow_mut() = 1;
        assert_eq!(driver.reset(), Ok(()));
        assert_eq!(fake.calls.borrow().last(), Some(&Call::Status(0)));
    }
}

#[test]
fn a_device_that_cannot_be_used_is_refused() {
    for (fake, error) in [
        (Fake { is_block: false, ..modern() }, Error::NotThere),
        (Fake { reads: RefCell::new(RESET_READS + 1), ..modern() }, Error::Failed),
        (Fake { features: Err(Error::Unguarded), ..modern() }, Error::Unguarded),
        (Fake { withheld: 8, ..modern() }, Error::Unusable),
        (Fake { limit: 31, ..modern() }, Error::Unusable),
    ] {
        assert_eq!(driver(&fake).err(), Some(error));
        assert!(!fake.calls.borrow().contains(&Call::Status(15)));
    }
}

#[test]
fn what_is_not_used_is_reset_if_it_is_there() {
    let (there, absent) = (modern(), Fake { is_block: false, ..modern() });
    assert_eq!((silence(&&there), silence(&&absent)), (Ok(()), Ok(())));
    assert_eq!((there.calls.take(), absent.calls.take()), (vec![Call::Status(0)], vec![]));
}

/// A request as the device sees it: slot, sector, address, and length.
type Seen = (usize, u64, u64, u32);

/// Returns the request that a chain of descriptors describes, after a check of all three.
fn seen(queue: &Queue, at: usize, first: u16) -> Seen {
    let chain = [0, 1, 2].map(|index| queue.descriptors[usize::from(first) + index]);
    let slot = usize::from(first) / 3;
    assert_eq!(chain.map(|it| it.flags), [1, 3, 2]);
    assert_eq!(chain.map(|it| it.next), [first + 1, first + 2, 0]);
    let header = at + offset_of!(Queue, requests) + slot * 16;
    let status = at + offset_of!(Queue, status) + slot;
    assert_eq!((chain[0].address, chain[0].len), (header as u64, 16));
    assert_eq!((chain[2].address, chain[2].len), (status as u64, 1));
    assert_eq!((queue.requests[slot].kind, queue.requests[slot].reserved), (0, 0));
    assert_eq!(queue.status[slot], 0xff);
    (slot, queue.requests[slot].sector, chain[1].address, chain[1].len)
}

fn submit(driver: &mut VirtioBlk<&Fake>, sector: u64) -> Result<usize, Error> {
    // SAFETY: no device writes to this address.
    unsafe { driver.submit(sector, 512 * sector as u32, |slot| 0x1_0000_0000 + slot as u64) }
}

#[test]
fn requests_are_described_and_reported_in_any_order() {
    let fake = modern();
    let (mut driver, memory) = driver(&fake).unwrap();
    let mut used = 0;
    // The rings have 32 places, and each turn uses eight.
    for turn in 0..9_u64 {
        fake.calls.take();
        for slot in 0..DEPTH {
            let sector = turn << 8 | slot as u64;
            assert_eq!(submit(&mut driver, sector), Ok(slot));
            // SAFETY: the queue exists, and the driver has no references to it.
            let queue = unsafe { &*memory };
            let index = usize::from(queue.available_index);
            assert_eq!(index, turn as usize * 8 + slot + 1);
            let wanted = (slot, sector, 0x1_0000_0000 + slot as u64, 512 * sector as u32);
            assert_eq!(seen(queue, memory.addr(), queue.available[(index - 1) % 32]), wanted);
        }
        assert_eq!(submit(&mut driver, 0), Err(Error::Busy));
        assert_eq!(fake.calls.borrow().len(), DEPTH);
        for slot in [3, 0, 7, 1, 6, 2, 5, 4] {
            assert_eq!(driver.poll(), Ok(None));
            // SAFETY: the same argument applies.
            let queue = unsafe { &mut *memory };
            queue.used[used % 32] = [3 * slot, 1];
            queue.status[slot as usize] = 0;
            used += 1;
            queue.used_index = used as u16;
            assert_eq!(driver.poll(), Ok(Some(slot as usize)));
        }
    }
}

#[test]
fn what_a_device_reports_is_checked() {
    for (first, status, wanted) in [
        (3, 0, Ok(Some(1))),
        (3, 1, Err(Error::Failed)),
        (3, PENDING, Err(Error::Failed)),
        // These are descriptors in the middle of a request, of a free slot, and of none.
        (4, 0, Err(Error::Failed)),
        (6, 0, Err(Error::Failed)),
        (24, 0, Err(Error::Failed)),
        (u32::MAX, 0, Err(Error::Failed)),
    ] {
        let fake = modern();
        let (mut driver, memory) = driver(&fake).unwrap();
        assert_eq!((submit(&mut driver, 0), submit(&mut driver, 1)), (Ok(0), Ok(1)));
        // SAFETY: the queue exists, and the driver has no references to it.
        let queue = unsafe { &mut *memory };
        queue.used[0] = [first, 0];
        queue.status = [status; DEPTH];
        queue.used_index = 1;
        assert_eq!(driver.poll(), wanted, "{first} {status}");
        // A slot whose request failed is free, and that of a false report is not.
        let is_free = driver.in_use.iter().position(|used| !used) == Some(1);
        assert_eq!(is_free, first == 3, "{first}");
        assert_eq!(driver.poll(), Ok(None), "a report counts once");
    }
}
