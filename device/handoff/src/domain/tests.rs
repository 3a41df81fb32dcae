//! Each test changes one property of a tree that is right.

use std::vec::Vec;

use super::devices::{MAX_DEPTH, SYSTEM_MAP};
use super::*;
use crate::builder::{DOMAIN, DOMAIN_PHANDLE, MEMORY as OPEN, Node, boot_tree, cells, region};

const CLOSED: [Closed; 4] = [
    Closed { start: 0x2000_0000, end: 0x2400_0000, access: Access::None },
    Closed { start: 0x8000_0000, end: 0x8010_0000, access: Access::None },
    Closed { start: 0x8011_0000, end: 0x8011_1000, access: Access::Read },
    Closed { start: 0x200_0000, end: 0x201_0000, access: Access::Monitor },
];
const WANTED: Wanted<'_> = Wanted {
    closed: &CLOSED,
    harts: 5,
    boot_hart: 0,
    next_stage: 0x8020_0000,
    linux: Some((0x8100_0000, 0xc000_0000)),
};
const ALL: u32 = ANY_ACCESS | MACHINE;
/// The phandle of a region that a test adds.
const NEW: u32 = 0x200;

fn good() -> Node {
    boot_tree(3, 0x8000_0000, &CLOSED)
}

fn judged(change: impl FnOnce(&mut Node)) -> Result<(), DomainFault> {
    let mut tree = good();
    change(&mut tree);
    check(&tree.flatten(), &WANTED)
}

#[track_caller]
fn refused(fault: DomainFault, change: impl FnOnce(&mut Node)) {
    assert_eq!(judged(change), Err(fault));
}

fn open(index: usize, address: u64, permissions: u32) -> DomainFault {
    DomainFault::Open { index, address, permissions }
}

/// Adds a region to the domain.
fn add(tree: &mut Node, base: u64, order: u32, permissions: u32) {
    let count = tree.at("chosen/opensbi-domains").children.len() as u32;
    let phandle = NEW + count;
    tree.at("chosen/opensbi-domains").children.push(region("new", phandle, base, order));
    let domain = tree.at(DOMAIN);
    let regions = domain.properties.iter_mut().find(|(name, _)| name == "regions").unwrap();
    regions.1.extend(cells(&[phandle, permissions]));
}

/// Sets the permissions of an entry of `regions`.
fn permit(tree: &mut Node, index: usize, permissions: u32) {
    let domain = tree.at(DOMAIN);
    let regions = domain.properties.iter_mut().find(|(name, _)| name == "regions").unwrap();
    regions.1[8 * index + 4..8 * index + 8].copy_from_slice(&permissions.to_be_bytes());
}

#[test]
fn a_tree_that_closes_everything_is_right() {
    assert_eq!(judged(|_| ()), Ok(()));
    // The order of nodes and of regions, further nodes, and regions that are not used change nothing.
    assert_eq!(judged(|tree| tree.children.reverse()), Ok(()));
    assert_eq!(judged(|tree| tree.children.push(Node::new("soc").with("ranges", b""))), Ok(()));
    let unused = region("unused", NEW, 0x8000_0000, 30);
    assert_eq!(judged(|tree| tree.at("chosen").children.push(unused)), Ok(()));
    // Memory of a device is open, and more is closed.
    assert_eq!(judged(|tree| add(tree, 0x1000_0000, 16, ALL)), Ok(()));
    assert_eq!(judged(|tree| add(tree, 0x8012_0000, 16, 0)), Ok(()));
    // OpenSBI's own region of everything is larger than each other.
    assert_eq!(judged(|tree| add(tree, 0, 64, ALL)), Ok(()));
    // A disabled hart, and a node that is no hart, are not started.
    let disabled = |tree: &mut Node| {
        tree.at("cpus/cpu@2").set("status", b"disabled\0");
        tree.at("cpus/cpu@2").remove("opensbi-domain");
    };
    assert_eq!(judged(disabled), Ok(()));
    assert_eq!(judged(|tree| tree.at("cpus").children.push(Node::new("cpu-map"))), Ok(()));
    // The number of a hart may have two cells.
    assert_eq!(judged(|tree| tree.at("cpus/cpu@1").set("reg", &cells(&[0, 1]))), Ok(()));
}

#[test]
fn a_malformed_tree_is_refused() {
    let bytes = good().flatten();
    for len in (0..bytes.len()).step_by(3) {
        assert_eq!(check(&bytes[..len], &WANTED), Err(DomainFault::Malformed), "{len}");
    }
    // Bytes after the tree belong to nobody.
    assert_eq!(check(&[&bytes[..], &[1; 99]].concat(), &WANTED), Ok(()));
    for token in (56..bytes.len() - 4).step_by(4) {
        let mut bytes = bytes.clone();
        bytes[token..token + 4].copy_from_slice(&7u32.to_be_bytes());
        let _ = check(&bytes, &WANTED);
    }
}

