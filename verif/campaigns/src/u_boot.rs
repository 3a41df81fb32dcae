//! Boots of U-Boot with the verification of `integrations/u-boot` on an emulated board: OpenSBI, U-Boot, a system bundle
//! on a disk.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hartlock_image::{KeyRecord, Reason, TreeMode, u64_at};
use hartlock_testkit::bundle::{Draft, Edit, build};
use hartlock_testkit::keys::{A, B};
use object::{Object, ObjectSymbol};
use xtask::tools::{self, Tools};
use xtask::u_boot::{self, UBoot, Variant};
use xtask::{Outcome, Verdict, firmware, initramfs, run};

use crate::boots::board::{STUB_RUNS, system_draft};

/// Time limit that only ends a hang.
const HANG: Duration = Duration::from_secs(180);
/// The end of memory that U-Boot occupies, and of the board's memory.
const END_OF_MEMORY: u64 = 0xc000_0000;
/// Text that U-Boot prints last before it enters a kernel.
const ENTERS: &str = "hartlock: u-boot verified the system bundle, entering";
/// Text that a build without the lock prints at each boot.
const UNLOCKED: &str = "hartlock: u-boot is unlocked";
/// Bytes by which U-Boot should grow at most with everything (the unlocked build beside the original one). It is missed.
const GROWTH_TARGET: u64 = 170_000;
/// Bytes by which it grows at most: what was measured, and some room.
const GROWTH: u64 = 240_000;
/// The prompt of U-Boot.
const PROMPT: &str = "=> ";
/// The functions behind commands that start programs, read what others wrote, or change what U-Boot does.
const FORBIDDEN: [&str; 13] = [
    "do_bootm",
    "do_booti",
    "do_go",
    "do_bootefi",
    "do_source",
    "do_bootelf",
    "do_env_set",
    "do_load",
    "do_mem_mw",
    "do_tftpb",
    "net_loop",
    "run_command",
    "cli_loop",
];

/// Arguments of `cargo xtask u-boot-boots`.
#[derive(clap::Args)]
pub struct UBootBootsArgs {
    /// Run only cases whose name contains this text
    #[arg(value_name = "NAME")]
    filter: Option<String>,
    /// Show the console of every device
    #[arg(short, long)]
    verbose: bool,
}

/// Runs cases and prints their outcome.
///
/// # Errors
/// If something cannot be built.
pub fn main(args: &UBootBootsArgs) -> Result<Verdict> {
    let bench = Bench::prepare(args.verbose)?;
    let mut failed = 0;
    for (name, case) in CASES {
        if args.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        match case(&bench) {
            Ok(()) => println!("{name} … ok"),
            Err(error) => {
                failed += 1;
                println!("{name} … FAILED\n{error:#}\n");
            }
        }
    }
    Ok(if failed == 0 { Verdict::Yes } else { Verdict::No })
}

/// Test step.
///
/// # Errors
/// If something cannot be built.
pub fn step(_: &Path) -> Result<Outcome> {
    let bench = Bench::prepare(false)?;
    let mut findings = Vec::new();
    for (name, case) in CASES {
        if let Err(error) = case(&bench) {
            findings.push(format!("{name}: {error:#}"));
        }
    }
    Ok(if findings.is_empty() { Outcome::Passed } else { Outcome::Failed(findings.join("\n\n")) })
}

type Case = fn(&Bench) -> Result<()>;

