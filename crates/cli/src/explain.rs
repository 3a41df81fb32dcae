//! `hartlock explain`

use hartlock_image::Reason;
use serde::Serialize;

use crate::failure::{Failure, ReasonText};
use crate::output::Report;
use crate::style::BOLD;

/// Explain a reason code, or list them all
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A code such as E0301, or its name
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// The reasons that were asked for.
#[derive(Debug, Serialize)]
pub struct Explained {
    reasons: Vec<ReasonText>,
    #[serde(skip)]
    is_list: bool,
}

impl Report for Explained {
    fn text(&self) -> String {
        let line = |reason: &ReasonText| format!("{}  {}\n", reason.code, reason.title);
        if self.is_list {
            return self.reasons.iter().map(line).collect();
        }
        let whole = |reason: &ReasonText| {
            format!(
                "{BOLD}{}  {}{BOLD:#} ({})\n\nwhy    {}\nhint   {}\nfault  {}\nspec   {}\n",
                reason.code,
                reason.title,
                reason.name,
                reason.why,
                reason.hint,
                reason.fault,
                reason.spec
            )
        };
        self.reasons.iter().map(whole).collect()
    }
}

/// Looks the code up.
pub fn run(args: &Args) -> Result<Explained, Failure> {
    let all = || Reason::ALL.iter().copied();
    let Some(code) = &args.code else {
        return Ok(Explained { reasons: all().map(ReasonText::from).collect(), is_list: true });
    };
    let number = code.trim_start_matches(['E', 'e']).parse::<u16>().ok();
    all()
        .find(|reason| number == Some(*reason as u16) || reason.name().eq_ignore_ascii_case(code))
        .map(|reason| Explained { reasons: vec![reason.into()], is_list: false })
        .ok_or_else(|| {
            Failure::undecided(
                format!("there is no reason code `{}`", code.escape_debug()),
                "`hartlock explain` lists all of them",
            )
        })
}
