//! The report of a run, by folder and family.

use std::collections::BTreeMap;
use std::fmt;

use hartlock_kat::host::line::Reply;
use hartlock_kat_convert::case::{Case, Collection, Expected, Judgement};

/// Maximum number of faults that are printed; a larger number usually has one cause.
const SHOWN: usize = 40;

#[derive(Default)]
struct Row {
    cases: usize,
    agreed: usize,
    unsupported: usize,
    wrong: usize,
    left_out: usize,
}

/// The judged answers of a run.
pub struct KatReport {
    rows: BTreeMap<(String, String), Row>,
    /// Number of unsupported cases, by family and reason.
    unsupported: BTreeMap<(String, String), usize>,
    left_out: BTreeMap<(String, String), usize>,
    faults: Vec<String>,
}

impl KatReport {
    pub fn new(collection: &Collection, replies: &[Reply]) -> Self {
        let mut report = Self {
            rows: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            left_out: collection.left_out.clone(),
            faults: Vec::new(),
        };
        for (index, case) in collection.cases.iter().enumerate() {
            report.add(case, replies.get(index));
        }
        if replies.len() > collection.cases.len() {
            report.faults.push("there are more answers than cases".to_owned());
        }
        for ((folder, _), count) in &collection.left_out {
            report.rows.entry((folder.clone(), String::new())).or_default().left_out += count;
        }
        report
    }

    fn add(&mut self, case: &Case, reply: Option<&Reply>) {
        let row = self.rows.entry((case.folder.clone(), case.family.to_owned())).or_default();
        row.cases += 1;
        let judgement = match reply {
            Some(reply) if reply.id == case.id => case.expected.judge(reply),
            _ => Judgement::Wrong,
        };
        match judgement {
            Judgement::Agreed => row.agreed += 1,
            Judgement::Unsupported => {
                row.unsupported += 1;
                let reason = reply.and_then(|reply| reply.reason.clone()).unwrap_or_default();
                *self.unsupported.entry((case.family.to_owned(), reason)).or_default() += 1;
            }
            Judgement::Wrong => {
                row.wrong += 1;
                self.faults.push(fault(case, reply));
            }
        }
    }

    /// Returns true if no answer is wrong and at least one agrees.
    pub fn is_good(&self) -> bool {
        self.faults.is_empty() && self.rows.values().any(|row| row.agreed > 0)
    }

    pub fn faults(&self) -> impl Iterator<Item = &String> {
        self.faults.iter().take(SHOWN)
    }
}

fn fault(case: &Case, reply: Option<&Reply>) -> String {
    let wanted = match &case.expected {
        Expected::Output(bytes) => format!("ok {:.16}…", hartlock_kat::host::line::hex(bytes)),
        Expected::OutputEnd(bytes) => format!("ok …{:.16}…", hartlock_kat::host::line::hex(bytes)),
        expected => expected.name().to_owned(),
    };
    let got = match reply {
        None => "no answer".to_owned(),
        Some(reply) if reply.id != case.id => format!("the answer to `{}`", reply.id),
        Some(reply) => {
            let detail = reply.output.as_deref().or(reply.reason.as_deref()).unwrap_or_default();
            format!("{} {detail:.60}", reply.result)
        }
    };
    format!("{}: expected {wanted}, got {got}", case.id)
}

impl fmt::Display for KatReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = ["folder", "family", "cases", "agreed", "unsupported", "wrong", "left out"];
        let [folder, family, cases, agreed, unsupported, wrong, left_out] = title;
        writeln!(
            f,
            "{folder:<14}{family:<14}{cases:>7}{agreed:>8}{unsupported:>13}{wrong:>7}{left_out:>10}"
        )?;
        let mut total = Row::default();
        let line = |f: &mut fmt::Formatter<'_>, folder: &str, family: &str, row: &Row| {
            let Row { cases, agreed, unsupported, wrong, left_out } = row;
            writeln!(
                f,
                "{folder:<14}{family:<14}{cases:>7}{agreed:>8}{unsupported:>13}{wrong:>7}{left_out:>10}"
            )
        };
        for ((folder, family), row) in &self.rows {
            line(f, folder, if family.is_empty() { "–" } else { family }, row)?;
            total.cases += row.cases;
            total.agreed += row.agreed;
            total.unsupported += row.unsupported;
            total.wrong += row.wrong;
            total.left_out += row.left_out;
        }
        line(f, "all", "", &total)?;
        for ((family, reason), count) in &self.unsupported {
            writeln!(f, "unsupported: {family}: {count} × {reason}")?;
        }
        for ((folder, reason), count) in &self.left_out {
            writeln!(f, "left out: {folder}: {count} × {reason}")?;
        }
        for fault in self.faults() {
            writeln!(f, "wrong: {fault}")?;
        }
        if self.faults.len() > SHOWN {
            writeln!(f, "wrong: {} more", self.faults.len() - SHOWN)?;
        }
        Ok(())
    }
}
