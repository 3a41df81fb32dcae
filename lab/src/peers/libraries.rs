//! Builds static libraries of other projects for a bare hart: OpenSSL's libcrypto, wolfSSL's wolfCrypt and AWS-LC, from
//! the sources in crates, with their assembly for RISC-V; and Linux' kernels from Debian's package, if it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;

use anyhow::{Context, Result, ensure};

use xtask::tools::Peers;
use xtask::{project, run, tools};

mod aws_lc;
mod linux;

/// Optimisation level of all libraries, which is OpenSSL's default.
pub const OPT_LEVEL: &str = "3";

/// Name of Linux among the peers.
pub const LINUX: &str = "linux";

/// Instructions that a library may use, by the name of the hart: the compiler's `-march` value, and the macros for
/// wolfCrypt's assembly. OpenSSL decides at run time (`lab/peers/src/openssl.rs`).
type HartFlags = (&'static str, &'static str, &'static [&'static str]);

const HARTS: &[HartFlags] = &[
    ("rv64", "rv64gc", &[]),
    ("zbb", "rv64gc_zbb", &["BASE_BIT_MANIPULATION"]),
    ("zknh", "rv64gc_zbb_zknh", &["BASE_BIT_MANIPULATION", "SCALAR_CRYPTO_ASM"]),
    ("zvbb-128", "rv64gcv_zvbb", &["VECTOR", "VECTOR_BASE_BIT_MANIPULATION"]),
    (
        "zvknh-128",
        "rv64gcv_zvkb_zvknhb",
        &["VECTOR", "VECTOR_BASE_BIT_MANIPULATION", "VECTOR_CRYPTO_ASM"],
    ),
];

/// Compiler flags with which data can be anywhere in the memory of a bare hart, and unused functions are not linked.
const FLAGS: [&str; 3] = ["-mcmodel=medany", "-ffunction-sections", "-fdata-sections"];

/// The compiler's `-march` value for the ciphers, which are linked with programs for a hart without floating point. Their
/// assembly for extensions is written as words.
const CIPHERS_MARCH: &str = "rv64imac";
/// The headers of the C library are installed for one ABI only, whose name is all that they read.
const WITH_HEADERS: [&str; 2] = ["-U__riscv_float_abi_soft", "-D__riscv_float_abi_double"];

/// Objects of OpenSSL that contain the hashes, by folder and name.
const OPENSSL_HASHES: &[(&str, &str)] = &[
    ("sha", "sha256"),
    ("sha", "sha512"),
    ("sha", "sha3"),
    ("sha", "keccak1600"),
    ("sha", "sha_riscv"),
    ("sha", "sha256-riscv64"),
    ("sha", "sha256-riscv64-zbb"),
    ("sha", "sha256-riscv64-zvkb-zvknha_or_zvknhb"),
    ("sha", "sha512-riscv64-zbb"),
    ("sha", "sha512-riscv64-zvkb-zvknhb"),
];

/// The same of AES, counter mode and GCM.
const OPENSSL_CIPHERS: &[(&str, &str)] = &[
    ("aes", "aes-riscv64"),
    ("aes", "aes-riscv64-zkn"),
    ("aes", "aes-riscv64-zvkned"),
    ("aes", "aes-riscv64-zvkb-zvkned"),
    ("modes", "ctr128"),
    ("modes", "gcm128"),
    ("modes", "ghash-riscv64"),
    ("modes", "ghash-riscv64-zvkb-zvbc"),
    ("modes", "ghash-riscv64-zvkg"),
    ("modes", "aes-gcm-riscv64-zvkb-zvkg-zvkned"),
];

/// Configuration of OpenSSL for a program without threads, files and network, with only the algorithms that are needed
/// for verification.
const OPENSSL_OPTIONS: &str = "no-shared no-pic no-module no-tests no-apps no-docs no-threads no-dso no-async no-sock \
    no-posix-io no-stdio no-ui-console no-autoload-config no-deprecated no-err no-legacy no-comp no-zlib no-tls \
    no-dtls no-quic no-cms no-cmp no-ts no-ocsp no-ct no-srp no-psk no-http no-rfc3779 no-scrypt no-argon2 no-cmac \
    no-siphash no-siv no-ocb no-poly1305 no-chacha no-aria no-bf no-camellia no-cast no-des no-idea no-rc2 no-rc4 \
    no-seed no-sm2 no-sm3 no-sm4 no-gost no-blake2 no-md4 no-mdc2 no-rmd160 no-whirlpool no-dh no-dsa no-ec2m \
    no-ml-kem no-multiblock enable-lms enable-ec_nistp_64_gcc_128";

