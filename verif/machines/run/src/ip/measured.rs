//! Measures an engine: runs a bench with other parameters, and counts a netlist of any of its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::bench;
use super::engine::{Bench, Ip, Netlist, Tools, files, folder_of, prim};
use super::netlist::{self, Count};
use super::record::Record;
use crate::rtl;
use xtask::{packages, project};

/// A part of every digest. Raise it when a change here changes the measured values.
const LAYOUT: &str = "1";

/// An engine, and the programs that build it.
pub struct MeasuredEngine {
    tools: Tools,
    ip: Ip,
}

/// Values of parameters by name.
pub type Parameters = BTreeMap<String, u32>;

impl MeasuredEngine {
    /// Loads the engine of this name.
    ///
    /// # Errors
    /// If it cannot be read, or a program is missing.
    pub fn load(name: &str) -> Result<Self> {
        Ok(Self { tools: Tools::locate()?, ip: Ip::load(name)? })
    }

    /// Returns true if the engine has a module of this name.
    pub fn has_module(&self, name: &str) -> bool {
        self.ip.sources.iter().any(|path| path.file_stem().is_some_and(|stem| stem == name))
    }

    /// Returns the top module of these tests in the engine's plan.
    pub fn top_of(&self, tests: &str) -> Option<&str> {
        self.ip.plan.bench.iter().find(|it| it.tests == tests).map(|it| it.top.as_str())
    }

    /// Runs tests on a module, all or one of them, and returns their output. The log is stored, because the same
    /// sources and the same tests take the same cycles.
    ///
    /// # Errors
    /// If a test fails, or the simulation cannot be built.
    pub fn simulate(
        &self,
        top: &str,
        parameters: &Parameters,
        tests: &str,
        only: Option<&str>,
    ) -> Result<String> {
        let test = format!("{tests} {}", only.unwrap_or_default());
        let name = format!("{top}-{}.log", self.digest(top, parameters, &test)?);
        let kept = project::cache_dir()?.join("measured").join(name);
        if let Ok(log) = fs::read_to_string(&kept) {
            return Ok(log);
        }
        let bench = Bench {
            top: top.to_owned(),
            parameters: parameters.clone(),
            without: Vec::new(),
            tests: tests.to_owned(),
            of_netlist: false,
            must_fail: Vec::new(),
            is_first: false,
            is_daily: false,
        };
        // This folder is not that of the same tests in `cargo xtask ip`, which may run at the same time.
        let folder = format!("{}-measured", bench.folder());
        let only: Vec<String> = only.map(str::to_owned).into_iter().collect();
        let run = bench::run_in(&self.tools, &self.ip, &bench, &folder, &only)?;
        ensure!(run.faults.is_empty(), "{}", run.faults.join("\n"));
        let parent = kept.parent().context("the cache has a parent")?;
        fs::create_dir_all(parent)?;
        let mut new = tempfile::NamedTempFile::new_in(parent)?;
        std::io::Write::write_all(&mut new, run.log.as_bytes())?;
        new.persist(&kept)?;
        Ok(run.log)
    }

    /// Returns a digest of everything that decides the output of a test.
    fn digest(&self, top: &str, parameters: &Parameters, tests: &str) -> Result<String> {
        let Self { tools, ip } = self;
        let (machine, identity) = (tools.machine.identity(), tools.ip.identity());
        let words = words(parameters);
        let mut parts = vec![LAYOUT, &machine, &identity, top, &words, tests];
        let needed = Ip { sources: self.needed(top)?, ..Ip::load(&ip.name)? }.texts()?;
        parts.extend(needed.iter().map(String::as_str));
        let own = [ip.dir.join("tb"), prim().join("tb"), project::root().join("spec/reference")];
        let used = ip.plan.uses.iter().map(|name| folder_of(name).join("tb"));
        let mut paths = Vec::new();
        for folder in own.into_iter().chain(used) {
            paths.extend(files(&folder, "py")?);
        }
        let texts = paths.iter().map(|path| {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            Ok((path, text))
        });
        let texts: Vec<(&PathBuf, String)> = texts.collect::<Result<_>>()?;
        let module = tests.split(' ').next().unwrap_or_default();
        let scripts = transitive_sources(&texts, module);
        let scripts = texts.iter().filter(|(path, _)| scripts.contains(path));
        parts.extend(scripts.map(|(_, text)| text.as_str()));
        Ok(packages::digest(&parts))
    }

