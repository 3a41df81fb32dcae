//! What a measurement takes from an engine: a bench with other parameters, and a netlist of any of its modules.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};

use super::bench;
use super::engine::{Bench, Ip, Netlist, Tools, files, folder_of, prim};
use super::netlist::{self, Count};
use super::record::Record;
use xtask::{packages, project};

/// Part of every digest: raise it when a change here changes what is measured.
const LAYOUT: &str = "1";

/// An engine, and the programs that build it.
pub struct Engine {
    tools: Tools,
    ip: Ip,
}

/// Values by names.
pub type Parameters = BTreeMap<String, u32>;

impl Engine {
    /// # Errors
    /// If it cannot be read, or a program is missing.
    pub fn load(name: &str) -> Result<Self> {
        Ok(Self { tools: Tools::locate()?, ip: Ip::load(name)? })
    }

    /// Whether it has a module of this name.
    pub fn has_module(&self, name: &str) -> bool {
        self.ip.sources.iter().any(|path| path.file_stem().is_some_and(|stem| stem == name))
    }

    /// Whether its folder has these tests.
    pub fn has_tests(&self, tests: &str) -> bool {
        self.ip.dir.join("tb").join(tests).with_extension("py").is_file()
    }

    /// The module that tests are of, by the engine's plan.
    pub fn top_of(&self, tests: &str) -> Option<&str> {
        self.ip.plan.bench.iter().find(|it| it.tests == tests).map(|it| it.top.as_str())
    }

    /// Runs tests on a module and returns what they printed. Their log is kept: the same sources and the same tests take the
    /// same cycles.
    ///
    /// # Errors
    /// If a test fails, or it cannot be built.
    pub fn simulate(&self, top: &str, parameters: &Parameters, tests: &str) -> Result<String> {
        let name = format!("{top}-{}.log", self.digest(top, parameters, tests)?);
        let kept = project::cache_dir()?.join("measured").join(name);
        if let Ok(log) = fs::read_to_string(&kept) {
            return Ok(log);
        }
        let bench = Bench {
            top: top.to_owned(),
            parameters: parameters.clone(),
            tests: tests.to_owned(),
            of_netlist: false,
            must_fail: Vec::new(),
            is_daily: false,
        };
        let run = bench::run(&self.tools, &self.ip, &bench)?;
        ensure!(run.faults.is_empty(), "{}", run.faults.join("\n"));
        let parent = kept.parent().context("the cache has a parent")?;
        fs::create_dir_all(parent)?;
        let mut new = tempfile::NamedTempFile::new_in(parent)?;
        std::io::Write::write_all(&mut new, run.log.as_bytes())?;
        new.persist(&kept)?;
        Ok(run.log)
    }

    /// Of everything that decides what a test prints.
    fn digest(&self, top: &str, parameters: &Parameters, tests: &str) -> Result<String> {
        let Self { tools, ip } = self;
        let (machine, identity) = (tools.machine.identity(), tools.ip.identity());
        let words = words(parameters);
        let mut parts = vec![LAYOUT, &machine, &identity, top, &words, tests];
        let texts = ip.texts()?;
        parts.extend(texts.iter().map(String::as_str));
        let own = [ip.dir.join("tb"), prim().join("tb"), project::root().join("spec/reference")];
        let used = ip.plan.uses.iter().map(|name| folder_of(name).join("tb"));
        let mut scripts = Vec::new();
        for folder in own.into_iter().chain(used) {
            for path in files(&folder, "py")? {
                scripts
                    .push(fs::read_to_string(&path).with_context(|| path.display().to_string())?);
            }
        }
        parts.extend(scripts.iter().map(String::as_str));
        Ok(packages::digest(&parts))
    }

    /// Cells of a module, as those of `cargo xtask ip NAME --synth`, from the same cache.
    ///
    /// # Errors
    /// If it cannot be synthesised.
    pub fn count(&self, top: &str, parameters: &Parameters) -> Result<Count> {
        netlist::count(&self.tools, &self.ip, &netlist(top, parameters))
    }

    /// Megahertz of a module on an ECP5.
    ///
    /// # Errors
    /// If it cannot be placed and routed.
    pub fn megahertz(&self, top: &str, parameters: &Parameters) -> Result<f64> {
        let megahertz = netlist::fmax(&self.tools, &self.ip, &netlist(top, parameters))?;
        Ok((megahertz * 10.0).round() / 10.0)
    }

    /// Cells of a netlist of the plan, as they are recorded.
    ///
    /// # Errors
    /// If the record cannot be read, or has it not by today's tools.
    pub fn recorded(&self, top: &str, parameters: &Parameters) -> Result<Count> {
        let is_it = |it: &&Netlist| it.top == top && it.parameters == *parameters;
        let planned = self.ip.plan.netlist.iter().find(is_it);
        let name = &planned.with_context(|| format!("no netlist of {top} is planned"))?.name;
        Record::load(&self.ip)?.count(&self.ip, name)
    }
}

fn netlist(top: &str, parameters: &Parameters) -> Netlist {
    Netlist {
        name: format!("{top}{}", words(parameters)),
        top: top.to_owned(),
        parameters: parameters.clone(),
        cycles: 0,
        luts: None,
        aim: None,
        is_daily: false,
    }
}

/// Each with a space before it.
fn words(parameters: &Parameters) -> String {
    parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect()
}
