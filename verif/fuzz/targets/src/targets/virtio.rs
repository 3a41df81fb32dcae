//! The block driver with a device whose answers the fuzzer chooses.
//!
//! The device is a page of registers and a queue that both sides access. Rules: a request is reported as done at
//! most once, only after the device reported it, and only if it was made; data that counts as arrived (`arrivals`)
//! was delivered.

use std::ptr::NonNull;

use hartlock_drivers::arrivals::Arrivals;
use hartlock_drivers::virtio_blk::mmio::Mmio;
use hartlock_drivers::virtio_blk::{DEPTH, Error, Queue, SECTOR_SIZE, VirtioBlk};

use crate::choices::Choices;

/// Offsets in the queue (Virtual I/O Device Specification §2.7, with 32 descriptors).
const AVAILABLE: usize = 32 * 16;
const USED: usize = 4096;
const REQUESTS: usize = USED + 4 + 32 * 8 + 4;
const STATUS: usize = REQUESTS + DEPTH * 16;

/// Registers and queue of the device.
struct Device {
    registers: Box<[u32; 1024]>,
    queue: Box<Queue>,
}

impl Device {
    fn new(choices: &mut Choices<'_>) -> Self {
        let mut registers = Box::new([0; 1024]);
        registers[0] = 0x7472_6976;
        registers[1] = choices.of(&[2, 1, 0, 3]);
        registers[2] = choices.of(&[2, 2, 2, 1]);
        registers[0x34 / 4] = choices.of(&[1024, 32, 31, 0]);
        registers[0x100 / 4] = choices.word();
        registers[0x104 / 4] = choices.word();
        Self { registers, queue: Box::new(Queue::new()) }
    }

    fn queue(&mut self) -> NonNull<u8> {
        NonNull::from(&mut *self.queue).cast()
    }
}

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut device = Device::new(&mut choices);
    let is_usable = (1..=2).contains(&device.registers[1]) && device.registers[2] == 2;
    let queue_max = device.registers[0x34 / 4];
    let base = device.registers.as_mut_ptr().expose_provenance();
    let memory = device.queue();
    // SAFETY: `base` is memory of this function with the layout of the registers, and outlives the driver.
    let registers = unsafe { Mmio::new(base) };
    // SAFETY: the pointer is to memory of this function with the layout of a queue, which outlives the driver. The
    // simulated device below uses the same raw pointer.
    let driver = unsafe { VirtioBlk::new(registers, memory.cast().as_ptr()) };
    let mut driver = match driver {
        Ok(driver) => driver,
        Err(Error::NotThere) => return assert!(!is_usable),
        Err(other) => return assert!(other == Error::Unusable && queue_max < 32),
    };
    assert!(is_usable && queue_max >= 32);
    let _ = driver.capacity();
    transfer(&mut choices, &mut driver, Shared(memory));
    assert_eq!(driver.reset(), Ok(()), "the registers are memory");
    assert_eq!(device.registers[0x70 / 4], 0, "a device that was reset writes no more");
}

/// The queue as the device accesses it.
#[derive(Clone, Copy)]
struct Shared(NonNull<u8>);

impl Shared {
    fn read16(self, offset: usize) -> u16 {
        assert!(offset + 2 <= size_of::<Queue>());
        // SAFETY: the assertion above shows that the place is inside the queue.
        let place = unsafe { self.0.add(offset) };
        // SAFETY: the queue outlives this object, and no reference to it exists.
        unsafe { place.cast::<u16>().read_volatile() }
    }

    fn write(self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= size_of::<Queue>());
        for (index, byte) in bytes.iter().enumerate() {
            // SAFETY: the assertion above shows that the place is inside the queue.
            let place = unsafe { self.0.add(offset + index) };
            // SAFETY: the queue outlives this object, and no reference to it exists.
            unsafe { place.write_volatile(*byte) };
        }
    }

    fn read(self, offset: usize, len: usize) -> u64 {
        let halves = (0..len).step_by(2).rev();
        halves.fold(0, |value, at| value << 16 | u64::from(self.read16(offset + at)))
    }

    fn status(self, slot: usize) -> u8 {
        let at = STATUS + slot;
        self.read16(at & !1).to_le_bytes()[at & 1]
    }

    /// Checks that the three descriptors of a slot request these sectors and nothing else.
    fn check_chain(self, slot: usize, sector: u64, address: u64, len: u32) {
        let base = self.0.as_ptr().expose_provenance() as u64;
        let request = REQUESTS + 16 * slot;
        // Descriptor flags: 1 means that another one follows, 2 that the device writes (§2.7.5).
        let chain = [
            (base + request as u64, 16, 1),
            (address, u64::from(len), 1 | 2),
            (base + (STATUS + slot) as u64, 1, 2),
        ];
        for (index, wanted) in (3 * slot..).zip(chain) {
            let at = 16 * index;
            let found = (self.read(at, 8), self.read(at + 8, 4), self.read(at + 12, 2));
            assert_eq!(found, wanted, "descriptor {index}");
            let next = if wanted.2 & 1 == 1 { index as u64 + 1 } else { 0 };
            assert_eq!(self.read(at + 14, 2), next, "what follows descriptor {index}");
        }
        assert_eq!((self.read(request, 8), self.read(request + 8, 8)), (0, sector), "the request");
        assert_eq!(self.status(slot), 0xff, "there is no answer yet");
    }

    /// Reports the chain that begins at this descriptor as used, with or without a written status.
    fn complete(self, head: u32, status: Option<u8>) {
        let index = self.read16(USED + 2);
        let element = USED + 4 + 8 * (usize::from(index) % 32);
        self.write(element, &head.to_le_bytes());
        if let Some(status) = status {
            self.write(STATUS + head as usize / 3 % DEPTH, &[status]);
        }
        self.write(USED + 2, &index.wrapping_add(1).to_le_bytes());
    }
}

