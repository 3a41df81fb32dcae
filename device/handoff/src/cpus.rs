//! What a device tree has to say about the boot hart (boot flow §6, rule 11). Linux and OpenSBI stop without a word if it
//! does not.

use crate::domain::{FoundNode, Nodes};
use crate::fdt::{Tree, be32_at, is_okay};

/// What a tree lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuFault<'a> {
    /// `/cpus` has no `timebase-frequency` of one cell, but this value, or none.
    Timebase(Option<&'a [u8]>),
    /// The node of the boot hart is not compatible with `riscv`, but has this value, or none.
    Compatible(Option<&'a [u8]>),
    /// The node of the boot hart names no instruction set with RV64I, M and A, but this value, or none: that of
    /// `riscv,isa-base` if it is there, else of `riscv,isa`.
    InstructionSet(Option<&'a [u8]>),
    /// The node of the boot hart has no interrupt controller.
    InterruptController,
}

impl CpuFault<'_> {
    /// Returns the fault for the console.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Timebase(_) => "no timebase-frequency",
            Self::Compatible(_) => "boot hart is no riscv",
            Self::InstructionSet(_) => "riscv,isa of the boot hart",
            Self::InterruptController => "boot hart without riscv,cpu-intc",
        }
    }
}

/// Checks each node that OpenSBI or Linux may take for that of the boot hart. A tree without one has no fault here: that is
/// for rule 7 ([`crate::fdt::edit`]) and [`crate::domain::check`].
///
/// # Errors
/// The first fault.
pub fn check<'a>(tree: &Tree<'a>, boot_hart: u64) -> Result<(), CpuFault<'a>> {
    for cpus in all_cpus(tree) {
        let timebase = tree.property(&cpus, "timebase-frequency");
        if timebase.is_none_or(|value| value.len() != 4) {
            return Err(CpuFault::Timebase(timebase));
        }
        // Linux finds a hart by its name too, and OpenSBI by its `reg` alone.
        let is_boot_hart = |node: &FoundNode<'_>| {
            let to_linux = tree.cpu_number(node).ok().flatten();
            [to_linux, tree.hart(node).map(u64::from)].contains(&Some(boot_hart))
        };
        Nodes::all(tree)
            .below(&cpus)
            .filter(is_boot_hart)
            .try_for_each(|hart| check_boot_hart(tree, &hart))?;
    }
    Ok(())
}

/// Returns the children of the root with the name `cpus`. OpenSBI takes one with a unit address as well.
fn all_cpus<'a>(tree: &'a Tree<'a>) -> impl Iterator<Item = FoundNode<'a>> {
    const CHILD: usize = 2;
    Nodes::all(tree).filter(|node| node.depth == CHILD && node.is_named(b"cpus"))
}

fn check_boot_hart<'a>(tree: &Tree<'a>, hart: &FoundNode<'_>) -> Result<(), CpuFault<'a>> {
    if !tree.has_text(hart, "compatible", b"riscv") {
        return Err(CpuFault::Compatible(tree.property(hart, "compatible")));
    }
    let begins = |value: Option<&[u8]>, wanted: &[u8]| {
        value
            .and_then(|it| it.get(..wanted.len()))
            .is_some_and(|it| it.eq_ignore_ascii_case(wanted))
    };
    let has_extension = |name: &[u8]| tree.has_text(hart, "riscv,isa-extensions", name);
    let base = tree.property(hart, "riscv,isa-base");
    let stated = base.or_else(|| tree.property(hart, "riscv,isa"));
    let is_known = match base {
        Some(_) => {
            begins(base, b"rv64i") && [b"i", b"m", b"a"].into_iter().all(|it| has_extension(it))
        }
        None => begins(stated, b"rv64ima"),
    };
    if !is_known {
        return Err(CpuFault::InstructionSet(stated));
    }
    let is_controller = |node: FoundNode<'_>| tree.has_text(&node, "compatible", b"riscv,cpu-intc");
    if Nodes::all(tree).below(hart).any(is_controller) {
        Ok(())
    } else {
        Err(CpuFault::InterruptController)
    }
}

