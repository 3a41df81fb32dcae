//! Which code was meant.

use hartlock_image::Reason;

/// Most codes that are offered.
const MOST: usize = 4;
/// How much alike two names must be (Jaro and Winkler; 1 is the same).
const LEAST_LIKENESS: f64 = 0.8;

/// The reason with this code, number or name.
pub(super) fn find(text: &str) -> Option<Reason> {
    let number = number(text);
    Reason::ALL
        .iter()
        .copied()
        .find(|reason| number == Some(*reason as u16) || reason.name().eq_ignore_ascii_case(text))
}

/// `603` of `603`, `0603`, `E0603` and `e603`.
fn number(text: &str) -> Option<u16> {
    let digits = text.strip_prefix(['E', 'e']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Reasons that may have been meant, the likeliest first.
pub(super) fn nearest(text: &str) -> Vec<Reason> {
    let all = || Reason::ALL.iter().copied();
    let mut found: Vec<_> = match number(text) {
        Some(number) => {
            let mut found: Vec<_> = all().collect();
            found.sort_by_key(|reason| (*reason as u16).abs_diff(number));
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

/// Reasons with a name of nearly the same letters.
fn alike(wanted: &str) -> Vec<Reason> {
    let likeness = |reason: &Reason| strsim::jaro_winkler(wanted, &reason.name().to_lowercase());
    let mut found: Vec<_> = Reason::ALL
        .iter()
        .map(|reason| (likeness(reason), *reason))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().map(|(_, reason)| reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_every_spelling() {
        for text in ["E0603", "e0603", "0603", "603", "E603", "RollbackBelowFloor"] {
            assert_eq!(find(text), Some(Reason::RollbackBelowFloor), "{text}");
        }
        for text in ["", "E", "E06", "E0603x", "EE0603", "+603", "65536", "é", "0x603"] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn what_was_meant_comes_first() {
        assert_eq!(nearest("605").first(), Some(&Reason::LifecycleNotAllowed));
        assert_eq!(nearest("E9999").first(), Some(&Reason::SignerWithoutKey));
        assert_eq!(nearest("rollback").first(), Some(&Reason::RollbackBelowFloor));
        assert_eq!(nearest("SignatureMissmatch").first(), Some(&Reason::SignatureMismatch));
        assert!(nearest("older than").contains(&Reason::RollbackBelowFloor));
        assert!(nearest("zzzz").is_empty());
        assert!(nearest("").is_empty());
    }
}
