//! A polled virtio block device (Virtual I/O Device Specification v1.2, §2.7, §5.2) on virtio-mmio ([`mmio`]) or on a
//! PCI bus ([`pci`]).
//!
//! The device is not trusted: it may write wrong bytes, late bytes, or nothing, also after it has completed a request.
//! Therefore its destination must be memory whose content is copied before it is judged. Without an IOMMU the driver
//! cannot prevent a device with DMA from writing *elsewhere* (`docs/security/boards.md`).

pub mod mmio;
pub mod pci;

use core::mem::offset_of;
use core::sync::atomic::{Ordering, fence};

/// Maximum number of requests in flight.
pub const DEPTH: usize = 8;
/// Size of a sector in bytes, which does not depend on the block size of the device (§5.2.4).
pub const SECTOR_SIZE: u64 = 512;

/// Number of descriptors; each request uses three.
const QUEUE_SIZE: usize = 32;
const PAGE: usize = 4096;

// These are device status bits (§2.1).
const ACKNOWLEDGE: u32 = 1;
const DRIVER: u32 = 2;
const DRIVER_OK: u32 = 4;
const FEATURES_OK: u32 = 8;

// These are descriptor flags (§2.7.5).
const NEXT: u16 = 1;
const DEVICE_WRITES: u16 = 2;

/// Maximum number of status reads during a reset. They take more than a second on any board.
const RESET_READS: u32 = 1_000_000;

/// Status value that the device never writes; it marks a request in flight.
const PENDING: u8 = 0xff;

/// The reason why a device cannot be used, or why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no block device at this address.
    NotThere,
    /// The device lacks a feature that every block device must offer.
    Unusable,
    /// No request slot is free.
    Busy,
    /// The device reported an error, or did not complete a reset.
    Failed,
    /// The device does not offer to use the IOMMU.
    Unguarded,
}

/// Access to the registers of a device.
pub trait Transport {
    /// Returns true if there is a block device.
    fn is_block(&self) -> bool;
    /// Returns the device status (§2.1).
    fn status(&self) -> u32;
    /// Writes the device status.
    fn set_status(&self, status: u32);
    /// Accepts the features that the driver needs. Returns true if the device has to confirm them (§3.1.1).
    ///
    /// # Errors
    /// `Unguarded` for a device that does not offer a feature that the transport requires.
    fn take_features(&self) -> Result<bool, Error>;
    /// Returns the maximum size of queue 0, which is the only queue.
    fn queue_limit(&self) -> u32;
    /// Passes a queue of this size to the device, with the addresses of descriptors, available ring and used ring.
    fn set_queue(&self, size: u32, places: [usize; 3]);
    /// Notifies the device of new requests.
    fn notify(&self);
    /// Returns a word of the device's configuration (§5.2.4).
    fn config(&self, offset: usize) -> u32;
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Descriptor {
    address: u64,
    len: u32,
    flags: u16,
    next: u16,
}

/// The header of a request (§5.2.6).
#[repr(C)]
#[derive(Clone, Copy)]
struct RequestHeader {
    kind: u32,
    reserved: u32,
    sector: u64,
}

/// Memory that driver and device share. The layout is that of a legacy split queue (§2.7.2), which is valid for both
/// versions: descriptors and available ring, then the used ring on a separate page.
#[repr(C, align(4096))]
pub struct Queue {
    descriptors: [Descriptor; QUEUE_SIZE],
    available_flags: u16,
    available_index: u16,
    available: [u16; QUEUE_SIZE],
    _padding: [u8; PAGE - QUEUE_SIZE * 18 - 4],
    used_flags: u16,
    used_index: u16,
    used: [[u32; 2]; QUEUE_SIZE],
    requests: [RequestHeader; DEPTH],
    status: [u8; DEPTH],
}

impl Queue {
    /// Returns an empty queue.
    pub const fn new() -> Self {
        Self {
            descriptors: [Descriptor { address: 0, len: 0, flags: 0, next: 0 }; QUEUE_SIZE],
            available_flags: 0,
            available_index: 0,
            available: [0; QUEUE_SIZE],
            _padding: [0; PAGE - QUEUE_SIZE * 18 - 4],
            used_flags: 0,
            used_index: 0,
            used: [[0; 2]; QUEUE_SIZE],
            requests: [RequestHeader { kind: 0, reserved: 0, sector: 0 }; DEPTH],
            status: [0; DEPTH],
        }
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self::new()
    }
}

/// A block device that was reset and set up.
#[derive(Debug)]
pub struct VirtioBlk<T> {
    transport: T,
    queue: *mut Queue,
    /// Number of requests that were submitted, and number of those that the device has completed.
    submitted: u64,
    completed: u64,
    in_use: [bool; DEPTH],
}

impl<T: Transport> VirtioBlk<T> {
    /// Resets and sets up the device of a transport.
    ///
    /// # Errors
    /// `NotThere`, `Unusable`, `Unguarded`; `Failed` for a device that does not complete its reset.
    ///
    /// # Safety
    /// `queue` points to a valid queue that exists as long as the device may use it, and no other code uses it or the
    /// registers of the device.
    pub unsafe fn new(transport: T, queue: *mut Queue) -> Result<Self, Error> {
        if !transport.is_block() {
            return Err(Error::NotThere);
        }
        let device = Self { transport, queue, submitted: 0, completed: 0, in_use: [false; DEPTH] };
        // SAFETY: the caller gives the queue to this driver, and no device uses it yet.
        unsafe { queue.write(Queue::new()) };
        device.set_up()?;
        Ok(device)
    }

