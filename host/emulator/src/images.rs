//! Flash and disk images of one emulated device (boot flow §2, §3.1, §3.2).
//!
//! A device is a folder: flash bank 0 with the ROM and its root of trust, flash bank 1 with the
//! boot bundle and the state store, a disk with the system bundle. Bank 1 is what a real device
//! would remember, so it is never made anew once it exists.

mod flash;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use hartlock_handoff::{DeviceSecret, RootOfTrust, SECRET_SIZE, StateRecord};
use hartlock_image::{Lifecycle, Name, Reason, TrustList};
use hartlock_verify::board::Board;
use tempfile::TempDir;

use crate::{Error, files};

pub use flash::{BANK_SIZE, BOOT_SLOT_SIZE, ROM_SIZE, ROOT_OF_TRUST_AT, STATE_AT};

/// A virtio disk consists of whole sectors.
const SECTOR_SIZE: u64 = 512;
/// Flash bank 0, flash bank 1, and the disk.
const IMAGES: [&str; 3] = ["pflash0.img", "pflash1.img", "disk.img"];
/// Every folder of a device has it.
const LOCK: &str = "lock";

/// What provisioning sets (boot flow §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provisioning {
    /// Lowest security version of a boot bundle.
    pub boot_floor: u64,
    /// Lowest security version of a system bundle.
    pub system_floor: u64,
    /// State of the device.
    pub lifecycle: Lifecycle,
    /// Bit i revokes key i of the root-of-trust block.
    pub revoked_keys: u32,
}

impl Default for Provisioning {
    /// A new device in development.
    fn default() -> Self {
        Self { boot_floor: 0, system_floor: 0, lifecycle: Lifecycle::Development, revoked_keys: 0 }
    }
}

impl From<StateRecord> for Provisioning {
    fn from(state: StateRecord) -> Self {
        Self {
            boot_floor: state.boot_floor,
            system_floor: state.system_floor,
            lifecycle: state.lifecycle,
            revoked_keys: state.revoked_keys,
        }
    }
}

/// The root of trust of a device of a board; `None` if the list has no key, or one twice.
pub fn root_of_trust(trust: TrustList, board: &Board, secret: DeviceSecret) -> Option<RootOfTrust> {
    let [board, soc] = [Name::new(board.name)?, Name::new(board.soc)?];
    let root = RootOfTrust { trust, board, soc, secret };
    RootOfTrust::parse(&root.encode()).ok()
}

/// The folder of a device. While it is open, no other process opens it.
#[derive(Debug)]
pub struct Device {
    folder: PathBuf,
    /// Removed together with a temporary device.
    _temporary: Option<TempDir>,
    /// Locked, and unlocked by the operating system whatever becomes of this process.
    _lock: File,
}