    /// Returns the cells of a module, and its frequency in MHz on an ECP5 if it is known. A netlist of the engine's
    /// plan is taken from the record if that is of the pinned tools. Others are counted as `cargo xtask ip NAME
    /// --synth` does, and stored.
    ///
    /// # Errors
    /// If the module cannot be synthesised.
    pub fn count(&self, top: &str, parameters: &Parameters) -> Result<(Count, Option<f64>)> {
        if let Some(planned) = self.planned(top, parameters)
            && let Ok(found) = Record::load(&self.ip)?.get(&self.ip, &planned.name)
        {
            return Ok(found);
        }
        let (ip, netlist) = self.with_needed_sources_only(top, parameters)?;
        Ok((netlist::count(&self.tools, &ip, &netlist)?, None))
    }

    /// Returns the frequency in MHz on an ECP5. The module is placed and routed as `cargo xtask ip NAME --synth --fmax`
    /// does, and the result is stored.
    ///
    /// # Errors
    /// If the module cannot be placed or routed.
    pub fn megahertz(&self, top: &str, parameters: &Parameters) -> Result<f64> {
        let (ip, netlist) = self.with_needed_sources_only(top, parameters)?;
        netlist::fmax(&self.tools, &ip, &netlist)
    }

    /// Returns the engine with only the sources of a module, so that a change of others does not change its digest.
    fn with_needed_sources_only(
        &self,
        top: &str,
        parameters: &Parameters,
    ) -> Result<(Ip, Netlist)> {
        let ip = Ip { sources: self.needed(top)?, ..Ip::load(&self.ip.name)? };
        let netlist = Netlist {
            name: format!("{top}{}", words(parameters)),
            top: top.to_owned(),
            parameters: parameters.clone(),
            cycles: 0,
            luts: None,
            aim: None,
            placer: self.planned(top, parameters).map(|it| it.placer).unwrap_or_default(),
            is_daily: false,
        };
        Ok((ip, netlist))
    }

    /// Returns the recorded cells of a netlist that has a bound in the plan.
    pub fn recorded(&self, top: &str, parameters: &Parameters) -> Option<Count> {
        let planned = self.planned(top, parameters).filter(|it| it.luts.is_some())?;
        let found = Record::load(&self.ip).ok()?.get(&self.ip, &planned.name).ok()?;
        Some(found.0)
    }

    fn planned(&self, top: &str, parameters: &Parameters) -> Option<&Netlist> {
        let is_it = |it: &&Netlist| it.top == top && it.parameters == *parameters;
        self.ip.plan.netlist.iter().find(is_it)
    }

    /// Returns the sources of a module: its own, and those of every module and package that is named in them.
    fn needed(&self, top: &str) -> Result<Vec<PathBuf>> {
        let texts = self.ip.sources.iter().map(|path| {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            Ok((path, rtl::without_comments(&text)))
        });
        let texts: Vec<(&PathBuf, String)> = texts.collect::<Result<_>>()?;
        Ok(transitive_sources(&texts, top).into_iter().cloned().collect())
    }
}

/// Returns the files of a name and of all names in them, in the order of `texts`. A file contains the module of its
/// name.
fn transitive_sources<'a>(texts: &[(&'a PathBuf, String)], start: &str) -> Vec<&'a PathBuf> {
    let mut names = BTreeSet::from([start.to_owned()]);
    let is_named = |names: &BTreeSet<String>, path: &Path| {
        path.file_stem().is_some_and(|stem| names.contains(&*stem.to_string_lossy()))
    };
    loop {
        let before = names.len();
        let found = texts.iter().filter(|(path, _)| is_named(&names, path));
        let found: Vec<&str> = found.flat_map(|(_, text)| words_of(text)).collect();
        names.extend(found.into_iter().map(str::to_owned));
        if names.len() == before {
            break;
        }
    }
    texts.iter().filter(|(path, _)| is_named(&names, path)).map(|(path, _)| *path).collect()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// Returns the parameters as text, each with a space before it.
fn words(parameters: &Parameters) -> String {
    parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_module_names_is_needed() {
        let paths = ["a_pkg.sv", "core.sv", "lane.sv", "other.sv"].map(PathBuf::from);
        let texts = ["package a_pkg", "import a_pkg::*; lane #(.A(1)) u_lane", "x", "core u_core"];
        let texts: Vec<_> = paths.iter().zip(texts.map(str::to_owned)).collect();
        let of = |start: &str| {
            let found = transitive_sources(&texts, start).into_iter();
            found.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of("core"), ["a_pkg.sv", "core.sv", "lane.sv"]);
        assert_eq!(of("lane"), ["lane.sv"]);
        assert_eq!(of("other").len(), 4);
    }

    #[test]
    fn a_netlist_with_a_bound_is_in_the_record() {
        let engine = Ip::load("sha2").unwrap();
        let record = Record::load(&engine).unwrap();
        let netlist = engine.plan.netlist.iter().find(|it| it.luts.is_some()).unwrap();
        assert!(record.get(&engine, &netlist.name).is_ok());
        assert!(record.get(&engine, "no such netlist").is_err());
    }
}
