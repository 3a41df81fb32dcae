//! Edits of the signed device tree for Linux (boot flow §6; Devicetree Specification v0.4 §5).
//!
//! The tree is copied token by token, and parts that are not edited are not interpreted. The source
//! was verified before, so a malformed tree is more likely a mistake than an attack. Nevertheless
//! every access is checked against the bounds, and a malformed tree is refused. The workstation runs the same
//! function before it signs a tree.

use hartlock_image::{Writer, bytes_at};

use crate::domain::FoundNode;

const MAGIC: u32 = 0xd00d_feed;
const VERSION: u32 = 17;
const LAST_COMPATIBLE_VERSION: u32 = 16;
const HEADER_SIZE: usize = 40;

const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

/// Property names that the edits need. They are appended to the strings block of the source.
const NAMES: &[u8] =
    b"bootargs\0linux,initrd-start\0linux,initrd-end\0status\0reg\0no-map\0compatible\0\
    #address-cells\0#size-cells\0ranges\0";
const BOOTARGS: u32 = 0;
const INITRD_START: u32 = 9;
const INITRD_END: u32 = 28;
const STATUS: u32 = 45;
const REG: u32 = 52;
const NO_MAP: u32 = 56;
const COMPATIBLE: u32 = 63;
const ADDRESS_CELLS: u32 = 74;
const SIZE_CELLS: u32 = 89;
const RANGES: u32 = 101;

/// The rules of boot flow §6 for a signed tree, by their numbers there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is a complete and well-formed tree of version 17.
    Form = 1,
    /// There is one `/chosen` and one `/reserved-memory`, or none.
    Once,
    /// `/chosen` has nothing that belongs to one boot.
    OfOneBoot,
    /// Root and `/reserved-memory` have two address and two size cells, and the latter has `ranges`.
    Cells,
    /// `/reserved-memory` has no reservation of the loader.
    Reservation,
    /// The unit address of a CPU is its `reg`.
    Hart,
    /// The boot hart has one node, which is enabled.
    BootHart,
    /// The edited tree fits into its place.
    Room,
}

impl Rule {
    /// Returns what is wrong with a tree that breaks the rule, for the console.
    pub fn text(self) -> &'static str {
        const TEXTS: &hartlock_image::packed::Texts = hartlock_image::packed!(
            &[1, 2, 3, 4, 5, 6, 7, 8],
            &[
                "malformed",
                "chosen or reserved-memory twice",
                "chosen is of one boot",
                "not two cells, or no ranges",
                "hartlock- is taken",
                "reg of a cpu",
                "no boot hart",
                "too large",
            ]
        );
        TEXTS.get(self as u16)
    }
}

/// The first rule that a tree breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeFault {
    /// The rule.
    pub rule: Rule,
    /// Offset of the token at which this was found, in the structure block. It means nothing for a header that cannot be
    /// read.
    pub at: usize,
}

/// A memory region that Linux must not use.
#[derive(Clone, Copy, Debug)]
pub struct Reservation<'a> {
    /// Node name without unit address. It starts with `hartlock-`.
    pub name: &'a str,
    /// Address of the first byte.
    pub address: u64,
    /// Length in bytes.
    pub size: u64,
    /// Value of the `compatible` property, for a region that software under Linux reads.
    pub compatible: Option<&'a str>,
}

/// All changes that [`edit`] makes to a device tree.
#[derive(Clone, Copy, Debug)]
pub struct Edits<'a> {
    /// Value of `/chosen/bootargs`.
    pub bootargs: &'a str,
    /// Start and end address of the initramfs. The end is the address of the first byte past it.
    pub initrd: Option<(u64, u64)>,
    /// Nodes that are added to `/reserved-memory`.
    pub reservations: &'a [Reservation<'a>],
    /// Bit mask of the harts that exist (bit i = hart i). The nodes of the other harts get the
    /// status `disabled`.
    pub harts: u64,
    /// Number of the hart that enters Linux.
    pub boot_hart: u64,
}

/// Writes `source` with `edits` to `out` and returns the length of the new tree in bytes.
///
/// # Errors
/// The first rule that the source breaks.
pub fn edit(source: &[u8], out: &mut [u8], edits: &Edits<'_>) -> Result<usize, TreeFault> {
    match Tree::parse(source) {
        Some(tree) => tree.write(out, edits),
        None => Err(TreeFault { rule: Rule::Form, at: 0 }),
    }
}

/// The three parts of a flattened device tree: structure block, strings block and memory
/// reservation block.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    structure: &'a [u8],
    strings: &'a [u8],
    pub(crate) reservations: &'a [u8],
    boot_cpu: u32,
}