/// Returns the mask of the harts that Linux starts of those that a tree names, up to number 63 (`of_get_next_cpu_node` in
/// drivers/of/cpu.c, `riscv_of_processor_hartid` in arch/riscv/kernel/cpu.c). Returns `None` for bytes that are no tree.
pub fn harts(tree: &[u8]) -> Option<u64> {
    let tree = Tree::parse(tree)?;
    let number = |node: FoundNode<'_>| {
        let is_enabled = tree.property(&node, "status").is_none_or(is_okay);
        let reg = tree.property(&node, "reg").filter(|_| tree.is_cpu(&node) && is_enabled)?;
        1_u64.checked_shl(be32_at(reg, reg.len().checked_sub(4)?)?)
    };
    let cpus = all_cpus(&tree).filter(|node| node.name == b"cpus");
    let harts = cpus.flat_map(|node| Nodes::all(&tree).below(&node));
    Some(harts.filter_map(number).fold(0, |mask, bit| mask | bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Node, cells, system_tree};

    #[track_caller]
    fn expect(change: impl FnOnce(&mut Node), wanted: Result<(), CpuFault<'_>>) {
        let mut tree = system_tree(3, 0x8000_0000);
        change(&mut tree);
        let bytes = tree.flatten();
        assert_eq!(check(&Tree::parse(&bytes).unwrap(), 0), wanted);
    }

    #[test]
    fn a_tree_without_a_time_base_is_found() {
        expect(|_| {}, Ok(()));
        expect(|tree| tree.at("cpus").remove("timebase-frequency"), Err(CpuFault::Timebase(None)));
        let two = cells(&[0, 1000]);
        expect(
            |tree| tree.at("cpus").set("timebase-frequency", &two),
            Err(CpuFault::Timebase(Some(&two))),
        );
        expect(
            |tree| tree.at("cpus").set("timebase-frequency", b""),
            Err(CpuFault::Timebase(Some(b""))),
        );
    }

    #[test]
    fn the_boot_hart_is_a_riscv() {
        let compatible = |text: &'static [u8]| {
            move |tree: &mut Node| tree.at("cpus/cpu@0").set("compatible", text)
        };
        expect(compatible(b"vendor,core\0riscv\0"), Ok(()));
        expect(compatible(b"riscv\0vendor,core\0"), Ok(()));
        for other in [&b"vendor,core\0"[..], b"riscv,core\0", b"riscv32\0", b""] {
            expect(compatible(other), Err(CpuFault::Compatible(Some(other))));
        }
        // Linux ignores what it cannot use of the others.
        expect(|tree| tree.at("cpus/cpu@1").set("compatible", b"vendor,core\0"), Ok(()));
    }

    #[test]
    fn the_boot_hart_has_an_instruction_set_of_linux() {
        let isa = |text: &'static [u8]| {
            move |tree: &mut Node| tree.at("cpus/cpu@0").set("riscv,isa", text)
        };
        for right in [&b"rv64ima\0"[..], b"RV64IMAFDC\0", b"rv64imafdch_zicsr\0"] {
            expect(isa(right), Ok(()));
        }
        for wrong in [&b"rv32ima\0"[..], b"rv64i\0", b"rv64im\0", b"rv64gc\0", b""] {
            expect(isa(wrong), Err(CpuFault::InstructionSet(Some(wrong))));
        }
        expect(
            |tree| tree.at("cpus/cpu@0").remove("riscv,isa"),
            Err(CpuFault::InstructionSet(None)),
        );
        // The newer properties count before the older one.
        let newer = |base: &'static [u8], extensions: &'static [u8]| {
            move |tree: &mut Node| {
                tree.at("cpus/cpu@0").set("riscv,isa-base", base);
                tree.at("cpus/cpu@0").set("riscv,isa-extensions", extensions);
            }
        };
        expect(newer(b"rv64i\0", b"i\0m\0a\0zicsr\0"), Ok(()));
        expect(newer(b"rv32i\0", b"i\0m\0a\0"), Err(CpuFault::InstructionSet(Some(b"rv32i\0"))));
        for less in [&b"m\0a\0"[..], b"i\0a\0", b"i\0m\0", b"ima\0", b""] {
            expect(newer(b"rv64i\0", less), Err(CpuFault::InstructionSet(Some(b"rv64i\0"))));
        }
    }

    #[test]
    fn the_boot_hart_is_found_by_its_number_too() {
        let other_names = |tree: &mut Node| {
            tree.at("cpus/cpu@0").name = "core@0".into();
            tree.at("cpus").name = "cpus@0".into();
        };
        expect(other_names, Ok(()));
        expect(
            |tree| {
                tree.at("cpus/cpu@0").remove("riscv,isa");
                other_names(tree);
            },
            Err(CpuFault::InstructionSet(None)),
        );
        let without_clock = |tree: &mut Node| {
            tree.at("cpus").remove("timebase-frequency");
            other_names(tree);
        };
        expect(without_clock, Err(CpuFault::Timebase(None)));
    }

    #[test]
    fn a_right_node_hides_no_wrong_one() {
        let wrong = Err(CpuFault::InstructionSet(Some(b"rv32ima\0")));
        let second = |name: &'static str| {
            move |tree: &mut Node| {
                let mut hart = tree.at("cpus/cpu@0").clone();
                hart.name = name.into();
                hart.set("riscv,isa", b"rv32ima\0");
                tree.at("cpus").children.push(hart);
            }
        };
        expect(second("core@0"), wrong);
        expect(second("cpu@0"), wrong);
        let second_cpus = |tree: &mut Node| {
            let mut cpus = tree.at("cpus").clone();
            tree.at("cpus").name = "cpus@0".into();
            cpus.remove("timebase-frequency");
            tree.children.push(cpus);
        };
        expect(second_cpus, Err(CpuFault::Timebase(None)));
    }

    #[test]
    fn the_boot_hart_has_an_interrupt_controller() {
        let path = "cpus/cpu@0/interrupt-controller";
        let wanted = Err(CpuFault::InterruptController);
        expect(|tree| tree.at(path).set("compatible", b"vendor,intc\0"), wanted);
        expect(|tree| tree.at("cpus/cpu@0").children.clear(), wanted);
    }

    #[test]
    fn each_fault_has_a_text_of_its_own() {
        let faults = [
            CpuFault::Timebase(None),
            CpuFault::Compatible(None),
            CpuFault::InstructionSet(None),
            CpuFault::InterruptController,
        ];
        let named = ["timebase-frequency", "no riscv", "riscv,isa", "riscv,cpu-intc"];
        for (fault, name) in faults.into_iter().zip(named) {
            assert!(fault.text().contains(name), "{fault:?}");
        }
    }

    #[test]
    fn harts_are_those_that_linux_starts() {
        let counted = |change: &dyn Fn(&mut Node)| {
            let mut tree = system_tree(3, 0x8000_0000);
            change(&mut tree);
            harts(&tree.flatten())
        };
        assert_eq!(counted(&|_| {}), Some(0b111));
        assert_eq!(counted(&|tree| tree.at("cpus/cpu@1").remove("device_type")), Some(0b111));
        assert_eq!(
            counted(&|tree| tree.at("cpus/cpu@1").set("status", b"disabled\0")),
            Some(0b101)
        );
        assert_eq!(counted(&|tree| tree.at("cpus/cpu@1").set("status", b"okay\0")), Some(0b111));
        assert_eq!(
            counted(&|tree| tree.at("cpus/cpu@2").set("reg", &cells(&[0, 63]))),
            Some(1 << 63 | 3)
        );
        assert_eq!(counted(&|tree| tree.at("cpus/cpu@2").set("reg", &cells(&[64]))), Some(3));
        assert_eq!(counted(&|tree| tree.at("cpus/cpu@2").set("reg", b"")), Some(3));
        assert_eq!(
            counted(&|tree| tree.at("cpus").children.push(Node::new("cpu-map"))),
            Some(0b111)
        );
        let other = |name: &str| Node::new(name).with("reg", &cells(&[5]));
        assert_eq!(counted(&|tree| tree.at("cpus").children.push(other("cache"))), Some(0b111));
        assert_eq!(counted(&|tree| tree.at("cpus").children.push(other("cpu"))), Some(0b10_0111));
        // The same number twice is one hart.
        assert_eq!(counted(&|tree| tree.at("cpus/cpu@2").set("reg", &cells(&[1]))), Some(0b11));
        assert_eq!(counted(&|tree| tree.children.clear()), Some(0));
        assert_eq!(harts(b"no tree"), None);
    }

    #[test]
    fn a_tree_without_the_hart_is_judged_by_others() {
        expect(|tree| tree.at("cpus").children.clear(), Ok(()));
        expect(|tree| tree.children.clear(), Ok(()));
    }
}
