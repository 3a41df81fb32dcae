//! Why a device could not be made or started. None of these is a refusal by the device.

use std::io;
use std::path::{Path, PathBuf};

/// What prevented an answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation on a file failed.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    File {
        /// The operation, in the infinitive.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Something does not fit into its part of the flash.
    #[error("{what} has {size} bytes, its place in the flash has {room}")]
    TooLarge {
        /// What does not fit.
        what: &'static str,
        /// Its bytes.
        size: u64,
        /// Bytes of its place.
        room: u64,
    },
    /// The image of flash bank 1 is not one.
    #[error("`{}` has {size} bytes, a flash bank has 33554432", .path.display())]
    NotFlash {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        size: u64,
    },
    /// Another boot uses the same device.
    #[error("the device in `{}` is in use", .path.display())]
    DeviceInUse {
        /// Its folder.
        path: PathBuf,
    },
    /// The sequence number of the state store cannot grow any more.
    #[error("the state store has been written as often as its counter allows")]
    StateWornOut,
    /// Records of the state store are authenticated with a key of the device.
    #[error("the device has no root of trust that a ROM takes, so no state can be written")]
    NoRootOfTrust,
    /// The secret of a device has to be random.
    #[error("the system gives no random bytes: {0}")]
    NoRandomness(String),
    /// There is no QEMU.
    #[error("no qemu-system-riscv64 found")]
    EmulatorMissing,
    /// QEMU does not start, or does not say its version.
    #[error("`{}` is no usable QEMU: {why}", .path.display())]
    EmulatorUnusable {
        /// The program.
        path: PathBuf,
        /// What it did instead.
        why: String,
    },
    /// QEMU is too old.
    #[error("`{}` is QEMU {major}.{minor}, version 10 or newer is needed", .path.display())]
    EmulatorTooOld {
        /// The program.
        path: PathBuf,
        /// First number of its version.
        major: u32,
        /// Second number of its version.
        minor: u32,
    },
    /// The configuration of the machine is one that QEMU does not support.
    #[error("{0}")]
    Configuration(String),
    /// There is no bench.
    #[error("there is no bench image at `{}`", .path.display())]
    BenchMissing {
        /// The path that was searched.
        path: PathBuf,
    },
    /// A program for a bare hart did not finish.
    #[error("the emulated board failed ({status}) {why}")]
    BoardFailed {
        /// How QEMU ended.
        status: String,
        /// The end of its error messages.
        why: String,
    },
    /// The machine stopped answering.
    #[error("the emulator does not answer: {0}")]
    NoAnswer(String),
}

impl Error {
    /// Wraps an error of the operating system.
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Error::File { action: "replace", .. } => "name another state folder",
            Error::File { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path",
                io::ErrorKind::PermissionDenied => "check who owns the file and its folder",
                io::ErrorKind::StorageFull => "free some space and try again",
                _ => "name a regular file on storage that works",
            },
            Error::TooLarge { .. } => "see the memory map of the board, boot-flow §2",
            Error::NotFlash { .. } => "name another state folder, or move this file away",
            Error::DeviceInUse { .. } => "wait for the other boot, or name another state folder",
            Error::StateWornOut => "start again with an empty state folder",
            Error::NoRootOfTrust => "program a ROM and a root of trust first",
            Error::NoRandomness(_) => "run it where /dev/urandom works",
            Error::EmulatorMissing => {
                "install QEMU 10 (Debian: qemu-system-riscv), or name one with `--qemu` or in HARTLOCK_QEMU"
            }
            Error::EmulatorUnusable { .. } | Error::EmulatorTooOld { .. } => {
                "name a working QEMU 10 with `--qemu` or in HARTLOCK_QEMU"
            }
            Error::BenchMissing { .. } => {
                "build it with `cargo xtask firmware`, or name one with `--bench` or in HARTLOCK_BENCH"
            }
            Error::BoardFailed { .. } => "try another CPU or another QEMU",
            Error::Configuration(_) => "change the options of the machine",
            Error::NoAnswer(_) => "try again; if it repeats, run QEMU by hand",
        }
    }
}
