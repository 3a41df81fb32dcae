//! Tests with known signatures, and with files that can and cannot keep an index.
//!
//! Public vectors are read from their folder, see `device/kernels/tests/public_vectors.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::PrivateKey;
use hartlock_files::NewFile;

fn algorithm(name: &str) -> Algorithm {
    Algorithm::from_name(name).unwrap()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn key_of(name: &str, seeds: Vec<u8>) -> StatefulKey {
    StatefulKey::from_seeds(algorithm(name), Zeroizing::new(seeds), &mut |_, _| ()).unwrap()
}

/// Signs with any index, as if no tree had been signed before.
fn sign_at(key: &StatefulKey, index: u64, message: &[u8]) -> Vec<u8> {
    let scheme = StatefulScheme::new(key.algorithm, &key.seeds).unwrap();
    let trees = scheme.trees(index, &|_| false, &mut |_| ()).unwrap();
    assert_eq!(trees.public, key.public);
    scheme.sign(index, message, &trees)
}

fn vectors(folder: &str) -> Option<PathBuf> {
    let Some(vectors) = std::env::var_os("HARTLOCK_VECTORS") else {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: public vectors: {folder}");
        return None;
    };
    let path = PathBuf::from(vectors).join(folder);
    assert!(path.is_dir(), "no folder of vectors: {}", path.display());
    Some(path)
}

/// Returns the value of a line `name = value` or `name: value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.trim_start();
        rest.strip_prefix(['=', ':']).map(str::trim)
    })
}

/// The seed of the top tree in RFC 8554 appendix F, test case 2.
#[test]
fn the_seed_of_rfc_8554_gives_its_public_key() {
    let mut seeds = bytes_of("d08fabd4a2091ff0a8cb4ed834e74534");
    seeds.extend(bytes_of("558b8966c48ae9cb898b423c83443aae014a72f1b1ab5cc85cf1d892903b5439"));
    let key = key_of("lms-sha256-h10-w4", seeds);
    let root = "32a58885cd9ba0431235466bff9651c6c92124404d45fa53cf161c28f1ad5a8e";
    assert_eq!(key.public[28..], bytes_of(root));
}

/// Compares signatures with those that the reference implementation made from the same seeds: all
/// bytes are equal, including the randomizer.
#[test]
fn lms_signs_as_the_reference_implementation_does() {
    let Some(folder) = vectors("lms") else { return };
    let text = fs::read_to_string(folder.join("bc_depth_1.txt")).unwrap();
    let mut count = 0;
    for block in text.split("\n\n") {
        // Each implementation derives the seeds of trees below the top one in its own way, so
        // these cannot be compared.
        let Some(signature) = field(block, "Signature") else { continue };
        if field(block, "Depth") != Some("1") {
            continue;
        }
        let number = |name| field(block, name).unwrap().parse::<u8>().unwrap();
        let set = hartlock_image::HssSet::new(1, number("LMType"), number("LMOtsType")).unwrap();
        let random = bytes_of(field(block, "Rand").unwrap());
        // In these vectors, I follows the seed.
        let seeds = [&random[32..48], &random[..32]].concat();
        let key =
            StatefulKey::from_seeds(Algorithm::Hss(set), Zeroizing::new(seeds), &mut |_, _| ())
                .unwrap();
        assert_eq!(key.public, bytes_of(field(block, "HSSPublicKey").unwrap()), "{set:?}");
        let message = bytes_of(field(block, "Message").unwrap());
        let expected = bytes_of(signature);
        let index = u32::from_be_bytes(*expected[4..].first_chunk().unwrap());
        assert_eq!(sign_at(&key, index.into(), &message), expected);
        assert_eq!(expected.len(), key.signature_size());
        count += 1;
    }
    assert!(count >= 2, "{count} vectors");
}

/// Compares signatures with those that the reference implementation made from the same seeds.
#[test]
fn xmss_signs_as_the_reference_implementation_does() {
    let Some(folder) = vectors("xmss") else { return };
    for (file, name) in [
        ("liboqs_XMSS-SHA2_10_256.rsp", "xmss-sha2-10-256"),
        ("liboqs_XMSS-SHA2_10_192.rsp", "xmss-sha2-10-192"),
        ("liboqs_XMSS-SHAKE256_10_256.rsp", "xmss-shake256-10-256"),
        ("liboqs_XMSSMT-SHA2_20-2_256.rsp", "xmssmt-sha2-20-2-256"),
        ("liboqs_XMSSMT-SHA2_40-4_256.rsp", "xmssmt-sha2-40-4-256"),
        ("liboqs_XMSSMT-SHA2_60-12_256.rsp", "xmssmt-sha2-60-12-256"),
    ] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let value = |name: &str| bytes_of(field(&text, name).unwrap());
        let (set, index_size) = match algorithm(name) {
            Algorithm::Xmss(set) => (set, 4),
            Algorithm::XmssMt(set) => (set, usize::from(set.height()).div_ceil(8)),
            other => panic!("{other}"),
        };
        let n = set.n();
        // The secret key consists of OID, index, SK_SEED, SK_PRF, root and PUB_SEED.
        let secret = &value("sk")[4 + index_size..];
        let seeds = [&secret[..2 * n], &secret[3 * n..4 * n]].concat();
        let key = key_of(name, seeds);
        assert_eq!(key.public, value("pk"), "{name}");
        let signature = value("sm");
        let index = signature[..index_size].iter().fold(0, |it, byte| it << 8 | u64::from(*byte));
        let ours = sign_at(&key, index, &value("msg"));
        assert_eq!(ours, signature, "{name}");
        assert_eq!(ours.len(), key.signature_size());
    }
}

