//! The data model of a board description (device/boards/README.md). The types have the form of the TOML file;
//! contradictions within a description are found by `check`.

use std::fmt;

use hartlock_image::PayloadType;
use hartlock_verify::board::{Access, Closed};
use serde::{Deserialize, Deserializer};

/// A complete board description that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name of the board in manifests.
    pub name: String,
    /// Name of the SoC in manifests.
    pub soc: String,
    /// Description for documentation.
    pub about: String,
    /// Maximum number of harts.
    pub harts: u32,
    /// Maximum length in bytes of a kernel command line. The format allows no longer one than Linux keeps on RISC-V.
    pub max_bootargs: u32,
    /// Frequency of the clock, in ticks per second.
    pub ticks_per_second: u64,
    /// Name of the board whose memory map the stages of this board use, if that is another board.
    pub stages_of: Option<String>,
    /// Selection of the modules that a stage is built with.
    pub forms: ModuleSelection,
    /// Memory regions.
    pub region: Vec<Region>,
    /// Memory regions in which payloads are placed, one entry for each payload type.
    pub place: Vec<Place>,
    /// Settings for `hartlock sign`, if it has defaults for this board.
    pub signing: Option<Signing>,
    /// Devices with memory-mapped registers.
    pub device: Vec<Device>,
    /// Memory map of the root of trust itself, if the board has one.
    pub root_of_trust: Vec<RootOfTrustRegion>,
}

/// The modules that a stage is built with, where firmware has several to choose from (device/virt).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the forms of a board")]
pub struct ModuleSelection {
    /// Execution environment of the stages.
    pub environment: Environment,
    /// Source of time.
    pub clock: Clock,
    /// Block device of the loader.
    pub storage: Storage,
    /// Protection against devices that access memory themselves.
    pub dma: Dma,
}

/// The execution environment of a stage that uses other harts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// OpenSBI: the stage runs in S-mode.
    Supervisor,
    /// No other firmware: the stage runs in M-mode.
    Bare,
}

/// The source of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The counter CSR `time`.
    Time,
    /// The cycle count of the simulated machine.
    Cycles,
}

/// The block device of the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// A virtio block device behind virtio-mmio.
    Virtio,
    /// A virtio block device on a PCI bus.
    VirtioPci,
    /// The storage of the test bench in verif/machines/sim.
    Bench,
}

/// The protection against devices that read and write memory themselves (DMA).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dma {
    /// No protection.
    Open,
    /// A RISC-V IOMMU, which the ROM sets up.
    Iommu,
}

/// A reserved memory region, or several of equal size in a row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a region of memory")]
pub struct Region {
    /// Name of the region.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Size of the region in bytes. Exactly one of `size` and `to_end_of` is given.
    pub size: Option<Size>,
    /// Name of another region; this region ends at the same address.
    pub to_end_of: Option<String>,
    /// Number of regions of this size that follow each other; 1 if it is not given.
    pub count: Option<u64>,
    /// Description for documentation.
    pub about: String,
    /// Text of the region's row in the table of the specification.
    pub spec: Option<String>,
    /// Stages that use the region while they verify a bundle, so that no payload may be loaded into it.
    #[serde(default)]
    pub live: Vec<Stage>,
    /// Memory attributes for linker scripts, if a program is linked to the region.
    pub linker: Option<String>,
    /// Kind of the region in the OpenSBI domain, if it has a node there.
    pub domain: Option<DomainRegionKind>,
    /// Access that S-mode may have at most, under OpenSBI. Without it the region is not closed.
    pub s_mode: Option<SModeAccess>,
    /// True if the root of trust must not access the region on behalf of the host.
    #[serde(default)]
    pub protected: bool,
}

/// A stage that verifies bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The ROM.
    Rom,
    /// The loader.
    Loader,
}

/// The kind of a region in an OpenSBI domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DomainRegionKind {
    /// Memory.
    Memory,
    /// Memory-mapped registers.
    Mmio,
}

