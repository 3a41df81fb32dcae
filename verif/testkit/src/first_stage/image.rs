//! Makes an image from its fields, its changes, and the options of its verifier.

use anyhow::{Context, Result};
use hartlock_image::first_stage::{
    FIRST_STAGE_HEADER_SIZE, FirstStageAlgorithm, FirstStageHeader, Front, encode_front,
};
use hartlock_image::{Lifecycle, Name, Reason};
use serde::{Deserialize, Serialize};

use crate::bundle::name;
use crate::expected::answer;
use crate::signers::{self, Signer};

/// An image by its fields.
#[derive(Clone)]
pub struct FirstStageDraft {
    pub signer: &'static Signer,
    /// The header, whose algorithm and code size are computed.
    pub header: FirstStageHeader,
    pub code: Vec<u8>,
}

impl FirstStageDraft {
    /// Returns an image of a signer with 128 bytes of code.
    pub fn of(signer: &'static Signer) -> Self {
        let header = FirstStageHeader {
            algorithm: algorithm(signer),
            code_size: 0,
            security_version: 7,
            lifecycle_mask: Lifecycle::Development.bit() | Lifecycle::Production.bit(),
            board: *name("hartlock-soc").field(),
            soc: *name("rot").field(),
            next_key: None,
        };
        Self { signer, header, code: (0..128_u8).map(|index| index ^ 0x5a).collect() }
    }

    /// Returns an image of the signer with the shortest signatures.
    pub fn smallest() -> Self {
        Self::of(&signers::LMS_192)
    }

    pub fn algorithm(&self) -> FirstStageAlgorithm {
        algorithm(self.signer)
    }

    /// Returns header and code, before they are signed.
    fn signed(&self) -> Vec<u8> {
        let header = FirstStageHeader { code_size: self.code.len() as u64, ..self.header }.encode();
        [&header[..], &self.code].concat()
    }
}

fn algorithm(signer: &Signer) -> FirstStageAlgorithm {
    FirstStageAlgorithm::of(signer.algorithm()).expect("a signer of the form")
}

/// Returns lead and key of the images of a signer.
pub fn front(signer: &Signer) -> [u8; 128] {
    let algorithm = algorithm(signer);
    let key = algorithm.key_area(&signer.public_key()).expect("a key of its algorithm");
    encode_front(algorithm, &key)
}

/// Returns the digest of a signer's key.
pub fn digest(signer: &Signer) -> [u8; 32] {
    let front = front(signer);
    hartlock_first_stage_model::key_digest(&Front::parse(&front).expect("a front"))
}

/// The offsets in the images of one signer.
#[derive(Clone, Copy)]
pub struct Places {
    /// The offset after the last byte of the signature.
    pub signature_end: usize,
    /// The offset of the signed part.
    pub signed: usize,
    /// The offset of the code.
    pub code: usize,
}

/// A change to an image at one of the steps of making it, or to the options of its verifier.
#[derive(Clone, Copy)]
pub enum FirstStageEdit {
    Draft(fn(&mut FirstStageDraft)),
    /// A change to header and code before they are signed.
    Signed(fn(&mut Vec<u8>)),
    /// A change to the whole file, after it is signed.
    File(fn(&mut Vec<u8>, Places)),
    Options(fn(&mut FirstStageOptions)),
}

/// Makes the file of a draft with all edits applied. Also returns the draft as it was signed.
pub fn build(mut draft: FirstStageDraft, edits: &[FirstStageEdit]) -> (Vec<u8>, FirstStageDraft) {
    for edit in edits {
        if let FirstStageEdit::Draft(change) = edit {
            change(&mut draft);
        }
    }
    let mut signed = draft.signed();
    for edit in edits {
        if let FirstStageEdit::Signed(change) = edit {
            change(&mut signed);
        }
    }
    let algorithm = draft.algorithm();
    let range = algorithm.signature_range();
    let places = Places {
        signature_end: range.end,
        signed: algorithm.signed_offset(),
        code: algorithm.signed_offset() + FIRST_STAGE_HEADER_SIZE,
    };
    let mut file = front(draft.signer).to_vec();
    file.resize(places.signed, 0);
    algorithm
        .signature_values(&draft.signer.sign(&signed), &mut file[range])
        .expect("a signature of its algorithm");
    file.extend(signed);
    for edit in edits {
        if let FirstStageEdit::File(change) = edit {
            change(&mut file, places);
        }
    }
    (file, draft)
}

/// Returns an image without a fault.
pub fn sample() -> Vec<u8> {
    build(FirstStageDraft::smallest(), &[]).0
}

