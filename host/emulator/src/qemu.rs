//! Finds QEMU and makes its command line.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hartlock_maps::{qemu_virt, qemu_virt_iommu};
use hartlock_verify::board::Board;

use crate::Error;

/// The environment variable with the path of QEMU, for callers that do not give one.
pub const PROGRAM_VARIABLE: &str = "HARTLOCK_QEMU";
const PROGRAM_NAME: &str = "qemu-system-riscv64";
/// A command that executes the program after it, and makes the Linux kernel kill that program when its
/// parent ends. A parent that is killed cannot do that itself. The system call between fork and exec needs
/// unsafe code or this tool, which Linux systems have (util-linux 2.33).
const PARENT_DEATH_WRAPPER: [&str; 4] = ["setpriv", "--pdeathsig", "KILL", "--"];
/// The oldest supported major version. Older versions have neither `max` nor a profile CPU with vector
/// crypto.
const OLDEST_MAJOR: u32 = 10;
/// The number of harts and the memory of the board (boot flow §2).
const MAX_HARTS: u32 = qemu_virt::BOARD.hart_count as u32;
const MEMORY_MIB: u64 = qemu_virt::RAM.size() >> 20;

/// A QEMU whose version was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qemu {
    program: PathBuf,
    version: String,
    /// True if [`PARENT_DEATH_WRAPPER`] can start it.
    kills_with_parent: bool,
}

impl Qemu {
    /// Finds the program that the caller names, else the one in `HARTLOCK_QEMU`, else the first on `PATH`
    /// that is new enough. A program that was named is never replaced by another one.
    ///
    /// # Errors
    /// If there is none, or it is too old or does not start.
    pub fn find(named: Option<&Path>) -> Result<Self, Error> {
        let variable = env::var_os(PROGRAM_VARIABLE).filter(|value| !value.is_empty());
        if let Some(program) = named.map(Path::to_path_buf).or(variable.map(PathBuf::from)) {
            return Self::check(&program);
        }
        let folders = env::var_os("PATH").unwrap_or_default();
        let mut first_error = None;
        for folder in env::split_paths(&folders) {
            let program = folder.join(PROGRAM_NAME);
            if !program.is_file() {
                continue;
            }
            match Self::check(&program) {
                Ok(found) => return Ok(found),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or(Error::EmulatorMissing))
    }

    fn check(program: &Path) -> Result<Self, Error> {
        let unusable = |why: String| Error::EmulatorUnusable { path: program.to_path_buf(), why };
        let ask = |kills_with_parent| {
            command(program, kills_with_parent).arg("--version").stdin(Stdio::null()).output()
        };
        let version_in = |output: &Output| parse_version(&String::from_utf8_lossy(&output.stdout));
        // If the wrapper fails for any reason, QEMU is started without it.
        let wrapped = ask(true).ok().filter(|output| version_in(output).is_some());
        let kills_with_parent = wrapped.is_some();
        let output = match wrapped {
            Some(output) => output,
            None => ask(false).map_err(|error| unusable(hartlock_files::describe(&error)))?,
        };
        let Some((version, major, minor)) = version_in(&output) else {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let line = complaint.lines().next().unwrap_or("it does not print its version");
            return Err(unusable(line.to_owned()));
        };
        if major < OLDEST_MAJOR {
            return Err(Error::EmulatorTooOld { path: program.to_path_buf(), major, minor });
        }
        Ok(Self { program: program.to_path_buf(), version, kills_with_parent })
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Makes a command that runs QEMU. If the wrapper is available, QEMU ends with the thread that starts
    /// it.
    pub(crate) fn command(&self) -> Command {
        command(&self.program, self.kills_with_parent)
    }

    /// Returns the version, for example `10.0.13`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

fn command(program: &Path, kills_with_parent: bool) -> Command {
    if !kills_with_parent {
        return Command::new(program);
    }
    let [wrapper, options @ ..] = PARENT_DEATH_WRAPPER;
    let mut command = Command::new(wrapper);
    command.args(options).arg(program);
    command
}

/// Parses the version and its first two numbers.
fn parse_version(text: &str) -> Option<(String, u32, u32)> {
    let rest = text.lines().next()?.strip_prefix("QEMU emulator version ")?;
    let version = rest.split_whitespace().next()?;
    let mut numbers = version.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((version.to_owned(), major, minor))
}

/// The machines that are made of QEMU's `virt`, one for each emulated board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MachineKind {
    /// `qemu-virt`: the disk uses virtio-mmio, and nothing restricts its access to memory.
    #[default]
    Plain,
    /// `qemu-virt-iommu`: the disk is on the PCI bus, and an IOMMU restricts its access to memory (boot
    /// flow §2.3).
    Iommu,
}

impl MachineKind {
    /// Returns the board that the machine emulates.
    pub const fn board(self) -> &'static Board<'static> {
        match self {
            Self::Plain => &qemu_virt::BOARD,
            Self::Iommu => &qemu_virt_iommu::BOARD,
        }
    }
}

/// The configuration of a machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The kind of machine.
    pub machine: MachineKind,
    /// The image of flash bank 0, which is never written.
    pub rom_flash: PathBuf,
    /// The image of flash bank 1, which the device may write.
    pub bundle_flash: PathBuf,
    /// The image of the disk, which is never written; `None` for a device without a boot medium.
    pub disk: Option<PathBuf>,
    /// Number of harts.
    pub harts: u32,
    /// Maximum number of harts of the board.
    pub max_harts: u32,
    /// The memory of the board in MiB.
    pub memory_mib: u64,
    /// The CPU model with its properties, as QEMU's option `-cpu` takes them.
    pub cpu: String,
    /// Count instructions instead of time, with one hart only. The computations of the hart are the same
    /// in every run, but its waiting times for the disk are not.
    pub icount: bool,
    /// True for the legacy interface of virtio-mmio, false for the modern one; `None` for the default of
    /// QEMU.
    pub legacy_virtio: Option<bool>,
    /// The wall-clock time after which the machine is stopped.
    pub timeout: Duration,
    /// Stop the machine before its first instruction, for a debugger.
    pub is_held: bool,
    /// A flag that the caller sets to end the machine early, for example in a signal handler.
    pub interrupt: Arc<AtomicBool>,
    /// A text that takes back the one that is waited for, if it is printed soon after that.
    pub unless: Option<String>,
    /// Additional options for QEMU, for example `-gdb`.
    pub extra: Vec<OsString>,
}

impl Config {
    /// Makes a configuration with five harts of QEMU's default CPU and a time limit of two minutes.
    pub fn new(rom_flash: PathBuf, bundle_flash: PathBuf, disk: Option<PathBuf>) -> Self {
        Self {
            machine: MachineKind::default(),
            rom_flash,
            bundle_flash,
            disk,
            harts: MAX_HARTS,
            max_harts: MAX_HARTS,
            memory_mib: MEMORY_MIB,
            cpu: "rv64".to_owned(),
            icount: false,
            legacy_virtio: None,
            timeout: Duration::from_secs(120),
            is_held: false,
            interrupt: Arc::default(),
            unless: None,
            extra: Vec::new(),
        }
    }

