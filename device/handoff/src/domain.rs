//! The protection of memory in the device tree for OpenSBI (boot flow §5.6).
//!
//! OpenSBI keeps S-mode from memory as the domain in its device tree says. The functions here read the tree as
//! OpenSBI 1.6 to 1.9 do (`lib/utils/fdt/fdt_domain.c`, `lib/sbi/sbi_domain.c`) and find out whether memory that a
//! board closes is closed on every hart. Where a tree could be read in two ways, it is refused.

use hartlock_image::bytes_at;

use crate::fdt::{Token, Tree, be32_at};

mod devices;

/// Access that S-mode may have to a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None.
    None,
    /// Loads.
    Read,
    /// None. OpenSBI closes the range by itself, because its drivers use it; a domain must not open a part of it.
    Monitor,
}

/// A range of addresses that a board closes to S-mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// First address of the range.
    pub start: u64,
    /// First address after the range.
    pub end: u64,
    /// Access that S-mode may have.
    pub access: Access,
}

/// What a device tree for OpenSBI has to say.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Ranges that are closed to S-mode.
    pub closed: &'a [Closed],
    /// Number of harts that the board has at most.
    pub harts: usize,
    /// Number of the hart that enters the next stage.
    pub boot_hart: u32,
    /// Address of the next stage.
    pub next_stage: u64,
    /// First address of the memory where Linux is placed, and the first after that. Boards without Linux have none.
    pub linux: Option<(u64, u64)>,
}

/// Loads by S- and U-mode, in the permissions of a region.
pub const READ: u32 = 1 << 3;
/// Stores by S- and U-mode.
pub const WRITE: u32 = 1 << 4;
/// Execution in S- and U-mode.
pub const EXECUTE: u32 = 1 << 5;
const ANY_ACCESS: u32 = READ | WRITE | EXECUTE;
/// Loads, stores and execution in M-mode.
const MACHINE: u32 = 7;
/// Permissions that OpenSBI compares: those of S- and M-mode, and whether they are enforced in M-mode, too.
const COMPARED: u32 = 0x7f;

/// Maximum number of regions of a domain, with those of OpenSBI itself: the ROM leaves OpenSBI that many entries of the
/// PMP. OpenSBI 1.6 says nothing of a region for which no entry is left, and it is the largest.
const MAX_REGIONS: usize = 15;
/// Regions of OpenSBI's own memory: its code, and its data.
const OWN_REGIONS: usize = 2;

