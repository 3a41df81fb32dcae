//! The messages with which kernels are tested, and their digests by the portable forms.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hartlock_image::HashId;
use hartlock_jobs::kernels::{COUNTED_SEED, Case, MAX_HEAD_LEN, MAX_LEN, MAX_MESSAGES};
use hartlock_verify::tree::{Digest, Hasher, SoftwareHasher};
use serde_json::Value;

/// A case that owns its digests and its message.
pub struct OwnedCase {
    case: Case<'static>,
    digests: Vec<Digest>,
    given: Option<Vec<u8>>,
}

/// Files of NIST's validation program (CAVP/ACVP) in the folder of public vectors.
const PUBLIC: [(HashId, &str); 6] = [
    (HashId::Sha256, "sha2/SHA2-256-1.0-byte.json"),
    (HashId::Sha384, "sha2/SHA2-384-1.0-byte.json"),
    (HashId::Sha512, "sha2/SHA2-512-1.0-byte.json"),
    (HashId::Sha3_256, "sha3/SHA3-256-2.0-byte.json"),
    (HashId::Sha3_384, "sha3/SHA3-384-2.0-byte.json"),
    (HashId::Sha3_512, "sha3/SHA3-512-2.0-byte.json"),
];
/// Number of copies of a public message, which are hashed one by one and all at once.
const COPIES: usize = 3;

/// Layout of the messages of a case: number of messages, length, length of the head, and
/// misalignment, in bytes.
type Layout = (usize, usize, usize, usize);

/// Returns cases for every hash, with lengths around the block size, with every alignment, and with
/// more messages than lanes.
pub fn all() -> Result<Vec<OwnedCase>> {
    let mut cases = Vec::new();
    for hash in HashId::ALL {
        let mut layouts = layouts(block_len(hash));
        if hash == HashId::Kt128 {
            // These lengths fill all lanes with chunks, and half of the lanes plus one chunk.
            layouts.extend([(2, 8 * 8192, 0, 0), (1, 7 * 8192 + 5, 0, 0), (1, 5 * 8192 + 1, 0, 4)]);
        }
        for (seed, layout) in (1..).zip(layouts) {
            cases.push(OwnedCase::new(hash, layout, seed));
        }
    }
    match public_folder()? {
        Some(folder) => {
            for (hash, file) in PUBLIC {
                let path = folder.join(file);
                cases.extend(public(hash, &path).with_context(|| path.display().to_string())?);
            }
        }
        None => PUBLIC.iter().for_each(|(_, file)| eprintln!("SKIPPED: public vectors: {file}")),
    }
    Ok(cases)
}

/// Returns one case for each of these hashes, where time is short. [`all`] tests the kernels
/// completely.
pub fn few(hashes: &[HashId]) -> Vec<OwnedCase> {
    let case = |hash: &HashId| OwnedCase::new(*hash, (2, 400, 16, 4), 1);
    hashes.iter().map(case).collect()
}

