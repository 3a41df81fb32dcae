//! A virtio block device on virtio-mmio with the modern interface (Virtual I/O Device Specification v1.2, §2.7,
//! §4.2, §5.2), as far as the loader uses it: the device only reads, and completes each request when it is
//! notified.
//!
//! Its DMA reaches all modelled memory, like that of a device without an IOMMU.

use crate::memory::{Memory, read};

const MAGIC: u64 = 0x7472_6976;
const BLOCK_DEVICE: u64 = 2;
const QUEUE_SIZE_MAX: u64 = 1024;
const SECTOR_SIZE: usize = 512;
/// Maximum number of descriptors in a request.
const CHAIN_MAX: usize = 8;
// Descriptor flags (§2.7.5).
const NEXT: u64 = 1;
const DEVICE_WRITES: u64 = 2;
/// Request status `VIRTIO_BLK_S_UNSUPP` (§5.2.6).
const UNSUPPORTED: u64 = 2;

/// Registers of the device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Virtio {
    status: u64,
    queue_size: u64,
    is_ready: bool,
    /// Addresses of descriptor table, driver area and device area.
    areas: [u64; 3],
    seen: u16,
    used: u16,
}

impl Virtio {
    /// Reads a register.
    pub fn read(&self, register: u64, disk: &[u8]) -> u64 {
        let sectors = (disk.len() / SECTOR_SIZE) as u64;
        match register {
            0x000 => MAGIC,
            0x004 => 2,
            0x008 => BLOCK_DEVICE,
            0x034 => QUEUE_SIZE_MAX,
            0x044 => self.is_ready.into(),
            0x070 => self.status,
            0x100 => sectors & 0xffff_ffff,
            0x104 => sectors >> 32,
            _ => 0,
        }
    }

    /// Writes a register.
    pub fn write(&mut self, (register, value): (u64, u64), memory: &mut Memory, disk: &[u8]) {
        match register {
            0x038 => self.queue_size = value & 0xffff,
            0x044 => self.is_ready = value & 1 != 0,
            0x050 => self.serve(memory, disk),
            // Writing 0 resets the device, including its queue.
            0x070 if value == 0 => *self = Self::default(),
            0x070 => self.status = value,
            0x080..0x0b0 => {
                let area = &mut self.areas[(register as usize - 0x080) / 0x10];
                let shift = if register & 4 == 0 { 0 } else { 32 };
                *area = *area & !(0xffff_ffff << shift) | (value & 0xffff_ffff) << shift;
            }
            _ => {}
        }
    }

    /// Completes all requests in the available ring. Does nothing if the queue is not in memory.
    fn serve(&mut self, memory: &mut Memory, disk: &[u8]) {
        if !self.is_ready || self.status & 4 == 0 || self.queue_size == 0 {
            return;
        }
        for _ in 0..self.queue_size {
            if self.serve_one(memory, disk).is_none() {
                break;
            }
        }
    }

    fn serve_one(&mut self, memory: &mut Memory, disk: &[u8]) -> Option<()> {
        let [_, driver, device] = self.areas.map(offset);
        let index = memory.load::<2>(driver.wrapping_add(2))? as u16;
        if index == self.seen {
            return None;
        }
        let turn = u64::from(self.seen) % self.queue_size;
        let head = memory.load::<2>(driver.wrapping_add(4 + 2 * turn))?;
        self.seen = self.seen.wrapping_add(1);
        let len = self.transfer(head, memory, disk)?;
        let turn = u64::from(self.used) % self.queue_size;
        memory.store::<4>(device.wrapping_add(4 + 8 * turn), head)?;
        memory.store::<4>(device.wrapping_add(8 + 8 * turn), len)?;
        self.used = self.used.wrapping_add(1);
        memory.store::<2>(device.wrapping_add(2), self.used.into())
    }

    /// Processes a descriptor chain: header, data, status. Returns the number of bytes written to memory.
    fn transfer(&self, head: u64, memory: &mut Memory, disk: &[u8]) -> Option<u64> {
        let mut next = head;
        let mut header = None;
        let mut written = 0;
        for _ in 0..CHAIN_MAX {
            let descriptor = offset(self.areas[0]).wrapping_add(16 * (next % self.queue_size));
            let address = offset(memory.load::<8>(descriptor)?);
            let len = memory.load::<4>(descriptor.wrapping_add(8))?;
            let flags = memory.load::<2>(descriptor.wrapping_add(12))?;
            next = memory.load::<2>(descriptor.wrapping_add(14))?;
            let is_last = flags & NEXT == 0;
            match header {
                None => {
                    let sector = memory.load::<8>(address.wrapping_add(8))?;
                    header = Some((memory.load::<4>(address)?, sector));
                }
                Some((kind, _)) if is_last => {
                    memory.store::<1>(address, if kind == 0 { 0 } else { UNSUPPORTED })?;
                    return Some(written + 1);
                }
                Some((0, sector)) if flags & DEVICE_WRITES != 0 => {
                    copy(memory, (address, len), disk, sector.wrapping_mul(512) + written);
                    written += len;
                }
                Some(_) => {}
            }
        }
        None
    }
}

/// Copies disk contents to memory, up to the end of the disk or of memory.
fn copy(memory: &mut Memory, (to, len): (u64, u64), disk: &[u8], from: u64) {
    for at in (0..len).step_by(8) {
        let Some(value) = read::<8>(disk, from.wrapping_add(at)) else { return };
        if memory.store::<8>(to.wrapping_add(at), value).is_none() {
            return;
        }
    }
}

fn offset(address: u64) -> u64 {
    address.wrapping_sub(hartlock_maps::qemu_virt::RAM.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_sector_and_says_so() {
        let disk: Vec<u8> = (0..1024).map(|at| (at / 512) as u8 + 1).collect();
        let mut memory = Memory::filled(16 * 4096, [0, 0]);
        let base = 0x8000_0000_u64;
        // The request reads sector 1 to address 0x3000, with the status at 0x2010; each part has one
        // descriptor.
        memory.store::<8>(0x2008, 1).unwrap();
        let chain = [(0x2000, 16, 1, 1), (0x3000, 512, 3, 2), (0x2010, 1, 2, 0)];
        for (at, (address, len, flags, next)) in (0..).zip(chain) {
            memory.store::<8>(16 * at, base + address).unwrap();
            memory.store::<8>(16 * at + 8, len | flags << 32 | next << 48).unwrap();
        }
        memory.store::<1>(0x2010, 0xff).unwrap();
        memory.store::<2>(0x202, 1).unwrap();
        let mut device = Virtio::default();
        let areas = [(0x80, base), (0x90, base + 0x200), (0xa0, base + 0x1000)];
        for (register, address) in areas {
            device.write((register, address & 0xffff_ffff), &mut memory, &disk);
        }
        for written in [(0x38, 32), (0x44, 1), (0x70, 15), (0x50, 0)] {
            device.write(written, &mut memory, &disk);
        }
        assert_eq!(memory.load::<8>(0x31f8), Some(0x0202_0202_0202_0202));
        assert_eq!(memory.load::<8>(0x3200), Some(0));
        assert_eq!(memory.load::<1>(0x2010), Some(0));
        assert_eq!(memory.load::<2>(0x1002), Some(1));
        // A device that was reset processes no requests.
        device.write((0x70, 0), &mut memory, &disk);
        memory.store::<2>(0x202, 2).unwrap();
        device.write((0x50, 0), &mut memory, &disk);
        assert_eq!(memory.load::<2>(0x1002), Some(1));
    }
}
