//! Stateful keys, and files in which their state cannot be kept.

use std::os::unix::fs::{PermissionsExt, symlink};

use sha2::{Digest, Sha256};

use super::*;

/// The algorithm with the fastest key generation; a key can make 32 signatures.
const NAME: &str = "lms-sha256-192-h5-w1";
const VERSION_AT: usize = 8;
const INDEX_AT: usize = 24;

pub(super) fn add(cases: &mut Cases) {
    let key = generated(NAME);
    cases.kind("PKCS#8", KeyReason::StateNotExported, key.to_pem().err());
    for passphrase in [None, Some(&b"secret"[..])] {
        let exported = key.export(Format::Der, passphrase);
        cases.kind("DER", KeyReason::StateNotExported, exported.err());
    }
    contents(cases, &key);
    files(cases, &key);
    for (what, expected, kind) in stateful::refusals::all() {
        cases.error(what, expected, kind);
    }
}

/// Returns a key file that was changed, with a checksum that is valid for the changed content.
fn changed(key: &PrivateKey, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let file = key.first_file(Format::Pem, None).unwrap();
    let mut state = formats::open(&file, false).unwrap().der.to_vec();
    state.truncate(state.len() - 32);
    change(&mut state);
    let checksum = Sha256::digest(&state);
    state.extend(checksum);
    pem(formats::STATEFUL_LABEL, &state)
}

fn contents(cases: &mut Cases, key: &PrivateKey) {
    let file = key.first_file(Format::Pem, None).unwrap();
    let state = formats::open(&file, false).unwrap().der;
    for at in [8, 16, INDEX_AT, 32, 60, state.len() - 1] {
        let mut other = state.to_vec();
        other[at] ^= 1;
        let file = pem(formats::STATEFUL_LABEL, &other);
        cases.private("a changed byte", KeyReason::StateChecksum, file);
    }
    for version in [0, 2, 255] {
        let file = changed(key, |state| state[VERSION_AT] = version);
        cases.private("another version", KeyReason::StateVersion, file);
    }
    let malformed = KeyReason::Malformed;
    cases.private("no state", malformed, pem(formats::STATEFUL_LABEL, &state[..40]));
    cases.private("no key", malformed, changed(key, |state| state.truncate(32)));
    cases.private("another beginning", malformed, changed(key, |state| state[0] ^= 1));
    cases.private("a byte more", malformed, changed(key, |state| state.push(0)));
    cases.private("a byte less", malformed, changed(key, |state| state.truncate(state.len() - 1)));
    cases.private("an index beyond", malformed, changed(key, |state| state[INDEX_AT] = 33));
    cases.private("no algorithm", malformed, changed(key, |state| state[12] = 1));
    cases.private("huge seeds", malformed, changed(key, |state| state[20..24].fill(0xff)));
}

fn files(cases: &mut Cases, key: &PrivateKey) {
    let path = cases.path("root.pem");
    write_pair(key, &path, &cases.path("root.pub.pem"), Format::Pem, None).unwrap();
    let read = |path: &Path| PrivateKey::read(path).unwrap();
    let set_mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o640, 0o604, 0o400, 0o700, 0o2600] {
        let key = read(&path);
        set_mode(mode);
        cases.error("another mode", KeyReason::StateMode, key.sign(b"").err());
        set_mode(0o600);
    }
    let link = cases.path("link.pem");
    symlink(&path, &link).unwrap();
    cases.error("a link", KeyReason::StateIsLink, read(&link).sign(b"").err());
    let name = cases.path("name.pem");
    fs::hard_link(&path, &name).unwrap();
    cases.error("two names", KeyReason::StateHasNames, read(&path).sign(b"").err());
    fs::remove_file(&name).unwrap();
    let nowhere = PrivateKey::from_pem(&fs::read(&path).unwrap()).unwrap();
    cases.error("no file", KeyReason::StateNotRegular, nowhere.sign(b"").err());

    let spent = changed(key, |state| state[INDEX_AT] = 32);
    let key = read(&path);
    fs::write(&path, spent).unwrap();
    cases.error("the last index", KeyReason::StateExhausted, key.sign(b"").err());
    let other = generated(NAME).first_file(Format::Pem, None).unwrap();
    fs::write(&path, other).unwrap();
    cases.error("another key", KeyReason::StateOfOtherKey, key.sign(b"").err());
    fs::write(&path, &*generated("ed25519").to_pem().unwrap()).unwrap();
    cases.error("a key without a state", KeyReason::StateOfOtherKey, key.sign(b"").err());
    fs::write(&path, vec![b'A'; formats::MAX_KEY_FILE_SIZE + 1]).unwrap();
    cases.error("a file that grew", KeyReason::TooLong, key.sign(b"").err());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    cases.error("a folder", KeyReason::StateNotRegular, key.sign(b"").err());
}
