//! Lists the registers of an engine from Verilator's elaboration of it: every variable that a clocked process assigns.
//!
//! Names of registers end in `_q` by the rule of this project. But generated register blocks have other names, and the
//! rule may be broken. So the registers are taken from the tree of the design, so that a campaign cannot omit one.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// A register, or an array of registers with the same number of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name in the RTL, below the top module.
    pub name: String,
    /// The member of the model's C++ class.
    member: String,
    /// The number of bits of an element.
    bits: usize,
    elements: usize,
}

impl Register {
    pub fn bits(&self) -> usize {
        self.bits * self.elements
    }
}

/// A port, or a field of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    /// The name in the RTL.
    name: String,
    /// The member of the model's C++ class, which is the whole port.
    member: String,
    bits: usize,
    /// The lowest bit of a field in its port; none for a port.
    low: Option<usize>,
}

/// The part of a design that the bench of a model uses.
#[derive(Debug, Default)]
pub struct Design {
    pub registers: Vec<Register>,
    /// The ports, and the fields of those that are packed structures.
    ports: Vec<Port>,
    /// Modules and variables whose values the bench changes.
    public: BTreeSet<(String, String)>,
}

impl Design {
    /// Reads the tree that `verilator --json-only` writes.
    pub fn read(text: &str, top: &str) -> Result<Design> {
        let tree: Value =
            serde_json::from_str(text).context("cannot parse the tree of the design")?;
        let mut index = Index::default();
        index.add(&tree, false);
        let modules = list(&tree, "modulesp");
        let found = modules.iter().find(|module| text_of(module, "origName") == top);
        let module = found.with_context(|| format!("the tree has no module {top}"))?;
        let mut design = Design::default();
        for port in list(module, "stmtsp").iter().filter(|it| text_of(it, "varType") == "PORT") {
            let (name, kind) = (text_of(port, "name"), index.type_of(port)?);
            let bits = index.width(kind)?;
            design.ports.push(Port {
                name: name.to_owned(),
                member: name.to_owned(),
                bits,
                low: None,
            });
            index.fields(kind, name, name, 0, &mut design.ports)?;
        }
        let place = Place { name: String::new(), member: format!("{top}__DOT__") };
        design.walk(&index, module, text_of(module, "origName"), &place)?;
        design.registers.sort_by(|one, other| one.name.cmp(&other.name));
        ensure!(!design.registers.is_empty(), "{top} has no registers");
        Ok(design)
    }

