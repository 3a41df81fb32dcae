//! Compares the library with `spec/verify.py`, which was written from the text of the specification
//! only. Rule: both give the same verdict with the same reason.

use std::sync::Mutex;

use super::bundle::BundleCase;
use crate::choices::Choices;
use crate::medium::judge;
use crate::python::SecondVerifier;

pub fn run(data: &[u8]) {
    static PYTHON: Mutex<Option<SecondVerifier>> = Mutex::new(None);
    let case = BundleCase::new(&mut Choices::new(data));
    let ours = match judge(&case.file, &case.options.acceptance(), case.options.is_medium) {
        Ok(()) => "accepted".to_owned(),
        Err(reason) => format!("E{:04}", reason as u16),
    };
    let mut python = PYTHON.lock().expect("one thread");
    let python = python.get_or_insert_with(SecondVerifier::start);
    let theirs = python.judge(&case.file, &case.options);
    assert_eq!(ours, theirs, "left says the library, right says spec/verify.py");
}
