//! Reads the report of a machine: the cycles of every hart by cause (hw/README.md), and the state of the host.

use anyhow::{Context, Result, bail};
pub use hartlock_regs::boot_sequencer::BootSequencerState;
pub use hartlock_regs::mailbox::MailboxState;

/// The activity of the harts between two marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The number of the later mark.
    pub tag: u64,
    /// The cycles of each hart, in the order of the harts.
    pub harts: Vec<Slots>,
}

/// The cycles of a hart, by the activity of its decode stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    pub retired: u64,
    /// Names as the machine prints them, with cycles.
    pub slots: Vec<(String, u64)>,
}

impl Slots {
    /// Returns the sum of all cycles.
    pub fn cycles(&self) -> u64 {
        self.slots.iter().map(|(_, cycles)| cycles).sum()
    }
}

/// Returns the sections of a report in the order of time, without the sums at its end.
pub fn sections(report: &str) -> Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    for line in report.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["mark", tag, "cycle", _] => {
                sections.push(Section { tag: tag.parse()?, harts: Vec::new() });
            }
            ["hart", _, "retired", retired, ref rest @ ..] => {
                let section = sections.last_mut().context("a hart without a mark")?;
                section.harts.push(slots(retired, rest).with_context(|| line.to_owned())?);
            }
            ["end", ..] => return Ok(sections),
            _ => bail!("the report has an unknown line: {line}"),
        }
    }
    bail!("the report has no end")
}

fn slots(retired: &str, rest: &[&str]) -> Result<Slots> {
    let (pairs, odd) = rest.as_chunks::<2>();
    if !odd.is_empty() || pairs.is_empty() {
        bail!("names and numbers are not in pairs");
    }
    let slots = pairs.iter().map(|[name, cycles]| Ok(((*name).to_owned(), cycles.parse()?)));
    Ok(Slots { retired: retired.parse()?, slots: slots.collect::<Result<_>>()? })
}

/// The final state of boot sequencer and mailbox, as the machine reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootState {
    pub status: BootSequencerState,
    /// A number of spec/errors.toml.
    pub reason: u32,
    /// True if the host is out of reset.
    pub is_host_running: bool,
    pub mailbox: MailboxState,
}

impl BootState {
    pub fn parse(report: &str) -> Result<Self> {
        for line in report.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let [
                "boot",
                "status",
                status,
                "reason",
                reason,
                "host",
                host,
                ..,
                "mailbox",
                mailbox,
            ] = words[..]
            {
                return Ok(Self {
                    status: BootSequencerState::from_bits(status.parse()?)
                        .context("no state of the sequencer")?,
                    reason: reason.parse()?,
                    is_host_running: host == "1",
                    mailbox: MailboxState::from_bits(mailbox.parse()?)
                        .context("no state of the mailbox")?,
                });
            }
        }
        bail!("the machine does not report the state of the host\n{report}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "mark 0 cycle 10\nhart 0 retired 3 issued 4 other 6\n\
        hart 1 retired 0 issued 0 other 10\nmark 515 cycle 30\n\
        hart 0 retired 19 issued 19 other 1\nhart 1 retired 0 issued 0 other 20\n\
        end cycle 30\nhart 0 retired 22 issued 23 other 7\nmemory read 64 written 0 storage 0\n";

    #[test]
    fn reads_what_each_hart_did_before_a_mark() {
        let sections = sections(REPORT).unwrap();
        assert_eq!((sections.len(), sections[1].tag), (2, 515));
        let first = &sections[1].harts[0];
        assert_eq!((first.retired, first.cycles()), (19, 20));
        assert_eq!(first.slots[1], ("other".to_owned(), 1));
        assert_eq!(sections[0].harts[1].cycles(), 10);
    }

    #[test]
    fn refuses_a_report_that_is_not_whole() {
        for (from, to) in
            [("end cycle 30\n", "strange\n"), ("issued 4", "issued"), ("mark 0 cycle 10\n", "")]
        {
            assert!(sections(&REPORT.replace(from, to)).is_err(), "{from}");
        }
        assert!(sections(REPORT.split("end").next().unwrap()).is_err());
    }

    #[test]
    fn the_state_of_the_boot_is_read_from_the_report() {
        let state =
            BootState::parse("x\nboot status 2 reason 801 host 0 alert 0 mailbox 1\n").unwrap();
        assert_eq!(
            (state.status, state.reason, state.is_host_running),
            (BootSequencerState::Refused, 801, false)
        );
        assert_eq!(state.mailbox, MailboxState::Ready);
        assert!(BootState::parse("boot status 2 reason 801 host 0 alert 0\n").is_err());
        assert!(BootState::parse("end cycle 3\n").is_err());
    }
}
