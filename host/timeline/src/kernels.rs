//! Names of hash implementations, and sentences about those that a hart does not use (boot flow §2.1).

use hartlock_handoff::Step;

use super::boot::{StepRecord, Timeline};

/// The names of the implementations in the order of their numbers, which begin with 1.
const NAMES: [&str; 8] = ["portable", "rv64", "zbb", "zknh", "zvbb", "zvknh", "engine", "v"];
/// The hashes that share an implementation, in the order of their bits in `value`.
const FAMILIES: [&str; 3] = ["SHA-256", "SHA-384 and SHA-512", "Keccak"];
/// Maximum length of a list of names, and maximum number of sentences of a kind. Linux can write to the log, so
/// it may have any content.
const MOST: usize = 8;

/// The names of the implementations of AES in the order of their numbers (boot flow §3.5, step 13).
const CIPHERS: [&str; 3] = ["portable", "zkne", "zvkned"];

/// Returns the name of the implementation of a step; `None` for number 0, which stands for no implementation.
pub(super) fn name(step: Step, number: u32) -> Option<String> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    let names = if step == Step::Decrypt { &CIPHERS[..] } else { &NAMES };
    Some(names.get(index).map_or_else(|| format!("other-{number}"), |name| (*name).to_owned()))
}

/// Returns the reason why a hart does not use an implementation, for a row of the log.
pub(crate) fn reason_text(step: &StepRecord) -> String {
    match wrong_families(step.value) {
        None => "not on this hart".to_owned(),
        Some(families) => format!("WRONG ANSWER: {families}"),
    }
}

/// Returns the hashes whose known answer was wrong; `None` if the instructions are not available.
fn wrong_families(value: u64) -> Option<String> {
    if value == 0 {
        return None;
    }
    let is_wrong = |bit: &usize| value >> bit & 1 == 1;
    let known = (0..FAMILIES.len()).filter(is_wrong).map(|bit| FAMILIES[bit]);
    let known: Vec<_> = known.collect();
    Some(if known.is_empty() { format!("hash {value:#x}") } else { known.join(", ") })
}

/// Sentences about hash implementations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelRemarks {
    /// The implementations that were used, and those that a hart does not have. This is no reason for concern.
    pub plain: Option<String>,
    /// The implementations with a wrong result, because of which the hart may be faulty.
    pub wrong: Vec<String>,
}

/// Returns the sentences about the hash implementations of a boot.
pub(crate) fn remarks(timeline: &Timeline) -> KernelRemarks {
    let mut used: Vec<String> = Vec::new();
    for kernel in timeline.stages.iter().filter(|it| it.hashes()).flat_map(|it| &it.implementation)
    {
        add(&mut used, kernel.clone());
    }
    // A note without an implementation is ignored; no boot stage writes one.
    let notes = || {
        let notes = timeline.stages.iter().filter(|step| step.is_note());
        notes.filter_map(|step| step.implementation.as_ref().map(|kernel| (step, kernel)))
    };
    let mut clauses: Vec<String> = match used.len() {
        0 => Vec::new(),
        1 => vec![format!("hash implementation {}", used[0])],
        _ => vec![format!("hash implementations {}", listed(&used))],
    };
    // ROM and loader both report the missing implementations of hart 0. Groups of harts are named separately if
    // they differ.
    let mut missing: Vec<(u64, Vec<String>)> = Vec::new();
    for (step, kernel) in notes().filter(|(step, _)| step.value == 0) {
        match missing.iter_mut().find(|(harts, _)| *harts == step.harts_mask) {
            Some((_, kernels)) => add(kernels, kernel.clone()),
            None => missing.push((step.harts_mask, vec![kernel.clone()])),
        }
    }
    for (harts, kernels) in missing.iter_mut().take(MOST) {
        // The ROM contains fewer implementations than the loader, so the order of the entries is not that
        // of the numbers.
        kernels.sort_by_key(|kernel| NAMES.iter().position(|name| name == kernel));
        clauses.push(format!("{} has no {}", harts_text(*harts), listed(kernels)));
    }
    let mut wrong: Vec<String> = Vec::new();
    for (step, kernel) in notes() {
        let Some(families) = wrong_families(step.value) else { continue };
        let hart = harts_text(step.harts_mask);
        add(
            &mut wrong,
            format!("WRONG ANSWER for {families} from implementation {kernel} on {hart}: not used"),
        );
    }
    let more = wrong.len().saturating_sub(MOST);
    wrong.truncate(MOST);
    if more > 0 {
        wrong.push(format!("and {more} more wrong answers of implementations"));
    }
    KernelRemarks { plain: (!clauses.is_empty()).then(|| clauses.join("; ")), wrong }
}

