//! The addresses of the devices in the device tree for OpenSBI (boot flow §5.6).
//!
//! When S-mode asks for an interrupt, a timer or a reset, OpenSBI stores in M-mode where this tree says that the device
//! is. No protection of memory from S-mode covers that.

use super::{Access, Closed, DomainFault, FoundNode, Source};
use crate::fdt::be32_at;

/// A kind of device whose driver does not look at the size in `reg` (OpenSBI 1.8, drivers `mswi`, `mtimer`, `plic` and
/// `syscon`).
#[derive(Clone, Copy)]
struct Driven {
    compatible: &'static str,
    /// Number of bytes that the driver uses.
    size: u64,
    /// Number of regions by which OpenSBI closes the device to S-mode.
    regions: usize,
}

const fn driven(compatible: &'static str, size: u64, regions: usize) -> Driven {
    Driven { compatible, size, regions }
}

const DRIVEN: [Driven; 15] = [
    driven("riscv,clint0", 0xc000, 1),
    driven("sifive,clint0", 0xc000, 1),
    driven("sifive,clint2", 0xc000, 1),
    driven("thead,c900-clint", 0xc000, 1),
    driven("riscv,aclint-mswi", 0x4000, 1),
    driven("thead,c900-aclint-mswi", 0x4000, 1),
    driven("mips,p8700-aclint-mswi", 0x4000, 1),
    driven("riscv,aclint-mtimer", 0x8000, 2),
    driven("thead,c900-aclint-mtimer", 0x8000, 2),
    driven("mips,p8700-aclint-mtimer", 0x8000, 2),
    driven("riscv,plic0", 0x400_0000, 0),
    driven("sifive,plic-1.0.0", 0x400_0000, 0),
    driven("thead,c900-plic", 0x400_0000, 0),
    driven("andestech,nceplic100", 0x400_0000, 0),
    driven("syscon", 4, 0),
];
/// Consoles of the driver `uart8250`, which has eight registers from `reg-offset` on, each 2^`reg-shift` bytes after the
/// one before it.
const CONSOLES: [&str; 4] = ["ns16550", "ns16550a", "snps,dw-apb-uart", "intel,xscale-uart"];
/// Other consoles that OpenSBI has drivers for (OpenSBI 1.8, lib/utils/serial).
const OTHER_CONSOLES: [&str; 10] = [
    "cdns,uart-r1p8",
    "cdns,uart-r1p12",
    "starfive,jh8100-uart",
    "gaisler,apbuart",
    "litex,liteuart",
    "renesas,scif-r9a07g043",
    "shakti,uart0",
    "sifive,fu540-c000-uart",
    "sifive,uart0",
    "xlnx,xps-uartlite-1.00.a",
];
/// A console without registers in its node.
const HOST_CONSOLE: &str = "ucb,htif0";
/// Maximum number of sources of a PLIC (RISC-V Platform-Level Interrupt Controller Specification 1.0.0, §1.1). OpenSBI stores
/// at four bytes for each source that the tree states.
const MAX_SOURCES: u32 = 1023;
/// Nodes without registers of their own. They name one of another node, by `regmap` and `offset`.
const RESETS: [&str; 2] = ["syscon-poweroff", "syscon-reboot"];
pub(super) const SYSTEM_MAP: &str = "hartlock,system-map";

/// Maximum depth of a node below which there are devices.
pub(super) const MAX_DEPTH: usize = 16;

/// The form of the addresses of the children of a node (Devicetree Specification v0.4 §2.3.5).
#[derive(Clone, Copy)]
struct Bus {
    address_cells: u32,
    size_cells: u32,
    /// The addresses are not those of a hart.
    is_translated: bool,
}

/// A range of addresses, of which the end can be above 2^64.
#[derive(Clone, Copy)]
struct Registers {
    start: u64,
    size: u64,
}

impl Registers {
    /// Returns the first address that the two ranges have in common.
    fn common(self, closed: &Closed) -> Option<u64> {
        let end = u128::from(self.start).saturating_add(u128::from(self.size));
        let first = self.start.max(closed.start);
        (u128::from(first) < end && first < closed.end).then_some(first)
    }
}

impl<'a> Source<'a> {
    /// Checks that no driver of OpenSBI stores in closed memory.
    pub(super) fn devices(&self, closed: &[Closed]) -> Result<(), DomainFault> {
        self.nodes.clone().try_for_each(|node| self.device(&node, closed))
    }

    /// Returns true if OpenSBI finds a console. It takes that of `stdout-path`, or else the first, and waits for ever if there
    /// is none (`fdt_serial_init`, `generic_early_init`).
    pub(super) fn has_console(&self) -> bool {
        self.nodes.clone().any(|node| {
            let is_one_of =
                |names: &[&str]| names.iter().any(|it| self.tree.is_compatible(&node, it));
            let has_registers = self.tree.property(&node, "reg").is_some_and(|reg| !reg.is_empty());
            let is_console = is_one_of(&CONSOLES) || is_one_of(&OTHER_CONSOLES);
            self.tree.is_enabled(&node)
                && (is_console && has_registers || is_one_of(&[HOST_CONSOLE]))
        })
    }

    /// Returns the number of regions that OpenSBI adds to a domain for devices.
    pub(super) fn closing_devices(&self) -> usize {
        let count =
            |node: FoundNode<'a>| self.driven(&node).map(|it| it.regions).max().unwrap_or(0);
        self.nodes.clone().map(count).fold(0, usize::saturating_add)
    }