    /// Adds the registers of a module, of a block in it and of its instances.
    fn walk(&mut self, index: &Index<'_>, node: &Value, module: &str, at: &Place) -> Result<()> {
        for item in list(node, "stmtsp").iter().chain(list(node, "itemsp")) {
            let name = text_of(item, "name");
            match text_of(item, "type") {
                "VAR" if index.clocked.contains(text_of(item, "addr")) => {
                    self.public.insert((module.to_owned(), name.to_owned()));
                    self.add(index, index.type_of(item)?, at.join(name, ""))?;
                }
                // An `else if` is a block without a name in the other branch, which does not exist in the model's
                // names.
                "GENBLOCK" if name.is_empty() => self.walk(index, item, module, at)?,
                "GENBLOCK" => self.walk(index, item, module, &at.join(name, ".").open())?,
                "CELL" => {
                    let instance = index.node(text_of(item, "modp"))?;
                    let inner = text_of(instance, "origName");
                    self.walk(index, instance, inner, &at.join(name, ".").open())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a variable, or each member of an unpacked structure.
    fn add(&mut self, index: &Index<'_>, kind: &Value, at: Place) -> Result<()> {
        match text_of(kind, "type") {
            "REFDTYPE" => self.add(index, index.inner(kind)?, at),
            "STRUCTDTYPE" if !is_packed(kind) => {
                for member in list(kind, "membersp") {
                    let name = text_of(member, "name");
                    let place = Place {
                        name: format!("{}.{name}", at.name),
                        member: format!("{}.__PVT__{name}", at.member),
                    };
                    self.add(index, index.inner(member)?, place)?;
                }
                Ok(())
            }
            "UNPACKARRAYDTYPE" => {
                let (elements, leaf) = index.elements(kind)?;
                if text_of(leaf, "type") == "STRUCTDTYPE" && !is_packed(leaf) {
                    bail!("{}: an array of structures that are not packed", at.name);
                }
                self.put(at, index.width(leaf)?, elements);
                Ok(())
            }
            _ => {
                let bits = index.width(kind)?;
                self.put(at, bits, 1);
                Ok(())
            }
        }
    }

    fn put(&mut self, at: Place, bits: usize, elements: usize) {
        self.registers.push(Register { name: at.name, member: at.member, bits, elements });
    }

    /// Returns a configuration file that lets the bench change the registers, and that prevents two equal ones from
    /// being merged.
    pub fn configuration(&self) -> String {
        let mut text = "`verilator_config\n".to_owned();
        for (module, variable) in &self.public {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "public_flat_rw -module \"{module}\" -var \"{variable}\"");
        }
        text
    }

    /// Returns the C++ table of signals for the bench (`verif/machines/sim/upsets/signals.h`).
    pub fn table(&self, prefix: &str) -> String {
        let mut text = format!(
            "#include \"signals.h\"\n#include \"{prefix}.h\"\n#include \"{prefix}___024root.h\"\n\n\
             void add_signals({prefix}___024root& root, Signals& signals) {{\n"
        );
        for Port { name, member, bits, low } in &self.ports {
            let _ = match low {
                None => writeln!(text, "    signals.add_port(\"{name}\", {bits}, root.{member});"),
                Some(low) => {
                    writeln!(
                        text,
                        "    signals.add_field(\"{name}\", {bits}, {low}, root.{member});"
                    )
                }
            };
        }
        for Register { name, member, bits, .. } in &self.registers {
            let _ = writeln!(text, "    signals.add_register(\"{name}\", {bits}, root.{member});");
        }
        text + "}\n"
    }
}

/// A place in the hierarchy, by its name in the RTL and in the model.
struct Place {
    name: String,
    member: String,
}

impl Place {
    fn join(&self, name: &str, end: &str) -> Place {
        let mangled = name.replace('[', "__BRA__").replace(']', "__KET__").replace('.', "__DOT__");
        Place {
            name: format!("{}{name}{end}", self.name),
            member: format!("{}{mangled}", self.member),
        }
    }

    /// Returns the place for names inside of this one.
    fn open(mut self) -> Place {
        self.member.push_str("__DOT__");
        self
    }
}

/// Nodes of the tree by their addresses, and the addresses of variables that a clocked process assigns.
#[derive(Default)]
struct Index<'a> {
    nodes: HashMap<&'a str, &'a Value>,
    clocked: BTreeSet<&'a str>,
}

impl<'a> Index<'a> {
    fn add(&mut self, node: &'a Value, is_target: bool) {
        match node {
            Value::Object(fields) => {
                if let Some(Value::String(address)) = fields.get("addr") {
                    self.nodes.insert(address, node);
                }
                let kind = text_of(node, "type");
                if is_target && kind == "VARREF" && text_of(node, "access") != "RD" {
                    self.clocked.insert(text_of(node, "varp"));
                }
                for (key, value) in fields {
                    let is_assigned = kind == "ASSIGNDLY" && key == "lhsp";
                    self.add(value, is_assigned || (is_target && key != "bitp" && key != "lsbp"));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item, is_target)),
            _ => {}
        }
    }

    fn node(&self, address: &str) -> Result<&'a Value> {
        self.nodes.get(address).copied().with_context(|| format!("no node {address} in the tree"))
    }

    fn type_of(&self, node: &Value) -> Result<&'a Value> {
        self.node(text_of(node, "dtypep"))
    }

