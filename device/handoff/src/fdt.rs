//! Edits of the signed device tree for Linux (boot flow §6; Devicetree Specification v0.4 §5).
//!
//! The tree is copied token by token, and parts that are not edited are not interpreted. The source
//! was verified before, so a malformed tree is more likely a mistake than an attack. Nevertheless
//! every access is checked against the bounds, and a malformed tree is refused.

use hartlock_image::{Reason, Writer, bytes_at};

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
    b"bootargs\0linux,initrd-start\0linux,initrd-end\0status\0reg\0no-map\0compatible\0";
const BOOTARGS: u32 = 0;
const INITRD_START: u32 = 9;
const INITRD_END: u32 = 28;
const STATUS: u32 = 45;
const REG: u32 = 52;
const NO_MAP: u32 = 56;
const COMPATIBLE: u32 = 63;

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
}

/// Writes `source` with `edits` to `out` and returns the length of the new tree in bytes.
///
/// # Errors
/// `DeviceTreeUnusable` if the source is malformed, if it lacks `/chosen` or `/reserved-memory`, if
/// it already contains an added node or property, or if `out` is too small.
pub fn edit(source: &[u8], out: &mut [u8], edits: &Edits<'_>) -> Result<usize, Reason> {
    Tree::parse(source).and_then(|tree| tree.write(out, edits)).ok_or(Reason::DeviceTreeUnusable)
}

/// The three parts of a flattened device tree: structure block, strings block and memory
/// reservation block.
pub(crate) struct Tree<'a> {
    structure: &'a [u8],
    strings: &'a [u8],
    reservations: &'a [u8],
    boot_cpu: u32,
}