/// The first rule that a device tree breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainFault {
    /// It is not a device tree, or is malformed.
    Malformed,
    /// It has no such node.
    NoNode(&'static str),
    /// It has several such nodes, of which OpenSBI takes one.
    SeveralNodes(&'static str),
    /// A property of the domain names a node that does not exist, exists twice, or is of another kind.
    Reference(&'static str),
    /// An entry of `regions` of the domain cannot be used.
    Region(usize),
    /// A hart belongs to no domain, so that nothing but the memory of OpenSBI is closed on it.
    HartOutside(u32),
    /// There are more harts than the board has. OpenSBI takes memory for each, beyond the place that is closed.
    TooManyHarts,
    /// OpenSBI would take as much memory as this property says.
    HeapSize,
    /// A hart has two nodes, of which OpenSBI takes one.
    HartTwice(u32),
    /// A hart names Smepmp, with which regions without permissions are not closed.
    Smepmp(u32),
    /// This property does not name the boot hart alone.
    BootHart(&'static str),
    /// OpenSBI would enter another next stage, or in another mode.
    NextStage,
    /// The next stage cannot be executed.
    NextStageClosed,
    /// S-mode cannot use memory where Linux is placed.
    LinuxClosed {
        /// The first such address.
        address: u64,
        /// What S-mode cannot do there: [`READ`], [`WRITE`], [`EXECUTE`].
        permissions: u32,
    },
    /// The domain may not reset the machine, which is how a boot with a hart out of control ends.
    ResetNotAllowed,
    /// Memory that has to be closed is open.
    Open {
        /// Its index in [`Wanted::closed`].
        index: usize,
        /// The first open address.
        address: u64,
        /// What S-mode may do there: [`READ`], [`WRITE`], [`EXECUTE`].
        permissions: u32,
    },
    /// A driver of OpenSBI would access memory that is closed.
    DeviceInside {
        /// Its index in [`Wanted::closed`].
        index: usize,
        /// The first closed address that it would access.
        address: u64,
    },
    /// The memory that the call "system map" changes is not closed, from this address on.
    SystemMapOpen {
        /// The first address of the registers or tables.
        address: u64,
    },
    /// The length of `reg` of a device is not that of whole entries, a number of it has fewer than four bytes, or it has more
    /// interrupts than a controller can have.
    Registers,
    /// The address of a device is translated by `ranges` of a bus, in which versions of OpenSBI differ.
    Translated,
    /// A device is too deep in the tree.
    TooDeep,
    /// There is no console that OpenSBI drives.
    NoConsole,
    /// A property with this name ends without a zero, or within a cell. OpenSBI reads on beyond its end.
    Unterminated(&'static str),
}

/// Checks that the device tree closes what is wanted, on every hart that it names.
///
/// # Errors
/// The first rule that the tree breaks.
pub fn check(tree: &[u8], wanted: &Wanted<'_>) -> Result<(), DomainFault> {
    let tree = Tree::parse(tree).filter(is_well_formed).ok_or(DomainFault::Malformed)?;
    let nodes = Nodes::all(&tree);
    let root = nodes.clone().next().ok_or(DomainFault::Malformed)?;
    let chosen = only("/chosen", nodes.below(&root).filter(|it| it.is_named(b"chosen")))?;
    let cpus = only("/cpus", nodes.below(&root).filter(|it| it.is_named(b"cpus")))?;

    for name in TEXTS {
        let ends_otherwise = |value: &[u8]| value.last().is_some_and(|byte| *byte != 0);
        if nodes.clone().any(|node| tree.property(&node, name).is_some_and(ends_otherwise)) {
            return Err(DomainFault::Unterminated(name));
        }
    }
    let has_cut_cell = |node| tree.property(&node, "reg").is_some_and(|reg| reg.len() % 4 != 0);
    if nodes.below(&cpus).any(has_cut_cell) {
        return Err(DomainFault::Unterminated("reg"));
    }

    let source = Source { tree: &tree, nodes: &nodes };
    let (config, domain) = source.domain()?;
    let is_inside = |node: &FoundNode<'_>| chosen.at < node.at && node.at < nodes.end_of(&chosen);
    if !is_inside(&config) {
        return Err(DomainFault::NoNode(CONFIG));
    }
    let settings = only(SETTINGS, nodes.clone().filter(|it| tree.is_compatible(it, SETTINGS)))?;
    if !is_inside(&settings) {
        return Err(DomainFault::NoNode(SETTINGS));
    }

    if tree.property(&settings, "heap-size").is_some() {
        return Err(DomainFault::HeapSize);
    }
    if nodes.below(&cpus).filter(|it| tree.hart(it).is_some()).count() > wanted.harts {
        return Err(DomainFault::TooManyHarts);
    }
    source.harts(&cpus, &domain, wanted.boot_hart)?;
    source.boot_harts(&settings, &domain, wanted.boot_hart)?;
    source.next_stage(&domain, wanted.next_stage)?;
    let regions = source.regions(&domain)?;
    // Versions before 1.9 do not see that a region of order 64 contains another.
    for largest in [63, 64] {
        let map = Map { regions: &regions, largest };
        for (index, closed) in wanted.closed.iter().enumerate() {
            map.check(index, closed)?;
        }
        if map.at(wanted.next_stage).is_none_or(|it| it.permissions & EXECUTE == 0 || it.is_mmio) {
            return Err(DomainFault::NextStageClosed);
        }
        if let Some((start, end)) = wanted.linux {
            map.check_linux(start, end, wanted.closed)?;
        }
    }
    source.devices(wanted.closed)?;
    if source.has_console() { Ok(()) } else { Err(DomainFault::NoConsole) }
}

/// Checks that the device tree closes some memory on every hart that it names, for a stage that has no description of the
/// board. What the board closes is judged by [`check`], before the tree is signed.
///
/// # Errors
/// The first rule that the tree breaks: `Malformed`, `NoNode`, `SeveralNodes`, `Reference`, `Region`, `HartOutside`.
pub fn check_any(tree: &[u8]) -> Result<(), DomainFault> {
    let tree = Tree::parse(tree).filter(is_well_formed).ok_or(DomainFault::Malformed)?;
    let nodes = Nodes::all(&tree);
    let source = Source { tree: &tree, nodes: &nodes };
    let root = nodes.clone().next().ok_or(DomainFault::Malformed)?;
    let cpus = only("/cpus", nodes.below(&root).filter(|it| it.is_named(b"cpus")))?;
    let (_, domain) = source.domain()?;
    for cpu in nodes.below(&cpus) {
        let Some(number) = tree.hart(&cpu) else { continue };
        source.belongs_to(&cpu, &domain, number)?;
    }
    let is_closed = |region: &Region| region.permissions & ANY_ACCESS == 0;
    if source.regions(&domain)?.iter().flatten().any(is_closed) {
        Ok(())
    } else {
        Err(DomainFault::NoNode(MEMORY))
    }
}

/// Checks that no device of a tree that OpenSBI has edited is in closed memory. OpenSBI removes the nodes of its domain,
/// so [`check`] cannot judge such a tree.
///
/// # Errors
/// The first rule that the tree breaks.
pub fn check_devices(tree: &[u8], closed: &[Closed]) -> Result<(), DomainFault> {
    let tree = Tree::parse(tree).filter(is_well_formed).ok_or(DomainFault::Malformed)?;
    Source { tree: &tree, nodes: &Nodes::all(&tree) }.devices(closed)
}

/// Returns the mask of the harts that a tree names, up to number 63. Returns `None` for bytes that are no tree.
pub fn harts(tree: &[u8]) -> Option<u64> {
    let tree = Tree::parse(tree)?;
    let root = Nodes::all(&tree).next()?;
    let cpus = Nodes::all(&tree).below(&root).filter(|node| node.is_named(b"cpus"));
    let harts = cpus.flat_map(|node| Nodes::all(&tree).below(&node));
    let harts = harts.filter_map(|node| 1u64.checked_shl(tree.hart(&node)?));
    Some(harts.fold(0, |mask, bit| mask | bit))
}

const CONFIG: &str = "opensbi,domain,config";
const INSTANCE: &str = "opensbi,domain,instance";
const MEMORY: &str = "opensbi,domain,memregion";
const SETTINGS: &str = "opensbi,config";

/// Properties that OpenSBI reads up to a zero, whatever their length is.
const TEXTS: [&str; 5] =
    ["compatible", "device_type", "status", "riscv,isa", "riscv,isa-extensions"];

/// Returns the only node of an iterator.
fn only<'a>(
    what: &'static str,
    mut found: impl Iterator<Item = FoundNode<'a>>,
) -> Result<FoundNode<'a>, DomainFault> {
    let first = found.next().ok_or(DomainFault::NoNode(what))?;
    if found.next().is_some() { Err(DomainFault::SeveralNodes(what)) } else { Ok(first) }
}

/// Returns true if the whole structure block can be read, and the properties of each node are before its children.
fn is_well_formed(tree: &Tree<'_>) -> bool {
    let (mut at, mut depth, mut roots, mut is_after_node) = (0, 0usize, 0u32, false);
    while let Some(token) = tree.token(&mut at) {
        match token {
            Token::Begin(_) => {
                roots = roots.saturating_add(u32::from(depth == 0));
                depth = depth.saturating_add(1);
                is_after_node = false;
            }
            Token::End if depth > 0 => {
                depth = depth.wrapping_sub(1);
                is_after_node = true;
            }
            Token::Property(name, _)
                if depth > 0 && !is_after_node && tree.name_at(name).is_some() => {}
            Token::Nop => {}
            Token::Last => return depth == 0 && roots == 1,
            _ => return false,
        }
    }
    false
}

/// A node of a well-formed tree.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct FoundNode<'a> {
    pub(crate) name: &'a [u8],
    /// Offset of the token after its name.
    at: usize,
    pub(crate) depth: usize,
}

impl<'a> FoundNode<'a> {
    /// The node whose first property or child is at this offset.
    pub(crate) const fn new(name: &'a [u8], at: usize, depth: usize) -> Self {
        Self { name, at, depth }
    }

    /// Returns true for this name, with or without a unit address.
    pub(crate) fn is_named(&self, name: &[u8]) -> bool {
        self.name.strip_prefix(name).is_some_and(|rest| matches!(rest.first(), None | Some(b'@')))
    }
}

/// The nodes of a well-formed tree from a position on, in the order of the tree.
#[derive(Clone)]
pub(crate) struct Nodes<'a> {
    tree: &'a Tree<'a>,
    at: usize,
    depth: usize,
}