    fn inner(&self, kind: &Value) -> Result<&'a Value> {
        self.node(text_of(kind, "refDTypep"))
    }

    /// Returns the number of elements of an array of any dimensions, and their type.
    fn elements(&self, kind: &'a Value) -> Result<(usize, &'a Value)> {
        match text_of(kind, "type") {
            "UNPACKARRAYDTYPE" => {
                let (inner, leaf) = self.elements(self.inner(kind)?)?;
                Ok((range(text_of(kind, "declRange"))? * inner, leaf))
            }
            "REFDTYPE" => self.elements(self.inner(kind)?),
            _ => Ok((1, kind)),
        }
    }

    /// Adds the fields of a port that is a packed structure. The last field has the lowest bits.
    fn fields(
        &self,
        kind: &'a Value,
        name: &str,
        member: &str,
        low: usize,
        all: &mut Vec<Port>,
    ) -> Result<()> {
        let kind = self.resolved(kind)?;
        if text_of(kind, "type") != "STRUCTDTYPE" || !is_packed(kind) {
            return Ok(());
        }
        let mut low = low;
        for field in list(kind, "membersp").iter().rev() {
            let (inner, name) = (self.inner(field)?, format!("{name}.{}", text_of(field, "name")));
            let bits = self.width(inner)?;
            self.fields(inner, &name, member, low, all)?;
            all.push(Port { name, member: member.to_owned(), bits, low: Some(low) });
            low += bits;
        }
        Ok(())
    }

    /// Returns the type that a reference names.
    fn resolved(&self, kind: &'a Value) -> Result<&'a Value> {
        if text_of(kind, "type") == "REFDTYPE" {
            self.resolved(self.inner(kind)?)
        } else {
            Ok(kind)
        }
    }

    /// Returns the number of bits of a packed type.
    fn width(&self, kind: &Value) -> Result<usize> {
        match text_of(kind, "type") {
            "BASICDTYPE" => match (text_of(kind, "range"), text_of(kind, "keyword")) {
                ("", "bit" | "logic") => Ok(1),
                ("", "int" | "integer") => Ok(32),
                ("", other) => bail!("a register of type {other}"),
                (bits, _) => range(bits),
            },
            "PACKARRAYDTYPE" => {
                Ok(range(text_of(kind, "declRange"))? * self.width(self.inner(kind)?)?)
            }
            "STRUCTDTYPE" if is_packed(kind) => {
                let members = list(kind, "membersp").iter();
                members.map(|member| self.width(self.inner(member)?)).sum()
            }
            "REFDTYPE" | "ENUMDTYPE" => self.width(self.inner(kind)?),
            other => bail!("a register or a port of type {other}"),
        }
    }
}

fn is_packed(kind: &Value) -> bool {
    kind.get("packed").and_then(Value::as_bool).unwrap_or_default()
}

