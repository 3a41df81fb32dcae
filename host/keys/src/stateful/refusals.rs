//! Cases that need another user, another file system, or storage that reports false success. A key file cannot
//! provoke them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use zeroize::Zeroizing;

use super::StatefulKey;
use super::storage::{LockedFile, Storage, unsupported_file_system};
use super::tree::Trees;
use crate::Error;
use crate::{KeyErrorKind, KeyReason};

/// Returns the cases for the list of all reasons: description, expected reason and resulting error.
pub(crate) fn all() -> Vec<(&'static str, KeyReason, Option<Error>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root.pem");
    let algorithm = hartlock_image::Algorithm::from_name("lms-sha256-192-h5-w1").unwrap();
    let content = StatefulKey::generate(algorithm, &mut |_, _| ()).unwrap().to_pem();
    fs::write(&path, &*content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let key = StatefulKey::decode_file(content.as_bytes(), Some(&path)).unwrap();

    // The new file belongs to the user of this process, and the key file seems to belong to another user.
    let mut file = LockedFile::lock(&path, true).unwrap();
    file.owner = file.owner.wrapping_add(1);
    let mut all = vec![("a file of another user", KeyReason::StateOfOther, spend(&key, &mut file))];
    drop(file);

    // The numbers of FAT, exFAT, NTFS, NFS, SMB, 9P, AFS, Ceph, overlay, FUSE, one that has no name here, and
    // `None` for a file system that cannot be identified.
    for number in [
        0x4d44,
        0x2011_bab0,
        0x7366_746e,
        0x6969,
        0xfe53_4d42,
        0x0102_1997,
        0x5346_414f,
        0x00c3_6400,
        0x794c_7630,
        0x6573_5546,
        0x1234_5678,
    ]
    .map(Some)
    .into_iter()
    .chain([None])
    {
        let error = unsupported_file_system(number)
            .map(|name| key.refuse(KeyErrorKind::StateFileSystem(name)));
        all.push(("a file system", KeyReason::StateFileSystem, error));
    }
    // The numbers of ext4, XFS, Btrfs and tmpfs.
    for number in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994] {
        assert_eq!(unsupported_file_system(Some(number)), None);
    }

    let mut storage = Forgetful(content.as_bytes().to_vec());
    all.push(("storage that forgets", KeyReason::StateNotKept, spend(&key, &mut storage)));

    // The digest that is stored for the lower tree belongs to another root.
    let algorithm = hartlock_image::Algorithm::from_name("hss-l2-sha256-h5-w1").unwrap();
    let mut key = StatefulKey::generate(algorithm, &mut |_, _| ()).unwrap();
    key.next = 1;
    let error = key.trees(&mut |_, _| ()).err().map(|kind| key.refuse(kind));
    all.push(("another lower tree", KeyReason::TreeDiffers, error));
    all
}

fn spend(key: &StatefulKey, storage: &mut impl Storage) -> Option<Error> {
    key.spend(storage, |_| Ok(Trees::default())).err()
}

/// A storage that reports success for every step and keeps nothing.
struct Forgetful(Vec<u8>);

impl Storage for Forgetful {
    fn read(&mut self) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(Zeroizing::new(self.0.clone()))
    }

    fn write_new(&mut self, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn sync_new(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn rename(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn sync_folder(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
