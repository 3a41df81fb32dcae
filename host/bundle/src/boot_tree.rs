//! Checks the device tree for OpenSBI in a boot bundle (boot flow §5.6).

use hartlock_boards::{Boards, KnownBoard};
use hartlock_handoff::domain::{self, Access, DomainFault, EXECUTE, READ, WRITE};
use hartlock_handoff::fdt::Tree;
use hartlock_image::{Manifest, PayloadType, Reason};

use crate::Refusal;
use crate::payload_bytes::read_verified;
use crate::system_tree::{judge_boot_hart, malformed};

/// Checks the device tree against each known board that the bundle is for. `read` reads bytes of the bundle; what it
/// returns has to have the digest of the manifest.
///
/// # Errors
/// `DeviceTreeUnusable`, `MemoryNotClosed`; `PayloadDigestMismatch` if the bundle changed after it was verified.
pub(crate) fn judge(
    manifest: &Manifest<'_>,
    boards: &Boards,
    read: impl FnOnce(u64, &mut [u8]) -> Result<(), Reason>,
) -> Result<(), Refusal> {
    let Some(payload) = manifest.payload(PayloadType::BootFdt) else { return Ok(()) };
    let known = manifest.identities().filter_map(|it| boards.by_name(it.board.as_str()));
    let known: Vec<_> = known.filter(|board| board.map().domain().is_some()).collect();
    if known.is_empty() {
        return Ok(());
    }
    let bytes = read_verified(payload, read)?;
    for board in known {
        let map = board.map();
        let judged = map.domain().map_or(Ok(()), |wanted| domain::check(&bytes, &wanted));
        judged.map_err(|fault| refusal(&bytes, fault, board))?;
    }
    if let Some(tree) = Tree::parse(&bytes) {
        judge_boot_hart(&tree)?;
    }
    Ok(())
}

/// Describes the rule that a device tree breaks.
fn refusal(tree: &[u8], fault: DomainFault, board: &KnownBoard) -> Refusal {
    if fault == DomainFault::Malformed {
        return malformed(tree, "boot-fdt", None);
    }
    if fault == DomainFault::NoConsole {
        let context = "the boot-fdt has no console that OpenSBI drives: it takes the one that `stdout-path` of `/chosen` names, or \
                       the first node whose `compatible` it knows, such as \"ns16550a\", with `reg` and enabled";
        let hint = "Add the node of the console to the boot device tree: OpenSBI waits for ever without one.";
        let refusal = Refusal::with(Reason::DeviceTreeUnusable, context);
        return Refusal { hint: Some(hint.to_string()), ..refusal };
    }
    let map = board.map();
    let name_of =
        |index: usize| map.closed.get(index).map_or("", |it| board.description.name_of(it));
    let what = match fault {
        DomainFault::Malformed | DomainFault::NoConsole => String::new(),
        DomainFault::NoNode(node) => format!("it has no node {} where OpenSBI looks", named(node)),
        DomainFault::SeveralNodes(node) => {
            format!("it has several nodes {}, and OpenSBI takes one", named(node))
        }
        DomainFault::Reference(property) => {
            format!("`{property}` names a node that does not exist, or exists twice")
        }
        DomainFault::Region(index) => {
            format!("entry {index} of `regions` is none that OpenSBI can use")
        }
        DomainFault::HartOutside(hart) => format!(
            "hart {hart} is in no domain: its node needs `opensbi-domain`, and `possible-harts` its phandle"
        ),
        DomainFault::HartTwice(hart) => format!("hart {hart} has two nodes"),
        DomainFault::Smepmp(hart) => {
            format!("hart {hart} names `smepmp`, with which regions are not closed in this way")
        }
        DomainFault::BootHart(property) => {
            format!("`{property}` has to name hart {} alone", hartlock_verify::board::BOOT_HART)
        }
        DomainFault::NextStage => {
            "`next-addr` or `next-mode` of the domain enters something else than the loader".into()
        }
        DomainFault::NextStageClosed => "the loader is not executable in the domain".into(),
        DomainFault::LinuxClosed { address, permissions } => format!(
            "S-mode cannot {} {address:#x}, where the board places the kernel",
            actions(permissions, " or ")
        ),
        DomainFault::ResetNotAllowed => "the domain has no `system-reset-allowed`".into(),
        DomainFault::Open { index, address, permissions } => {
            let closed = map.closed.get(index);
            let name = name_of(index);
            let rule = match closed.map(|closed| closed.access) {
                Some(Access::Read) => "may be read, and nothing else",
                _ => "is closed",
            };
            let can = actions(permissions, ", ");
            format!("S-mode could {can} {address:#x}: `{name}` {rule}")
        }
        DomainFault::DeviceInside { index, address } => format!(
            "a device of the tree is at {address:#x} in `{}`, so OpenSBI would store there for S-mode",
            name_of(index)
        ),
        DomainFault::SystemMapOpen { address } => format!(
            "`hartlock,system-map` names {address:#x}, which S-mode can access or which is no part of the IOMMU"
        ),
        DomainFault::Registers => {
            "a number of a device has fewer than four bytes, its `reg` another length than the cells of its bus say, or its \
             `riscv,ndev` is above 1023"
                .into()
        }
        DomainFault::Translated => {
            "a device that OpenSBI uses is below a bus whose `ranges` are not empty".into()
        }
        DomainFault::TooManyHarts => format!(
            "it names more harts than the {} of the board, and OpenSBI takes memory for each",
            map.hart_count
        ),
        DomainFault::HeapSize => {
            "`heap-size` takes OpenSBI beyond the memory that the board has for it".into()
        }
        DomainFault::Unterminated(name) => {
            format!("`{name}` of a node does not end with a zero or a whole cell, and OpenSBI reads on beyond it")
        }
        DomainFault::TooDeep => "a device has more than 15 nodes above it".into(),
    };
    // A tree without a domain is not one that has a mistake in it.
    let hint = matches!(fault, DomainFault::NoNode(_)).then(|| {
        "Use the boot device tree of the board, `boot.dtb`: this one is for Linux, or was dumped by an emulator."
            .to_string()
    });
    let refusal = Refusal::with(Reason::MemoryNotClosed, format!("board {}: {what}", board.name()));
    Refusal { hint, ..refusal }
}

/// Names what permissions allow.
fn actions(permissions: u32, separator: &str) -> String {
    let names = [(READ, "read"), (WRITE, "write"), (EXECUTE, "execute")];
    let names = names.iter().filter(|it| permissions & it.0 != 0).map(|it| it.1);
    names.collect::<Vec<_>>().join(separator)
}

/// Returns a path as it is, and the value of `compatible` with quotation marks.
fn named(node: &str) -> String {
    if node.starts_with('/') { node.to_string() } else { format!("`{node}`") }
}
