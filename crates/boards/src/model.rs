//! A board as its description states it (boards/README.md), checked.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Board {
    pub name: String,
    pub soc: String,
    pub about: String,
    pub harts: u32,
    pub ticks_per_second: u64,
    /// The board whose memory map stages on this one have, if it is another.
    pub stages_of: Option<String>,
    pub forms: Forms,
    pub region: Vec<Region>,
    pub place: Vec<Place>,
    pub signing: Option<Signing>,
    pub device: Vec<Device>,
    /// The root of trust's own memory map, if it has one.
    #[serde(default)]
    pub root_of_trust: Vec<Own>,
}

/// Which of several modules a stage gets (firmware/virt).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    pub environment: Environment,
    pub clock: Clock,
    pub storage: Storage,
    pub dma: Dma,
}

/// What surrounds a stage that employs other harts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// OpenSBI; the stage runs in S-mode.
    Supervisor,
    /// Nothing; the stage runs in M-mode.
    Bare,
}

/// What time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The counter `time`.
    Time,
    /// Cycles of the simulated machine.
    Cycles,
}

/// The block device of the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// virtio-mmio.
    Virtio,
    /// virtio on a PCI bus.
    VirtioPci,
    /// The storage of the test bench of hw/sim.
    Bench,
}

/// What restricts devices that read and write memory themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dma {
    /// Nothing.
    Open,
    /// A RISC-V IOMMU, which the ROM sets up.
    Iommu,
}

/// Memory that is set aside.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Region {
    pub name: String,
    pub start: u64,
    /// One of these two.
    pub size: Option<Size>,
    pub to_end_of: Option<String>,
    /// So many of this size, one after the other.
    pub count: Option<u64>,
    pub about: String,
    /// Its row in the specification.
    pub spec: Option<String>,
    #[serde(default)]
    pub live: Vec<Stage>,
    /// Its permissions for a linker, if something is linked to it.
    pub linker: Option<String>,
    /// Its kind in the domain of OpenSBI, if it has a node there.
    pub domain: Option<Domain>,
    /// Whether the root of trust must not read or write it for the host.
    #[serde(default)]
    pub protected: bool,
}

/// A stage that verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Rom,
    Loader,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    Memory,
    Mmio,
}

/// Where payloads of a type go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Place {
    pub payload: Payload,
    pub region: String,
    /// Whether it goes to the start of the region.
    #[serde(default)]
    pub fixed: bool,
    pub alignment: Option<Size>,
    /// Where `hartlock sign` puts it, if it is not fixed, and the memory that it gets at least.
    pub load_address: Option<u64>,
    pub memory: Option<Size>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    Opensbi,
    Loader,
    BootFdt,
    Kernel,
    Initramfs,
    SystemFdt,
}

impl Payload {
    /// The name of the format (image format §2.4).
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opensbi => "opensbi",
            Self::Loader => "loader",
            Self::BootFdt => "boot-fdt",
            Self::Kernel => "kernel",
            Self::Initramfs => "initramfs",
            Self::SystemFdt => "system-fdt",
        }
    }

    /// Whether it is entered.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::Opensbi | Self::Loader | Self::Kernel)
    }
}

/// The board has defaults in `hartlock sign`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signing {
    /// Whether it is taken where `bundle.toml` names no board.
    #[serde(default)]
    pub default: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Device {
    pub name: String,
    pub start: u64,
    pub size: Size,
    pub count: Option<u64>,
    pub about: String,
    pub always_ready: Option<bool>,
    /// Source number at the interrupt controller; that of the first of several.
    pub interrupt: Option<u32>,
    /// The device trees that have its node. What follows is the node.
    pub tree: Option<Tree>,
    pub node: Option<String>,
    pub label: Option<String>,
    #[serde(default)]
    pub compatible: Vec<String>,
    #[serde(default)]
    pub properties: Vec<String>,
    /// Whether S-mode must not reach it: then it is a region in the domain of OpenSBI.
    #[serde(default)]
    pub closed: bool,
    /// Interrupts of each hart's own controller that it raises.
    #[serde(default)]
    pub hart_interrupts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tree {
    Both,
    Boot,
    System,
}

/// Memory or registers of the root of trust.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    pub name: String,
    pub start: u64,
    pub size: Size,
    pub about: String,
    pub linker: Option<String>,
}

