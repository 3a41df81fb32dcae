//! Arbitrary text as `bundle.toml`. Rule: it is read or refused, and a message contains only
//! printable text.

use std::path::Path;

use hartlock_bundle::Error;
use hartlock_bundle::spec::BundleSpec;

use crate::files::Temporary;

pub fn run(data: &[u8]) {
    check(data);
    // A CSI control character has two bytes in UTF-8, which a change of one byte cannot produce.
    if data.contains(&b'~') {
        let text: Vec<&[u8]> = data.split(|byte| *byte == b'~').collect();
        check(&text.join("\u{9b}".as_bytes()));
    }
}

fn check(data: &[u8]) {
    let file = Temporary::of(data);
    match BundleSpec::read(Path::new(&file.path())) {
        Ok(spec) => {
            // Empty command-line overrides must not change anything.
            let before = format!("{spec:?}");
            assert_eq!(format!("{:?}", spec.overridden_by(BundleSpec::default())), before);
        }
        Err(error @ Error::Spec(_)) => {
            assert!(!error.hint().is_empty());
            // All printed text goes through this function.
            for line in error.context().iter().map(|line| hartlock_terminal::output(line)) {
                let is_unsafe = |c: char| c.is_control() && c != '\t';
                assert!(!line.chars().any(is_unsafe), "a terminal would obey it: {line:?}");
            }
        }
        Err(other) => panic!("the file cannot be read: {other}"),
    }
}
