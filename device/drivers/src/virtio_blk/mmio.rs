//! The virtio-mmio transport, legacy (version 1) and modern (version 2) (Virtual I/O Device Specification v1.2, §4.2).

use super::{Error, PAGE, Transport};

// These are register offsets (§4.2.2, §4.2.4).
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
const CONFIG: usize = 0x100;

const MAGIC: u32 = 0x7472_6976;
const BLOCK_DEVICE: u32 = 2;

/// A virtio-mmio slot.
#[derive(Debug)]
pub struct Mmio {
    base: usize,
}

impl Mmio {
    /// Creates the transport of the slot at `base`.
    ///
    /// # Safety
    /// `base` is the address of a virtio-mmio slot.
    pub const unsafe fn new(base: usize) -> Self {
        Self { base }
    }

    fn is_modern(&self) -> bool {
        self.read(VERSION) == 2
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
        // SAFETY: `base` is a virtio-mmio slot of 4 KiB, and every register used is inside.
        unsafe { place.write_volatile(value) };
    }

    /// Writes a 64-bit address to a pair of registers.
    fn write_address(&self, register: usize, address: usize) {
        self.write(register, address as u32);
        self.write(register.wrapping_add(4), (address as u64 >> 32) as u32);
    }
}

impl Transport for Mmio {
    fn is_block(&self) -> bool {
        self.read(MAGIC_VALUE) == MAGIC
            && self.read(DEVICE_ID) == BLOCK_DEVICE
            && matches!(self.read(VERSION), 1 | 2)
    }

    fn status(&self) -> u32 {
        self.read(STATUS)
    }

    fn set_status(&self, status: u32) {
        self.write(STATUS, status);
    }

    fn take_features(&self) -> Result<bool, Error> {
        // The only required feature is VIRTIO_F_VERSION_1 (bit 32), which modern devices demand.
        self.write(DRIVER_FEATURES_SEL, 0);
        self.write(DRIVER_FEATURES, 0);
        if self.is_modern() {
            self.write(DRIVER_FEATURES_SEL, 1);
            self.write(DRIVER_FEATURES, 1);
        }
        Ok(self.is_modern())
    }

    fn queue_limit(&self) -> u32 {
        self.write(QUEUE_SEL, 0);
        self.read(QUEUE_NUM_MAX)
    }

    fn set_queue(&self, size: u32, [descriptors, available, used]: [usize; 3]) {
        self.write(QUEUE_NUM, size);
        if self.is_modern() {
            self.write_address(QUEUE_DESC, descriptors);
            self.write_address(QUEUE_DRIVER, available);
            self.write_address(QUEUE_DEVICE, used);
            self.write(QUEUE_READY, 1);
        } else {
            self.write(GUEST_PAGE_SIZE, PAGE as u32);
            self.write(QUEUE_ALIGN, PAGE as u32);
            self.write(QUEUE_PFN, descriptors.wrapping_shr(12) as u32);
        }
    }

    fn notify(&self) {
        self.write(QUEUE_NOTIFY, 0);
    }

    fn config(&self, offset: usize) -> u32 {
        self.read(CONFIG.wrapping_add(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trapped::writes_to;

    fn mmio(base: *mut u32) -> Mmio {
        // SAFETY: the registers are used by this transport alone.
        unsafe { Mmio::new(base.expose_provenance()) }
    }

    #[test]
    fn a_slot_has_a_block_device_of_one_of_two_versions() {
        let right = [(MAGIC_VALUE, MAGIC), (VERSION, 1), (DEVICE_ID, 2)];
        let is_block = |words: &[_]| writes_to(words, |base| mmio(base).is_block()).0;
        assert!(is_block(&right) && is_block(&[right[0], (VERSION, 2), right[2]]));
        for other in [(MAGIC_VALUE, 0), (VERSION, 0), (VERSION, 3), (DEVICE_ID, 1)] {
            assert!(!is_block(&right.map(|it| if it.0 == other.0 { other } else { it })));
        }
    }

    #[test]
    fn each_version_has_its_features_and_places_of_the_queue() {
        let queue = [0x1_0000_2000, 0x3_0000_4000, 0x5_0000_6000];
        let both = |version| {
            writes_to(&[(VERSION, version), (QUEUE_NUM_MAX, 64), (0x100, 7), (0x104, 8)], |base| {
                let slot = mmio(base);
                slot.set_status(3);
                let (status, must_confirm) = (slot.status(), slot.take_features());
                let limit = slot.queue_limit();
                slot.set_queue(32, queue);
                slot.notify();
                (status, must_confirm, limit, slot.config(0), slot.config(4))
            })
        };
        let (got, writes) = both(1);
        assert_eq!(got, (3, Ok(false), 64, 7, 8));
        let legacy = [
            (STATUS, 3),
            (DRIVER_FEATURES_SEL, 0),
            (DRIVER_FEATURES, 0),
            (QUEUE_SEL, 0),
            (QUEUE_NUM, 32),
            (GUEST_PAGE_SIZE, 4096),
            (QUEUE_ALIGN, 4096),
            (QUEUE_PFN, 0x10_0002),
            (QUEUE_NOTIFY, 0),
        ];
        assert_eq!(writes, legacy);
        let (got, writes) = both(2);
        assert_eq!(got, (3, Ok(true), 64, 7, 8));
        let modern = [
            (STATUS, 3),
            (DRIVER_FEATURES_SEL, 0),
            (DRIVER_FEATURES, 0),
            (DRIVER_FEATURES_SEL, 1),
            (DRIVER_FEATURES, 1),
            (QUEUE_SEL, 0),
            (QUEUE_NUM, 32),
            (0x80, 0x2000),
            (0x84, 1),
            (0x90, 0x4000),
            (0x94, 3),
            (0xa0, 0x6000),
            (0xa4, 5),
            (QUEUE_READY, 1),
            (QUEUE_NOTIFY, 0),
        ];
        assert_eq!(writes, modern);
    }
}