    /// Returns the CPU option for QEMU.
    pub fn cpu_option(&self) -> String {
        cpu_option(&self.cpu)
    }

    /// Returns the options of QEMU, with the control socket at `socket`.
    ///
    /// # Errors
    /// If QEMU cannot run this machine.
    pub(crate) fn arguments(&self, socket: &Path) -> Result<Vec<OsString>, Error> {
        let Self { harts, max_harts, .. } = *self;
        if !(1..=max_harts).contains(&harts) {
            return Err(Error::Configuration(format!(
                "the board has 1 to {max_harts} harts, not {harts}"
            )));
        }
        if self.icount && self.harts != 1 {
            return Err(Error::Configuration(
                "instructions can only be counted on a machine with one hart".to_owned(),
            ));
        }
        let mut list = Options(Vec::new());
        let machine = match self.machine {
            MachineKind::Plain => "virt,pflash0=f0,pflash1=f1",
            // With an interrupt controller for messages, interrupts would be additional writes of the
            // disk.
            MachineKind::Iommu => "virt,pflash0=f0,pflash1=f1,iommu-sys=on,aia=none",
        };
        list.text("-M", machine).text("-bios", "none");
        list.text("-smp", &self.harts.to_string()).text("-m", &format!("{}M", self.memory_mib));
        list.text("-cpu", &self.cpu_option());
        // Only the firmware's console uses the standard streams: there is no monitor on them, and no key
        // is interpreted by QEMU.
        list.text("-display", "none").text("-monitor", "none");
        list.text("-chardev", "stdio,id=console,signal=off").text("-serial", "chardev:console");
        list.path("-chardev", "socket,id=control,path=", socket);
        list.text("-mon", "chardev=control,mode=control");
        // The machine is started by a command once its events are received, and it is kept after it stops,
        // so that its memory can still be read.
        list.flag("-S").flag("-no-reboot").text("-action", "shutdown=pause");
        list.path("-blockdev", "driver=file,node-name=f0,read-only=on,filename=", &self.rom_flash);
        list.path("-blockdev", "driver=file,node-name=f1,filename=", &self.bundle_flash);
        if let Some(legacy) = self.legacy_virtio {
            list.text("-global", &format!("virtio-mmio.force-legacy={legacy}"));
        }
        if let Some(disk) = &self.disk {
            list.path("-drive", "if=none,id=d0,format=raw,readonly=on,file=", disk);
            let device = match self.machine {
                MachineKind::Plain => "virtio-blk-device,drive=d0",
                // Without `iommu_platform`, a virtio device of QEMU bypasses the IOMMU.
                MachineKind::Iommu => {
                    "virtio-blk-pci,drive=d0,addr=1,iommu_platform=on,disable-legacy=on"
                }
            };
            list.text("-device", device);
        }
        if self.icount {
            // Each instruction takes one nanosecond of guest time; the time of a waiting hart is skipped.
            list.text("-icount", "shift=0,sleep=off");
        }
        list.0.extend(self.extra.iter().cloned());
        Ok(list.0)
    }
}

/// Returns the CPU option for QEMU.
///
/// The CPU `max` has Ztso, and its total store order makes QEMU slower by a factor of five even on an x86
/// host. It is switched off because no code here relies on it.
pub fn cpu_option(cpu: &str) -> String {
    let model = cpu.split(',').next().unwrap_or_default();
    if model == "max" && !cpu.contains("ztso=") {
        format!("{cpu},ztso=off")
    } else {
        cpu.to_owned()
    }
}

/// The options of QEMU under construction.
struct Options(Vec<OsString>);

impl Options {
    fn flag(&mut self, option: &str) -> &mut Self {
        self.0.push(option.into());
        self
    }