/// Sources of wolfCrypt's hashes, further sources of its signatures, and assembly, which is for hashes.
const WOLFSSL_HASHES: &[&str] = &["error", "hash", "memory", "sha256", "sha3", "sha512", "wc_port"];
const WOLFSSL_SIGNATURES: &[&str] = &[
    "asn",
    "coding",
    "ecc",
    "ed25519",
    "fe_operations",
    "ge_operations",
    "rsa",
    "sp_int",
    "sp_riscv64",
    "wc_lms",
    "wc_lms_impl",
    "wc_mldsa",
    "wc_slhdsa",
    "wc_xmss",
    "wc_xmss_impl",
    "wolfmath",
];
const WOLFSSL_ASSEMBLY: &[&str] = &["sha256", "sha3", "sha512"];

/// The part of the libraries that is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LibraryPart {
    Hashes,
    Ciphers,
    Everything,
}

impl LibraryPart {
    const fn name(self) -> &'static str {
        match self {
            Self::Hashes => "hashes",
            Self::Ciphers => "ciphers",
            Self::Everything => "everything",
        }
    }

    /// The objects of OpenSSL, or all of them.
    const fn of_openssl(self) -> Option<&'static [(&'static str, &'static str)]> {
        match self {
            Self::Hashes => Some(OPENSSL_HASHES),
            Self::Ciphers => Some(OPENSSL_CIPHERS),
            Self::Everything => None,
        }
    }
}

/// Folders of the sources, and versions of the libraries.
struct Sources {
    openssl: PathBuf,
    openssl_version: String,
    wolfssl: PathBuf,
    wolfssl_version: String,
    aws_lc: PathBuf,
    aws_lc_version: String,
}

/// Returns the versions of the libraries and of their compiler, by name.
///
/// # Errors
/// Fails if the crates cannot be fetched.
pub fn versions() -> Result<BTreeMap<&'static str, String>> {
    let sources = Sources::find()?;
    let mut versions = BTreeMap::from([
        ("openssl", sources.openssl_version),
        ("wolfssl", sources.wolfssl_version),
        ("aws-lc", sources.aws_lc_version),
        compiler()?,
    ]);
    versions.extend(tools::linux()?.map(|linux| (LINUX, linux.version)));
    Ok(versions)
}

/// Returns name and version of the compiler.
///
/// # Errors
/// Fails if the compiler cannot be installed.
pub fn compiler() -> Result<(&'static str, String)> {
    Ok(("gcc-riscv64-unknown-elf", tools::peers()?.compiler_version))
}

/// Compiles the libraries for a hart unless this was done before, and returns their folder.
///
/// # Errors
/// Fails if a crate or a tool cannot be fetched, or if a source does not compile.
pub fn build(hart: &str, part: LibraryPart) -> Result<PathBuf> {
    let (_, march, defines) = flags(hart)?;
    let sources = Sources::find()?;
    let tools = tools::peers()?;
    let folder = folder_of(march, part)?;
    let compiler = Compiler { tools: &tools, march };
    let of_all = format!("{} {}", tools.compiler_version, compiler.flags().join(" "));
    openssl_once(&compiler, &sources, &folder, part)?;
    let of_wolfssl = format!(
        "{of_all}\n{} {defines:?} {WOLFSSL_HASHES:?} {WOLFSSL_SIGNATURES:?}\n{}{}",
        sources.wolfssl_version,
        fs::read_to_string(settings().join("user_settings.h"))?,
        fs::read_to_string(settings().join("sizes.c"))?,
    );
    once(&folder.join("wolfssl.made-of"), &of_wolfssl, || {
        eprintln!("compiling wolfSSL for {march}");
        wolfssl(&compiler, &sources.wolfssl, &folder, defines, part)
    })?;
    let of_aws_lc = format!("{of_all}\n{} {:?}", sources.aws_lc_version, aws_lc::OPTIONS);
    once(&folder.join("aws-lc.made-of"), &of_aws_lc, || {
        eprintln!("compiling AWS-LC for {march}");
        aws_lc::build(&compiler, &sources.aws_lc, &folder, part)
    })?;
    // Linux has kernels of hashes for no other extension.
    if part == LibraryPart::Hashes && hart.starts_with("zvknh") {
        linux_once(&compiler, &folder, part)?;
    }
    Ok(folder)
}