/// One token of the structure block.
#[derive(Clone, Copy, Debug)]
pub enum Token<'a> {
    /// The beginning of a node with this name.
    Begin(&'a [u8]),
    /// The end of a node.
    End,
    /// A property: the offset of its name in the strings block, and its value.
    Property(u32, &'a [u8]),
    /// Nothing.
    Nop,
    /// The end of the structure block.
    Last,
}

pub(crate) fn be32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_be_bytes)
}

/// Returns the null-terminated string at offset `at`, without its terminator.
fn text_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.get(..rest.iter().position(|byte| *byte == 0)?)
}

impl<'a> Tree<'a> {
    /// Returns as many bytes as the header says, or `None` if they are not those of a tree of version 17.
    pub fn whole(source: &'a [u8]) -> Option<&'a [u8]> {
        let field = |at| be32_at(source, at);
        let is_known = field(0)? == MAGIC && field(20)? >= VERSION && field(24)? <= VERSION;
        source.get(..field(4)? as usize).filter(|_| is_known)
    }

    /// Finds the parts. Returns `None` for bytes that are not a complete tree of version 17.
    pub fn parse(source: &'a [u8]) -> Option<Self> {
        let field = |at| be32_at(source, at);
        let tree = Self::whole(source)?;
        let part = |at: usize, len_at: usize| {
            let rest = tree.get(field(at)? as usize..)?;
            rest.get(..field(len_at)? as usize)
        };
        let entries = tree.get(field(16)? as usize..)?;
        let end = entries.as_chunks::<16>().0.iter().position(|entry| *entry == [0; 16])?;
        Some(Self {
            structure: part(8, 36)?,
            strings: part(12, 32)?,
            reservations: entries.get(..end.checked_add(1)?.checked_mul(16)?)?,
            boot_cpu: field(28)?,
        })
    }

    /// Reads the token at offset `at`, which is moved to the next one.
    pub fn token(&self, at: &mut usize) -> Option<Token<'a>> {
        let token = be32_at(self.structure, *at)?;
        let mut end = at.checked_add(4)?;
        let token = match token {
            BEGIN_NODE => {
                let name = text_at(self.structure, end)?;
                end = end.checked_add(name.len())?.checked_add(1)?;
                Token::Begin(name)
            }
            END_NODE => Token::End,
            PROP => {
                let len = be32_at(self.structure, end)? as usize;
                let name_at = be32_at(self.structure, end.checked_add(4)?)?;
                let start = end.checked_add(8)?;
                end = start.checked_add(len)?;
                Token::Property(name_at, self.structure.get(start..end)?)
            }
            NOP => Token::Nop,
            END => Token::Last,
            _ => return None,
        };
        *at = aligned(end)?;
        Some(token)
    }

    /// Returns the name at this offset of the strings block.
    pub fn name_at(&self, at: u32) -> Option<&'a [u8]> {
        text_at(self.strings, at as usize)
    }

    /// Returns true for a child of `/cpus` that is a CPU to Linux (`of_get_next_cpu_node` in drivers/of/cpu.c).
    pub(crate) fn is_cpu(&self, node: &FoundNode<'_>) -> bool {
        let has_name = node.name == b"cpu" || node.name.starts_with(b"cpu@");
        has_name || self.property(node, "device_type").is_some_and(|it| first_text(it) == b"cpu")
    }

    /// Returns the number of the hart of a child of `/cpus`, or `None` if Linux starts none for it: that of its name `cpu@N`,
    /// or else of its `reg`, which Linux reads.
    pub(crate) fn cpu_number(&self, node: &FoundNode<'_>) -> Result<Option<u64>, Rule> {
        let number = match (node.name.strip_prefix(b"cpu@"), self.property(node, "reg")) {
            (Some(unit), _) => number_of_hex(unit),
            (None, Some(reg)) if self.is_cpu(node) => number_of_reg(reg),
            _ => return Ok(None),
        };
        number.map(Some).ok_or(Rule::Hart)
    }

    fn write(&self, out: &mut [u8], edits: &Edits<'_>) -> Result<usize, TreeFault> {
        // The header is written last and replaces these zeros.
        let mut body = Writer::new(out);
        body.put(&[0; HEADER_SIZE]);
        body.put(self.reservations);
        let structure_at = HEADER_SIZE.saturating_add(self.reservations.len());
        let mut copy = Copy { tree: self, edits, out: body, position: Position::default() };
        if copy.run().is_none() {
            return Err(TreeFault { rule: copy.position.rule, at: copy.position.at });
        }
        let mut body = copy.out;
        let strings_at = body.len();
        body.put(self.strings);
        body.put(NAMES);
        body.pad_to(8);
        let no_room = TreeFault { rule: Rule::Room, at: 0 };
        let total = body.finish().ok_or(no_room)?;

        let mut header = Writer::new(out.get_mut(..HEADER_SIZE).ok_or(no_room)?);
        for field in [
            MAGIC,
            total as u32,
            structure_at as u32,
            strings_at as u32,
            HEADER_SIZE as u32,
            VERSION,
            LAST_COMPATIBLE_VERSION,
            self.boot_cpu,
            self.strings.len().saturating_add(NAMES.len()) as u32,
            strings_at.saturating_sub(structure_at) as u32,
        ] {
            header.put(&field.to_be_bytes());
        }
        header.finish().ok_or(no_room)?;
        Ok(total)
    }
}

