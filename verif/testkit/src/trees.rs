//! Device trees for OpenSBI, right ones and ones with a single fault, and their vectors (boot flow §5.6).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use hartlock_handoff::builder::{DOMAIN, MEMORY, Node, boot_tree, cells, region};
use hartlock_image::Reason::{self, DeviceTreeUnusable, MemoryNotClosed};
use hartlock_maps::{qemu_virt, qemu_virt_iommu};
use hartlock_verify::board::Board;
use serde::{Deserialize, Serialize};

use crate::expected;

/// The folder of the vectors in `spec/vectors`.
pub const FOLDER: &str = "trees";

/// A tree and what is said of it.
pub struct TreeRow {
    name: &'static str,
    board: &'static Board<'static>,
    reason: Option<Reason>,
    description: &'static str,
    make: fn() -> Vec<u8>,
}

/// A vector, as written in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeExpected {
    pub name: String,
    pub board: String,
    pub verdict: String,
    pub reason: Option<String>,
    pub description: String,
}

const fn row(
    name: &'static str,
    reason: Option<Reason>,
    description: &'static str,
    make: fn() -> Vec<u8>,
) -> TreeRow {
    TreeRow { name, board: &qemu_virt::BOARD, reason, description, make }
}

const fn open(name: &'static str, description: &'static str, make: fn() -> Vec<u8>) -> TreeRow {
    row(name, Some(MemoryNotClosed), description, make)
}

/// Makes the tree that is right for `qemu-virt`.
pub fn right() -> Node {
    boot_tree(5, qemu_virt::RAM.start, qemu_virt::BOARD.closed)
}

/// Makes the right tree with a change.
fn with(change: impl FnOnce(&mut Node)) -> Vec<u8> {
    let mut tree = right();
    change(&mut tree);
    tree.flatten()
}

/// Returns the value of the property `regions` of the domain.
fn regions(tree: &mut Node) -> &mut Vec<u8> {
    let domain = tree.at(DOMAIN);
    let found = domain.properties.iter_mut().find(|(name, _)| name == "regions");
    &mut found.expect("the domain has regions").1
}

/// Adds a region to the domain.
fn add(tree: &mut Node, base: u64, order: u32, permissions: u32) {
    let phandle = 0x200 + regions(tree).len() as u32;
    let name = format!("more-{base:x}");
    tree.at("chosen/opensbi-domains").children.push(region(&name, phandle, base, order));
    regions(tree).extend(cells(&[phandle, permissions]));
}

fn permit(tree: &mut Node, index: usize, permissions: u32) {
    regions(tree)[8 * index + 4..8 * index + 8].copy_from_slice(&permissions.to_be_bytes());
}

/// Adds a device below a bus of its own, with two address and two size cells.
fn device(tree: &mut Node, compatible: &str, reg: &[u32]) {
    let bus = Node::new(&format!("soc-{:x}", reg[1]))
        .with("#address-cells", &cells(&[2]))
        .with("#size-cells", &cells(&[2]));
    let text = format!("{compatible}\0");
    let node = Node::new("device").with("compatible", text.as_bytes());
    tree.children.push(bus.and(node.with("reg", &cells(reg))));
}