/// Compiles OpenSSL alone unless this was done before, and returns the folder of [`build`].
///
/// # Errors
/// Fails for the same reasons as [`build`].
pub fn openssl_only(hart: &str, part: LibraryPart) -> Result<PathBuf> {
    let (sources, tools) = (Sources::find()?, tools::peers()?);
    let (_, march, _) = flags(hart)?;
    let folder = folder_of(march, part)?;
    openssl_once(&Compiler { tools: &tools, march }, &sources, &folder, part)?;
    Ok(folder)
}

/// Returns the version of OpenSSL.
///
/// # Errors
/// Fails if its crate cannot be fetched.
pub fn openssl_version() -> Result<String> {
    Ok(Sources::find()?.openssl_version)
}

/// Compiles OpenSSL's AES with all of its assembly for a hart without floating point unless this was done before, and
/// Linux' kernels if they are installed, and returns the folder.
///
/// # Errors
/// Fails for the same reasons as [`build`].
pub fn ciphers() -> Result<PathBuf> {
    let (sources, tools) = (Sources::find()?, tools::peers()?);
    let folder = folder_of(CIPHERS_MARCH, LibraryPart::Ciphers)?;
    let compiler = Compiler { tools: &tools, march: CIPHERS_MARCH };
    openssl_once(&compiler, &sources, &folder, LibraryPart::Ciphers)?;
    linux_once(&compiler, &folder, LibraryPart::Ciphers)?;
    Ok(folder)
}

/// Assembles Linux' kernels if they are installed and this was not done before.
fn linux_once(compiler: &Compiler<'_>, folder: &Path, part: LibraryPart) -> Result<()> {
    let Some(linux) = tools::linux()? else { return linux::remove(folder) };
    let made_of = format!(
        "{} {}\n{}",
        compiler.tools.compiler_version,
        compiler.flags().join(" "),
        linux::made_of(&linux, part)?
    );
    once(&folder.join("linux.made-of"), &made_of, || {
        eprintln!("assembling Linux' kernels for {}", compiler.march);
        linux::build(compiler, &linux, folder, part)
    })
}

/// Returns what a library may use on a hart.
fn flags(hart: &str) -> Result<&'static HartFlags> {
    HARTS.iter().find(|(name, ..)| *name == hart).context("no flags for this hart")
}