/// Nodes whose contents the edits check or change. All other nodes are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    Other,
    Root,
    Chosen,
    ReservedMemory,
    Cpus,
    Cpu { hart: u64, is_running: bool },
}

/// What a tree has at most once. Each is a bit of [`Position::seen`].
mod once {
    pub(super) const ROOT: u32 = 1;
    pub(super) const CHOSEN: u32 = 2;
    pub(super) const RESERVED: u32 = 4;
    pub(super) const BOOT_HART: u32 = 8;
    pub(super) const ROOT_ADDRESS: u32 = 0x10;
    pub(super) const ROOT_SIZE: u32 = 0x20;
    pub(super) const ADDRESS: u32 = 0x40;
    pub(super) const SIZE: u32 = 0x80;
    pub(super) const RANGES: u32 = 0x100;
}

/// The position of the copy in the tree. Only the first three levels are distinguished.
#[derive(Debug)]
struct Position {
    depth: usize,
    path: [NodeKind; 3],
    /// What was found already.
    seen: u32,
    /// True after a child of the node. Properties are before the children, and what reads a tree may stop there.
    is_after_child: bool,
    /// Offset of the token that is copied.
    at: usize,
    /// The rule that is broken if the copy ends here.
    rule: Rule,
}

impl Default for Position {
    fn default() -> Self {
        Self {
            depth: 0,
            path: [NodeKind::Other; 3],
            seen: 0,
            is_after_child: false,
            at: 0,
            rule: Rule::Form,
        }
    }
}

impl Position {
    /// Returns the node that contains the next token.
    fn node(&self) -> NodeKind {
        match self.depth.checked_sub(1).and_then(|level| self.path.get(level)) {
            Some(node) => *node,
            None => NodeKind::Other,
        }
    }
}

struct Copy<'a, 'b> {
    tree: &'a Tree<'a>,
    edits: &'a Edits<'a>,
    out: Writer<'b>,
    position: Position,
}

impl Copy<'_, '_> {
    fn run(&mut self) -> Option<()> {
        let mut at = 0usize;
        loop {
            self.position.at = at;
            match self.tree.token(&mut at)? {
                Token::Begin(name) => self.begin(name, at)?,
                Token::End => self.end()?,
                Token::Property(name_at, value) => self.property(name_at, value)?,
                Token::Nop => {}
                Token::Last => break,
            }
        }
        self.put_token(END);
        (self.position.depth == 0 && self.position.seen & once::ROOT != 0).then_some(())
    }

    /// Ends the copy because of a rule.
    fn refuse(&mut self, rule: Rule) -> Option<()> {
        self.position.rule = rule;
        None
    }

    /// Notes what may be there once.
    fn once(&mut self, bit: u32, rule: Rule) -> Option<()> {
        if self.position.seen & bit != 0 {
            return self.refuse(rule);
        }
        self.position.seen |= bit;
        Some(())
    }

    /// Requires what has to be there by now.
    fn require(&mut self, bits: u32, rule: Rule) -> Option<()> {
        if self.position.seen & bits == bits { Some(()) } else { self.refuse(rule) }
    }

