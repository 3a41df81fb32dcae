//! `cargo xtask install` and `cargo xtask archive` put the command, its manual pages and completions, the firmware
//! images and OpenSBI into a prefix or into one archive file. An installation on this machine also has a link to the QEMU
//! that was fetched.
//!
//! Installed files are listed in `share/hartlock/files`, which `--remove` reads.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use xtask::{Outcome, Verdict, monitor, project, run, tools};

#[derive(clap::Args)]
pub struct InstallArgs {
    /// Folder to install into, as programs see it at run time
    #[arg(long, value_name = "FOLDER", default_value = "/usr/local")]
    prefix: PathBuf,
    /// Staging folder in front of the prefix, for package builds
    #[arg(long, value_name = "FOLDER")]
    destdir: Option<PathBuf>,
    /// Remove the files that were installed there
    #[arg(long)]
    remove: bool,
}

#[derive(clap::Args)]
pub struct ArchiveArgs {
    /// Write the archive to this folder
    #[arg(long, value_name = "FOLDER", default_value = "target/dist")]
    output: PathBuf,
    /// Build the commit again in another folder and compare the archives; takes minutes
    #[arg(long)]
    check: bool,
}

/// Boards whose firmware is installed.
const BOARDS: [&str; 2] = ["qemu-virt", "qemu-virt-iommu"];
const IMAGES: [&str; 4] = ["rom.bin", "loader.bin", "boot.dtb", "system.dtb"];
const TEXTS: [&str; 5] =
    ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Completions: the shell, and the file below the prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/hartlock"),
    ("zsh", "share/zsh/site-functions/_hartlock"),
    ("fish", "share/fish/vendor_completions.d/hartlock.fish"),
];
/// The file that lists the files of an installation, by their paths below the prefix.
const LIST: &str = "share/hartlock/files";

pub fn main(args: &InstallArgs) -> Result<Verdict> {
    let prefix = args.prefix.strip_prefix("/").context("the prefix is not an absolute path")?;
    let top = args.destdir.as_deref().unwrap_or(Path::new("/")).join(prefix);
    if args.remove {
        let count = remove(&top)?;
        println!("{count} files removed from {}", top.display());
        return Ok(Verdict::Yes);
    }
    let built = Built::usual()?;
    // What is staged goes to another machine, where the link would lead nowhere.
    let qemu = args.destdir.is_none().then(tools::locate).transpose()?.map(|tools| tools.qemu);
    let files = install(&built, &top, qemu.as_deref())?;
    println!("{} files installed in {}", files.len(), top.display());
    println!("firmware {}", top.join("share/hartlock/firmware").display());
    Ok(Verdict::Yes)
}

/// A command and firmware images that are built.
struct Built {
    /// The checkout, with the texts that are installed too.
    root: PathBuf,
    command: PathBuf,
    target: PathBuf,
}

impl Built {
    /// Builds with the settings that are usual for work in the checkout.
    fn usual() -> Result<Self> {
        Self::with(&project::root(), &project::target_dir(), &[])
    }

    /// Builds so that the result does not depend on the paths of the checkout and of Cargo's home.
    fn reproducible(root: &Path, target: &Path) -> Result<Self> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let user = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
        let cargo = home.or(user).context("neither CARGO_HOME nor HOME is set")?;
        let remap = |from: &Path, to| format!("--remap-path-prefix={}={to}", from.display());
        Self::with(root, target, &[remap(root, "hartlock"), remap(&cargo, "cargo")])
    }

    fn with(root: &Path, target: &Path, flags: &[String]) -> Result<Self> {
        let cargo = |arguments: &[&str], board: &str| -> Result<()> {
            let mut command = Command::new("cargo");
            command.args(arguments).current_dir(root).env("CARGO_TARGET_DIR", target);
            command.env("HARTLOCK_BOARD", board);
            // With other flags, a tool of the workspace would be built again.
            if arguments.first() == Some(&"build") && !flags.is_empty() {
                command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
            }
            run::quietly(&mut command).map(drop)
        };
        eprintln!("building the command and the firmware");
        cargo(
            &["build", "--quiet", "--locked", "--release", "--package", "hartlock-cli"],
            BOARDS[0],
        )?;
        for board in BOARDS {
            cargo(&["xtask", "firmware"], board)?;
        }
        let command = target.join("release/hartlock");
        Ok(Self { root: root.to_owned(), command, target: target.to_owned() })
    }

    fn image(&self, board: &str, name: &str) -> PathBuf {
        let firmware = self.target.join("firmware");
        match board == project::DEFAULT_BOARD {
            true => firmware.join(name),
            false => firmware.join("boards").join(board).join(name),
        }
    }
}

