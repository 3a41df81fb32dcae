//! The RISC-V IOMMU (RISC-V IOMMU Architecture Specification 1.0) as a guard: a device can access one range of memory,
//! at unchanged addresses, and no other memory.
//!
//! The IOMMU is *off* after reset, and no device can access memory. The tables are written once, before the IOMMU is
//! switched on. They contain two maps: that of the buffers, which the IOMMU uses, and that of the system, to which the
//! monitor changes one entry (`device/monitor/system_map.c`, which has the same offsets). The driver never uses the mode *bare*: in this mode devices bypass the tables, and
//! continue to do so until their cached contexts are invalidated.

/// The reason why the guard is not active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The IOMMU lacks a required feature.
    Unsuitable,
    /// The IOMMU did not accept a setting, or did not complete a command in time.
    Failed,
}

// These are the register offsets (§6).
const CAPABILITIES: usize = 0x00;
const DDTP: usize = 0x10;
const CQB: usize = 0x18;
const CQH: usize = 0x20;
const CQT: usize = 0x24;
const CQCSR: usize = 0x48;

/// Version 1.0 of the specification.
const VERSION: u64 = 0x10;
const VERSION_MASK: u64 = 0xff;
/// Required capabilities: second-stage tables Sv39x4, and MSI_FLAT, with which a device context has 64 bytes.
const NEEDED: u64 = 1 << 17 | 1 << 22;

// These are the modes of the device directory (§6.5).
const OFF: u64 = 0;
const ONE_LEVEL: u64 = 2;
const MODE: u64 = 0xf;
/// Bit that is set while the mode changes.
const BUSY: u32 = 1 << 4;

/// The bits enable, on and busy of cqcsr.
const CQ_ENABLE: u32 = 1;
const CQ_ON: u32 = 1 << 16;
const CQ_BUSY: u32 = 1 << 17;
/// Fault bits of cqcsr: memory fault, time-out, illegal command, interrupt of a fence.
const CQ_FAULTS: u32 = 0xf << 8;
/// Size of the command queue as used in cqb: 256 commands of 16 bytes, which is one page.
const CQ_LOG_SIZE: u64 = 7;
/// Commands that invalidate all device contexts, first-stage translations and second-stage translations, and wait until
/// this is done (§4.1). The second word of each is zero.
const COMMANDS: [u64; 4] = [3, 1, 1 | 1 << 7, 2];

/// Maximum number of reads of a register. They take more than a second on any board.
const READS: u32 = 1_000_000;

const PAGE: u64 = 4096;
const MEGA_PAGE: u64 = 2 << 20;
const GIGA_PAGE: u64 = 1 << 30;

/// Word offsets in the tables: a root of four pages, the next level with the map of the buffers, the device directory,
/// the commands, and the next level with the map of the system (boot flow §2.3).
const ROOT: usize = 0;
const BUFFER_MAP: usize = 2048;
const DIRECTORY: usize = BUFFER_MAP + 512;
const QUEUE: usize = DIRECTORY + 512;
const SYSTEM_MAP: usize = QUEUE + 512;
/// Number of words of all tables.
const WORDS: usize = SYSTEM_MAP + 512;
/// Size of the tables in bytes. They start at a multiple of 16 KiB.
pub const TABLES_SIZE: u64 = (WORDS * 8) as u64;
const TABLES_ALIGN: u64 = 4 * PAGE;

// These are bits of page-table entries (RISC-V Privileged Architecture §10.3). A second-stage leaf entry needs U; A and
// D are set, so that no access has to set them.
const POINTER: u64 = 1;
const LEAF: u64 = 0xd7;
const SV39X4: u64 = 8 << 60;
/// Number of words of a device context; the next constant is its valid bit.
const CONTEXT_WORDS: usize = 8;
const VALID: u64 = 1;

/// A set of devices and the memory that they can access: first address and address after the last byte, both multiples
/// of 2 MiB. Both ranges are in the same gigabyte.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// Device identifiers, which are less than 64.
    pub devices: &'a [u8],
    /// Memory of the buffers, which devices can access from the beginning.
    pub buffers: (u64, u64),
    /// Memory of the system, which devices can access after the monitor has changed the map.
    pub system: (u64, u64),
}

/// The driver of an IOMMU.
#[derive(Debug)]
pub struct Iommu {
    base: usize,
}

