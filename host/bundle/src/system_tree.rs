//! Checks the device tree for Linux in a system bundle (boot flow §6), with the function by which the loader edits it.

use hartlock_boards::{Boards, KnownBoard};
use hartlock_handoff::bootargs;
use hartlock_handoff::cpus::{self, CpuFault};
use hartlock_handoff::fdt::{self, Edits, Reservation, Rule, Token, Tree, TreeFault};
use hartlock_handoff::memory::{self, Filled, MemoryFault};
use hartlock_image::{Manifest, PayloadType, Reason};
use hartlock_verify::board::{BOOT_HART, Region};

use crate::encryption::Ciphers;
use crate::payload_bytes::read_verified;
use crate::{Error, Refusal};

/// Checks the device tree for each known board that the bundle is for, if a loader edits the tree there. `read` reads
/// bytes of the bundle; what it returns has to have the digest of the manifest.
///
/// # Errors
/// `DeviceTreeUnusable`; `PayloadDigestMismatch` if the bundle changed after it was verified.
pub(crate) fn judge(
    manifest: &Manifest<'_>,
    boards: &Boards,
    ciphers: &Ciphers,
    read: impl FnOnce(u64, &mut [u8]) -> Result<(), Reason>,
) -> Result<(), Error> {
    let Some(payload) = manifest.payload(PayloadType::SystemFdt) else { return Ok(()) };
    // Whose content is hidden is judged on the device.
    if ciphers.is_hidden(PayloadType::SystemFdt) {
        return Ok(());
    }
    let known = manifest.identities().filter_map(|it| boards.by_name(it.board.as_str()));
    let known: Vec<_> = known.filter_map(|board| Some((board, place(board)?))).collect();
    if known.is_empty() {
        return Ok(());
    }
    let mut bytes = read_verified(payload, read)?;
    ciphers.decrypt(payload.offset, &mut bytes);
    for (board, place) in known {
        edit(manifest, &bytes, board, place)
            .map_err(|fault| refusal(&bytes, fault, board, place))?;
        let tree = Tree::parse(&bytes).ok_or(Reason::DeviceTreeUnusable)?;
        let filled = filled(manifest);
        let ranges: Vec<_> = filled.iter().map(|it| it.1).collect();
        let limit = bootargs::memory_limit(manifest.bootargs().unwrap_or_default().as_bytes());
        memory::check(&tree, &ranges, limit).map_err(|fault| contradiction(fault, &filled))?;
        judge_boot_hart(&tree)?;
    }
    Ok(())
}

/// Returns the place of the edited tree on a board whose loader edits it.
fn place(board: &KnownBoard) -> Option<Region> {
    region(board, "linux-fdt")
}

fn region(board: &KnownBoard, name: &str) -> Option<Region> {
    let description = &board.description;
    let region = description.region(name).ok()?;
    Some(Region { start: region.start, end: description.end(region).ok()? })
}

/// Edits the tree as the loader does if no hart but the boot hart reported, which gives the largest tree.
fn edit(
    manifest: &Manifest<'_>,
    tree: &[u8],
    board: &KnownBoard,
    place: Region,
) -> Result<(), TreeFault> {
    let reservation = |(name, of, compatible)| {
        let region = region(board, of)?;
        Some(Reservation { name, address: region.start, size: region.size(), compatible })
    };
    let reservations: Vec<_> = [
        ("hartlock-opensbi", "opensbi", None),
        ("hartlock-rom", "rom-ram", None),
        ("hartlock-handoff", "handoff", Some("hartlock,handoff-v1")),
        ("hartlock-log", "log", Some("hartlock,measurement-log-v1")),
    ]
    .into_iter()
    .filter_map(reservation)
    .collect();
    let initramfs = manifest.payload(PayloadType::Initramfs).filter(|it| it.size > 0);
    let edits = Edits {
        bootargs: manifest.bootargs().unwrap_or_default(),
        initrd: initramfs.map(|it| (it.load_address, it.load_address.saturating_add(it.size))),
        reservations: &reservations,
        harts: 1 << BOOT_HART,
        boot_hart: u64::from(BOOT_HART),
    };
    let mut out = vec![0; place.size() as usize];
    fdt::edit(tree, &mut out, &edits).map(|_| ())
}

/// Returns the memory that Linux must have, with the names of the payloads in it.
fn filled(manifest: &Manifest<'_>) -> Vec<(&'static str, Filled)> {
    [PayloadType::Kernel, PayloadType::Initramfs]
        .into_iter()
        .filter_map(|it| manifest.payload(it))
        .map(|it| (it.payload_type.name(), Filled::by(it)))
        .collect()
}

const TAKE_SOURCE: &str =
    "Change it in the source of the tree, and compile that with `dtc -I dts -O dtb`.";

