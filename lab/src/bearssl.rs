//! Compiles BearSSL for a bare hart. Programs that count it (`lab/baseline`, `lab/ciphers`) link the library, and take
//! the functions of it which they call.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use xtask::{project, run, tools};

/// Source files of BearSSL that contain the functions which are counted.
const SOURCES: [&str; 31] = [
    "aead/gcm.c",
    "codec/ccopy.c",
    "codec/dec32be.c",
    "codec/dec32le.c",
    "codec/enc32be.c",
    "codec/enc32le.c",
    "hash/ghash_ctmul.c",
    "hash/ghash_ctmul64.c",
    "hash/sha2small.c",
    "mac/hmac.c",
    "symcipher/aes_big_cbcenc.c",
    "symcipher/aes_big_ctr.c",
    "symcipher/aes_big_enc.c",
    "symcipher/aes_common.c",
    "symcipher/aes_ct.c",
    "symcipher/aes_ct64.c",
    "symcipher/aes_ct64_cbcenc.c",
    "symcipher/aes_ct64_ctr.c",
    "symcipher/aes_ct64_enc.c",
    "symcipher/aes_ct_cbcenc.c",
    "symcipher/aes_ct_enc.c",
    "symcipher/aes_small_cbcenc.c",
    "symcipher/aes_small_enc.c",
    "rsa/rsa_i15_priv.c",
    "rsa/rsa_i15_pub.c",
    "rsa/rsa_i31_priv.c",
    "rsa/rsa_i31_pub.c",
    "rsa/rsa_i32_priv.c",
    "rsa/rsa_i32_pub.c",
    "rsa/rsa_i62_priv.c",
    "rsa/rsa_i62_pub.c",
];
/// Folder of BearSSL's big-number code, of which all files are compiled.
const BIG_NUMBERS: &str = "int";
/// Compiler flags for a hart of the base instruction set, and for a program without a C library.
const TARGET_FLAGS: [&str; 4] =
    ["-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-ffreestanding"];

/// Compiles `libbearssl.a` into a folder with this optimisation level.
///
/// # Errors
/// Fails if a source file does not compile.
pub fn library(folder: &Path, optimisation: &str) -> Result<()> {
    let baseline = tools::baseline()?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut objects = Vec::new();
    for source in sources(&baseline.sources.join("src"))? {
        let name = source.file_name().context("a source has a name")?;
        let object = folder.join(name).with_extension("o");
        let mut compiler = Command::new(&baseline.compiler);
        compiler.arg(optimisation).args(TARGET_FLAGS);
        compiler.arg("-I").arg(project::root().join("lab/baseline/include"));
        for include in ["inc", "src"] {
            compiler.arg("-I").arg(baseline.sources.join(include));
        }
        compiler.arg("-c").arg(&source).arg("-o").arg(&object);
        run::quietly(&mut compiler)?;
        objects.push(object);
    }
    let archive = folder.join("libbearssl.a");
    // An existing archive would keep its old members.
    if archive.exists() {
        fs::remove_file(&archive)?;
    }
    run::quietly(Command::new(&baseline.archiver).arg("rcD").arg(&archive).args(objects))?;
    Ok(())
}

/// Returns the files to be compiled, always in the same order.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let numbers = folder.join(BIG_NUMBERS);
    let entries = fs::read_dir(&numbers).with_context(|| numbers.display().to_string())?;
    let mut sources = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    sources.extend(SOURCES.map(|source| folder.join(source)));
    sources.sort();
    Ok(sources)
}