const CASES: &[(&str, Case)] = &[
    ("linux-reaches-userspace-on-5-harts", linux),
    ("without-a-fault-it-boots", good),
    ("from-a-partition", from_a_partition),
    ("tampered-initramfs", |bench| {
        // The kernel ends before 128 KiB, and the initramfs after 256 KiB.
        let tamper = Edit::File(|file| file[192 << 10] ^= 1);
        bench.refuses(&bench.system_draft()?, &[tamper], Reason::PayloadDigestMismatch)
    }),
    ("tampered-signature", |bench| {
        let tamper = Edit::Area(|area| *area.last_mut().expect("an area is not empty") ^= 1);
        bench.refuses(&bench.system_draft()?, &[tamper], Reason::SignatureMismatch)
    }),
    ("another-key", |bench| {
        let tree = bench.tree(&node("hartlock", &B.record()))?;
        bench.refuses_on(&tree, Some(&bench.good()?), Reason::NoTrustedSigner)
    }),
    ("another-board", |bench| {
        let other = Edit::Draft(Draft::use_unknown_board);
        bench.refuses(&bench.system_draft()?, &[other], Reason::WrongBoard)
    }),
    ("below-the-floor", |bench| {
        let node = node("hartlock", &A.record()).replace("<0 0>", "<0 8>");
        bench.refuses_on(&bench.tree(&node)?, Some(&bench.good()?), Reason::RollbackBelowFloor)
    }),
    ("trust-missing", |bench| {
        bench.refuses_on(&bench.tree("")?, Some(&bench.good()?), Reason::RootOfTrustInvalid)
    }),
    ("trust-twice", |bench| {
        let one = node("hartlock", &A.record());
        let tree = bench.tree(&format!("{one}{}", node("hartlock@1", &A.record())))?;
        bench.refuses_on(&tree, Some(&bench.good()?), Reason::RootOfTrustInvalid)
    }),
    ("trust-without-a-key", |bench| {
        let node = node("hartlock", &A.record()).replace("key-id", "other");
        bench.refuses_on(&bench.tree(&node)?, Some(&bench.good()?), Reason::RootOfTrustInvalid)
    }),
    ("kernel-over-the-monitor", |bench| bench.refuses_place(0, 0x8000_0000)),
    ("initramfs-over-the-monitor", |bench| bench.refuses_place(1, 0x8010_0000)),
    ("initramfs-over-the-heap", |bench| bench.refuses_place(1, END_OF_MEMORY - 0x0080_0000)),
    ("initramfs-over-the-code", |bench| bench.refuses_place(1, END_OF_MEMORY - 0x0008_0000)),
    ("initramfs-that-ends-in-the-stack", |bench| bench.refuses_end_in_the_stack()),
    ("initramfs-outside-of-memory", |bench| {
        let mut draft = bench.system_draft()?;
        draft.payloads[1].load_at(END_OF_MEMORY);
        bench.refuses(&draft, &[], Reason::OutsideMemory)
    }),
    ("kernel-at-another-alignment", |bench| {
        let mut draft = bench.system_draft()?;
        draft.payloads[0].load_at(0x8210_0000);
        bench.refuses(&draft, &[], Reason::WrongLoadAddress)
    }),
    ("tree-that-is-none", |bench| {
        let broken = Edit::Draft(|draft| draft.payloads[2].data.fill(1));
        bench.refuses(&bench.system_draft()?, &[broken], Reason::DeviceTreeUnusable)
    }),
    ("no-disk", |bench| bench.refuses_on(&bench.trusted()?, None, Reason::MediumMissing)),
    ("empty-disk", |bench| {
        bench.refuses_on(&bench.trusted()?, Some(&vec![0; 1 << 20]), Reason::MediumMissing)
    }),
    ("disk-shorter-than-its-bundle", |bench| {
        let mut disk = bench.good()?;
        disk.truncate(disk.len() - 4096);
        bench.refuses_on(&bench.trusted()?, Some(&disk), Reason::Truncated)
    }),
    ("locked-answers-nothing", locked_answers_nothing),
    ("locked-has-no-other-way", locked_has_no_other_way),
    ("a-hart-that-traps-with-a-block", a_hart_that_traps),
    ("a-hart-that-does-not-stop", a_hart_that_does_not_stop),
    ("unlocked-verifies-and-boots-by-command", unlocked_commands),
    ("unlocked-takes-no-key-from-the-environment", unlocked_environment),
    ("growth", growth),
];

/// The builds and files that all cases need.
struct Bench {
    tools: Tools,
    locked: UBoot,
    stub: Vec<u8>,
    system_fdt: PathBuf,
    is_verbose: bool,
}

