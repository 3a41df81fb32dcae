//! Finds what `make install` put beside this command: firmware of the boards, OpenSBI, and a link to QEMU.

use std::env;
use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_bundle::spec::{BundleSpec, PayloadSpec};
use hartlock_emulator::Error;
use hartlock_emulator::qemu::{PROGRAM_VARIABLE, Qemu};
use hartlock_image::PayloadType;
use hartlock_terminal as terminal;

use crate::failure::Failure;
use crate::output::talk;

/// Returns the prefix of the installation: the folder above that of this command.
fn prefix() -> Option<PathBuf> {
    let command = env::current_exe().ok()?.canonicalize().ok()?;
    Some(command.parent()?.parent()?.to_path_buf())
}

/// Returns a file of the firmware of a board, if it is installed.
fn firmware(board: &str, name: &str) -> Option<PathBuf> {
    let file = prefix()?.join("share/hartlock/firmware").join(board).join(name);
    // The name of a board is text of the user, and must not lead out of the folder.
    (Path::new(board).components().count() == 1 && file.is_file()).then_some(file)
}

/// Returns the ROM of a board.
///
/// # Errors
/// Fails if none is installed.
pub fn rom(board: Option<&str>) -> Result<PathBuf, Failure> {
    let rom = board.and_then(|board| firmware(board, "rom.bin"));
    rom.ok_or_else(|| {
        let board = board.map_or("a board of your own".to_owned(), |name| format!("board {name}"));
        Failure::undecided(
            format!("no ROM is given, and none for {board} is installed with this command"),
            "give one with `--rom`; in a checkout, `make install` installs those of the emulated boards, and \
             `cargo xtask firmware` builds one",
        )
    })
}

/// Adds the installed firmware for payloads that the bundle requires and `spec` lacks.
pub fn complete(spec: &mut BundleSpec, boards: &Boards) {
    let Some(bundle_type) = spec.bundle_type else { return };
    let default = boards.default_board().map(|board| board.name().to_owned());
    let Some(board) = spec.board.clone().or(default) else { return };
    let is_given = |kind| spec.payloads.iter().any(|payload| payload.payload_type == kind);
    let missing = bundle_type.payload_types().iter().filter(|kind| !is_given(**kind));
    let found: Vec<_> = missing
        .filter_map(|kind| {
            let file = match kind {
                PayloadType::Opensbi => firmware("opensbi", "fw_dynamic.bin"),
                PayloadType::Loader => firmware(&board, "loader.bin"),
                PayloadType::BootFdt => firmware(&board, "boot.dtb"),
                PayloadType::SystemFdt => firmware(&board, "system.dtb"),
                PayloadType::Kernel | PayloadType::Initramfs => None,
            };
            Some(PayloadSpec::new(*kind, file?))
        })
        .collect();
    for payload in found {
        let name = payload.payload_type.name();
        talk(&format!("using the {name} {}", terminal::path(&payload.file)));
        spec.payloads.push(payload);
    }
}

/// Finds QEMU as [`Qemu::find`] does. If none is named and that on `PATH` cannot be used, it is the one that was linked
/// when this command was installed.
///
/// # Errors
/// Fails if there is none, or if it cannot be used.
pub fn qemu(named: Option<&Path>) -> Result<Qemu, Error> {
    let is_named =
        named.is_some() || env::var_os(PROGRAM_VARIABLE).is_some_and(|it| !it.is_empty());
    let linked = prefix().map(|it| it.join("libexec/hartlock/qemu-system-riscv64"));
    match (Qemu::find(named), linked.filter(|link| !is_named && link.exists())) {
        (Err(_), Some(link)) => Qemu::find(Some(&link)),
        (found, _) => found,
    }
}
