//! A polled virtio block device on virtio-mmio, legacy (version 1) and modern (version 2)
//! (Virtual I/O Device Specification v1.2, §2.7, §4.2, §5.2).
//!
//! The device is not trusted: it may write wrong bytes, late bytes, or nothing. What it is told
//! to write to must therefore be memory that no code trusts before it was hashed, and the queue is
//! located outside of it. Without an IOMMU, the driver cannot prevent a device with DMA from writing
//! *elsewhere* (SECURITY.md).

use core::mem::offset_of;
use core::sync::atomic::{Ordering, fence};

/// Maximum number of requests in flight.
pub const DEPTH: usize = 8;
/// Bytes of a sector, whatever the device's own block size (§5.2.4).
pub const SECTOR_SIZE: u64 = 512;

/// Descriptors: three a request.
const QUEUE_SIZE: usize = 32;
const PAGE: usize = 4096;

// Registers (§4.2.2, §4.2.4).
const MAGIC_VALUE: usize = 0x000;
const VERSION: usize = 0x004;
const DEVICE_ID: usize = 0x008;
const DRIVER_FEATURES: usize = 0x020;
const DRIVER_FEATURES_SEL: usize = 0x024;
const GUEST_PAGE_SIZE: usize = 0x028;
const QUEUE_SEL: usize = 0x030;
const QUEUE_NUM_MAX: usize = 0x034;
const QUEUE_NUM: usize = 0x038;
const QUEUE_ALIGN: usize = 0x03c;
const QUEUE_PFN: usize = 0x040;
const QUEUE_READY: usize = 0x044;
const QUEUE_NOTIFY: usize = 0x050;
const STATUS: usize = 0x070;
const QUEUE_DESC: usize = 0x080;
const QUEUE_DRIVER: usize = 0x090;
const QUEUE_DEVICE: usize = 0x0a0;
const CONFIG_CAPACITY: usize = 0x100;

const MAGIC: u32 = 0x7472_6976;
const BLOCK_DEVICE: u32 = 2;

// Device status bits (§2.1).
const ACKNOWLEDGE: u32 = 1;
const DRIVER: u32 = 2;
const DRIVER_OK: u32 = 4;
const FEATURES_OK: u32 = 8;

// Descriptor flags (§2.7.5).
const NEXT: u16 = 1;
const DEVICE_WRITES: u16 = 2;

/// How often the status is read until a reset counts as not completed: more than a second on any board.
const RESET_READS: u32 = 1_000_000;

/// Status that the device never writes: the request is still in flight.
const PENDING: u8 = 0xff;

/// Why a device cannot be used, or a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no block device at this address.
    NotThere,
    /// The device does not accept what every block device must offer.
    Unusable,
    /// No request slot is free.
    Busy,
    /// The device reported an error, or does not complete a reset.
    Failed,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Descriptor {
    address: u64,
    len: u32,
    flags: u16,
    next: u16,
}

/// Header of a request (§5.2.6).
#[repr(C)]
#[derive(Clone, Copy)]
struct Request {
    kind: u32,
    reserved: u32,
    sector: u64,
}

/// Memory that driver and device share. The layout is that of a legacy split queue (§2.7.2), which
/// is valid for both versions: descriptors and available ring, then the used ring on a page of
/// its own.
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
    requests: [Request; DEPTH],
    status: [u8; DEPTH],
}

impl Queue {
    /// An empty queue.
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
            requests: [Request { kind: 0, reserved: 0, sector: 0 }; DEPTH],
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
pub struct VirtioBlk {
    base: usize,
    queue: *mut Queue,
    /// Requests handed to the device so far, and how many of them it has reported back.
    submitted: u64,
    completed: u64,
    in_use: [bool; DEPTH],
}

impl VirtioBlk {
    /// Resets and sets up the device at `base`.
    ///
    /// # Errors
    /// `NotThere`, `Unusable`; `Failed` for a device that does not complete its reset.
    ///
    /// # Safety
    /// `base` is a virtio-mmio slot, `queue` points to a valid queue that lives as long as the
    /// device may use it, and no other code uses either.
    pub unsafe fn new(base: usize, queue: *mut Queue) -> Result<Self, Error> {
        let device = Self { base, queue, submitted: 0, completed: 0, in_use: [false; DEPTH] };
        let version = device.read(VERSION);
        if !device.is_block() || !(1..=2).contains(&version) {
            return Err(Error::NotThere);
        }
        // SAFETY: the caller gives the queue to this driver; no device uses it yet.
        unsafe { queue.write(Queue::new()) };
        device.set_up(version)?;
        Ok(device)
    }

    /// Resets the block device at `base`, if there is one, for a stage that does not use it.
    ///
    /// # Errors
    /// `Failed` for a device that does not complete its reset.
    ///
    /// # Safety
    /// `base` is a virtio-mmio slot, and no other code uses it.
    pub unsafe fn silence(base: usize) -> Result<(), Error> {
        let queue = core::ptr::null_mut();
        let device = Self { base, queue, submitted: 0, completed: 0, in_use: [false; DEPTH] };
        if device.is_block() { device.reset() } else { Ok(()) }
    }

    fn is_block(&self) -> bool {
        self.read(MAGIC_VALUE) == MAGIC && self.read(DEVICE_ID) == BLOCK_DEVICE
    }

