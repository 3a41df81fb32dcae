//! Tests with one wrong bit in a key, either in memory or in a file whose checksum is valid. No one-time key
//! of any level may sign two messages.
//!
//! The test itself is tested too: a signer that ignores the stored digests of its trees must be detected.
//!
//! The index in the file is not changed: a lower index is the same as an old copy of the file, which no
//! program can recognize (`spec/stateful-key.md` §1).

use std::collections::BTreeMap;
use std::rc::Rc;
use std::thread::{self, available_parallelism};

use hartlock_image::Algorithm;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::storage::Storage;
use super::{Record, StatefulKey, StatefulScheme, shape};
use crate::Error;

/// A file in memory.
struct MemoryFile(Vec<u8>, Vec<u8>);

impl Storage for MemoryFile {
    fn read(&mut self) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(Zeroizing::new(self.0.clone()))
    }

    fn write_new(&mut self, content: &[u8]) -> Result<(), Error> {
        self.1 = content.to_vec();
        Ok(())
    }

    fn sync_new(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn rename(&mut self) -> Result<(), Error> {
        self.0.clone_from(&self.1);
        Ok(())
    }

    fn sync_folder(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// The place of the wrong bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The memory of the process that signs; the file is right.
    Memory,
    /// The file, permanently.
    File,
    /// The file, for one signature; after it, the field is right again.
    FileOnce,
}

/// The field of a key that has the wrong bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Seeds,
    Public,
    Records,
    /// The next index. It is changed only in memory.
    Next,
}

impl Field {
    fn bits(self, key: &StatefulKey) -> usize {
        8 * match self {
            Self::Seeds => key.seeds.len(),
            Self::Public => key.public.len(),
            Self::Records => key.records.as_flattened().len(),
            Self::Next => 8,
        }
    }

    fn flip(self, key: &mut StatefulKey, bit: usize) {
        let bytes = match self {
            Self::Seeds => &mut key.seeds[..],
            Self::Public => &mut key.public[..],
            Self::Records => key.records.as_flattened_mut(),
            Self::Next => {
                key.next ^= 1 << bit;
                return;
            }
        };
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// The identity of a one-time key: a digest of the seeds of its tree, the layer, and the number of its leaf.
type OneTimeKey = (Record, u32, u64);

/// The one-time keys used for an index, each with the digest of the tree that it certifies. The lowest key has
/// none, because it signs the message.
type Path = Vec<(OneTimeKey, Option<Record>)>;

/// The digests that each one-time key signed.
#[derive(Clone, Default)]
struct OneTimeKeyLedger {
    signed: BTreeMap<OneTimeKey, Record>,
    twice: bool,
    /// The paths that were computed, by seeds and index.
    known: BTreeMap<(Vec<u8>, u64), Rc<Path>>,
}

impl OneTimeKeyLedger {
    /// Records what a signature with this index reveals.
    fn note(&mut self, key: &StatefulKey, index: u64, message: &[u8]) {
        for (one_time_key, certified) in self.path(key, index).iter() {
            let signed = certified.unwrap_or_else(|| Sha256::digest(message).into());
            let earlier = self.signed.insert(*one_time_key, signed);
            self.twice |= earlier.is_some_and(|earlier| earlier != signed);
        }
    }

    /// Returns the one-time keys used for an index. The result is cached, because computing trees takes long.
    fn path(&mut self, key: &StatefulKey, index: u64) -> Rc<Path> {
        let grow = || {
            let (height, layers) = shape(key.algorithm);
            let scheme = StatefulScheme::new(key.algorithm, &key.seeds).unwrap();
            let trees = scheme.trees(index, &|_| false, &mut |_| ()).unwrap();
            let one_time_key = |layer: u32| {
                let secret = match &scheme {
                    StatefulScheme::Hss(hss) => hss.secret_of(layer, index),
                    StatefulScheme::Xmss(_) => key.seeds.to_vec(),
                };
                let below = layer.checked_sub(1).map(|below| &trees.signed_roots[below as usize]);
                let certified = below.map(|signed| Sha256::digest(signed).into());
                ((Sha256::digest(secret).into(), layer, index >> (height * layer)), certified)
            };
            Rc::new((0..layers).map(one_time_key).collect())
        };
        self.known.entry((key.seeds.to_vec(), index)).or_insert_with(grow).clone()
    }
}

/// A procedure that signs with the next index of a file and returns that index.
type SignProcedure = fn(&StatefulKey, &mut MemoryFile, &[u8]) -> Result<u64, Error>;

/// The procedure of this crate.
fn sign(key: &StatefulKey, file: &mut MemoryFile, message: &[u8]) -> Result<u64, Error> {
    let before = StatefulKey::decode_file(&file.0, None).map_err(|kind| key.refuse(kind))?;
    key.sign_in(file, message, &mut |_, _| ())?;
    Ok(before.next)
}

/// A wrong procedure: it signs any tree that it computes, if the top one is right.
fn sign_whatever_grows(key: &StatefulKey, file: &mut MemoryFile, _: &[u8]) -> Result<u64, Error> {
    let current = StatefulKey::decode_file(&file.0, None).map_err(|kind| key.refuse(kind))?;
    let scheme = StatefulScheme::new(key.algorithm, &key.seeds).unwrap();
    let trees = scheme.trees(current.next, &|_| false, &mut |_| ()).unwrap();
    if trees.public != current.public {
        return Err(key.refuse(crate::KeyErrorKind::PublicHalfDiffers));
    }
    file.0 = key.pem_at(current.next + 1, &key.records).as_bytes().to_vec();
    Ok(current.next)
}

/// Returns a key whose next index is `next`, and the ledger with its last signature.
fn signed_up_to(name: &str, next: u64) -> (StatefulKey, OneTimeKeyLedger) {
    let algorithm = Algorithm::from_name(name).unwrap();
    let mut key = StatefulKey::generate(algorithm, &mut |_, _| ()).unwrap();
    let mut ledger = OneTimeKeyLedger::default();
    ledger.note(&key, next - 1, b"before");
    let scheme = StatefulScheme::new(algorithm, &key.seeds).unwrap();
    let trees = scheme.trees(next - 1, &|_| false, &mut |_| ()).unwrap();
    key.records = trees.signed_roots.iter().map(|signed| Sha256::digest(signed).into()).collect();
    key.next = next;
    (key, ledger)
}

fn copy_of(key: &StatefulKey) -> StatefulKey {
    StatefulKey {
        algorithm: key.algorithm,
        seeds: key.seeds.clone(),
        public: key.public.clone(),
        next: key.next,
        records: key.records.clone(),
        path: None,
        any_file_system: false,
    }
}

/// The results of a campaign.
#[derive(Debug, Default)]
struct BitFlipFindings {
    runs: usize,
    /// Number of runs in which a signature was made with the wrong bit.
    signed: usize,
    /// Number of runs in which a one-time key signed two messages.
    twice: usize,
}

impl BitFlipFindings {
    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.signed += other.signed;
        self.twice += other.twice;
    }
}

/// Runs the procedure with a wrong bit in every group of `stride` bits. The position of the bit within its
/// byte differs from group to group.
fn campaign(name: &str, stride: usize, procedure: SignProcedure) -> BitFlipFindings {
    let workers = available_parallelism().map_or(1, usize::from);
    let of_worker = |worker: usize| {
        let mut findings = BitFlipFindings::default();
        // The index is within a tree, at the first leaf of a new tree, or after that leaf.
        for next in [2, 32, 33] {
            let (key, mut ledger) = signed_up_to(name, next);
            // Computes the paths of the right key once, before the ledger is cloned.
            for index in next..next + 3 {
                ledger.path(&key, index);
            }
            for (place, field, bit) in flips(&key, stride).skip(worker).step_by(workers) {
                findings.add(&flipped(&key, ledger.clone(), (place, field, bit), procedure));
            }
        }
        findings
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|it| scope.spawn(move || of_worker(it))).collect();
        workers.into_iter().fold(BitFlipFindings::default(), |mut all, worker| {
            all.add(&worker.join().unwrap());
            all
        })
    })
}

