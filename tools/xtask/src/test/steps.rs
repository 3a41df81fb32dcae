//! All checks of the project: their subject, the steps that they need, their inputs, and the way in which they run.

use std::path::Path;

use anyhow::Result;
use xtask::consent::Consent;
use xtask::{Outcome, firmware, tools};

use crate::{deny, emulator, install, openssl, walkthrough};

/// A check.
#[derive(Clone, Copy)]
pub struct TestStep {
    pub name: &'static str,
    pub about: &'static str,
    pub tier: Tier,
    /// The names of steps that have to pass before it starts, if they are part of the run.
    pub after: &'static [&'static str],
    /// The resources that only one step at a time may use.
    pub uses: &'static [Resource],
    /// The folders of packages that it builds; it depends on everything from which these are built. The package of a
    /// runner need not be named.
    pub packages: &'static [&'static str],
    /// The files and folders that its outcome depends on; `*` with a suffix stands for all files that end with it.
    pub reads: &'static [&'static [&'static str]],
    /// The files and folders that do not influence its outcome, in the same form.
    pub ignored_paths: &'static [&'static str],
    /// The programs outside of the tree that its outcome depends on.
    pub outside: &'static [Outside],
    /// True if it reads public vectors when `HARTLOCK_VECTORS` names a folder of them.
    pub vectors: bool,
    pub action: Action,
}

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Tier {
    /// With every change: a quarter of an hour
    First,
    /// With a change of what it depends on, and before a release: an hour
    Full,
    /// On demand: hours
    Long,
}

/// The way in which a step runs.
#[derive(Clone, Copy)]
pub enum Action {
    /// A program and its arguments, run at the root of the checkout. Exit code 0 is a pass.
    Command(&'static [&'static str]),
    /// A function of this program.
    Function(fn(&Path) -> Result<Outcome>),
    /// The step of the same name of this runner.
    Runner(&'static str),
}

/// A resource that only one step at a time may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Cargo's folder for builds for this machine. Cargo locks it, so a second step would only wait.
    Cargo,
    /// All cores, because simulators and fuzz targets are built and run on every core.
    Cores,
}

/// A program of this machine that influences the outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The compiler for C and C++.
    Compiler,
    /// The system's `openssl`.
    Openssl,
    /// The interpreter of Python.
    Python,
}

/// The step that fetches the programs and packages of the first tier.
pub const TOOLS: &str = "tools";
/// The step that fetches what the other tiers need in addition.
pub const MORE_TOOLS: &str = "more-tools";
/// The step that compiles the runners and all tests.
pub const BUILD: &str = "build";
/// The runner of the lab and its tests, compiled.
pub const BUILD_LAB: &str = "build-lab";
/// Steps that make what others use. They run if one of these does.
pub const SERVICES: [&str; 4] = [TOOLS, MORE_TOOLS, BUILD, BUILD_LAB];

const BUILT: &[&str] = &[BUILD];
const FETCHED: &[&str] = &[TOOLS];
const BOTH: &[&str] = &[BUILD, TOOLS];
const ALL: &[&str] = &[BUILD, TOOLS, MORE_TOOLS];
const ALL_OF_LAB: &[&str] = &[BUILD, BUILD_LAB, TOOLS, MORE_TOOLS];

