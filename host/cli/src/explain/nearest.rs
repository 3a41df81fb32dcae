//! Finds the reason code that the user asked for, and suggests others.

use crate::reason::AnyReason;

/// Maximum number of codes that are suggested.
const MOST: usize = 4;
/// Minimum likeness of two names (Jaro-Winkler; 1 for equal names).
const LEAST_LIKENESS: f64 = 0.8;

/// Returns the reason with this code, number or name.
pub(super) fn find(text: &str) -> Option<AnyReason> {
    let number = number(text);
    AnyReason::all()
        .find(|reason| number == Some(reason.number()) || reason.name().eq_ignore_ascii_case(text))
}

/// Parses a number, with or without `E` and leading zeros: `603`, `0603`, `E0603` and `e603` are the same.
fn number(text: &str) -> Option<u16> {
    let digits = text.strip_prefix(['E', 'e']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Returns reasons that may have been meant, the most likely first.
pub(super) fn nearest(text: &str) -> Vec<AnyReason> {
    let all = AnyReason::all;
    let mut found: Vec<_> = match number(text) {
        Some(number) => {
            // The first two digits name a group. Codes of other groups are about something else.
            let is_of_group = |reason: &AnyReason| reason.number() / 100 == number / 100;
            let mut found: Vec<_> = all().filter(is_of_group).collect();
            found.sort_by_key(|reason| reason.number().abs_diff(number));
            found
        }
        None => {
            let wanted = text.to_lowercase();
            let holds = |text: &str| wanted.len() > 2 && text.to_lowercase().contains(&wanted);
            let named = all().filter(|reason| holds(reason.name()));
            let titled = all().filter(|reason| !holds(reason.name()) && holds(reason.title()));
            let mut found: Vec<_> = named.chain(titled).collect();
            if found.is_empty() {
                found = alike(&wanted);
            }
            found
        }
    };
    found.truncate(MOST);
    found
}

/// Returns reasons with a name of nearly the same letters.
fn alike(wanted: &str) -> Vec<AnyReason> {
    let likeness = |reason: &AnyReason| strsim::jaro_winkler(wanted, &reason.name().to_lowercase());
    let mut found: Vec<_> = AnyReason::all()
        .map(|reason| (likeness(&reason), reason))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().map(|(_, reason)| reason).collect()
}

#[cfg(test)]
mod tests {
    use hartlock_image::Reason;
    use hartlock_keys::KeyReason;

    use super::*;

    fn first(text: &str) -> Option<AnyReason> {
        nearest(text).into_iter().next()
    }

    #[test]
    fn codes_are_found_in_every_spelling() {
        for text in ["E0603", "e0603", "0603", "603", "E603", "RollbackBelowFloor"] {
            assert_eq!(find(text), Some(Reason::RollbackBelowFloor.into()), "{text}");
        }
        for text in ["E1102", "1102", "e1102", "NotPem", "notpem"] {
            assert_eq!(find(text), Some(KeyReason::NotPem.into()), "{text}");
        }
        for text in ["", "E", "E06", "E0603x", "EE0603", "+603", "65536", "é", "0x603"] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_meant_comes_first() {
        assert_eq!(first("607"), Some(Reason::ClassKeyMissing.into()));
        assert_eq!(first("E0399"), Some(Reason::PublicKeyUnsupported.into()));
        assert!(nearest("E9999").is_empty() && nearest("E0000").is_empty());
        assert_eq!(first("rollback"), Some(Reason::RollbackBelowFloor.into()));
        assert_eq!(first("SignatureMissmatch"), Some(Reason::SignatureMismatch.into()));
        assert_eq!(first("WrongPasphrase"), Some(KeyReason::WrongPassphrase.into()));
        assert_eq!(first("symbolic link"), Some(KeyReason::StateIsLink.into()));
        assert!(nearest("older than").contains(&Reason::RollbackBelowFloor.into()));
        assert!(nearest("zzzz").is_empty());
        assert!(nearest("").is_empty());
    }
}
