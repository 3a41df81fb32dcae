//! The virtio transport on a PCI bus (Virtual I/O Device Specification v1.2, §4.1), with a memory-mapped configuration
//! space (ECAM, PCI Express Base Specification §7.2.2). It supports block devices of bus 0, function 0.
//! A bus is used only if all of its virtio devices go through the IOMMU, for which they have to offer
//! VIRTIO_F_ACCESS_PLATFORM. Offsets from a device are accepted only if they are inside the memory that the driver assigned
//! to it.

use super::{Error, Transport};

/// Number of slots of a bus.
pub const SLOTS: usize = 32;
/// Number of functions of a slot, and of all slots of a bus.
const FUNCTIONS_OF_SLOT: usize = 8;
const FUNCTIONS: usize = SLOTS * FUNCTIONS_OF_SLOT;
/// Binary logarithm of the size in bytes of a function's configuration space.
const FUNCTION_SHIFT: usize = 12;

// These are offsets in the configuration space (PCI Local Bus Specification 3.0, §6.1).
const ID: usize = 0x00;
const COMMAND: usize = 0x04;
const CLASS: usize = 0x08;
const HEADER_TYPE: usize = 0x0e;
const BARS: usize = 0x10;
const BAR_COUNT: usize = 6;
const CAPABILITIES: usize = 0x34;

/// Command bits that enable memory accesses to and by the device, and disable its interrupt line.
const ENABLED: u16 = 1 << 10 | 1 << 2 | 1 << 1;
/// Command bits that enable memory accesses to the device, and disable those by it and its interrupt line.
const PASSIVE: u16 = 1 << 10 | 1 << 1;
/// Command bits that disable memory accesses and the interrupt line.
const DISABLED: u16 = 1 << 10;

const NO_DEVICE: u32 = 0xffff_ffff;
/// Vendor of virtio devices and their device numbers: transitional ones, then modern ones (§4.1.2).
const VIRTIO_VENDOR: u32 = 0x1af4;
const TRANSITIONAL: core::ops::Range<u32> = 0x1000..0x1040;
const MODERN: core::ops::Range<u32> = 0x1040..0x1080;
/// Device 0x1040 plus 2, which is the number of a block device (§4.1.2.1).
const MODERN_BLOCK: u32 = 0x1042 << 16 | VIRTIO_VENDOR;
/// Device 0x1040 plus 23, which is the number of an IOMMU (§5.13).
const MODERN_IOMMU: u32 = 0x1057 << 16 | VIRTIO_VENDOR;
/// Class of an IOMMU, with its subclass (PCI Code and ID Assignment Specification 1.11, §1.9).
const IOMMU_CLASS: u16 = 0x0806;

// These are bits of a BAR.
const IS_IO: u32 = 1;
const IS_64_BIT: u32 = 4;

/// Id of a vendor-specific capability; the next constants are the types of structures that it describes (§4.1.4).
const VENDOR: u8 = 9;
const COMMON: u8 = 1;
const NOTIFY: u8 = 2;
const DEVICE: u8 = 4;
/// Maximum number of capabilities in a list: each occupies at least four bytes after the header of 64.
const MAX_CAPABILITIES: usize = 48;

// These are offsets in the common configuration (§4.1.4.3).
const DEVICE_FEATURE_SELECT: usize = 0x00;
const DEVICE_FEATURE: usize = 0x04;
const DRIVER_FEATURE_SELECT: usize = 0x08;
const DRIVER_FEATURE: usize = 0x0c;
const MSIX_VECTOR: usize = 0x10;
const STATUS: usize = 0x14;
const QUEUE_SELECT: usize = 0x16;
const QUEUE_SIZE: usize = 0x18;
const QUEUE_MSIX_VECTOR: usize = 0x1a;
const QUEUE_ENABLE: usize = 0x1c;
const QUEUE_NOTIFY_OFF: usize = 0x1e;
const QUEUE_ADDRESSES: usize = 0x20;
const COMMON_SIZE: usize = 0x38;

const NO_VECTOR: u16 = 0xffff;
/// Feature bits VIRTIO_F_VERSION_1 (bit 32) and VIRTIO_F_ACCESS_PLATFORM (bit 33), as the second word.
const FEATURES: u32 = 1 << 1 | 1;

/// A bus with the address range for the registers of its devices.
#[derive(Debug)]
pub struct PciBus {
    config: usize,
    /// Unassigned part of the address range.
    memory: (usize, usize),
}

/// A block device whose registers were found.
#[derive(Debug)]
pub struct Pci {
    common: usize,
    notify: (usize, usize),
    notify_unit: usize,
    device: usize,
}

impl PciBus {
    /// Creates a bus with its configuration space at `config`, and with the addresses from `start` to `end` for
    /// registers.
    ///
    /// # Safety
    /// Both ranges are as described, and no other code uses them.
    pub const unsafe fn new(config: usize, (start, end): (usize, usize)) -> Self {
        Self { config, memory: (start, end) }
    }

