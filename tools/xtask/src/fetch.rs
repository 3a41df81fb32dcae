//! `cargo xtask fetch` fetches everything that later commands would fetch on demand.

use std::process::Command;

use anyhow::Result;

use xtask::consent::Consent;
use xtask::python::{self, PackageSet};
use xtask::tools::{self, Extent};
use xtask::{Verdict, project, run};

#[derive(clap::Args)]
pub struct FetchArgs {}

/// Fetches, then prints a line for each file (name, tab, path) and each package (name, tab,
/// version).
pub fn main(_args: &FetchArgs) -> Result<Verdict> {
    // By typing this command, the user has agreed.
    let tools = tools::ensure(Extent::All, Consent::Given)?;
    // The lab is a workspace of its own, with a lock file of its own.
    let mut cargo = Command::new("cargo");
    cargo.args(["fetch", "--quiet", "--locked", "--manifest-path", "lab/Cargo.toml"]);
    run::quietly(cargo.current_dir(project::root()))?;
    for (name, path) in [
        ("qemu", &tools.qemu),
        ("qemu-data", &tools.qemu_data_dir),
        ("dtc", &tools.dtc),
        ("fw-dynamic", &tools.opensbi),
        ("kernel", &tools.debian_kernel),
        ("initrd", &tools.debian_initrd),
        ("busybox", &tools.busybox),
    ] {
        println!("{name}\t{}", path.display());
    }
    for name in tools::CARGO_TOOLS {
        println!("{name}\t{}", tools::cargo_tool(name)?.display());
    }
    for name in
        ["qemu-system-riscv", "opensbi", "debian-installer-13-netboot-riscv64", "busybox-static"]
    {
        println!("{name}\t{}", tools.versions.get(name).map_or("unknown", String::as_str));
    }
    for set in PackageSet::ALL {
        for (name, version) in python::locate(set)?.versions {
            println!("{name}\t{version}");
        }
    }
    Ok(Verdict::Yes)
}