/// Where `hartlock boot` looks for QEMU if there is none on the path.
const QEMU: &str = "libexec/hartlock/qemu-system-riscv64";

/// Writes every file to its place below `top`, and returns the paths. `qemu` is linked.
fn install(built: &Built, top: &Path, qemu: Option<&Path>) -> Result<BTreeSet<String>> {
    let mut files = BTreeSet::new();
    let mut put = |place: String, bytes: &[u8], mode: u32| -> Result<()> {
        let path = top.join(&place);
        write(&path, bytes, mode).with_context(|| path.display().to_string())?;
        files.insert(place);
        Ok(())
    };
    put("bin/hartlock".to_owned(), &read(&built.command)?, 0o755)?;
    let scratch = tempfile::tempdir()?;
    run::quietly(Command::new(&built.command).args(["man", "-o"]).arg(scratch.path()))?;
    for page in fs::read_dir(scratch.path())? {
        let page = page?;
        let name = page.file_name().into_string().ok().context("a page with a plain name")?;
        put(format!("share/man/man1/{name}"), &read(&page.path())?, 0o644)?;
    }
    for (shell, place) in COMPLETIONS {
        let text = run::quietly(Command::new(&built.command).args(["completions", shell]))?;
        put(place.to_owned(), text.as_bytes(), 0o644)?;
    }
    for board in BOARDS {
        for name in IMAGES {
            let bytes = read(&built.image(board, name))?;
            put(format!("share/hartlock/firmware/{board}/{name}"), &bytes, 0o644)?;
        }
    }
    let monitor = monitor::built()?;
    put("share/hartlock/firmware/opensbi/fw_dynamic.bin".to_owned(), &read(&monitor.bin)?, 0o644)?;
    for name in monitor::LICENCES {
        put(
            format!("share/doc/hartlock/opensbi/{name}"),
            &read(&monitor.folder.join(name))?,
            0o644,
        )?;
    }
    for name in TEXTS {
        let bytes = read(&built.root.join(name))?;
        put(format!("share/doc/hartlock/{name}"), &bytes, 0o644)?;
    }
    if let Some(qemu) = qemu {
        link(qemu, &top.join(QEMU)).with_context(|| top.join(QEMU).display().to_string())?;
        files.insert(QEMU.to_owned());
    }
    let mut list: Vec<&str> = files.iter().map(String::as_str).chain([LIST]).collect();
    list.sort_unstable();
    write(&top.join(LIST), (list.join("\n") + "\n").as_bytes(), 0o644)?;
    files.insert(LIST.to_owned());
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

/// Writes a file under another name first and renames it, so that a program that is running is not changed.
fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let folder = path.parent().context("a place in a folder")?;
    fs::create_dir_all(folder)?;
    let new = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(new.path(), bytes)?;
    fs::set_permissions(new.path(), fs::Permissions::from_mode(mode))?;
    new.persist(path)?;
    Ok(())
}

/// Makes a symbolic link, in the place of one that is there.
fn link(to: &Path, path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("a place in a folder")?)?;
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    Ok(std::os::unix::fs::symlink(to, path)?)
}

