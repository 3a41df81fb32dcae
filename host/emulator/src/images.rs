//! The flash and disk images of an emulated device (boot flow §2, §3.1, §3.2).
//!
//! A device is a folder with three images: flash bank 0 with the ROM and its root of trust, flash bank 1 with
//! the boot bundle and the state store, and a disk with the system bundle. Bank 1 holds the persistent state
//! of the device, so an existing image is never replaced by an empty one.

mod flash;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use hartlock_handoff::payload_keys::{ClassKeyStore, WrappedClassKey};
use hartlock_handoff::{DeviceSecret, RootOfTrust, SECRET_SIZE, StateRecord};
use hartlock_image::{Lifecycle, Name, Reason, TrustList};
use hartlock_keys::ClassKey;
use hartlock_verify::board::Board;
use tempfile::TempDir;

use crate::{Error, files};

pub use flash::{BANK_SIZE, BOOT_SLOT_SIZE, CLASS_KEYS_AT, ROM_SIZE, ROOT_OF_TRUST_AT, STATE_AT};

/// The sector size of a virtio disk in bytes.
const SECTOR_SIZE: u64 = 512;
/// The file names of flash bank 0, flash bank 1 and the disk.
const IMAGES: [&str; 3] = ["pflash0.img", "pflash1.img", "disk.img"];
/// The name of the lock file, which every folder of a device contains.
const LOCK: &str = "lock";

/// The values that provisioning sets (boot flow §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provisioning {
    /// The lowest accepted security version of a boot bundle.
    pub boot_floor: u64,
    /// The lowest accepted security version of a system bundle.
    pub system_floor: u64,
    /// The lifecycle state of the device.
    pub lifecycle: Lifecycle,
    /// A mask in which bit i revokes key i of the root-of-trust block.
    pub revoked_keys: u32,
}

impl Default for Provisioning {
    /// Returns the values of a new device in development.
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

/// Makes the root of trust of a device with this board; returns `None` if the list has no key or has a key
/// twice.
pub fn root_of_trust(trust: TrustList, board: &Board, secret: DeviceSecret) -> Option<RootOfTrust> {
    let [board, soc] = [Name::new(board.name)?, Name::new(board.soc)?];
    let root = RootOfTrust { trust, board, soc, secret };
    RootOfTrust::parse(&root.encode()).ok()
}

/// The folder of a device. While it is open, no other process can open it.
#[derive(Debug)]
pub struct Device {
    folder: PathBuf,
    /// The temporary folder, which is removed when the device is dropped.
    _temporary: Option<TempDir>,
    /// The lock file, which the operating system unlocks when this process ends for any reason.
    _lock: File,
}

impl Device {
    /// Opens the folder of a device and creates it if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be written, or another process has opened the device.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let create = |source| Error::file("create", folder, source);
        fs::create_dir_all(folder).map_err(create)?;
        // QEMU may run in another directory, so the path must be absolute.
        let folder = folder.canonicalize().map_err(create)?;
        let path = folder.join(LOCK);
        // The content of an existing file with this name is kept, since it may belong to the user.
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

    /// Makes a device in a temporary folder, which is removed when the device is dropped.
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

    /// Returns the paths of the images in a folder, and true if the folder is that of a device, to which the
    /// files then belong.
    pub fn images_in(folder: &Path) -> ([PathBuf; 3], bool) {
        (IMAGES.map(|name| folder.join(name)), folder.join(LOCK).exists())
    }

    /// Returns the folder of the device.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the image of flash bank 0.
    pub fn rom_flash(&self) -> PathBuf {
        self.folder.join(IMAGES[0])
    }

    /// Returns the path of the image of flash bank 1.
    pub fn bundle_flash(&self) -> PathBuf {
        self.folder.join(IMAGES[1])
    }

    /// Returns the path of the image of the disk.
    pub fn disk(&self) -> PathBuf {
        self.folder.join(IMAGES[2])
    }

    /// Returns the root of trust in flash bank 0; `None` if there is none that is valid.
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

    /// Returns the secret of the device, or a new random one if the device has none.
    ///
    /// # Errors
    /// If the image cannot be read, or the operating system provides no random bytes.
    pub fn secret(&self) -> Result<DeviceSecret, Error> {
        if let Some(root) = self.root()? {
            return Ok(root.secret);
        }
        let mut bytes = [0; SECRET_SIZE];
        getrandom::fill(&mut bytes).map_err(|error| Error::NoRandomness(error.to_string()))?;
        DeviceSecret::new(bytes).ok_or_else(|| Error::NoRandomness("only one value".to_owned()))
    }