/// Makes a tree of these tokens. The strings block is empty, so a property has the name "".
fn raw(tokens: &[u32]) -> Vec<u8> {
    let size = 4 * tokens.len() as u32;
    let header = [0xd00d_feed, 56 + size + 1, 56, 56 + size, 40, 17, 16, 0, 1, size];
    [cells(&header), std::vec![0; 16], cells(tokens), std::vec![0]].concat()
}

#[test]
fn a_structure_has_one_root_and_is_balanced() {
    // A node without a name is two tokens long.
    let (begin, end, property, nop, last) = ([1, 0], [2], [3, 0, 0], [4], [9]);
    let judged = |tokens: &[&[u32]]| {
        let tree = raw(&tokens.concat());
        Tree::parse(&tree).filter(is_well_formed).is_some()
    };
    assert!(judged(&[&begin, &property, &end, &last]));
    assert!(judged(&[&nop, &begin, &nop, &begin, &end, &nop, &end, &nop, &last]));
    for tokens in [
        &[&begin[..], &end, &begin, &end, &last][..],
        &[&last],
        &[&begin, &last],
        &[&begin, &begin, &end, &last],
        &[&begin, &end],
        &[&end, &begin, &last],
        &[&begin, &end, &end, &last],
        &[&begin, &end, &end, &begin, &last],
        &[&property, &begin, &end, &last],
        &[&begin, &end, &property, &last],
        &[&begin, &begin, &end, &property, &end, &last],
        &[&begin, &end, &[5], &last],
    ] {
        assert!(!judged(tokens), "{tokens:?}");
    }
}

#[test]
fn a_tree_without_a_domain_is_refused() {
    refused(DomainFault::NoNode(CONFIG), |tree| {
        tree.at("chosen").children.retain(|child| child.name != "opensbi-domains");
    });
    refused(DomainFault::NoNode("/chosen"), |tree| tree.children.truncate(0));
    refused(DomainFault::NoNode("/cpus"), |tree| tree.children.truncate(1));
    refused(DomainFault::NoNode(INSTANCE), |tree| tree.at(DOMAIN).remove("compatible"));
    refused(DomainFault::NoNode(SETTINGS), |tree| {
        tree.at("chosen/opensbi-config").remove("compatible");
    });
    // OpenSBI does not find what is not below `/chosen`.
    refused(DomainFault::NoNode(CONFIG), |tree| {
        let domains = tree.at("chosen").children.remove(1);
        tree.children.insert(0, domains);
    });
    refused(DomainFault::NoNode(SETTINGS), |tree| {
        let settings = tree.at("chosen").children.remove(0);
        tree.children.push(settings);
    });
    refused(DomainFault::NoNode(CONFIG), |tree| {
        let domains = tree.at("chosen").children.remove(1);
        tree.children.insert(1, domains);
    });
    refused(DomainFault::NoNode(CONFIG), |tree| {
        let domains = tree.at("chosen").children.pop().unwrap();
        tree.at("chosen").children.extend(domains.children);
        tree.at("chosen").set("compatible", b"opensbi,domain,config\0");
    });
    // A domain below another node is none.
    let elsewhere = |tree: &mut Node| {
        let domain = tree.at(DOMAIN).clone().with("phandle", &cells(&[NEW]));
        tree.at("chosen").children.push(Node::new("other").and(domain));
    };
    assert_eq!(judged(elsewhere), Ok(()));
}

#[test]
fn a_tree_that_can_be_read_in_two_ways_is_refused() {
    refused(DomainFault::SeveralNodes("/chosen"), |tree| {
        tree.children.insert(0, Node::new("chosen@0"));
    });
    refused(DomainFault::SeveralNodes("/cpus"), |tree| tree.children.push(Node::new("cpus@1")));
    refused(DomainFault::SeveralNodes(CONFIG), |tree| {
        let domains = tree.at("chosen/opensbi-domains").clone();
        tree.children.push(domains);
    });
    refused(DomainFault::SeveralNodes(INSTANCE), |tree| {
        let domain = tree.at(DOMAIN).clone().with("phandle", &cells(&[NEW]));
        tree.at("chosen/opensbi-domains").children.push(domain);
    });
    refused(DomainFault::HartTwice(1), |tree| {
        let cpu = tree.at("cpus/cpu@1").clone().with("phandle", &cells(&[NEW]));
        tree.at("cpus").children.push(cpu);
    });
    refused(DomainFault::Reference("regions"), |tree| {
        let other = region("other", DOMAIN_PHANDLE + 1, 0x1000_0000, 16);
        tree.children.push(other);
    });
    // A property after a child is not seen by OpenSBI, so the tree is malformed for both.
    let mut bytes = good().flatten();
    let end = bytes.windows(8).position(|it| it == [0, 0, 0, 2, 0, 0, 0, 9]).unwrap();
    bytes.splice(end..end, cells(&[3, 0, 0]));
    for (at, more) in [(4, 12), (12, 12), (36, 12)] {
        let field = be32_at(&bytes, at).unwrap() + more;
        bytes[at..at + 4].copy_from_slice(&field.to_be_bytes());
    }
    assert_eq!(check(&bytes, &WANTED), Err(DomainFault::Malformed));
}