/// Removes the listed files, and the folders that are empty after that; returns the number of files.
fn remove(top: &Path) -> Result<usize> {
    let list = fs::read_to_string(top.join(LIST))
        .with_context(|| format!("nothing is installed in {}", top.display()))?;
    let mut count = 0;
    for place in list.lines() {
        let is_below = Path::new(place)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        ensure!(is_below, "{place:?} is no place below {}", top.display());
        let path = top.join(place);
        match fs::remove_file(&path) {
            Ok(()) => count += 1,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => bail!("{}: {error}", path.display()),
        }
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != top);
        // A folder that still contains something stays.
        folders.take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
    }
    Ok(count)
}

pub fn archive(args: &ArchiveArgs) -> Result<Verdict> {
    let root = project::root();
    let folder = project::target_dir().join("dist");
    let built = Built::reproducible(&root, &folder.join("build"))?;
    let date = commit_date(&root)?;
    let file = pack(&built, &args.output, &date)?;
    println!("{}  {}", digest(&file)?, file.display());
    if !args.check {
        return Ok(Verdict::Yes);
    }
    let scratch = tempfile::tempdir()?;
    let again = scratch.path().join("another checkout");
    let clone = ["clone", "--quiet", "--shared"];
    run::quietly(Command::new("git").args(clone).arg(&root).arg(&again))?;
    let built = Built::reproducible(&again, &scratch.path().join("another target"))?;
    let other = pack(&built, scratch.path(), &date)?;
    let is_same = read(&file)? == read(&other)?;
    println!("{}  the committed tree, built in another folder", digest(&other)?);
    Ok(if is_same { Verdict::Yes } else { Verdict::No })
}

/// Returns the date that the archive states, in seconds since 1970: `SOURCE_DATE_EPOCH` or the date of the commit.
fn commit_date(root: &Path) -> Result<String> {
    if let Ok(date) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(date);
    }
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root);
    Ok(run::quietly(&mut git)?.trim().to_owned())
}

/// The file of integrations/ci that uses an archive, and the text before the name of the archive in it.
const USER: (&str, &str) = ("integrations/ci/Containerfile", "ADD target/dist/");

/// Packs the installed files. The bytes of the archive depend only on the files, the version and the date.
fn pack(built: &Built, folder: &Path, date: &str) -> Result<PathBuf> {
    let name = format!("hartlock-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    fs::create_dir_all(folder)?;
    let tree = tempfile::tempdir()?;
    install(built, &tree.path().join(&name), None)?;
    // `with_extension` cannot be used, because the version in the name contains dots.
    let file = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--numeric-owner"]);
    tar.args(["--owner=0", "--group=0", "--mode=u+w,go+rX,go-w"]).arg(format!("--mtime=@{date}"));
    tar.arg("--directory").arg(tree.path()).arg(&name);
    let mut gzip = Command::new("gzip");
    // These options leave name and date out of the header.
    gzip.args(["-9", "-n", "--stdout"]).stdout(fs::File::create(&file)?);
    run::piped(&mut tar, &mut gzip)?;
    Ok(file)
}

fn digest(file: &Path) -> Result<String> {
    Ok(xtask::packages::digest_of_bytes(&read(file)?))
}

/// The page whose commands are run with an installation.
const PAGE: &str = "docs/src/release.md";

/// Runs the commands of [`PAGE`] about its example, in an empty folder, with the installed command and what it finds in the
/// installation. The only other inputs are kernel, initramfs and device tree, under the names of the example.
fn boots(root: &Path, top: &Path, tools: &tools::Tools) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE)).context(PAGE)?;
    let folder = tempfile::tempdir()?;
    let tree = top.join("share/hartlock/firmware/qemu-virt/system.dtb");
    for (from, name) in [
        (&tools.debian_kernel, "Image"),
        (&tools.debian_initrd, "initramfs.cpio.gz"),
        (&tree, "gateway.dtb"),
    ] {
        std::os::unix::fs::symlink(from, folder.path().join(name))?;
    }
    let description = block(&page, "```toml\n# system.toml\n").context("no system.toml")?;
    fs::write(folder.path().join("system.toml"), description)?;
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", line]).current_dir(folder.path()).env_clear();
        shell.env("PATH", format!("{}:/usr/bin:/bin", top.join("bin").display()));
        run::quietly(&mut shell)
    };
    for name in ["root", "release", "second"] {
        shell(&format!("hartlock keygen -o {name}.pem"))?;
    }
    let lines = commands(&page).into_iter().filter(|line| {
        // The page compares with an older release, which there is none of.
        !line.contains("gateway-2.4.0")
            && ["gateway", "boot.hlk"].iter().any(|it| line.contains(it))
    });
    let lines: Vec<_> = lines.collect();
    ensure!(lines.len() >= 5, "{PAGE} has only {lines:?} about its example");
    let (last, earlier) = lines.split_last().context("no command")?;
    earlier.iter().try_for_each(|line| shell(line).map(drop))?;
    ensure!(last.starts_with("hartlock boot "), "{PAGE} does not end with a boot, but with {last}");
    // The limit only ends a boot that hangs; this machine may be slow.
    let text = shell(&format!("{last} --quiet --timeout 900"))?;
    ensure!(text.contains("booted"), "the example of {PAGE} does not boot: {text}");
    Ok(())
}