impl Iommu {
    /// Creates the driver of the IOMMU whose registers are at `base`.
    ///
    /// # Safety
    /// The registers are at `base`, and no other code uses them.
    pub const unsafe fn new(base: usize) -> Self {
        Self { base }
    }

    /// Switches the IOMMU off, so that no device can access memory.
    ///
    /// # Errors
    /// `Failed`.
    pub fn close(&self) -> Result<(), Error> {
        self.set_directory(OFF)
    }

    /// Permits devices to access the buffers, and no other memory. The IOMMU must be off before. `fence` orders memory
    /// accesses before register accesses.
    ///
    /// # Errors
    /// `Unsuitable`, also for a grant or an address of the tables that is not possible; `Failed`.
    ///
    /// # Safety
    /// The IOMMU reads the tables until it is switched off: they stay in place, and only trusted code can access them.
    pub unsafe fn guard(
        &self,
        grant: &Grant<'_>,
        tables: &'static mut [u64],
        fence: fn(),
    ) -> Result<(), Error> {
        let capabilities: u64 = self.read(CAPABILITIES);
        if capabilities & VERSION_MASK != VERSION || capabilities & NEEDED != NEEDED {
            return Err(Error::Unsuitable);
        }
        let at = tables.as_mut_ptr().expose_provenance() as u64;
        fill(tables, at, grant)?;
        fence();
        self.set_directory(page(at, DIRECTORY).wrapping_shr(12) << 10 | ONE_LEVEL)?;
        self.forget(page(at, QUEUE))
    }

    /// Sets the device directory, and checks that it is set.
    fn set_directory(&self, value: u64) -> Result<(), Error> {
        self.wait(DDTP, BUSY, 0)?;
        self.write(DDTP, value);
        self.wait(DDTP, BUSY, 0)?;
        // The address is not compared when the IOMMU is off, because it has no meaning then.
        let mask = if value == OFF { MODE } else { u64::MAX };
        if self.read::<u64>(DDTP) & mask == value { Ok(()) } else { Err(Error::Failed) }
    }

    /// Invalidates all cached data. The commands are at address `queue`.
    fn forget(&self, queue: u64) -> Result<(), Error> {
        self.write(CQCSR, 0_u32);
        self.wait(CQCSR, CQ_BUSY | CQ_ON, 0)?;
        self.write(CQB, queue.wrapping_shr(12) << 10 | CQ_LOG_SIZE);
        self.write(CQT, 0_u32);
        self.write(CQCSR, CQ_ENABLE);
        self.wait(CQCSR, CQ_BUSY | CQ_ON, CQ_ON)?;
        self.write(CQT, COMMANDS.len() as u32);
        self.wait(CQH, u32::MAX, COMMANDS.len() as u32)?;
        if self.read::<u32>(CQCSR) & CQ_FAULTS != 0 {
            return Err(Error::Failed);
        }
        self.write(CQCSR, 0_u32);
        self.wait(CQCSR, CQ_BUSY | CQ_ON, 0)
    }

    /// Waits until these bits of a register, or of its lower half, have this value.
    #[inline(never)]
    fn wait(&self, register: usize, bits: u32, value: u32) -> Result<(), Error> {
        let is_there = (0..READS).any(|_| self.read::<u32>(register) & bits == value);
        if is_there { Ok(()) } else { Err(Error::Failed) }
    }

    fn read<T: Copy>(&self, register: usize) -> T {
        let place: *const T = core::ptr::with_exposed_provenance(self.base.wrapping_add(register));
        // SAFETY: this is a register of the page at `base`, read with its own width.
        unsafe { place.read_volatile() }
    }

    fn write<T: Copy>(&self, register: usize, value: T) {
        let place: *mut T =
            core::ptr::with_exposed_provenance_mut(self.base.wrapping_add(register));
        // SAFETY: this is a register of the page at `base`, written with its own width.
        unsafe { place.write_volatile(value) };
    }
}

/// Returns the address of a part of the tables.
const fn page(tables: u64, word: usize) -> u64 {
    tables.wrapping_add(word as u64 * 8)
}