    fn set_up(&self) -> Result<(), Error> {
        let device = &self.transport;
        self.reset()?;
        device.set_status(ACKNOWLEDGE);
        device.set_status(ACKNOWLEDGE | DRIVER);
        let mut status = ACKNOWLEDGE | DRIVER;
        if device.take_features()? {
            status |= FEATURES_OK;
            device.set_status(status);
            if device.status() & FEATURES_OK == 0 {
                return Err(Error::Unusable);
            }
        }
        if (device.queue_limit() as usize) < QUEUE_SIZE {
            return Err(Error::Unusable);
        }
        let queue = self.queue.expose_provenance();
        let available = queue.wrapping_add(QUEUE_SIZE.wrapping_mul(16));
        device.set_queue(QUEUE_SIZE as u32, [queue, available, queue.wrapping_add(PAGE)]);
        device.set_status(status | DRIVER_OK);
        Ok(())
    }

    /// Returns the capacity of the device in bytes.
    pub fn capacity(&self) -> u64 {
        let [low, high] = [0, 4].map(|offset| u64::from(self.transport.config(offset)));
        (high << 32 | low).saturating_mul(SECTOR_SIZE)
    }

    /// Resets the device, which then drops its queue and does not write to memory any more (§2.1).
    ///
    /// # Errors
    /// `Failed` if the device does not complete the reset. Then it may still write to memory.
    pub fn reset(&self) -> Result<(), Error> {
        reset(&self.transport)
    }