/// Writes a key file to a temporary folder.
fn key_file(name: &str) -> (tempfile::TempDir, PathBuf, PrivateKey) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root.pem");
    let key = PrivateKey::generate_for(algorithm(name), &mut |_, _| ()).unwrap();
    let public = folder.path().join("root.pub.pem");
    crate::write_pair(&key, &path, &public, crate::Format::Pem, None).unwrap();
    // The folder for temporary files may be on any file system.
    let options = crate::ReadOptions { any_file_system: true, ..Default::default() };
    let key = PrivateKey::read_with(&path, options).unwrap();
    (folder, path, key)
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> KeyErrorKind {
    match result {
        Err(Error::Key(error)) => error.kind,
        other => panic!("{other:?}"),
    }
}

fn index_in(signature: &[u8]) -> u32 {
    u32::from_be_bytes(*signature[4..].first_chunk().unwrap())
}

#[test]
fn each_signature_spends_an_index_until_none_is_left() {
    let (_folder, path, key) = key_file("lms-sha256-192-h5-w1");
    for index in 0..32 {
        assert_eq!(PrivateKey::read(&path).unwrap().signatures_left(), Some((32 - index, 32)));
        let signature = key.sign(b"the same message").unwrap();
        assert_eq!(u64::from(index_in(&signature)), index);
    }
    assert_eq!(kind(key.sign(b"one too many")), KeyErrorKind::StateExhausted);
    assert_eq!(PrivateKey::read(&path).unwrap().signatures_left(), Some((0, 32)));
}