/// Returns the id of a key in hexadecimal.
fn key_id(key: &KeyRecord) -> String {
    key.key_id.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the node of the control tree that trusts a key.
fn node(name: &str, key: &KeyRecord) -> String {
    let id = key_id(key);
    format!(
        "{name} {{ compatible = \"hartlock,trust-v1\"; board = \"qemu-virt\"; soc = \"virt\"; policy = <1>; \
         security-version = <0 0>; key-0 {{ algorithm = <{}>; parameters = <{}>; key-id = [{id}]; }}; }};",
        key.algorithm, key.parameters
    )
}

impl Bench {
    fn prepare(is_verbose: bool) -> Result<Self> {
        Ok(Self {
            tools: tools::locate()?,
            locked: u_boot::built(Variant::Locked)?,
            stub: fs::read(firmware::stage("stub", &[])?.bin)?,
            system_fdt: firmware::device_tree("system")?,
            is_verbose,
        })
    }

    /// Returns the board's tree with nodes in addition.
    fn tree(&self, nodes: &str) -> Result<Vec<u8>> {
        let scratch = tempfile::tempdir()?;
        let [source, compiled] = ["tree.dts", "tree.dtb"].map(|name| scratch.path().join(name));
        let mut dtc = Command::new(&self.tools.dtc);
        dtc.args(["-q", "-I", "dtb", "-O", "dts"]).arg(&self.system_fdt);
        let text = run::quietly(&mut dtc)?;
        fs::write(&source, format!("{text}\n/ {{ {nodes} }};\n"))?;
        let mut dtc = Command::new(&self.tools.dtc);
        dtc.args(["-q", "-I", "dts", "-O", "dtb", "-o"]).arg(&compiled).arg(&source);
        run::quietly(&mut dtc)?;
        Ok(fs::read(&compiled)?)
    }

    /// Returns a control tree that trusts the key with which the bundles are signed.
    fn trusted(&self) -> Result<Vec<u8>> {
        self.tree(&node("hartlock", &A.record()))
    }

    fn system_draft(&self) -> Result<Draft> {
        system_draft(&self.stub, &self.system_fdt)
    }

    #[expect(clippy::unused_self, reason = "reads like the other makers of disks")]
    fn disk(&self, draft: &Draft, edits: &[Edit]) -> Result<Vec<u8>> {
        Ok(build(draft.clone(), edits).0)
    }

    fn good(&self) -> Result<Vec<u8>> {
        self.disk(&self.system_draft()?, &[])
    }

    /// Boots the locked build from a disk until it ends.
    fn boot(&self, tree: &[u8], disk: Option<&[u8]>, types: &str) -> Result<String> {
        self.locked_boot(tree, disk).run(|_| types.to_owned())
    }

    fn locked_boot<'a>(&'a self, tree: &'a [u8], disk: Option<&'a [u8]>) -> Boot<'a> {
        Boot { bench: self, program: &self.locked.bin, tree, disk, harts: 2 }
    }

    /// Boots the unlocked build, stops its countdown, and types one command at each prompt.
    fn session(&self, tree: &[u8], disk: &[u8], commands: &[&str]) -> Result<String> {
        let unlocked = u_boot::built(Variant::Unlocked)?;
        let boot = self.locked_boot(tree, Some(disk));
        let (mut is_stopped, mut typed) = (false, 0);
        let console = Boot { program: &unlocked.bin, ..boot }.run(|console| {
            if !is_stopped && console.contains("Hit any key") {
                is_stopped = true;
                return " ".into();
            }
            match commands.get(typed) {
                Some(command) if console.matches(PROMPT).count() > typed => {
                    typed += 1;
                    format!("{command}\n")
                }
                _ => String::new(),
            }
        })?;
        ensure!(
            console.contains(UNLOCKED),
            "it does not say that it is unlocked\n{}",
            last(&console)
        );
        Ok(console)
    }

    fn refuses(&self, draft: &Draft, edits: &[Edit], reason: Reason) -> Result<()> {
        self.refuses_on(&self.trusted()?, Some(&self.disk(draft, edits)?), reason)
    }

    fn refuses_on(&self, tree: &[u8], disk: Option<&[u8]>, reason: Reason) -> Result<()> {
        refused(&self.boot(tree, disk, "")?, reason)
    }

    fn refuses_place(&self, payload: usize, address: u64) -> Result<()> {
        let mut draft = self.system_draft()?;
        draft.payloads[payload].load_at(address);
        self.refuses(&draft, &[], Reason::OverlapsLiveRegion)
    }

    /// Checks a payload that begins in free memory and ends at the heap of U-Boot: it has the stack in it.
    fn refuses_end_in_the_stack(&self) -> Result<()> {
        let mut draft = self.system_draft()?;
        let initramfs = &mut draft.payloads[1];
        initramfs.memory_size = END_OF_MEMORY - 0x0080_0000 - initramfs.load_address;
        self.refuses(&draft, &[], Reason::OverlapsLiveRegion)
    }
}

