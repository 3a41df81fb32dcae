//! Device trees for Linux, right ones and ones with a single fault, and their vectors (boot flow §6).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use hartlock_handoff::builder::{Node, cells, system_tree};
use hartlock_handoff::cpus;
use hartlock_handoff::fdt::{Edits, Reservation, Tree, edit};
use hartlock_handoff::memory::{self, Filled, MemoryFault};
use hartlock_maps::qemu_virt::{self, HANDOFF, LOG, OPENSBI, ROM_RAM};
use hartlock_verify::board::{BOOT_HART, Region};
use serde::{Deserialize, Serialize};

use crate::trees::write_files;

/// The folder of the vectors in `spec/vectors`.
pub const FOLDER: &str = "system-trees";

/// Memory of the kernel and the initramfs of the vectors.
const FILLED: [Filled; 2] = [
    Filled { start: 0x8200_0000, end: 0x8400_0000 },
    Filled { start: 0x8800_0000, end: 0x8800_2000 },
];

/// A tree, and the rule of boot flow §6 that it breaks.
struct SystemTreeRow {
    name: &'static str,
    rule: Option<u32>,
    description: &'static str,
    make: fn() -> Vec<u8>,
}

/// A vector, as written in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SystemTreeExpected {
    name: String,
    rule: Option<u32>,
    description: String,
}

const fn row(
    name: &'static str,
    rule: Option<u32>,
    description: &'static str,
    make: fn() -> Vec<u8>,
) -> SystemTreeRow {
    SystemTreeRow { name, rule, description, make }
}

fn right() -> Node {
    system_tree(5, qemu_virt::RAM.start)
}

/// Makes the right tree with a change.
fn with(change: impl FnOnce(&mut Node)) -> Vec<u8> {
    let mut tree = right();
    change(&mut tree);
    tree.flatten()
}

fn without(names: &[&str]) -> Vec<u8> {
    with(|tree| tree.children.retain(|child| !names.contains(&child.name.as_str())))
}

/// Adds an entry to the memory reservation block.
fn with_entry(address: u32, size: u32) -> Vec<u8> {
    let mut bytes = right().flatten();
    bytes.splice(40..40, cells(&[0, address, 0, size]));
    for at in [4, 8, 12] {
        let field = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        bytes[at..at + 4].copy_from_slice(&(field + 16).to_be_bytes());
    }
    bytes
}

const TWO: [u8; 4] = [0, 0, 0, 2];

