//! The errors for which a device cannot be made or started. They do not include refusals by the
//! device.

use std::io;
use std::path::{Path, PathBuf};

/// The error because of which there is no result.
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
    /// A file does not fit into its region of the flash.
    #[error("{what} has {size} bytes, but its place in the flash has only {room}")]
    TooLarge {
        /// A name for the file.
        what: &'static str,
        /// The length of the file in bytes.
        size: u64,
        /// The length of the region in bytes.
        room: u64,
    },
    /// The image of flash bank 1 has the wrong size.
    #[error("`{}` has {size} bytes, but a flash bank has 33554432", .path.display())]
    NotFlash {
        /// The path of the image.
        path: PathBuf,
        /// The length of the image in bytes.
        size: u64,
    },
    /// Another process uses the device.
    #[error("the device in `{}` is in use", .path.display())]
    DeviceInUse {
        /// The folder of the device.
        path: PathBuf,
    },
    /// The sequence number of the state store has reached its maximum.
    #[error("the state store has been written as often as its counter allows")]
    StateWornOut,
    /// The class keys do not fit into the store, or one is given twice.
    #[error("these class keys cannot be provisioned")]
    ClassKeys,
    /// The device has no valid root of trust, which holds the key that authenticates records of the
    /// state store.
    #[error("the device has no root of trust that a ROM accepts, so no state can be written")]
    NoRootOfTrust,
    /// The operating system provides no random bytes for the secret of a device.
    #[error("the system gives no random bytes: {0}")]
    NoRandomness(String),
    /// QEMU was not found.
    #[error("no qemu-system-riscv64 found")]
    EmulatorMissing,
    /// QEMU does not start, or does not print its version.
    #[error("`{}` is not a usable QEMU: {why}", .path.display())]
    EmulatorUnusable {
        /// The program.
        path: PathBuf,
        /// A description of the failure.
        why: String,
    },
    /// QEMU is too old.
    #[error("`{}` is QEMU {major}.{minor}, but version 10 or newer is needed", .path.display())]
    EmulatorTooOld {
        /// The program.
        path: PathBuf,
        /// The major version.
        major: u32,
        /// The minor version.
        minor: u32,
    },
    /// QEMU does not support this configuration of the machine.
    #[error("{0}")]
    Configuration(String),
    /// The image of the bench was not found.
    #[error("there is no bench image at `{}`", .path.display())]
    BenchMissing {
        /// The path that was searched.
        path: PathBuf,
    },
    /// A program on a single hart did not finish.
    #[error("the emulated board failed ({status}) {why}")]
    BoardFailed {
        /// The exit status of QEMU.
        status: String,
        /// The end of QEMU's error output.
        why: String,
    },
    /// QEMU does not answer its control commands.
    #[error("the emulator does not answer: {0}")]
    NoAnswer(String),
}

impl Error {
    /// Wraps an error of the operating system.
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }

    /// Returns the advice of what to do about the error.
    pub fn hint(&self) -> &'static str {
        match self {
            Error::File { action: "replace", .. } => "name another state folder",
            Error::File { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path",
                io::ErrorKind::PermissionDenied => "check who owns the file and its folder",
                io::ErrorKind::StorageFull => "free some space and try again",
                _ => "name a regular file on working storage",
            },
            Error::TooLarge { .. } => {
                "make it smaller; the memory map of the board is in boot-flow §2"
            }
            Error::NotFlash { .. } => "name another state folder, or move this file away",
            Error::DeviceInUse { .. } => "wait for the other boot, or name another state folder",
            Error::ClassKeys => "give each class key once, and at most four of them",
            Error::StateWornOut => "start again with an empty state folder",
            Error::NoRootOfTrust => "program a ROM and a root of trust first",
            Error::NoRandomness(_) => "run this on a system where /dev/urandom works",
            Error::EmulatorMissing => {
                "install QEMU 10 (Debian: qemu-system-riscv), or name one with `--qemu` or in HARTLOCK_QEMU"
            }
            Error::EmulatorUnusable { .. } | Error::EmulatorTooOld { .. } => {
                "name a working QEMU 10 with `--qemu` or in HARTLOCK_QEMU"
            }
            Error::BenchMissing { .. } => {
                "build one with `cargo xtask firmware`, or name one with `--bench` or in HARTLOCK_BENCH"
            }
            Error::BoardFailed { .. } => "try another CPU or another QEMU",
            Error::Configuration(_) => "change the options of the machine",
            Error::NoAnswer(_) => "try again; if it repeats, run QEMU by hand",
        }
    }
}