#[test]
fn no_text_goes_on_beyond_its_end() {
    // What follows a value in the tree can make another text of it: `cp` a hart, and a domain none.
    for (path, name, value) in [
        ("cpus/cpu@1", "device_type", &b"cp"[..]),
        ("cpus/cpu@1", "status", b"o"),
        ("cpus/cpu@1", "riscv,isa", b"rv64ima_smepm"),
        ("cpus/cpu@1", "riscv,isa-extensions", b"i\0smepm"),
        ("cpus/cpu@1", "compatible", b"riscv"),
        (DOMAIN, "compatible", b"opensbi,domain,instance"),
        ("chosen/opensbi-domains", "compatible", b"opensbi,domain,config"),
    ] {
        let name = TEXTS.into_iter().find(|it| *it == name).unwrap();
        let fault = DomainFault::Unterminated(name);
        refused(fault, |tree| tree.at(path).set(name, value));
    }
    // The second cell of a number is completed by what follows.
    for len in [5, 6, 7, 9] {
        refused(DomainFault::Unterminated("reg"), |tree| {
            tree.at("cpus/cpu@2").set("reg", &[0; 9][..len]);
        });
    }
    assert_eq!(judged(|tree| tree.children.push(Node::new("x").with("compatible", b""))), Ok(()));
    // The harts have numbers alone, and other nodes any bytes.
    assert_eq!(judged(|tree| tree.children.push(Node::new("x").with("reg", &[0; 5]))), Ok(()));
}

#[test]
fn every_hart_is_in_the_domain() {
    for hart in 0..3 {
        let path = std::format!("cpus/cpu@{hart}");
        refused(DomainFault::HartOutside(hart), |tree| tree.at(&path).remove("opensbi-domain"));
        let others: Vec<u32> = (1..=3).filter(|it| *it != hart + 1).collect();
        refused(DomainFault::HartOutside(hart), |tree| {
            tree.at(DOMAIN).set("possible-harts", &cells(&others));
        });
        refused(DomainFault::HartOutside(hart), |tree| {
            tree.at(&path).set("opensbi-domain", &cells(&[DOMAIN_PHANDLE + 1]));
        });
    }
    refused(DomainFault::HartOutside(0), |tree| tree.at(DOMAIN).remove("possible-harts"));
    refused(DomainFault::Reference("possible-harts"), |tree| {
        tree.at(DOMAIN).set("possible-harts", &cells(&[1, 2, 3, 77]));
    });
    refused(DomainFault::Smepmp(2), |tree| {
        tree.at("cpus/cpu@2").set("riscv,isa", b"rv64imafdc_Smepmp_svinval\0");
    });
    refused(DomainFault::Smepmp(0), |tree| {
        tree.at("cpus/cpu@0").set("riscv,isa-extensions", b"i\0m\0smepmp\0");
    });
}

#[test]
fn opensbi_takes_the_memory_of_its_place() {
    let harts = |count: u32| {
        let mut tree = boot_tree(count, 0x8000_0000, &CLOSED);
        if count > 5 {
            tree.at("cpus/cpu@5").set("status", b"disabled\0");
        }
        check(&tree.flatten(), &WANTED)
    };
    assert_eq!((harts(5), harts(6)), (Ok(()), Ok(())));
    assert_eq!(harts(7), Err(DomainFault::TooManyHarts));
    refused(DomainFault::HeapSize, |tree| {
        tree.at("chosen/opensbi-config").set("heap-size", &cells(&[0x20_0000]));
    });
}

#[test]
fn the_boot_hart_is_named() {
    refused(DomainFault::BootHart("cold-boot-harts"), |tree| {
        tree.at("chosen/opensbi-config").remove("cold-boot-harts");
    });
    for harts in [&[2][..], &[1, 2], &[]] {
        refused(DomainFault::BootHart("cold-boot-harts"), |tree| {
            tree.at("chosen/opensbi-config").set("cold-boot-harts", &cells(harts));
        });
    }
    refused(DomainFault::BootHart("boot-hart"), |tree| {
        tree.at(DOMAIN).set("boot-hart", &cells(&[2]));
    });
    assert_eq!(judged(|tree| tree.at(DOMAIN).remove("boot-hart")), Ok(()));
    refused(DomainFault::BootHart("/cpus"), |tree| {
        tree.at("cpus/cpu@0").set("status", b"disabled\0");
    });
}

#[test]
fn the_next_stage_is_that_of_the_rom() {
    refused(DomainFault::NextStage, |tree| {
        tree.at(DOMAIN).set("next-addr", &cells(&[0, 0x8200_0000]));
    });
    refused(DomainFault::NextStage, |tree| tree.at(DOMAIN).set("next-mode", &cells(&[0])));
    let stated = |tree: &mut Node| {
        tree.at(DOMAIN).set("next-addr", &cells(&[0, 0x8020_0000]));
        tree.at(DOMAIN).set("next-mode", &cells(&[1]));
    };
    assert_eq!(judged(stated), Ok(()));
    refused(DomainFault::NextStageClosed, |tree| permit(tree, 3, READ | WRITE));
    refused(DomainFault::NextStageClosed, |tree| tree.at(OPEN).set("mmio", b""));
    refused(DomainFault::NextStageClosed, |tree| add(tree, 0x8020_0000, 12, READ));
    refused(DomainFault::ResetNotAllowed, |tree| tree.at(DOMAIN).remove("system-reset-allowed"));
}