fn text_of<'a>(node: &'a Value, key: &str) -> &'a str {
    node.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(node: &'a Value, key: &str) -> &'a [Value] {
    node.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the number of elements of `[7:0]`, `[0:7]` or `7:0`.
fn range(text: &str) -> Result<usize> {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    let (left, right) = inner.split_once(':').with_context(|| format!("`{text}` is no range"))?;
    let (left, right): (usize, usize) = (left.parse()?, right.parse()?);
    Ok(left.abs_diff(right) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree of a top module with a register of a packed structure, an array in an instance, and a wire.
    const TREE: &str = r#"{"modulesp": [
        {"type": "MODULE", "name": "top", "addr": "(A)", "origName": "top", "stmtsp": [
            {"type": "VAR", "name": "clk_i", "addr": "(P)", "varType": "PORT", "dtypep": "(B1)"},
            {"type": "VAR", "name": "pair_i", "addr": "(Q)", "varType": "PORT", "dtypep": "(R)"},
            {"type": "VAR", "name": "pair_q", "addr": "(V1)", "varType": "VAR", "dtypep": "(S)"},
            {"type": "VAR", "name": "wire", "addr": "(V2)", "varType": "VAR", "dtypep": "(B1)"},
            {"type": "GENBLOCK", "name": "g_x[1]", "addr": "(G)", "itemsp": [
                {"type": "CELL", "name": "u_sub", "addr": "(C)", "modp": "(M)"}]},
            {"type": "ALWAYS", "stmtsp": [{"type": "ASSIGNDLY",
                "rhsp": [{"type": "VARREF", "varp": "(V2)", "access": "RD"}],
                "lhsp": [{"type": "VARREF", "varp": "(V1)", "access": "WR"}]}]}]},
        {"type": "MODULE", "name": "sub__P1", "addr": "(M)", "origName": "sub", "stmtsp": [
            {"type": "VAR", "name": "memory", "addr": "(V3)", "varType": "VAR", "dtypep": "(U)"},
            {"type": "VAR", "name": "index", "addr": "(V4)", "varType": "VAR", "dtypep": "(B1)"},
            {"type": "ALWAYS", "stmtsp": [{"type": "ASSIGNDLY", "lhsp": [{"type": "ARRAYSEL",
                "fromp": [{"type": "VARREF", "varp": "(V3)", "access": "WR"}],
                "bitp": [{"type": "VARREF", "varp": "(V4)", "access": "RD"}]}]}]}]}],
        "miscsp": [
            {"type": "BASICDTYPE", "addr": "(B1)", "keyword": "logic"},
            {"type": "BASICDTYPE", "addr": "(B5)", "keyword": "logic", "range": "4:0"},
            {"type": "ENUMDTYPE", "addr": "(E)", "refDTypep": "(B5)"},
            {"type": "REFDTYPE", "addr": "(R)", "refDTypep": "(T)"},
            {"type": "STRUCTDTYPE", "addr": "(T)", "packed": true, "membersp": [
                {"type": "MEMBERDTYPE", "name": "a", "refDTypep": "(E)"},
                {"type": "MEMBERDTYPE", "name": "b", "refDTypep": "(B1)"}]},
            {"type": "STRUCTDTYPE", "addr": "(S)", "packed": true, "membersp": [
                {"type": "MEMBERDTYPE", "name": "a", "refDTypep": "(E)"},
                {"type": "MEMBERDTYPE", "name": "b", "refDTypep": "(B1)"}]},
            {"type": "UNPACKARRAYDTYPE", "addr": "(U)", "declRange": "[0:15]", "refDTypep": "(B5)"}]}"#;

    #[test]
    fn registers_are_what_a_clocked_process_assigns() {
        let design = Design::read(TREE, "top").unwrap();
        let found: Vec<_> =
            design.registers.iter().map(|it| (it.name.as_str(), it.bits, it.elements)).collect();
        assert_eq!(found, [("g_x[1].u_sub.memory", 5, 16), ("pair_q", 6, 1)]);
        assert_eq!(
            design.registers[0].member,
            "top__DOT__g_x__BRA__1__KET____DOT__u_sub__DOT__memory"
        );
        let ports: Vec<_> =
            design.ports.iter().map(|it| (it.name.as_str(), it.bits, it.low)).collect();
        // The last field of a structure has its lowest bits.
        assert_eq!(
            ports,
            [
                ("clk_i", 1, None),
                ("pair_i", 6, None),
                ("pair_i.b", 1, Some(0)),
                ("pair_i.a", 5, Some(1))
            ]
        );
        let line = "signals.add_field(\"pair_i.a\", 5, 1, root.pair_i);";
        assert!(design.table("Vtop").contains(line));
        assert!(design.configuration().contains("-module \"sub\" -var \"memory\""));
    }

    #[test]
    fn a_block_without_a_name_is_not_in_names() {
        let inner = r#"{"type": "CELL", "name": "u_sub", "addr": "(C)", "modp": "(M)"}"#;
        let block = r#"{"type": "GENBLOCK", "name": "g_y", "addr": "(H)", "itemsp": ["#;
        let tree = TREE.replace("g_x[1]", "").replace(inner, &format!("{block}{inner}]}}"));
        let design = Design::read(&tree, "top").unwrap();
        assert_eq!(design.registers[0].name, "g_y.u_sub.memory");
        assert_eq!(design.registers[0].member, "top__DOT__g_y__DOT__u_sub__DOT__memory");
    }

    #[test]
    fn members_of_a_structure_are_registers() {
        let tree = TREE.replace("\"(S)\", \"packed\": true, ", "\"(S)\", ");
        let design = Design::read(&tree, "top").unwrap();
        let names: Vec<_> = design.registers.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["g_x[1].u_sub.memory", "pair_q.a", "pair_q.b"]);
        assert_eq!(design.registers[1].member, "top__DOT__pair_q.__PVT__a");
    }

    #[test]
    fn an_unknown_type_is_no_guess() {
        let tree =
            TREE.replace("\"keyword\": \"logic\", \"range\"", "\"keyword\": \"real\", \"x\"");
        assert!(Design::read(&tree, "top").is_err());
        assert!(Design::read(TREE, "other").is_err());
    }
}