/// A device that boots U-Boot.
struct Boot<'a> {
    bench: &'a Bench,
    /// U-Boot without a device tree.
    program: &'a Path,
    tree: &'a [u8],
    disk: Option<&'a [u8]>,
    harts: u32,
}

impl Boot<'_> {
    /// Boots until the machine ends or U-Boot stops, while there is typed what `types` returns for the console so far, again
    /// and again. Returns the console.
    fn run(&self, mut types: impl FnMut(&str) -> String) -> Result<String> {
        let scratch = tempfile::tempdir()?;
        let program = scratch.path().join("u-boot.bin");
        fs::write(&program, [fs::read(self.program)?.as_slice(), self.tree].concat())?;
        let mut qemu = Command::new("timeout");
        qemu.arg(HANG.as_secs().to_string()).arg(&self.bench.tools.qemu);
        qemu.args(["-machine", "virt", "-m", "1G", "-nographic", "-monitor", "none", "-no-reboot"]);
        qemu.args(["-smp", &self.harts.to_string(), "-serial", "stdio", "-bios"]);
        qemu.arg(&self.bench.tools.opensbi).arg("-kernel").arg(&program);
        if let Some(disk) = self.disk {
            let file = scratch.path().join("disk");
            fs::write(&file, disk)?;
            let file = file.display().to_string().replace(',', ",,");
            qemu.arg("-drive").arg(format!("file={file},if=none,format=raw,id=disk"));
            qemu.args(["-device", "virtio-blk-device,drive=disk"]);
        }
        qemu.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = qemu.spawn().map_err(|error| run::not_started(&qemu, &error))?;
        let mut output = child.stdout.take().context("the pipe was just made")?;
        let mut input = child.stdin.take().context("the pipe was just made")?;
        let (sender, receiver) = mpsc::channel();
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        // A program that reads no input blocks whoever types when the pipe is full.
        let (typing, typed) = mpsc::channel::<String>();
        let typist = thread::spawn(move || {
            for text in typed {
                // A machine that ended takes no input, which is no fault.
                drop(input.write_all(text.as_bytes()));
            }
        });
        let (mut console, started) = (Vec::new(), Instant::now());
        let text = loop {
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok(piece) => console.extend(piece),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    break String::from_utf8_lossy(&console).replace('\r', "");
                }
            }
            let text = String::from_utf8_lossy(&console).replace('\r', "");
            typing.send(types(&text))?;
            let is_stopped = text.contains("Please RESET the board");
            if is_stopped || started.elapsed() > HANG {
                break text;
            }
        };
        // `timeout` ends the emulator with itself.
        let _ = Command::new("kill").arg(child.id().to_string()).status();
        child.wait()?;
        drop((receiver, typing));
        ensure!(reader.join().is_ok(), "the console cannot be read");
        ensure!(typist.join().is_ok(), "nothing can be typed");
        if self.bench.is_verbose {
            println!("{text}");
        }
        Ok(text)
    }
}

