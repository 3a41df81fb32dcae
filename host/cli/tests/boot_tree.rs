//! Tests what `sign`, `replace`, `resign` and `verify` say about a device tree for OpenSBI that leaves memory open.

use hartlock_handoff::builder::DOMAIN;

use crate::common::{Bench, boot_tree};

const SIGN: &str = "sign --type boot --opensbi fw.bin --loader fw.bin --trust root.pub.pem \
                    --security-version 1 --key root.pem -o boot.hlk";
/// Options with which a bundle is signed for a board that is not known yet.
const UNKNOWN: &str = "bundle.toml --key root.pem -o boot.hlk";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.run(&["keygen", "-o", "root.pem"]).expect(0);
    let mut open = boot_tree();
    open.at("cpus/cpu@4").remove("opensbi-domain");
    bench.write("open.dtb", &open.flatten());
    let mut dumped = boot_tree();
    dumped.at("chosen").children.clear();
    bench.write("dumped.dtb", &dumped.flatten());
    let mut elsewhere = boot_tree();
    elsewhere.at(DOMAIN).set("boot-hart", &[0, 0, 0, 2]);
    bench.write("elsewhere.dtb", &elsewhere.flatten());
    bench
}

fn words<'a>(line: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    line.split_whitespace().chain(more.iter().copied()).collect()
}

#[test]
fn sign_names_rule_and_place() {
    let bench = bench();
    for (tree, says) in [
        ("open.dtb", "board qemu-virt: hart 4 is in no domain"),
        ("dumped.dtb", "it has no node `opensbi,domain,config`"),
        ("elsewhere.dtb", "`boot-hart` has to name hart 0 alone"),
    ] {
        for more in [&[][..], &["--force-type"], &["--dry-run"]] {
            let run = bench.run(&words(SIGN, &[&["--boot-fdt", tree], more].concat())).expect(1);
            let text = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("error: E1401") && text.contains(says), "{run:#?}");
            assert!(!bench.path("boot.hlk").exists(), "{tree}");
        }
        let run = bench.run(&words(SIGN, &["--boot-fdt", tree, "--json"])).expect(1);
        assert_eq!(run.json()["error"]["reason"]["code"], "E1401", "{run:#?}");
    }
    bench.run(&words(SIGN, &["--boot-fdt", "virt.dtb"])).expect(0);
}

#[test]
fn verify_and_replace_look_into_a_bundle() {
    let bench = bench();
    bench.describe_for_unknown_board("open.dtb");
    bench.run(&words(&format!("sign {UNKNOWN}"), &[])).expect(0);
    bench.run(&words("verify boot.hlk --key root.pub.pem", &[])).expect(0);
    let known = ["--board", "mine.toml"];
    let run = bench.run(&words("verify boot.hlk --key root.pub.pem", &known)).expect(1);
    assert!(run.stderr.contains("E1401") && run.stderr.contains("hart 4"), "{run:#?}");

    let from = "boot.hlk --verify-key root.pub.pem --key root.pem -o next.hlk";
    for (verb, more) in [("resign", &[][..]), ("replace", &["--loader", "fw.bin"])] {
        let run = bench.run(&words(&format!("{verb} {from}"), &[&known, more].concat())).expect(1);
        assert!(run.stderr.contains("E1401") && run.stderr.contains("hart 4"), "{run:#?}");
        assert!(!bench.path("next.hlk").exists(), "{verb}");
    }
    // The fault can be mended.
    let mended = [&known[..], &["--boot-fdt", "virt.dtb"]].concat();
    bench.run(&words(&format!("replace {from}"), &mended)).expect(0);
    bench.run(&words("verify next.hlk --key root.pub.pem", &known)).expect(0);
}
