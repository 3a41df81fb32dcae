//! Arguments of `cargo xtask ip`.

use std::path::PathBuf;

#[derive(clap::Args)]
pub struct IpArgs {
    /// Names of engines (folders of hw/ip), or `soc` or `prim` [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Also synthesise, and count look-up tables and other cells
    #[arg(long)]
    pub synth: bool,
    /// Also place and route to find the clock frequency; takes minutes for each netlist
    #[arg(long, requires = "synth")]
    pub fmax: bool,
    /// Store the counts as the reference for later runs
    #[arg(long, requires = "synth")]
    pub record: bool,
    /// Run every mutant of data/mutants.toml, and check that an assertion fails for it
    #[arg(long)]
    pub mutants: bool,
    /// Also measure and test an engine of another project in this folder (see [[peer]] in ip.toml)
    #[arg(long, value_name = "FOLDER", requires = "synth")]
    pub peer: Option<PathBuf>,
    #[command(flatten)]
    pub upsets: UpsetArgs,
    /// Run only simulations and netlists whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Show the output of the tests
    #[arg(short, long)]
    pub verbose: bool,
}

/// Of campaigns.
#[derive(clap::Args)]
pub struct UpsetArgs {
    /// Run only the campaigns of bit upsets ([[campaign]] in ip.toml)
    #[arg(long, conflicts_with_all = ["synth", "mutants"])]
    pub upsets: bool,
    /// Run a small sample of each part, as in `cargo xtask test`; takes seconds
    #[arg(long, requires = "upsets", conflicts_with = "samples")]
    pub quick: bool,
    /// Number of upsets for each part and input, instead of the number in ip.toml
    #[arg(long, value_name = "N", requires = "upsets")]
    pub samples: Option<usize>,
    /// Seed of the random sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Run only the I-th of N parts of the work; results are kept until all parts are complete
    #[arg(long, value_name = "I/N", value_parser = share, default_value = "1/1")]
    pub part: Share,
    /// Run only campaigns whose sources changed since their counts were stored
    #[arg(long, requires = "upsets")]
    pub stale: bool,
    /// Store the counts in verif/runs/upsets.toml
    #[arg(long, requires = "upsets", conflicts_with_all = ["quick", "samples"])]
    pub store: bool,
}

/// A share of the work: every `all`-th piece, from `place` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    place: usize,
    all: usize,
}

impl Share {
    /// The share that is all of the work.
    pub const WHOLE: Share = Share { place: 0, all: 1 };

    pub fn has(self, place: usize) -> bool {
        place % self.all == self.place
    }
}

fn share(text: &str) -> Result<Share, String> {
    let numbers = text.split_once('/').map(|(place, all)| (place.parse::<usize>(), all.parse()));
    match numbers {
        Some((Ok(place), Ok(all))) if 1 <= place && place <= all => {
            Ok(Share { place: place - 1, all })
        }
        _ => Err("a share is I/N, with I from 1 to N".to_owned()),
    }
}

impl IpArgs {
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_whole_together() {
        let shares = ["1/3", "2/3", "3/3"].map(|text| share(text).unwrap());
        for place in 0..20 {
            assert_eq!(shares.iter().filter(|share| share.has(place)).count(), 1);
        }
        assert_eq!(share("1/1"), Ok(Share::WHOLE));
        for text in ["0/3", "4/3", "1", "a/b", "1/0"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
