//! Runs the call of the monitor on this machine, with a model of the IOMMU (`monitor.c` beside this file).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The headers of OpenSBI that the call includes. The model has what it takes from them.
const HEADERS: [&str; 7] = [
    "sbi/riscv_asm.h",
    "sbi/riscv_io.h",
    "sbi/sbi_domain.h",
    "sbi/sbi_ecall.h",
    "sbi/sbi_ecall_interface.h",
    "sbi/sbi_error.h",
    "sbi_utils/fdt/fdt_driver.h",
];

/// Changes of the call, each with what the model has to notice.
const CHANGES: [(&str, &str, &str); 9] = [
    ("if (has_forgotten())", "if (true)", "the call"),
    ("\tmb();\n", "", "the call"),
    ("pointer_to(SYSTEM_MAP);", "pointer_to(BUFFER_MAP);", "the call"),
    ("writel(COMMANDS, at(iommu, CQT));", "", "the call"),
    ("if (*entry != pointer_to(BUFFER_MAP))", "if (false)", "a second call"),
    (
        "if (current_hartid() != sbi_domain_thishart_ptr()->boot_hartid)",
        "if (false)",
        "another hart",
    ),
    ("if (!has_reached(CQH, ~0U, COMMANDS))", "if (false)", "no command"),
    ("if (readl(at(iommu, CQCSR)) & CQ_FAULTS)", "if (false)", "a fault"),
    ("writeq(0, at(iommu, DDTP));", "", "no command"),
];

/// Compiles and runs the model with this source of the call. Returns what it prints, or `None` if it finds nothing.
fn run(source: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    for header in HEADERS {
        let path = folder.path().join(header);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(folder.path().join("system_map.c"), source).unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/monitor.c");
    let program = folder.path().join("monitor");
    let compiler = env::var_os("CC").map_or_else(|| PathBuf::from("cc"), PathBuf::from);
    let compiled = Command::new(compiler)
        .args(["-Wall", "-I"])
        .arg(folder.path())
        .arg(model)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    match ran.status.code() {
        Some(0) => None,
        Some(1) => Some(text),
        other => panic!("the model ended with {other:?}: {text}"),
    }
}

#[test]
fn the_call_changes_the_map_once_and_drops_what_the_iommu_cached() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device/monitor/system_map.c");
    let source = fs::read_to_string(path).unwrap();
    assert_eq!(run(&source), None);
    for (from, to, noticed) in CHANGES {
        assert_eq!(source.matches(from).count(), 1, "{from}");
        let text = run(&source.replace(from, to)).unwrap_or_default();
        assert!(text.starts_with(&format!("{noticed}: ")), "{from}: {text}");
    }
}