    fn set_up(&self, version: u32) -> Result<(), Error> {
        let is_modern = version == 2;
        self.reset()?;
        self.write(STATUS, ACKNOWLEDGE);
        self.write(STATUS, ACKNOWLEDGE | DRIVER);
        // No feature is needed but VIRTIO_F_VERSION_1 (bit 32), which modern devices require.
        self.write(DRIVER_FEATURES_SEL, 0);
        self.write(DRIVER_FEATURES, 0);
        let mut status = ACKNOWLEDGE | DRIVER;
        if is_modern {
            self.write(DRIVER_FEATURES_SEL, 1);
            self.write(DRIVER_FEATURES, 1);
            status |= FEATURES_OK;
            self.write(STATUS, status);
            if self.read(STATUS) & FEATURES_OK == 0 {
                return Err(Error::Unusable);
            }
        }
        self.write(QUEUE_SEL, 0);
        if (self.read(QUEUE_NUM_MAX) as usize) < QUEUE_SIZE {
            return Err(Error::Unusable);
        }
        self.write(QUEUE_NUM, QUEUE_SIZE as u32);
        let queue = self.queue.expose_provenance();
        if is_modern {
            self.write_address(QUEUE_DESC, queue);
            self.write_address(QUEUE_DRIVER, queue.wrapping_add(QUEUE_SIZE.wrapping_mul(16)));
            self.write_address(QUEUE_DEVICE, queue.wrapping_add(PAGE));
            self.write(QUEUE_READY, 1);
        } else {
            self.write(GUEST_PAGE_SIZE, PAGE as u32);
            self.write(QUEUE_ALIGN, PAGE as u32);
            self.write(QUEUE_PFN, queue.wrapping_shr(12) as u32);
        }
        self.write(STATUS, status | DRIVER_OK);
        Ok(())
    }

    /// Bytes that the device holds.
    pub fn capacity(&self) -> u64 {
        let low = u64::from(self.read(CONFIG_CAPACITY));
        let high = u64::from(self.read(CONFIG_CAPACITY.wrapping_add(4)));
        (high << 32 | low).saturating_mul(SECTOR_SIZE)
    }

    /// Resets the device: it drops its queue and writes to memory no more (§2.1).
    ///
    /// # Errors
    /// `Failed` if it does not complete the reset. Then it may still write.
    pub fn reset(&self) -> Result<(), Error> {
        self.write(STATUS, 0);
        // A modern device is reset when the status reads 0; a legacy one does it at once.
        let is_reset = (0..RESET_READS).any(|_| self.read(STATUS) == 0);
        if is_reset { Ok(()) } else { Err(Error::Failed) }
    }

    /// Starts to read `len` bytes from `sector` on to `address`, and returns the slot.
    ///
    /// # Errors
    /// `Busy` if all slots are in flight.
    ///
    /// # Safety
    /// The device may write to `[address, address + len)` until [`VirtioBlk::poll`] reports the
    /// slot or the device is reset; `len` is a multiple of 512.
    pub unsafe fn submit(&mut self, sector: u64, address: u64, len: u32) -> Result<usize, Error> {
        let slot = self.in_use.iter().position(|used| !used).ok_or(Error::Busy)?;
        let first = slot.wrapping_mul(3);
        let request = self.place_of(offset_of!(Queue, requests), slot, size_of::<Request>());
        let status = self.place_of(offset_of!(Queue, status), slot, 1);
        self.put(request, Request { kind: 0, reserved: 0, sector });
        self.put(status, PENDING);
        let base = self.queue.expose_provenance();
        let chain = [
            (base.wrapping_add(request) as u64, size_of::<Request>() as u32, NEXT),
            (address, len, NEXT | DEVICE_WRITES),
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
        self.write(QUEUE_NOTIFY, 0);
        Ok(slot)
    }

    /// The next request that the device completed since the last call.
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

    /// Offset of an element of an array in the queue.
    const fn place_of(&self, array: usize, index: usize, size: usize) -> usize {
        array.wrapping_add(index.wrapping_mul(size))
    }

    /// Reads what the device may have written. `offset` is that of a `T` in [`Queue`].
    fn get<T: Copy>(&self, offset: usize) -> T {
        let place: *const T = self.queue.cast::<u8>().wrapping_add(offset).cast();
        // SAFETY: the queue is valid for the driver's life, and every offset that this module
        // makes is that of an element of this type. No reference to this memory exists.
        unsafe { place.read_volatile() }
    }

    /// Writes what the device will read. `offset` is that of a `T` in [`Queue`].
    fn put<T: Copy>(&self, offset: usize, value: T) {
        let place: *mut T = self.queue.cast::<u8>().wrapping_add(offset).cast();
        // SAFETY: as above; the slot is free, so the device does not read this location now.
        unsafe { place.write_volatile(value) };
    }

    fn read(&self, register: usize) -> u32 {
        let place: *const u32 =
            core::ptr::with_exposed_provenance(self.base.wrapping_add(register));
        // SAFETY: `base` is a virtio-mmio slot of 4 KiB, and every register used is inside.
        unsafe { place.read_volatile() }
    }

    fn write(&self, register: usize, value: u32) {
        let place: *mut u32 =
            core::ptr::with_exposed_provenance_mut(self.base.wrapping_add(register));
        // SAFETY: as above.
        unsafe { place.write_volatile(value) };
    }

    /// Writes a 64-bit address to a pair of registers.
    fn write_address(&self, register: usize, address: usize) {
        self.write(register, address as u32);
        self.write(register.wrapping_add(4), (address as u64 >> 32) as u32);
    }
}