fn last(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

fn good(bench: &Bench) -> Result<()> {
    boots(&bench.boot(&bench.trusted()?, Some(&bench.good()?), "")?)
}

fn refused(console: &str, reason: Reason) -> Result<()> {
    let refusal = format!("hartlock: u-boot refused: E{:04}", reason as u32);
    ensure!(console.contains(&refusal), "no `{refusal}`\n{}", last(console));
    ensure!(!console.contains(STUB_RUNS) && !console.contains(ENTERS), "{}", last(console));
    ensure!(console.matches("refused").count() == 1, "went on\n{}", last(console));
    Ok(())
}

fn boots(console: &str) -> Result<()> {
    ensure!(console.contains(ENTERS) && console.contains(STUB_RUNS), "{}", last(console));
    ensure!(!console.contains(UNLOCKED), "a locked build says that it is unlocked");
    Ok(())
}

/// Boots from the second partition of a disk with an MBR; the first one has no bundle.
fn from_a_partition(bench: &Bench) -> Result<()> {
    const FIRST: u32 = 2048;
    const SECOND: u32 = 4096;
    let bundle = bench.good()?;
    let mut disk = vec![0; SECOND as usize * 512];
    let blocks = u32::try_from(bundle.len() / 512)?;
    for (index, start, count) in [(0, FIRST, FIRST), (1, SECOND, blocks)] {
        let entry = 446 + 16 * index;
        disk[entry + 4] = 0x83;
        disk[entry + 8..entry + 12].copy_from_slice(&start.to_le_bytes());
        disk[entry + 12..entry + 16].copy_from_slice(&count.to_le_bytes());
    }
    disk[510..512].copy_from_slice(&[0x55, 0xaa]);
    disk.extend(&bundle);
    boots(&bench.boot(&bench.trusted()?, Some(&disk), "")?)?;
    // A partition that ends before its bundle does is not read further.
    let entry = 446 + 16;
    disk[entry + 12..entry + 16].copy_from_slice(&(blocks - 8).to_le_bytes());
    bench.refuses_on(&bench.trusted()?, Some(&disk), Reason::Truncated)
}

/// Debian's kernel brings up all harts that hashed.
fn linux(bench: &Bench) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let archive = scratch.path().join("initramfs");
    let init = "#!/bin/busybox sh\n/bin/busybox mount -t proc proc /proc\n/bin/busybox mount -t sysfs sysfs /sys\n\
        echo userspace on $(/bin/busybox grep -c ^processor /proc/cpuinfo) harts: $(/bin/busybox cat /proc/cmdline)\n\
        /bin/busybox ls /sys/firmware/devicetree/base/reserved-memory\n/bin/busybox poweroff -f\n";
    initramfs::with_programs(&bench.tools.busybox, &[], init, &archive)?;
    let mut draft = bench.system_draft()?;
    let [kernel, initramfs, fdt] = draft.payloads.as_mut_slice() else { bail!("three payloads") };
    kernel.data = fs::read(&bench.tools.debian_kernel)?;
    kernel.memory_size = u64_at(&kernel.data, 16).context("a kernel has a header")?;
    kernel.memory_size = kernel.memory_size.next_multiple_of(4096);
    kernel.mode = TreeMode::Blocks { block_size: 80 << 10 };
    fdt.load_at(0x8700_0000);
    initramfs.data = fs::read(&archive)?;
    initramfs.memory_size = (initramfs.data.len() as u64).next_multiple_of(4096);
    initramfs.mode = TreeMode::Blocks { block_size: 80 << 10 };
    draft.bootargs = "console=ttyS0 loglevel=4".into();
    let disk = bench.disk(&draft, &[])?;
    let tree = bench.trusted()?;
    let console =
        Boot { harts: 5, ..bench.locked_boot(&tree, Some(&disk)) }.run(|_| String::new())?;
    let expected = format!("userspace on 5 harts: {}", draft.bootargs);
    ensure!(console.contains(&expected), "no `{expected}`\n{}", last(&console));
    ensure!(console.contains("hartlock-opensbi@80000000"), "{}", last(&console));
    Ok(())
}

/// Types what stops a countdown and what starts other programs, from the first character on.
fn locked_answers_nothing(bench: &Bench) -> Result<()> {
    let types = " \x03\nbootm\nbooti 0x82000000\ngo 0x82000000\nbootefi hello\nsource 0x82000000\n\
        setenv hartlock_key 1\nhartlock boot virtio 0\n";
    let (tree, disk) = (bench.trusted()?, bench.good()?);
    boots(&bench.boot(&tree, Some(&disk), types)?)?;
    let console = bench.boot(&bench.tree("")?, Some(&disk), types)?;
    ensure!(!console.contains(PROMPT) && !console.contains(STUB_RUNS), "{}", last(&console));
    ensure!(console.contains("refused: E0903"), "{}", last(&console));
    Ok(())
}