impl<'a> Nodes<'a> {
    pub(crate) fn all(tree: &'a Tree<'a>) -> Self {
        Self { tree, at: 0, depth: 0 }
    }

    /// Returns the children of a node.
    pub(crate) fn below(
        &self,
        node: &FoundNode<'a>,
    ) -> impl Iterator<Item = FoundNode<'a>> + use<'a> {
        let depth = node.depth;
        Nodes { tree: self.tree, at: node.at, depth }
            .take_while(move |it| it.depth > depth)
            .filter(move |it| it.depth == depth.wrapping_add(1))
    }

    /// Returns the offset of the next node that is not inside this one, or the largest offset.
    fn end_of(&self, node: &FoundNode<'a>) -> usize {
        let mut rest = Nodes { tree: self.tree, at: node.at, depth: node.depth };
        rest.find(|it| it.depth <= node.depth).map_or(usize::MAX, |it| it.at)
    }
}

impl<'a> Iterator for Nodes<'a> {
    type Item = FoundNode<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.tree.token(&mut self.at)? {
                Token::Begin(name) => {
                    self.depth = self.depth.wrapping_add(1);
                    return Some(FoundNode { name, at: self.at, depth: self.depth });
                }
                Token::End => self.depth = self.depth.wrapping_sub(1),
                Token::Property(..) | Token::Nop => {}
                Token::Last => return None,
            }
        }
    }
}

