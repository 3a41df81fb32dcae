//! A board as its description states it (device/boards/README.md). What is here has the form of a description;
//! `check` finds what contradicts itself.

use std::fmt;

use hartlock_image::PayloadType;
use serde::{Deserialize, Deserializer};

/// A description, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name in manifests.
    pub name: String,
    /// Name of the SoC in manifests.
    pub soc: String,
    /// What it is.
    pub about: String,
    /// Maximum number of harts.
    pub harts: u32,
    /// Rate of the clock.
    pub ticks_per_second: u64,
    /// The board whose memory map stages on this one have, if it is another.
    pub stages_of: Option<String>,
    /// Forms of modules.
    pub forms: Forms,
    /// Memory.
    pub region: Vec<Region>,
    /// Where payloads go.
    pub place: Vec<Place>,
    /// Whether it has defaults in `hartlock sign`.
    pub signing: Option<Signing>,
    /// Registers.
    pub device: Vec<Device>,
    /// The root of trust's own memory map, if it has one.
    pub root_of_trust: Vec<Own>,
}

/// Which of several modules a stage gets (device/virt).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    /// What surrounds a stage.
    pub environment: Environment,
    /// What time is.
    pub clock: Clock,
    /// The block device of the loader.
    pub storage: Storage,
    /// What restricts devices.
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
    /// The storage of the test bench of verif/machines/sim.
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Region {
    /// Its name.
    pub name: String,
    /// First address.
    pub start: u64,
    /// One of these two.
    pub size: Option<Size>,
    /// The region that ends where it does.
    pub to_end_of: Option<String>,
    /// So many of this size, one after the other.
    pub count: Option<u64>,
    /// What it is.
    pub about: String,
    /// Its row in the specification.
    pub spec: Option<String>,
    /// Stages that use it while they verify: nothing may be loaded there.
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
    /// The ROM.
    Rom,
    /// The loader.
    Loader,
}

/// The kind of a region for memory protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// Memory.
    Memory,
    /// Registers.
    Mmio,
}

/// Where payloads of a type go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Place {
    /// The type of payload.
    #[serde(deserialize_with = "payload")]
    pub payload: PayloadType,
    /// Where it goes.
    pub region: String,
    /// Whether it goes to the start of the region.
    #[serde(default)]
    pub fixed: bool,
    /// Its address is a multiple of this.
    pub alignment: Option<Size>,
    /// Where `hartlock sign` puts it, if it is not fixed, and the memory that it gets at least.
    pub load_address: Option<u64>,
    /// Bytes of memory that it gets at least.
    pub memory: Option<Size>,
}

/// Reads the name of a payload (image format §2.4).
fn payload<'de, D: Deserializer<'de>>(from: D) -> Result<PayloadType, D::Error> {
    let name = String::deserialize(from)?;
    let found = PayloadType::ALL.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = PayloadType::ALL.iter().map(|it| it.name()).collect();
        serde::de::Error::custom(format!("unknown name `{name}`, expected {}", names.join(", ")))
    })
}

/// The board has defaults in `hartlock sign`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signing {
    /// Whether it is taken where `bundle.toml` names no board.
    #[serde(default)]
    pub default: bool,
}

/// Registers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Device {
    /// Its name.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: Size,
    /// So many of this size, one after the other.
    pub count: Option<u64>,
    /// What it is.
    pub about: String,
    /// Whether it need not be asked before it is written to.
    pub always_ready: Option<bool>,
    /// Source number at the interrupt controller; that of the first of several.
    pub interrupt: Option<u32>,
    /// The device trees that have its node. What follows is the node.
    pub tree: Option<Tree>,
    /// Name of the node.
    pub node: Option<String>,
    /// Label of the node.
    pub label: Option<String>,
    /// What its node is compatible with.
    #[serde(default)]
    pub compatible: Vec<String>,
    /// Further properties of its node.
    #[serde(default)]
    pub properties: Vec<String>,
    /// Whether S-mode must not reach it: then it is a region in the domain of OpenSBI.
    #[serde(default)]
    pub closed: bool,
    /// Interrupts of each hart's own controller that it raises.
    #[serde(default)]
    pub hart_interrupts: Vec<u32>,
}

/// Device trees that have a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tree {
    /// Both device trees.
    Both,
    /// That of OpenSBI.
    Boot,
    /// That of Linux.
    System,
}

/// Memory or registers of the root of trust.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Own {
    /// Its name.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub size: Size,
    /// What it is.
    pub about: String,
    /// Its permissions for a linker, if something is linked to it.
    pub linker: Option<String>,
}

/// A number of bytes, written as `64 KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 3] = [("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Size {
    fn parse(text: &str) -> Result<Self, String> {
        let units = || format!("{text}: a number and one of the units MiB, KiB and B are wanted");
        let (number, unit) = text.split_once(' ').ok_or_else(units)?;
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, factor) = unit.ok_or_else(units)?;
        let number: u64 = number.parse().map_err(|_| units())?;
        Ok(Self(number.checked_mul(*factor).ok_or_else(|| format!("{text}: too large"))?))
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

impl Board {
    /// Whether `hartlock sign` takes it where nothing names a board.
    pub fn is_default(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.default)
    }

    /// The region of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn region(&self, name: &str) -> Result<&Region, Missing> {
        let found = self.region.iter().find(|region| region.name == name);
        found.ok_or_else(|| Missing(format!("there is no region {name}")))
    }

    /// First byte after a region, all of its copies included.
    ///
    /// # Errors
    /// If the region does not say it.
    pub fn end(&self, region: &Region) -> Result<u64, Missing> {
        let end = match (&region.size, &region.to_end_of) {
            (Some(size), None) => size.0.checked_mul(region.count.unwrap_or(1)),
            (None, Some(other)) => {
                let other = self.region(other)?;
                if other.to_end_of.is_some() {
                    return Err(Missing(format!("{}: has no end of its own", other.name)));
                }
                return self.end(other);
            }
            _ => return Err(Missing(format!("{}: takes either size or to-end-of", region.name))),
        };
        let end = end.and_then(|size| region.start.checked_add(size));
        let wraps = || Missing(format!("{}: passes the end of the address space", region.name));
        end.ok_or_else(wraps)
    }
}

/// What a description refers to and does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);

/// The board of a name.
pub fn find<'a>(boards: &'a [Board], name: &str) -> Option<&'a Board> {
    boards.iter().find(|board| board.name == name)
}
