//! Builds, starts and inspects the devices of the cases: a working device, in which a case changes one
//! property.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{Device, Provisioning, root_of_trust};
use hartlock_emulator::machine::{Machine, Outcome, Run, Stop};
use hartlock_emulator::qemu::{Config, Qemu};
use hartlock_handoff::{DeviceSecret, Entry, RootOfTrust, SECRET_SIZE, Step};
use hartlock_image::{BundleType, Name, PayloadType, Policy, Reason, TreeMode, TrustList};
use hartlock_keys::ClassKey;
use hartlock_maps::qemu_virt;
use hartlock_verify::board::Region;

use super::port;
use crate::demo;
use hartlock_testkit::bundle::{Draft, Edit, Payload, build, trust};
use hartlock_testkit::keys::A;
use xtask::firmware;
use xtask::firmware::{Firmware, StageFiles};
use xtask::tools;
use xtask::tools::Tools;
use xtask::{initramfs, project, run};

/// Line that the stub kernel prints when it is entered.
pub const STUB_RUNS: &str = "stub: the kernel runs";
/// Time limit of a boot. It is longer than any case takes on a busy machine; no case relies on it to end.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Firmware and tools that are built once for all cases.
pub struct TestBoard {
    pub tools: Tools,
    pub firmware: Firmware,
    qemu: Qemu,
    stub: Vec<u8>,
    is_verbose: bool,
    linux: OnceCell<LinuxFiles>,
}

/// Keys and signed bundles with Debian's kernel.
struct LinuxFiles {
    boot: PathBuf,
    root: RootOfTrust,
    key: PathBuf,
    folder: PathBuf,
    hartlock: PathBuf,
    identity: port::Identity,
}

/// Flash contents, disk and settings of a device that is about to boot.
pub struct Setup {
    pub rom: Vec<u8>,
    pub root: RootOfTrust,
    pub boot: Vec<u8>,
    /// The system bundle on the disk; `None` if the device has no disk.
    pub system: Option<Vec<u8>>,
    pub state: Provisioning,
    /// Class keys of encrypted payloads, which are provisioned.
    pub class_keys: Vec<ClassKey>,
    pub harts: u32,
    pub legacy_virtio: Option<bool>,
    /// True if the machine waits before its first instruction until the debug stub releases it.
    pub is_held: bool,
    /// True if the clock counts instructions, one a nanosecond, which needs a single hart.
    pub is_counted: bool,
    /// The value of QEMU's `-cpu` option; `None` selects QEMU's default CPU for RV64.
    pub cpu: Option<String>,
    /// Console text that ends the run; `None` if the machine powers itself off.
    pub until: Option<&'static str>,
}

/// Returns a draft of a system bundle with the stub as the kernel and an initramfs of many blocks.
pub fn system_draft(stub: &[u8], system_fdt: &Path) -> Result<Draft> {
    let mut draft = Draft::system();
    let mut kernel = Payload::new(PayloadType::Kernel, 0, 0x8200_0000);
    // The padding gives every hart at least one block.
    kernel.data = stub.to_vec();
    kernel.data.resize(60_000, 0);
    kernel.memory_size = 64 << 10;
    kernel.mode = TreeMode::Blocks { block_size: 1024 };
    let mut initramfs = Payload::new(PayloadType::Initramfs, 300_000, 0x8800_0000);
    initramfs.mode = TreeMode::Blocks { block_size: 4096 };
    let mut fdt = Payload::new(PayloadType::SystemFdt, 0, 0x8600_0000);
    fdt.data = fs::read(system_fdt)?;
    fdt.memory_size = 4096;
    draft.payloads = vec![kernel, initramfs, fdt];
    Ok(draft)
}

impl TestBoard {
    pub fn prepare(is_verbose: bool) -> Result<Self> {
        let tools = tools::locate()?;
        let firmware = firmware::build()?;
        let qemu = Qemu::find(Some(&tools.qemu))?;
        let stub = fs::read(firmware::stage("stub", &[])?.bin)?;
        Ok(Self { tools, firmware, qemu, stub, is_verbose, linux: OnceCell::new() })
    }

