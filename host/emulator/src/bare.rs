//! Runs a single program on one hart of QEMU `virt`: the bench (`verif/programs/bench`), with a pack of work.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use crate::Error;
use crate::qemu::{Qemu, escape};

/// The address at which the bench reads its pack.
pub const PACK_ADDRESS: u64 = hartlock_maps::qemu_virt::RAM.start + (256 << 20);
/// The environment variable with the path of the bench, for callers that do not give one.
pub const BENCH_VARIABLE: &str = "HARTLOCK_BENCH";
/// Maximum number of lines that are queued. Beyond it the hart has to wait, so that memory is bounded.
const WAITING_LINES: usize = 1024;
/// Maximum length of a line in bytes. No board prints a longer one in regular operation.
const MAX_LINE_LEN: u64 = 1 << 20;

/// A named configuration of an emulated hart.
#[derive(Clone, Copy, Debug)]
pub struct Hart {
    /// The name.
    pub name: &'static str,
    /// The extensions beyond RV64IMAC, as CPU properties of QEMU.
    extensions: &'static str,
    /// The width of a vector register in bits; 0 if the hart has no vector unit.
    pub vlen: u32,
}

const fn hart(name: &'static str, extensions: &'static str, vlen: u32) -> Hart {
    Hart { name, extensions, vlen }
}

/// Configurations that differ in the extensions that hash implementations need.
pub const HARTS: [Hart; 12] = [
    hart("rv64", "", 0),
    hart("zbb", "zbb=true", 0),
    hart("zknh", "zbb=true,zknh=true", 0),
    hart("zvbb-128", "zvbb=true", 128),
    hart("zvbb-256", "zvbb=true", 256),
    hart("zvbb-512", "zvbb=true", 512),
    hart("zvknh-128", "zvkb=true,zvknhb=true", 128),
    hart("zvknh-256", "zvkb=true,zvknhb=true", 256),
    hart("every-512", "zbb=true,zknh=true,zvbb=true,zvknhb=true", 512),
    hart("v-128", "zbb=true", 128),
    hart("v-256", "zbb=true", 256),
    hart("v-512", "", 512),
];

/// Configurations that differ in the extensions that implementations of AES and GHASH need.
pub const CIPHER_HARTS: [Hart; 10] = [
    hart("zkne", "zbkb=true,zkne=true", 0),
    hart("zkne-zbkc", "zbkb=true,zkne=true,zbkc=true", 0),
    hart("zvkned-128", "zvkb=true,zvkned=true", 128),
    hart("zvbc-128", "zvkb=true,zvkned=true,zvbc=true", 128),
    hart("zvbc-256", "zvkb=true,zvkned=true,zvbc=true", 256),
    hart("zvbc-512", "zvkb=true,zvkned=true,zvbc=true", 512),
    hart("zvkg-128", "zvkb=true,zvkned=true,zvkg=true", 128),
    hart("zvkg-256", "zvkb=true,zvkned=true,zvkg=true", 256),
    hart("zvkg-512", "zvkb=true,zvkned=true,zvkg=true", 512),
    hart(
        "ciphers-1024",
        "zbkb=true,zkne=true,zbkc=true,zvkb=true,zvkned=true,zvbc=true,zvkg=true",
        1024,
    ),
];

/// Configurations with extensions that only kernels of WalnutDSA need.
pub const RESEARCH_HARTS: [Hart; 1] = [hart("zbc", "zbc=true", 0)];

/// Configurations with extensions for hashes and for WalnutDSA: scalar ones, and vector ones of two lengths.
pub const FIRST_STAGE_HARTS: [Hart; 3] = [
    hart("scalar-crypto", "zbb=true,zknh=true,zbc=true", 0),
    hart("vectors-128", "zbb=true,zvbb=true,zvknhb=true,zvbc=true", 128),
    hart("vectors-256", "zbb=true,zvbb=true,zvknhb=true,zvbc=true", 256),
];

impl Hart {
    /// Returns the configuration with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        let more = CIPHER_HARTS.iter().chain(&RESEARCH_HARTS).chain(&FIRST_STAGE_HARTS);
        HARTS.iter().chain(more).find(|hart| hart.name == name)
    }

    /// Returns the CPU option for QEMU. Agnostic tail elements and masked-off elements of vector registers
    /// are set to ones.
    pub fn cpu(&self) -> String {
        let mut cpu = "rv64,zba=false,zbb=false,zbc=false,zbs=false".to_owned();
        if self.vlen > 0 {
            cpu += &format!(",v=true,vlen={},elen=64", self.vlen);
            cpu += ",rvv_ta_all_1s=on,rvv_ma_all_1s=on";
        }
        if !self.extensions.is_empty() {
            cpu = format!("{cpu},{}", self.extensions);
        }
        cpu
    }
}