/// Makes the folder of libraries that are compiled with this `-march` value.
fn folder_of(march: &str, part: LibraryPart) -> Result<PathBuf> {
    let name = format!("{march}-{}", part.name());
    let folder = std::path::absolute(project::target_dir().join("lab/libraries").join(name))?;
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

fn openssl_once(
    compiler: &Compiler<'_>,
    sources: &Sources,
    folder: &Path,
    part: LibraryPart,
) -> Result<()> {
    let made_of = format!(
        "{} {}\n{} {OPENSSL_OPTIONS} {:?}",
        compiler.tools.compiler_version,
        compiler.flags().join(" "),
        sources.openssl_version,
        part.of_openssl()
    );
    once(&folder.join("openssl.made-of"), &made_of, || {
        eprintln!("compiling OpenSSL for {}", compiler.march);
        openssl(compiler, &sources.openssl, folder, part)
    })
}

/// Runs `make` unless the file `stamp` contains the text `made_of`, which describes all inputs. Writes that text after
/// a successful run.
fn once(stamp: &Path, made_of: &str, make: impl FnOnce() -> Result<()>) -> Result<()> {
    if fs::read_to_string(stamp).is_ok_and(|text| text == made_of) {
        return Ok(());
    }
    if stamp.exists() {
        fs::remove_file(stamp).with_context(|| stamp.display().to_string())?;
    }
    make()?;
    fs::write(stamp, made_of).with_context(|| stamp.display().to_string())
}

/// Returns the folder of wolfCrypt's configuration.
fn settings() -> PathBuf {
    project::root().join("lab/peers/wolfssl")
}

impl Sources {
    fn find() -> Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(project::root().join("lab/peers"));
        cargo.args(["metadata", "--quiet", "--locked", "--format-version", "1"]);
        let metadata: serde_json::Value = serde_json::from_str(&run::quietly(&mut cargo)?)?;
        let (openssl, version) = of_crate(&metadata, "openssl-src")?;
        let openssl_version =
            version.split_once('+').context("no version of OpenSSL")?.1.to_owned();
        let wolfssl = of_crate(&metadata, "wolfssl-sys")?.0.join("wolfssl-src");
        let header = fs::read_to_string(wolfssl.join("wolfssl/version.h"))?;
        let wolfssl_version = defined(&header, "LIBWOLFSSL_VERSION_STRING")?;
        let aws_lc = of_crate(&metadata, "aws-lc-sys")?.0;
        let header = fs::read_to_string(aws_lc.join("aws-lc/include/openssl/base.h"))?;
        let aws_lc_version = defined(&header, "AWSLC_VERSION_NUMBER_STRING")?;
        Ok(Self {
            openssl: openssl.join("openssl"),
            openssl_version,
            wolfssl,
            wolfssl_version,
            aws_lc,
            aws_lc_version,
        })
    }
}

/// Returns folder and version of a crate.
fn of_crate(metadata: &serde_json::Value, name: &str) -> Result<(PathBuf, String)> {
    let packages = metadata["packages"].as_array().context("no packages")?;
    let package = packages.iter().find(|package| package["name"] == name).context("no crate")?;
    let manifest = package["manifest_path"].as_str().context("no manifest")?;
    let version = package["version"].as_str().context("no version")?;
    let folder = Path::new(manifest).parent().context("no folder")?;
    Ok((folder.to_owned(), version.to_owned()))
}

/// Returns the text of a C macro.
fn defined(header: &str, name: &str) -> Result<String> {
    let line = header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
    Ok(line.with_context(|| format!("no {name}"))?.trim().trim_matches('"').to_owned())
}

struct Compiler<'a> {
    tools: &'a Peers,
    march: &'a str,
}

impl Compiler<'_> {
    fn flags(&self) -> Vec<String> {
        let mut flags = vec![format!("-O{OPT_LEVEL}"), format!("-march={}", self.march)];
        if self.march == CIPHERS_MARCH {
            flags.push("-mabi=lp64".to_owned());
            flags.extend(WITH_HEADERS.map(str::to_owned));
        } else {
            flags.push("-mabi=lp64d".to_owned());
        }
        flags.extend(FLAGS.map(str::to_owned));
        for headers in &self.tools.headers {
            flags.push(format!("-isystem{}", headers.display()));
        }
        flags
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.tools.compiler);
        command.args(self.flags());
        command
    }

    fn archive(&self, archive: &Path, objects: &[PathBuf]) -> Result<()> {
        // An existing archive would keep its old members.
        if archive.exists() {
            fs::remove_file(archive)?;
        }
        let mut archiver = Command::new(&self.tools.archiver);
        run::quietly(archiver.arg("rcD").arg(archive).args(objects))?;
        Ok(())
    }
}