const ROWS: &[SystemTreeRow] = &[
    row("right", None, "A board with five harts, of which three reported.", || right().flatten()),
    row("right_without_chosen", None, "`/chosen` is added.", || without(&["chosen"])),
    row("right_without_reserved_memory", None, "`/reserved-memory` is added.", || {
        without(&["reserved-memory"])
    }),
    row("right_without_both", None, "Both nodes are added.", || {
        without(&["chosen", "reserved-memory"])
    }),
    row("right_bytes_after_the_tree", None, "What follows the tree is no part of it.", || {
        [right().flatten(), vec![0xa5; 100]].concat()
    }),
    row("right_two_cells_of_a_hart", None, "Numbers of harts have two cells.", || {
        with(|tree| {
            tree.at("cpus").set("#address-cells", &TWO);
            for hart in 0..5 {
                tree.at(&format!("cpus/cpu@{hart}")).set("reg", &cells(&[0, hart]));
            }
        })
    }),
    row("right_other_hart", None, "A hart that the board does not have is disabled.", || {
        with(|tree| {
            let cpu = tree.at("cpus/cpu@4");
            cpu.name = "cpu@0a".to_string();
            cpu.set("reg", &cells(&[10]));
        })
    }),
    row(
        "right_cpu_by_its_kind",
        None,
        "A hart that did not report has another name, and is disabled.",
        || with(|tree| tree.at("cpus/cpu@4").name = "core@4".to_string()),
    ),
    row(
        "right_cpu_without_unit_address",
        None,
        "Linux takes the number of `cpu` from its `reg`.",
        || {
            with(|tree| {
                let cpu = tree.at("cpus/cpu@3");
                cpu.name = "cpu".to_string();
                cpu.remove("device_type");
            })
        },
    ),
    row("right_no_cpu", None, "A cache and a CPU without a number are no harts.", || {
        with(|tree| {
            let cache = Node::new("cache@3").with("device_type", b"cache\0cpu\0");
            tree.at("cpus").children.push(cache.with("reg", &cells(&[3])));
            tree.at("cpus").children.push(Node::new("core").with("device_type", b"cpu\0"));
        })
    }),
    row("right_boot_hart_by_its_kind", None, "The boot hart has another name.", || {
        with(|tree| tree.at("cpus/cpu@0").name = "core@0".to_string())
    }),
    row("right_fewer_harts", None, "The tree names two harts of five.", || {
        with(|tree| tree.at("cpus").children.truncate(2))
    }),
    row("right_reservation_of_another", None, "A reservation far from every payload.", || {
        with(|tree| {
            let reserved = tree.at("reserved-memory");
            let vendor = Node::new("vendor@90000000");
            reserved
                .children
                .push(vendor.with("reg", &cells(&[0, 0x9000_0000, 0, 0x1000])).with("no-map", b""));
        })
    }),
    row("right_name_in_capitals", None, "`CPU@0` is no node `cpu@0`.", || {
        with(|tree| tree.at("cpus").children.insert(0, Node::new("CPU@0")))
    }),
    row("right_empty_reservation", None, "An entry without bytes reserves none.", || {
        with_entry(0x8300_0000, 0)
    }),
    row(
        "right_newer_instruction_set",
        None,
        "The instruction set by the newer properties.",
        || {
            with(|tree| {
                let cpu = tree.at("cpus/cpu@0");
                cpu.set("riscv,isa-base", b"rv64i\0");
                cpu.set("riscv,isa-extensions", b"i\0m\0a\0zicsr\0");
                cpu.remove("riscv,isa");
            })
        },
    ),
    row("no_timebase", Some(11), "No rate of the clock.", || {
        with(|tree| tree.at("cpus").remove("timebase-frequency"))
    }),
    row("boot_hart_of_another_kind", Some(11), "The boot hart is no RISC-V hart.", || {
        with(|tree| tree.at("cpus/cpu@0").set("compatible", b"vendor,core\0"))
    }),
    row("boot_hart_of_32_bits", Some(11), "The boot hart has RV32.", || {
        with(|tree| tree.at("cpus/cpu@0").set("riscv,isa", b"rv32imac\0"))
    }),
    row("boot_hart_without_atomics", Some(11), "The boot hart has no A.", || {
        with(|tree| {
            let cpu = tree.at("cpus/cpu@0");
            cpu.set("riscv,isa-base", b"rv64i\0");
            cpu.set("riscv,isa-extensions", b"i\0m\0c\0");
        })
    }),
    row(
        "boot_hart_without_controller",
        Some(11),
        "The boot hart has no interrupt controller.",
        || with(|tree| tree.at("cpus/cpu@0").children.clear()),
    ),
    row("short", Some(1), "The file is empty but for its mark.", || vec![0xd0, 0x0d, 0xfe, 0xed]),
    row("cut", Some(1), "The last byte of the strings is missing.", || {
        let mut bytes = right().flatten();
        bytes.pop();
        bytes
    }),
    row("version_16", Some(1), "Version 16 does not state the size of its structure.", || {
        let mut bytes = right().flatten();
        bytes[23] = 16;
        bytes
    }),
    row("property_after_child", Some(1), "A property of `/cpus` follows a child.", || {
        // The second token of the first hart becomes the end of this node.
        let mut bytes = right().flatten();
        let name = bytes.windows(8).position(|it| it == b"cpu@1\0\0\0").unwrap_or_default();
        bytes[name - 4..name + 8].copy_from_slice(&cells(&[4, 4, 4]));
        bytes
    }),
    row("two_chosen", Some(2), "There are two nodes `/chosen`.", || {
        with(|tree| tree.children.push(Node::new("chosen")))
    }),
    row("chosen_with_unit_address", Some(2), "Linux may take `/chosen@0` for `/chosen`.", || {
        with(|tree| tree.at("chosen").name = "chosen@0".to_string())
    }),
    row("two_reserved_memory", Some(2), "There are two nodes `/reserved-memory`.", || {
        with(|tree| {
            let second = tree.at("reserved-memory").clone();
            tree.children.push(second);
        })
    }),
    row("bootargs", Some(3), "The tree has a kernel command line.", || {
        with(|tree| tree.at("chosen").set("bootargs", b"quiet\0"))
    }),
    row("stale_initramfs", Some(3), "The tree has the initramfs of an earlier boot.", || {
        with(|tree| tree.at("chosen").set("linux,initrd-end", &[0; 8]))
    }),
    row("seed", Some(3), "The tree has the random numbers of an earlier boot.", || {
        with(|tree| tree.at("chosen").set("rng-seed", &[7; 32]))
    }),
    row("seed_of_addresses", Some(3), "The tree has the layout of an earlier boot.", || {
        with(|tree| tree.at("chosen").set("kaslr-seed", &[7; 8]))
    }),
    row("tables_of_uefi", Some(3), "The tree has addresses of firmware.", || {
        with(|tree| tree.at("chosen").set("linux,uefi-system-table", &[7; 8]))
    }),
    row("one_size_cell", Some(4), "Sizes of the root have one cell.", || {
        with(|tree| tree.set("#size-cells", &[0, 0, 0, 1]))
    }),
    row("no_cells", Some(4), "The root has the cells of the Devicetree Specification.", || {
        with(|tree| tree.remove("#address-cells"))
    }),
    row("one_reserved_cell", Some(4), "Addresses of reservations have one cell.", || {
        with(|tree| tree.at("reserved-memory").set("#address-cells", &[0, 0, 0, 1]))
    }),
    row("no_ranges", Some(4), "`/reserved-memory` has no `ranges`.", || {
        with(|tree| tree.at("reserved-memory").remove("ranges"))
    }),
    row("reservation_of_ours", Some(5), "The tree was edited before.", || {
        with(|tree| tree.at("reserved-memory").children.push(Node::new("hartlock-log@80120000")))
    }),
    row("hart_of_another_number", Some(6), "The node of hart 4 is that of hart 5.", || {
        with(|tree| tree.at("cpus/cpu@4").set("reg", &cells(&[5])))
    }),
    row("hart_without_number", Some(6), "The unit address of a hart is no number.", || {
        with(|tree| tree.at("cpus/cpu@4").name = "cpu@four".to_string())
    }),
    row("cpu_of_a_long_number", Some(6), "The number of a hart has three cells.", || {
        with(|tree| {
            let cpu = tree.at("cpus/cpu@4");
            cpu.name = "core@4".to_string();
            cpu.set("reg", &cells(&[0, 0, 4]));
        })
    }),
    row(
        "boot_hart_by_its_kind_disabled",
        Some(7),
        "Hart 0 has another name, and is disabled.",
        || {
            with(|tree| {
                let cpu = tree.at("cpus/cpu@0");
                cpu.name = "core@0".to_string();
                cpu.set("status", b"disabled\0");
            })
        },
    ),
    row("boot_hart_by_two_names", Some(7), "Hart 0 has a second node, of another name.", || {
        with(|tree| {
            let mut second = tree.at("cpus/cpu@0").clone();
            second.name = "core@0".to_string();
            tree.at("cpus").children.push(second);
        })
    }),
    row("no_boot_hart", Some(7), "There is no node of hart 0.", || {
        with(|tree| drop(tree.at("cpus").children.remove(0)))
    }),
    row("boot_hart_twice", Some(7), "There are two nodes of hart 0.", || {
        with(|tree| {
            let first = tree.at("cpus/cpu@0").clone();
            tree.at("cpus").children.push(first);
        })
    }),
    row("boot_hart_disabled", Some(7), "Hart 0 is disabled.", || {
        with(|tree| tree.at("cpus/cpu@0").set("status", b"disabled\0"))
    }),
    row("boot_hart_almost_enabled", Some(7), "To Linux `okx` is not `ok`.", || {
        with(|tree| tree.at("cpus/cpu@0").set("status", b"okx\0"))
    }),
    row("no_memory", Some(9), "There is no node of memory.", || without(&["memory@80000000"])),
    row("less_memory", Some(9), "The memory ends within the kernel.", || {
        with(|tree| {
            tree.at("memory@80000000").set("reg", &cells(&[0, 0x8000_0000, 0, 0x300_0000]));
        })
    }),
    row("memory_past_the_last_address", Some(9), "The sum of address and size wraps.", || {
        with(|tree| {
            let end_wraps = cells(&[u32::MAX, 0, 1, 0x9000_0000]);
            tree.at("memory@80000000").set("reg", &end_wraps);
        })
    }),
    row("reserved_with_memory", Some(10), "A property of memory hides no reservation.", || {
        with(|tree| {
            let vendor = Node::new("vendor@82000000").with("linux,usable-memory", b"");
            let vendor = vendor.with("reg", &cells(&[0, 0x8200_0000, 0, 0x1000]));
            tree.at("reserved-memory").children.push(vendor);
        })
    }),
    row("reserved_with_status", Some(10), "Linux reads `okay` without a zero, too.", || {
        with(|tree| {
            let vendor = Node::new("vendor@82000000").with("status", b"okay");
            let vendor = vendor.with("reg", &cells(&[0, 0x8200_0000, 0, 0x1000]));
            tree.at("reserved-memory").children.push(vendor);
        })
    }),
    row("reserved_kernel", Some(10), "A reservation has the end of the kernel.", || {
        with(|tree| {
            let vendor = Node::new("vendor@83fff000");
            let vendor = vendor.with("reg", &cells(&[0, 0x83ff_f000, 0, 0x1_0000]));
            tree.at("reserved-memory").children.push(vendor);
        })
    }),
    row("reserved_initramfs", Some(10), "An entry reserves the initramfs.", || {
        with_entry(0x8800_0000, 0x1000)
    }),
];