    /// Writes flash bank 0: a ROM and its root of trust.
    ///
    /// # Errors
    /// If the ROM does not fit, or a file cannot be read or written.
    pub fn program_rom(&self, rom: &Path, root: &RootOfTrust) -> Result<(), Error> {
        let rom = files::read_bounded(rom, "the ROM", ROM_SIZE as u64)?;
        files::replace(&self.rom_flash(), &flash::bank_0(&rom, &root.encode()))
    }

    /// Writes a boot bundle to its slot in flash bank 1. The rest of the bank is not changed; if the image
    /// does not exist, it is created with an erased state store.
    ///
    /// # Errors
    /// If the bundle does not fit, or a file cannot be read or written.
    pub fn install_boot_bundle(&self, bundle: &Path) -> Result<(), Error> {
        let bundle = files::read_bounded(bundle, "the boot bundle", BOOT_SLOT_SIZE as u64)?;
        let mut bank = self.read_bank_1()?.unwrap_or_else(flash::erased);
        flash::install(&mut bank, &bundle);
        files::replace(&self.bundle_flash(), &bank)
    }

    /// Writes a system bundle to the start of the disk. The bundle is not checked, so that the device can
    /// detect if it is truncated or altered.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn install_system_bundle(&self, bundle: &Path) -> Result<(), Error> {
        files::copy_padded(bundle, &self.disk(), SECTOR_SIZE).map(drop)
    }

    /// Returns the valid state record with the higher sequence number, or the reason for which the ROM will
    /// refuse. A device without a root of trust or without flash bank 1 has no record.
    ///
    /// # Errors
    /// If an image cannot be read.
    pub fn state(&self) -> Result<Result<StateRecord, Reason>, Error> {
        let (Some(root), Some(bank)) = (self.root()?, self.read_bank_1()?) else {
            return Ok(Err(Reason::CounterStoreInvalid));
        };
        Ok(flash::state(&bank, &root.state_key()).map(|(record, _)| record))
    }

    /// Returns true if flash bank 1 does not exist, which means that the device was never switched on.
    pub fn is_new(&self) -> bool {
        !self.bundle_flash().exists()
    }

    /// Writes a state record with the next sequence number over the copy that is not in force, so that the
    /// old record stays in force if the write is interrupted. Floors may be lowered: the owner of the files
    /// of an emulated device can do that by other means too.
    ///
    /// # Errors
    /// If the device has no root of trust, the sequence number is at its maximum, or an image cannot be read
    /// or written.
    pub fn provision(&self, values: &Provisioning) -> Result<StateRecord, Error> {
        let key = self.root()?.ok_or(Error::NoRootOfTrust)?.state_key();
        let mut bank = self.read_bank_1()?.unwrap_or_else(flash::erased);
        let record = flash::provision(&mut bank, values, &key).ok_or(Error::StateWornOut)?;
        files::replace(&self.bundle_flash(), &bank)?;
        Ok(record)
    }

    /// Writes the class-key store: keys of encrypted payloads, wrapped for this device (boot flow §3.6). Keys that were there
    /// before are removed.
    ///
    /// # Errors
    /// If the device has no root of trust, the keys do not fit or one is given twice, or an image cannot be read or written.
    pub fn provision_class_keys(&self, keys: &[ClassKey]) -> Result<(), Error> {
        let root = self.root()?.ok_or(Error::NoRootOfTrust)?;
        let payload_key = root.payload_key();
        let wrapping_key = payload_key.first_chunk().ok_or(Error::NoRootOfTrust)?;
        let wrapping_key = ClassKey::from_bytes(wrapping_key);
        let wrap = |key: &ClassKey| WrappedClassKey {
            class_id: key.id(),
            wrapped: wrapping_key.wrap(key),
        };
        let store = ClassKeyStore { keys: keys.iter().map(wrap).collect() };
        // The list has room for as many keys as a device, and the store is read as the loader reads it.
        if store.keys.len() != keys.len() || ClassKeyStore::parse(&store.encode()).is_err() {
            return Err(Error::ClassKeys);
        }
        let mut bank = self.read_bank_1()?.unwrap_or_else(flash::erased);
        flash::write_class_keys(&mut bank, &store);
        files::replace(&self.bundle_flash(), &bank)
    }

    fn read_bank_1(&self) -> Result<Option<Vec<u8>>, Error> {
        let path = self.bundle_flash();
        match fs::read(&path) {
            Ok(bank) if bank.len() == BANK_SIZE => Ok(Some(bank)),
            // A file of another size is not replaced, because it may be the only copy of a device's state.
            Ok(bank) => Err(Error::NotFlash { path, size: bank.len() as u64 }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::file("read", &path, source)),
        }
    }
}

#[cfg(test)]
mod tests;
