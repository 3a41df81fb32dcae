//! `bundle.toml`: any text. Rule: it is read or refused, with words that a terminal can show.

use std::path::Path;

use hartlock_bundle::Error;
use hartlock_bundle::spec::BundleSpec;

use crate::files::Temporary;

pub fn run(data: &[u8]) {
    check(data);
    // CSI as one character takes two bytes, which no change of one byte hits.
    if data.contains(&b'~') {
        let text: Vec<&[u8]> = data.split(|byte| *byte == b'~').collect();
        check(&text.join("\u{9b}".as_bytes()));
    }
}

fn check(data: &[u8]) {
    let file = Temporary::of(data);
    match BundleSpec::read(Path::new(&file.path())) {
        Ok(spec) => {
            // Flags that say nothing change nothing.
            let before = format!("{spec:?}");
            assert_eq!(format!("{:?}", spec.overridden_by(BundleSpec::default())), before);
        }
        Err(error @ Error::Spec(_)) => {
            assert!(!error.hint().is_empty());
            // Everything that is printed goes this way.
            for line in error.context().iter().map(|line| hartlock_terminal::output(line)) {
                let is_unsafe = |c: char| c.is_control() && c != '\t';
                assert!(!line.chars().any(is_unsafe), "a terminal would obey it: {line:?}");
            }
        }
        Err(other) => panic!("the file cannot be read: {other}"),
    }
}