const ROWS: &[TreeRow] = &[
    row("right", None, "All that the board closes is closed, on five harts.", || right().flatten()),
    row("right_nodes_in_another_order", None, "The harts come before `/chosen`.", || {
        with(|tree| tree.children.reverse())
    }),
    row("right_hart_disabled", None, "A hart that is disabled needs no domain.", || {
        with(|tree| {
            tree.at("cpus/cpu@4").set("status", b"disabled\0");
            tree.at("cpus/cpu@4").remove("opensbi-domain");
        })
    }),
    row("right_fewer_harts", None, "The tree names three harts of five.", || {
        with(|tree| {
            tree.at("cpus").children.truncate(3);
            tree.at(DOMAIN).set("possible-harts", &cells(&[1, 2, 3]));
        })
    }),
    row("right_region_of_everything", None, "The largest region decides last.", || {
        with(|tree| add(tree, 0, 64, 0x3f))
    }),
    row("right_bytes_after_the_tree", None, "What follows the tree is no part of it.", || {
        [right().flatten(), vec![0xa5; 100]].concat()
    }),
    row("right_handoff_closed", None, "The hand-off block may be closed to loads, too.", || {
        with(|tree| permit(tree, 3, 0))
    }),
    TreeRow {
        board: &qemu_virt_iommu::BOARD,
        ..row("right_iommu", None, "The IOMMU and its tables are closed.", || {
            boot_tree(5, qemu_virt::RAM.start, qemu_virt_iommu::BOARD.closed).flatten()
        })
    },
    TreeRow {
        board: &qemu_virt_iommu::BOARD,
        ..open("iommu_open", "The tree is that of a board without IOMMU.", || right().flatten())
    },
    TreeRow {
        board: &qemu_virt_iommu::BOARD,
        ..open("slots_open", "The last slot of virtio-mmio is open.", || {
            let mut tree = boot_tree(5, qemu_virt::RAM.start, qemu_virt_iommu::BOARD.closed);
            add(&mut tree, qemu_virt_iommu::VIRTIO_SLOTS.end - 64, 6, 0x18);
            tree.flatten()
        })
    },
    row("cut", Some(DeviceTreeUnusable), "The last byte of the strings is missing.", || {
        let mut bytes = right().flatten();
        bytes.pop();
        bytes
    }),
    row("empty", Some(DeviceTreeUnusable), "The file is empty but for its mark.", || {
        right().flatten()[..4].to_vec()
    }),
    row("property_after_child", Some(DeviceTreeUnusable), "A property follows a child.", || {
        let mut bytes = right().flatten();
        let end = bytes.windows(8).position(|it| it == [0, 0, 0, 2, 0, 0, 0, 9]);
        let end = end.expect("the tree has an end");
        bytes.splice(end..end, cells(&[3, 0, 0]));
        for at in [4, 12, 36] {
            let field = u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) + 12;
            bytes[at..at + 4].copy_from_slice(&field.to_be_bytes());
        }
        bytes
    }),
    open(
        "emulator",
        "The tree names harts and nothing about OpenSBI, as emulators dump it.",
        || with(|tree| tree.at("chosen").children.clear()),
    ),
    open("no_chosen", "There is no node `/chosen`.", || {
        with(|tree| tree.children.retain(|it| it.name != "chosen"))
    }),
    open("two_chosen", "There are two nodes `/chosen`.", || {
        with(|tree| tree.children.insert(0, Node::new("chosen@0")))
    }),
    open("config_elsewhere", "The domains are not below `/chosen`.", || {
        with(|tree| {
            let config = tree.at("chosen").children.remove(1);
            tree.children.push(config);
        })
    }),
    open("two_domains", "Two domains: harts of the second one would be started elsewhere.", || {
        with(|tree| {
            let second = tree.at(DOMAIN).clone().with("phandle", &cells(&[0x300]));
            tree.at("chosen/opensbi-domains").children.push(second);
        })
    }),
    open("boot_hart_without_domain", "Hart 0 is in no domain.", || {
        with(|tree| tree.at("cpus/cpu@0").remove("opensbi-domain"))
    }),
    open("last_hart_without_domain", "Hart 4 is in no domain.", || {
        with(|tree| tree.at("cpus/cpu@4").remove("opensbi-domain"))
    }),
    open("hart_not_possible", "Hart 4 is not among `possible-harts`.", || {
        with(|tree| tree.at(DOMAIN).set("possible-harts", &cells(&[1, 2, 3, 4])))
    }),
    open("hart_twice", "Hart 1 has two nodes.", || {
        with(|tree| {
            let twin = tree.at("cpus/cpu@1").clone().with("phandle", &cells(&[0x300]));
            tree.at("cpus").children.push(twin);
        })
    }),
    open("hart_with_smepmp", "Hart 2 names Smepmp, in capitals.", || {
        with(|tree| tree.at("cpus/cpu@2").set("riscv,isa", b"rv64imafdc_SMEPMP\0"))
    }),
    open("no_cold_boot_hart", "Any hart may do the cold boot.", || {
        with(|tree| tree.at("chosen/opensbi-config").remove("cold-boot-harts"))
    }),
    open("other_boot_hart", "The domain is entered on hart 1.", || {
        with(|tree| tree.at(DOMAIN).set("boot-hart", &cells(&[2])))
    }),
    open("other_next_stage", "OpenSBI enters the kernel's place, and not the loader's.", || {
        with(|tree| tree.at(DOMAIN).set("next-addr", &cells(&[0, 0x8200_0000])))
    }),
    open("user_mode", "OpenSBI enters the loader in U-mode.", || {
        with(|tree| tree.at(DOMAIN).set("next-mode", &cells(&[0])))
    }),
    open("no_reset", "The domain may not reset the machine.", || {
        with(|tree| tree.at(DOMAIN).remove("system-reset-allowed"))
    }),
    open("loader_closed", "No region makes the loader executable.", || {
        with(|tree| permit(tree, 5, 0x18))
    }),
    row("no_console", Some(DeviceTreeUnusable), "OpenSBI has no driver for the console.", || {
        with(|tree| tree.at("bus/serial@10000000").set("compatible", b"vendor,uart\0"))
    }),
    row("console_disabled", Some(DeviceTreeUnusable), "The console is disabled.", || {
        with(|tree| tree.at("bus/serial@10000000").set("status", b"disabled\0"))
    }),
    row("console_without_registers", Some(DeviceTreeUnusable), "The console has no `reg`.", || {
        with(|tree| tree.at("bus/serial@10000000").remove("reg"))
    }),
    row("right_console_of_another_kind", None, "The console is known by its second name.", || {
        with(|tree| {
            tree.at("bus/serial@10000000").set("compatible", b"vendor,uart\0sifive,uart0\0")
        })
    }),
    row("right_console_without_registers", None, "The console of a host needs none.", || {
        with(|tree| {
            tree.at("bus/serial@10000000").set("compatible", b"ucb,htif0\0");
            tree.at("bus/serial@10000000").remove("reg");
        })
    }),
    open("kernel_not_executable", "The place of the kernel can be read and written alone.", || {
        with(|tree| add(tree, 0x8200_0000, 21, 0x18))
    }),
    open("kernel_in_a_region_of_devices", "The place of the kernel has `mmio`.", || {
        with(|tree| {
            add(tree, 0x8200_0000, 21, 0x3b);
            tree.at("chosen/opensbi-domains")
                .children
                .last_mut()
                .expect("a region")
                .set("mmio", b"");
        })
    }),
    open("half_of_memory", "The region of memory ends before that of the board.", || {
        with(|tree| tree.at(MEMORY).set("order", &cells(&[29])))
    }),
    row("right_closed_below_the_kernel", None, "Memory that has no place is closed.", || {
        with(|tree| add(tree, 0x80f0_0000, 20, 0))
    }),
    open("flash_left_out", "The region of the flash is not used.", || {
        with(|tree| drop(regions(tree).drain(..8)))
    }),
    open("handoff_left_out", "The hand-off block is as open as the memory around it.", || {
        with(|tree| drop(regions(tree).drain(24..32)))
    }),
    open("handoff_writable", "The hand-off block may be written.", || {
        with(|tree| permit(tree, 3, 0x18))
    }),
    open("flash_executable", "The flash may be executed.", || with(|tree| permit(tree, 0, 0x20))),
    open("page_of_opensbi_open", "A small open region is inside of a closed one.", || {
        with(|tree| add(tree, 0x8000_7000, 12, 0x38))
    }),
    open("last_bytes_of_flash_open", "The smallest region is at the end of the flash.", || {
        with(|tree| add(tree, 0x23ff_fff8, 3, 0x08))
    }),
    open("half_of_opensbi_closed", "The region ends in the middle of OpenSBI's memory.", || {
        with(|tree| tree.at("chosen/opensbi-domains/closed-80000000").set("order", &cells(&[19])))
    }),
    open("device_of_another_vendor", "OpenSBI drives the CLINT of T-Head, too.", || {
        with(|tree| device(tree, "thead,c900-clint", &[0, 0x1fff_c000, 0, 8]))
    }),
    open(
        "device_with_many_interrupts",
        "OpenSBI stores for each interrupt, beyond the PLIC.",
        || {
            with(|tree| {
                device(tree, "riscv,plic0", &[0, 0xc00_0000, 0, 0x40_0000]);
                tree.at("soc-c000000/device").set("riscv,ndev", &cells(&[0x500_0000]));
            })
        },
    ),
    row("right_deep", None, "A node may be as deep as the file has room for.", || {
        with(|tree| {
            let deep = (0..1200).fold(Node::new("n"), |node, _| Node::new("n").and(node));
            tree.children.push(deep);
        })
    }),
    open("more_harts", "OpenSBI takes memory for six harts, and the board has five.", || {
        boot_tree(6, qemu_virt::RAM.start, qemu_virt::BOARD.closed).flatten()
    }),
    open("heap_size", "OpenSBI takes the memory up to the loader.", || {
        with(|tree| tree.at("chosen/opensbi-config").set("heap-size", &cells(&[0x18_0000])))
    }),
    open("text_without_end", "To OpenSBI the domain is one only if a zero follows.", || {
        with(|tree| tree.at(DOMAIN).set("compatible", b"opensbi,domain,instance"))
    }),
    open(
        "number_of_a_hart_cut",
        "OpenSBI completes the number of hart 2 with what follows.",
        || with(|tree| tree.at("cpus/cpu@2").set("reg", &[0, 0, 0, 0, 0, 0, 0])),
    ),
    open(
        "more_regions_than_entries",
        "For the largest region there is no entry of the PMP.",
        || with(|tree| (0..8).for_each(|index| add(tree, 0x9000_0000 + 0x2000 * index, 12, 0x18))),
    ),
    open("equal_regions", "A closed and an open region have the same place.", || {
        with(|tree| add(tree, 0x8010_0000, 16, 0x18))
    }),
    open("base_not_aligned", "The closed region grows, so that an open one is smaller.", || {
        with(|tree| {
            tree.at("chosen/opensbi-domains/closed-80100000")
                .set("base", &cells(&[0, 0x8010_8000]));
            add(tree, 0x8010_0000, 16, 0x18);
        })
    }),
    open("closed_region_dropped", "OpenSBI drops a closed region inside a larger one.", || {
        with(|tree| {
            add(tree, 0x8000_0000, 22, 0);
            add(tree, 0x8000_0000, 21, 0x38);
        })
    }),
    open("clint_open", "A page of the CLINT, which OpenSBI closes, is opened.", || {
        with(|tree| add(tree, 0x200_0000, 12, 0x18))
    }),
    open("region_of_machine_mode", "A region with permissions for M-mode alone.", || {
        with(|tree| permit(tree, 1, 7))
    }),
    open("region_of_order_2", "A region is smaller than OpenSBI takes.", || {
        with(|tree| tree.at(MEMORY).set("order", &cells(&[2])))
    }),
    row("right_devices", None, "Every device is outside of what is closed.", || {
        with(|tree| {
            device(tree, "riscv,clint0", &[0, 0x200_0000, 0, 0x1_0000]);
            device(tree, "ns16550a", &[0, 0x1000_0000, 0, 0x100]);
            device(tree, "sifive,plic-1.0.0", &[0, 0xc00_0000, 0, 0x60_0000]);
        })
    }),
    row("right_translated", None, "No driver of OpenSBI uses a device of the PCI bus.", || {
        with(|tree| {
            device(tree, "pci1af4,1001", &[0, 0x2000_0000, 0, 8]);
            tree.at("soc-20000000").set("ranges", &cells(&[0; 6]));
        })
    }),
    TreeRow {
        board: &qemu_virt_iommu::BOARD,
        ..row("right_system_map", None, "The IOMMU and its tables are named.", || {
            let mut tree = boot_tree(5, qemu_virt::RAM.start, qemu_virt_iommu::BOARD.closed);
            let reg = [0, 0x301_0000, 0, 0x1000, 0, 0x8011_8000, 0, 0x8000];
            device(&mut tree, "hartlock,system-map", &reg);
            tree.flatten()
        })
    },
    TreeRow {
        board: &qemu_virt_iommu::BOARD,
        ..open("system_map_open", "The tables are in memory of Linux.", || {
            let mut tree = boot_tree(5, qemu_virt::RAM.start, qemu_virt_iommu::BOARD.closed);
            let reg = [0, 0x301_0000, 0, 0x1000, 0, 0x8100_0000, 0, 0x8000];
            device(&mut tree, "hartlock,system-map", &reg);
            tree.flatten()
        })
    },
    open("clint_in_rom_ram", "A timer would be set in the hand-off block.", || {
        with(|tree| device(tree, "riscv,clint0", &[0, 0x8010_c000, 0, 0x4000]))
    }),
    open("plic_before_flash", "The interrupt controller has less room than it needs.", || {
        with(|tree| device(tree, "riscv,plic0", &[0, 0x1fff_f000, 0, 0x1000]))
    }),
    open("console_in_flash", "A character would be a command to the flash.", || {
        with(|tree| device(tree, "ns16550a", &[0, 0x23ff_ffff, 0, 0x100]))
    }),
    open("console_offset", "The console's registers begin in the flash.", || {
        with(|tree| {
            device(tree, "ns16550a", &[0, 0x1fff_0000, 0, 0x100]);
            let console = tree.at("soc-1fff0000/device");
            console.set("reg-offset", &cells(&[0x1_0000]));
        })
    }),
    open("unknown_device", "A device of which no driver is known is in OpenSBI's memory.", || {
        with(|tree| device(tree, "vendor,device", &[0, 0x7fff_ff00, 1, 0]))
    }),
    open("reset_in_handoff", "A reset would write the hand-off block.", || {
        with(|tree| {
            device(tree, "syscon", &[0, 0x10_0000, 0, 0x1000]);
            tree.at("soc-100000/device").set("phandle", &cells(&[0x300]));
            let node = Node::new("reboot").with("compatible", b"syscon-reboot\0");
            let node = node.with("regmap", &cells(&[0x300]));
            tree.children.push(node.with("offset", &cells(&[0x8011_0000 - 0x10_0000])));
        })
    }),
    open("console_translated", "The address of the console is that of another bus.", || {
        with(|tree| {
            device(tree, "ns16550a", &[0, 0x1000_0000, 0, 0x100]);
            tree.at("soc-10000000").set("ranges", &cells(&[0, 0, 0, 0x2000_0000, 1, 0]));
        })
    }),
    open("console_offset_cut", "OpenSBI reads the offset of the console beyond its end.", || {
        with(|tree| {
            device(tree, "ns16550a", &[0, 0x1000_0000, 0, 0x100]);
            tree.at("soc-10000000/device").set("reg-offset", &[0x10]);
        })
    }),
    open("reg_cut", "The size of a device is missing.", || {
        with(|tree| device(tree, "ns16550a", &[0, 0x1000_0000]))
    }),
    open("region_twice", "Two nodes have the phandle of a region.", || {
        with(|tree| tree.children.push(region("other", 0x101, 0x1000_0000, 12)))
    }),
];