    /// Disables memory access for every device of the bus, and checks that each virtio device goes through the IOMMU.
    ///
    /// # Errors
    /// `Unguarded` for a virtio device that bypasses the IOMMU, for a bridge, behind which nothing is checked, or for an
    /// IOMMU on the bus, which accesses memory itself, and may decide for other devices in place of that of the board;
    /// `Unusable` for a virtio device whose registers cannot be found.
    pub fn disable_all(&mut self) -> Result<(), Error> {
        // All are disabled before one of them is examined.
        self.each(|bus, function| {
            bus.write(function, COMMAND, DISABLED);
            Ok(())
        })?;
        self.each(Self::check)
    }

    /// Calls `act` for each function of the bus, until it fails.
    fn each(&mut self, act: fn(&mut Self, usize) -> Result<(), Error>) -> Result<(), Error> {
        (0..FUNCTIONS).try_for_each(|function| {
            if self.read::<u32>(function, ID) == NO_DEVICE { Ok(()) } else { act(self, function) }
        })
    }

    fn check(&mut self, function: usize) -> Result<(), Error> {
        if self.read::<u8>(function, HEADER_TYPE) & 0x7f != 0 {
            return Err(Error::Unguarded);
        }
        let id = self.read::<u32>(function, ID);
        if id == MODERN_IOMMU || self.read::<u16>(function, CLASS.wrapping_add(2)) == IOMMU_CLASS {
            return Err(Error::Unguarded);
        }
        let device = id.wrapping_shr(16);
        if id & 0xffff != VIRTIO_VENDOR || !(TRANSITIONAL.start..MODERN.end).contains(&device) {
            return Ok(());
        }
        // A transitional device has an interface without this feature.
        if TRANSITIONAL.contains(&device) {
            return Err(Error::Unguarded);
        }
        let is_guarded = self.registers(function, PASSIVE).map(|registers| registers.is_guarded());
        self.write(function, COMMAND, DISABLED);
        if is_guarded? { Ok(()) } else { Err(Error::Unguarded) }
    }

    /// Returns the block device in a slot, which is function 0 there, and enables it.
    ///
    /// # Errors
    /// `NotThere`; `Unusable` if its registers cannot be found or do not fit the address range.
    pub fn block(&mut self, slot: usize) -> Result<Pci, Error> {
        let function = slot.wrapping_mul(FUNCTIONS_OF_SLOT);
        let is_plain = self.read::<u8>(function, HEADER_TYPE) & 0x7f == 0;
        if self.read::<u32>(function, ID) != MODERN_BLOCK || !is_plain {
            return Err(Error::NotThere);
        }
        self.registers(function, ENABLED)
    }

    /// Assigns addresses to the registers of a modern device, writes its command register and finds its registers.
    fn registers(&mut self, function: usize, command: u16) -> Result<Pci, Error> {
        let regions = self.place_bars(function)?;
        self.write(function, COMMAND, command);
        let mut found = [None; 5];
        let mut next = self.read::<u8>(function, CAPABILITIES);
        for _ in 0..MAX_CAPABILITIES {
            let at = usize::from(next & !3);
            if at < 0x40 {
                break;
            }
            let [id, after, _, kind] = self.read::<u32>(function, at).to_le_bytes();
            next = after;
            let Some(place) = found.get_mut(usize::from(kind)).filter(|it| it.is_none()) else {
                continue;
            };
            if id == VENDOR {
                let bar = usize::from(self.read::<u8>(function, at.wrapping_add(4)));
                let [offset, len] = [8, 12].map(|field| {
                    let word: u32 = self.read(function, at.wrapping_add(field));
                    word as usize
                });
                let region = regions.get(bar).copied().ok_or(Error::Unusable)?;
                *place = Some((part(region, offset, len).ok_or(Error::Unusable)?, at));
            }
        }
        let get = |kind: u8| found.get(usize::from(kind)).copied().flatten().ok_or(Error::Unusable);
        let (((common, common_end), _), (notify, at), ((device, device_end), _)) =
            (get(COMMON)?, get(NOTIFY)?, get(DEVICE)?);
        if common_end.wrapping_sub(common) < COMMON_SIZE || device_end.wrapping_sub(device) < 8 {
            return Err(Error::Unusable);
        }
        let notify_unit = self.read::<u32>(function, at.wrapping_add(16)) as usize;
        Ok(Pci { common, notify, notify_unit, device })
    }

    /// Assigns addresses to the registers of a device. Returns the range of each BAR.
    fn place_bars(&mut self, function: usize) -> Result<[(usize, usize); BAR_COUNT], Error> {
        let mut regions = [(0, 0); BAR_COUNT];
        let mut index = 0;
        while let Some(region) = regions.get_mut(index) {
            let at = BARS.wrapping_add(index.wrapping_mul(4));
            let kind: u32 = self.read(function, at);
            let is_wide = kind & (IS_64_BIT | IS_IO) == IS_64_BIT;
            index = index.wrapping_add(if is_wide { 2 } else { 1 });
            if kind & IS_IO != 0 {
                continue;
            }
            // The bits that cannot be set encode the size (§6.2.5.1).
            self.write(function, at, u32::MAX);
            let mask = self.read::<u32>(function, at) & !0xf;
            let size = mask.wrapping_neg() as usize;
            if mask == 0 || !size.is_power_of_two() {
                self.write(function, at, 0_u32);
                continue;
            }
            let start = self.memory.0.wrapping_add(size.wrapping_sub(1)) & size.wrapping_neg();
            let end = start.wrapping_add(size);
            if start < self.memory.0 || end < start || end > self.memory.1 {
                return Err(Error::Unusable);
            }
            self.memory.0 = end;
            self.write(function, at, start as u32);
            if is_wide {
                self.write(function, at.wrapping_add(4), (start as u64 >> 32) as u32);
            }
            *region = (start, end);
        }
        Ok(regions)
    }