    /// Returns a draft of a boot bundle with the real firmware, to be signed by a test key.
    pub fn boot_draft(&self, loader: &StageFiles) -> Result<Draft> {
        let mut draft = Draft::boot();
        let sources = [
            (PayloadType::Opensbi, &self.tools.opensbi, qemu_virt::OPENSBI, 0x8_0000),
            (PayloadType::Loader, &loader.bin, qemu_virt::LOADER, qemu_virt::LOADER.size()),
            (
                PayloadType::BootFdt,
                &self.firmware.boot_fdt,
                qemu_virt::BOOT_FDT,
                qemu_virt::BOOT_FDT.size(),
            ),
        ];
        draft.payloads = sources
            .into_iter()
            .map(|(kind, file, place, memory_size)| {
                let mut payload = Payload::new(kind, 0, place.start);
                payload.data = fs::read(file).with_context(|| file.display().to_string())?;
                payload.memory_size = memory_size;
                Ok(payload)
            })
            .collect::<Result<_>>()?;
        draft.trust = trust(Policy::Any, [A.record()]);
        Ok(draft)
    }

    /// Makes a working device with this loader, and with another file in place of a payload of its boot bundle.
    pub fn setup_with_payload(
        &self,
        loader: &StageFiles,
        kind: PayloadType,
        data: Vec<u8>,
    ) -> Result<Setup> {
        let mut draft = self.boot_draft(loader)?;
        let payload = draft.payloads.iter_mut().find(|it| it.kind == kind);
        payload.context("a boot bundle has no such payload")?.data = data;
        Ok(Setup { boot: build(draft, &[]).0, ..self.setup(&[], &[])? })
    }

    /// Returns the draft of [`system_draft`] for this board.
    pub fn system_draft(&self) -> Result<Draft> {
        system_draft(&self.stub, &self.firmware.system_fdt)
    }

    /// Makes a working device, with its boot bundle and its system bundle changed by these edits.
    pub fn setup(&self, boot: &[Edit], system: &[Edit]) -> Result<Setup> {
        self.setup_with(&self.firmware.loader, boot, system)
    }

    /// Same as [`TestBoard::setup`], with another loader.
    pub fn setup_with(&self, loader: &StageFiles, boot: &[Edit], system: &[Edit]) -> Result<Setup> {
        Ok(Setup {
            rom: fs::read(&self.firmware.rom.bin)?,
            root: fake_root(Policy::Any)?,
            boot: build(self.boot_draft(loader)?, boot).0,
            system: Some(build(self.system_draft()?, system).0),
            state: Provisioning::default(),
            class_keys: Vec::new(),
            harts: 2,
            legacy_virtio: None,
            is_held: false,
            is_counted: false,
            cpu: None,
            until: None,
        })
    }

    /// Boots a device and runs it to its end.
    pub fn run(&self, setup: &Setup) -> Result<Run> {
        let (device, machine) = self.start(setup, &[])?;
        let run = self.finish(machine, setup.until);
        drop(device);
        Ok(run)
    }

    /// Starts a device. The caller ends it with [`TestBoard::finish`].
    pub fn start(&self, setup: &Setup, extra: &[String]) -> Result<(Device, Machine)> {
        let device = Device::temporary()?;
        self.install(&device, setup)?;
        let machine = self.start_on(&device, setup, extra)?;
        Ok((device, machine))
    }

    /// Writes the flash and the disk of a device.
    pub fn install(&self, device: &Device, setup: &Setup) -> Result<()> {
        let file = |name: &str| device.folder().join(name);
        fs::write(file("rom.bin"), &setup.rom)?;
        fs::write(file("boot.hlk"), &setup.boot)?;
        device.program_rom(&file("rom.bin"), &setup.root)?;
        device.provision(&setup.state)?;
        if !setup.class_keys.is_empty() {
            device.provision_class_keys(&setup.class_keys)?;
        }
        device.install_boot_bundle(&file("boot.hlk"))?;
        if let Some(system) = &setup.system {
            fs::write(file("system.hlk"), system)?;
            device.install_system_bundle(&file("system.hlk"))?;
        }
        Ok(())
    }

    /// Starts a device whose flash and disk were already written by [`TestBoard::install`].
    pub fn start_on(&self, device: &Device, setup: &Setup, extra: &[String]) -> Result<Machine> {
        let disk = setup.system.as_ref().map(|_| device.disk());
        let mut config = Config::new(device.rom_flash(), device.bundle_flash(), disk);
        let emulated = port::emulated()?;
        config.machine = emulated.machine;
        config.memory_mib = emulated.memory_mib;
        config.max_harts = emulated.max_harts;
        config.harts = setup.harts;
        config.legacy_virtio = setup.legacy_virtio;
        config.timeout = TIMEOUT;
        config.is_held = setup.is_held;
        config.icount = setup.is_counted;
        if let Some(cpu) = &setup.cpu {
            config.cpu.clone_from(cpu);
        }
        config.extra = extra.iter().map(Into::into).collect();
        Ok(Machine::start(&self.qemu, &config)?)
    }

