//! Every check of the project: what it is about, what it needs, what it reads, and how it runs.

use std::path::Path;

use anyhow::Result;
use xtask::consent::Consent;
use xtask::{Outcome, firmware, tools};

use crate::{deny, emulator, install, openssl, walkthrough};

/// One check.
#[derive(Clone, Copy)]
pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    /// Names of steps that have to pass before it starts, if they are part of the run.
    pub after: &'static [&'static str],
    /// What only one step at a time may use.
    pub uses: &'static [Resource],
    /// Files and folders that its outcome depends on; empty if it depends on more than this tree.
    pub reads: &'static [&'static [&'static str]],
    /// What of those has no part in it.
    pub but: &'static [&'static str],
    pub action: Action,
}

/// How a step runs.
#[derive(Clone, Copy)]
pub enum Action {
    /// A program and its arguments, run at the root of the checkout. Success is a pass.
    Command(&'static [&'static str]),
    /// A function of this program.
    Function(fn(&Path) -> Result<Outcome>),
    /// A step of this runner, by the same name.
    Runner(&'static str),
}

/// What only one step at a time may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Cargo's folder for builds on this machine, which it locks: a second step would only wait.
    Cargo,
    /// All cores: simulators and fuzz targets are built and run on every core there is.
    Cores,
}

/// The programs and packages that boots and simulations work with.
pub const TOOLS: &str = "tools";
/// The runners and all tests, compiled.
pub const BUILD: &str = "build";

const NOTHING: &[&str] = &[];
const BUILT: &[&str] = &[BUILD];
const FETCHED: &[&str] = &[TOOLS];
const BOTH: &[&str] = &[BUILD, TOOLS];

/// Everything. For checks of the tree itself.
const TREE: &[&str] = &[""];
/// What every program of the workspace is built from.
const WORKSPACE: &[&str] =
    &["Cargo.toml", "Cargo.lock", ".cargo", "rust-toolchain.toml", "crates", "xtask", "tools"];
/// The `hartlock` command.
pub const COMMAND: &[&str] = &["crates/cli"];
/// Crates of the workspace that drive the project.
const RUNNERS: &[&str] = &["docs/builder", "fuzz/run", "hw/run", "lab", "tests"];
/// What runs on boards, and what describes them.
const BOARDS: &[&str] = &["firmware", "boards"];
const SPEC: &[&str] = &["spec"];
const HW: &[&str] = &["hw"];
const DEVICE: &[&str] = &["tests"];
/// What runs a machine of `hw/` for a campaign on devices.
const MACHINES: &[&str] = &["hw/run"];
const FUZZ: &[&str] = &["fuzz"];
const ENGINES: &[&str] = &["docs/src/hardware"];
/// What `tools/try-algorithm` copies, and the recipe that it follows.
const RECIPE: &[&str] = &[
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "boards",
    "crates",
    "firmware/stage",
    "firmware/tests/bench",
    "firmware/tests/footprint",
    "firmware/virt",
    "rust-toolchain.toml",
    "spec",
    "tools/try-algorithm",
];
/// Texts that are installed.
const INSTALLED: &[&str] =
    &["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"];
const FRONT: &[&str] = &["README.md", "docs/status.toml"];

/// Arguments of clippy for packages that run on boards.
macro_rules! clippy_of_firmware {
    ($target:expr, [$($package:literal),*] $(, $more:literal)*) => {
        &[
            "cargo", "clippy", "--locked", "--profile", "firmware", "--target", $target,
            $("--package", $package,)* $($more,)* "--", "-D", "warnings",
        ]
    };
}

impl Step {
    const fn new(name: &'static str, about: &'static str, action: Action) -> Self {
        Self { name, about, after: NOTHING, uses: &[], reads: &[TREE], but: &[], action }
    }