#[test]
fn a_tree_has_a_console_of_opensbi() {
    const CONSOLE: &str = "bus/serial@10000000";
    refused(DomainFault::NoConsole, |tree| tree.at(CONSOLE).set("compatible", b"vendor,uart\0"));
    refused(DomainFault::NoConsole, |tree| tree.at(CONSOLE).set("status", b"disabled\0"));
    refused(DomainFault::NoConsole, |tree| tree.at(CONSOLE).remove("reg"));
    refused(DomainFault::NoConsole, |tree| tree.at(CONSOLE).set("reg", b""));
    refused(DomainFault::NoConsole, |tree| {
        tree.children.pop();
    });
    let others = ["sifive,uart0", "xlnx,xps-uartlite-1.00.a", "vendor,uart\0snps,dw-apb-uart"];
    for other in others {
        let text = [other.as_bytes(), b"\0"].concat();
        assert_eq!(judged(|tree| tree.at(CONSOLE).set("compatible", &text)), Ok(()), "{other}");
    }
    let host = |tree: &mut Node| {
        tree.at(CONSOLE).set("compatible", b"ucb,htif0\0");
        tree.at(CONSOLE).remove("reg");
    };
    assert_eq!(judged(host), Ok(()));
    assert_eq!(judged(|tree| tree.at(CONSOLE).set("status", b"okay\0")), Ok(()));
}

#[test]
fn memory_of_linux_that_is_closed_is_found() {
    let closed = |address, permissions| DomainFault::LinuxClosed { address, permissions };
    for (permissions, missing) in
        [(READ | WRITE, EXECUTE), (READ | EXECUTE, WRITE), (WRITE | EXECUTE, READ), (0, ANY_ACCESS)]
    {
        refused(closed(0x8200_0000, missing), |tree| add(tree, 0x8200_0000, 21, permissions));
        // Around the borders of the place.
        refused(closed(0x8100_0000, missing), |tree| add(tree, 0x8100_0000, 12, permissions));
        refused(closed(0xbfff_f000, missing), |tree| add(tree, 0xbfff_f000, 12, permissions));
        assert_eq!(judged(|tree| add(tree, 0x80ff_f000, 12, permissions)), Ok(()));
        assert_eq!(judged(|tree| add(tree, 0xc000_0000, 12, permissions)), Ok(()));
    }
    // The region of the rest of memory is too small, or one for devices is inside.
    refused(closed(0xa000_0000, ANY_ACCESS), |tree| tree.at(OPEN).set("order", &cells(&[29])));
    refused(closed(0x9000_0000, ANY_ACCESS), |tree| {
        add(tree, 0x9000_0000, 12, ALL & !EXECUTE);
        tree.at("chosen/opensbi-domains").children.last_mut().unwrap().set("mmio", b"");
    });
    // The first of several is named, and an open region inside of a closed one does not hide that.
    refused(closed(0x8400_0000, ANY_ACCESS), |tree| {
        add(tree, 0x9000_0000, 12, 0);
        add(tree, 0x8400_0000, 20, 0);
        add(tree, 0x8400_1000, 12, ALL);
    });

    // What the board closes there is closed.
    let inside = [Closed { start: 0x9000_0000, end: 0x9000_1000, access: Access::None }];
    let all = [&CLOSED[..], &inside].concat();
    let tree = |order: u32| {
        let mut tree = good();
        add(&mut tree, 0x9000_0000, order, 0);
        check(&tree.flatten(), &Wanted { closed: &all, ..WANTED })
    };
    assert_eq!(tree(12), Ok(()));
    assert_eq!(tree(13), Err(closed(0x9000_1000, ANY_ACCESS)));
    let mut other = good();
    add(&mut other, 0x8200_0000, 21, 0);
    assert_eq!(check(&other.flatten(), &Wanted { linux: None, ..WANTED }), Ok(()));
}