/// Configures and builds OpenSSL with its own build system. Of a part, only its objects are compiled.
fn openssl(
    compiler: &Compiler<'_>,
    sources: &Path,
    folder: &Path,
    part: LibraryPart,
) -> Result<()> {
    let work = folder.join("openssl");
    if work.exists() {
        fs::remove_dir_all(&work).with_context(|| work.display().to_string())?;
    }
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let mut configure = Command::new("perl");
    configure.current_dir(&work).arg(sources.join("Configure")).arg("linux64-riscv64");
    configure.args(OPENSSL_OPTIONS.split_whitespace());
    configure.args(compiler.flags()).env("CC", &compiler.tools.compiler);
    configure.env("AR", &compiler.tools.archiver).env("RANLIB", "true");
    run::quietly(&mut configure)?;
    let make = |targets: &[String]| {
        let mut make = Command::new("make");
        make.current_dir(&work)
            .arg(format!("-j{}", available_parallelism().map_or(1, usize::from)));
        run::quietly(make.args(targets)).map(drop)
    };
    make(&["build_generated".to_owned()])?;
    let library = folder.join("libcrypto.a");
    if let Some(objects) = part.of_openssl() {
        let objects: Vec<String> = objects
            .iter()
            .map(|(folder, name)| format!("crypto/{folder}/libcrypto-lib-{name}.o"))
            .collect();
        make(&objects)?;
        let objects: Vec<PathBuf> = objects.iter().map(|object| work.join(object)).collect();
        compiler.archive(&library, &objects)?;
    } else {
        make(&["libcrypto.a".to_owned()])?;
        fs::rename(work.join("libcrypto.a"), library)?;
    }
    // The object files take half a gigabyte.
    fs::remove_dir_all(&work).with_context(|| work.display().to_string())
}

/// Compiles wolfCrypt with the configuration of `lab/peers/wolfssl`.
fn wolfssl(
    compiler: &Compiler<'_>,
    sources: &Path,
    folder: &Path,
    defines: &[&str],
    part: LibraryPart,
) -> Result<()> {
    let settings = settings();
    let code = sources.join("wolfcrypt/src");
    let of_code = |name: &&str| code.join(name).with_extension("c");
    let mut files: Vec<PathBuf> = WOLFSSL_HASHES.iter().map(of_code).collect();
    files.extend(
        WOLFSSL_ASSEMBLY
            .iter()
            .map(|name| code.join(format!("port/riscv64/riscv-64-{name}-asm.S"))),
    );
    if part == LibraryPart::Everything {
        files.extend(WOLFSSL_SIGNATURES.iter().map(of_code));
        files.push(settings.join("sizes.c"));
    }
    let work = folder.join("wolfssl");
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let mut objects = Vec::new();
    for file in files {
        let name = file.file_name().context("a source has a name")?;
        let object = work.join(name).with_added_extension("o");
        let mut command = compiler.command();
        command.arg("-DWOLFSSL_USER_SETTINGS");
        command.args(defines.iter().map(|name| format!("-DWOLFSSL_RISCV_{name}")));
        command.arg("-I").arg(&settings).arg("-I").arg(sources);
        run::quietly(command.arg("-c").arg(&file).arg("-o").arg(&object))?;
        objects.push(object);
    }
    ensure!(!objects.is_empty(), "nothing was compiled");
    compiler.archive(&folder.join("libwolfssl.a"), &objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_macro_is_read() {
        let header = "#ifndef A\n#define A_B 1\n#define A_VERSION_STRING \"5.9.4\"\n";
        assert_eq!(defined(header, "A_VERSION_STRING").unwrap(), "5.9.4");
        assert!(defined(header, "C").is_err());
    }

    #[test]
    fn a_crate_is_found_by_its_name() {
        let metadata = serde_json::json!({"packages": [
            {"name": "a", "version": "1.0.0", "manifest_path": "/x/a/Cargo.toml"},
            {"name": "b", "version": "2.0.0+3.0", "manifest_path": "/x/b/Cargo.toml"},
        ]});
        let (folder, version) = of_crate(&metadata, "b").unwrap();
        assert_eq!((folder.as_path(), version.as_str()), (Path::new("/x/b"), "2.0.0+3.0"));
        assert!(of_crate(&metadata, "c").is_err());
    }

    #[test]
    fn what_was_made_of_the_same_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("stamp");
        let mut made = 0;
        for made_of in ["one", "one", "another"] {
            once(&stamp, made_of, || {
                made += 1;
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(made, 2);
        assert!(once(&stamp, "a third", || anyhow::bail!("it fails")).is_err());
        assert!(!stamp.exists(), "a failure leaves no stamp");
    }

    #[test]
    fn every_hart_with_peers_has_flags_of_its_own() {
        let mut marches: Vec<&str> = HARTS.iter().map(|(_, march, _)| *march).collect();
        marches.dedup();
        assert_eq!(marches.len(), HARTS.len());
        assert!(build("no such hart", LibraryPart::Hashes).is_err());
    }
}
