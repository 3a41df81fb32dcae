//! What a measurement takes from an engine: a bench with other parameters, and a netlist of any of its modules.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::bench;
use super::engine::{Bench, Ip, Netlist, Tools};
use super::netlist::{self, Count};
use super::record::Record;

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

    /// Runs tests on a module and returns what they printed.
    ///
    /// # Errors
    /// If a test fails, or it cannot be built.
    pub fn simulate(&self, top: &str, parameters: &Parameters, tests: &str) -> Result<String> {
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
        Ok(run.log)
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
