//! Campaigns on emulated boards, for `cargo xtask boots`, `demo`, `flips`, `kat`, `kernels`, `skips`,
//! `timing` and `vectors`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hartlock_device::{
    board_program, boots, c_library, demo, flips, kat, kernels, skips, timing, u_boot, vectors,
};

#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Boot emulated boards, intact ones and ones with one fault each
    Boots(boots::BootsArgs),
    /// Sign and boot Linux under QEMU, then show that a tampered image is refused
    Demo(demo::DemoArgs),
    /// Flip bits of the demo's bundle, and check that `hartlock verify` refuses each
    Flips(flips::FlipsArgs),
    /// Run public test vectors, with the code of `hartlock kat`
    Kat(kat::KatArgs),
    /// Test hash kernels on emulated harts with each extension, and count instructions
    Kernels(kernels::KernelsArgs),
    /// Skip instructions of a boot stage, and check that it still refuses bad bundles
    Skips(skips::SkipsArgs),
    /// Check that no instruction and no address depends on a secret
    Timing(timing::TimingArgs),
    /// Boot U-Boot with verified bundles and with faulty ones (integrations/u-boot)
    UBootBoots(u_boot::UBootBootsArgs),
    /// Generate, compare or run the test bundles of spec/vectors/image
    Vectors(vectors::VectorsArgs),
    /// One step of `cargo xtask test`
    #[command(hide = true)]
    Step {
        /// Its name
        name: String,
    },
}

/// The steps of `cargo xtask test` that this program implements.
const STEPS: &[xtask::Step] = &[
    ("vectors", vectors::check_step),
    ("vectors-host", vectors::host_step),
    ("vectors-target", vectors::target_step),
    ("kernels", kernels::step),
    ("kat", kat::step),
    ("boards-bench", board_program::step),
    ("c-library-first", c_library::first_step),
    ("c-library", c_library::step),
    ("u-boot", u_boot::step),
    ("linux-first", boots::linux_first_step),
    ("refusals-first", boots::refusals_first_step),
    ("linux", boots::linux_step),
    ("refusals", boots::refusals_step),
    ("harts", boots::harts_step),
    ("kernels-boot", boots::kernels_step),
    ("protection", boots::protection_step),
    ("judged-first", boots::judged_first_step),
    ("judged", boots::judged_step),
    ("sbi", boots::sbi_step),
    ("iommu", boots::iommu_step),
    ("verdict", boots::verdict_step),
    ("algorithms", boots::algorithms_step),
    ("tee", boots::tee_step),
    ("wiped-first", boots::wiped_first_step),
    ("wiped", boots::wiped_step),
    ("encrypted-first", boots::encrypted_first_step),
    ("encrypted", boots::encrypted_step),
    ("skips", skips::step),
    ("flips", flips::step),
    ("timing-first", timing::first_step),
    ("timing", timing::step),
];

fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::Boots(args) => boots::main(&args),
        Command::Demo(args) => demo::main(&args),
        Command::Flips(args) => flips::main(&args),
        Command::Kat(args) => kat::main(&args),
        Command::Kernels(args) => kernels::main(&args),
        Command::Skips(args) => skips::main(&args),
        Command::Timing(args) => timing::main(&args),
        Command::UBootBoots(args) => u_boot::main(&args),
        Command::Vectors(args) => vectors::main(&args),
        Command::Step { name } => {
            return xtask::run_step(STEPS, &name)
                .unwrap_or_else(|error| xtask::exit_code(Err(error)));
        }
    };
    xtask::exit_code(verdict)
}