impl Device {
    /// Opens the folder of a device and creates it if there is none.
    ///
    /// # Errors
    /// If the folder cannot be written, or another process has the device open.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let create = |source| Error::file("create", folder, source);
        fs::create_dir_all(folder).map_err(create)?;
        // QEMU may run in another directory, and its options take absolute paths best.
        let folder = folder.canonicalize().map_err(create)?;
        let path = folder.join(LOCK);
        // What a file of this name holds already is not ours to remove.
        let mut options = File::options();
        let lock = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| Error::file("create", &path, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, _temporary: None, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::DeviceInUse { path: folder }),
            Err(TryLockError::Error(source)) => Err(Error::file("lock", &path, source)),
        }
    }

    /// A device whose files are removed when it is dropped.
    ///
    /// # Errors
    /// If the folder for temporary files cannot be written.
    pub fn temporary() -> Result<Self, Error> {
        let parent = std::env::temp_dir();
        let folder = tempfile::Builder::new()
            .prefix("hartlock-")
            .tempdir_in(&parent)
            .map_err(|source| Error::file("create a folder in", &parent, source))?;
        let mut device = Self::open(folder.path())?;
        device._temporary = Some(folder);
        Ok(device)
    }

    /// The images of the device in a folder, and whether there is a device: they are its own files then.
    pub fn images_in(folder: &Path) -> ([PathBuf; 3], bool) {
        (IMAGES.map(|name| folder.join(name)), folder.join(LOCK).exists())
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The image of flash bank 0.
    pub fn rom_flash(&self) -> PathBuf {
        self.folder.join(IMAGES[0])
    }

    /// The image of flash bank 1.
    pub fn bundle_flash(&self) -> PathBuf {
        self.folder.join(IMAGES[1])
    }

    /// The image of the disk.
    pub fn disk(&self) -> PathBuf {
        self.folder.join(IMAGES[2])
    }

    /// The root of trust in flash bank 0, if there is one that a ROM takes.
    ///
    /// # Errors
    /// If the image cannot be read.
    pub fn root(&self) -> Result<Option<RootOfTrust>, Error> {
        let path = self.rom_flash();
        match fs::read(&path) {
            Ok(bank) => {
                Ok(bank.get(ROOT_OF_TRUST_AT..).and_then(|bytes| RootOfTrust::parse(bytes).ok()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::file("read", &path, source)),
        }
    }

    /// The secret of the device; a random one for a device that has none yet.
    ///
    /// # Errors
    /// If the image cannot be read, or the system gives no random bytes.
    pub fn secret(&self) -> Result<DeviceSecret, Error> {
        if let Some(root) = self.root()? {
            return Ok(root.secret);
        }
        let mut bytes = [0; SECRET_SIZE];
        getrandom::fill(&mut bytes).map_err(|error| Error::NoRandomness(error.to_string()))?;
        DeviceSecret::new(bytes).ok_or_else(|| Error::NoRandomness("only one value".to_owned()))
    }

    /// Programs flash bank 0: a ROM and the keys that it trusts.
    ///
    /// # Errors
    /// If the ROM is larger than its place, or a file cannot be read or written.
    pub fn program_rom(&self, rom: &Path, root: &RootOfTrust) -> Result<(), Error> {
        let rom = files::read_bounded(rom, "the ROM", ROM_SIZE as u64)?;
        files::replace(&self.rom_flash(), &flash::bank_0(&rom, &root.encode()))
    }

    /// Puts a boot bundle into its slot in flash bank 1. The rest of the bank stays as it is; a
    /// bank that does not exist yet is made with an erased state store.
    ///
    /// # Errors
    /// If the bundle is larger than its slot, or a file cannot be read or written.
    pub fn install_boot_bundle(&self, bundle: &Path) -> Result<(), Error> {
        let bundle = files::read_bounded(bundle, "the boot bundle", BOOT_SLOT_SIZE as u64)?;
        let mut bank = self.read_bank_1()?.unwrap_or_else(flash::erased);
        flash::install(&mut bank, &bundle);
        files::replace(&self.bundle_flash(), &bank)
    }

    /// Puts a system bundle at the start of the disk. The file is not checked: finding
    /// out that it is truncated or altered is left to the device.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn install_system_bundle(&self, bundle: &Path) -> Result<(), Error> {
        files::copy_padded(bundle, &self.disk(), SECTOR_SIZE).map(drop)
    }

    /// The record in force, or the reason for which the ROM will refuse. A device without a root of trust, or
    /// without flash bank 1, has no record.
    ///
    /// # Errors
    /// If an image cannot be read.
    pub fn state(&self) -> Result<Result<StateRecord, Reason>, Error> {
        let (Some(root), Some(bank)) = (self.root()?, self.read_bank_1()?) else {
            return Ok(Err(Reason::CounterStoreInvalid));
        };
        Ok(flash::state(&bank, &root.state_key()).map(|(record, _)| record))
    }

    /// Whether flash bank 1 exists: a device without it has never been switched on.
    pub fn is_new(&self) -> bool {
        !self.bundle_flash().exists()
    }

    /// Writes a state record with the next sequence over the copy that is not in force, so that
    /// the old state stays in force if the write is torn. Floors may be lowered: an owner of
    /// the files of an emulated device can do as much by hand.
    ///
    /// # Errors
    /// If the device has no root of trust, the sequence cannot grow, or an image cannot be read or written.
    pub fn provision(&self, values: &Provisioning) -> Result<StateRecord, Error> {
        let key = self.root()?.ok_or(Error::NoRootOfTrust)?.state_key();
        let mut bank = self.read_bank_1()?.unwrap_or_else(flash::erased);
        let record = flash::provision(&mut bank, values, &key).ok_or(Error::StateWornOut)?;
        files::replace(&self.bundle_flash(), &bank)?;
        Ok(record)
    }

    fn read_bank_1(&self) -> Result<Option<Vec<u8>>, Error> {
        let path = self.bundle_flash();
        match fs::read(&path) {
            Ok(bank) if bank.len() == BANK_SIZE => Ok(Some(bank)),
            // Whatever this is, it may be the only copy of a device's state.
            Ok(bank) => Err(Error::NotFlash { path, size: bank.len() as u64 }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::file("read", &path, source)),
        }
    }
}

#[cfg(test)]
mod tests;