fn refuse(context: Vec<String>, hint: &str) -> Refusal {
    Refusal { hint: Some(hint.to_string()), ..Refusal::of(Reason::DeviceTreeUnusable, context) }
}

/// Describes the rule that a tree breaks, and where.
fn refusal(tree: &[u8], fault: TreeFault, board: &KnownBoard, room: Region) -> Refusal {
    let place = TreePlace::find(tree, fault.at);
    let (rule, hint) = match fault.rule {
        Rule::Form => {
            return malformed(tree, "system-fdt", place.as_ref().map(TreePlace::node));
        }
        Rule::Once => (
            "the tree has it at most once, and without a unit address: Linux would take one of several".to_string(),
            TAKE_SOURCE,
        ),
        Rule::OfOneBoot => (
            "it belongs to one boot: what is signed is the same at every boot and on every device".to_string(),
            "Take the tree from before a boot loader or an emulator edited it, or delete the property there; the command \
             line goes into `--bootargs`.",
        ),
        Rule::Cells => (
            "root and `/reserved-memory` need `#address-cells = <2>` and `#size-cells = <2>`, once each, and the latter \
             `ranges`: Linux ignores every reservation of another tree".to_string(),
            TAKE_SOURCE,
        ),
        Rule::Reservation => (
            "the loader adds a node of this name: the tree was edited by one before".to_string(),
            "Take the tree from before it was edited.",
        ),
        Rule::Hart => (
            "the unit address of a CPU is a hexadecimal number, and its `reg` the same one in one cell or two".to_string(),
            TAKE_SOURCE,
        ),
        Rule::BootHart => (
            format!("hart {BOOT_HART} enters Linux, and needs one node `/cpus/cpu@{BOOT_HART:x}` with `reg`, enabled"),
            TAKE_SOURCE,
        ),
        Rule::Room => (
            format!(
                "the edited tree has to fit into the {} KiB that board {} has for it",
                room.size() >> 10,
                board.name()
            ),
            "Compile the tree without padding, or leave out what the board does not have.",
        ),
    };
    let place = place.filter(|_| fault.rule != Rule::Room);
    let context = place.map(|place| place.text()).into_iter().chain([rule]).collect();
    refuse(context, hint)
}

/// Checks that a tree says of the boot hart what OpenSBI and Linux need.
///
/// # Errors
/// `DeviceTreeUnusable`.
pub(crate) fn judge_boot_hart(tree: &Tree<'_>) -> Result<(), Refusal> {
    cpus::check(tree, u64::from(BOOT_HART)).map_err(|fault| {
        let hart = format!("/cpus/cpu@{BOOT_HART:x}");
        let is = |property: &str, value: Option<&[u8]>| match value {
            Some(value) => format!("`{property}` is {}", value_text(value)),
            None => format!("`{property}` is missing"),
        };
        let (place, rule) = match fault {
            CpuFault::Timebase(value) => {
                (format!("/cpus: {}", is("timebase-frequency", value)), "it has one cell".to_string())
            }
            CpuFault::Compatible(value) => {
                (format!("{hart}: {}", is("compatible", value)), "one of its texts is \"riscv\"".to_string())
            }
            CpuFault::InstructionSet(value) => (
                format!("{hart}: {}", is("riscv,isa", value)),
                "it begins with \"rv64ima\", or `riscv,isa-base` is \"rv64i\", and `riscv,isa-extensions` has \"i\", \
                 \"m\" and \"a\""
                    .to_string(),
            ),
            CpuFault::InterruptController => {
                (hart, "it has a child whose `compatible` is \"riscv,cpu-intc\"".to_string())
            }
        };
        let rule = format!("{rule}: OpenSBI and Linux stop without a word otherwise");
        refuse(vec![place, rule], TAKE_SOURCE)
    })
}

/// Describes a contradiction between the tree and the place of a payload.
fn contradiction(fault: MemoryFault<'_>, filled: &[(&'static str, Filled)]) -> Refusal {
    let what = |index: usize| {
        filled.get(index).map_or(String::new(), |(name, range)| {
            format!("the {name} at {:#x} to {:#x}", range.start, range.end)
        })
    };
    let of = |(start, size): (u64, u64)| format!("{start:#x} to {:#x}", start.saturating_add(size));
    let (context, hint) = match fault {
        MemoryFault::NoMemory { index, address } => (
            vec![
                format!("no `/memory` node of the tree has {address:#x} in its `reg`"),
                format!("{} would be outside of the memory that Linux knows", what(index)),
            ],
            "Correct `reg` of the memory node, or `load_address` of the payload.",
        ),
        MemoryFault::Reserved { index, node, reservation } => (
            vec![
                format!(
                    "/reserved-memory/{}: `reg` is {}",
                    String::from_utf8_lossy(node).escape_debug(),
                    of(reservation)
                ),
                format!("{} overlaps it: Linux would not use it", what(index)),
            ],
            "Delete the reservation, or change `load_address` of the payload.",
        ),
        MemoryFault::Limited { index, needed } => (
            vec![
                format!(
                    "`mem=` of the command line leaves less than the first {needed:#x} bytes of memory"
                ),
                format!("{} would be outside of the memory that Linux keeps", what(index)),
            ],
            "Raise `mem=` in `bootargs`, or leave it out.",
        ),
        MemoryFault::ReservedByEntry { index, reservation } => (
            vec![
                format!("/memreserve/: an entry is {}", of(reservation)),
                format!("{} overlaps it: Linux would not use it", what(index)),
            ],
            "Delete the reservation, or change `load_address` of the payload.",
        ),
    };
    refuse(context, hint)
}