    /// Begins the node whose first property or child is at offset `at`.
    fn begin(&mut self, name: &[u8], at: usize) -> Option<()> {
        let node = match (self.position.depth, self.position.node(), name) {
            (0, _, b"") => {
                self.once(once::ROOT, Rule::Form)?;
                NodeKind::Root
            }
            (0, ..) => return None,
            (1, NodeKind::Root, b"chosen") => {
                self.once(once::CHOSEN, Rule::Once)?;
                NodeKind::Chosen
            }
            (1, NodeKind::Root, b"reserved-memory") => {
                self.once(once::RESERVED, Rule::Once)?;
                NodeKind::ReservedMemory
            }
            // Linux may take them for those without a unit address.
            (1, NodeKind::Root, _)
                if name.starts_with(b"chosen@") || name.starts_with(b"reserved-memory@") =>
            {
                return self.refuse(Rule::Once);
            }
            (1, NodeKind::Root, b"cpus") => NodeKind::Cpus,
            (2, NodeKind::Cpus, _) => match self.tree.cpu_number(&FoundNode::new(name, at, 3)) {
                Err(rule) => return self.refuse(rule),
                Ok(Some(hart)) => {
                    let bit = u32::try_from(hart).ok().and_then(|bit| 1u64.checked_shl(bit));
                    let is_running = self.edits.harts & bit.unwrap_or(0) != 0;
                    NodeKind::Cpu { hart, is_running }
                }
                Ok(None) => NodeKind::Other,
            },
            (2, NodeKind::ReservedMemory, _) if name.starts_with(b"hartlock-") => {
                return self.refuse(Rule::Reservation);
            }
            _ => NodeKind::Other,
        };
        if let Some(place) = self.position.path.get_mut(self.position.depth) {
            *place = node;
        }
        self.position.depth = self.position.depth.checked_add(1)?;
        self.position.is_after_child = false;
        self.put_begin(&[name]);
        match node {
            NodeKind::Chosen => self.put_chosen(),
            NodeKind::Cpu { is_running: false, .. } => {
                self.put_property(STATUS, &[b"disabled\0"]);
            }
            _ => {}
        }
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        match self.position.node() {
            NodeKind::ReservedMemory => {
                self.require(once::ADDRESS | once::SIZE | once::RANGES, Rule::Cells)?;
                self.put_reservations();
            }
            NodeKind::Root => {
                self.require(once::ROOT_ADDRESS | once::ROOT_SIZE, Rule::Cells)?;
                self.require(once::BOOT_HART, Rule::BootHart)?;
                self.put_missing();
            }
            _ => {}
        }
        self.position.depth = self.position.depth.checked_sub(1)?;
        self.position.is_after_child = true;
        self.put_token(END_NODE);
        Some(())
    }

    fn property(&mut self, name_at: u32, value: &[u8]) -> Option<()> {
        let name = self.tree.name_at(name_at)?;
        let node = self.position.node();
        // A property outside of every node is malformed.
        if self.position.depth == 0 || self.position.is_after_child {
            return None;
        }
        match (node, name) {
            (NodeKind::Chosen, _) if is_of_one_boot(name) => return self.refuse(Rule::OfOneBoot),
            (NodeKind::ReservedMemory, b"ranges") => self.once(once::RANGES, Rule::Cells)?,
            (NodeKind::Root | NodeKind::ReservedMemory, b"#address-cells" | b"#size-cells") => {
                if value != 2u32.to_be_bytes() {
                    return self.refuse(Rule::Cells);
                }
                let bit = match (node, name) {
                    (NodeKind::Root, b"#size-cells") => once::ROOT_SIZE,
                    (NodeKind::Root, _) => once::ROOT_ADDRESS,
                    (_, b"#size-cells") => once::SIZE,
                    _ => once::ADDRESS,
                };
                self.once(bit, Rule::Cells)?;
            }
            // Linux takes the hart number from `reg`, so it must equal the unit address in the node
            // name.
            (NodeKind::Cpu { hart, .. }, b"reg") => {
                if number_of_reg(value) != Some(hart) {
                    return self.refuse(Rule::Hart);
                }
                if hart == self.edits.boot_hart {
                    self.once(once::BOOT_HART, Rule::BootHart)?;
                }
            }
            (NodeKind::Cpu { hart, .. }, b"status")
                if hart == self.edits.boot_hart && !is_okay(value) =>
            {
                return self.refuse(Rule::BootHart);
            }
            (NodeKind::Cpu { is_running: false, .. }, b"status") => return Some(()),
            _ => {}
        }
        self.put_token(PROP);
        self.out.put(&(value.len() as u32).to_be_bytes());
        self.out.put(&name_at.to_be_bytes());
        self.out.put(value);
        self.out.pad_to(4);
        Some(())
    }

    /// Writes what the edits add to `/chosen`.
    fn put_chosen(&mut self) {
        self.put_property(BOOTARGS, &[self.edits.bootargs.as_bytes(), b"\0"]);
        if let Some((start, end)) = self.edits.initrd {
            self.put_property(INITRD_START, &[&start.to_be_bytes()]);
            self.put_property(INITRD_END, &[&end.to_be_bytes()]);
        }
    }