/// Writes the tables, whose address is `at`.
fn fill(tables: &mut [u64], at: u64, grant: &Grant<'_>) -> Result<(), Error> {
    let giga = grant.buffers.0 / GIGA_PAGE;
    let is_range = |(start, end): (u64, u64)| {
        start < end
            && start.is_multiple_of(MEGA_PAGE)
            && end.is_multiple_of(MEGA_PAGE)
            && start / GIGA_PAGE == giga
            && end.wrapping_sub(1) / GIGA_PAGE == giga
    };
    let is_possible = tables.len() >= WORDS
        && at.is_multiple_of(TABLES_ALIGN)
        && is_range(grant.buffers)
        && is_range(grant.system);
    if !is_possible {
        return Err(Error::Unsuitable);
    }
    tables.fill(0);
    let mut put = |index: usize, value: u64| {
        if let Some(word) = tables.get_mut(index) {
            *word = value;
        }
    };
    put(ROOT.wrapping_add(giga as usize), page(at, BUFFER_MAP).wrapping_shr(12) << 10 | POINTER);
    for (map, (start, end)) in [(BUFFER_MAP, grant.buffers), (SYSTEM_MAP, grant.system)] {
        let mut address = start;
        while address < end {
            let index = (address % GIGA_PAGE / MEGA_PAGE) as usize;
            put(map.wrapping_add(index), address.wrapping_shr(12) << 10 | LEAF);
            address = address.wrapping_add(MEGA_PAGE);
        }
    }
    for device in grant.devices {
        let context = DIRECTORY.wrapping_add(usize::from(device % 64).wrapping_mul(CONTEXT_WORDS));
        put(context, VALID);
        put(context.wrapping_add(1), SV39X4 | page(at, ROOT).wrapping_shr(12));
    }
    for (index, command) in COMMANDS.into_iter().enumerate() {
        put(QUEUE.wrapping_add(index.wrapping_mul(2)), command);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::trapped::{RegisterAccess, with_registers};

    const AT: u64 = 0x8011_8000;
    const GRANT: Grant<'static> = Grant {
        devices: &[8, 16],
        buffers: (0x8060_0000, 0x8080_0000),
        system: (0x8060_0000, 0xc000_0000),
    };

    fn tables(grant: &Grant<'_>) -> Result<Vec<u64>, Error> {
        let mut tables = vec![!0; WORDS];
        fill(&mut tables, AT, grant).map(|()| tables)
    }

    /// Returns the address that a device's access reaches, by a walk of the tables as the specifications describe it
    /// (IOMMU §2.3; Privileged Architecture §18.5). All other bits of the entries have to be zero.
    fn walk(tables: &[u64], device: u64, address: u64) -> Option<u64> {
        let word = |place: u64| {
            assert!(
                (AT..AT + TABLES_SIZE).contains(&place) && place.is_multiple_of(8),
                "{place:#x}"
            );
            tables[((place - AT) / 8) as usize]
        };
        let context = AT + DIRECTORY as u64 * 8 + device * 64;
        let control = word(context);
        if control & 1 == 0 {
            assert!((0..8).all(|index| word(context + index * 8) == 0));
            return None;
        }
        assert!(control == 1 && (2..8).all(|index| word(context + index * 8) == 0));
        let second_stage = word(context + 8);
        assert_eq!(second_stage >> 44, 0x0008_0000);
        let mut table = (second_stage & ((1 << 44) - 1)) << 12;
        assert_eq!(table % (16 << 10), 0);
        if address >> 41 != 0 {
            return None;
        }
        let mut shift = 30;
        let mut index = address >> shift;
        loop {
            let entry = word(table + index * 8);
            if entry & 1 == 0 {
                assert_eq!(entry, 0);
                return None;
            }
            let target = (entry >> 10) << 12;
            match entry & 0x3ff {
                0xd7 => {
                    let size = 1 << shift;
                    assert_eq!(target % size, 0);
                    return Some(target + address % size);
                }
                bits => assert_eq!(bits, 1),
            }
            table = target;
            shift -= 9;
            index = address >> shift & 511;
        }
    }

    /// Checks that devices reach a range at its own address and nothing else.
    fn expect_range(tables: &[u64], (start, end): (u64, u64)) {
        for device in 0..64 {
            // Beyond the ranges, one address of each entry of the root.
            for mega in (0..2048).chain((2048..1 << (41 - 21)).step_by(512)) {
                let address = mega << 21;
                let is_granted = [8, 16].contains(&device) && (start..end).contains(&address);
                let expected = is_granted.then_some(address + 0x1234);
                assert_eq!(walk(tables, device, address + 0x1234), expected, "{address:#x}");
            }
            assert_eq!(walk(tables, device, start + (1 << 41)), None);
        }
    }

    #[test]
    fn devices_reach_the_buffers_and_after_a_change_of_one_entry_the_system() {
        let mut tables = tables(&GRANT).unwrap();
        expect_range(&tables, GRANT.buffers);
        assert_eq!(tables[QUEUE..QUEUE + 9], [3, 0, 1, 0, 129, 0, 2, 0, 0]);
        assert_eq!(TABLES_SIZE, 8 * 4096);
        // This is what the monitor does.
        let entry = (AT >> 30) as usize;
        assert_eq!(tables[entry], (AT + 0x4000) >> 12 << 10 | 1);
        tables[entry] = (AT + 0x7000) >> 12 << 10 | 1;
        expect_range(&tables, GRANT.system);
    }

    #[test]
    fn what_the_tables_cannot_express_is_refused() {
        for range in [
            (0x8060_1000, 0xc000_0000),
            (0x8060_0000, 0xbfff_f000),
            (0x8060_0000, 0xc020_0000),
            (0xc000_0000, 0xc000_0000),
            (0x8060_0000, 0x8060_0000),
        ] {
            for grant in [Grant { buffers: range, ..GRANT }, Grant { system: range, ..GRANT }] {
                assert_eq!(tables(&grant).err(), Some(Error::Unsuitable), "{grant:?}");
            }
        }
        let elsewhere = Grant { system: (0x4000_0000, 0x4020_0000), ..GRANT };
        assert_eq!(tables(&elsewhere).err(), Some(Error::Unsuitable));
        assert_eq!(fill(&mut vec![0; WORDS], AT + PAGE, &GRANT), Err(Error::Unsuitable));
        assert_eq!(fill(&mut vec![0; WORDS - 1], AT, &GRANT), Err(Error::Unsuitable));
    }

    #[test]
    fn memory_that_is_no_iommu_is_no_guard() {
        let registers = vec![0_u64; 512].leak();
        let guard = |registers: &mut [u64]| {
            // SAFETY: this is a page that only this test uses.
            let iommu = unsafe { Iommu::new(registers.as_mut_ptr().expose_provenance()) };
            let tables = vec![0_u64; WORDS + 2048].leak();
            let skip = tables.as_ptr().align_offset(TABLES_ALIGN as usize);
            // SAFETY: no device reads the tables.
            unsafe { iommu.guard(&GRANT, &mut tables[skip..], || ()) }
        };
        assert_eq!(guard(registers), Err(Error::Unsuitable));
        // The memory has the right capabilities and accepts the directory, but executes no command.
        registers[0] = VERSION | NEEDED;
        assert_eq!(guard(registers), Err(Error::Failed));
        registers[0] = VERSION | 1 << 22;
        assert_eq!(guard(registers), Err(Error::Unsuitable));
        // The change of the mode never ends.
        registers[0] = VERSION | NEEDED;
        registers[2] = 1 << 4;
        assert_eq!(guard(registers), Err(Error::Failed));
    }

    std::thread_local! {
        static FENCES: Cell<usize> = const { Cell::new(0) };
    }

    /// Bit 4 of ddtp (§6.5). The model has its own numbers, so that a wrong one of the driver is seen.
    const DDTP_BUSY: u32 = 1 << 4;

    /// An IOMMU that takes each setting one read after it is written. `refuses` are bits of cqcsr that it has after its
    /// commands. Returns the writes that `act` makes, with the number of fences before each; none may be made while the
    /// IOMMU is busy.
    fn model<T>(
        capabilities: u64,
        refuses: u32,
        act: impl FnOnce(&Iommu) -> T,
    ) -> (T, Vec<(usize, u64, usize)>) {
        let mut writes = Vec::new();
        let mut busy = None;
        FENCES.set(0);
        let device = |access: RegisterAccess, registers: &mut [u32]| {
            let register = |at: usize| at / 4;
            registers[0] = capabilities as u32;
            registers[1] = (capabilities >> 32) as u32;
            let (RegisterAccess::Read(at) | RegisterAccess::Write(at)) = access;
            if let RegisterAccess::Read(_) = access {
                match busy.take_if(|(busy, reads)| *busy == at && *reads == 0) {
                    None => busy.iter_mut().for_each(|(_, reads)| *reads = 0),
                    Some((DDTP, _)) => registers[register(DDTP)] &= !DDTP_BUSY,
                    Some(_) => registers[register(CQCSR)] &= !(1 << 17),
                }
                return;
            }
            let high = if [DDTP, CQB].contains(&at) { registers[register(at) + 1] } else { 0 };
            let value = u64::from(high) << 32 | u64::from(registers[register(at)]);
            writes.push((at, if busy.is_some() { !0 } else { value }, FENCES.get()));
            match at {
                DDTP => {
                    // The address means nothing in the mode off.
                    registers[register(DDTP)] |= DDTP_BUSY | if value == OFF { 0x400 } else { 0 };
                    busy = Some((at, 1));
                }
                CQCSR if value == 1 => registers[register(at)] |= 1 << 16 | 1 << 17,
                CQCSR => registers[register(at)] = 1 << 17,
                CQT if value != 0 => {
                    registers[register(CQH)] = value as u32;
                    registers[register(CQCSR)] |= refuses;
                }
                _ => {}
            }
            if at == CQCSR {
                busy = Some((at, 1));
            }
        };
        let result = with_registers(1024, device, |base| {
            // SAFETY: only this driver uses the registers.
            act(&unsafe { Iommu::new(base.expose_provenance()) })
        });
        assert!(refuses != 0 || busy.is_none(), "the IOMMU is still busy");
        (result, writes)
    }

    /// Calls `guard`, and returns the writes with the address of the tables.
    fn guarded(capabilities: u64, refuses: u32) -> (Result<(), Error>, Writes, u64) {
        let tables = vec![!0_u64; WORDS + 2048].leak();
        let skip = tables.as_ptr().align_offset(TABLES_ALIGN as usize);
        let tables = &mut tables[skip..];
        let at = tables.as_ptr() as u64;
        let fence = || FENCES.set(FENCES.get() + 1);
        let (result, writes) = model(capabilities, refuses, |iommu| {
            // SAFETY: no device reads the tables.
            unsafe { iommu.guard(&GRANT, tables, fence) }
        });
        (result, writes, at)
    }

    type Writes = Vec<(usize, u64, usize)>;
    const CAPABLE: u64 = 0x10 | 1 << 17 | 1 << 22 | 1 << 40;

    #[test]
    fn the_directory_is_set_after_the_tables_and_then_caches_are_invalidated() {
        let (result, writes, at) = guarded(CAPABLE, 0);
        assert_eq!(result, Ok(()));
        let wanted = [
            (DDTP, (at + 0x5000) >> 12 << 10 | 2, 1),
            (CQCSR, 0, 1),
            (CQB, (at + 0x6000) >> 12 << 10 | 7, 1),
            (CQT, 0, 1),
            (CQCSR, 1, 1),
            (CQT, 4, 1),
            (CQCSR, 0, 1),
        ];
        assert_eq!(writes, wanted);
        assert_eq!(model(CAPABLE, 0, Iommu::close), (Ok(()), vec![(DDTP, 0, 0)]));
    }

    #[test]
    fn a_fault_of_any_command_and_a_missing_capability_are_errors() {
        for bit in 8..12 {
            assert_eq!(guarded(CAPABLE, 1 << bit).0, Err(Error::Failed), "{bit}");
        }
        for bit in [12, 15] {
            assert_eq!(guarded(CAPABLE, 1 << bit).0, Ok(()), "{bit}");
        }
        for missing in [1 << 4, 1 << 17, 1 << 22] {
            let (result, writes, _) = guarded(CAPABLE ^ missing, 0);
            assert_eq!((result, writes), (Err(Error::Unsuitable), vec![]), "{missing:#x}");
        }
        assert_eq!(guarded(CAPABLE | 1, 0).0, Err(Error::Unsuitable), "another version");
    }

    /// Memory whose directory keeps other bits than those that were written.
    #[test]
    fn a_directory_that_is_not_set_is_an_error() {
        let change = |bits: u32| {
            let device = |access: RegisterAccess, registers: &mut [u32]| {
                if access == RegisterAccess::Write(DDTP) {
                    registers[DDTP / 4] ^= bits;
                }
            };
            with_registers(1024, device, |base| {
                // SAFETY: only this driver uses the registers.
                let iommu = unsafe { Iommu::new(base.expose_provenance()) };
                [OFF, 0x400 | ONE_LEVEL].map(|value| iommu.set_directory(value).is_ok())
            })
        };
        assert_eq!(change(0), [true, true]);
        assert_eq!(change(0x800), [true, false]);
        for bit in 0..4 {
            assert_eq!(change(1 << bit), [false, false], "{bit}");
        }
    }
}