/// All files, for checks of the tree itself.
const TREE: &[&str] = &[""];
/// All that runs on boards and machines.
const FIRMWARE: &[&str] = &["device", "verif/programs"];
/// The same, with the `hartlock` command.
const FIRMWARE_AND_COMMAND: &[&str] = &["device", "verif/programs", "host/cli"];
/// Descriptions of boards are compiled into what works with them.
const CONTRACT: &[&str] = &["device/boards", "spec"];
const HW: &[&str] = &["hw"];
const LAB: &[&str] = &["lab"];
const COMPILER_AND_PYTHON: &[Outside] = &[Outside::Compiler, Outside::Python];
/// Texts, and results that a run replaces.
const PROSE: &[&str] = &["*.md", "lab/runs", "verif/runs"];
/// The same, and what runs benches of engines alone.
const PROSE_AND_BENCHES: &[&str] = &[
    "*.md",
    "lab/runs",
    "verif/runs",
    "verif/machines/run/src/ip",
    "verif/machines/run/src/ip.rs",
];
/// The benches of engines run programs for the root of trust, and nothing that signs or verifies on a workstation.
const NOT_OF_BENCHES: &[&str] = &[
    "*.md",
    "host/bundle",
    "host/cli",
    "host/emulator",
    "host/first-stage",
    "host/kat",
    "host/keys",
    "verif/testkit",
    "host/timeline",
    "verif/machines/run/src/machines",
];
/// What a test on this machine may read: sources, and the files that they are compared with.
const SOURCES: &[&str] =
    &["Cargo.lock", "Cargo.toml", "device", "host", "hw", "spec", "tools", "verif"];
/// Texts that are installed, and what installs them.
const INSTALLED: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "tools/xtask/src/install.rs",
];

/// Returns the arguments of clippy for packages that run on boards.
macro_rules! clippy_of_firmware {
    ($target:expr, [$($package:literal),*] $(, $more:literal)*) => {
        &[
            "cargo", "clippy", "--locked", "--profile", "firmware", "--target", $target,
            $("--package", $package,)* $($more,)* "--", "-D", "warnings",
        ]
    };
}

impl TestStep {
    const fn new(name: &'static str, about: &'static str, action: Action) -> Self {
        Self {
            name,
            about,
            tier: Tier::First,
            after: &[],
            uses: &[],
            packages: &[],
            reads: &[TREE],
            ignored_paths: &[],
            outside: &[],
            vectors: false,
            action,
        }
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

    /// Returns a step of a runner. It boots, simulates or generates, so it needs programs and tools.
    const fn runner(name: &'static str, about: &'static str, runner: &'static str) -> Self {
        Self::new(name, about, Action::Runner(runner)).after(BOTH)
    }

    /// Returns a step that boots emulated boards.
    const fn device(name: &'static str, about: &'static str) -> Self {
        Self::runner(name, about, "device")
            .packages(FIRMWARE)
            .reads(&[CONTRACT])
            .ignored_paths(PROSE_AND_BENCHES)
    }

    /// Returns a step that simulates hardware.
    const fn hardware(name: &'static str, about: &'static str) -> Self {
        let step = Self::runner(name, about, "hw")
            .packages(FIRMWARE)
            .reads(&[HW, CONTRACT])
            .ignored_paths(PROSE_AND_BENCHES);
        step.outside(COMPILER_AND_PYTHON)
    }

    /// Returns a step that repeats measurements of a paper in a short form.
    const fn lab(name: &'static str, about: &'static str) -> Self {
        let step = Self::runner(name, about, "lab").packages(FIRMWARE).reads(&[HW, LAB, CONTRACT]);
        step.ignored_paths(PROSE).outside(COMPILER_AND_PYTHON).full().after(ALL_OF_LAB)
    }

    /// Returns true if the outcome follows from inputs that can be read.
    pub const fn has_key(&self) -> bool {
        !(self.reads.is_empty() && self.packages.is_empty())
    }

    const fn full(mut self) -> Self {
        self.tier = Tier::Full;
        if self.after.len() == BOTH.len() {
            self.after = ALL;
        }
        self
    }

    const fn long(mut self) -> Self {
        self.tier = Tier::Long;
        self.after = ALL;
        self
    }

    const fn after(mut self, after: &'static [&'static str]) -> Self {
        self.after = after;
        self
    }

    const fn uses(mut self, uses: &'static [Resource]) -> Self {
        self.uses = uses;
        self
    }