    /// Writes the nodes that the tree lacks, at the end of the root.
    fn put_missing(&mut self) {
        if self.position.seen & once::CHOSEN == 0 {
            self.put_begin(&[b"chosen"]);
            self.put_chosen();
            self.put_token(END_NODE);
        }
        if self.position.seen & once::RESERVED == 0 {
            self.put_begin(&[b"reserved-memory"]);
            self.put_property(ADDRESS_CELLS, &[&2u32.to_be_bytes()]);
            self.put_property(SIZE_CELLS, &[&2u32.to_be_bytes()]);
            self.put_property(RANGES, &[]);
            self.put_reservations();
            self.put_token(END_NODE);
        }
    }

    fn put_reservations(&mut self) {
        for reservation in self.edits.reservations {
            self.put_reservation(reservation);
        }
    }

    fn put_token(&mut self, token: u32) {
        self.out.put(&token.to_be_bytes());
    }

    fn put_begin(&mut self, name_parts: &[&[u8]]) {
        self.put_token(BEGIN_NODE);
        for part in name_parts {
            self.out.put(part);
        }
        self.out.put(b"\0");
        self.out.pad_to(4);
    }

    /// Writes a property that the edits add. `name` is an offset in [`NAMES`].
    fn put_property(&mut self, name: u32, value_parts: &[&[u8]]) {
        let len: usize = value_parts.iter().map(|part| part.len()).sum();
        let name_at = (self.tree.strings.len() as u32).wrapping_add(name);
        self.put_token(PROP);
        self.out.put(&(len as u32).to_be_bytes());
        self.out.put(&name_at.to_be_bytes());
        for part in value_parts {
            self.out.put(part);
        }
        self.out.pad_to(4);
    }

    fn put_reservation(&mut self, reservation: &Reservation<'_>) {
        let (digits, len) = hex(reservation.address);
        let digits = digits.get(digits.len().wrapping_sub(len)..).unwrap_or(&[]);
        self.put_begin(&[reservation.name.as_bytes(), b"@", digits]);
        let reg = [reservation.address.to_be_bytes(), reservation.size.to_be_bytes()];
        self.put_property(REG, &[&reg[0], &reg[1]]);
        self.put_property(NO_MAP, &[]);
        if let Some(compatible) = reservation.compatible {
            self.put_property(COMPATIBLE, &[compatible.as_bytes(), b"\0"]);
        }
        self.put_token(END_NODE);
    }
}

/// Returns true for a property of `/chosen` that the loader writes, or that an earlier boot has left.
fn is_of_one_boot(name: &[u8]) -> bool {
    match name {
        b"bootargs" | b"kaslr-seed" | b"rng-seed" => true,
        // These two are of the board.
        b"linux,stdout-path" | b"linux,pci-probe-only" => false,
        _ => name.starts_with(b"linux,"),
    }
}

/// Returns true for a `status` of a node that Linux uses.
pub(crate) fn is_okay(status: &[u8]) -> bool {
    matches!(first_text(status), b"okay" | b"ok")
}

/// Returns a value up to its first zero, as Linux reads it.
fn first_text(value: &[u8]) -> &[u8] {
    value.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Returns the number of a hart in one cell or two.
fn number_of_reg(reg: &[u8]) -> Option<u64> {
    match reg.len() {
        4 => be32_at(reg, 0).map(u64::from),
        8 => bytes_at(reg, 0).map(u64::from_be_bytes),
        _ => None,
    }
}

/// Rounds an offset up to a multiple of 4 bytes, the alignment of tokens.
fn aligned(at: usize) -> Option<usize> {
    Some(at.checked_add(3)? & !3)
}

/// Returns the number with these hexadecimal digits, of which there is at least one.
pub(crate) fn number_of_hex(digits: &[u8]) -> Option<u64> {
    // `from_str_radix` also accepts a sign.
    let digits = core::str::from_utf8(digits).ok().filter(|it| !it.starts_with('+'))?;
    u64::from_str_radix(digits, 16).ok()
}

/// Returns the lower-case hexadecimal digits of a number at the end of the array, and the number of
/// digits.
fn hex(number: u64) -> ([u8; 16], usize) {
    let mut digits = [b'0'; 16];
    for (index, digit) in digits.iter_mut().rev().enumerate() {
        let nibble = (number >> (4 * (index as u32 & 15)) & 15) as u8;
        *digit = if nibble < 10 { b'0' | nibble } else { (b'a' - 10).wrapping_add(nibble) };
    }
    let len = 16usize.saturating_sub(number.leading_zeros() as usize / 4).max(1);
    (digits, len)
}

#[cfg(test)]
mod tests;