    /// Starts to read `len` bytes from `sector` into memory, and returns the slot of the request. `address_of` returns
    /// the address of the buffer of a slot.
    ///
    /// # Errors
    /// `Busy` if all slots are in flight.
    ///
    /// # Safety
    /// The device may write to the first `len` bytes of the buffer until [`VirtioBlk::poll`] reports the slot or the
    /// device is reset; `len` is a multiple of 512.
    pub unsafe fn submit(
        &mut self,
        sector: u64,
        len: u32,
        address_of: impl FnOnce(usize) -> u64,
    ) -> Result<usize, Error> {
        let slot = self.in_use.iter().position(|used| !used).ok_or(Error::Busy)?;
        let first = slot.wrapping_mul(3);
        let request = self.place_of(offset_of!(Queue, requests), slot, size_of::<RequestHeader>());
        let status = self.place_of(offset_of!(Queue, status), slot, 1);
        self.put(request, RequestHeader { kind: 0, reserved: 0, sector });
        self.put(status, PENDING);
        let base = self.queue.expose_provenance();
        let chain = [
            (base.wrapping_add(request) as u64, size_of::<RequestHeader>() as u32, NEXT),
            (address_of(slot), len, NEXT | DEVICE_WRITES),
            (base.wrapping_add(status) as u64, 1, DEVICE_WRITES),
        ];
        for (at, (address, len, flags)) in (first..).zip(chain) {
            let next = if flags & NEXT != 0 { at.wrapping_add(1) as u16 } else { 0 };
            let place = self.place_of(offset_of!(Queue, descriptors), at, size_of::<Descriptor>());
            self.put(place, Descriptor { address, len, flags, next });
        }
        let turn = (self.submitted % QUEUE_SIZE as u64) as usize;
        self.put(self.place_of(offset_of!(Queue, available), turn, 2), first as u16);
        // The device reads the chain only after it has seen the index.
        fence(Ordering::SeqCst);
        self.submitted = self.submitted.wrapping_add(1);
        self.put(offset_of!(Queue, available_index), self.submitted as u16);
        fence(Ordering::SeqCst);
        if let Some(used) = self.in_use.get_mut(slot) {
            *used = true;
        }
        self.transport.notify();
        Ok(slot)
    }

    /// Returns the slot of the next request that has completed since the last call.
    ///
    /// # Errors
    /// `Failed` if the device reported an error, or reported a request that was never submitted.
    pub fn poll(&mut self) -> Result<Option<usize>, Error> {
        let index: u16 = self.get(offset_of!(Queue, used_index));
        if index == self.completed as u16 {
            return Ok(None);
        }
        fence(Ordering::SeqCst);
        let turn = (self.completed % QUEUE_SIZE as u64) as usize;
        let [first, _]: [u32; 2] = self.get(self.place_of(offset_of!(Queue, used), turn, 8));
        self.completed = self.completed.wrapping_add(1);
        let slot = first.wrapping_div(3) as usize;
        match self.in_use.get_mut(slot) {
            Some(used) if *used && first.is_multiple_of(3) => *used = false,
            _ => return Err(Error::Failed),
        }
        let status: u8 = self.get(self.place_of(offset_of!(Queue, status), slot, 1));
        if status == 0 { Ok(Some(slot)) } else { Err(Error::Failed) }
    }

    /// Returns the offset of an array element in the queue.
    const fn place_of(&self, array: usize, index: usize, size: usize) -> usize {
        array.wrapping_add(index.wrapping_mul(size))
    }

    /// Reads a value that the device may have written. `offset` is that of a `V` in [`Queue`].
    fn get<V: Copy>(&self, offset: usize) -> V {
        let place: *const V = self.queue.cast::<u8>().wrapping_add(offset).cast();
        // SAFETY: the queue is valid for the life of the driver, and every offset in this module is that of an element
        // of this type. No reference to this memory exists.
        unsafe { place.read_volatile() }
    }

    /// Writes a value that the device will read. `offset` is that of a `V` in [`Queue`].
    fn put<V: Copy>(&self, offset: usize, value: V) {
        let place: *mut V = self.queue.cast::<u8>().wrapping_add(offset).cast();
        // SAFETY: the queue is valid as explained in `get`; the slot is free, so the device does not read this
        // location.
        unsafe { place.write_volatile(value) };
    }
}

/// Resets the block device of a transport, if there is one, for a stage that does not use it.
///
/// # Errors
/// `Failed` for a device that does not complete its reset.
pub fn silence(transport: &impl Transport) -> Result<(), Error> {
    if transport.is_block() { reset(transport) } else { Ok(()) }
}

fn reset(transport: &impl Transport) -> Result<(), Error> {
    transport.set_status(0);
    // A modern device is reset when its status reads 0; a legacy one is reset immediately.
    let is_reset = (0..RESET_READS).any(|_| transport.status() == 0);
    if is_reset { Ok(()) } else { Err(Error::Failed) }
}

#[cfg(test)]
mod tests;
