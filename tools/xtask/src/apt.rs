//! Runs apt with sources, lists, state and cache of its own, so that those of the system are not changed.
//!
//! Only two things are shared with the system: the keyring with which the archive is signed, and the network settings
//! (proxies). The package status is empty at the start, so apt resolves all dependencies of the requested packages,
//! down to the C library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use crate::packages::{Archive, Pin};
use crate::run;

/// Debian 13 renamed the keyring and kept the old name as a link, which a later version may remove.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// The prefixes of the settings in the system's apt configuration that concern access to the network.
const NETWORK_KEYS: [&str; 5] = [
    "Acquire::http::",
    "Acquire::https::",
    "Acquire::ForceIPv4",
    "Acquire::ForceIPv6",
    "Acquire::Send-URI-Encoded",
];

/// The program that downloads a file without reading an index. It is in no folder of `PATH`.
const HELPER: &str = "/usr/lib/apt/apt-helper";

pub struct Apt {
    config: PathBuf,
    mirror: String,
    /// True if the indexes have been read.
    is_fresh: bool,
}

impl Apt {
    /// Writes the configuration below `dir` for these architectures, of which the first is that of this machine.
    /// Nothing is downloaded yet.
    pub fn prepare(dir: &Path, archive: &Archive, architectures: &[String]) -> Result<Apt> {
        let keyring = KEYRINGS.iter().find(|path| Path::new(path).exists());
        let keyring = keyring.context(
            "the keys of the Debian archive are missing; install the package debian-archive-keyring",
        )?;
        for part in ["lists/partial", "state", "cache/archives/partial"] {
            fs::create_dir_all(dir.join(part))?;
        }
        let mirror = std::env::var("HARTLOCK_MIRROR").unwrap_or_else(|_| archive.mirror.clone());
        // With an empty status file, apt treats no package as installed.
        fs::write(dir.join("state/status"), "")?;
        fs::write(
            dir.join("sources.list"),
            ["deb", "deb-src"]
                .map(|kind| {
                    format!("{kind} [signed-by={keyring}] {mirror} {} main\n", archive.suite)
                })
                .concat(),
        )?;
        let config = dir.join("apt.conf");
        let network = network_settings(&system_settings()?);
        fs::write(&config, configuration(dir, architectures, &network))?;
        Ok(Apt { config, mirror, is_fresh: false })
    }

    /// Reads the signed indexes, unless they have been read.
    pub fn refresh(&mut self) -> Result<()> {
        if self.is_fresh {
            return Ok(());
        }
        eprintln!("reading the package index of {}", self.mirror);
        let output = run::capture(self.command("apt-get").args(["-q", "update"]))?;
        if !output.status.success() {
            return Err(self.explain(&run::tail(&output, 25)));
        }
        self.is_fresh = true;
        Ok(())
    }

    /// Downloads a file of the archive, which must have this SHA-256. No index is read for this.
    pub fn download_file(&self, file: &str, sha256: &str, into: &Path) -> Result<()> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let mut command = self.command(HELPER);
        command.arg("download-file").arg(format!("{}/{file}", self.mirror)).arg(into.join(name));
        let output = run::capture(command.arg(format!("SHA256:{sha256}")))?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.explain(&run::tail(&output, 25)))
    }

    /// Returns the versions of a package that the archive offers, newest first.
    pub fn versions(&self, pin: &Pin) -> Result<Vec<String>> {
        let output = run::capture(self.command("apt-cache").args(["show", &pin.apt_name()]))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let versions = text.lines().filter_map(|line| line.strip_prefix("Version: "));
        Ok(versions.map(str::to_owned).collect())
    }

    /// Downloads packages into `into`, with all dependencies if `closure` is true, else without any.
    pub fn download(&self, names: &[String], closure: bool, into: &Path) -> Result<()> {
        let mut command = self.command("apt-get");
        command.arg("-q").current_dir(into);
        if closure {
            fs::create_dir_all(into.join("partial"))?;
            command.args(["install", "--yes", "--download-only", "--no-install-recommends"]);
            command.arg("-o").arg(format!("Dir::Cache::archives={}/", into.display()));
        } else {
            command.arg("download");
        }
        let output = run::capture(command.args(names))?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.explain(&run::tail(&output, 25)))
    }

    /// Downloads the upstream archive of a source package into `into`.
    pub fn download_source(&self, name: &str, into: &Path) -> Result<()> {
        let mut command = self.command("apt-get");
        command.current_dir(into).args(["-q", "source", "--download-only", "--tar-only", name]);
        let output = run::capture(&mut command)?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.explain(&run::tail(&output, 25)))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // This program parses the output, so it must not be translated.
        command.env("APT_CONFIG", &self.config).env("LC_ALL", "C");
        command
    }

    /// Maps an error of apt to the action that the user can take.
    fn explain(&self, log: &str) -> anyhow::Error {
        match Trouble::of(log) {
            Trouble::Offline => anyhow!(
                "cannot reach {}; connect to the network, or set HARTLOCK_MIRROR to a Debian \
                 mirror that can be reached",
                self.mirror
            ),
            Trouble::UnknownKey => anyhow!(
                "this system's keyring does not know the signature of the archive; run \
                 `apt-get install debian-archive-keyring` and try again\n{log}"
            ),
            Trouble::Other => anyhow!("apt could not fetch the packages\n{log}"),
        }
    }
}