/// Describes a tree that is no tree. `node` is the node in which that was found.
pub(crate) fn malformed(tree: &[u8], payload: &str, node: Option<String>) -> Refusal {
    let field = |at: usize| {
        tree.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes)
    };
    let (total, version, compatible) = (field(4), field(20), field(24));
    let len = tree.len();
    let what = match (field(0), total, version, compatible) {
        (Some(0xd00d_feed), Some(total), ..) if total as usize > len => {
            format!("its `totalsize` is {total}, and the file has {len} bytes")
        }
        (Some(0xd00d_feed), Some(_), Some(version), Some(compatible))
            if version < 17 || compatible > 17 =>
        {
            format!(
                "its `version` is {version} and `last_comp_version` {compatible}, not 17 and 16"
            )
        }
        (Some(0xd00d_feed), ..) if len >= 40 => {
            let node = node.map_or(String::new(), |node| format!(", at {node}"));
            format!("its structure is malformed{node}")
        }
        (Some(0xd00d_feed), ..) => format!("the file has {len} bytes, and its header alone 40"),
        _ => "it does not begin with 0xd00dfeed".to_string(),
    };
    let what = format!("the {payload} is no device tree that is complete and well formed: {what}");
    let hint = "Check the file with `dtc -I dtb -O dts`; it is cut, or not what `dtc` wrote.";
    refuse(vec![what], hint)
}

/// A place in a tree.
#[derive(Debug)]
pub(crate) struct TreePlace {
    path: Vec<String>,
    /// Name and value of the property, in words.
    property: Option<(String, String)>,
}

impl TreePlace {
    /// Finds the token at an offset of the structure block.
    pub(crate) fn find(tree: &[u8], wanted: usize) -> Option<Self> {
        let tree = Tree::parse(tree)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).escape_debug().to_string();
        let mut path = Vec::new();
        let mut at = 0;
        while at <= wanted {
            let is_it = at == wanted;
            match tree.token(&mut at) {
                Some(Token::Begin(name)) => path.push(text(name)),
                Some(Token::Property(name, value)) if is_it => {
                    let name = text(tree.name_at(name).unwrap_or_default());
                    return Some(Self { path, property: Some((name, value_text(value))) });
                }
                Some(Token::End) if !is_it => {
                    path.pop();
                }
                Some(Token::Last) | None => break,
                Some(_) => {}
            }
        }
        Some(Self { path, property: None })
    }

    fn node(&self) -> String {
        if self.path.len() < 2 { "/".to_string() } else { self.path.join("/") }
    }

    pub(crate) fn text(&self) -> String {
        match &self.property {
            Some((name, value)) => format!("{}: `{name}` is {value}", self.node()),
            None => self.node(),
        }
    }
}

/// Returns a value as the source of a tree has it, if it is short.
fn value_text(value: &[u8]) -> String {
    const MOST_CELLS: usize = 4;
    const MOST_CHARS: usize = 40;
    let printable = |it: &&[u8]| !it.is_empty() && it.iter().all(|it| matches!(it, 0x20..=0x7e));
    match value.strip_suffix(b"\0") {
        _ if value.is_empty() => "empty".to_string(),
        Some(text) if printable(&text) => {
            let text = String::from_utf8_lossy(text);
            let more = if text.len() > MOST_CHARS { "…" } else { "" };
            format!("\"{}{more}\"", text.chars().take(MOST_CHARS).collect::<String>())
        }
        _ if value.len().is_multiple_of(4) && value.len() <= 4 * MOST_CELLS => {
            let (cells, _) = value.as_chunks::<4>();
            let cells = cells.iter().map(|it| format!("{:#x}", u32::from_be_bytes(*it)));
            format!("<{}>", cells.collect::<Vec<_>>().join(" "))
        }
        _ => format!("{} bytes", value.len()),
    }
}