/// Returns the hexadecimal digest of the message that is counted. Returns `None` if there is no
/// such hash.
pub fn counted_digest(hash: &str, len: u64) -> Option<String> {
    let layout = (1, usize::try_from(len).ok()?, 0, 0);
    let made = OwnedCase::new(HashId::from_name(hash)?, layout, COUNTED_SEED);
    Some(made.digests.first()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the folder that HARTLOCK_VECTORS names, or `None` if the variable is not set. Fails if
/// the folder does not exist.
fn public_folder() -> Result<Option<PathBuf>> {
    let Some(folder) = std::env::var_os("HARTLOCK_VECTORS").map(PathBuf::from) else {
        return Ok(None);
    };
    ensure!(folder.is_dir(), "HARTLOCK_VECTORS names no folder: {}", folder.display());
    Ok(Some(folder))
}

/// Returns the messages of a file that have one digest, consist of whole bytes, and fit into the
/// board's memory.
fn public(hash: HashId, path: &Path) -> Result<Vec<OwnedCase>> {
    let file: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let groups = file["testGroups"].as_array().context("no groups")?;
    let mut cases = Vec::new();
    for group in groups.iter().filter(|group| group["testType"] == "AFT") {
        for test in group["tests"].as_array().context("no tests")? {
            let hex = |field: &str| unhex(test[field].as_str().unwrap_or_default());
            let (message, answer) = (hex("msg")?, hex("md")?);
            ensure!(test["len"].as_u64() == Some(8 * message.len() as u64), "a length in bits");
            if message.len() > MAX_LEN {
                continue;
            }
            let mut digest = [0; 64];
            digest.get_mut(..answer.len()).context("a long digest")?.copy_from_slice(&answer);
            let case = Case {
                hash,
                count: COPIES,
                len: message.len(),
                head_len: message.len().min(16),
                misalignment: 0,
                seed: 0,
                digests: &[],
                given: None,
            };
            cases.push(OwnedCase { case, digests: vec![digest; COPIES], given: Some(message) });
        }
    }
    ensure!(!cases.is_empty(), "no known answers");
    Ok(cases)
}

fn unhex(hex: &str) -> Result<Vec<u8>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}

fn layouts(block: usize) -> Vec<Layout> {
    vec![
        (1, 0, 0, 0),
        (3, 1, 0, 0),
        (2, 1, 1, 5),
        (2, block - 1, 0, 0),
        (5, block, 0, 0),
        (3, block + 1, 0, 1),
        // With these lengths, the padding needs an extra block.
        (4, block - 8, 4, 0),
        (2, block - 17, 0, 3),
        (7, 2 * block, block, 0),
        // Same layout as leaves have: a prefix of 16 bytes, then aligned data.
        (16, 3 * block + 40, 16, 8),
        (MAX_MESSAGES, 4 * block + 3, 16, 0),
        (17, 2 * block + 9, 16, 4),
        (9, 4 * block, 299, 2),
        (2, 20_000, 16, 0),
        (4, 4 * block + 100, 0, 7),
    ]
}

impl OwnedCase {
    fn case(&self) -> Case<'_> {
        Case { digests: &self.digests, given: self.given.as_deref(), ..self.case }
    }

    fn new(hash: HashId, (count, len, head_len, misalignment): Layout, seed: u32) -> Self {
        let case = Case {
            hash,
            count,
            len,
            head_len: head_len.min(len).min(MAX_HEAD_LEN),
            misalignment,
            seed,
            digests: &[],
            given: None,
        };
        let digests = (0..count).map(|index| {
            let mut message = vec![0; len];
            case.message(index, &mut message);
            let mut judge = SoftwareHasher::new(hash);
            judge.update(&message);
            judge.finalize()
        });
        Self { case, digests: digests.collect(), given: None }
    }
}

/// Encodes all cases in the format of the pack.
pub fn encode(cases: &[OwnedCase]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for made in cases {
        let mut entry = vec![0; 32 + 64 * MAX_MESSAGES + MAX_LEN];
        let size = made.case().encode(&mut entry).context("too many messages")?;
        body.extend_from_slice(&entry[..size]);
    }
    Ok(body)
}

/// Returns the block size of a hash in bytes.
const fn block_len(hash: HashId) -> usize {
    match hash {
        HashId::Sha256 => 64,
        HashId::Sha384 | HashId::Sha512 => 128,
        HashId::Sha3_256 | HashId::Shake256 => 136,
        HashId::Sha3_384 => 104,
        HashId::Sha3_512 => 72,
        HashId::Shake128 => 168,
        // The size of a chunk, where the structure of KT128 changes.
        HashId::Kt128 => 8192,
    }
}

#[cfg(test)]
mod tests {
    use hartlock_jobs::kernels::Plan;
    use hartlock_kernels::Tier;

    use super::*;

    #[test]
    fn plan_is_read_as_it_was_written() {
        let plan = Plan { tiers: 6, hashes: 1 << 5, counted_len: MAX_LEN, counts_many: false };
        assert_eq!(Plan::parse(&plan.encode()), Some((plan, &[][..])));
        assert!(plan.tries(Tier::Rv64) && !plan.tries(Tier::Zbb));
        assert!(plan.counts(HashId::Sha3_384) && !plan.counts(HashId::Sha256));
        let longer = Plan { counted_len: MAX_LEN + 1, ..plan };
        assert_eq!(Plan::parse(&longer.encode()), None);
    }

    #[test]
    fn what_is_packed_is_what_was_made() {
        let cases = all().unwrap();
        let bytes = encode(&cases).unwrap();
        let mut rest = &bytes[..];
        for made in &cases {
            let (case, after) = Case::parse(rest).unwrap();
            assert_eq!(case, made.case());
            rest = after;
        }
        assert!(rest.is_empty());
    }
}