    const fn command(
        name: &'static str,
        about: &'static str,
        words: &'static [&'static str],
    ) -> Self {
        Self::new(name, about, Action::Command(words))
    }

    const fn function(
        name: &'static str,
        about: &'static str,
        function: fn(&Path) -> Result<Outcome>,
    ) -> Self {
        Self::new(name, about, Action::Function(function))
    }

    /// A step of a runner. It boots, simulates or generates, so it waits for programs and tools.
    const fn runner(name: &'static str, about: &'static str, runner: &'static str) -> Self {
        Self::new(name, about, Action::Runner(runner)).after(BOTH)
    }

    const fn after(mut self, after: &'static [&'static str]) -> Self {
        self.after = after;
        self
    }

    const fn uses(mut self, uses: &'static [Resource]) -> Self {
        self.uses = uses;
        self
    }

    const fn reads(mut self, reads: &'static [&'static [&'static str]]) -> Self {
        self.reads = reads;
        self
    }

    /// It neither builds nor runs the `hartlock` command, nor does the runner depend on it.
    const fn without_command(mut self) -> Self {
        self.but = COMMAND;
        self
    }
}

const RUST: &[&[&str]] = &[WORKSPACE, RUNNERS, BOARDS, SPEC, HW, FUZZ];
const OF_DEVICE: &[&[&str]] = &[WORKSPACE, DEVICE, MACHINES, BOARDS, SPEC];
const OF_SKIPS: &[&[&str]] = &[WORKSPACE, DEVICE, HW, BOARDS, SPEC];
const OF_HW: &[&[&str]] = &[WORKSPACE, HW, BOARDS, SPEC, ENGINES];
const OF_LAB: &[&[&str]] = &[WORKSPACE, RUNNERS, HW, BOARDS, SPEC];