#[test]
fn threads_never_share_an_index() {
    let (_folder, path, _) = key_file("lms-sha256-192-h10-w1");
    let indexes: Vec<u32> = thread::scope(|scope| {
        let handles: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let ReadKey(key) = read_key(&path);
                    (0..20)
                        .map(|_| {
                            let mut file = LockedFile::lock(&path, true).unwrap();
                            key.spend(&mut file, |_| Ok(Trees::default())).unwrap().0 as u32
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    });
    let distinct: BTreeSet<_> = indexes.iter().copied().collect();
    assert_eq!((indexes.len(), distinct.len()), (160, 160));
    assert_eq!(distinct.last(), Some(&159), "no index was lost");
}

/// Another signer may replace the file after this one opened it and before this one locks it. The
/// opened file then has no name, which is not a reason to refuse the new file.
#[test]
fn a_file_replaced_at_any_moment_is_no_reason_to_refuse() {
    let (_folder, path, _) = key_file("lms-sha256-192-h5-w1");
    let is_done = AtomicBool::new(false);
    let locked: Vec<_> = thread::scope(|scope| {
        scope.spawn(|| {
            let content = fs::read(&path).unwrap();
            while !is_done.load(Ordering::Relaxed) {
                let mut new = NewFile::private(&path).unwrap();
                new.write(&content).unwrap();
                new.persist_over().unwrap();
            }
        });
        let locked = (0..20_000).map(|_| LockedFile::lock(&path, true).err()).collect();
        is_done.store(true, Ordering::Relaxed);
        locked
    });
    let refused: Vec<_> = locked.into_iter().flatten().collect();
    assert!(refused.is_empty(), "{refused:?}");
}

/// A key, which each thread reads from the file separately.
struct ReadKey(StatefulKey);

fn read_key(path: &Path) -> ReadKey {
    ReadKey(StatefulKey::decode_file(&fs::read(path).unwrap(), Some(path)).unwrap())
}

#[test]
fn files_in_which_no_index_can_be_kept_are_refused() {
    let (folder, path, key) = key_file("lms-sha256-192-h5-w1");
    let is_unspent =
        || assert_eq!(PrivateKey::read(&path).unwrap().signatures_left(), Some((32, 32)));
    for mode in [0o640, 0o644, 0o400, 0o700] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(kind(key.sign(b"")), KeyErrorKind::StateMode(mode));
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();

    let link = folder.path().join("link.pem");
    symlink(&path, &link).unwrap();
    assert_eq!(kind(PrivateKey::read(&link).unwrap().sign(b"")), KeyErrorKind::StateIsLink);
    is_unspent();

    let name = folder.path().join("name.pem");
    fs::hard_link(&path, &name).unwrap();
    assert_eq!(kind(key.sign(b"")), KeyErrorKind::StateHasNames);
    fs::remove_file(&name).unwrap();
    is_unspent();

    let nowhere = PrivateKey::from_pem(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(kind(nowhere.sign(b"")), KeyErrorKind::StateNotRegular);
    is_unspent();

    let (_other, other_path, _) = key_file("lms-sha256-192-h5-w1");
    fs::copy(other_path, &path).unwrap();
    assert_eq!(kind(key.sign(b"")), KeyErrorKind::StateOfOtherKey);
    fs::remove_file(&path).unwrap();
    assert!(matches!(key.sign(b""), Err(Error::File(_))));
    fs::create_dir(&path).unwrap();
    assert_eq!(kind(key.sign(b"")), KeyErrorKind::StateNotRegular);
}

#[test]
fn signing_leaves_one_private_file_and_nothing_else() {
    let (folder, path, key) = key_file("lms-sha256-192-h5-w1");
    key.sign(b"").unwrap();
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["root.pem", "root.pub.pem"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn no_other_form_leaves_the_file() {
    let (_folder, _, key) = key_file("lms-sha256-192-h5-w1");
    let refused = KeyErrorKind::StateNotExported;
    assert_eq!(key.to_pem().unwrap_err(), refused);
    for format in [crate::Format::Pem, crate::Format::Der] {
        assert_eq!(key.export(format, None).unwrap_err(), refused);
        assert_eq!(key.export(format, Some(b"secret")).unwrap_err(), refused);
    }
}

#[test]
fn every_changed_byte_of_a_state_is_noticed() {
    let key = StatefulKey::generate(algorithm("lms-sha256-192-h5-w1"), &mut |_, _| ()).unwrap();
    let bytes = state::encode(&key, 7, &[]);
    assert_eq!(state::decode(&bytes).unwrap().next, 7);
    for at in 0..bytes.len() {
        let mut changed = bytes.to_vec();
        changed[at] ^= 1;
        assert!(state::decode(&changed).is_err(), "byte {at}");
    }
    for len in 0..bytes.len() {
        assert!(state::decode(&bytes[..len]).is_err(), "{len} bytes");
    }
    assert!(state::decode(&[&bytes[..], &[0]].concat()).is_err());
    assert!(state::decode(&state::encode(&key, 33, &[])).is_err(), "beyond the end");
    state::decode(&state::encode(&key, 32, &[])).unwrap();
}

#[test]
fn a_seed_that_does_not_fit_signs_nothing() {
    let mut key = StatefulKey::generate(algorithm("lms-sha256-192-h5-w1"), &mut |_, _| ()).unwrap();
    key.seeds[20] ^= 1;
    assert_eq!(key.trees(&mut |_, _| ()).err(), Some(KeyErrorKind::PublicHalfDiffers));
}

/// Returns a key at an index, without seeds and trees.
fn key_at(name: &str, next: u64) -> StatefulKey {
    StatefulKey {
        algorithm: algorithm(name),
        seeds: Zeroizing::default(),
        public: Vec::new(),
        next,
        records: Vec::new(),
        path: None,
        any_file_system: false,
    }
}

#[test]
fn a_tree_is_new_at_its_first_leaf_and_then_never() {
    // The second algorithm is higher than an index has bits.
    for (name, height, layers) in
        [("xmssmt-sha2-60-12-256", 5, 12), ("hss-l8-sha256-h25-w8", 25, 8)]
    {
        let new_ones = |next| {
            let key = key_at(name, next);
            (0..layers).filter(|layer| key.is_new(*layer)).collect::<Vec<_>>()
        };
        assert_eq!(new_ones(0), Vec::from_iter(0..layers - 1), "{name}");
        // The numbers 2^11 and 2^36 would be results of shifts by 75 and 100 bits if the shift amount
        // were taken modulo 64.
        for next in [1_u64, 1 << 11, (1 << 11) + 1, 1 << 36, (1 << height) - 1, (1 << 61) + 1] {
            let expected = (0..layers - 1)
                .filter(|layer| next.trailing_zeros() >= height * (layer + 1))
                .collect::<Vec<_>>();
            assert_eq!(new_ones(next), expected, "{name} at {next}");
        }
    }
}

#[test]
fn capacities_and_sizes_are_those_of_the_standards() {
    for (name, capacity, signature) in [
        ("lms-sha256-h25-w8", 1 << 25, 4 + 1932),
        ("hss-l2-sha256-h5-w8", 1 << 10, 4 + 2 * 1292 + 56),
        ("hss-l8-sha256-h25-w8", 1 << 62, 4 + 8 * 1932 + 7 * 56),
        ("xmss-sha2-16-256", 1 << 16, 2692),
        ("xmssmt-sha2-60-12-256", 1 << 60, 27688),
    ] {
        let key = key_at(name, 0);
        assert_eq!((key.capacity(), key.signature_size()), (capacity, signature), "{name}");
    }
}