#[test]
fn an_open_region_is_found() {
    for permission in [READ, WRITE, EXECUTE] {
        refused(open(0, 0x2000_0000, permission), |tree| permit(tree, 0, permission));
        refused(open(1, 0x8000_0000, permission), |tree| permit(tree, 1, permission | MACHINE));
    }
    // The hand-off block may be read and nothing else.
    refused(open(2, 0x8011_0000, WRITE), |tree| permit(tree, 2, READ | WRITE));
    refused(open(2, 0x8011_0000, EXECUTE), |tree| permit(tree, 2, READ | EXECUTE));
    assert_eq!(judged(|tree| permit(tree, 2, 0)), Ok(()));
    // A region is left out: the open memory is what is left, or nothing.
    let without = |index: usize| {
        move |tree: &mut Node| {
            let domain = tree.at(DOMAIN);
            let regions = domain.properties.iter_mut().find(|(name, _)| name == "regions").unwrap();
            regions.1.drain(8 * index..8 * index + 8);
        }
    };
    refused(open(0, 0x2000_0000, ANY_ACCESS), without(0));
    refused(open(1, 0x8000_0000, ANY_ACCESS), without(1));
    refused(open(2, 0x8011_0000, WRITE | EXECUTE), without(2));
}

#[test]
fn a_smaller_region_decides_before_a_larger_one() {
    // A page at each edge, and one in the middle.
    for address in [0x8000_0000, 0x8005_6000, 0x800f_f000] {
        refused(open(1, address, READ), |tree| add(tree, address, 12, READ));
    }
    // The smallest region that there is.
    refused(open(0, 0x23ff_fff8, WRITE), |tree| add(tree, 0x23ff_fff8, 3, WRITE));
    // Two regions of the same place: either may decide.
    refused(open(1, 0x8000_0000, WRITE), |tree| add(tree, 0x8000_0000, 20, WRITE));
    refused(open(1, 0x8000_0000, WRITE), |tree| {
        permit(tree, 1, WRITE);
        add(tree, 0x8000_0000, 20, WRITE);
    });
    refused(DomainFault::NextStageClosed, |tree| {
        add(tree, 0x8000_0000, 30, ALL);
        tree.at("chosen/opensbi-domains").children.last_mut().unwrap().set("mmio", b"");
    });
    refused(DomainFault::NextStageClosed, |tree| {
        add(tree, 0x8000_0000, 30, ALL);
        tree.at("chosen/opensbi-domains").children.last_mut().unwrap().set("mmio", b"");
        tree.at(OPEN).set("mmio", b"");
    });
    // The first open address is named, wherever its region is in the list.
    refused(open(1, 0x8002_3000, READ), |tree| {
        add(tree, 0x8005_6000, 12, READ);
        add(tree, 0x8002_3000, 12, READ);
        add(tree, 0x8007_0000, 12, READ);
    });
    // A base that is not aligned makes a region larger, so that it no longer decides.
    refused(open(1, 0x8000_0000, ANY_ACCESS), |tree| {
        tree.at("chosen/opensbi-domains/closed-80000000").set("base", &cells(&[0, 0x8008_0000]));
        add(tree, 0x8000_0000, 20, ANY_ACCESS);
    });
    // The part of a range that its region does not reach.
    refused(open(1, 0x8008_0000, ANY_ACCESS), |tree| {
        tree.at("chosen/opensbi-domains/closed-80000000").set("order", &cells(&[19]));
    });
}

#[test]
fn a_closed_region_inside_a_larger_closed_one_is_dropped() {
    // OpenSBI drops the region of 1 MiB because that of 8 MiB has the same permissions, and then that of 4 MiB, which
    // is open, decides.
    let change = |tree: &mut Node| {
        add(tree, 0x8000_0000, 23, 0);
        add(tree, 0x8000_0000, 22, ANY_ACCESS);
    };
    refused(open(1, 0x8000_0000, ANY_ACCESS), change);
    // Only versions from 1.9 on drop it for a region of all addresses.
    refused(open(0, 0x2000_0000, READ), |tree| {
        add(tree, 0, 64, 0);
        add(tree, 0x2000_0000, 27, READ);
    });
}

#[test]
fn no_part_of_what_opensbi_closes_by_itself_is_opened() {
    refused(open(3, 0x200_0000, WRITE), |tree| add(tree, 0x200_0000, 12, WRITE));
    refused(open(3, 0x200_0000, ANY_ACCESS), |tree| add(tree, 0x200_0000, 16, ANY_ACCESS));
    // OpenSBI's own regions are smaller than this one.
    assert_eq!(judged(|tree| add(tree, 0x200_0000, 20, ANY_ACCESS)), Ok(()));
}

#[test]
fn regions_that_opensbi_refuses_are_refused() {
    for (name, value) in [("order", &[2][..]), ("order", &[65]), ("order", &[]), ("base", &[0])] {
        refused(DomainFault::Region(1), |tree| {
            tree.at("chosen/opensbi-domains/closed-80000000").set(name, &cells(value));
        });
    }
    refused(DomainFault::Region(1), |tree| {
        tree.at("chosen/opensbi-domains/closed-80000000").remove("compatible");
    });
    refused(DomainFault::Region(1), |tree| permit(tree, 1, MACHINE));
    refused(DomainFault::Reference("regions"), |tree| {
        tree.at(DOMAIN).set("regions", &cells(&[0x300, 0]));
    });
}