impl<'a> Tree<'a> {
    /// Returns the value of the first property with this name.
    pub(crate) fn property(&self, node: &FoundNode<'_>, wanted: &str) -> Option<&'a [u8]> {
        let mut at = node.at;
        loop {
            match self.token(&mut at)? {
                Token::Property(name, value) if self.name_at(name)? == wanted.as_bytes() => {
                    return Some(value);
                }
                Token::Property(..) | Token::Nop => {}
                _ => return None,
            }
        }
    }

    fn is_compatible(&self, node: &FoundNode<'_>, wanted: &str) -> bool {
        self.has_text(node, "compatible", wanted.as_bytes())
    }

    /// Returns true if one of the texts of a property is this one.
    pub(crate) fn has_text(&self, node: &FoundNode<'_>, name: &str, wanted: &[u8]) -> bool {
        let texts = self.property(node, name);
        texts.is_some_and(|it| it.split(|byte| *byte == 0).any(|text| text == wanted))
    }

    /// Returns true for a node that OpenSBI uses.
    fn is_enabled(&self, node: &FoundNode<'_>) -> bool {
        self.property(node, "status").is_none_or(|status| status.starts_with(b"ok"))
    }

    /// Returns the number of the hart of an enabled node, or `None` if OpenSBI takes it for something else.
    pub(crate) fn hart(&self, node: &FoundNode<'_>) -> Option<u32> {
        let is_enabled = self.is_enabled(node);
        let is_cpu = self.property(node, "device_type")?.starts_with(b"cpu");
        let reg = self.property(node, "reg")?;
        let number = be32_at(reg, if reg.len() > 4 { 4 } else { 0 })?;
        (is_enabled && is_cpu).then_some(number)
    }
}

/// The tree, as far as the properties of the domain refer to it.
struct Source<'a> {
    tree: &'a Tree<'a>,
    nodes: &'a Nodes<'a>,
}