type Flip = (Place, Field, usize);

/// Returns each place and field, with the bits that are to be changed.
fn flips(key: &StatefulKey, stride: usize) -> impl Iterator<Item = Flip> {
    let bits = |field: Field| {
        let bits = field.bits(key);
        (0..bits).step_by(stride).map(move |bit| bit ^ (bit / stride % 8))
    };
    let of = |place, field| bits(field).map(move |bit| (place, field, bit)).collect::<Vec<_>>();
    let mut flips = Vec::new();
    for place in [Place::Memory, Place::File, Place::FileOnce] {
        for field in [Field::Seeds, Field::Public, Field::Records, Field::Next] {
            if field != Field::Next || place == Place::Memory {
                flips.extend(of(place, field));
            }
        }
    }
    flips.into_iter()
}

/// Makes two signatures with the wrong bit, and one without it.
fn flipped(
    key: &StatefulKey,
    mut ledger: OneTimeKeyLedger,
    (place, field, bit): Flip,
    procedure: SignProcedure,
) -> BitFlipFindings {
    let mut wrong = copy_of(key);
    field.flip(&mut wrong, bit);
    let content = if place == Place::Memory { key } else { &wrong };
    let mut file = MemoryFile(content.to_pem().as_bytes().to_vec(), Vec::new());
    let mut is_signed = false;
    for message in [b"one", b"two"] {
        if let Ok(index) = procedure(&wrong, &mut file, message) {
            ledger.note(&wrong, index, message);
            is_signed = true;
        }
    }
    if place == Place::FileOnce
        && let Ok(mut repaired) = StatefulKey::decode_file(&file.0, None)
    {
        field.flip(&mut repaired, bit);
        file.0 = repaired.to_pem().as_bytes().to_vec();
    }
    if place != Place::File
        && let Ok(index) = procedure(key, &mut file, b"three")
    {
        ledger.note(key, index, b"three");
    }
    BitFlipFindings { runs: 1, signed: usize::from(is_signed), twice: usize::from(ledger.twice) }
}

const HSS: &str = "hss-l2-sha256-192-h5-w1";
const XMSS_MT: &str = "xmssmt-sha2-20-4-192";

#[test]
fn a_wrong_bit_makes_no_key_sign_twice() {
    for (name, stride) in [(HSS, 24), ("lms-sha256-192-h5-w1", 24), (XMSS_MT, 288)] {
        let findings = campaign(name, stride, sign);
        assert_eq!(findings.twice, 0, "{name}: {findings:?}");
        assert!(findings.runs > 20, "{name}: {findings:?}");
        // The next index in the file is used, and not the one that was read first.
        assert!(findings.signed > 0, "{name}: {findings:?}");
    }
}

#[test]
#[ignore = "an hour of processor time: every bit"]
fn no_wrong_bit_makes_a_key_sign_twice() {
    for name in [HSS, "lms-sha256-192-h5-w1", XMSS_MT] {
        let findings = campaign(name, 1, sign);
        println!("{name}: {findings:?}");
        assert_eq!(findings.twice, 0, "{name}");
    }
}

#[test]
fn signing_whatever_grows_is_caught() {
    let findings = campaign(HSS, 24, sign_whatever_grows);
    assert!(findings.twice > 0, "{findings:?}");
}