#[test]
fn each_region_has_an_entry_of_the_pmp() {
    // The tree has four regions, and OpenSBI two of its own.
    let devices = |names: &'static [&'static str], more: u64| {
        move |tree: &mut Node| {
            (0..more).for_each(|number| add(tree, 0x8080_0000 + 0x2000 * number, 12, READ));
            for (index, name) in (0..).zip(names) {
                device(tree, name, &[0, 0x1000_0000, 0, 8, 0, 0x1001_0000, 0, 8]);
                tree.at("soc").name = std::format!("soc-{index}");
            }
        }
    };
    assert_eq!(judged(devices(&[], 9)), Ok(()));
    refused(DomainFault::Region(13), devices(&[], 10));
    refused(DomainFault::Region(13), devices(&[], 13));
    // OpenSBI closes some devices by itself.
    for names in [
        &["riscv,clint0"],
        &["sifive,clint0"],
        &["sifive,clint2"],
        &["thead,c900-clint"],
        &["riscv,aclint-mswi"],
        &["thead,c900-aclint-mswi"],
        &["mips,p8700-aclint-mswi"],
    ] {
        assert_eq!(judged(devices(names, 8)), Ok(()));
        refused(DomainFault::Region(12), devices(names, 9));
    }
    for names in
        [&["riscv,aclint-mtimer"], &["thead,c900-aclint-mtimer"], &["mips,p8700-aclint-mtimer"]]
    {
        assert_eq!(judged(devices(names, 7)), Ok(()));
        refused(DomainFault::Region(11), devices(names, 8));
    }
    refused(DomainFault::Region(10), devices(&["riscv,aclint-mswi", "riscv,aclint-mtimer"], 7));
    assert_eq!(judged(devices(&["ns16550a", "riscv,plic0", "syscon"], 9)), Ok(()));
    // Without room for any region there is none.
    refused(DomainFault::Region(0), devices(&["riscv,aclint-mtimer"; 8], 0));
}

#[test]
fn regions_contain_what_opensbi_makes_of_them() {
    for (start, order, base, made) in [
        (0x8000_0000, 20, 0x8000_0000, 20),
        (0x8008_0000, 20, 0x8000_0000, 21),
        (0x7fff_f800, 12, 0, 32),
        (u64::MAX - 7, 3, u64::MAX - 7, 3),
        (u64::MAX - 7, 4, 0, 64),
        (0x1234, 64, 0, 64),
        (1 << 62, 63, 0, 64),
    ] {
        let region = Region::containing(start, order);
        assert_eq!((region.base, region.order), (base, made), "{start:#x} {order}");
    }
}

/// Adds a device with these cells of `reg` below a bus of two address and two size cells.
fn device(tree: &mut Node, compatible: &str, reg: &[u32]) {
    let bus = Node::new("soc")
        .with("#address-cells", &cells(&[2]))
        .with("#size-cells", &cells(&[2]))
        .with("ranges", b"");
    let texts = std::format!("vendor,first\0{compatible}\0");
    let device = Node::new("device").with("compatible", texts.as_bytes()).with("reg", &cells(reg));
    tree.children.push(bus.and(device));
}

fn inside(index: usize, address: u64) -> DomainFault {
    DomainFault::DeviceInside { index, address }
}