/// In the order in which they start, as far as what they need is there: what stops a change most often
/// first, then what takes longest.
pub const STEPS: &[Step] = &[
    Step::command("fmt", "sources are formatted", &["cargo", "fmt", "--all", "--check"]),
    Step::function("tools", "emulator, simulators and packages are fetched", fetch).reads(&[]),
    Step::command(
        "build",
        "the runners and all tests compile",
        &["cargo", "build", "--locked", "--all-targets"],
    )
    .uses(&[Resource::Cargo])
    // It makes what others run, so its result is the files and not the pass.
    .reads(&[]),
    Step::runner("tidy", "paths, sizes, layering and comments on unsafe code", "tidy").after(BUILT),
    Step::runner("errors", "generated reason codes are those of spec/errors.toml", "gen")
        .after(BUILT),
    Step::runner(
        "boards",
        "what is generated from the descriptions of boards is what they make",
        "gen",
    )
    .after(BUILT)
    .reads(&[WORKSPACE, BOARDS, SPEC]),
    Step::function(
        "walkthrough",
        "the hex dump of the specification is that of its vector",
        walkthrough::step,
    )
    .reads(&[SPEC, WORKSPACE]),
    Step::command(
        "spec",
        "spec/verify.py passes its own tests",
        &["python3", "-B", "-m", "unittest", "discover", "-s", "spec", "-p", "test_*.py"],
    )
    .reads(&[SPEC, BOARDS]),
    Step::function(
        "install",
        "what `make install` installs works, and an archive of it has the same bytes twice",
        install::step,
    )
    .after(BOTH)
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, BOARDS, INSTALLED]),
    // It builds in a folder of its own, so it does not wait for cargo.
    Step::command(
        "recipe",
        "a signature algorithm takes the files that CONTRIBUTING.md names, 15 at most",
        &["python3", "-B", "tools/try-algorithm"],
    )
    .reads(&[RECIPE]),
    Step::command(
        "unit",
        "unit and integration tests on this machine",
        &["cargo", "test", "--locked", "--no-fail-fast"],
    )
    .after(BUILT)
    .uses(&[Resource::Cargo]),
    Step::command(
        "clippy",
        "no warnings from the compiler or the linter",
        &["cargo", "clippy", "--locked", "--all-targets", "--", "-D", "warnings"],
    )
    .uses(&[Resource::Cargo])
    .reads(RUST),
    Step::command(
        "clippy-firmware",
        "the same for what runs on the board",
        clippy_of_firmware!(
            firmware::TARGET,
            [
                "hartlock-rom",
                "hartlock-loader",
                "hartlock-probe",
                "hartlock-dma",
                "hartlock-devmem",
                "hartlock-stub",
                "hartlock-bench",
                "hartlock-footprint",
                "hartlock-fsbl"
            ],
            "--features",
            "hartlock-fsbl/virt"
        ),
    )
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, BOARDS]),
    Step::command(
        "clippy-iommu",
        "the same for the board with an IOMMU",
        &[
            "env",
            "HARTLOCK_BOARD=qemu-virt-iommu",
            "cargo",
            "clippy",
            "--locked",
            "--profile",
            "firmware",
            "--target",
            firmware::TARGET,
            "--package",
            "hartlock-rom",
            "--package",
            "hartlock-loader",
            "--package",
            "hartlock-dma",
            "--",
            "-D",
            "warnings",
        ],
    )
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, BOARDS]),
    Step::command(
        "clippy-soc",
        "the same for what runs on the cycle-accurate machine",
        clippy_of_firmware!(
            firmware::TARGET,
            [
                "hartlock-smoke",
                "hartlock-axi-guard",
                "hartlock-bench",
                "hartlock-loader",
                "hartlock-rot-host",
                "hartlock-host-signatures"
            ],
            "--features",
            "hartlock-bench/soc,hartlock-loader/soc,hartlock-rot-host/keys"
        ),
    )
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, BOARDS]),
    Step::command(
        "clippy-tee",
        "the same for what runs on the machine of a TEE",
        clippy_of_firmware!(
            firmware::TARGET,
            ["hartlock-fsbl", "hartlock-tee-monitor"],
            "--features",
            "hartlock-fsbl/machine"
        ),
    )
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, BOARDS]),
    Step::command(
        "clippy-rot",
        "the same for what runs on the root of trust",
        clippy_of_firmware!(
            firmware::ROT_TARGET,
            [
                "hartlock-rot-smoke",
                "hartlock-rot-rom",
                "hartlock-rot-dma",
                "hartlock-rot-signatures",
                "hartlock-rot-crypto",
                "hartlock-accelerator",
                "hartlock-first-stage",
                "hartlock-second-stage"
            ],
            "--features",
            "hartlock-rot-rom/tee,hartlock-rot-rom/keys,\
             hartlock-rot-crypto/keys,hartlock-rot-crypto/streams,hartlock-rot-crypto/vectors"
        ),
    )
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, BOARDS]),
    Step::runner(
        "regs",
        "what is generated from descriptions of registers is what they make",
        "gen",
    )
    .reads(&[WORKSPACE, HW, &["docs"]]),
    Step::runner(
        "ip",
        "engines pass their tests and proofs, notice what is forced on them, and fit their bounds",
        "hw",
    )
    .uses(&[Resource::Cores])
    .without_command()
    .reads(OF_HW),
    Step::runner("soc", "the root of trust keeps its host in reset until all is verified", "hw")
        .without_command()
        .reads(OF_HW),
    Step::runner("rot", "the root of trust boots, and refuses or survives every fault", "hw")
        .without_command()
        .reads(OF_HW),
    Step::runner(
        "hw",
        "the cycle-accurate hosts and the TEE build, repeat themselves, and notice what fails",
        "hw",
    )
    .without_command()
    .reads(OF_HW),
    Step::runner(
        "svu",
        "hardware boots what the command has signed with no core running, and refuses it changed",
        "hw",
    )
    .uses(&[Resource::Cargo])
    .reads(OF_HW),
    Step::runner(
        "signatures",
        "no verification takes more flash, stack or instructions than was recorded",
        "lab",
    )
    .without_command()
    .reads(OF_LAB),
    Step::runner("lab", "the first paper in small, cycle by cycle, keeps its bounds", "lab")
        .without_command()
        .reads(OF_LAB),
    Step::runner(
        "accelerator",
        "the fifth paper in small, instruction by instruction, is reproduced",
        "lab",
    )
    .without_command()
    .reads(OF_LAB),
    Step::runner(
        "post-quantum-xmss",
        "the second paper in small: an engine for XMSS keeps its bound, and the paper is held against itself",
        "lab",
    )
    .without_command()
    .reads(OF_LAB),
    Step::runner(
        "quick-boot-tee",
        "the third paper in small: a TEE boots by engines, which keep their bounds",
        "lab",
    )
    .without_command()
    .reads(OF_LAB),
    Step::command(
        "recompute",
        "headlines of stored runs follow from their samples, by a script without our code",
        &["python3", "lab/recompute.py"],
    )
    .reads(&[&["lab"]]),
    Step::runner(
        "vector-crypto",
        "the fourth paper's rows are made, and every hash kernel keeps its bound",
        "lab",
    )
    .without_command()
    .reads(OF_LAB),
    Step::runner("host-speed", "hartlock is measured beside openssl, in small", "lab")
        .uses(&[Resource::Cores])
        .reads(OF_LAB),
    Step::runner("fuzz", "a short run of every fuzz target finds nothing", "fuzz")
        .uses(&[Resource::Cores])
        .without_command()
        .reads(&[WORKSPACE, FUZZ, SPEC]),
    Step::runner(
        "guide",
        "the guide to a first engine leads to one, by the commands that it shows",
        "hw",
    )
    .without_command()
    .reads(OF_HW),
    Step::runner("vectors", "the one-fault bundles are those that the generator makes", "device")
        .after(BUILT)
        .without_command()
        .reads(OF_DEVICE),
    Step::runner(
        "vectors-host",
        "library and spec/verify.py judge every bundle as expected",
        "device",
    )
    .after(BUILT)
    .without_command()
    .reads(OF_DEVICE),
    Step::function(
        "emulator",
        "QEMU, OpenSBI and the device tree compiler run on this machine",
        emulator::step,
    )
    .after(FETCHED)
    .reads(&[WORKSPACE]),
    Step::function(
        "firmware",
        "the boot stages build, fit, and hold no panic path",
        firmware::gates,
    )
    .after(FETCHED)
    .reads(&[WORKSPACE, BOARDS, FRONT]),
    Step::runner("vectors-target", "the emulated board judges every bundle as expected", "device")
        .without_command()
        .reads(OF_DEVICE),
    Step::runner(
        "kernels",
        "every hash kernel agrees with the portable form, on its own tier",
        "device",
    )
    .without_command()
    .reads(OF_DEVICE),
    Step::runner(
        "kat",
        "public test vectors: all on this machine, a sample on an emulated hart",
        "device",
    )
    .reads(OF_DEVICE),
    Step::runner("linux", "Debian's kernel boots on 1, 2 and 5 harts", "device").reads(OF_DEVICE),
    Step::runner("refusals", "one fault, one refusal, on the emulated board", "device")
        .reads(OF_DEVICE),
    Step::runner("harts", "missing, faulting, late and disobedient harts", "device")
        .reads(OF_DEVICE),
    Step::runner(
        "kernels-boot",
        "each board boots with the best kernels that it has, and with none that is wrong",
        "device",
    )
    .reads(OF_DEVICE),
    Step::runner("protection", "what S-mode and Linux cannot touch", "device").reads(OF_DEVICE),
    Step::runner(
        "iommu",
        "on the board with an IOMMU Linux boots, and a disk reaches nothing that is closed",
        "device",
    )
    .reads(OF_DEVICE),
    Step::runner("verdict", "both checks of the verdict are alive in the linked stages", "device")
        .reads(OF_DEVICE),
    Step::runner(
        "algorithms",
        "root keys of every family boot; what is made of their bundles does not",
        "device",
    )
    .reads(OF_DEVICE),
    Step::runner(
        "tee",
        "after the ROM, the first-stage loader of a TEE derives the keys that it derives elsewhere",
        "device",
    )
    .without_command()
    .reads(OF_DEVICE),
    Step::runner(
        "skips",
        "one skipped instruction boots nothing that has to be refused (a sample)",
        "device",
    )
    .without_command()
    .reads(OF_SKIPS),
    Step::runner("flips", "500 changed bits of a real bundle are 500 refusals", "device")
        .reads(OF_DEVICE),
    Step::function(
        "openssl",
        "a newer openssl and we take each other's keys and signatures",
        openssl::step,
    )
    .after(BOTH)
    .uses(&[Resource::Cargo])
    .reads(&[WORKSPACE, SPEC]),
    Step::runner(
        "docs",
        "the documentation site builds, and every link in it leads somewhere",
        "docs",
    ),
    Step::function("deny", "lock files, licences, bans and sources of all dependencies", deny::step)
        .after(FETCHED)
        .reads(&[WORKSPACE, RUNNERS, BOARDS, FUZZ, &["deny.toml", "lab"]]),
    Step::function(
        "advisories",
        "known vulnerabilities in dependencies, when the database can be reached",
        deny::advisories_step,
    )
    .after(FETCHED)
    .reads(&[]),
];

/// Fetches what was agreed to before the first step.
fn fetch(_: &Path) -> Result<Outcome> {
    tools::ensure_all(Consent::Agreed)?;
    Ok(Outcome::Passed)
}