impl<'a> Source<'a> {
    /// Returns the node with this phandle.
    fn node(&self, phandle: Option<u32>, what: &'static str) -> Result<FoundNode<'a>, DomainFault> {
        let phandle = phandle.filter(|it| !matches!(*it, 0 | u32::MAX));
        let has_it = |node: &FoundNode<'a>| {
            let own = ["phandle", "linux,phandle"]
                .into_iter()
                .find_map(|name| self.tree.property(node, name).filter(|value| value.len() == 4));
            own.and_then(|value| be32_at(value, 0)) == phandle
        };
        let mut found = self.nodes.clone().filter(has_it);
        match (phandle, found.next(), found.next()) {
            (Some(_), Some(node), None) => Ok(node),
            _ => Err(DomainFault::Reference(what)),
        }
    }

    /// Returns the number of the hart that a property of one cell names.
    fn hart(&self, cell: Option<u32>, what: &'static str) -> Result<Option<u32>, DomainFault> {
        Ok(self.tree.hart(&self.node(cell, what)?))
    }

    /// Returns the node with all domains, and the only one of them. OpenSBI takes the first node in the rest of the tree.
    fn domain(&self) -> Result<(FoundNode<'a>, FoundNode<'a>), DomainFault> {
        let config =
            only(CONFIG, self.nodes.clone().filter(|it| self.tree.is_compatible(it, CONFIG)))?;
        let instances =
            self.nodes.below(&config).filter(|it| self.tree.is_compatible(it, INSTANCE));
        Ok((config, only(INSTANCE, instances)?))
    }

    /// Checks that the node of a hart refers to the domain.
    fn belongs_to(
        &self,
        cpu: &FoundNode<'a>,
        domain: &FoundNode<'a>,
        number: u32,
    ) -> Result<(), DomainFault> {
        let outside = DomainFault::HartOutside(number);
        let own = self.tree.property(cpu, "opensbi-domain").ok_or(outside)?;
        let is_own = self.node(be32_at(own, 0), "opensbi-domain")? == *domain;
        if is_own { Ok(()) } else { Err(outside) }
    }

    /// Checks that each hart is in the domain.
    fn harts(
        &self,
        cpus: &FoundNode<'a>,
        domain: &FoundNode<'a>,
        boot_hart: u32,
    ) -> Result<(), DomainFault> {
        const POSSIBLE: &str = "possible-harts";
        let possible = self.tree.property(domain, POSSIBLE).unwrap_or_default();
        let possible = possible.as_chunks::<4>().0;
        let mut has_boot_hart = false;
        for cpu in self.nodes.below(cpus) {
            let Some(number) = self.tree.hart(&cpu) else { continue };
            has_boot_hart |= number == boot_hart;
            let is_same = |other: &FoundNode<'a>| self.tree.hart(other) == Some(number);
            if self.nodes.below(cpus).filter(is_same).count() > 1 {
                return Err(DomainFault::HartTwice(number));
            }
            for isa in ["riscv,isa", "riscv,isa-extensions"] {
                let isa = self.tree.property(&cpu, isa).unwrap_or_default();
                if isa.windows(6).any(|text| text.eq_ignore_ascii_case(b"smepmp")) {
                    return Err(DomainFault::Smepmp(number));
                }
            }
            let outside = DomainFault::HartOutside(number);
            self.tree.property(&cpu, "opensbi-domain").ok_or(outside)?;
            let mut is_possible = false;
            for cell in possible {
                is_possible |=
                    self.hart(Some(u32::from_be_bytes(*cell)), POSSIBLE)? == Some(number);
            }
            if !is_possible {
                return Err(outside);
            }
            self.belongs_to(&cpu, domain, number)?;
        }
        if has_boot_hart { Ok(()) } else { Err(DomainFault::BootHart("/cpus")) }
    }

