//! Measures the cost of verification: boots the demo's system bundle on the same board with
//! firmware that verifies nothing, and with a loader that does not use the other harts.
//!
//! Both are firmware for measurements only, never for a device. They are kept in a separate folder,
//! with names that say so, in boot bundles signed with a key that is deleted afterwards. No ROM
//! trusts that key except the ROM of this measurement.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use hartlock_timeline::{Timeline, Unit, time_text};

use super::{Boot, Demo, shown};
use xtask::firmware;
use xtask::firmware::StageFiles;
use xtask::{project, run};

/// Text that only firmware contains that verifies nothing.
const MARK: &[u8] = b"UNVERIFIED";

/// A boot that is shown next to that of the demo.
pub(super) struct Measured {
    pub label: &'static str,
    pub timeline: PathBuf,
}

/// Firmware that is built for the measurement.
struct Variants {
    rom_unverified: StageFiles,
    loader_unverified: StageFiles,
    /// A loader that verifies everything on the boot hart.
    loader_one_hart: StageFiles,
}

fn variants() -> Result<Variants> {
    Ok(Variants {
        rom_unverified: firmware::stage("rom-variants", &["unverified"])?,
        loader_unverified: firmware::stage("loader-variants", &["unverified"])?,
        loader_one_hart: firmware::stage("loader-variants", &["one-hart"])?,
    })
}

/// Boots each variant. The timelines are stored with those of the demo.
pub(super) fn run(demo: &Demo<'_>) -> Result<Vec<Measured>> {
    let bench = MeasuredDemo::prepare(demo)?;
    let (rom, key) = (demo.file("rom.bin"), bench.file("throw-away.pub.pem"));
    let own = |rom, boot: &str| Boot {
        rom,
        root_keys: vec![key.clone()],
        boot: bench.file(boot),
        system: demo.file("system.hlk"),
    };
    let unverified = own(bench.file("rom-unverified.bin"), "boot-unverified.hlk");
    let one_hart = own(rom.clone(), "boot-one-hart.hlk");
    // The normal boot of the demo, on one hart, so that the emulator can count instructions.
    let counted =
        Boot { boot: demo.file("boot.hlk"), root_keys: demo.public_keys(), ..one_hart.clone() };
    let harts = demo.args.harts.to_string();
    let harts = ["--harts", &harts];
    Ok(vec![
        bench.boot("unverified", "unverified", &unverified, &harts)?,
        bench.boot("verified on one hart", "one-hart", &one_hart, &harts)?,
        bench.boot("verified, counted", "instructions", &counted, &["--icount"])?,
    ])
}

struct MeasuredDemo<'a> {
    demo: &'a Demo<'a>,
    folder: PathBuf,
}

impl<'a> MeasuredDemo<'a> {
    /// Builds the variants and signs boot bundles with them.
    fn prepare(demo: &'a Demo<'a>) -> Result<Self> {
        let folder = project::work_dir("measure");
        // The folder is deleted with all contents, especially a key that an aborted run did not
        // delete.
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let bench = Self { demo, folder };
        let variants = variants()?;
        for (stage, name) in [
            (&variants.rom_unverified, "rom-unverified.bin"),
            (&variants.loader_unverified, "loader-unverified.bin"),
            (&variants.loader_one_hart, "loader-one-hart.bin"),
        ] {
            fs::copy(&stage.bin, bench.file(name)).with_context(|| name.to_owned())?;
        }
        // Firmware that verifies nothing must never be confused with the normal one.
        for name in ["rom", "loader"] {
            let file = format!("{name}-unverified.bin");
            ensure!(says_so(&bench.file(&file))?, "{file} does not say that it verifies nothing");
            let file = format!("{name}.bin");
            ensure!(!says_so(&demo.file(&file))?, "{file} verifies nothing");
        }
        let key = bench.file("throw-away.pem");
        run::quietly(Command::new(&demo.hartlock).arg("keygen").arg("-o").arg(&key))?;
        for (loader, bundle) in [
            ("loader-unverified.bin", "boot-unverified.hlk"),
            ("loader-one-hart.bin", "boot-one-hart.hlk"),
        ] {
            let mut sign = demo.sign_boot(std::slice::from_ref(&key), &bench.file(loader));
            sign.args(["--label", "for a measurement only", "-o"]).arg(bench.file(bundle));
            run::quietly(&mut sign)?;
        }
        fs::remove_file(&key).with_context(|| shown(&key))?;
        Ok(bench)
    }

    fn boot(
        &self,
        label: &'static str,
        name: &str,
        boot: &Boot,
        more: &[&str],
    ) -> Result<Measured> {
        let timeline = self.demo.file(&format!("timeline-{name}.json"));
        let mut command = self.demo.boot_command(boot);
        command.args(more).arg("--timeline-json").arg(&timeline);
        // The report page shows this output in a better form.
        command.stdout(Stdio::null());
        let code = self.demo.status(&mut command)?;
        ensure!(code == 0, "{} ended with {code}", run::describe(&command));
        let measured = read(&timeline)?;
        ensure!(measured.reached_kernel(), "{}: the kernel was not entered", shown(&timeline));
        let unit = measured.time_base.unit;
        let what = match unit {
            Unit::Microseconds => "of emulator time",
            Unit::Instructions => "instructions",
        };
        let total = time_text(measured.total(), unit);
        self.demo.args.say(&format!("{label}: {total} {what} to the kernel's entry"));
        Ok(Measured { label, timeline })
    }

    /// Returns the path of a file of the measurement, in the same form as those of the demo.
    fn file(&self, name: &str) -> PathBuf {
        super::from_checkout(&self.folder.join(name))
    }
}

fn read(path: &Path) -> Result<Timeline> {
    let text = fs::read_to_string(path).with_context(|| shown(path))?;
    hartlock_timeline::read(&text).with_context(|| shown(path))
}

fn says_so(path: &Path) -> Result<bool> {
    let bytes = fs::read(path).with_context(|| shown(path))?;
    Ok(bytes.windows(MARK.len()).any(|window| window == MARK))
}