/// Finds the bench: the file that the caller names, else the one in `HARTLOCK_BENCH`, else the one that the
/// project builds, relative to the folder of the command.
///
/// # Errors
/// If the file does not exist.
pub fn find_bench(named: Option<&Path>) -> Result<PathBuf, Error> {
    let variable = std::env::var_os(BENCH_VARIABLE).filter(|value| !value.is_empty());
    if let Some(path) = named.map(Path::to_path_buf).or(variable.map(PathBuf::from)) {
        return if path.is_file() { Ok(path) } else { Err(Error::BenchMissing { path }) };
    }
    // The files are `target/release/hartlock` and `target/firmware/jobs.bin`.
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.parent().and_then(Path::parent).unwrap_or(Path::new("target"));
    let path = target.join("firmware/jobs.bin");
    if path.is_file() { Ok(path) } else { Err(Error::BenchMissing { path }) }
}

/// A program to run.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The image that QEMU starts with `-bios`.
    pub image: &'a Path,
    /// The file that is loaded at [`PACK_ADDRESS`].
    pub pack: &'a Path,
    /// The CPU option for QEMU.
    pub cpu: &'a str,
    /// The timeout: maximum time without output from the board.
    pub patience: Duration,
}

/// Runs the program until the machine ends; `on_line` receives each line of its console.
///
/// # Errors
/// If QEMU does not start, fails, or prints nothing for longer than `patience`.
pub fn run(qemu: &Qemu, program: &Program<'_>, on_line: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let mut command = qemu.command();
    command.args(["-machine", "virt", "-smp", "1", "-m", "512M", "-nographic"]);
    command.args(["-cpu", program.cpu, "-monitor", "none", "-serial", "stdio"]);
    let mut loader = std::ffi::OsString::from("loader,file=");
    loader.push(escape(program.pack.as_os_str()));
    loader.push(format!(",addr={PACK_ADDRESS:#x},force-raw=on"));
    command.arg("-device").arg(loader).arg("-bios").arg(program.image);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |source| Error::file("start", qemu.program(), source);
    let mut child = KillOnDrop(command.spawn().map_err(failed)?);
    let error_output = child.0.stderr.take().map(|stderr| thread::spawn(move || end_of(stderr)));
    let (sender, lines) = sync_channel(WAITING_LINES);
    if let Some(stdout) = child.0.stdout.take() {
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                match stdout.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line) {
                    Ok(1..) if sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
    }
    loop {
        match lines.recv_timeout(program.patience) {
            Ok(line) => on_line(String::from_utf8_lossy(&line).trim_end()),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(Error::NoAnswer(format!(
                    "the board printed nothing for {} s",
                    program.patience.as_secs()
                )));
            }
        }
    }
    let status = child.0.wait().map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    let why = error_output.and_then(|thread| thread.join().ok()).unwrap_or_default();
    Err(Error::BoardFailed { status: status.to_string(), why: why.trim().to_owned() })
}

/// Returns the last 1000 bytes of an error stream.
fn end_of(mut stream: impl Read) -> String {
    let mut text = Vec::new();
    // If the stream cannot be read, the result has only the bytes before the error.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text[text.len().saturating_sub(1000)..]).into_owned()
}

/// A child process that is killed when its handle is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // The process may have ended already; then there is nothing to kill, and the wait returns at once.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hart_has_what_its_name_says_and_nothing_else() {
        assert_eq!(
            Hart::find("rv64").unwrap().cpu(),
            "rv64,zba=false,zbb=false,zbc=false,zbs=false"
        );
        let cpu = Hart::find("zvknh-256").unwrap().cpu();
        assert!(
            cpu.contains("v=true,vlen=256") && cpu.ends_with(",zvkb=true,zvknhb=true"),
            "{cpu}"
        );
        assert!(Hart::find("zvknh").is_none());
    }

    #[test]
    fn a_bench_that_is_named_and_missing_is_an_error_that_says_how_to_get_one() {
        let error = find_bench(Some(Path::new("/does/not/exist"))).unwrap_err();
        assert!(error.to_string().contains("/does/not/exist"), "{error}");
        assert!(error.hint().contains("cargo xtask firmware"), "{}", error.hint());
    }
}