/// Returns name, version and architecture of a downloaded package.
pub fn describe_deb(deb: &Path) -> Result<(String, String, String)> {
    let mut command = Command::new("dpkg-deb");
    command.arg("--show").arg("--showformat=${Package} ${Version} ${Architecture}").arg(deb);
    let text = run::quietly(&mut command)?;
    let [name, version, architecture] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        bail!("{} is not a package", deb.display());
    };
    Ok((name.to_owned(), version.to_owned(), architecture.to_owned()))
}

/// Unpacks a package without owners, set-user-id bits, maintainer scripts and documentation.
///
/// Some dependencies contain programs such as `passwd`. If root unpacked them unchanged, they would be privileged
/// programs that get no updates. So `tar` removes the bits and leaves out their folders.
pub fn unpack(deb: &Path, into: &Path) -> Result<()> {
    let mut source = Command::new("dpkg-deb");
    source.arg("--fsys-tarfile").arg(deb);
    let mut sink = Command::new("tar");
    sink.args(["--extract", "--no-same-owner", "--no-same-permissions"]);
    for folder in ["etc", "var", "usr/sbin", "usr/share/doc", "usr/share/man", "usr/share/locale"] {
        sink.arg(format!("--exclude=./{folder}"));
    }
    run::piped(&mut source, sink.arg("--directory").arg(into))
        .with_context(|| format!("cannot unpack {}", deb.display()))
}

/// Unpacks an upstream archive without its top folder.
pub fn unpack_source(archive: &Path, into: &Path) -> Result<()> {
    fs::create_dir_all(into)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--no-same-owner", "--no-same-permissions", "--strip-components=1"]);
    run::quietly(tar.arg("--file").arg(archive).arg("--directory").arg(into))
        .map(drop)
        .with_context(|| format!("cannot unpack {}", archive.display()))
}

/// Unpacks some folders of an archive, which are below its top folder.
pub fn unpack_part(archive: &Path, into: &Path, folders: &[String]) -> Result<()> {
    fs::create_dir_all(into)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--no-same-owner", "--no-same-permissions", "--strip-components=1"]);
    // A `*` would also match a slash, so that a folder of the same name further below would be unpacked too.
    tar.args(["--wildcards", "--no-wildcards-match-slash"]);
    tar.arg("--file").arg(archive).arg("--directory").arg(into);
    run::quietly(tar.args(folders.iter().map(|folder| format!("*/{folder}"))))
        .map(drop)
        .with_context(|| format!("cannot unpack {}", archive.display()))
}

fn system_settings() -> Result<String> {
    run::quietly(Command::new("apt-config").args(["dump", "Acquire"]).env("LC_ALL", "C"))
}

/// Keeps the lines about proxies and other network settings, in apt's own syntax.
fn network_settings(dump: &str) -> String {
    let wanted = |line: &&str| NETWORK_KEYS.iter().any(|key| line.starts_with(key));
    dump.lines().filter(wanted).fold(String::new(), |text, line| text + line + "\n")
}

fn configuration(dir: &Path, architectures: &[String], network: &str) -> String {
    let dir = dir.display();
    let native = architectures.first().map_or("amd64", String::as_str);
    let all: String = architectures.iter().map(|name| format!(" \"{name}\";")).collect();
    // Each of main file, parts, preferences and trusted keys of the system is switched off, because apt reads them
    // after this file, and they would add hooks, pins and sources.
    format!(
        r#"Dir "{dir}/";
Dir::Etc "{dir}/etc/";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "{dir}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::trusted "/dev/null";
Dir::Etc::trustedparts "/dev/null";
Dir::State "{dir}/state";
Dir::State::lists "{dir}/lists";
Dir::State::status "{dir}/state/status";
Dir::Cache "{dir}/cache";
Dir::Log "{dir}/state";
APT::Architecture "{native}";
APT::Architectures {{{all} }};
APT::Get::AllowUnauthenticated "false";
APT::Install-Recommends "false";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
{network}"#
    )
}