fn transfer(choices: &mut Choices<'_>, driver: &mut VirtioBlk<Mmio>, device: Shared) {
    const CHUNK: u64 = 8 * SECTOR_SIZE;
    let total = choices.number() % (100 * CHUNK);
    let mut arrivals = Arrivals::new(total, CHUNK);
    let mut in_flight: [Option<u64>; DEPTH] = [None; DEPTH];
    // Slots that the device has reported as done, truthfully or not.
    let mut announced: Vec<u32> = Vec::new();
    let mut done: Vec<u64> = Vec::new();
    let mut overflowed = false;
    let mut submitted = 0u16;
    let mut newest: Option<usize> = None;
    // Steps of a fast device, which answers many requests while others wait.
    let mut planned = std::collections::VecDeque::new();
    while !choices.is_empty() || !planned.is_empty() {
        match planned.pop_front().unwrap_or_else(|| choices.below(5)) {
            0 | 1 => {
                let Some((offset, len)) = arrivals.next_request() else { continue };
                let len = len.next_multiple_of(SECTOR_SIZE) as u32;
                // SAFETY: this device writes only to the queue.
                let slot = unsafe { driver.submit(offset / SECTOR_SIZE, len, |_| 0x1000) };
                let Ok(slot) = slot else {
                    assert!(in_flight.iter().all(Option::is_some), "busy with a free slot");
                    continue;
                };
                assert!(in_flight[slot].is_none(), "a slot is used twice");
                in_flight[slot] = Some(offset);
                newest = Some(slot);
                let turn = AVAILABLE + 4 + 2 * (usize::from(submitted) % 32);
                submitted = submitted.wrapping_add(1);
                assert_eq!(device.read16(AVAILABLE + 2), submitted, "requests are counted");
                assert_eq!(usize::from(device.read16(turn)), 3 * slot, "a chain a slot");
                device.check_chain(slot, offset / SECTOR_SIZE, 0x1000, len);
                arrivals.requested(CHUNK.min(total - offset));
            }
            2 => {
                let slot = choices.below(DEPTH) as u32;
                let head = if choices.rarely(8) { choices.word() } else { 3 * slot };
                let status = choices.of(&[Some(0), Some(0), Some(0), Some(1), Some(255), None]);
                device.complete(head, status);
                announced.push(head);
                overflowed |= announced.len() > 32;
            }
            4 => planned.extend([0, 5, 3].repeat(1 + choices.below(80))),
            5 => {
                let Some(slot) = newest.take() else { continue };
                device.complete(3 * slot as u32, Some(0));
                announced.push(3 * slot as u32);
                overflowed |= announced.len() > 32;
            }
            _ => match driver.poll() {
                Ok(Some(slot)) => {
                    assert!(!announced.is_empty(), "done before the device said so");
                    // The ring has 32 entries; reports beyond that are lost.
                    let head = announced.remove(0) as usize;
                    assert!(head == 3 * slot || overflowed, "another request is reported");
                    let offset = in_flight[slot].take().expect("a request that was made");
                    assert_eq!(device.status(slot), 0, "done, and the device says it is not");
                    arrivals.completed(offset);
                    done.push(offset / CHUNK);
                }
                Ok(None) => assert!(announced.is_empty(), "an answer is lost"),
                // On an error, a stage refuses and resets the device.
                Err(_) => return,
            },
        }
        let missing = (0..).find(|index| !done.contains(index)).expect("an endless range");
        assert_eq!(arrivals.arrived(), (missing * CHUNK).min(total), "what counts is there");
    }
}