/// Returns the content of the block that begins with `start`, from its second line on.
fn block<'a>(page: &'a str, start: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(start)?;
    Some(rest.split_once("```")?.0)
}

/// Returns the commands in the consoles of a page, each in one line.
fn commands(page: &str) -> Vec<String> {
    let joined = page.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Runs the step of `cargo xtask test` that checks that the installed command works and boots, that an archive has the
/// same bytes twice, and that `--remove` leaves nothing.
///
/// `cargo xtask archive --check` is not a step, because it compiles the command and the firmware twice more, in folders
/// of their own. It is meant for a release.
pub fn step(_: &Path) -> Result<Outcome> {
    let scratch = tempfile::tempdir()?;
    let top = scratch.path().join("usr");
    let built = Built::usual()?;
    let tools = tools::locate()?;
    let files = install(&built, &top, Some(&tools.qemu))?;
    let command = top.join("bin/hartlock");
    let version = run::quietly(Command::new(&command).arg("--version"))?;
    ensure!(version.starts_with("hartlock "), "its version is {version}");
    run::quietly(Command::new("bash").arg("-n").arg(top.join(COMPLETIONS[0].1)))?;
    for verb in ["sign", "verify", "keygen"] {
        let page = fs::read_to_string(top.join(format!("share/man/man1/hartlock-{verb}.1")))?;
        ensure!(page.contains(".TH"), "{verb} has no manual page");
    }
    boots(&built.root, &top, &tools)?;
    let packed = |name: &str| pack(&built, &scratch.path().join(name), "1700000000");
    let first = read(&packed("first")?)?;
    // Waiting gives the files other dates than before.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    ensure!(first == read(&packed("second")?)?, "an archive has other bytes the second time");
    let other = pack(&built, &scratch.path().join("third"), "1700000001")?;
    let name = other.file_name().context("an archive has a name")?.to_string_lossy().into_owned();
    let user = fs::read_to_string(built.root.join(USER.0))?;
    let is_wanted = user.contains(&format!("{}{name} ", USER.1));
    ensure!(is_wanted, "{} takes another archive than {name}", USER.0);
    ensure!(first != read(&other)?, "an archive does not state its date");
    fs::write(top.join("share/man/man1/other.1"), "of another program")?;
    ensure!(remove(&top)? == files.len(), "not every file was removed");
    ensure!(top.join("share/man/man1/other.1").exists(), "a file of another program was removed");
    ensure!(!top.join("bin").exists() && !top.join("share/hartlock").exists(), "folders stay");
    ensure!(remove(&top).is_err(), "it was removed twice");
    Ok(Outcome::Passed)
}