fn add(list: &mut Vec<String>, name: String) {
    if !list.contains(&name) {
        list.push(name);
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Names the hart of an entry. A mask of any other number of harts was not written by a boot stage.
fn harts_text(mask: u64) -> String {
    match mask.count_ones() {
        0 => "a hart without a number".to_owned(),
        1 => format!("hart {}", mask.trailing_zeros()),
        _ => format!("harts {mask:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use crate::tests::{example, machine, timeline, with_kernels};

    #[test]
    fn kernels_have_the_names_of_the_specification() {
        let spec = include_str!("../../../spec/boot-flow.md");
        let section = spec.split_once("### 2.1").unwrap().1.split_once("\n## ").unwrap().0;
        let rows: Vec<Vec<&str>> = section
            .lines()
            .map(|line| line.split('|').map(str::trim).collect())
            .filter(|cells: &Vec<&str>| cells.get(1).is_some_and(|it| it.parse::<u32>().is_ok()))
            .collect();
        assert_eq!(rows.len(), NAMES.len());
        for cells in rows {
            assert_eq!(name(Step::Hash, cells[1].parse().unwrap()).unwrap(), cells[2]);
        }
        assert_eq!(name(Step::Hash, 0), None);
        assert_eq!(name(Step::Decrypt, 2).unwrap(), "zkne");
        assert_eq!(name(Step::Decrypt, 4).unwrap(), "other-4");
        assert_eq!(name(Step::Hash, 9).unwrap(), "other-9");
        assert_eq!(name(Step::Hash, u32::MAX).unwrap(), "other-4294967295");
    }

    #[test]
    fn one_sentence_says_what_was_used_and_what_a_hart_does_not_have() {
        let plain = |timeline: &Timeline| remarks(timeline).plain.unwrap();
        assert_eq!(plain(&timeline(false, false)), "hash implementation portable");
        let found = with_kernels(&[(4, 0b1, 0), (3, 0b1, 0), (4, 0b1, 0), (5, 0b1000, 0)]);
        assert_eq!(
            plain(&found),
            "hash implementation portable; hart 0 has no zbb, zknh; hart 3 has no zvbb"
        );
        assert!(remarks(&found).wrong.is_empty());
    }

    #[test]
    fn a_wrong_answer_stands_out() {
        let found = with_kernels(&[(6, 0b100, 0b1), (3, 0b10, 0b110), (4, 0b1, 0b1000)]);
        let expected = [
            "WRONG ANSWER for SHA-256 from implementation zvknh on hart 2: not used",
            "WRONG ANSWER for SHA-384 and SHA-512, Keccak from implementation zbb on hart 1: not used",
            "WRONG ANSWER for hash 0x8 from implementation zknh on hart 0: not used",
        ];
        assert_eq!(remarks(&found).wrong, expected);
        let text = table(&found);
        assert!(expected[..1].iter().all(|sentence| text.contains(sentence)), "{text}");
    }

    #[test]
    fn an_invented_log_makes_few_sentences() {
        let all: Vec<_> = (1..=400).map(|number| (number, 1 << (number % 64), 0)).collect();
        let plain = remarks(&with_kernels(&all)).plain.unwrap();
        assert!(plain.len() < 1_200, "{plain}");
        let all: Vec<_> = (1..=400).map(|number| (number, u64::MAX, u64::MAX)).collect();
        let wrong = remarks(&with_kernels(&all)).wrong;
        assert_eq!(wrong.len(), MOST + 1);
        assert_eq!(wrong[MOST], "and 392 more wrong answers of implementations");
    }

    #[test]
    fn a_note_without_a_kernel_says_nothing() {
        let found = with_kernels(&[(0, 1, 0), (0, 1, 1)]);
        assert_eq!(remarks(&found), remarks(&timeline(false, false)));
    }

    #[test]
    fn kernels_that_are_not_used_change_no_time() {
        let (outcome, mut measured) = example(false);
        let plain = Timeline::new(&outcome, Some(&measured), machine(false));
        let mut entry = measured.entries[0];
        entry.step = hartlock_handoff::Step::Kernel;
        // A hart that writes wrong numbers must not change other entries.
        (entry.time, entry.instret, entry.kernel) = ((0, u64::MAX), (0, u64::MAX), 6);
        measured.entries.push(entry);
        for icount in [false, true] {
            let noted = Timeline::new(&outcome, Some(&measured), machine(icount));
            assert_eq!(noted.stages.last().unwrap().implementation.as_deref(), Some("zvknh"));
            assert_eq!(
                noted.total(),
                Timeline::new(&outcome, Some(&example(false).1), machine(icount)).total()
            );
            assert!(noted.steps().all(|step| step.step != "implementation"));
        }
        let noted = Timeline::new(&outcome, Some(&measured), machine(false));
        assert!(noted.steps().eq(plain.steps()));
        assert!(noted.reached_kernel() && plain.reached_kernel());
    }
}
