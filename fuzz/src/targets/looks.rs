//! The two looks at one manifest. Rule: they accept exactly the same (`crate::looks`).

use hartlock_image::{Closing, Manifest};

use crate::choices::Choices;
use crate::draft::Draft;
use crate::keys::KEYS;
use crate::looks::Looks;
use crate::options::Options;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let draft = Draft::new(&mut choices);
    let options = Options::new(&mut choices, &draft);
    let (signed, _) = draft.encode();
    let blocks = draft.signer_records();
    let mut looks = Looks::new(&options, &blocks, &signed);

    // That the blocks are the signers is part of reading the manifest in the first look.
    let first = looks.first_accepts_signers() && draft.listed_records() == blocks;
    assert_eq!(first, looks.second_accepts_signers(), "signers");
    if looks.count_stranger(choices.of(&[0, 1, 2, 3, 4].map(|key: usize| KEYS[key].record))) {
        assert!(!looks.second_accepts_signers(), "somebody who is not trusted was counted");
    }
    let Ok(manifest) = Manifest::parse(&signed, &blocks) else { return };
    assert_eq!(looks.first_accepts_device(&manifest), looks.second_accepts_device(), "device");
    let placed = looks.second_accepts_placement(&manifest);
    assert_eq!(looks.first_accepts_placement(&manifest), placed, "placement");
    assert!(looks.second_accepts_parse(&manifest), "a manifest differs from its bytes");

    let mut other = manifest.clone();
    distort(&mut choices, &mut other);
    // The rules of form are not looked at twice: what they are about may differ.
    assert_eq!(looks.second_accepts_parse(&other), other == manifest, "parsed fields");
}

/// Changes one thing that a stage uses later.
fn distort(choices: &mut Choices<'_>, manifest: &mut Manifest<'_>) {
    let value = choices.number();
    let field = choices.below(8);
    if field == 0 {
        manifest.security_version = value;
        return;
    }
    if field == 1 {
        match &mut manifest.closing {
            Closing::Trust(trust) => {
                if let Some(key) = trust.keys.iter_mut().next() {
                    key.key_id[choices.below(48)] ^= 1 << choices.below(8);
                }
            }
            Closing::Bootargs(text) => *text = text.get(1..).unwrap_or(""),
        }
        return;
    }
    let index = choices.below(manifest.payloads.len().max(1));
    let Some(payload) = manifest.payloads.iter_mut().nth(index) else { return };
    match field {
        2 => payload.offset = value,
        3 => payload.size = value,
        4 => payload.load_address = value,
        5 => payload.memory_size = value,
        6 => payload.entry = value,
        _ => payload.digest[choices.below(64)] ^= 1 << choices.below(8),
    }
}