#[test]
fn devices_are_outside_of_closed_memory() {
    for (compatible, address, size) in [
        ("riscv,clint0", 0x200_0000, 0x1_0000),
        ("sifive,plic-1.0.0", 0xc00_0000, 0x60_0000),
        ("ns16550a", 0x1000_0000, 0x100),
        ("vendor,second", 0x1fff_f000, 0x1000),
        ("vendor,second", 0x8011_1000, 0xffff_ffff),
    ] {
        assert_eq!(judged(|tree| device(tree, compatible, &[0, address, 0, size])), Ok(()));
    }
    for (compatible, reg, index, found) in [
        // The first byte, the last one, and a range around it, of any device.
        ("vendor,second", [0, 0x8000_0000, 0, 1], 1, 0x8000_0000),
        ("vendor,second", [0, 0x7fff_ffff, 0, 2], 1, 0x8000_0000),
        ("vendor,second", [0, 0x800f_ffff, 0, 0x10], 1, 0x800f_ffff),
        ("vendor,second", [0, 0x1000_0000, 0x1000, 0], 0, 0x2000_0000),
        ("vendor,second", [0, 0x8011_0000, 0, 0], 2, 0x8011_0000),
        // A driver goes on beyond the stated size.
        ("riscv,clint0", [0, 0x8010_c000, 0, 8], 2, 0x8011_0000),
        ("sifive,clint0", [0, 0x8010_4001, 0, 8], 2, 0x8011_0000),
        ("riscv,aclint-mswi", [0, 0x8010_c001, 0, 8], 2, 0x8011_0000),
        ("riscv,aclint-mtimer", [0, 0x8010_8001, 0, 8], 2, 0x8011_0000),
        ("riscv,plic0", [0, 0x1c00_0001, 0, 8], 0, 0x2000_0000),
        ("sifive,plic-1.0.0", [0, 0x1c00_0001, 0, 8], 0, 0x2000_0000),
        ("ns16550", [0, 0x1fff_fff9, 0, 1], 0, 0x2000_0000),
        ("intel,xscale-uart", [0, 0x1fff_fff9, 0, 1], 0, 0x2000_0000),
        ("sifive,clint2", [0, 0x8010_4001, 0, 8], 2, 0x8011_0000),
        ("thead,c900-clint", [0, 0x8010_4001, 0, 8], 2, 0x8011_0000),
        ("thead,c900-aclint-mswi", [0, 0x8010_c001, 0, 8], 2, 0x8011_0000),
        ("mips,p8700-aclint-mswi", [0, 0x8010_c001, 0, 8], 2, 0x8011_0000),
        ("thead,c900-aclint-mtimer", [0, 0x8010_8001, 0, 8], 2, 0x8011_0000),
        ("mips,p8700-aclint-mtimer", [0, 0x8010_8001, 0, 8], 2, 0x8011_0000),
        ("thead,c900-plic", [0, 0x1c00_0001, 0, 8], 0, 0x2000_0000),
        ("andestech,nceplic100", [0, 0x1c00_0001, 0, 8], 0, 0x2000_0000),
    ] {
        refused(inside(index, found), |tree| device(tree, compatible, &reg));
    }
    let sources = |count: &'static [u8]| {
        move |tree: &mut Node| {
            device(tree, "riscv,plic0", &[0, 0xc00_0000, 0, 8]);
            tree.at("soc/device").set("riscv,ndev", count);
        }
    };
    assert_eq!(judged(sources(&[0, 0, 3, 0xff])), Ok(()));
    refused(DomainFault::Registers, sources(&[0, 0, 4, 0]));
    refused(DomainFault::Registers, sources(&[0, 0, 4]));
    for (compatible, address) in [("riscv,clint0", 0x8010_4000), ("riscv,plic0", 0x1c00_0000)] {
        assert_eq!(judged(|tree| device(tree, compatible, &[0, address, 0, 8])), Ok(()));
    }
    // Each entry counts.
    refused(inside(0, 0x2000_0000), |tree| {
        device(tree, "vendor,second", &[0, 0x1000_0000, 0, 8, 0, 0x2000_0000, 0, 8]);
    });
    // An entry that is not whole is read by OpenSBI beyond its end.
    refused(DomainFault::Registers, |tree| device(tree, "ns16550a", &[0, 0x1000_0000, 0]));
    // A device that is off can be switched on, and one whose node names no driver is used by none.
    refused(inside(0, 0x2000_0000), |tree| {
        device(tree, "ns16550a", &[0, 0x2000_0000, 0, 8]);
        tree.at("soc/device").set("status", b"disabled\0");
    });
    let unnamed = |tree: &mut Node| {
        device(tree, "", &[0, 0x2000_0000, 0, 8]);
        tree.at("soc/device").remove("compatible");
    };
    assert_eq!(judged(unnamed), Ok(()));
}

#[test]
fn registers_are_where_the_driver_looks_for_them() {
    let console = |name: &'static str, value: u32| {
        move |tree: &mut Node| {
            device(tree, "ns16550a", &[0, 0x1fff_ff00, 0, 1]);
            tree.at("soc/device").set(name, &cells(&[value]));
        }
    };
    assert_eq!(judged(console("reg-offset", 0xf8)), Ok(()));
    refused(inside(0, 0x2000_0000), console("reg-offset", 0xf9));
    assert_eq!(judged(console("reg-shift", 5)), Ok(()));
    for name in ["reg-offset", "reg-shift"] {
        refused(DomainFault::Registers, |tree| {
            device(tree, "ns16550a", &[0, 0x1000_0000, 0, 1]);
            tree.at("soc/device").set(name, &[1]);
        });
    }
    refused(inside(0, 0x2000_0000), console("reg-shift", 6));
    refused(inside(0, 0x2000_0000), console("reg-shift", 61));
    refused(inside(0, 0x2000_0000), console("reg-shift", 64));

    let reset = |offset: u32| {
        move |tree: &mut Node| {
            device(tree, "syscon", &[0, 0x10_0000, 0, 0x1000]);
            tree.at("soc/device").set("phandle", &cells(&[NEW]));
            let node = Node::new("reboot").with("compatible", b"syscon-reboot\0");
            let node = node.with("regmap", &cells(&[NEW]));
            tree.children.push(node.with("offset", &cells(&[offset])));
        }
    };
    assert_eq!(judged(reset(0)), Ok(()));
    refused(DomainFault::Registers, |tree| {
        reset(0)(tree);
        tree.at("reboot").set("offset", &[0x7f]);
    });
    assert_eq!(judged(reset(0x1fef_fffc)), Ok(()));
    refused(inside(0, 0x2000_0000), reset(0x1fef_fffd));
    refused(inside(1, 0x8000_0000), reset(0x7ff0_0000));
    refused(DomainFault::Reference("regmap"), |tree| {
        reset(0)(tree);
        tree.at("reboot").set("regmap", &cells(&[NEW + 1]));
    });
    refused(DomainFault::Reference("regmap"), |tree| {
        reset(0)(tree);
        tree.at("soc/device").remove("reg");
    });
}