/// A number of bytes, written as `64 KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 3] = [("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Size {
    fn parse(text: &str) -> Result<Self> {
        let (number, unit) = text.split_once(' ').with_context(|| format!("{text}: no unit"))?;
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, factor) = unit.with_context(|| format!("{text}: units are MiB, KiB and B"))?;
        let number: u64 = number.parse().with_context(|| text.to_owned())?;
        Ok(Self(number.checked_mul(*factor).with_context(|| format!("{text}: too large"))?))
    }

    /// The number, and the largest unit of which it is a multiple.
    pub fn parts(self) -> (u64, &'static str) {
        let fits = |(_, factor): &&(&str, u64)| self.0.is_multiple_of(*factor);
        let (name, factor) = UNITS.iter().find(fits).unwrap_or(&UNITS[2]);
        (self.0 / factor, name)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = self.parts();
        write!(out, "{number} {unit}")
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Entries of a description that are found by a key of theirs when one board extends another.
const NAMED: [(&str, &str); 3] = [("region", "name"), ("device", "name"), ("place", "payload")];

/// A description with what it does not say itself taken from the board that it extends. An entry of a list
/// replaces the one of the same name; the names in `without` are left out.
pub fn extended(base: Table, own: Table) -> Result<Table> {
    let without: Vec<Value> = match own.get("without") {
        Some(Value::Array(names)) => names.clone(),
        Some(_) => bail!("without: a list of names"),
        None => Vec::new(),
    };
    let mut merged = base;
    for (key, value) in own {
        if ["extends", "without"].contains(&key.as_str()) {
            continue;
        }
        let by = NAMED.iter().find(|(list, _)| *list == key).map(|(_, by)| *by);
        match (merged.get_mut(&key), by, value) {
            (Some(Value::Array(list)), Some(by), Value::Array(changes)) => {
                for change in changes {
                    match list.iter_mut().find(|entry| entry.get(by) == change.get(by)) {
                        Some(entry) => *entry = change,
                        None => list.push(change),
                    }
                }
            }
            (Some(Value::Table(table)), None, Value::Table(changes)) => table.extend(changes),
            (_, _, value) => {
                merged.insert(key, value);
            }
        }
    }
    for name in &without {
        let mut is_found = false;
        for (list, by) in NAMED {
            if let Some(Value::Array(list)) = merged.get_mut(list) {
                let before = list.len();
                list.retain(|entry| entry.get(by) != Some(name));
                is_found |= list.len() < before;
            }
        }
        ensure!(is_found, "without: there is no {name}");
    }
    Ok(merged)
}

impl Board {
    /// Checks a description. One that extends another is merged already.
    pub fn new(table: Table) -> Result<Self> {
        let board: Self = table.try_into()?;
        board.check()?;
        Ok(board)
    }

    /// Reads a description and checks it.
    pub fn parse(text: &str) -> Result<Self> {
        Self::new(text.parse()?)
    }

    pub fn is_default(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.default)
    }

    pub fn region(&self, name: &str) -> Result<&Region> {
        let found = self.region.iter().find(|region| region.name == name);
        found.with_context(|| format!("there is no region {name}"))
    }

    /// First byte after a region, all of its copies included.
    pub fn end(&self, region: &Region) -> Result<u64> {
        let end = match (&region.size, &region.to_end_of) {
            (Some(size), None) => size.0.checked_mul(region.count.unwrap_or(1)),
            (None, Some(other)) => {
                let other = self.region(other)?;
                ensure!(other.to_end_of.is_none(), "{}: has no end of its own", other.name);
                return self.end(other);
            }
            _ => bail!("{}: takes either size or to-end-of", region.name),
        };
        let end = end.and_then(|size| region.start.checked_add(size));
        end.with_context(|| format!("{}: passes the end of the address space", region.name))
    }

    fn check(&self) -> Result<()> {
        unique("region", self.region.iter().map(|region| region.name.as_str()))?;
        unique("device", self.device.iter().map(|device| device.name.as_str()))?;
        unique("place", self.place.iter().map(|place| place.payload.name()))?;
        unique("root-of-trust", self.root_of_trust.iter().map(|own| own.name.as_str()))?;
        ensure!((1..=8).contains(&self.harts), "loader and pool have room for 1 to 8 harts");
        let mut ranges = Vec::new();
        for region in &self.region {
            let end = self.end(region)?;
            ensure!(region.start < end, "{}: is empty", region.name);
            ranges.push((region.start, end, region.name.as_str()));
        }
        no_overlap(&ranges, true)?;
        let mut ranges = Vec::new();
        for device in &self.device {
            let size = device.size.0.checked_mul(device.count.unwrap_or(1));
            let end = size.and_then(|size| device.start.checked_add(size));
            let end = end.with_context(|| format!("{}: too large", device.name))?;
            ranges.push((device.start, end, device.name.as_str()));
            ensure!(device.tree.is_some() == device.node.is_some(), "{}: node?", device.name);
        }
        no_overlap(&ranges, false)?;
        for place in &self.place {
            let name = place.payload.name();
            let region = self.region(&place.region).with_context(|| format!("place {name}"))?;
            ensure!(!(place.fixed && place.alignment.is_some()), "{name}: fixed or aligned");
            ensure!(!place.fixed || place.load_address.is_none(), "{name}: its address is fixed");
            if let Some(Size(alignment)) = place.alignment {
                ensure!(alignment.is_power_of_two(), "{name}: {alignment} is no power of two");
            }
            let address = place.load_address.unwrap_or(region.start);
            let is_inside = region.start <= address && address < self.end(region)?;
            ensure!(is_inside, "{name}: its load address is outside its region");
            let alignment = place.alignment.map_or(1, |size| size.0);
            ensure!(address.is_multiple_of(alignment), "{name}: its load address is not aligned");
            let is_complete = self.signing.is_none() || place.fixed || place.load_address.is_some();
            ensure!(is_complete, "{name}: `hartlock sign` needs a load address");
        }
        Ok(())
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        ensure!(seen.insert(name), "{what} {name} is given twice");
    }
    Ok(())
}

/// Two ranges share nothing, or one contains the other if that is allowed.
fn no_overlap(ranges: &[(u64, u64, &str)], may_contain: bool) -> Result<()> {
    for (index, (start, end, name)) in ranges.iter().enumerate() {
        for (other_start, other_end, other) in &ranges[index + 1..] {
            let is_apart = end <= other_start || other_end <= start;
            let contains = (start <= other_start && other_end <= end)
                || (other_start <= start && end <= other_end);
            ensure!(is_apart || (may_contain && contains), "{name} and {other} overlap");
        }
    }
    Ok(())
}

/// The board of a name.
pub fn find<'a>(boards: &'a [Board], name: &str) -> Option<&'a Board> {
    boards.iter().find(|board| board.name == name)
}
