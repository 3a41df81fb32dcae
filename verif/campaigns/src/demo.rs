//! `cargo xtask demo`: the main use of the project from end to end, with the commands that a user
//! would type.
//!
//! Keys, bundles, timelines and report are written to `target/demo`.

mod measure;
mod quoted;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use hartlock_image::{Algorithm, Family, Policy};

use crate::stages;
use measure::Measured;
use xtask::{Verdict, firmware, initramfs, monitor, project, run, tools};

#[derive(clap::Args)]
pub struct DemoArgs {
    /// Number of harts of the emulated board
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=5))]
    harts: u32,
    /// Maximum time of a boot, in seconds
    #[arg(long, default_value_t = 180)]
    timeout: u32,
    /// Boot only once, without the runs for comparison
    #[arg(long)]
    alone: bool,
    /// Algorithm of a root key; may be repeated, and all keys sign. Algorithms other than ed25519 boot only once
    #[arg(long = "algorithm", value_name = "NAME", value_parser = algorithm)]
    algorithms: Vec<Algorithm>,
    /// Encrypt the payloads for a class of devices, and boot also on a device of another class. Boots only once on each
    #[arg(long)]
    encrypt: bool,
    /// Commands run without a word.
    #[arg(skip)]
    is_quiet: bool,
}

impl DemoArgs {
    fn say(&self, text: &str) {
        if !self.is_quiet {
            println!("{text}");
        }
    }

    fn title(&self, text: &str) {
        self.say(&format!("\n== {text}"));
    }
}

/// Parses the name of an algorithm.
fn algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(name)
        .ok_or_else(|| "no such algorithm: `hartlock keygen --help` names them".to_owned())
}

/// Linux command line. It is quiet, so that the steps of the boot stay visible.
const BOOTARGS: &str = "console=ttyS0 quiet loglevel=4 rdinit=/hartlock-init";

pub fn main(args: &DemoArgs) -> Result<Verdict> {
    std::env::set_current_dir(project::root())?;
    let demo = Demo::prepare(args)?;
    demo.sign()?;
    let beside = demo.measure()?;
    ensure!(demo.boots_well(&beside)?, "the demo did not boot: see the console above");
    if args.encrypt {
        ensure!(!demo.boots_elsewhere()?, "a device of another class booted");
    }
    demo.tamper()?;
    ensure!(!demo.boots_tampered()?, "a tampered image booted");
    args.title("What you have now");
    for (name, what) in [
        ("report.html", "where the time of these boots went, as a page"),
        ("timeline.json", "the same for scripts, of the boot with all harts"),
        ("console.log", "everything that the board printed"),
        ("system.hlk", "change a byte and try `hartlock verify` on it"),
    ] {
        println!("  {:<27} {what}", shown(&demo.file(name)));
    }
    println!("  target/release/hartlock     the command; `hartlock --help` lists its verbs");
    Ok(Verdict::Yes)
}

/// Prepares and signs the demo, and returns the path of the command and the folder.
pub fn signed() -> Result<(PathBuf, PathBuf)> {
    std::env::set_current_dir(project::root())?;
    let args = DemoArgs {
        harts: 5,
        timeout: 180,
        alone: true,
        algorithms: Vec::new(),
        encrypt: false,
        is_quiet: true,
    };
    let demo = Demo::prepare(&args)?;
    demo.sign()?;
    Ok((demo.hartlock, demo.folder))
}

/// The files that a boot needs.
#[derive(Clone)]
struct Boot {
    rom: PathBuf,
    /// Public keys; all of them must have signed.
    root_keys: Vec<PathBuf>,
    boot: PathBuf,
    system: PathBuf,
}

/// File names of the class keys of the demo's device and of another one.
const CLASS_KEY: &str = "fleet.pem";
const OTHER_CLASS_KEY: &str = "another-fleet.pem";
/// Folder with the state of the demo's device.
const BOARD: &str = "board";

struct Demo<'a> {
    args: &'a DemoArgs,
    hartlock: PathBuf,
    folder: PathBuf,
    /// Algorithms of the root keys, in the order in which they sign.
    algorithms: Vec<Algorithm>,
}