    fn driven(&self, node: &FoundNode<'a>) -> impl Iterator<Item = &'static Driven> {
        DRIVEN.iter().filter(|it| self.tree.is_compatible(node, it.compatible))
    }

    fn device(&self, node: &FoundNode<'a>, closed: &[Closed]) -> Result<(), DomainFault> {
        let is_one_of = |names: &[&str]| names.iter().any(|it| self.tree.is_compatible(node, it));
        // OpenSBI reads beyond the end of a value that is too short.
        let number = |name| match self.tree.property(node, name) {
            Some(value) => be32_at(value, 0).ok_or(DomainFault::Registers),
            None => Ok(0),
        };
        if is_one_of(&RESETS) {
            let named = self.node(Some(number("regmap")?), "regmap")?;
            let first = self.registers(&named, self.bus(&named)?, 0);
            let first = first.filter(|_| self.tree.is_compatible(&named, "syscon"));
            let start = first.ok_or(DomainFault::Reference("regmap"))?.start;
            let start = start.saturating_add(u64::from(number("offset")?));
            return outside(Registers { start, size: 4 }, closed);
        }
        if ["compatible", "reg"].iter().any(|name| self.tree.property(node, name).is_none()) {
            return Ok(());
        }
        let mut used = self.driven(node).map(|it| it.size).max();
        if is_one_of(&CONSOLES) {
            let distance = 1u64.checked_shl(number("reg-shift")?).unwrap_or(u64::MAX);
            let offset = u64::from(number("reg-offset")?);
            used = Some(distance.saturating_mul(8).saturating_add(offset));
        }
        if number("riscv,ndev")? > MAX_SOURCES {
            return Err(DomainFault::Registers);
        }
        let is_system_map = self.tree.is_compatible(node, SYSTEM_MAP);
        let is_driven = used.is_some() || is_system_map;
        let bus = self.bus(node)?;
        // A bus such as PCI has addresses of its own, and one of numbers, such as that of the harts, has no registers.
        if !is_driven && (bus.is_translated || bus.size_cells == 0) {
            return Ok(());
        }
        if bus.is_translated {
            return Err(DomainFault::Translated);
        }
        let entry = bus.address_cells.saturating_add(bus.size_cells).saturating_mul(4) as usize;
        let reg = self.tree.property(node, "reg").unwrap_or_default();
        if reg.len().checked_rem(entry) != Some(0) {
            return Err(DomainFault::Registers);
        }
        let mut index = 0;
        while let Some(Registers { start, size }) = self.registers(node, bus, index) {
            index = index.saturating_add(1);
            if is_system_map {
                inside(Registers { start, size }, closed)?;
            } else {
                outside(Registers { start, size: size.max(used.unwrap_or(1)) }, closed)?;
            }
        }
        Ok(())
    }

    /// Returns how a node is addressed.
    fn bus(&self, wanted: &FoundNode<'a>) -> Result<Bus, DomainFault> {
        let mut buses = [Bus { address_cells: 2, size_cells: 1, is_translated: false }; MAX_DEPTH];
        for node in self.nodes.clone() {
            let above = buses.get(node.depth.saturating_sub(1)).copied();
            if node == *wanted {
                return above.ok_or(DomainFault::TooDeep);
            }
            let cell = |name, default| {
                let value = self.tree.property(&node, name);
                value.map_or(default, |value| be32_at(value, 0).unwrap_or(u32::MAX))
            };
            if let (Some(above), Some(own)) = (above, buses.get_mut(node.depth)) {
                let ranges = self.tree.property(&node, "ranges").unwrap_or_default();
                *own = Bus {
                    address_cells: cell("#address-cells", 2),
                    size_cells: cell("#size-cells", 1),
                    is_translated: above.is_translated || !ranges.is_empty(),
                };
            }
        }
        Err(DomainFault::TooDeep)
    }

    /// Reads an entry of `reg`. Of an address with more than two cells, OpenSBI takes the last two.
    fn registers(&self, node: &FoundNode<'a>, bus: Bus, index: usize) -> Option<Registers> {
        let (address, size) = (bus.address_cells as usize, bus.size_cells as usize);
        let reg = self.tree.property(node, "reg")?.as_chunks::<4>().0;
        let entry = reg.chunks_exact(address.checked_add(size)?.max(1)).nth(index)?;
        let (address, size) = entry.split_at_checked(address).filter(|it| !it.0.is_empty())?;
        let number = |cells: &[[u8; 4]]| {
            cells
                .iter()
                .fold(0u64, |number, cell| number << 32 | u64::from(u32::from_be_bytes(*cell)))
        };
        Some(Registers { start: number(address), size: number(size) })
    }
}

/// Checks that a driver does not access memory that is closed. OpenSBI's own devices are in the ranges that it closes
/// itself.
fn outside(registers: Registers, closed: &[Closed]) -> Result<(), DomainFault> {
    for (index, range) in closed.iter().enumerate() {
        if let (Some(address), true) = (registers.common(range), range.access != Access::Monitor) {
            return Err(DomainFault::DeviceInside { index, address });
        }
    }
    Ok(())
}

/// Checks that S-mode cannot access registers or tables of the call "system map" (boot flow §2.3).
fn inside(registers: Registers, closed: &[Closed]) -> Result<(), DomainFault> {
    let last = registers.start.checked_add(registers.size.saturating_sub(1));
    let is_inside = |it: &Closed| {
        it.access == Access::None
            && it.start <= registers.start
            && last.is_some_and(|at| at < it.end)
    };
    let is_closed = closed.iter().any(is_inside);
    if is_closed { Ok(()) } else { Err(DomainFault::SystemMapOpen { address: registers.start }) }
}