const fn reservation(name: &'static str, region: Region) -> Reservation<'static> {
    Reservation { name, address: region.start, size: region.size(), compatible: None }
}

const EDITS: Edits<'static> = Edits {
    bootargs: "console=ttyS0",
    initrd: Some((0x8800_0000, 0x8800_1234)),
    reservations: &[
        reservation("hartlock-opensbi", OPENSBI),
        reservation("hartlock-rom", ROM_RAM),
        Reservation {
            compatible: Some("hartlock,handoff-v1"),
            ..reservation("hartlock-handoff", HANDOFF)
        },
        Reservation {
            compatible: Some("hartlock,measurement-log-v1"),
            ..reservation("hartlock-log", LOG)
        },
    ],
    harts: 0b111,
    boot_hart: BOOT_HART as u64,
};

/// Returns the edited tree, or the number of the rule that the tree breaks.
fn judge(tree: &[u8]) -> Result<Vec<u8>, u32> {
    let mut out = vec![0; qemu_virt::LINUX_FDT.size() as usize];
    let len = edit(tree, &mut out, &EDITS).map_err(|fault| fault.rule as u32)?;
    out.truncate(len);
    let parts = Tree::parse(tree).ok_or(1_u32)?;
    memory::check(&parts, &FILLED, None).map_err(|fault| match fault {
        MemoryFault::NoMemory { .. } => 9_u32,
        MemoryFault::Reserved { .. } | MemoryFault::ReservedByEntry { .. } => 10,
        MemoryFault::Limited { .. } => 12,
    })?;
    cpus::check(&parts, EDITS.boot_hart).map_err(|_| 11_u32)?;
    Ok(out)
}