#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    Offline,
    UnknownKey,
    Other,
}

impl Trouble {
    fn of(log: &str) -> Trouble {
        let has = |signs: &[&str]| signs.iter().any(|sign| log.contains(sign));
        if has(&["NO_PUBKEY", "Missing key", "signatures couldn't be verified"]) {
            Trouble::UnknownKey
        } else if has(&[
            "Temporary failure resolving",
            "Could not resolve",
            "Could not connect",
            "Cannot initiate the connection",
            "Connection failed",
            "Network is unreachable",
            "Unable to connect",
            "connection timed out",
        ]) {
            Trouble::Offline
        } else {
            Trouble::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_way_to_the_network_is_taken_over() {
        let dump = "Acquire \"\";\nAcquire::http::Proxy \"http://proxy:3128\";\n\
                    Acquire::AllowInsecureRepositories \"1\";\nAcquire::ForceIPv4 \"true\";\n";
        assert_eq!(
            network_settings(dump),
            "Acquire::http::Proxy \"http://proxy:3128\";\nAcquire::ForceIPv4 \"true\";\n"
        );
    }

    #[test]
    fn tells_a_missing_network_from_a_missing_key() {
        let offline = "W: Failed to fetch …  Temporary failure resolving 'deb.debian.org'";
        assert_eq!(Trouble::of(offline), Trouble::Offline);
        let key = "W: GPG error: …: NO_PUBKEY 6ED0E7B82643E131";
        assert_eq!(Trouble::of(key), Trouble::UnknownKey);
        let key =
            "Sub-process /usr/bin/sqv returned an error code (1), error message is: Missing key";
        assert_eq!(Trouble::of(key), Trouble::UnknownKey);
        assert_eq!(Trouble::of("E: No space left on device"), Trouble::Other);
    }

    #[test]
    fn configuration_never_accepts_unsigned_archives() {
        let text = configuration(Path::new("/c"), &["amd64".into(), "riscv64".into()], "");
        assert!(text.contains("APT::Get::AllowUnauthenticated \"false\";"));
        assert!(text.contains("APT::Architectures { \"amd64\"; \"riscv64\"; };"));
        assert!(!text.contains("AllowInsecureRepositories"));
    }

    #[test]
    fn unpacking_drops_privileges_and_what_is_not_needed() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, into) = (dir.path().join("tree"), dir.path().join("into"));
        for folder in ["DEBIAN", "usr/bin", "etc", "usr/share/doc/x"] {
            fs::create_dir_all(tree.join(folder)).unwrap();
        }
        let control = "Package: x\nVersion: 1:2-3\nArchitecture: all\n\
                       Maintainer: x <x@example.org>\nDescription: x\n";
        fs::write(tree.join("DEBIAN/control"), control).unwrap();
        for file in ["usr/bin/door", "etc/x.conf", "usr/share/doc/x/changelog"] {
            fs::write(tree.join(file), "x").unwrap();
        }
        fs::set_permissions(tree.join("usr/bin/door"), fs::Permissions::from_mode(0o4755)).unwrap();
        let deb = dir.path().join("x.deb");
        let mut build = Command::new("dpkg-deb");
        run::quietly(build.args(["--build", "--root-owner-group"]).arg(&tree).arg(&deb)).unwrap();

        let description = describe_deb(&deb).unwrap();
        assert_eq!(description, ("x".into(), "1:2-3".into(), "all".into()));
        fs::create_dir(&into).unwrap();
        unpack(&deb, &into).unwrap();
        let mode = fs::metadata(into.join("usr/bin/door")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7000, 0, "mode {mode:o}");
        assert!(mode & 0o100 != 0, "mode {mode:o}");
        assert!(!into.join("etc").exists() && !into.join("usr/share/doc").exists());
    }

    #[test]
    fn unpacks_the_named_folders_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["top-1/a/b", "top-1/a/c", "top-1/d/a/b"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("file"), "x").unwrap();
        }
        let archive = dir.path().join("top.tar.xz");
        let mut tar = Command::new("tar");
        tar.arg("--create")
            .arg("--xz")
            .arg("--file")
            .arg(&archive)
            .arg("--directory")
            .arg(dir.path());
        run::quietly(tar.arg("top-1")).unwrap();

        let into = dir.path().join("into");
        unpack_part(&archive, &into, &["a/b".to_owned()]).unwrap();
        assert!(into.join("a/b/file").exists());
        assert!(!into.join("a/c").exists() && !into.join("d").exists());
        assert!(unpack_part(&archive, &into, &["a/e".to_owned()]).is_err());
    }
}