/// One token of the structure block.
pub(crate) enum Token<'a> {
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
    pub(crate) fn parse(source: &'a [u8]) -> Option<Self> {
        let field = |at| be32_at(source, at);
        let tree = source.get(..field(4)? as usize)?;
        if field(0)? != MAGIC || field(20)? < VERSION || field(24)? > VERSION {
            return None;
        }
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
    pub(crate) fn token(&self, at: &mut usize) -> Option<Token<'a>> {
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
    pub(crate) fn name_at(&self, at: u32) -> Option<&'a [u8]> {
        text_at(self.strings, at as usize)
    }

    fn write(&self, out: &mut [u8], edits: &Edits<'_>) -> Option<usize> {
        // The header is written last and replaces these zeros.
        let mut body = Writer::new(out);
        body.put(&[0; HEADER_SIZE]);
        body.put(self.reservations);
        let structure_at = HEADER_SIZE.checked_add(self.reservations.len())?;
        let mut copy = Copy { tree: self, edits, out: body, position: Position::default() };
        copy.run()?;
        let mut body = copy.out;
        let strings_at = body.len();
        body.put(self.strings);
        body.put(NAMES);
        let strings_size = self.strings.len().checked_add(NAMES.len())?;
        body.pad_to(8);
        let total = body.finish()?;

        let mut header = Writer::new(out.get_mut(..HEADER_SIZE)?);
        for field in [
            MAGIC,
            total as u32,
            structure_at as u32,
            strings_at as u32,
            HEADER_SIZE as u32,
            VERSION,
            LAST_COMPATIBLE_VERSION,
            self.boot_cpu,
            strings_size as u32,
            strings_at.checked_sub(structure_at)? as u32,
        ] {
            header.put(&field.to_be_bytes());
        }
        header.finish()?;
        Some(total)
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

/// The position of the copy in the tree. Only the first three levels are distinguished.
#[derive(Debug)]
struct Position {
    depth: usize,
    path: [NodeKind; 3],
    root_count: u32,
    chosen_count: u32,
    reserved_count: u32,
    address_cells_count: u32,
    size_cells_count: u32,
}

impl Default for Position {
    fn default() -> Self {
        Self {
            depth: 0,
            path: [NodeKind::Other; 3],
            root_count: 0,
            chosen_count: 0,
            reserved_count: 0,
            address_cells_count: 0,
            size_cells_count: 0,
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
            match self.tree.token(&mut at)? {
                Token::Begin(name) => self.begin(name)?,
                Token::End => self.end()?,
                Token::Property(name_at, value) => self.property(name_at, value)?,
                Token::Nop => {}
                Token::Last => break,
            }
        }
        self.put_token(END);
        let position = &self.position;
        let counts = [
            position.root_count,
            position.chosen_count,
            position.reserved_count,
            position.address_cells_count,
            position.size_cells_count,
        ];
        (position.depth == 0 && counts == [1; 5]).then_some(())
    }

    fn begin(&mut self, name: &[u8]) -> Option<()> {
        let node = match (self.position.depth, self.position.node(), name) {
            (0, _, b"") => NodeKind::Root,
            (0, ..) => return None,
            (1, NodeKind::Root, b"chosen") => NodeKind::Chosen,
            (1, NodeKind::Root, b"reserved-memory") => NodeKind::ReservedMemory,
            (1, NodeKind::Root, b"cpus") => NodeKind::Cpus,
            (2, NodeKind::Cpus, _) => match name.strip_prefix(b"cpu@") {
                Some(unit) => {
                    // `from_str_radix` also accepts a sign.
                    let digits = core::str::from_utf8(unit).ok().filter(|it| !it.starts_with('+'));
                    let hart = u64::from_str_radix(digits?, 16).ok()?;
                    let bit = u32::try_from(hart).ok().and_then(|bit| 1u64.checked_shl(bit));
                    let is_running = self.edits.harts & bit.unwrap_or(0) != 0;
                    NodeKind::Cpu { hart, is_running }
                }
                None => NodeKind::Other,
            },
            (2, NodeKind::ReservedMemory, _) if name.starts_with(b"hartlock-") => return None,
            _ => NodeKind::Other,
        };
        if let Some(place) = self.position.path.get_mut(self.position.depth) {
            *place = node;
        }
        self.position.depth = self.position.depth.checked_add(1)?;
        self.put_begin(&[name]);
        match node {
            NodeKind::Root => self.position.root_count = self.position.root_count.checked_add(1)?,
            NodeKind::Chosen => {
                self.position.chosen_count = self.position.chosen_count.checked_add(1)?;
                self.put_property(BOOTARGS, &[self.edits.bootargs.as_bytes(), b"\0"]);
                if let Some((start, end)) = self.edits.initrd {
                    self.put_property(INITRD_START, &[&start.to_be_bytes()]);
                    self.put_property(INITRD_END, &[&end.to_be_bytes()]);
                }
            }
            NodeKind::ReservedMemory => {
                self.position.reserved_count = self.position.reserved_count.checked_add(1)?;
            }
            NodeKind::Cpu { is_running: false, .. } => {
                self.put_property(STATUS, &[b"disabled\0"]);
            }
            _ => {}
        }
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        if self.position.node() == NodeKind::ReservedMemory {
            for reservation in self.edits.reservations {
                self.put_reservation(reservation);
            }
        }
        self.position.depth = self.position.depth.checked_sub(1)?;
        self.put_token(END_NODE);
        Some(())
    }

    fn property(&mut self, name_at: u32, value: &[u8]) -> Option<()> {
        let name = self.tree.name_at(name_at)?;
        match (self.position.node(), name) {
            // A property outside of every node is malformed.
            _ if self.position.depth == 0 => return None,
            (NodeKind::Chosen, b"bootargs" | b"linux,initrd-start" | b"linux,initrd-end") => {
                return None;
            }
            (NodeKind::ReservedMemory, b"#address-cells" | b"#size-cells") => {
                if value != 2u32.to_be_bytes() {
                    return None;
                }
                let count = match name {
                    b"#size-cells" => &mut self.position.size_cells_count,
                    _ => &mut self.position.address_cells_count,
                };
                *count = count.checked_add(1)?;
            }
            // Linux takes the hart number from `reg`, so it must equal the unit address in the node
            // name.
            (NodeKind::Cpu { hart, .. }, b"reg") => {
                let number = match value.len() {
                    4 => be32_at(value, 0).map(u64::from),
                    8 => bytes_at(value, 0).map(u64::from_be_bytes),
                    _ => None,
                };
                if number != Some(hart) {
                    return None;
                }
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

/// Rounds an offset up to a multiple of 4 bytes, the alignment of tokens.
fn aligned(at: usize) -> Option<usize> {
    Some(at.checked_add(3)? & !3)
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