/// The maximum access of S-mode to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SModeAccess {
    /// None.
    None,
    /// Loads.
    Read,
}

/// The place of a payload type in memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a place of a payload")]
pub struct Place {
    /// Type of the payload.
    #[serde(deserialize_with = "payload")]
    pub payload: PayloadType,
    /// Name of the region that the payload must be in.
    pub region: String,
    /// True if the load address is the start of the region.
    #[serde(default)]
    pub fixed: bool,
    /// Alignment of the load address in bytes.
    pub alignment: Option<Size>,
    /// Load address that `hartlock sign` uses by default. A fixed payload has none: its address is the start
    /// of the region.
    pub load_address: Option<u64>,
    /// Minimum memory size in bytes that `hartlock sign` gives the payload.
    pub memory: Option<Size>,
}

/// Deserializes a payload type from its name (image format §2.4).
fn payload<'de, D: Deserializer<'de>>(from: D) -> Result<PayloadType, D::Error> {
    let name = String::deserialize(from)?;
    let found = PayloadType::ALL.into_iter().find(|it| it.name() == name);
    found.ok_or_else(|| {
        let names: Vec<_> = PayloadType::ALL.iter().map(|it| it.name()).collect();
        serde::de::Error::custom(format!("unknown name `{name}`, expected {}", names.join(", ")))
    })
}

/// Settings for `hartlock sign`. A board that has them has default load addresses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "settings for signing")]
pub struct Signing {
    /// True if `hartlock sign` uses this board where `bundle.toml` names none.
    #[serde(default)]
    pub default: bool,
}

/// A device with memory-mapped registers, or several of equal size in a row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a device")]
pub struct Device {
    /// Name of the device.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Size of the registers in bytes.
    pub size: Size,
    /// Number of such devices that follow each other; 1 if it is not given.
    pub count: Option<u64>,
    /// Description for documentation.
    pub about: String,
    /// True if the device always accepts data, so that a driver need not poll it before a write.
    pub always_ready: Option<bool>,
    /// Source number at the interrupt controller; with `count`, the number of the first device.
    pub interrupt: Option<u32>,
    /// Device trees that contain a node for the device. The fields after this one describe that node.
    pub tree: Option<Tree>,
    /// Name of the node.
    pub node: Option<String>,
    /// Label of the node.
    pub label: Option<String>,
    /// Values of the node's property `compatible`.
    #[serde(default)]
    pub compatible: Vec<String>,
    /// Further properties of the node, as device tree source.
    #[serde(default)]
    pub properties: Vec<String>,
    /// True if S-mode must not access the device: it is then a region in the OpenSBI domain.
    #[serde(default)]
    pub closed: bool,
    /// True if OpenSBI has the device for itself, and closes it without a region in the domain.
    #[serde(default)]
    pub monitor: bool,
    /// Interrupts that the device raises at the interrupt controller of each hart.
    #[serde(default)]
    pub hart_interrupts: Vec<u32>,
}

/// The device trees that contain a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tree {
    /// Both device trees.
    Both,
    /// The device tree of OpenSBI.
    Boot,
    /// The device tree of Linux.
    System,
}

/// Memory or registers in the memory map of the root of trust.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a region of a root of trust")]
pub struct RootOfTrustRegion {
    /// Name of the memory or registers.
    pub name: String,
    /// First address.
    pub start: u64,
    /// Size in bytes.
    pub size: Size,
    /// Description for documentation.
    pub about: String,
    /// Memory attributes for linker scripts, if a program is linked to this memory.
    pub linker: Option<String>,
}

