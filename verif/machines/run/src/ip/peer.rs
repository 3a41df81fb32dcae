//! Third-party engines for comparison. They are counted by the same flow, and their function and cycles are tested.
//!
//! Their sources are not part of this project, and no code here fetches them. The plan names their repository
//! (`[[peer]]` of `ip.toml`). A user who wants the comparison fetches the sources and names their folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tempfile::TempDir;

use super::engine::{self, Bench, Ip, Netlist, Placer, Plan};
use xtask::packages;

/// A third-party engine, as the plan describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    pub name: String,
    pub repository: String,
    pub commit: String,
    pub licence: String,
    /// The sources, by their paths in the repository, with their SHA-256.
    pub files: BTreeMap<PathBuf, String>,
    /// The files that sources include and that are not read on their own, in the same form.
    #[serde(default)]
    pub headers: BTreeMap<PathBuf, String>,
    pub top: String,
    pub parameters: BTreeMap<String, u32>,
    /// The cycles of a block, which the tests count.
    pub cycles: u32,
    /// The Python module of `tb/` with the tests.
    pub tests: String,
}

impl Peer {
    /// Returns the netlist that is counted. It has no bound.
    pub fn netlist(&self) -> Netlist {
        Netlist {
            name: self.name.clone(),
            top: self.top.clone(),
            parameters: self.parameters.clone(),
            cycles: self.cycles,
            luts: None,
            aim: None,
            placer: Placer::default(),
            is_daily: false,
        }
    }

    /// Returns two benches: of the source, and of the netlist.
    pub fn benches(&self) -> [Bench; 2] {
        [false, true].map(|of_netlist| Bench {
            top: self.top.clone(),
            parameters: self.parameters.clone(),
            without: Vec::new(),
            tests: self.tests.clone(),
            of_netlist,
            must_fail: Vec::new(),
            is_first: false,
            is_daily: false,
        })
    }

    /// Returns the repository, commit and licence, for messages.
    pub fn origin(&self) -> String {
        format!("{} at commit {} ({})", self.repository, self.commit, self.licence)
    }

    /// Reads the files from a checkout. Files with other digests than in the plan are refused, because their results
    /// would be reported under the name of the peer.
    fn read(&self, folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let mut files = Vec::new();
        for (file, wanted) in self.files.iter().chain(&self.headers) {
            let path = folder.join(file);
            let bytes = fs::read(&path).with_context(|| {
                format!("{}: cannot read {}; it needs {}", self.name, path.display(), self.origin())
            })?;
            let found = packages::digest_of_bytes(&bytes);
            ensure!(
                found == *wanted,
                "{}: {} is another version: its SHA-256 is {found}, not {wanted}; it needs {}",
                self.name,
                path.display(),
                self.origin()
            );
            files.push((file.clone(), bytes));
        }
        Ok(files)
    }
}

/// A peer with its files, as an engine that the flow can build.
pub struct PeerEngine {
    pub peer: Peer,
    pub ip: Ip,
    /// Copies of the files. The bytes that were checked are built, even if the folder changes meanwhile.
    _copies: TempDir,
}

/// Returns the peers of an engine whose files are in a folder, at least one, and removes them from its plan.
pub fn load_peers(ip: &mut Ip, folder: &Path) -> Result<Vec<PeerEngine>> {
    ensure!(!ip.plan.peer.is_empty(), "{} has no peer in its ip.toml", ip.name);
    let is_there = |peer: &Peer| peer.files.keys().any(|file| folder.join(file).exists());
    let (there, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut ip.plan.peer).into_iter().partition(is_there);
    ip.plan.peer = others;
    if there.is_empty() {
        let wanted: Vec<_> = ip.plan.peer.iter().map(Peer::origin).collect();
        bail!("{} is no checkout of {}", folder.display(), wanted.join(", nor of "));
    }
    there.into_iter().map(|peer| load_peer(ip, peer, folder)).collect()
}

fn load_peer(ip: &Ip, peer: Peer, folder: &Path) -> Result<PeerEngine> {
    let copies = tempfile::tempdir()?;
    let (mut sources, mut headers) = (Vec::new(), Vec::new());
    for (file, bytes) in peer.read(folder)? {
        let path = copies.path().join(&file);
        fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        let list = if peer.files.contains_key(&file) { &mut sources } else { &mut headers };
        list.push(path);
    }
    engine::sort(&mut sources);
    let ip = Ip {
        name: ip.name.clone(),
        dir: ip.dir.clone(),
        sources,
        headers,
        plan: Plan {
            uses: Vec::new(),
            bench: Vec::new(),
            netlist: Vec::new(),
            peer: Vec::new(),
            proof: Vec::new(),
            campaign: Vec::new(),
        },
        mutants: Vec::new(),
        outside: Some(copies.path().to_owned()),
    };
    Ok(PeerEngine { peer, ip, _copies: copies })
}