    const fn packages(mut self, packages: &'static [&'static str]) -> Self {
        self.packages = packages;
        self
    }

    const fn reads(mut self, reads: &'static [&'static [&'static str]]) -> Self {
        self.reads = reads;
        self
    }

    const fn ignored_paths(mut self, ignored_paths: &'static [&'static str]) -> Self {
        self.ignored_paths = ignored_paths;
        self
    }

    const fn outside(mut self, outside: &'static [Outside]) -> Self {
        self.outside = outside;
        self
    }

    /// Marks the step as one that reads public vectors.
    const fn vectors(mut self) -> Self {
        self.vectors = true;
        self
    }

    /// Marks the step as one that always runs, because others need its results or it depends on more than the tree.
    const fn always(mut self) -> Self {
        self.reads = &[];
        self
    }
}

/// All steps in the order in which they start, as far as the steps that they need have passed: first those that fail
/// most often after a change, then those that take longest.
pub const STEPS: &[TestStep] = &[
    TestStep::command("fmt", "sources are formatted", &["cargo", "fmt", "--all", "--check"]),
    TestStep::command(
        "fmt-lab",
        "sources of the lab are formatted",
        &["cargo", "fmt", "--check", "--manifest-path", "lab/Cargo.toml"],
    )
    .reads(&[LAB, &["rustfmt.toml"]])
    .ignored_paths(PROSE),
    TestStep::function("tools", "emulator, simulators and packages are fetched", fetch).always(),
    TestStep::command(
        "build",
        "the runners and all tests compile",
        &["cargo", "build", "--locked", "--all-targets"],
    )
    .uses(&[Resource::Cargo])
    .always(),
    TestStep::runner("tidy", "paths, names and dependencies keep the rules", "tidy").after(BUILT),
    TestStep::runner("errors", "generated reason codes are those of spec/errors.toml", "gen")
        .after(BUILT),
    TestStep::runner(
        "boards",
        "what is generated from the descriptions of boards is what they make",
        "gen",
    )
    .after(BUILT),
    TestStep::function(
        "walkthrough",
        "the hex dump of the specification is that of its vector",
        walkthrough::step,
    )
    .reads(&[&["spec", "tools/xtask/src/walkthrough.rs"]]),
    TestStep::command(
        "spec",
        "spec/verify.py passes its own tests",
        &["python3", "-B", "-m", "unittest", "discover", "-s", "spec", "-p", "test_*.py"],
    )
    .reads(&[CONTRACT])
    .outside(&[Outside::Python])
    .vectors(),
    TestStep::command(
        "unit",
        "unit and integration tests on this machine",
        &["cargo", "test", "--locked", "--no-fail-fast"],
    )
    .after(BUILT)
    .uses(&[Resource::Cargo])
    .outside(&[Outside::Openssl])
    .vectors(),
    TestStep::command(
        "clippy",
        "no warnings from the compiler or the linter",
        &["cargo", "clippy", "--locked", "--all-targets", "--", "-D", "warnings"],
    )
    .uses(&[Resource::Cargo])
    .reads(&[SOURCES])
    .ignored_paths(PROSE),
    TestStep::command(
        "clippy-firmware",
        "the same for what runs on the board",
        clippy_of_firmware!(
            firmware::TARGET,
            [
                "hartlock-rom",
                "hartlock-rom-variants",
                "hartlock-loader",
                "hartlock-loader-variants",
                "hartlock-probe",
                "hartlock-dma",
                "hartlock-devmem",
                "hartlock-stub",
                "hartlock-bench",
                "hartlock-footprint",
                "hartlock-fsbl"
            ],
            "--features",
            "hartlock-fsbl/virt,hartlock-rom-variants/unverified,hartlock-loader-variants/unverified"
        ),
    )
    .uses(&[Resource::Cargo])
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::command(
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
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::command(
        "clippy-soc",
        "the same for what runs on the cycle-accurate machine",
        clippy_of_firmware!(
            firmware::TARGET,
            [
                "hartlock-smoke",
                "hartlock-axi-guard",
                "hartlock-bench",
                "hartlock-loader",
                "hartlock-loader-variants",
                "hartlock-rot-host",
                "hartlock-host-signatures"
            ],
            "--features",
            "hartlock-bench/soc,hartlock-loader/soc,hartlock-loader-variants/load-first,hartlock-rot-host/keys"
        ),
    )
    .uses(&[Resource::Cargo])
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::command(
        "clippy-tee",
        "the same for what runs on the machine of a TEE",
        clippy_of_firmware!(
            firmware::TARGET,
            ["hartlock-fsbl", "hartlock-fsbl-variants", "hartlock-tee-monitor"],
            "--features",
            "hartlock-fsbl/machine"
        ),
    )
    .uses(&[Resource::Cargo])
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::command(
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
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::runner(
        "regs",
        "what is generated from descriptions of registers is what they make",
        "gen",
    )
    .reads(&[HW, &["device/regs", "docs", "tools/regs"]])
    .outside(&[Outside::Python]),
    TestStep::function(
        "emulator",
        "QEMU, OpenSBI and the device tree compiler run on this machine",
        emulator::step,
    )
    .after(FETCHED)
    .packages(&["tools/xtask"])
    .reads(&[&["tools/packages.toml", "tools/xtask/src/emulator.rs"]]),
    TestStep::function(
        "firmware",
        "the boot stages build, fit, and hold no panic path",
        firmware::gates,
    )
    .after(FETCHED)
    .packages(&["device", "verif/programs", "tools/xtask"])
    .reads(&[CONTRACT, &["README.md", "docs/status.toml"]]),
    TestStep::device("vectors", "the one-fault bundles are those that the generator makes")
        .after(BUILT),
    TestStep::device("vectors-host", "library and spec/verify.py judge every bundle as expected")
        .after(BUILT)
        .outside(&[Outside::Python]),
    TestStep::device("vectors-target", "the emulated board judges every bundle as expected"),
    TestStep::device("kernels", "every hash kernel agrees with the portable form, on its own tier")
        .vectors(),
    TestStep::device("kat", "public test vectors: all on this machine, a sample on an emulated hart")
        .packages(FIRMWARE_AND_COMMAND)
        .vectors(),
    TestStep::device("linux-first", "Debian's kernel boots, on five harts")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device("refusals-first", "a fault of each kind is refused on the emulated board")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device("harts", "missing, faulting, late and disobedient harts")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device("protection", "what S-mode and Linux cannot touch").packages(FIRMWARE_AND_COMMAND),
    TestStep::runner("fuzz-replay", "no fuzz target objects to an input of the stored corpus", "fuzz")
        .after(BUILT)
        .packages(&["verif/fuzz/targets"])
        .reads(&[&["verif/fuzz"], CONTRACT])
        .ignored_paths(PROSE),
    TestStep::hardware("ip-first", "RTL has no lint, and a bench of each engine passes")
        .uses(&[Resource::Cores])
        .packages(&[])
        .ignored_paths(NOT_OF_BENCHES)
        .vectors(),
    TestStep::hardware("rot-first", "the root of trust boots a bundle, and refuses it with a bit flipped"),
    TestStep::hardware(
        "hw-release-first",
        "hardware releases a first stage, and holds its host in reset for the same with a bit flipped",
    ),
    // ----- full -----
    TestStep::function(
        "more-tools",
        "compilers, cores and programs of the other tiers are fetched",
        fetch_more,
    )
    .full()
    .always(),
    TestStep::hardware(
        "ip",
        "engines pass their tests and proofs, notice what is forced on them, and fit their bounds",
    )
    .uses(&[Resource::Cores])
    .packages(&["verif/programs/rot-smoke"])
    .ignored_paths(NOT_OF_BENCHES)
    .vectors()
    .full(),
    TestStep::hardware("soc", "the root of trust keeps its host in reset until all is verified").full(),
    TestStep::hardware("rot", "the root of trust boots, and refuses or survives every fault")
        .vectors()
        .full(),
    TestStep::hardware(
        "hw",
        "the cycle-accurate hosts and the TEE build, repeat themselves, and notice what fails",
    )
    .full(),
    TestStep::hardware(
        "svu",
        "hardware boots what the command has signed with no core running, and refuses it changed",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .uses(&[Resource::Cargo])
    .full(),
    TestStep::command(
        BUILD_LAB,
        "the runner of the lab and its tests compile",
        &[
            "cargo",
            "build",
            "--locked",
            "--all-targets",
            "--manifest-path",
            "lab/Cargo.toml",
            "--target-dir",
            "target",
        ],
    )
    .uses(&[Resource::Cargo])
    .always()
    .full()
    .after(BUILT),
    TestStep::command(
        "clippy-lab",
        "the lab has no warnings from the compiler or the linter",
        &[
            "cargo",
            "clippy",
            "--locked",
            "--all-targets",
            "--manifest-path",
            "lab/Cargo.toml",
            "--target-dir",
            "target",
            "--",
            "-D",
            "warnings",
        ],
    )
    .uses(&[Resource::Cargo])
    .packages(LAB)
    .reads(&[LAB])
    .ignored_paths(PROSE)
    .full()
    .after(BUILT),
    TestStep::command(
        "unit-lab",
        "tests of the lab, stored runs among them",
        &[
            "cargo",
            "test",
            "--locked",
            "--no-fail-fast",
            "--manifest-path",
            "lab/Cargo.toml",
            "--target-dir",
            "target",
        ],
    )
    .uses(&[Resource::Cargo])
    .packages(LAB)
    .reads(&[LAB, HW, CONTRACT, &["verif/runs"]])
    .outside(&[Outside::Python])
    .full()
    .after(ALL_OF_LAB),
    TestStep::lab("lab", "the first paper in small, cycle by cycle, keeps its bounds"),
    TestStep::lab(
        "quick-boot-tee",
        "the third paper in small: a TEE boots by engines, which keep their bounds",
    ),
    TestStep::lab(
        "post-quantum-xmss",
        "the second paper in small: an engine for XMSS keeps its bound, and the paper is held against itself",
    ),
    TestStep::lab("accelerator", "the fifth paper in small, instruction by instruction, is reproduced"),
    TestStep::lab(
        "vector-crypto",
        "the fourth paper's rows are made, and every hash kernel keeps its bound",
    ),
    TestStep::lab(
        "signatures",
        "no verification takes more flash, stack or instructions than was recorded",
    ),
    TestStep::lab("host-speed", "hartlock is measured beside openssl, in small")
        .packages(FIRMWARE_AND_COMMAND)
        .uses(&[Resource::Cores]),
    TestStep::command(
        "unit-full",
        "exhaustive tests on this machine",
        &["cargo", "test", "--locked", "--no-fail-fast", "--", "--ignored", "exhaustive"],
    )
    .after(BUILT)
    .uses(&[Resource::Cargo])
    .reads(&[SOURCES])
    .ignored_paths(PROSE)
    .full(),
    TestStep::command(
        "recompute",
        "headlines of stored runs follow from their samples, by a script without our code",
        &["python3", "lab/recompute.py"],
    )
    .reads(&[LAB])
    .outside(&[Outside::Python])
    .full(),
    TestStep::runner("fuzz", "a short run of every fuzz target finds nothing", "fuzz")
        .uses(&[Resource::Cores])
        .packages(&["verif/fuzz/targets"])
        .reads(&[&["verif/fuzz"], CONTRACT])
        .ignored_paths(PROSE)
        .full(),
    TestStep::device(
        "skips",
        "one skipped instruction boots nothing that has to be refused (a sample)",
    )
    .reads(&[HW, CONTRACT])
    .full(),
    TestStep::device("linux", "Debian's kernel boots on 1, 2 and 5 harts")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device("refusals", "one fault, one refusal, on the emulated board")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device(
        "kernels-boot",
        "each board boots with the best kernels that it has, and with none that is wrong",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .full(),
    TestStep::device(
        "iommu",
        "on the board with an IOMMU Linux boots, and a disk reaches nothing that is closed",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .full(),
    TestStep::device("verdict", "both checks of the verdict are alive in the linked stages")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device(
        "algorithms",
        "root keys of every family boot; what is made of their bundles does not",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .full(),
    TestStep::device(
        "tee",
        "after the ROM, the first-stage loader of a TEE derives the keys that it derives elsewhere",
    )
    .full(),
    TestStep::device("flips", "500 changed bits of a real bundle are 500 refusals")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::function(
        "openssl",
        "a newer openssl and we take each other's keys and signatures",
        openssl::step,
    )
    .after(ALL)
    .uses(&[Resource::Cargo])
    .packages(&["device", "host", "verif/testkit", "tools/xtask"])
    .reads(&[&["device", "host", "verif/testkit", "spec", "tools/xtask/src/openssl.rs"]])
    .ignored_paths(PROSE)
    .full(),
    TestStep::function(
        "install",
        "what `make install` installs works, and an archive of it has the same bytes twice",
        install::step,
    )
    .after(BOTH)
    .uses(&[Resource::Cargo])
    .packages(&["tools/xtask", "device", "verif/programs", "host/cli"])
    .reads(&[CONTRACT, INSTALLED])
    .full(),
    TestStep::runner(
        "docs",
        "the documentation site builds, every link in it leads somewhere, and its commands exist",
        "docs",
    )
    .full(),
    TestStep::function(
        "deny",
        "lock files, licences, bans and sources of all dependencies",
        deny::step,
    )
    .after(ALL)
    .packages(&["tools/xtask"])
    .reads(&[&["*Cargo.toml", "*Cargo.lock", "deny.toml", "tools/xtask/src/deny.rs"]])
    .full(),
    TestStep::function(
        "advisories",
        "known vulnerabilities in dependencies, when the database can be reached",
        deny::advisories_step,
    )
    .after(ALL)
    .always()
    .full(),
    // ----- long -----
    TestStep::command(
        "ip-all",
        "engines with all public vectors, whole campaigns and all netlists",
        &["env", "HARTLOCK_LONG=1", "cargo", "xtask", "test", "--only", "ip", "--fresh"],
    )
    .uses(&[Resource::Cores])
    .reads(&[HW])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "upsets-all",
        "every upset of the campaigns whose stored counts are of other sources",
        &["cargo", "xtask", "ip", "--upsets", "--stale", "--store"],
    )
    .uses(&[Resource::Cores])
    .reads(&[HW])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "rot-vectors",
        "all public vectors by the engines of the root of trust; HARTLOCK_VECTORS names them",
        &["env", "HARTLOCK_ALL_VECTORS=1", "cargo", "xtask", "hw", "rot-full", "--crypto"],
    )
    .uses(&[Resource::Cores])
    .packages(FIRMWARE)
    .reads(&[HW, CONTRACT])
    .ignored_paths(PROSE)
    .vectors()
    .long(),
    TestStep::command(
        "lab-all",
        "every measurement of the lab, stored",
        &["cargo", "xtask", "lab"],
    )
    .uses(&[Resource::Cores, Resource::Cargo])
    .packages(FIRMWARE_AND_COMMAND)
    .reads(&[HW, LAB, CONTRACT])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "keys-exhaustive",
        "every changed bit of every kind of key file",
        &["cargo", "test", "--locked", "-p", "hartlock-keys", "flips", "--", "--ignored"],
    )
    .uses(&[Resource::Cargo])
    .packages(&["host/keys"])
    .reads(&[&["host/keys"], CONTRACT])
    .ignored_paths(PROSE)
    .long(),
];

/// Fetches everything for the first tier, to which the user agreed before the first step.
fn fetch(_: &Path) -> Result<Outcome> {
    tools::ensure(tools::Extent::First, Consent::Agreed)?;
    Ok(Outcome::Passed)
}

/// Fetches everything for the other tiers.
fn fetch_more(_: &Path) -> Result<Outcome> {
    tools::ensure(tools::Extent::All, Consent::Agreed)?;
    Ok(Outcome::Passed)
}
