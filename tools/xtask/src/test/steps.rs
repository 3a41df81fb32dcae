//! All checks of the project: their subject, the steps that they need, their inputs, and the way in which they run.

use std::path::Path;

use anyhow::Result;
use xtask::consent::Consent;
use xtask::{Outcome, firmware, monitor, tools};

use crate::{deny, emulator, install, mutants, openssl, walkthrough};

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
    /// Checks for every change, about 15 minutes
    First,
    /// All checks except the longest ones, about an hour
    Full,
    /// The longest checks, several hours; run only on demand
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
/// What OpenSBI is built from, beside the files that pin tools.
const MONITOR: &[&str] = &["device/monitor"];
/// The crates whose code is changed to see a test fail.
const TRUSTED: &[&str] =
    &["device/image", "device/verify", "device/handoff", "device/keystore", "device/drivers"];
/// How trusted code is changed, and the changes that no test has to notice.
const MUTANTS: &[&str] =
    &[".cargo/mutants.toml", "verif/mutants.toml", "tools/xtask/src/mutants.rs"];
/// What `cargo xtask promises` breaks, and the table whose tests have to fail then.
const PROMISES: &[&str] = &["verif/promises.toml", "SECURITY.md", "tools/xtask/src/promises.rs"];
/// The counts of the last changes of all functions.
const MUTANTS_STORED: &[&str] = &["verif/runs/mutants.toml"];
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
    "docs/src/release.md",
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
            .reads(&[CONTRACT, MONITOR])
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
    TestStep::runner("tidy", "paths, unsafe code and RTL assertions in the source tree", "tidy").after(BUILT),
    TestStep::runner("errors", "generated reason codes are up to date with spec/errors.toml", "gen")
        .after(BUILT),
    TestStep::runner(
        "boards",
        "generated board files are up to date, and a copy of a board may have other harts",
        "gen",
    ),
    TestStep::function(
        "walkthrough",
        "the hex dumps in the specification match their test vectors",
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
        "no compiler or clippy warnings on this machine",
        &["cargo", "clippy", "--locked", "--all-targets", "--", "-D", "warnings"],
    )
    .uses(&[Resource::Cargo])
    .reads(&[SOURCES])
    .ignored_paths(PROSE),
    TestStep::command(
        "clippy-firmware",
        "no compiler or clippy warnings in code for the board",
        clippy_of_firmware!(
            firmware::TARGET,
            [
                "hartlock-rom",
                "hartlock-rom-variants",
                "hartlock-loader",
                "hartlock-loader-variants",
                "hartlock-probe",
                "hartlock-sbi",
                "hartlock-dma",
                "hartlock-devmem",
                "hartlock-stub",
                "hartlock-bench",
                "hartlock-jobs",
                "hartlock-footprint",
                "hartlock-capi-board",
                "hartlock-timing",
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
        "no compiler or clippy warnings in code for the board with an IOMMU",
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
        "no compiler or clippy warnings in code for the cycle-accurate machine",
        clippy_of_firmware!(
            firmware::TARGET,
            [
                "hartlock-smoke",
                "hartlock-axi-guard",
                "hartlock-jobs",
                "hartlock-loader",
                "hartlock-loader-variants",
                "hartlock-rot-host",
                "hartlock-host-signatures"
            ],
            "--features",
            "hartlock-jobs/soc,hartlock-loader/soc,hartlock-loader-variants/load-first,hartlock-rot-host/keys"
        ),
    )
    .uses(&[Resource::Cargo])
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::command(
        "clippy-tee",
        "no compiler or clippy warnings in code for the TEE machine",
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
        "no compiler or clippy warnings in code for the root of trust",
        clippy_of_firmware!(
            firmware::ROT_TARGET,
            [
                "hartlock-rot-smoke",
                "hartlock-rot-rom",
                "hartlock-rot-rom-variants",
                "hartlock-rot-dma",
                "hartlock-rot-signatures",
                "hartlock-rot-crypto",
                "hartlock-accelerator",
                "hartlock-first-stage",
                "hartlock-second-stage"
            ],
            "--features",
            "hartlock-rot-rom/tee,hartlock-rot-rom/keys,hartlock-rot-rom-variants/trap-on-refusal,\
             hartlock-rot-crypto/keys,hartlock-rot-crypto/streams,hartlock-rot-crypto/vectors"
        ),
    )
    .uses(&[Resource::Cargo])
    .packages(FIRMWARE)
    .reads(&[CONTRACT])
    .ignored_paths(PROSE),
    TestStep::runner(
        "regs",
        "generated register files are up to date with their descriptions",
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
    .reads(&[&["tools/packages.toml", "tools/xtask/src/emulator.rs", "device/monitor"]]),
    TestStep::function(
        "monitor",
        "OpenSBI is built to the stated bytes, twice, and has no call that takes a range of memory",
        monitor::step,
    )
    .after(FETCHED)
    .packages(&["tools/xtask"])
    .reads(&[&["tools/packages.toml", "rust-toolchain.toml", "device/monitor"]]),
    TestStep::function(
        "firmware",
        "the boot stages build, fit into memory, and contain no panic",
        firmware::gates,
    )
    .after(FETCHED)
    .packages(&["device", "verif/programs", "tools/xtask"])
    .reads(&[CONTRACT, &["README.md", "docs/status.toml"]]),
    TestStep::device("vectors", "the stored test bundles are up to date with their generator")
        .after(BUILT),
    TestStep::device("vectors-host", "the library and spec/verify.py give the expected verdict for every test bundle")
        .after(BUILT)
        .outside(&[Outside::Python]),
    TestStep::device("vectors-target", "the emulated board gives the expected verdict for every test bundle"),
    TestStep::device("kernels", "every kernel of hashes and AES gives the same results as the portable one")
        .vectors(),
    TestStep::device("kat", "public test vectors, all on this machine and a sample on an emulated hart")
        .packages(FIRMWARE_AND_COMMAND)
        .vectors(),
    TestStep::device("boards-bench", "the program for owners of boards runs under Linux, and finds a wrong known answer")
        .packages(&["device", "verif/programs", "host/bench"]),
    TestStep::device(
        "c-library-first",
        "programs in C verify all vectors, and every wrong call has its reason",
    )
    .packages(&["device", "tools/xtask"])
    .outside(&[Outside::Compiler]),
    TestStep::device(
        "c-library",
        "the C library's archives are small and have all they need, and an emulated board verifies all vectors",
    )
        .packages(&["device", "verif/programs", "tools/xtask"])
        .outside(&[Outside::Compiler])
        .full(),
    TestStep::device("u-boot", "U-Boot boots verified bundles and nothing else")
        .packages(&["device", "verif/programs", "tools/xtask"])
        .reads(&[CONTRACT, MONITOR, &["integrations/u-boot"]])
        .outside(&[Outside::Compiler])
        .full(),
    TestStep::device("linux-first", "Debian's kernel boots on five harts")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device("refusals-first", "the emulated board refuses one bundle for each kind of fault")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device("harts", "boots with missing, faulting, late and uncooperative harts")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device("protection", "S-mode and Linux cannot access protected memory").packages(FIRMWARE_AND_COMMAND),
    TestStep::device("judged-first", "a disk writes to memory that was judged, without effect where there is an IOMMU"),
    TestStep::device("sbi", "no SBI call reads, prints or changes memory that is closed to S-mode"),
    TestStep::device("wiped-first", "the first-stage loader of a TEE leaves no secret in memory or registers"),
    TestStep::device("encrypted-first", "an encrypted bundle boots with the key of its class alone, and leaves no key")
        .packages(FIRMWARE_AND_COMMAND),
    TestStep::device(
        "timing-first",
        "no instruction and no address depends on a secret (few secrets), and code that leaks is found",
    )
    .outside(&[Outside::Compiler]),
    TestStep::runner("fuzz-replay", "the fuzz targets pass on the stored corpus", "fuzz")
        .after(BUILT)
        .packages(&["verif/fuzz/targets"])
        .reads(&[&["verif/fuzz"], CONTRACT])
        .ignored_paths(PROSE),
    TestStep::hardware("ip-first", "RTL has no lint warnings, and one bench of each engine passes")
        .uses(&[Resource::Cores])
        .packages(&[])
        .ignored_paths(NOT_OF_BENCHES)
        .vectors(),
    TestStep::hardware("rot-first", "the root of trust boots a bundle, and refuses it after a bit flip"),
    TestStep::hardware(
        "hw-release-first",
        "hardware starts a first stage, and keeps the host in reset after a bit flip",
    ),
    // ----- full -----
    TestStep::function(
        "more-tools",
        "download compilers, cores and programs for the other tiers",
        fetch_more,
    )
    .full()
    .always(),
    TestStep::hardware(
        "ip",
        "engines pass tests and proofs, detect forced faults, and keep their area limits",
    )
    .uses(&[Resource::Cores])
    .packages(&["verif/programs/rot-smoke"])
    .ignored_paths(NOT_OF_BENCHES)
    .vectors()
    .full(),
    TestStep::hardware("soc", "the root of trust keeps its host in reset until everything is verified").full(),
    TestStep::hardware("rot", "the root of trust boots, and refuses or survives injected faults (a sample of the upsets)")
        .vectors()
        .full(),
    TestStep::hardware(
        "hw",
        "the cycle-accurate hosts and the TEE build, give repeatable results, and report failures",
    )
    .full(),
    TestStep::hardware(
        "svu",
        "hardware verifies and boots images signed by the command, and refuses changed ones",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .uses(&[Resource::Cargo])
    .full(),
    TestStep::command(
        BUILD_LAB,
        "the lab and its tests compile",
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
        "no compiler or clippy warnings in the lab",
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
        "tests of the lab and of its stored runs",
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
    TestStep::lab("lab", "short form of the first paper (cycle-accurate), within its limits"),
    TestStep::lab(
        "quick-boot-tee",
        "short form of the third paper: a TEE boots by engines, within their limits",
    ),
    TestStep::lab(
        "post-quantum-xmss",
        "short form of the second paper: XMSS engine within its limit, figures of the paper consistent",
    ),
    TestStep::lab("accelerator", "short form of the fifth paper, reproduced"),
    TestStep::lab(
        "vector-crypto",
        "rows of the fourth paper, and every hash kernel within its limit",
    ),
    TestStep::lab(
        "signatures",
        "signature verification takes no more flash, stack or instructions than recorded",
    ),
    TestStep::lab("host-speed", "short measurement of hartlock against openssl")
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
        "an independent script derives the headline figures of stored runs from their samples",
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
    TestStep::function(
        "mutants",
        "a test fails for each change of an operator or result in trusted functions that were edited (a sample)",
        mutants::step,
    )
    .after(ALL)
    .packages(TRUSTED)
    .reads(&[MUTANTS, MUTANTS_STORED])
    .full(),
    TestStep::device(
        "skips",
        "no skipped instruction makes a stage accept a bad bundle (a sample)",
    )
    .reads(&[HW, CONTRACT])
    .full(),
    TestStep::device("linux", "Debian's kernel boots on 1, 2 and 5 harts")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device("refusals", "the emulated board refuses a bundle for every kind of fault")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device(
        "kernels-boot",
        "each board uses its fastest hash kernels, and does not use a broken one",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .full(),
    TestStep::device(
        "iommu",
        "Linux boots on the board with an IOMMU, and a disk cannot access protected memory",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .full(),
    TestStep::device("judged", "without an IOMMU, a disk that writes to memory that was judged has its code run")
        .full(),
    TestStep::device("verdict", "both checks of the verdict are present and effective in the linked stages")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device(
        "algorithms",
        "bundles signed with root keys of every family boot, and modified ones do not",
    )
    .packages(FIRMWARE_AND_COMMAND)
    .full(),
    TestStep::device(
        "tee",
        "the first-stage loader of a TEE derives the expected keys after the ROM",
    )
    .full(),
    TestStep::device(
        "wiped",
        "stages leave no secret in memory after a boot, a refusal and a trap, and ones that do not wipe are caught",
    )
    .full(),
    TestStep::device("encrypted", "encrypted bundles boot and are refused, decryption keeps its bounds, and nothing is left of it")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::device(
        "timing",
        "no instruction and no address depends on one of 1,000 secrets, on all harts, and code that leaks is found",
    )
    .outside(&[Outside::Compiler])
    .full(),
    TestStep::device("flips", "500 single bit flips in a real bundle are all refused")
        .packages(FIRMWARE_AND_COMMAND)
        .full(),
    TestStep::function(
        "openssl",
        "Hartlock and a newer openssl accept each other's keys and signatures",
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
        "the installed files boot the example of release.md, and the archive is reproducible",
        install::step,
    )
    .after(BOTH)
    .uses(&[Resource::Cargo])
    .packages(&["tools/xtask", "device", "verif/programs", "host/cli"])
    .reads(&[CONTRACT, INSTALLED])
    .full(),
    TestStep::runner(
        "docs",
        "the documentation site builds, and its links and commands are valid",
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
        "known vulnerabilities in dependencies, if the database can be reached",
        deny::advisories_step,
    )
    .after(ALL)
    .always()
    .full(),
    // ----- long -----
    TestStep::command(
        "ip-all",
        "engines with all public vectors, full campaigns and all netlists",
        &["env", "HARTLOCK_LONG=1", "cargo", "xtask", "test", "--only", "ip", "--fresh"],
    )
    .uses(&[Resource::Cores])
    .reads(&[HW])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "upsets-all",
        "campaigns of bit upsets whose sources changed since they were stored",
        &["cargo", "xtask", "ip", "--upsets", "--stale", "--store"],
    )
    .uses(&[Resource::Cores])
    .reads(&[HW])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "rot-all",
        "the root of trust with every injected fault, and with signatures that software verifies",
        &["cargo", "xtask", "hw", "rot", "--faults"],
    )
    .uses(&[Resource::Cores])
    .packages(FIRMWARE)
    .reads(&[HW, CONTRACT])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "rot-vectors",
        "all public vectors of HARTLOCK_VECTORS with the engines of the root of trust",
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
        "every measurement of the lab; stores the results",
        &["cargo", "xtask", "lab"],
    )
    .uses(&[Resource::Cores, Resource::Cargo])
    .packages(FIRMWARE_AND_COMMAND)
    .reads(&[HW, LAB, CONTRACT])
    .ignored_paths(PROSE)
    .long(),
    TestStep::command(
        "mutants-all",
        "a test fails for each change of an operator or result in trusted code; stores the counts",
        &["cargo", "xtask", "mutants", "--all"],
    )
    .packages(TRUSTED)
    .reads(&[MUTANTS])
    .long(),
    TestStep::command(
        "promises",
        "each test that SECURITY.md names fails when the code behind its promise is broken",
        &["cargo", "xtask", "promises"],
    )
    .packages(FIRMWARE_AND_COMMAND)
    .reads(&[PROMISES, CONTRACT])
    .long(),
    TestStep::command(
        "keys-exhaustive",
        "every single bit flip in every kind of key file",
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