/// Returns a peer for tests, which has the module and an empty file.
#[cfg(test)]
pub fn sample() -> Peer {
    let digest = packages::digest_of_bytes(tests::MODULE.as_bytes());
    Peer {
        name: "a of b".into(),
        repository: "https://example.org/b/a".into(),
        commit: "c0ffee".into(),
        licence: "ISC".into(),
        files: [("rtl/a.v".into(), digest), ("rtl/b.v".into(), tests::OF_NOTHING.into())].into(),
        headers: BTreeMap::new(),
        top: "a".into(),
        parameters: BTreeMap::new(),
        cycles: 1,
        tests: "test_a".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const MODULE: &str = "module a; endmodule\n";
    /// The SHA-256 of the empty message (FIPS 180-4).
    pub const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn engine(peer: Vec<Peer>) -> Ip {
        Ip {
            name: "a".into(),
            dir: PathBuf::new(),
            sources: Vec::new(),
            headers: Vec::new(),
            plan: Plan {
                uses: Vec::new(),
                bench: Vec::new(),
                netlist: Vec::new(),
                peer,
                proof: Vec::new(),
                campaign: Vec::new(),
            },
            mutants: Vec::new(),
            outside: None,
        }
    }

    fn checkout() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rtl")).unwrap();
        fs::write(folder.path().join("rtl/a.v"), MODULE).unwrap();
        fs::write(folder.path().join("rtl/b.v"), "").unwrap();
        folder
    }

    /// Returns the message with which the folder is refused.
    fn refusal(folder: &Path) -> String {
        let refused = load_peers(&mut engine(vec![sample()]), folder).err();
        format!("{:#}", refused.expect("the folder is refused"))
    }

    #[test]
    fn the_files_that_are_meant_are_taken_as_they_were_read() {
        let folder = checkout();
        let mut ip = engine(vec![sample()]);
        let peers = load_peers(&mut ip, folder.path()).unwrap();
        fs::write(folder.path().join("rtl/a.v"), "module other; endmodule\n").unwrap();
        let [peer_engine] = &peers[..] else { panic!("one peer") };
        assert_eq!(peer_engine.ip.sources.len(), 2);
        assert_eq!(fs::read_to_string(&peer_engine.ip.sources[0]).unwrap(), MODULE);
        assert!(ip.plan.peer.is_empty(), "its row would be shown twice");
    }

    #[test]
    fn headers_are_checked_and_taken_and_no_sources() {
        let folder = checkout();
        fs::create_dir(folder.path().join("include")).unwrap();
        let header = folder.path().join("include/a.vh");
        fs::write(&header, "").unwrap();
        let mut peer = sample();
        peer.headers = [("include/a.vh".into(), OF_NOTHING.into())].into();
        let peers = load_peers(&mut engine(vec![peer.clone()]), folder.path()).unwrap();
        let Ip { sources, headers, .. } = &peers[0].ip;
        assert_eq!((sources.len(), headers.len()), (2, 1));
        assert_eq!(fs::read(&headers[0]).unwrap(), b"");
        fs::write(&header, " ").unwrap();
        let refused = load_peers(&mut engine(vec![peer]), folder.path()).err().unwrap();
        assert!(format!("{refused:#}").contains("include/a.vh is another version"));
    }

    #[test]
    fn packages_are_read_before_those_who_import_them() {
        let folder = checkout();
        fs::write(folder.path().join("rtl/z_pkg.sv"), "").unwrap();
        let mut peer = sample();
        peer.files.insert("rtl/z_pkg.sv".into(), OF_NOTHING.into());
        let peers = load_peers(&mut engine(vec![peer]), folder.path()).unwrap();
        let names = peers[0].ip.sources.iter().filter_map(|path| path.file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["z_pkg.sv", "a.v", "b.v"]);
    }

    #[test]
    fn other_files_are_refused() {
        let folder = checkout();
        fs::write(folder.path().join("rtl/b.v"), " ").unwrap();
        let message = refusal(folder.path());
        for part in ["rtl/b.v is another version", OF_NOTHING, "commit c0ffee (ISC)"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn missing_files_are_named() {
        let folder = checkout();
        fs::remove_file(folder.path().join("rtl/b.v")).unwrap();
        let message = refusal(folder.path());
        assert!(message.contains("cannot read") && message.contains("rtl/b.v"), "{message}");
        let empty = tempfile::tempdir().unwrap();
        let message = refusal(empty.path());
        assert!(message.contains("no checkout of https://example.org/b/a"), "{message}");
    }

    #[test]
    fn an_engine_without_a_peer_says_so() {
        let message =
            format!("{:#}", load_peers(&mut engine(Vec::new()), Path::new("/")).err().unwrap());
        assert_eq!(message, "a has no peer in its ip.toml");
    }
}