    /// Runs a device to its end and returns the result.
    pub fn finish(&self, mut machine: Machine, until: Option<&str>) -> Run {
        let stop = self.wait(&mut machine, until);
        machine.finish(stop, &mut |line| self.show(line))
    }

    /// Runs a device until it stops or prints the text `until`.
    pub fn wait(&self, machine: &mut Machine, until: Option<&str>) -> Stop {
        machine.run_until(until, &mut |line| self.show(line))
    }

    fn show(&self, line: &str) {
        if self.is_verbose {
            println!("    {line}");
        }
    }

    /// Makes a device with Debian's kernel and a busybox initramfs; `test` is passed to the first program.
    pub fn linux(&self, test: &str) -> Result<Setup> {
        self.sign_system(test, None)
    }

    /// Makes the same device with payloads that are encrypted for a class.
    pub fn encrypted_linux(&self, test: &str, class: ClassKey) -> Result<Setup> {
        let file = self.linux_files()?.folder.join("class.pem");
        if file.exists() {
            fs::remove_file(&file)?;
        }
        class.write(&file)?;
        let setup = self.sign_system(test, Some(&file))?;
        Ok(Setup { class_keys: vec![class], ..setup })
    }

    fn linux_files(&self) -> Result<&LinuxFiles> {
        match self.linux.get() {
            Some(files) => Ok(files),
            None => {
                let files = self.sign_linux()?;
                Ok(self.linux.get_or_init(|| files))
            }
        }
    }

    fn sign_system(&self, test: &str, class: Option<&Path>) -> Result<Setup> {
        let files = self.linux_files()?;
        let system = files.folder.join("system.hlk");
        let mut sign = files.sign("system");
        sign.arg("--kernel").arg(&self.tools.debian_kernel);
        sign.arg("--initramfs").arg(files.folder.join("initramfs"));
        sign.arg("--system-fdt").arg(&self.firmware.system_fdt);
        sign.args(["--bootargs", &format!("console=ttyS0 loglevel=4 hartlock.test={test}")]);
        if let Some(class) = class {
            sign.arg("--encrypt").arg(class);
        }
        sign.arg("-o").arg(&system);
        run::quietly(&mut sign)?;
        Ok(Setup {
            rom: fs::read(&self.firmware.rom.bin)?,
            root: files.root.clone(),
            boot: fs::read(&files.boot)?,
            system: Some(fs::read(&system)?),
            state: Provisioning::default(),
            class_keys: Vec::new(),
            harts: port::identity()?.harts,
            legacy_virtio: None,
            is_held: false,
            is_counted: false,
            cpu: None,
            until: None,
        })
    }

    fn sign_linux(&self) -> Result<LinuxFiles> {
        let folder = project::work_dir("boots").join(port::name());
        fs::create_dir_all(&folder)?;
        let devmem = firmware::stage("devmem", &[])?;
        initramfs::test(&self.tools.busybox, &devmem.elf, &folder.join("initramfs"))?;
        let key = folder.join("root.pem");
        let hartlock = demo::build_command()?;
        if !key.exists() {
            run::quietly(Command::new(&hartlock).arg("keygen").arg("-o").arg(&key))?;
        }
        let public_key = hartlock_keys::PublicKey::read(&folder.join("root.pub.pem"))?;
        let boot = folder.join("boot.hlk");
        let root = fake_device(trust(Policy::Any, [public_key.record()])).context("one key")?;
        let identity = port::identity()?;
        let files = LinuxFiles {
            boot,
            root: RootOfTrust {
                board: Name::new(&identity.board).context("the name of the board")?,
                soc: Name::new(&identity.soc).context("the name of the SoC")?,
                ..root
            },
            identity,
            key,
            folder,
            hartlock,
        };
        let mut sign = files.sign("boot");
        sign.arg("--opensbi").arg(&self.tools.opensbi);
        sign.arg("--loader").arg(&self.firmware.loader.bin);
        sign.arg("--boot-fdt").arg(&self.firmware.boot_fdt);
        sign.arg("--trust").arg(files.folder.join("root.pub.pem")).arg("-o").arg(&files.boot);
        run::quietly(&mut sign)?;
        Ok(files)
    }
}

impl LinuxFiles {
    fn sign(&self, bundle_type: &str) -> Command {
        let mut sign = Command::new(&self.hartlock);
        sign.args(["sign", "--force", "--type", bundle_type, "--security-version", "3", "--key"]);
        sign.arg(&self.key);
        sign.args(["--board", &self.identity.board, "--soc", &self.identity.soc]);
        sign
    }
}