impl<'a> Demo<'a> {
    /// Fetches and builds everything that is signed later.
    fn prepare(args: &'a DemoArgs) -> Result<Self> {
        args.title("Fetch and build");
        let tools = tools::locate()?;
        args.say("building ROM and loader");
        let firmware = firmware::build()?;
        let is_default = matches!(args.algorithms[..], [] | [Algorithm::Ed25519]);
        let algorithms =
            if is_default { vec![Algorithm::Ed25519] } else { args.algorithms.clone() };
        let rom = if is_default { firmware.rom } else { stages::rom_for(&algorithms)? };
        args.say("building the hartlock command (the first time takes a minute or two)");
        let hartlock = build_command()?;
        let mut folder = project::work_dir("demo");
        if args.encrypt {
            folder.push("encrypted");
        }
        if !is_default {
            let names: Vec<String> = algorithms.iter().map(Algorithm::to_string).collect();
            folder.push(names.join("+"));
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        // The device is made anew, because the state that an earlier build wrote may be invalid.
        let board = folder.join(BOARD);
        if board.exists() {
            fs::remove_dir_all(&board).with_context(|| board.display().to_string())?;
        }
        initramfs::demo(&tools.debian_initrd, &folder.join("initramfs"))?;
        let (rom_size, loader_size) = (rom.size()?, firmware.loader.size()?);
        args.say(&format!("ROM {rom_size} bytes, loader {loader_size} bytes"));
        // All files are in one folder, so that every command below can be copied and run again.
        let demo = Self { args, hartlock, folder, algorithms };
        let inputs = [
            (&tools.opensbi, "fw_dynamic.bin"),
            (&tools.debian_kernel, "linux"),
            (&rom.bin, "rom.bin"),
            (&firmware.loader.bin, "loader.bin"),
            (&firmware.boot_fdt, "boot.dtb"),
            (&firmware.system_fdt, "system.dtb"),
        ];
        for (from, name) in inputs {
            fs::copy(from, demo.file(name)).with_context(|| from.display().to_string())?;
        }
        let emulator = demo.file("qemu-system-riscv64");
        if emulator.symlink_metadata().is_ok() {
            fs::remove_file(&emulator)?;
        }
        std::os::unix::fs::symlink(&tools.qemu, &emulator)?;
        Ok(demo)
    }

    /// Makes the root keys unless they exist, and signs both bundles with them.
    fn sign(&self) -> Result<()> {
        self.args.title("Make a root key and sign Debian's kernel and initrd");
        for (algorithm, key) in self.algorithms.iter().zip(self.private_keys()) {
            if key.exists() {
                self.args.say(&format!("using the root key of an earlier run, {}", shown(&key)));
                continue;
            }
            let mut keygen = Command::new(&self.hartlock);
            keygen.arg("keygen").arg("-o").arg(&key);
            if *algorithm != Algorithm::Ed25519 {
                keygen.args(["--algorithm", &algorithm.to_string()]);
            }
            self.run(&mut keygen)?;
        }
        let mut boot = self.sign_boot(&self.private_keys(), &self.file("loader.bin"));
        boot.args(["--label", &monitor::built()?.label()?]);
        boot.arg("-o").arg(self.file("boot.hlk"));
        self.run(&mut boot)?;
        let mut system = Command::new(&self.hartlock);
        system.args(["sign", "--force", "--type", "system", "--label", "Debian installer"]);
        system.args(["--security-version", "1"]);
        add_each(&mut system, "--key", &self.private_keys());
        system.arg("--kernel").arg(self.file("linux"));
        system.arg("--initramfs").arg(self.file("initramfs"));
        system.arg("--system-fdt").arg(self.file("system.dtb"));
        if self.args.encrypt {
            for key in [CLASS_KEY, OTHER_CLASS_KEY].map(|name| self.file(name)) {
                if !key.exists() {
                    self.run(
                        Command::new(&self.hartlock).args(["keygen", "--class", "-o"]).arg(key),
                    )?;
                }
            }
            system.arg("--encrypt").arg(self.file(CLASS_KEY));
        }
        system.args(["--bootargs", BOOTARGS]).arg("-o").arg(self.file("system.hlk"));
        self.run(&mut system)?;
        let mut verify = Command::new(&self.hartlock);
        verify.arg("verify").arg(self.file("system.hlk"));
        add_each(&mut verify, "--key", &self.public_keys());
        self.run(&mut verify)
    }

    /// Returns the command that signs a boot bundle with a loader that trusts the root keys.
    fn sign_boot(&self, keys: &[PathBuf], loader: &Path) -> Command {
        let mut sign = Command::new(&self.hartlock);
        sign.args(["sign", "--force", "--type", "boot", "--security-version", "1"]);
        add_each(&mut sign, "--key", keys);
        sign.arg("--opensbi").arg(self.file("fw_dynamic.bin"));
        sign.arg("--loader").arg(loader);
        sign.arg("--boot-fdt").arg(self.file("boot.dtb"));
        add_each(&mut sign, "--trust", &self.public_keys());
        if self.algorithms.len() > 1 {
            sign.args(["--trust-policy", self.policy().name()]);
        }
        sign
    }

    /// Returns the strictest policy that the root keys can meet, which is *hybrid* if they are of
    /// both families.
    fn policy(&self) -> Policy {
        let has = |family| self.algorithms.iter().any(|algorithm| algorithm.family() == family);
        match self.algorithms.len() {
            1 => Policy::Any,
            2 if has(Family::Classical) && has(Family::PostQuantum) => Policy::Hybrid,
            _ => Policy::All,
        }
    }

    fn private_keys(&self) -> Vec<PathBuf> {
        self.key_names().iter().map(|name| self.file(&format!("{name}.pem"))).collect()
    }

    fn public_keys(&self) -> Vec<PathBuf> {
        self.key_names().iter().map(|name| self.file(&format!("{name}.pub.pem"))).collect()
    }

    /// Returns the file names of the keys: `root` if there is one key, else the names of the
    /// algorithms.
    fn key_names(&self) -> Vec<String> {
        match self.algorithms[..] {
            [_] => vec!["root".to_owned()],
            _ => self.algorithms.iter().map(|algorithm| format!("root-{algorithm}")).collect(),
        }
    }

    /// Runs the boots for comparison, unless the user disabled them.
    fn measure(&self) -> Result<Vec<Measured>> {
        // The firmware for comparison does not decrypt.
        if self.args.alone || self.args.encrypt || self.algorithms != [Algorithm::Ed25519] {
            return Ok(Vec::new());
        }
        self.args.title("Boot it for comparison: unverified, on one hart, and counted");
        measure::run(self)
    }

    /// Flips one bit in the middle of the kernel.
    fn tamper(&self) -> Result<()> {
        self.args.title("Flip one bit of the kernel and boot again");
        let mut bytes = fs::read(self.file("system.hlk"))?;
        let place = bytes.get_mut(10 << 20).context("the bundle is too small")?;
        *place ^= 1;
        fs::write(self.file("tampered.hlk"), bytes)?;
        Ok(())
    }

    /// Boots the signed bundles with the full output of `hartlock boot`; returns true if the boot
    /// reached userspace.
    fn boots_well(&self, beside: &[Measured]) -> Result<bool> {
        self.args.title("Boot it on an emulated board");
        let mut boot = self.boot_own("system.hlk");
        boot.arg("--timeline").arg("--timeline-json").arg(self.file("timeline.json"));
        boot.arg("--report").arg(self.file("report.html"));
        boot.arg("--console").arg(self.file("console.log"));
        boot.arg("--label").arg(match self.args.harts {
            1 => "verified".to_owned(),
            harts => format!("verified on {harts} harts"),
        });
        if !beside.is_empty() {
            let quote = self.file("quoted.json");
            fs::write(&quote, quoted::json()?).with_context(|| shown(&quote))?;
            boot.arg("--quote").arg(quote);
        }
        for run in beside {
            boot.arg("--compare").arg(format!("{}={}", run.label, run.timeline.display()));
        }
        self.boots(&mut boot)
    }

    /// Boots the encrypted bundle on a device of another class.
    fn boots_elsewhere(&self) -> Result<bool> {
        self.args.title("Boot it on a device of another class");
        let mut boot = self.boot_on("system.hlk", "board-of-another-class");
        boot.arg("--class-key").arg(self.file(OTHER_CLASS_KEY));
        self.boots(&mut boot)
    }

    fn boots_tampered(&self) -> Result<bool> {
        self.boots(&mut self.boot_own("tampered.hlk"))
    }

    /// Returns true if a boot reached userspace, and false if it was refused. Any other result is
    /// an error.
    fn boots(&self, boot: &mut Command) -> Result<bool> {
        match self.status(boot)? {
            0 => Ok(true),
            1 => Ok(false),
            code => bail!("`hartlock boot` could not decide (exit {code})"),
        }
    }

    /// Returns the command that boots the demo's own board, whose state is kept.
    fn boot_own(&self, system: &str) -> Command {
        let mut boot = self.boot_on(system, BOARD);
        if self.args.encrypt {
            boot.arg("--class-key").arg(self.file(CLASS_KEY));
        }
        boot
    }

    /// Returns the command that boots the device in a folder.
    fn boot_on(&self, system: &str, folder: &str) -> Command {
        let mut boot = self.boot_command(&Boot {
            rom: self.file("rom.bin"),
            root_keys: self.public_keys(),
            boot: self.file("boot.hlk"),
            system: self.file(system),
        });
        boot.args(["--harts", &self.args.harts.to_string()]);
        boot.arg("--state").arg(self.file(folder));
        boot
    }

    /// Returns the boot command without the number of harts.
    fn boot_command(&self, parts: &Boot) -> Command {
        let mut boot = Command::new(&self.hartlock);
        boot.args(["boot", "--force", "--qemu"]).arg(self.file("qemu-system-riscv64"));
        boot.arg("--rom").arg(&parts.rom);
        boot.arg("--boot-bundle").arg(&parts.boot);
        boot.arg("--system").arg(&parts.system);
        add_each(&mut boot, "--root-key", &parts.root_keys);
        if parts.root_keys.len() > 1 {
            boot.args(["--policy", self.policy().name()]);
        }
        boot.args(["--timeout", &self.args.timeout.to_string()]);
        boot.args(["--until", initramfs::USERSPACE]).arg("--quiet");
        boot
    }

    /// Returns the path of a file of the demo.
    fn file(&self, name: &str) -> PathBuf {
        from_checkout(&self.folder.join(name))
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let code = self.status(command)?;
        ensure!(code == 0, "{} ended with {code}", run::describe(command));
        Ok(())
    }

    /// Prints the command as a user would type it, then runs it on the same terminal.
    fn status(&self, command: &mut Command) -> Result<i32> {
        self.args.say(&format!("\n$ {}", typed(command)));
        command.stdin(Stdio::null());
        if self.args.is_quiet {
            command.stdout(Stdio::null());
        }
        let status = command.status().map_err(|error| run::not_started(command, &error))?;
        status.code().context("ended by a signal")
    }
}

/// Adds an option once for each value.
fn add_each(command: &mut Command, option: &str, values: &[PathBuf]) {
    for value in values {
        command.arg(option).arg(value);
    }
}

/// Builds the `hartlock` command and returns its path.
pub fn build_command() -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root());
    cargo.args(["build", "--locked", "--quiet", "--release", "--package", "hartlock-cli"]);
    run::quietly(&mut cargo)?;
    Ok(project::target_dir().join("release/hartlock"))
}

/// Returns a path relative to the checkout, where every command runs.
fn from_checkout(path: &Path) -> PathBuf {
    path.strip_prefix(project::root()).map_or_else(|_| path.to_path_buf(), Path::to_path_buf)
}

/// Returns a short form of a path: relative to the checkout, or only the file name if it is in the
/// cache.
fn shown(path: &Path) -> String {
    if let Ok(inside) = path.strip_prefix(project::root()) {
        return inside.display().to_string();
    }
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.display().to_string())
}

/// Returns a command line with short paths, quoted where a shell needs it.
fn typed(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| {
        let text = word.to_string_lossy();
        let path = Path::new(word);
        let text = if path.is_absolute() { shown(path) } else { text.into_owned() };
        if text.contains(' ') { format!("'{text}'") } else { text }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