#[test]
fn addresses_are_read_as_their_bus_says() {
    // Without a statement of the parent an address has two cells and a size one.
    refused(inside(0, 0x2000_0000), |tree| {
        device(tree, "ns16550a", &[0, 0x2000_0000, 8]);
        tree.at("soc").remove("#address-cells");
        tree.at("soc").remove("#size-cells");
    });
    refused(DomainFault::Registers, |tree| {
        device(tree, "ns16550a", &[0, 0x1000_0000, 0, 8]);
        tree.at("soc").set("#size-cells", &[0, 2]);
    });
    // Three cells of an address, as on a PCI bus, whose node has children that no driver of OpenSBI uses.
    let pci = |compatible: &'static str| {
        move |tree: &mut Node| {
            device(tree, compatible, &[0x800, 0, 0x2000_0000, 0, 8]);
            tree.at("soc").set("#address-cells", &cells(&[3]));
            tree.at("soc").set("ranges", &cells(&[0x200_0000, 0, 0x4000_0000, 0, 0, 0, 1]));
        }
    };
    assert_eq!(judged(pci("pci1af4,1001")), Ok(()));
    refused(DomainFault::Translated, pci("ns16550a"));
    refused(DomainFault::Translated, pci("syscon"));
    refused(DomainFault::Translated, pci(SYSTEM_MAP));
    refused(inside(0, 0x2000_0000), |tree| {
        pci("pci1af4,1001")(tree);
        tree.at("soc").set("ranges", b"");
    });
    // A translation holds for all that is below the bus.
    refused(DomainFault::Translated, |tree| {
        pci("simple-bus")(tree);
        let console = Node::new("serial").with("compatible", b"ns16550\0");
        let console = console.with("reg", &cells(&[0, 0x1000_0000, 8]));
        tree.at("soc/device").children.push(console);
    });
    // Children with numbers, such as harts.
    let number = |compatible: &'static str| {
        move |tree: &mut Node| {
            device(tree, compatible, &[0x2000_0000]);
            tree.at("soc").set("#address-cells", &cells(&[1]));
            tree.at("soc").set("#size-cells", &cells(&[0]));
        }
    };
    assert_eq!(judged(number("vendor,second")), Ok(()));
    refused(inside(0, 0x2000_0000), number("ns16550a"));
    refused(DomainFault::TooDeep, |tree| {
        device(tree, "ns16550a", &[0, 0x1000_0000, 0, 8]);
        for _ in 0..MAX_DEPTH {
            let below = tree.children.pop().unwrap();
            tree.children.push(Node::new("soc").and(below));
        }
    });
}

#[test]
fn devices_are_judged_after_opensbi_removed_its_domain() {
    let judged = |change: fn(&mut Node)| {
        let mut tree = good();
        tree.at("chosen").children.clear();
        change(&mut tree);
        check_devices(&tree.flatten(), WANTED.closed)
    };
    assert_eq!(judged(|_| {}), Ok(()));
    let inside = DomainFault::DeviceInside { index: 0, address: 0x2000_0000 };
    assert_eq!(judged(|tree| device(tree, "syscon", &[0, 0x2000_0000, 0, 4])), Err(inside));
    assert_eq!(check_devices(b"no tree", WANTED.closed), Err(DomainFault::Malformed));
}

#[test]
fn what_the_system_map_changes_is_closed() {
    let with = |first: [u32; 4], second: [u32; 4]| {
        move |tree: &mut Node| device(tree, SYSTEM_MAP, &[first, second].concat())
    };
    let flash = [0, 0x2000_0000, 0, 0x1000];
    assert_eq!(judged(with(flash, [0, 0x8000_0000, 0, 0x10_0000])), Ok(()));
    let open = |address| DomainFault::SystemMapOpen { address };
    refused(open(0x1000_0000), with([0, 0x1000_0000, 0, 8], flash));
    refused(open(0x8000_0000), with(flash, [0, 0x8000_0000, 0, 0x10_0001]));
    refused(open(0x8011_0000), with(flash, [0, 0x8011_0000, 0, 8]));
    refused(open(0xffff_ffff_ffff_fff8), with(flash, [u32::MAX, 0xffff_fff8, 0, 16]));
}

#[test]
fn harts_are_those_that_would_be_started() {
    assert_eq!(harts(&good().flatten()), Some(0b111));
    let mut tree = good();
    tree.at("cpus/cpu@1").set("status", b"disabled\0");
    tree.at("cpus/cpu@2").set("reg", &cells(&[63]));
    tree.at("cpus/cpu@0").set("reg", &cells(&[64]));
    assert_eq!(harts(&tree.flatten()), Some(1 << 63));
    // The same number twice is one hart.
    tree.at("cpus/cpu@0").set("reg", &cells(&[63]));
    assert_eq!(harts(&tree.flatten()), Some(1 << 63));
    assert_eq!(harts(b"no tree"), None);
}