    /// Checks which hart does OpenSBI's cold boot and enters the next stage.
    fn boot_harts(
        &self,
        settings: &FoundNode<'a>,
        domain: &FoundNode<'a>,
        boot_hart: u32,
    ) -> Result<(), DomainFault> {
        const COLD: &str = "cold-boot-harts";
        const BOOT: &str = "boot-hart";
        let cold = self.tree.property(settings, COLD).unwrap_or_default();
        let boot = self.tree.property(domain, BOOT);
        if cold.len() != 4 || self.hart(be32_at(cold, 0), COLD)? != Some(boot_hart) {
            return Err(DomainFault::BootHart(COLD));
        }
        match boot {
            Some(boot) if self.hart(be32_at(boot, 0), BOOT)? != Some(boot_hart) => {
                Err(DomainFault::BootHart(BOOT))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the domain leaves address and mode of the next stage to the stage before OpenSBI.
    fn next_stage(&self, domain: &FoundNode<'a>, wanted: u64) -> Result<(), DomainFault> {
        let address = self.tree.property(domain, "next-addr");
        let mode = self.tree.property(domain, "next-mode");
        let is_right = address.is_none_or(|it| be64_at(it, 0) == Some(wanted))
            && mode.is_none_or(|it| be32_at(it, 0) == Some(1));
        match self.tree.property(domain, "system-reset-allowed") {
            _ if !is_right => Err(DomainFault::NextStage),
            None => Err(DomainFault::ResetNotAllowed),
            Some(_) => Ok(()),
        }
    }

    /// Reads the regions of the domain.
    fn regions(
        &self,
        domain: &FoundNode<'a>,
    ) -> Result<[Option<Region>; MAX_REGIONS], DomainFault> {
        let mut regions = [None; MAX_REGIONS];
        let own = OWN_REGIONS.saturating_add(self.closing_devices());
        let room = MAX_REGIONS.saturating_sub(own);
        let entries = self.tree.property(domain, "regions").unwrap_or_default();
        for (index, entry) in entries.as_chunks::<8>().0.iter().enumerate() {
            let node = self.node(be32_at(entry, 0), "regions")?;
            let place = regions.get_mut(index).filter(|_| index < room);
            let place = place.ok_or(DomainFault::Region(index))?;
            *place = self.region(&node, be32_at(entry, 4).unwrap_or(0));
            if place.is_none() {
                return Err(DomainFault::Region(index));
            }
        }
        Ok(regions)
    }

    fn region(&self, node: &FoundNode<'a>, permissions: u32) -> Option<Region> {
        if !self.tree.is_compatible(node, MEMORY)
            || permissions & ANY_ACCESS == 0 && permissions & MACHINE != 0
        {
            return None;
        }
        let base = self.tree.property(node, "base").filter(|it| it.len() == 8)?;
        let order = self.tree.property(node, "order").filter(|it| it.len() == 4)?;
        let order = be32_at(order, 0).filter(|order| (3..=64).contains(order))?;
        Some(Region {
            permissions: permissions & COMPARED,
            is_mmio: self.tree.property(node, "mmio").is_some(),
            ..Region::containing(be64_at(base, 0)?, order)
        })
    }
}

fn be64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_be_bytes)
}

/// A region of memory protection: all addresses whose upper bits are those of the base.
#[derive(Clone, Copy, PartialEq)]
struct Region {
    base: u64,
    order: u32,
    permissions: u32,
    is_mmio: bool,
}

impl Region {
    /// Returns the smallest region that contains 2^`order` bytes from `start`, as OpenSBI makes it of a base that is not
    /// aligned.
    fn containing(start: u64, order: u32) -> Self {
        let last = u128::from(start).saturating_add((1u128 << (order & 127)).wrapping_sub(1));
        let order = (order..64).find(|order| last >> order == u128::from(start >> order));
        let order = order.unwrap_or(64);
        let base = start.checked_shr(order).unwrap_or(0).checked_shl(order).unwrap_or(0);
        Self { base, order, permissions: 0, is_mmio: false }
    }