/// Looks for the functions of other ways to start a program, which the unlocked build has.
fn locked_has_no_other_way(bench: &Bench) -> Result<()> {
    let bytes = fs::read(&bench.locked.elf)?;
    let file = object::File::parse(&*bytes)?;
    let names: Vec<&str> = file.symbols().filter_map(|it| it.name().ok()).collect();
    let found: Vec<_> = FORBIDDEN.iter().filter(|name| names.contains(name)).collect();
    ensure!(found.is_empty(), "the locked build has {found:?}");
    // The same search finds each of them where they are.
    let bytes = fs::read(&u_boot::built(Variant::Unlocked)?.elf)?;
    let file = object::File::parse(&*bytes)?;
    let names: Vec<&str> = file.symbols().filter_map(|it| it.name().ok()).collect();
    let missing: Vec<_> = FORBIDDEN.iter().filter(|name| !names.contains(name)).collect();
    ensure!(missing.is_empty(), "the unlocked build does not have {missing:?}");
    let config = fs::read_to_string(&bench.locked.config)?;
    for line in ["CONFIG_HARTLOCK_ONLY=y", "# CONFIG_CMDLINE is not set"] {
        ensure!(config.lines().any(|it| it == line), "the configuration lacks `{line}`");
    }
    Ok(())
}

/// `j .`
const STAY: [u8; 4] = 0x0000_006f_u32.to_le_bytes();

/// A hart leaves its work and stays where it is, so that only its state says that it was not stopped.
fn a_hart_that_does_not_stop(bench: &Bench) -> Result<()> {
    const WFI: [u8; 4] = 0x1050_0073_u32.to_le_bytes();
    /// The first byte of a jump without a return address.
    const JUMP: u8 = 0x6f;
    let elf = fs::read(&bench.locked.elf)?;
    let file = object::File::parse(&*elf)?;
    let hart = file.symbol_by_name("hartlock_hart").context("no function hartlock_hart")?;
    let base = file.symbol_by_name("_start").context("no start")?.address();
    let mut program = fs::read(&bench.locked.bin)?;
    let start = (hart.address() - base) as usize;
    let code = program.get(start..start + hart.size() as usize).context("inside of the program")?;
    // The call that stops the hart is the last instruction before the wait for work.
    let wait = code.windows(4).position(|word| word == WFI).context("no wait")?;
    let stop = start + wait.checked_sub(4).context("a call before the wait")?;
    ensure!(program[stop] == JUMP, "the call before the wait is no jump");
    program[stop..stop + 4].copy_from_slice(&STAY);
    let scratch = tempfile::tempdir()?;
    let patched = scratch.path().join("u-boot.bin");
    fs::write(&patched, program)?;
    let (tree, disk) = (bench.trusted()?, bench.good()?);
    let boot = bench.locked_boot(&tree, Some(&disk));
    let console = Boot { program: &patched, ..boot }.run(|_| String::new())?;
    refused(&console, Reason::HartNotStopped)
}