/// The options of the verifier. If an option is absent, the property is not checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstStageOptions {
    /// The trusted keys, as names of files in `spec/vectors/keys`.
    pub keys: Vec<String>,
    /// The digests of the trusted keys, in hexadecimal digits.
    pub key_digests: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// True if the image is on a medium, which may have bytes after it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub medium: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl FirstStageOptions {
    /// Returns options that trust this signer and check nothing else.
    pub(super) fn of(signer: &Signer) -> Self {
        let mut options = Self {
            keys: Vec::new(),
            key_digests: Vec::new(),
            board: None,
            soc: None,
            floor: None,
            lifecycle: None,
            capacity: None,
            medium: false,
        };
        options.trust(&[signer]);
        options
    }

    /// Trusts exactly these signers.
    pub fn trust(&mut self, signers: &[&Signer]) {
        self.keys = signers.iter().map(|signer| signer.file().to_owned()).collect();
        self.key_digests = signers.iter().map(|signer| hex(&digest(signer))).collect();
    }

    /// Checks everything that hardware checks, with values at the limit for which [`FirstStageDraft::of`] is
    /// accepted.
    pub fn of_device(&mut self) {
        self.board = Some("hartlock-soc".into());
        self.soc = Some("rot".into());
        self.floor = Some(7);
        self.lifecycle = Some(Lifecycle::Production.name().into());
        self.capacity = Some(128);
        self.medium = true;
    }

    /// Verifies an image with the library and returns the answer.
    ///
    /// # Errors
    /// If an option cannot be parsed.
    pub fn judge(&self, image: &[u8]) -> Result<String> {
        let digests = self.key_digests.iter().map(|text| parse_digest(text));
        let trusted = digests.collect::<Result<Vec<_>>>()?;
        let named = |text: &Option<String>| {
            text.as_deref().map(|text| Name::new(text).context("no name")).transpose()
        };
        let state = |text: &String| {
            let found = Lifecycle::ALL.into_iter().find(|state| state.name() == text);
            found.context("no lifecycle state")
        };
        let requirements = hartlock_first_stage_model::Requirements {
            trusted: &trusted,
            board: named(&self.board)?,
            soc: named(&self.soc)?,
            floor: self.floor,
            lifecycle: self.lifecycle.as_ref().map(state).transpose()?,
            capacity: self.capacity,
            is_file: !self.medium,
        };
        // The buffer is not zero, because its previous content must not matter.
        let mut room = vec![0xa5; hartlock_first_stage_model::ROOM_SIZE];
        let verdict = hartlock_first_stage_model::verify(image, &requirements, &mut room);
        Ok(answer(verdict.err()))
    }
}

fn parse_digest(text: &str) -> Result<[u8; 32]> {
    let mut digest = [0; 32];
    anyhow::ensure!(text.len() == 64 && text.is_ascii(), "a digest has 64 digits");
    for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16)?;
    }
    Ok(digest)
}

/// A vector, as written in `expected.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstStageExpected {
    pub name: String,
    pub verdict: String,
    pub reason: Option<String>,
    pub options: FirstStageOptions,
    pub description: String,
}

impl FirstStageExpected {
    /// Returns the answer that a runner must report.
    pub fn answer(&self) -> &str {
        self.reason.as_deref().unwrap_or(&self.verdict)
    }
}

/// The definition of a vector.
#[derive(Clone)]
pub struct FirstStageRow {
    pub name: &'static str,
    /// The expected reason, or `None` if the image must be accepted.
    pub reason: Option<Reason>,
    pub base: fn() -> FirstStageDraft,
    /// A sentence about the fault, or about the special property of an accepted image.
    pub description: &'static str,
    pub edits: &'static [FirstStageEdit],
}

/// A vector with its bytes.
pub struct FirstStageVector {
    pub expected: FirstStageExpected,
    pub image: Vec<u8>,
}

impl FirstStageRow {
    /// Makes the image and the answer that its verifier must give.
    pub fn make(&self) -> FirstStageVector {
        let (image, draft) = build((self.base)(), self.edits);
        let mut options = FirstStageOptions::of(draft.signer);
        for edit in self.edits {
            if let FirstStageEdit::Options(change) = edit {
                change(&mut options);
            }
        }
        let expected = FirstStageExpected {
            name: self.name.into(),
            verdict: if self.reason.is_some() { "refused" } else { "accepted" }.into(),
            reason: self.reason.map(|reason| answer(Some(reason))),
            options,
            description: self.description.into(),
        };
        FirstStageVector { expected, image }
    }
}
