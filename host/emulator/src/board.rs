//! Determines the machine of QEMU that emulates a board, if there is one.

use hartlock_boards::model::{Board, Clock, Device, Dma, Environment, Region, Storage};
use hartlock_boards::{Error, Kind, KnownBoard, shipped};

use crate::qemu::MachineKind;

/// The regions that an emulated device consists of or is read through. They must be those of `qemu-virt`,
/// for which the images are laid out.
const SHARED: [&str; 10] = [
    "rom-flash",
    "root-of-trust",
    "bundle-flash",
    "boot-slot",
    "state-copies",
    "opensbi",
    "rom-ram",
    "handoff",
    "log",
    "linux-fdt",
];

const MIB: u64 = 1 << 20;

/// The parameters of QEMU for a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulated {
    /// The machine.
    pub machine: MachineKind,
    /// The size of memory in MiB.
    pub memory_mib: u64,
    /// Maximum number of harts.
    pub max_harts: u32,
}

impl Emulated {
    /// Determines how a board is emulated.
    ///
    /// # Errors
    /// If the board differs from the machine in a property that the machine cannot change. The error names
    /// the place in the description.
    pub fn of(known: &KnownBoard) -> Result<Self, Error> {
        let board = &known.description;
        let fail = |message: String, at| Err(known.wrong(Kind::NotEmulated, message, at));
        let machine = match board.forms.storage {
            Storage::Virtio => MachineKind::Plain,
            Storage::VirtioPci => MachineKind::Iommu,
            Storage::Bench => {
                let message = "QEMU's `virt` has storage `virtio` and `virtio-pci`".to_owned();
                return fail(message, ("forms", "", "storage"));
            }
        };
        let Some(base) = shipped().iter().find(|it| it.name() == machine.board().name) else {
            return fail(format!("{} is not known", machine.board().name), ("", "", "name"));
        };
        let name = base.name();
        let base = &base.description;
        if board.forms.dma != base.forms.dma {
            let with = if base.forms.dma == Dma::Open { "open" } else { "iommu" };
            let message = format!("with this storage it is {name}, which has `dma = \"{with}\"`");
            return fail(message, ("forms", "", "dma"));
        }
        if board.forms.environment != Environment::Supervisor {
            let message = format!("on {name} OpenSBI is below the loader");
            return fail(message, ("forms", "", "environment"));
        }
        if board.forms.clock != Clock::Time || board.ticks_per_second != base.ticks_per_second {
            let message = format!("the clock of {name} is `time`, {} Hz", base.ticks_per_second);
            return fail(message, ("", "", "ticks_per_second"));
        }
        if let Some(region) =
            SHARED.iter().find(|it| region_range(board, it) != region_range(base, it))
        {
            let message =
                format!("region {region} is elsewhere on {name}, and device images with it");
            return fail(message, ("region", region, "start"));
        }
        for device in &board.device {
            match base.device.iter().find(|it| it.name == device.name) {
                None => {
                    let message = format!("{name} has no device {}", device.name);
                    return fail(message, ("device", &device.name, "name"));
                }
                Some(own) if registers(own) != registers(device) => {
                    let message = format!(
                        "{} is at {:#x} on {name}, and of {}",
                        own.name, own.start, own.size
                    );
                    return fail(message, ("device", &device.name, "start"));
                }
                Some(_) => {}
            }
        }
        let ram = |board: &Board| {
            let ram = board.region("ram").ok()?;
            Some((ram.start, board.end(ram).ok()?))
        };
        let is_whole = |size: &u64| size.is_multiple_of(MIB);
        match (ram(board), ram(base)) {
            (Some((start, end)), Some((own, _))) if start == own => Some(end - start),
            _ => None,
        }
        .filter(is_whole)
        .map(|size| Self { machine, memory_mib: size / MIB, max_harts: board.harts })
        .map_or_else(
            || {
                fail(
                    format!("memory of {name} begins at 0x80000000, in whole MiB"),
                    ("region", "ram", "start"),
                )
            },
            Ok,
        )
    }
}