    fn contains(&self, address: u64) -> bool {
        (self.base ^ address).checked_shr(self.order).unwrap_or(0) == 0
    }

    /// Returns the first address after the region, or `None` if there is none.
    fn end(&self) -> Option<u64> {
        1u64.checked_shl(self.order).and_then(|size| self.base.checked_add(size))
    }
}

/// The permissions of all addresses.
struct Map<'a> {
    regions: &'a [Option<Region>],
    /// The largest order of a region that OpenSBI finds to contain others.
    largest: u32,
}

impl Map<'_> {
    /// Returns the regions that OpenSBI keeps. It drops one that is inside a larger region with the same permissions,
    /// although a region between the two in size may have others.
    fn kept(&self) -> impl Iterator<Item = Region> {
        let all = self.regions.iter().flatten();
        all.copied().filter(|it| {
            !self.regions.iter().flatten().any(|other| {
                (other.permissions, other.is_mmio) == (it.permissions, it.is_mmio)
                    && it.order < other.order
                    && other.order <= self.largest
                    && other.contains(it.base)
            })
        })
    }

    /// Returns the region that decides about an address: the smallest. Of several equal ones any may decide, so the
    /// result has the permissions of all.
    fn at(&self, address: u64) -> Option<Region> {
        self.kept().filter(|it| it.contains(address)).reduce(|a, b| match a.order.cmp(&b.order) {
            core::cmp::Ordering::Less => a,
            core::cmp::Ordering::Greater => b,
            core::cmp::Ordering::Equal => Region {
                permissions: a.permissions | b.permissions,
                is_mmio: a.is_mmio | b.is_mmio,
                ..a
            },
        })
    }

    /// Checks that S-mode can do everything in the memory where Linux is placed, but for what the board closes there.
    fn check_linux(&self, start: u64, end: u64, closed: &[Closed]) -> Result<(), DomainFault> {
        let is_in = |address: &u64| {
            let is_closed = closed.iter().any(|it| it.start <= *address && *address < it.end);
            start <= *address && *address < end && !is_closed
        };
        let borders = self.kept().flat_map(|it| [Some(it.base), it.end()]).flatten();
        let borders = borders.chain(closed.iter().map(|it| it.end)).chain([start]).filter(is_in);
        let missing = |address| match self.at(address) {
            Some(region) if !region.is_mmio => ANY_ACCESS & !region.permissions,
            _ => ANY_ACCESS,
        };
        match borders.filter(|address| missing(*address) != 0).min() {
            None => Ok(()),
            Some(address) => {
                Err(DomainFault::LinuxClosed { address, permissions: missing(address) })
            }
        }
    }

    /// Checks a range that has to be closed. What no region names has to be closed by one: a stage before OpenSBI may
    /// have left it open.
    fn check(&self, index: usize, closed: &Closed) -> Result<(), DomainFault> {
        let is_in = |address: &u64| closed.start <= *address && *address < closed.end;
        let borders = self.kept().flat_map(|it| [Some(it.base), it.end()]).flatten().filter(is_in);
        let mut first: Option<(u64, u32)> = None;
        for address in borders.chain([closed.start]) {
            let region = self.at(address);
            let permissions = match closed.access {
                Access::None => region.map_or(ANY_ACCESS, |it| it.permissions & ANY_ACCESS),
                Access::Read => region.map_or(ANY_ACCESS, |it| it.permissions & (WRITE | EXECUTE)),
                // The regions of OpenSBI are inside the range, so they decide before a larger one.
                Access::Monitor => region
                    .filter(|it| is_in(&it.base) && it.end().is_some_and(|end| end <= closed.end))
                    .map_or(0, |it| it.permissions & ANY_ACCESS),
            };
            if permissions != 0 && first.is_none_or(|(earlier, _)| address < earlier) {
                first = Some((address, permissions));
            }
        }
        match first {
            None => Ok(()),
            Some((address, permissions)) => Err(DomainFault::Open { index, address, permissions }),
        }
    }
}

#[cfg(test)]
mod tests;