/// A number of bytes, written with a unit: `64 KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 3] = [("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Size {
    fn parse(text: &str) -> Result<Self, String> {
        let units = || format!("{text}: expected a number and a unit, MiB, KiB or B");
        let (number, unit) = text.split_once(' ').ok_or_else(units)?;
        let unit = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, factor) = unit.ok_or_else(units)?;
        let number: u64 = number.parse().map_err(|_| units())?;
        Ok(Self(number.checked_mul(*factor).ok_or_else(|| format!("{text}: too large"))?))
    }

    /// Returns the size as a number and the largest unit of which the size is a multiple.
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
    /// Returns true if `hartlock sign` uses this board where nothing names one.
    pub fn is_default(&self) -> bool {
        self.signing.as_ref().is_some_and(|signing| signing.default)
    }

    /// Returns the region with this name.
    ///
    /// # Errors
    /// Fails if the board has no such region.
    pub fn region(&self, name: &str) -> Result<&Region, ReferenceError> {
        let found = self.region.iter().find(|region| region.name == name);
        found.ok_or_else(|| ReferenceError(format!("there is no region {name}")))
    }

    /// Returns what OpenSBI has to close to S-mode: regions and devices that the description closes, and the memory of
    /// OpenSBI in any case. There is nothing on a board without OpenSBI.
    ///
    /// # Errors
    /// Fails as [`Self::end`] does.
    pub fn closed(&self) -> Result<Vec<Closed>, ReferenceError> {
        if self.forms.environment != Environment::Supervisor {
            return Ok(Vec::new());
        }
        let monitor = self.place.iter().find(|place| place.payload == PayloadType::Opensbi);
        let mut closed = Vec::new();
        for region in &self.region {
            let is_monitor = monitor.is_some_and(|place| place.region == region.name);
            let access = match region.s_mode {
                Some(SModeAccess::None) => Access::None,
                Some(SModeAccess::Read) if !is_monitor => Access::Read,
                _ if is_monitor => Access::None,
                _ => continue,
            };
            closed.push(Closed { start: region.start, end: self.end(region)?, access });
        }
        for device in self.device.iter().filter(|device| device.closed || device.monitor) {
            let access = if device.closed { Access::None } else { Access::Monitor };
            let size = device.size.0.saturating_mul(device.count.unwrap_or(1));
            let end = device.start.saturating_add(size);
            closed.push(Closed { start: device.start, end, access });
        }
        Ok(closed)
    }

    /// Returns the name of the region or device with this range in [`Self::closed`].
    pub fn name_of(&self, closed: &Closed) -> &str {
        let is_region = |it: &&Region| (it.start, self.end(it)) == (closed.start, Ok(closed.end));
        let region = self.region.iter().find(is_region).map(|region| region.name.as_str());
        let device = self.device.iter().find(|device| device.start == closed.start);
        region.or(device.map(|device| device.name.as_str())).unwrap_or("")
    }

    /// Returns the first address after a region, or after the last of its `count` regions.
    ///
    /// # Errors
    /// Fails if the region has not exactly one of `size` and `to_end_of`, refers to a region without a size,
    /// or reaches beyond the address space.
    pub fn end(&self, region: &Region) -> Result<u64, ReferenceError> {
        let end = match (&region.size, &region.to_end_of) {
            (Some(size), None) => size.0.checked_mul(region.count.unwrap_or(1)),
            (None, Some(other)) => {
                let other = self.region(other)?;
                if other.to_end_of.is_some() {
                    return Err(ReferenceError(format!("{}: has no end of its own", other.name)));
                }
                return self.end(other);
            }
            _ => {
                return Err(ReferenceError(format!(
                    "{}: takes either size or to_end_of",
                    region.name
                )));
            }
        };
        let end = end.and_then(|size| region.start.checked_add(size));
        let wraps =
            || ReferenceError(format!("{}: passes the end of the address space", region.name));
        end.ok_or_else(wraps)
    }
}

/// An error about something that a description refers to but does not contain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReferenceError(pub String);

/// Returns the board with this name.
pub fn find<'a>(boards: &'a [Board], name: &str) -> Option<&'a Board> {
    boards.iter().find(|board| board.name == name)
}