/// Returns the start, the end and the count of a region.
fn region_range<'a>(board: &'a Board, name: &str) -> Option<(u64, Option<u64>, &'a Option<u64>)> {
    let Region { start, count, .. } = board.region(name).ok()?;
    let end = board.region(name).and_then(|region| board.end(region)).ok();
    Some((*start, end, count))
}

fn registers(device: &Device) -> (u64, u64, u64) {
    (device.start, device.size.0, device.count.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hartlock_boards::Boards;

    use super::*;

    const QEMU_VIRT: &str = include_str!("../../../device/boards/qemu-virt/board.toml");

    /// Returns the emulation of a board with another name and with one text of its description replaced.
    fn changed(from: &str, to: &str) -> Result<Emulated, Error> {
        assert!(QEMU_VIRT.contains(from), "{from}");
        let text = QEMU_VIRT.replacen("\"qemu-virt\"", "\"mine\"", 1).replacen(from, to, 1);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("board.toml");
        fs::write(&file, text).unwrap();
        Emulated::of(&Boards::default().add(&file).unwrap())
    }

    #[test]
    fn boards_of_qemu_are_what_their_descriptions_say() {
        let boards = Boards::default();
        let of = |name| Emulated::of(boards.by_name(name).unwrap());
        let plain = of("qemu-virt").unwrap();
        assert_eq!(plain, Emulated { machine: MachineKind::Plain, memory_mib: 1024, max_harts: 5 });
        assert_eq!(
            of("qemu-virt-iommu").unwrap(),
            Emulated { machine: MachineKind::Iommu, ..plain }
        );
        let error = of("hartlock-soc").unwrap_err().to_string();
        assert!(
            error.starts_with("`device/boards/hartlock-soc/board.toml` describes a board that")
        );
        assert_eq!(changed("harts = 5", "harts = 3").unwrap(), Emulated { max_harts: 3, ..plain });
        let half = changed("size = \"1024 MiB\"", "size = \"512 MiB\"").unwrap();
        assert_eq!(half.memory_mib, 512);
        // The load addresses of payloads do not depend on the machine.
        assert!(changed("load_address = 0x8200_0000", "load_address = 0x8300_0000").is_ok());
    }

    #[test]
    fn a_board_that_qemu_is_not_is_refused_at_the_line_that_says_it() {
        for (from, to, expected, line) in [
            (
                "storage = \"virtio\"",
                "storage = \"bench\"",
                "has storage `virtio`",
                "storage = \"bench\"",
            ),
            (
                "storage = \"virtio\"",
                "storage = \"virtio-pci\"",
                "which has `dma = \"iommu\"`",
                "dma = \"open\"",
            ),
            ("dma = \"open\"", "dma = \"iommu\"", "which has `dma = \"open\"`", "dma = \"iommu\""),
            ("\"supervisor\"", "\"bare\"", "OpenSBI", "environment = \"bare\""),
            ("\"time\"", "\"cycles\"", "10000000 Hz", "ticks_per_second = 10_000_000"),
            ("10_000_000", "1_000_000", "10000000 Hz", "ticks_per_second = 1_000_000"),
            (
                "start = 0x8012_0000",
                "start = 0x8013_0000",
                "region log is elsewhere",
                "start = 0x8013_0000",
            ),
            ("name = \"boot-slot\"", "name = \"slot\"", "region boot-slot", "name = \"mine\""),
            (
                "start = 0x1000_0000",
                "start = 0x1700_0000",
                "uart is at 0x10000000",
                "start = 0x1700_0000",
            ),
            ("name = \"rtc\"", "name = \"spi\"", "no device spi", "name = \"spi\""),
            (
                "size = \"1024 MiB\"",
                "size = \"1048575 KiB\"",
                "in whole MiB",
                "start = 0x8000_0000",
            ),
        ] {
            let error = changed(from, to).err().unwrap_or_else(|| panic!("{to} was accepted"));
            let Error::Wrong { fault, .. } = error else { panic!("{error}") };
            let lines = fault.lines();
            assert_eq!(fault.kind, Kind::NotEmulated);
            assert!(fault.message.contains(expected), "{to}: {lines:#?}");
            assert!(lines[2].ends_with(&format!("| {line}")), "{to}: {lines:#?}");
        }
    }
}