/// Returns QEMU options with which one hart starts with this program. The program is in memory that no stage
/// writes before Linux.
pub fn starts_with(device: &Device, hart: usize, program: &[u32]) -> Result<[String; 2]> {
    const PROGRAM_AT: u64 = 0x9000_0000;
    let file = device.folder().join("program");
    let bytes: Vec<u8> = program.iter().copied().flat_map(u32::to_le_bytes).collect();
    fs::write(&file, bytes)?;
    let file = file.display();
    let loader = format!("loader,file={file},addr={PROGRAM_AT:#x},cpu-num={hart},force-raw=on");
    Ok(["-device".to_owned(), loader])
}

/// Makes a root of trust with one test key.
pub fn fake_root(policy: Policy) -> Result<RootOfTrust> {
    fake_device(trust(policy, [A.record()])).context("one key is enough")
}

/// Makes a root of trust with the device secret that all test devices share. Returns `None` if the list has no
/// key, or the same key twice.
pub fn fake_device(trust: TrustList) -> Option<RootOfTrust> {
    root_of_trust(trust, &qemu_virt::BOARD, DeviceSecret::new([0xfa; SECRET_SIZE])?)
}

/// Returns the entries of the measurement log of a run.
pub fn entries(run: &Run) -> Result<&[Entry]> {
    Ok(&run.measurements.as_ref().context("there is no log")?.entries)
}

/// Returns the loader's log entry for a step and a payload.
pub fn loader_entry(run: &Run, step: Step, payload: Option<PayloadType>) -> Result<&Entry> {
    let found = entries(run)?.iter().find(|entry| {
        entry.stage == Stage::Loader && entry.step == step && entry.payload == payload
    });
    found.with_context(|| format!("no entry for {step:?} of {payload:?} in the log"))
}

/// Checks that the stub kernel ran.
pub fn expect_boot(run: &Run) -> Result<()> {
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(run));
    Ok(())
}

/// Checks that the stage refused for this reason, on the console, the loader with its hint, and in the log, and that no code
/// of the refused bundle ran.
pub fn expect_refusal(run: &Run, stage: Stage, reason: Reason) -> Result<()> {
    let expected = Outcome::Refused { stage, reason };
    ensure!(
        run.outcome == expected,
        "{:?} instead of {expected:?}\n{}",
        run.outcome,
        last_lines(run)
    );
    let text = &run.transcript;
    let hints = text.matches(&format!("hartlock: hint: {}", reason.hint())).count();
    let expected = usize::from(stage == Stage::Loader);
    ensure!(hints == expected, "{hints} hints instead of {expected}\n{}", last_lines(run));
    ensure!(!text.contains(STUB_RUNS), "the kernel ran\n{}", last_lines(run));
    if stage == Stage::Rom {
        ensure!(!text.contains("OpenSBI v"), "OpenSBI ran\n{}", last_lines(run));
    }
    let logged = entries(run)?.last().copied().context("the log is empty")?;
    ensure!(
        logged.stage == stage && logged.step == Step::Refusal && logged.reason == reason as u32,
        "the log ends with {logged:?}"
    );
    Ok(())
}

/// Checks that no hart executes inside `region`, where the payloads of the refused bundle are.
pub fn expect_harts_outside(run: &Run, region: Region) -> Result<()> {
    ensure!(!run.harts.is_empty(), "no hart could be read");
    for hart in &run.harts {
        let at = Region::new(hart.pc, 1);
        ensure!(!region.overlaps(&at), "hart {} is at {:#x}", hart.hart, hart.pc);
    }
    Ok(())
}

/// Returns the last lines of a device's console output.
pub fn last_lines(run: &Run) -> String {
    let lines: Vec<&str> = run.transcript.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// Reads a test vector by its name.
pub fn vector(name: &str) -> Result<Vec<u8>> {
    let path = project::root().join("spec/vectors/image").join(name).with_extension("hlk");
    fs::read(&path).with_context(|| path.display().to_string())
}

/// Returns the bundle type that the tag at the start of a file names.
pub fn bundle_type(bytes: &[u8]) -> Result<BundleType> {
    let tag = bytes.first_chunk().and_then(BundleType::from_tag);
    tag.context("not a bundle")
}

/// Runs a program on files. If it fails, the error contains its output.
pub fn check_output(program: &Path, arguments: &[&Path]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments);
    match run::quietly(&mut command) {
        Ok(text) => Ok(text),
        Err(error) => bail!("{error:#}"),
    }
}
