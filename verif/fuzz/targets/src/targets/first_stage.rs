//! First stages: a test vector with changes, or arbitrary bytes after the tag.
//!
//! Rules: an image that can be parsed has one encoding, within the limits of the form; an unchanged vector gives its
//! expected answer; only an unchanged image is accepted; the library and `spec/first_stage.py` give the same reason;
//! `hartlock inspect`, which shows any file, shows every byte once.

use std::cell::RefCell;
use std::path::Path;
use std::sync::OnceLock;

use hartlock_boards::Boards;
use hartlock_bundle::inspect::inspect_file;
use hartlock_image::first_stage::{
    FIRST_STAGE_TAG, FirstStageAlgorithm, FirstStageHeader, Front, Image, encode_front,
};
use hartlock_testkit::first_stage::{FirstStageOptions, FirstStageVector, load};

use crate::choices::Choices;
use crate::files::Temporary;
use crate::python::SecondVerifier;

/// Returns the vectors that are quick to verify; most of them have one signer.
fn vectors() -> &'static [FirstStageVector] {
    static VECTORS: OnceLock<Vec<FirstStageVector>> = OnceLock::new();
    VECTORS.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let mut all = load(&root).expect("the vectors are there");
        all.retain(|made| made.image.len() < 2048);
        all
    })
}

/// An image, the options of its verifier, and the expected result.
struct FirstStageCase {
    image: Vec<u8>,
    options: FirstStageOptions,
    /// The expected answer if nothing was changed.
    expected: Option<String>,
    /// The unchanged image, if it is accepted with these options.
    accepted: Option<&'static [u8]>,
}

impl FirstStageCase {
    fn new(choices: &mut Choices<'_>) -> Self {
        let all = vectors();
        let made = &all[choices.below(all.len())];
        let answer = made.expected.answer();
        let mut case = Self {
            image: made.image.clone(),
            options: made.expected.options.clone(),
            expected: Some(answer.to_owned()),
            accepted: (answer == "accepted").then_some(&made.image[..]),
        };
        for _ in 0..choices.of(&[0, 1, 1, 2, 3]) {
            case.expected = None;
            change(choices, &mut case.image);
        }
        if choices.rarely(4) {
            case.expected = None;
            change_options(choices, &mut case.options);
        }
        case
    }
}

/// Offsets of fields in the first 128 bytes, and in the header of most vectors.
const FIELDS: [usize; 16] =
    [0, 16, 20, 24, 64, 104, 128, 136, 960, 976, 984, 992, 1000, 1024, 1088, 1120];

fn change(choices: &mut Choices<'_>, image: &mut Vec<u8>) {
    let field = choices.of(&FIELDS);
    let any = choices.below(image.len().max(1));
    match choices.below(6) {
        0 => image.truncate(any),
        1 => image.extend(choices.bytes(70)),
        2 => {
            if let Some(place) = image.get_mut(field..field + 8) {
                place.copy_from_slice(&choices.number().to_le_bytes());
            }
        }
        3 => {
            if let Some(place) = image.get_mut(field..field + 4) {
                place.copy_from_slice(&choices.word().to_le_bytes());
            }
        }
        4 => {
            if let Some(byte) = image.get_mut(field) {
                *byte = choices.byte();
            }
        }
        _ => {
            if let Some(byte) = image.get_mut(any) {
                *byte ^= 1 << choices.below(8);
            }
        }
    }
}

fn change_options(choices: &mut Choices<'_>, options: &mut FirstStageOptions) {
    match choices.below(5) {
        0 => options.board = Some(choices.of(&["hartlock-soc", "hartlock-so", "a"]).into()),
        1 => options.soc = Some(choices.of(&["rot", "rott", "b"]).into()),
        2 => options.floor = Some(choices.number()),
        3 => options.capacity = Some(choices.number()),
        _ => options.medium = !options.medium,
    }
}

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let case = if choices.rarely(4) {
        let options = vectors()[0].expected.options.clone();
        let image = [&FIRST_STAGE_TAG[..], choices.rest()].concat();
        FirstStageCase { image, options, expected: None, accepted: None }
    } else {
        FirstStageCase::new(&mut choices)
    };
    let FirstStageCase { image, options, expected, accepted } = &case;
    parse(image);
    let answer = options.judge(image).expect("options that can be read");
    if let Some(expected) = expected {
        assert_eq!(answer, *expected, "an unchanged vector");
    }
    if answer == "accepted" && expected.is_none() {
        // The image can still be accepted if only the options changed, if changes cancel out, or if they are in the
        // bytes after the image on a medium.
        let known = vectors().iter().map(|made| &made.image[..]).chain(*accepted);
        let is_known = known.into_iter().any(|known| {
            let end = end_of(known).unwrap_or(usize::MAX);
            known.get(..end).is_some_and(|known| image.starts_with(known))
        });
        assert!(is_known, "a changed image is accepted");
    }
    let second = SECOND.with_borrow_mut(|second| {
        second.get_or_insert_with(SecondVerifier::start).judge_first_stage(image, options)
    });
    assert_eq!(second, answer, "spec/first_stage.py and the library differ");
    show(image);
}

thread_local! {
    static SECOND: RefCell<Option<SecondVerifier>> = const { RefCell::new(None) };
}

/// Returns the end of an image; `None` if it cannot be parsed.
fn end_of(image: &[u8]) -> Option<usize> {
    let front = Front::parse(image).ok()?;
    let parts = Image::parse(front, image, None).ok()?;
    Some(image.len() - parts.trailing)
}

/// Checks the rules of parsing, with or without a valid signature.
fn parse(image: &[u8]) {
    let Ok(front) = Front::parse(image) else { return };
    let algorithm = front.algorithm();
    assert_eq!(encode_front(algorithm, front.key())[..], image[..128], "one encoding of the front");
    let Ok(parts) = Image::parse(front, image, None) else { return };
    let size = algorithm.signed_offset() + parts.signed.len();
    assert_eq!(size + parts.trailing, image.len(), "every byte in one part");
    assert!(parts.code().len() % 64 == 0 && (64..=16 << 20).contains(&parts.code().len()));
    let mut room = vec![0; FirstStageAlgorithm::MAX_STANDARD_SIGNATURE];
    if let Ok(len) = algorithm.standard_signature(parts.signature, &mut room) {
        let mut values = vec![0xff; parts.signature.len()];
        let back = algorithm.signature_values(&room[..len], &mut values);
        assert!(back == Some(values.len()) && values == parts.signature, "one encoding of values");
    }
    if let Ok(header) = FirstStageHeader::parse(parts.signed, algorithm) {
        assert_eq!(header.encode()[..], parts.signed[..256], "one encoding of the header");
    }
}

/// Runs `hartlock inspect` on the image.
fn show(image: &[u8]) {
    let file = Temporary::of(image);
    let inspection =
        inspect_file(Path::new(&file.path()), &Boards::default()).expect("a file that can be read");
    let mut end = 0;
    for field in &inspection.fields {
        assert!(field.offset == end && field.size > 0, "every byte in one field");
        let is_plain = field.value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        assert!(is_plain, "a terminal would obey it: {:?}", field.value);
        end = field.end();
    }
    assert_eq!(end, file.len);
    if inspection.reason.is_none() && inspection.first_stage.is_some() {
        assert_eq!(end_of(image), Some(image.len()), "well-formed, and of another size");
    }
}