    fn read<T: Copy>(&self, function: usize, offset: usize) -> T {
        let place: *const T = core::ptr::with_exposed_provenance(self.place(function, offset));
        // SAFETY: the address is inside the configuration space of a function and aligned to the access size.
        unsafe { place.read_volatile() }
    }

    fn write<T: Copy>(&self, function: usize, offset: usize, value: T) {
        let place: *mut T = core::ptr::with_exposed_provenance_mut(self.place(function, offset));
        // SAFETY: the address is inside the configuration space of a function and aligned to the access size.
        unsafe { place.write_volatile(value) };
    }

    const fn place(&self, function: usize, offset: usize) -> usize {
        let function = function & (FUNCTIONS - 1);
        let offset = offset & ((1 << FUNCTION_SHIFT) - 1);
        self.config.wrapping_add(function << FUNCTION_SHIFT).wrapping_add(offset)
    }
}

/// Returns the part of a region that a device describes, if it is inside and aligned for 64-bit registers.
fn part(region: (usize, usize), offset: usize, len: usize) -> Option<(usize, usize)> {
    let start = region.0.checked_add(offset)?;
    let end = start.checked_add(len)?;
    (region.0 < region.1 && end <= region.1 && start.is_multiple_of(8)).then_some((start, end))
}

impl Pci {
    /// Returns true if the device offers to go through the IOMMU.
    fn is_guarded(&self) -> bool {
        self.write(DEVICE_FEATURE_SELECT, 1_u32);
        self.read::<u32>(DEVICE_FEATURE) & FEATURES == FEATURES
    }

    fn read<T: Copy>(&self, register: usize) -> T {
        let place: *const T =
            core::ptr::with_exposed_provenance(self.common.wrapping_add(register));
        // SAFETY: the register is inside the common configuration, whose size and alignment were checked.
        unsafe { place.read_volatile() }
    }

    fn write<T: Copy>(&self, register: usize, value: T) {
        let place: *mut T =
            core::ptr::with_exposed_provenance_mut(self.common.wrapping_add(register));
        // SAFETY: the register is inside the common configuration, whose size and alignment were checked.
        unsafe { place.write_volatile(value) };
    }
}

impl Transport for Pci {
    fn is_block(&self) -> bool {
        true
    }

    fn status(&self) -> u32 {
        self.read::<u8>(STATUS).into()
    }

    fn set_status(&self, status: u32) {
        self.write(STATUS, status as u8);
    }

    fn take_features(&self) -> Result<bool, Error> {
        if !self.is_guarded() {
            return Err(Error::Unguarded);
        }
        for (word, features) in [(0_u32, 0), (1, FEATURES)] {
            self.write(DRIVER_FEATURE_SELECT, word);
            self.write(DRIVER_FEATURE, features);
        }
        Ok(true)
    }

    fn queue_limit(&self) -> u32 {
        self.write(QUEUE_SELECT, 0_u16);
        self.read::<u16>(QUEUE_SIZE).into()
    }

    fn set_queue(&self, size: u32, places: [usize; 3]) {
        self.write(MSIX_VECTOR, NO_VECTOR);
        self.write(QUEUE_MSIX_VECTOR, NO_VECTOR);
        self.write(QUEUE_SIZE, size as u16);
        for (index, place) in places.into_iter().enumerate() {
            let at = QUEUE_ADDRESSES.wrapping_add(index.wrapping_mul(8));
            self.write(at, place as u32);
            self.write(at.wrapping_add(4), (place as u64 >> 32) as u32);
        }
        self.write(QUEUE_ENABLE, 1_u16);
    }

    fn notify(&self) {
        let offset = usize::from(self.read::<u16>(QUEUE_NOTIFY_OFF));
        let (start, end) = self.notify;
        let at = start.wrapping_add(offset.wrapping_mul(self.notify_unit));
        // The offset comes from the device. If it is outside of the area, no notification is sent, and the disk does
        // not respond.
        if at < start || at.wrapping_add(2) > end || !at.is_multiple_of(2) {
            return;
        }
        let place: *mut u16 = core::ptr::with_exposed_provenance_mut(at);
        // SAFETY: the address is inside the notification area.
        unsafe { place.write_volatile(0) };
    }

    fn config(&self, offset: usize) -> u32 {
        let place: *const u32 =
            core::ptr::with_exposed_provenance(self.device.wrapping_add(offset & 4));
        // SAFETY: the first eight bytes are inside, which was checked.
        unsafe { place.read_volatile() }
    }
}

#[cfg(test)]
mod tests;
