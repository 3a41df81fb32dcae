//! Runs public vectors of hash-based signatures on the root of trust. With its engine, a verifier must give the same
//! verdict as in software.
//!
//! The vectors are read from the folder that `HARTLOCK_VECTORS` names.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hartlock_kat::roots::Scheme;
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::Sha256;
use serde_json::Value;

use super::rot::Rot;
use super::signatures::{RootCase, RootUnit, run_on};

/// The daily sample: the number of valid signatures of a scheme, and the number of changed ones.
const SAMPLE: usize = 3;

/// A source of vectors of a scheme.
struct VectorSource {
    /// The name of a file, or a pattern: all files whose names begin with the text before a star and end with the text
    /// after it.
    folder: &'static str,
    files: &'static str,
    scheme: Scheme,
    form: VectorFormat,
}

/// The format of a file of vectors.
enum VectorFormat {
    /// A line `name = value` or `name: value` for each value, with the names of key, message and signature. Records end
    /// at empty lines. A value that is missing is that of an earlier record, or follows in the next one.
    Records([&'static str; 3]),
    /// Records in the same format, with signatures that are not valid.
    Changed([&'static str; 3]),
    /// JSON objects, also in groups, each with its verdict.
    Json,
}

const LIBOQS: VectorFormat = VectorFormat::Records(["pk", "msg", "sm"]);
const BOTAN: VectorFormat = VectorFormat::Records(["PublicKey", "Msg", "Signature"]);
const BOUNCY_CASTLE: VectorFormat = VectorFormat::Records(["HSSPublicKey", "Message", "Signature"]);

const fn source(
    folder: &'static str,
    files: &'static str,
    scheme: Scheme,
    form: VectorFormat,
) -> VectorSource {
    VectorSource { folder, files, scheme, form }
}

const SOURCES: [VectorSource; 11] = [
    source("xmss", "botan_xmss_verify.vec", Scheme::Xmss, BOTAN),
    source("xmss", "liboqs_XMSS-SHA2_*.rsp", Scheme::Xmss, LIBOQS),
    source("xmss", "derived_xmss_invalid.json", Scheme::Xmss, VectorFormat::Json),
    source("lms", "botan_hss_lms_verify.vec", Scheme::Lms, BOTAN),
    source("lms", "bc_*.txt", Scheme::Lms, BOUNCY_CASTLE),
    source("lms", "liboqs_LMS_*.rsp", Scheme::Lms, LIBOQS),
    source("lms", "LMS-sigVer-1.0.json", Scheme::Lms, VectorFormat::Json),
    source(
        "lms",
        "botan_hss_lms_invalid.vec",
        Scheme::Lms,
        VectorFormat::Changed(["PublicKey", "Msg", "InvalidSignature"]),
    ),
    source("slh-dsa", "bc_sha2-128s.rsp", Scheme::SlhDsaSha2_128s, LIBOQS),
    source("slh-dsa", "bc_sha2-128s-sha256.rsp", Scheme::SlhDsaSha2_128s, LIBOQS),
    source("slh-dsa", "derived_slhdsa_invalid.json", Scheme::SlhDsaSha2_128s, VectorFormat::Json),
];

/// The object identifier of SHA-256 in DER, for a digest that is signed (FIPS 205 §10.2.2).
const SHA256: [u8; 11] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];

/// Numbers of vectors that were verified with the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorCounts {
    pub valid: usize,
    pub changed: usize,
}

/// A vector, and true if it is valid.
type Vector = (RootCase, bool);

/// Verifies the vectors, and prints their numbers.
///
/// # Errors
/// Same as [`run`].
pub fn print(machine: Rot) -> Result<()> {
    for (scheme, VectorCounts { valid, changed }) in run(machine)?.unwrap_or_default() {
        println!(
            "{}: {valid} valid and {changed} changed vectors of {scheme:?} as in software",
            machine.name
        );
    }
    Ok(())
}

/// Verifies the vectors with the engine; returns their numbers by scheme, or nothing without the folder. By default
/// these are a sample; `HARTLOCK_ALL_VECTORS` selects all.
///
/// # Errors
/// If a root, or the reason why there is none, differs from software, or a verdict from that of the vector.
pub fn run(machine: Rot) -> Result<Option<Vec<(Scheme, VectorCounts)>>> {
    let Some(folder) = public_vectors()? else { return Ok(None) };
    let is_sample = env::var_os("HARTLOCK_ALL_VECTORS").is_none();
    let (mut cases, mut counts) = (Vec::new(), Vec::new());
    for scheme in [Scheme::Xmss, Scheme::Lms, Scheme::SlhDsaSha2_128s] {
        let mut vectors = Vec::new();
        for source in SOURCES.iter().filter(|source| source.scheme == scheme) {
            vectors.extend(source.read(&folder)?);
        }
        let (valid, changed) = vectors.into_iter().partition(|(_, is_valid)| *is_valid);
        let [valid, changed] = [valid, changed].map(|group| chosen(group, is_sample));
        counts.push((scheme, VectorCounts { valid: valid.len(), changed: changed.len() }));
        for (case, is_valid) in valid.into_iter().chain(changed) {
            ensure!(case.is_valid() == is_valid, "software says otherwise of a vector: {scheme:?}");
            cases.push(case);
        }
    }
    run_on(machine, RootUnit::Engine, &cases)?;
    Ok(Some(counts))
}

/// Returns the folder of public vectors, if one is named. Then it has to exist.
pub(super) fn public_vectors() -> Result<Option<PathBuf>> {
    let Some(folder) = env::var_os("HARTLOCK_VECTORS").map(PathBuf::from) else { return Ok(None) };
    ensure!(folder.is_dir(), "HARTLOCK_VECTORS names no folder: {}", folder.display());
    Ok(Some(folder))
}

/// Returns all items or, as a sample, some at equal distances.
pub(super) fn chosen<T>(all: Vec<T>, is_sample: bool) -> Vec<T> {
    let step = if is_sample { all.len().div_ceil(SAMPLE) } else { 1 };
    all.into_iter().step_by(step.max(1)).collect()
}

impl VectorSource {
    fn read(&self, folder: &Path) -> Result<Vec<Vector>> {
        let mut vectors = Vec::new();
        for path in self.paths(&folder.join(self.folder))? {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let found = match &self.form {
                VectorFormat::Records(names) => self.records(&text, *names, true),
                VectorFormat::Changed(names) => self.records(&text, *names, false),
                VectorFormat::Json => self.objects(&serde_json::from_str(&text)?),
            };
            vectors.extend(found.with_context(|| format!("in {}", path.display()))?);
        }
        ensure!(!vectors.is_empty(), "no vector of the engine in {}", self.files);
        Ok(vectors)
    }

    fn paths(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let Some((start, end)) = self.files.split_once('*') else {
            return Ok(vec![folder.join(self.files)]);
        };
        let entries = fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .collect::<Result<Vec<_>, _>>()?;
        let is_one = |entry: &fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(start) && name.ends_with(end)
        };
        let mut paths: Vec<_> =
            entries.iter().filter(|entry| is_one(entry)).map(fs::DirEntry::path).collect();
        paths.sort();
        Ok(paths)
    }

    /// Reads the vectors of a file with lines. A record may have several signatures, or more values for the record
    /// before.
    fn records(&self, text: &str, names: [&str; 3], is_valid: bool) -> Result<Vec<Vector>> {
        let mut vectors = Vec::new();
        let (mut fields, mut signatures) = (BTreeMap::new(), Vec::new());
        for record in text.split("\n\n") {
            let lines = record.lines().filter(|line| !line.starts_with('#'));
            for (name, value) in lines.filter_map(|line| line.split_once(['=', ':'])) {
                let value = value.trim().trim_matches('"');
                if name.trim() == names[2] {
                    signatures.push(value);
                } else {
                    fields.insert(name.trim(), value);
                }
            }
            let field = |name: &str| fields.get(name).copied();
            let [Some(key), Some(message), _] = names.map(field) else { continue };
            for signature in signatures.drain(..) {
                let (key, message) = (unhex(key)?, unhex(message)?);
                let message = match (field("message_prime"), field("context")) {
                    (Some(encoded), _) => unhex(encoded)?,
                    // The internal interface takes this message unchanged (FIPS 205 §9.2).
                    (None, None | Some("none")) => message,
                    (None, Some("zero_length")) => encoded(&[], None, &message)?,
                    (None, Some(context)) => encoded(&unhex(context)?, None, &message)?,
                };
                vectors.extend(self.vector([key, message, unhex(signature)?], is_valid));
            }
        }
        ensure!(signatures.is_empty(), "a signature without a key or a message");
        Ok(vectors)
    }

    /// Reads the vectors of a file with objects.
    fn objects(&self, file: &Value) -> Result<Vec<Vector>> {
        let list = |value: &Value, name: &str| value[name].as_array().cloned();
        let groups = list(file, "testGroups").unwrap_or_else(|| vec![file.clone()]);
        let mut vectors = Vec::new();
        for group in groups {
            if self.scheme == Scheme::Xmss && group["type"] != "XmssVerify" {
                continue;
            }
            for test in list(&group, "tests").context("no tests")? {
                if !matches!(test["parameterSet"].as_str(), None | Some("SLH-DSA-SHA2-128s")) {
                    continue;
                }
                let text = |names: &[&str]| {
                    let mut found = names.iter().filter_map(|name| test[*name].as_str());
                    found.next().or_else(|| group[*names.last()?].as_str())
                };
                let bytes = |names: &[&str]| {
                    unhex(text(names).with_context(|| format!("no {}", names.join(", ")))?)
                };
                let key = bytes(&["publicKeyOverride", "pk", "publicKey"])?;
                let mut message = bytes(&["msg", "message"])?;
                if self.scheme == Scheme::SlhDsaSha2_128s {
                    let oid = match text(&["preHash"]) {
                        Some("pure") => None,
                        Some("SHA2-256") => Some(&SHA256[..]),
                        other => bail!("another interface: {other:?}"),
                    };
                    message = encoded(&bytes(&["context"])?, oid, &message)?;
                }
                let is_valid = test["testPassed"] == true || test["result"] == "valid";
                let signature = bytes(&["sig", "signature"])?;
                vectors.extend(self.vector([key, message, signature], is_valid));
            }
        }
        Ok(vectors)
    }

    /// Returns the vector if the engine supports its parameters.
    fn vector(&self, [key, message, signature]: [Vec<u8>; 3], is_valid: bool) -> Option<Vector> {
        let is_built_in = match self.scheme {
            // The types XMSS-SHA2_10_256, _16_256 and _20_256 (RFC 8391 §5.3).
            Scheme::Xmss => matches!(key[..], [0, 0, 0, 1..=3, ..]),
            Scheme::XmssMt => false,
            // Types with SHA-256, also truncated (SP 800-208 §4). A key of HSS has the number of levels before the
            // type.
            Scheme::Lms => {
                let skipped = if key.len().is_multiple_of(8) { 0 } else { 4 };
                matches!(key.get(skipped..), Some([0, 0, 0, 5..=14, ..]))
            }
            Scheme::SlhDsaSha2_128s => true,
        };
        let case = RootCase { scheme: self.scheme, key, message, signature };
        is_built_in.then_some((case, is_valid))
    }
}

/// Returns the encoded message M′ of a message, or of its digest (FIPS 205 §10.2).
fn encoded(context: &[u8], oid: Option<&[u8]>, message: &[u8]) -> Result<Vec<u8>> {
    let head = [u8::from(oid.is_some()), u8::try_from(context.len())?];
    let mut hash = Sha256::new();
    hash.update(message);
    let digest = hash.finalize();
    let message = if oid.is_some() { &digest[..] } else { message };
    Ok([&head, context, oid.unwrap_or_default(), message].concat())
}

pub(super) fn unhex(text: &str) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2) && text.is_ascii(), "no bytes: {text}");
    let bytes = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    Ok(bytes.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const XMSS: VectorSource = source("", "", Scheme::Xmss, BOTAN);
    const LMS: VectorSource = source("", "", Scheme::Lms, BOUNCY_CASTLE);
    const SLH_DSA: VectorSource = source("", "", Scheme::SlhDsaSha2_128s, VectorFormat::Json);

    #[test]
    fn vectors_of_the_parameters_are_taken() {
        let text = "# a\n\nPublicKey = 0000000255\nMsg = \nSignature = 0102\n\nPublicKey = 0000000d\nMsg =\nSignature =\n";
        let vectors = XMSS.records(text, ["PublicKey", "Msg", "Signature"], true).unwrap();
        let [(case, true)] = &vectors[..] else { panic!("not one") };
        assert_eq!((case.message.len(), &case.signature[..]), (0, &[1, 2][..]));
        assert!(XMSS.records("Signature = 00", ["PublicKey", "Msg", "Signature"], true).is_err());
        let tests = r#"{"testGroups": [{"type": "XmssVerify", "publicKey": "00000001", "tests": [
            {"msg": "00", "sig": "", "result": "valid"},
            {"msg": "00", "sig": "11", "publicKeyOverride": "0000000e"}]},
            {"type": "XmssMtVerify", "publicKey": "00000001", "tests": [{"msg": "", "sig": ""}]}]}"#;
        let vectors = XMSS.objects(&serde_json::from_str(tests).unwrap()).unwrap();
        assert!(matches!(vectors[..], [(_, true)]));
        assert!(unhex("0").is_err() && unhex("0g").is_err());
    }

    #[test]
    fn a_record_has_what_the_one_before_said_and_any_number_of_signatures() {
        let text = "HSSPublicKey: 000000010000000500\nMessage: 6364\n\nSignature: 01\nSignature: 02\n\n\
            HSSPublicKey: 000000010000000f00\nSignature: 03\n";
        let vectors = LMS.records(text, ["HSSPublicKey", "Message", "Signature"], false).unwrap();
        let signatures: Vec<_> = vectors.iter().map(|(case, _)| case.signature[0]).collect();
        assert_eq!(signatures, [1, 2], "a key with SHAKE counts");
        assert!(vectors.iter().all(|(case, is_valid)| case.message == b"cd" && !is_valid));
    }

    #[test]
    fn messages_are_encoded_by_their_interface() {
        let record = |context: &str| {
            let text = format!("pk = 00\nmsg = 07\nsm = 01\ncontext = {context}\n");
            let vectors = SLH_DSA.records(&text, ["pk", "msg", "sm"], true).unwrap();
            vectors[0].0.message.clone()
        };
        assert_eq!(record("none"), [7]);
        assert_eq!(record("zero_length"), [0, 0, 7]);
        assert_eq!(record("aabb"), [0, 2, 0xaa, 0xbb, 7]);
        let tests = r#"{"tests": [{"parameterSet": "SLH-DSA-SHA2-128s", "preHash": "SHA2-256", "pk": "00",
            "context": "aa", "msg": "", "sig": "", "result": "invalid"},
            {"parameterSet": "SLH-DSA-SHAKE-128s"}]}"#;
        let vectors = SLH_DSA.objects(&serde_json::from_str(tests).unwrap()).unwrap();
        let [(case, false)] = &vectors[..] else { panic!("not one") };
        assert_eq!(case.message[..5], [1, 1, 0xaa, 6, 9]);
        assert_eq!(case.message.len(), 3 + 11 + 32);
    }

    #[test]
    fn a_sample_is_spread_over_all() {
        let some = |count: u8, is_sample| chosen((0..count).collect(), is_sample);
        assert_eq!(some(9, true), [0, 3, 6]);
        assert_eq!(some(2, true), [0, 1]);
        assert_eq!(some(4, false), [0, 1, 2, 3]);
    }
}
