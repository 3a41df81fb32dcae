//! Generates the device tree nodes that name an address, a size, an interrupt or a hart. The hand-written trees
//! (`device/boards/<name>/*.dts`) include them.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use super::output::NOTICE;
use hartlock_boards::model::{Board, Device, DomainRegionKind, Tree};

/// Returns the names and contents of the device tree fragments; none for a board without device trees.
pub fn fragments(board: &Board) -> Result<Vec<(&'static str, String)>> {
    if board.device.iter().all(|device| device.tree.is_none()) {
        return Ok(Vec::new());
    }
    let mut fragments = vec![
        ("memory.dtsi", memory(board)?),
        ("harts.dtsi", harts(board)?),
        ("devices.dtsi", devices(board, Tree::Both)?),
        ("boot-devices.dtsi", devices(board, Tree::Boot)?),
        ("system-devices.dtsi", devices(board, Tree::System)?),
        ("domain.dtsi", domain(board)?),
        ("domain-harts.dtsi", domain_harts(board)?),
    ];
    if let Some(iommu) = board.device.iter().find(|device| device.name == "iommu") {
        fragments.push(("system-map.dtsi", system_map(board, iommu)?));
    }
    Ok(fragments)
}

fn notice() -> String {
    format!("/* {NOTICE} */\n")
}

/// Formats an address or size as two cells of 32 bits.
fn cells(number: u64) -> String {
    format!("{:#x} {:#x}", number >> 32, number & 0xffff_ffff)
}

fn memory(board: &Board) -> Result<String> {
    let ram = board.region("ram")?;
    let size = board.end(ram)? - ram.start;
    let mut out = notice();
    writeln!(out, "memory@{:x} {{", ram.start)?;
    writeln!(out, "\tdevice_type = \"memory\";")?;
    writeln!(out, "\treg = <{} {}>;\n}};", cells(ram.start), cells(size))?;
    Ok(out)
}

fn harts(board: &Board) -> Result<String> {
    let mut out = notice();
    writeln!(out, "timebase-frequency = <{}>;", board.ticks_per_second)?;
    for hart in 0..board.harts {
        write!(
            out,
            "\ncpu{hart}: cpu@{hart:x} {{\n\
             \tdevice_type = \"cpu\";\n\treg = <{hart}>;\n\tstatus = \"okay\";\n\
             \tcompatible = \"riscv\";\n\triscv,isa = \"rv64imafdc\";\n\
             \tmmu-type = \"riscv,sv39\";\n\n\
             \tintc{hart}: interrupt-controller {{\n\
             \t\t#interrupt-cells = <1>;\n\t\tinterrupt-controller;\n\
             \t\tcompatible = \"riscv,cpu-intc\";\n\t}};\n}};\n"
        )?;
    }
    Ok(out)
}

/// Assigns every hart to the domain of OpenSBI, whose node has the label `system` (boot flow §5.6).
fn domain_harts(board: &Board) -> Result<String> {
    let harts: Vec<_> = (0..board.harts).map(|hart| format!("&cpu{hart}")).collect();
    let mut out = notice();
    writeln!(out, "\n&system {{\n\tpossible-harts = <{}>;\n}};\n", harts.join(" "))?;
    for hart in harts {
        writeln!(out, "{hart} {{ opensbi-domain = <&system>; }};")?;
    }
    Ok(out)
}

fn devices(board: &Board, tree: Tree) -> Result<String> {
    let mut out = notice();
    for device in board.device.iter().filter(|device| device.tree == Some(tree)) {
        for index in 0..device.count.unwrap_or(1) {
            node(&mut out, board, device, index)?;
        }
    }
    Ok(out)
}

fn node(out: &mut String, board: &Board, device: &Device, index: u64) -> Result<()> {
    let name = device.node.as_deref().context("a device in a tree has a node")?;
    let start = device.start + index * device.size.0;
    let label = device.label.as_ref().map(|label| format!("{label}: ")).unwrap_or_default();
    let compatible: Vec<_> = device.compatible.iter().map(|text| format!("{text:?}")).collect();
    ensure!(!compatible.is_empty(), "{}: compatible with nothing", device.name);
    writeln!(out, "\n{label}{name}@{start:x} {{")?;
    writeln!(out, "\tcompatible = {};", compatible.join(", "))?;
    writeln!(out, "\treg = <{} {}>;", cells(start), cells(device.size.0))?;
    for property in &device.properties {
        writeln!(out, "\t{property};")?;
    }
    if let Some(first) = device.interrupt {
        writeln!(out, "\tinterrupts = <{}>;", u64::from(first) + index)?;
        writeln!(out, "\tinterrupt-parent = <&plic>;")?;
    }
    if !device.hart_interrupts.is_empty() {
        let of = |hart| device.hart_interrupts.iter().map(move |it| format!("<&intc{hart} {it}>"));
        let interrupts: Vec<_> = (0..board.harts).flat_map(of).collect();
        writeln!(out, "\tinterrupts-extended = {};", interrupts.join(", "))?;
    }
    writeln!(out, "}};")?;
    Ok(())
}

/// Returns the memory regions of OpenSBI's domain: memory, and devices that S-mode must not access. Physical memory
/// protection needs regions whose size is a power of two and which are aligned to their size.
fn domain(board: &Board) -> Result<String> {
    let mut out = notice();
    for region in &board.region {
        let Some(kind) = region.domain else { continue };
        let size = board.end(region)? - region.start;
        closed(&mut out, &region.name, region.start, size, kind)?;
    }
    for device in board.device.iter().filter(|device| device.closed) {
        let size = device.size.0 * device.count.unwrap_or(1);
        closed(&mut out, &device.name, device.start, size, DomainRegionKind::Mmio)?;
    }
    Ok(out)
}

/// Returns the node that tells the monitor where registers and tables of the IOMMU are (boot flow §2.3).
fn system_map(board: &Board, iommu: &Device) -> Result<String> {
    let tables = board.region("iommu-tables")?;
    let size = board.end(tables)? - tables.start;
    let registers = format!("<{} {}>", cells(iommu.start), cells(iommu.size.0));
    let tables = format!("<{} {}>", cells(tables.start), cells(size));
    let mut out = notice();
    writeln!(out, "\nsystem-map@{:x} {{", iommu.start)?;
    writeln!(out, "\tcompatible = \"hartlock,system-map\";")?;
    writeln!(out, "\treg = {registers}, {tables};\n}};")?;
    Ok(out)
}

fn closed(
    out: &mut String,
    name: &str,
    start: u64,
    size: u64,
    kind: DomainRegionKind,
) -> Result<()> {
    let is_one = size.is_power_of_two() && start.is_multiple_of(size);
    ensure!(is_one, "{name}: memory protection needs an aligned power of two");
    writeln!(out, "\n{}: {name} {{", name.replace('-', "_"))?;
    writeln!(out, "\tcompatible = \"opensbi,domain,memregion\";")?;
    writeln!(out, "\tbase = <{}>;", cells(start))?;
    writeln!(out, "\torder = <{}>;", size.ilog2())?;
    if kind == DomainRegionKind::Mmio {
        writeln!(out, "\tmmio;")?;
    }
    writeln!(out, "}};")?;
    Ok(())
}
