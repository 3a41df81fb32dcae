//! A small bundle that tests build, verify and damage.

use std::fs;
use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_bundle::Error;
use hartlock_bundle::build::build;
use hartlock_bundle::describe::Description;
use hartlock_bundle::spec::{BundleSpec, PayloadSpec, TrustSpec};
use hartlock_bundle::verify::{Expectation, verify_file};
use hartlock_handoff::builder::{self, Node};
use hartlock_image::{BundleType, PayloadType, Policy};
use hartlock_keys::{PrivateKey, Signer};
use tempfile::TempDir;

/// A temporary folder with payload files and keys.
pub struct Bench {
    folder: TempDir,
    pub keys: Vec<PrivateKey>,
}

impl Bench {
    pub fn new() -> Self {
        let bench = Self {
            folder: tempfile::tempdir().unwrap(),
            keys: vec![PrivateKey::generate().unwrap()],
        };
        bench.write("linux", &pattern(3000));
        bench.write("initrd", &pattern(2049));
        bench.write("virt.dtb", &linux_tree(0));
        bench.write("fw.bin", &pattern(500));
        bench.write("boot.dtb", &boot_tree().flatten());
        bench.write("root.pub.pem", bench.keys[0].public().to_pem().as_bytes());
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn file_names(&self) -> Vec<String> {
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    pub fn payload(&self, payload_type: PayloadType, file: &str) -> PayloadSpec {
        PayloadSpec::new(payload_type, self.path(file))
    }

    pub fn system(&self) -> BundleSpec {
        BundleSpec {
            bundle_type: Some(BundleType::System),
            security_version: Some(4),
            bootargs: Some("console=ttyS0".to_string()),
            block_size: Some(1024),
            payloads: vec![
                self.payload(PayloadType::Kernel, "linux"),
                self.payload(PayloadType::Initramfs, "initrd"),
                self.payload(PayloadType::SystemFdt, "virt.dtb"),
            ],
            ..BundleSpec::default()
        }
    }

    pub fn boot(&self) -> BundleSpec {
        BundleSpec {
            bundle_type: Some(BundleType::Boot),
            security_version: Some(1),
            payloads: vec![
                self.payload(PayloadType::Opensbi, "fw.bin"),
                self.payload(PayloadType::Loader, "fw.bin"),
                self.payload(PayloadType::BootFdt, "boot.dtb"),
            ],
            trust: Some(TrustSpec {
                policy: Policy::Any,
                keys: vec![self.path("root.pub.pem")],
                algorithms: Vec::new(),
                records: Vec::new(),
            }),
            ..BundleSpec::default()
        }
    }

    pub fn build(&self, spec: &BundleSpec, name: &str) -> Result<Description, Error> {
        build(spec, &self.keys, 0, &self.path(name), &mut |_, _| ())
    }

    pub fn expectation(&self) -> Expectation {
        Expectation {
            keys: self.keys.iter().map(PrivateKey::public).collect(),
            ..Expectation::default()
        }
    }
}

/// Returns a device tree for OpenSBI that is right for the default board.
pub fn boot_tree() -> Node {
    let boards = Boards::default();
    let board = boards.default_board().unwrap().map();
    builder::boot_tree(board.hart_count as u32, 0x8000_0000, board.closed)
}

/// Returns a device tree for Linux that is right for the default board, with other bytes after it up to `len` bytes.
pub fn linux_tree(len: usize) -> Vec<u8> {
    let mut tree = builder::system_tree(1, 0x8000_0000).flatten();
    let rest = tree.len().min(len);
    tree.extend(&pattern(len)[rest..]);
    tree
}

pub fn verify(path: &Path, expectation: &Expectation) -> Result<Description, Error> {
    verify_file(path, expectation, &mut |_, _| ())
}

/// Returns the reason code of a refusal. Panics on any other result.
pub fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> u16 {
    match result {
        Err(Error::Refused(refusal)) => refusal.reason as u16,
        other => panic!("not refused: {other:?}"),
    }
}

/// Returns a pattern of bytes in which a shifted copy differs from the original. No byte is zero, so that
/// payload and padding differ.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251 + 1) as u8).collect()
}

/// Returns the smallest archive that Linux unpacks: a trailer.
pub fn initramfs() -> Vec<u8> {
    let numbers = [0; 11].map(|number| format!("{number:08x}")).concat();
    let numbers = format!("070701{numbers}{:08x}{:08x}", 11, 0);
    let mut archive = [numbers.as_bytes(), b"TRAILER!!!\0"].concat();
    archive.resize(124, 0);
    archive
}

impl Bench {
    /// Returns the keys as signers.
    pub fn signers(&self) -> Vec<&dyn Signer> {
        self.keys.iter().map(|key| key as &dyn Signer).collect()
    }
}
