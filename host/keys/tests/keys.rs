//! Signatures verified by other implementations, and stateful keys used by several processes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use crate::common::{MESSAGE, generated, second_opinion};
use hartlock_keys::{Format, PrivateKey, ReadOptions, write_pair};
use tempfile::TempDir;

#[test]
fn second_implementations_take_our_lattice_and_hash_signatures() {
    for name in [
        "ml-dsa-44",
        "ml-dsa-65",
        "ml-dsa-87",
        "slh-dsa-sha2-128f",
        "slh-dsa-shake-128f",
        "slh-dsa-sha2-192f",
        "slh-dsa-shake-192f",
        "slh-dsa-sha2-256f",
        "slh-dsa-shake-256f",
        "slh-dsa-sha2-128s",
        "slh-dsa-shake-128s",
    ] {
        let key = generated(name);
        let mut signature = key.sign(MESSAGE).unwrap();
        assert!(second_opinion(&key.public(), &signature), "{name}");
        *signature.last_mut().unwrap() ^= 1;
        assert!(!second_opinion(&key.public(), &signature), "{name}");
    }
}

/// Writes a pair of key files and reads the private key back.
fn written(folder: &TempDir, name: &str, file: &str) -> PrivateKey {
    let path = folder.path().join(file);
    let public = folder.path().join(format!("{file}.pub"));
    let key = generated(name);
    write_pair(&key, &path, &public, Format::Pem, None).unwrap();
    let algorithms = &[key.algorithm()];
    PrivateKey::read_with(
        &path,
        ReadOptions { algorithms, any_file_system: true, ..ReadOptions::default() },
    )
    .unwrap()
}

/// The other implementation has no sets with nodes of 24 bytes, which differ only in their types.
#[test]
fn a_second_implementation_takes_our_hss_signatures() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "lms-sha256-h5-w1",
        "lms-sha256-h5-w2",
        "lms-sha256-h10-w4",
        "lms-sha256-h5-w8",
        "hss-l2-sha256-h5-w4",
        "hss-l3-sha256-h5-w8",
    ] {
        let key = written(&folder, name, name);
        let public = key.public();
        for _ in 0..3 {
            let mut signature = key.sign(MESSAGE).unwrap();
            assert_eq!(signature.len(), key.signature_size(), "{name}");
            let verifies = |signature: &[u8]| {
                hbs_lms::verify::<hbs_lms::Sha256_256>(MESSAGE, signature, public.as_bytes())
                    .is_ok()
            };
            assert!(verifies(&signature), "{name}");
            *signature.last_mut().unwrap() ^= 1;
            assert!(!verifies(&signature), "{name}");
        }
    }
}

/// The leaves of the lowest tree are used up, and the next tree begins.
#[test]
fn hss_goes_from_tree_to_tree() {
    let folder = tempfile::tempdir().unwrap();
    let key = written(&folder, "hss-l2-sha256-h5-w4", "hss");
    let mut parents = Vec::new();
    for index in 0..34 {
        let signature = key.sign(MESSAGE).unwrap();
        let public = key.public();
        let verdict =
            hbs_lms::verify::<hbs_lms::Sha256_256>(MESSAGE, &signature, public.as_bytes());
        assert!(verdict.is_ok(), "index {index}");
        // The signature of the top tree comes first, followed by the public key of the lower tree
        // that it signs.
        parents.push(signature[..4 + 2348 + 56].to_vec());
    }
    assert!(parents[..32].iter().all(|parent| *parent == parents[0]), "a leaf signs one message");
    assert_eq!(parents[32], parents[33]);
    let tree_of = |index: usize| &parents[index][4 + 2348..];
    assert_ne!(tree_of(31), tree_of(32), "another tree has other one-time keys");
}

/// The environment variable with the key file of a process that [`processes_never_share_an_index`]
/// starts.
const KEY_OF_CHILD: &str = "HARTLOCK_TEST_KEY";

/// Signs in a process that another test starts; without the variable, the test does nothing.
#[test]
fn a_process_signs_and_tells_its_indexes() {
    use std::io::Write;
    let Some(path) = std::env::var_os(KEY_OF_CHILD) else { return };
    let key = PrivateKey::read(Path::new(&path)).unwrap();
    for _ in 0..200 {
        let signature = key.sign(MESSAGE).unwrap();
        // The index is written directly to stderr and at once, because this process may be killed.
        let mut stderr = std::io::stderr();
        let _ = stderr.write_all(format!("\nindex {}\n", index_of(&signature)).as_bytes());
    }
}

fn index_of(signature: &[u8]) -> u32 {
    u32::from_be_bytes(*signature[4..].first_chunk().unwrap())
}

/// Four processes sign at the same time and are killed at arbitrary points.
#[test]
fn processes_never_share_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let key = written(&folder, "lms-sha256-192-h10-w1", "lms.pem");
    let path = folder.path().join("lms.pem");
    let mut indexes = Vec::new();
    for round in 1..=3 {
        let mut children: Vec<_> = (0..4)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "keys::a_process_signs_and_tells_its_indexes"])
                    .env(KEY_OF_CHILD, &path)
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let (sender, receiver) = mpsc::channel();
        let readers: Vec<_> = children
            .iter_mut()
            .map(|child| {
                let (sender, stderr) = (sender.clone(), child.stderr.take().unwrap());
                // The last line may be truncated; it is ignored then.
                thread::spawn(move || {
                    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                        if let Some(index) = line.strip_prefix("index ") {
                            sender.send(index.parse::<u32>().unwrap()).unwrap();
                        }
                    }
                })
            })
            .collect();
        drop(sender);
        // By then, some or all of the processes are signing.
        indexes.extend(receiver.iter().take(20 * round));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        indexes.extend(receiver.iter());
        // The killed processes hold no lock.
        indexes.push(index_of(&key.sign(MESSAGE).unwrap()));
    }
    let distinct: BTreeSet<_> = indexes.iter().collect();
    assert_eq!(distinct.len(), indexes.len(), "{indexes:?}");
    assert!(indexes.len() > 120, "they signed: {indexes:?}");
}