/// A hart traps after it has claimed blocks, before it delivers one. The boot hart hashes them, and sees it stopped. If the
/// hart neither reports its trap nor stops, the boot ends: so the hart has trapped.
fn a_hart_that_traps(bench: &Bench) -> Result<()> {
    /// `unimp`, which is an illegal instruction.
    const TRAP: [u8; 4] = 0xc000_1073_u32.to_le_bytes();
    let elf = fs::read(&bench.locked.elf)?;
    let file = object::File::parse(&*elf)?;
    let of = |part: &str| {
        let found = file.symbols().find(|it| it.name().is_ok_and(|name| name.contains(part)));
        found.with_context(|| format!("no function {part}"))
    };
    let (work, deliver) = (of("hartlock_work")?, of("capi5harts7deliver")?);
    let mut program = fs::read(&bench.locked.bin)?;
    let base = file.symbol_by_name("_start").context("no start")?.address();
    let call = (0..work.size()).step_by(2).map(|at| work.address() + at).find(|at| {
        let place = (at - base) as usize;
        let word = |at| program.get(at..at + 4).and_then(|it| it.try_into().ok());
        let pair = [word(place), word(place + 4)].map(|it| it.map_or(0, u32::from_le_bytes));
        target_of_call(*at, pair) == Some(deliver.address())
    });
    let place = (call.context("no hart delivers")? - base) as usize;
    program[place..place + 4].copy_from_slice(&TRAP);
    let scratch = tempfile::tempdir()?;
    let patched = scratch.path().join("u-boot.bin");
    let (tree, disk) = (bench.trusted()?, bench.good()?);
    let boot = |program: &[u8]| {
        fs::write(&patched, program)?;
        let boot = bench.locked_boot(&tree, Some(&disk));
        Boot { program: &patched, ..boot }.run(|_| String::new())
    };
    boots(&boot(&program)?)?;
    let place = (of("hartlock_hart_trapped")?.address() - base) as usize;
    program[place..place + 4].copy_from_slice(&STAY);
    refused(&boot(&program)?, Reason::HartNotStopped)
}

/// Returns where `auipc ra` and `jalr ra` at an address go to (RISC-V Unprivileged Architecture §2.4, §2.5.1).
fn target_of_call(address: u64, [upper, lower]: [u32; 2]) -> Option<u64> {
    if upper & 0xfff != 0x097 || lower & 0xf_ffff != 0x080e7 {
        return None;
    }
    let offset = (upper & !0xfff).cast_signed().wrapping_add(lower.cast_signed() >> 20);
    Some(address.wrapping_add_signed(offset.into()))
}

fn unlocked_commands(bench: &Bench) -> Result<()> {
    let commands = ["hartlock explain E0801", "hartlock verify virtio 0", "hartlock boot virtio 0"];
    let console = bench.session(&bench.trusted()?, &bench.good()?, &commands)?;
    let reason = Reason::PayloadDigestMismatch;
    for expected in [
        format!("E0801 {}", reason.title()),
        "hint: ".to_owned(),
        "hartlock: u-boot verified the system bundle\n".to_owned(),
        ENTERS.to_owned(),
        STUB_RUNS.to_owned(),
    ] {
        ensure!(console.contains(&expected), "no `{expected}`\n{}", last(&console));
    }
    Ok(())
}

fn unlocked_environment(bench: &Bench) -> Result<()> {
    let id = key_id(&A.record());
    let sets = ["hartlock", "hartlock_key", "key-0", "key-id", "fdtcontroladdr"]
        .map(|name| format!("setenv {name} {id}"));
    let mut commands: Vec<&str> = sets.iter().map(String::as_str).collect();
    commands.extend(["hartlock verify virtio 0", "hartlock boot virtio 0", "reset"]);
    let tree = bench.tree(&node("hartlock", &B.record()))?;
    let console = bench.session(&tree, &bench.good()?, &commands)?;
    let refusal = format!("hartlock: u-boot refused: E{:04}", Reason::NoTrustedSigner as u32);
    ensure!(console.matches(&refusal).count() == 2, "{}", last(&console));
    ensure!(!console.contains(STUB_RUNS) && !console.contains(ENTERS), "{}", last(&console));
    Ok(())
}

/// Compares the size of U-Boot with that of the same without our files.
fn growth(bench: &Bench) -> Result<()> {
    let size = |build: &UBoot| fs::metadata(&build.bin).map(|it| it.len());
    let (with, without) =
        (size(&u_boot::built(Variant::Unlocked)?)?, size(&u_boot::built(Variant::Original)?)?);
    let growth = with.saturating_sub(without);
    println!(
        "    U-Boot grows by {growth} bytes (target {GROWTH_TARGET}), from {without} to {with}; locked it has {}",
        size(&bench.locked)?
    );
    ensure!(growth <= GROWTH, "U-Boot grows by {growth} bytes, more than {GROWTH}");
    Ok(())
}