    fn text(&mut self, option: &str, value: &str) -> &mut Self {
        self.flag(option).flag(value)
    }

    /// Adds an option whose last property is a path.
    fn path(&mut self, option: &str, start: &str, path: &Path) -> &mut Self {
        self.flag(option);
        let mut value = OsString::from(start);
        value.push(escape(path.as_os_str()));
        self.0.push(value);
        self
    }
}

/// Doubles the commas of a path, since QEMU reads a single comma as the end of a property.
pub(crate) fn escape(path: &OsStr) -> OsString {
    match path.to_str() {
        Some(text) => text.replace(',', ",,").into(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::new("/s/pflash0.img".into(), "/s/pflash1.img".into(), Some("/s/disk.img".into()))
    }

    fn line(config: &Config) -> String {
        let list = config.arguments(Path::new("/t/q")).unwrap();
        list.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn reads_the_version_of_qemu_and_of_nothing_else() {
        let debian = "QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0)\nCopyright";
        assert_eq!(parse_version(debian), Some(("10.0.13".into(), 10, 0)));
        assert_eq!(parse_version("QEMU emulator version 7.2.22\n"), Some(("7.2.22".into(), 7, 2)));
        for other in ["", "GNU bash, version 5.2", "QEMU emulator version ", "QEMU emulator x"] {
            assert_eq!(parse_version(other), None, "{other}");
        }
    }

    #[test]
    fn a_program_that_is_named_and_wrong_is_an_error() {
        let error = Qemu::find(Some(Path::new("/bin/true"))).unwrap_err();
        assert!(matches!(error, Error::EmulatorUnusable { .. }), "{error}");
        let error = Qemu::find(Some(Path::new("/does/not/exist"))).unwrap_err();
        assert!(matches!(error, Error::EmulatorUnusable { .. }), "{error}");
    }

    #[test]
    fn the_cpu_max_is_never_given_ztso() {
        for (given, used) in [
            ("rv64", "rv64"),
            ("max", "max,ztso=off"),
            ("max,vlen=256", "max,vlen=256,ztso=off"),
            ("max,ztso=on", "max,ztso=on"),
            ("maximal", "maximal"),
        ] {
            assert_eq!(Config { cpu: given.into(), ..config() }.cpu_option(), used);
        }
    }

    #[test]
    fn flash_and_disk_are_where_the_board_has_them() {
        let line = line(&config());
        for part in [
            "-M virt,pflash0=f0,pflash1=f1 -bios none -smp 5 -m 1024M -cpu rv64",
            "-blockdev driver=file,node-name=f0,read-only=on,filename=/s/pflash0.img",
            "-blockdev driver=file,node-name=f1,filename=/s/pflash1.img",
            "-drive if=none,id=d0,format=raw,readonly=on,file=/s/disk.img",
            "-no-reboot -action shutdown=pause",
        ] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(!line.contains("icount") && !line.contains("force-legacy"), "{line}");
    }

    #[test]
    fn the_disk_of_a_board_with_an_iommu_goes_through_it() {
        let line = line(&Config { machine: MachineKind::Iommu, ..config() });
        for part in [
            "-M virt,pflash0=f0,pflash1=f1,iommu-sys=on,aia=none ",
            "-device virtio-blk-pci,drive=d0,addr=1,iommu_platform=on,disable-legacy=on",
        ] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(!line.contains("virtio-blk-device"), "{line}");
    }

    #[test]
    fn options_that_were_asked_for_are_there() {
        let config = Config {
            harts: 1,
            icount: true,
            legacy_virtio: Some(false),
            disk: None,
            bundle_flash: "/a,b/flash".into(),
            extra: vec!["-gdb".into(), "unix:/t/g".into()],
            ..config()
        };
        let line = line(&config);
        for part in [
            "-icount shift=0,sleep=off",
            "-global virtio-mmio.force-legacy=false",
            "filename=/a,,b/flash",
            "-gdb unix:/t/g",
        ] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(!line.contains("virtio-blk"), "{line}");
    }

    #[test]
    fn impossible_machines_are_not_started() {
        for (harts, icount) in [(0, false), (6, false), (2, true)] {
            let config = Config { harts, icount, ..config() };
            assert!(matches!(config.arguments(Path::new("q")), Err(Error::Configuration(_))));
        }
    }
}