/// Returns every generated file by its name. The edited trees are those of the library.
///
/// # Errors
/// If the list cannot be encoded as JSON.
pub(crate) fn files() -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut lines = Vec::new();
    for row in ROWS {
        let (name, description) = (row.name.to_string(), row.description.to_string());
        lines.push(serde_json::to_string(&SystemTreeExpected {
            name,
            rule: row.rule,
            description,
        })?);
        let tree = (row.make)();
        if let Ok(edited) = judge(&tree) {
            files.insert(format!("{}.edited.dtb", row.name), edited);
        }
        files.insert(format!("{}.dtb", row.name), tree);
    }
    files.insert("expected.json".into(), format!("[\n{}\n]\n", lines.join(",\n")).into_bytes());
    Ok(files)
}

/// Writes every file. Returns the number of vectors.
///
/// # Errors
/// If a file cannot be written.
pub fn write(root: &Path) -> Result<usize> {
    write_files(root, FOLDER, files()?)?;
    Ok(ROWS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tree_gets_its_answer() {
        for row in ROWS {
            assert_eq!(judge(&(row.make)()).err(), row.rule, "{}", row.name);
        }
    }

    #[test]
    fn names_are_different_and_say_what_is_wrong() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.rule.is_none(), row.name.starts_with("right"), "{}", row.name);
            assert!(row.description.ends_with('.'), "{}", row.name);
        }
    }
}