/// A vector with its bytes.
pub struct TreeVector {
    pub expected: TreeExpected,
    pub board: &'static Board<'static>,
    pub tree: Vec<u8>,
}

/// Makes every vector.
pub fn generate() -> Vec<TreeVector> {
    let make = |row: &TreeRow| TreeVector {
        expected: TreeExpected {
            name: row.name.into(),
            board: row.board.name.into(),
            verdict: if row.reason.is_some() { "refused" } else { "accepted" }.into(),
            reason: row.reason.map(|reason| expected::answer(Some(reason))),
            description: row.description.into(),
        },
        board: row.board,
        tree: (row.make)(),
    };
    ROWS.iter().map(make).collect()
}

/// Returns every generated file by its name.
///
/// # Errors
/// If the list cannot be encoded as JSON.
pub(crate) fn files() -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut lines = Vec::new();
    for TreeVector { expected, tree, .. } in generate() {
        lines.push(serde_json::to_string(&expected)?);
        files.insert(format!("{}.dtb", expected.name), tree);
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

/// Writes the files of a folder in `spec/vectors`.
pub(crate) fn write_files(
    root: &Path,
    folder: &str,
    files: BTreeMap<String, Vec<u8>>,
) -> Result<()> {
    let folder = root.join("spec/vectors").join(folder);
    fs::create_dir_all(&folder)?;
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hartlock_handoff::domain::{DomainFault, check};

    use super::*;

    #[test]
    fn every_tree_gets_its_answer() {
        for vector in generate() {
            let wanted = vector.board.domain().unwrap();
            let reason = check(&vector.tree, &wanted).err().map(|fault| match fault {
                DomainFault::Malformed | DomainFault::NoConsole => DeviceTreeUnusable,
                _ => MemoryNotClosed,
            });
            let answer = reason.map(|reason| expected::answer(Some(reason)));
            assert_eq!(answer, vector.expected.reason, "{}", vector.expected.name);
        }
    }

    #[test]
    fn names_are_different_and_say_what_is_wrong() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(row.description.ends_with('.'), "{}", row.name);
        }
    }
}
