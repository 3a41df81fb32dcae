//! Tests of a stateful key in the lower layer of two overlays, which is what two containers of one image have
//! (`spec/stateful-key.md` §3).

use std::process::Command;

use crate::common::{Bench, SIGN_SYSTEM, skipped};

/// A script that mounts the folder `lower` as `one` and `two`, and signs in both with the remaining
/// arguments.
const SCRIPT: &str = r#"
set -e
hartlock=$1
shift
mkdir lower
mv linux initrd virt.dtb lms.pem lower/
for name in one two; do
    mkdir $name $name.upper $name.work
    mount -t overlay overlay -o lowerdir=lower,upperdir=$name.upper,workdir=$name.work $name || exit 77
done
for name in one two; do
    echo "$name: $(cd $name && "$hartlock" "$@" -o system.hlk --json 2>&1)"
done
"#;

/// Returns the output of both containers, or `None` if this machine cannot make any.
fn sign_in_overlays(more: &[&str]) -> Option<(Bench, String)> {
    let bench = Bench::new();
    bench.run(&["keygen", "-o", "lms.pem", "--algorithm", "lms-sha256-192-h5-w1"]).expect(0);
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"]);
    unshare.arg(env!("CARGO_BIN_EXE_hartlock"));
    unshare.args(SIGN_SYSTEM.replace("root.pem", "lms.pem").split(' ')).args(more);
    unshare.current_dir(bench.folder()).env_remove("HARTLOCK_ANY_FILE_SYSTEM");
    let output = match unshare.output() {
        Ok(output) => output,
        Err(error) => {
            skipped(format_args!("`unshare` cannot be run: {error}"));
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && !said.contains("one: ") {
        skipped(format_args!("no overlay can be mounted here: {}", errors.trim_end()));
        return None;
    }
    Some((bench, said))
}

#[test]
fn a_key_of_a_lower_layer_signs_in_no_overlay() {
    let Some((bench, said)) = sign_in_overlays(&[]) else { return };
    assert_eq!(said.matches("\"E1127\"").count(), 2, "{said}");
    assert!(said.contains("(overlay)"), "{said}");
    assert!(
        !bench.path("one.upper/system.hlk").exists() && !bench.path("two.upper/lms.pem").exists()
    );
}

/// Tests the case that the refusal prevents: both containers use the same index.
#[test]
fn a_user_who_insists_is_warned_and_both_spend_one_index() {
    let Some((bench, said)) = sign_in_overlays(&["--any-file-system"]) else { return };
    assert_eq!(said.matches("its file system (overlay) is not known").count(), 2, "{said}");
    for name in ["one", "two"] {
        let key = bench.path(&format!("{name}.upper/lms.pem"));
        let shown = bench.run(&["key", "show", key.to_str().unwrap(), "--json"]).expect(0).json();
        assert_eq!(shown["signatures_left"], 31, "{name}");
    }
}
