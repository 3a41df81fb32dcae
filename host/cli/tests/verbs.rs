//! Tests of the verbs: answers, exit codes and output.

use std::process::Stdio;

use crate::common::{Bench, SIGN_SYSTEM};

const KEY: [&str; 2] = ["--key", "root.pub.pem"];

fn verify(bench: &Bench, bundle: &str, more: &[&str]) -> crate::common::Run {
    bench.run(&[&["verify", bundle], &KEY[..], more].concat())
}

#[test]
fn a_bundle_that_was_signed_verifies() {
    let bench = Bench::with_bundle();
    let run = verify(&bench, "system.hlk", &[]).expect(0);
    assert!(run.stdout.contains("signed by   ed25519") && run.stdout.contains("root.pub.pem"));
    assert!(run.stdout.contains("not checked type, board, SoC, floor, boot version, lifecycle"));
    assert_eq!(run.stderr, "");
    let asked = [
        "--type",
        "system",
        "--board",
        "qemu-virt",
        "--soc",
        "virt",
        "--floor",
        "4",
        "--boot-version",
        "1",
        "--lifecycle",
    ];
    let run = verify(&bench, "system.hlk", &[&asked[..], &["production"]].concat()).expect(0);
    assert!(run.stdout.contains("floor 4,") && run.stdout.contains("boot version 1,"), "{run:?}");
    let line =
        "\nnot checked what only a device knows: root keys, revoked keys, what payloads do\n";
    assert!(run.stdout.contains(line), "{run:?}");
}

#[test]
fn a_refusal_looks_as_documented() {
    let bench = Bench::with_bundle();
    let run = verify(&bench, "system.hlk", &["--floor", "6"]).expect(1);
    assert_eq!(run.stdout, "");
    assert_eq!(
        run.stderr,
        "error: E0603 The bundle is older than this device accepts.\n\
         \x20      system.hlk: security version 4, floor 6\n\
         \n\
         \x20      hint: Install a bundle with a security version not below the floor.\n\
         \x20      spec: image format §7.2\n"
    );
}

#[test]
fn every_answer_has_its_exit_code() {
    let bench = Bench::with_bundle();
    bench.damaged("system.hlk", "payload.hlk", |bytes| bytes[5000] ^= 1);
    bench.damaged("system.hlk", "manifest.hlk", |bytes| bytes[32] ^= 1);
    bench.damaged("system.hlk", "cut.hlk", |bytes| bytes.truncate(5000));
    bench.damaged("system.hlk", "long.hlk", |bytes| bytes.push(0));
    bench.damaged("system.hlk", "huge.hlk", |bytes| bytes[16..24].fill(0xff));
    bench.write("empty", b"");
    bench.run(&["keygen", "-o", "other.pem"]).expect(0);
    let refused: &[(&str, &[&str], &str)] = &[
        ("payload.hlk", &KEY, "E0801"),
        ("manifest.hlk", &KEY, "E0301"),
        ("cut.hlk", &KEY, "E0101"),
        ("long.hlk", &KEY, "E0803"),
        ("huge.hlk", &KEY, "E0104"),
        ("empty", &KEY, "E0101"),
        ("linux", &KEY, "E0102"),
        ("system.hlk", &["--key", "other.pub.pem"], "E1001"),
        ("system.hlk", &["--key", "root.pub.pem", "--type", "boot"], "E0103"),
        ("system.hlk", &["--key", "root.pub.pem", "--board", "other"], "E0601"),
        ("system.hlk", &["--key", "root.pub.pem", "--soc", "other"], "E0602"),
        ("system.hlk", &["--key", "root.pub.pem", "--lifecycle", "returned"], "E0604"),
    ];
    for (bundle, more, code) in refused {
        let run = bench.run(&[&["verify", bundle], *more].concat()).expect(1);
        assert!(run.stderr.contains(code), "{bundle} {more:?}: {run:?}");
    }
    let undecided: &[&[&str]] = &[
        &["verify", ".", "--key", "root.pub.pem"],
        &["verify", "missing", "--key", "root.pub.pem"],
        &["verify", "/dev/null", "--key", "root.pub.pem"],
        &["verify", "system.hlk"],
        &["verify", "system.hlk", "--key", "missing"],
        &["verify", "system.hlk", "--key", "."],
        &["verify", "system.hlk", "--key", "/dev/zero"],
        &["verify", "system.hlk", "--board", ""],
        &["verify", "system.hlk", "--floor", "-1"],
        &["verify", "system.hlk", "--lifecycle", "sold"],
        &["verify"],
        &["inspect", "."],
        &["inspect", "missing"],
        &["explain", "E9999"],
        &["explain", "é"],
        &["keygen", "-o", "missing/root.pem"],
        &["keygen", "-o", "/"],
        &["keygen"],
        &["frobnicate"],
    ];
    for args in undecided {
        let run = bench.run(args).expect(2);
        assert_eq!(run.stdout, "", "{args:?}");
    }
    let too_many = KEY.repeat(9);
    bench.run(&[&["verify", "system.hlk"], &too_many[..]].concat()).expect(2);
    bench.run(&["--help"]).expect(0);
    bench.run(&["--version"]).expect(0);
}

#[test]
fn an_unreadable_file_is_not_a_refusal() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::with_bundle();
    let path = bench.path("system.hlk");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        crate::common::skipped("this user may read everything");
        return;
    }
    let run = verify(&bench, "system.hlk", &[]).expect(2);
    assert!(run.stderr.contains("permission denied"), "{run:?}");
}

#[test]
fn sign_takes_a_toml_file_and_flags_win() {
    let bench = Bench::with_bundle();
    bench.write(
        "bundle.toml",
        b"type = \"system\"\nsecurity_version = 0x7\nlabel = \"from the file\"\n\
          [[payload]]\ntype = \"kernel\"\nfile = \"linux\"\nload_address = 0x8300_0000\n\
          [[payload]]\ntype = \"system-fdt\"\nfile = \"virt.dtb\"\n",
    );
    let sign = ["sign", "bundle.toml", "-k", "root.pem", "-o", "a.hlk", "--json"];
    let json = bench.run(&[&sign[..], &["--label", "from a flag"]].concat()).expect(0).json();
    assert_eq!(json["manifest"]["label"], "from a flag");
    assert_eq!(json["manifest"]["security_version"], 7);
    assert_eq!(json["manifest"]["payloads"][0]["load_address"], "0x83000000");
    // Paths in the file are relative to its folder, whatever the working directory is.
    let run = bench
        .command()
        .args(["sign", bench.path("bundle.toml").to_str().unwrap(), "-k"])
        .args([bench.path("root.pem").to_str().unwrap(), "-o"])
        .arg(bench.path("b.hlk"))
        .stdout(Stdio::null())
        .current_dir("/")
        .status()
        .unwrap();
    assert!(run.success());
    verify(&bench, "b.hlk", &[]).expect(0);
}

#[test]
fn a_bad_toml_file_is_shown_with_its_line() {
    let bench = Bench::with_bundle();
    bench.write("bad.toml", b"type = \"system\"\nsize = 3\n");
    let run = bench.run(&["sign", "bad.toml", "-k", "root.pem", "-o", "x.hlk"]).expect(2);
    assert!(run.stderr.contains("line 2") && run.stderr.contains("size = 3"), "{run:?}");
    bench.write("bad.toml", &[0xff, 0xfe]);
    bench.run(&["sign", "bad.toml", "-k", "root.pem", "-o", "x.hlk"]).expect(2);
    assert!(!bench.path("x.hlk").exists());
}

#[test]
fn a_refused_build_leaves_nothing() {
    let bench = Bench::with_bundle();
    let before = bench.file_names();
    let args = ["sign", "--type", "system", "--kernel", "linux", "--security-version", "1"];
    let run = bench.run(&[&args[..], &["--key", "root.pem", "-o", "x.hlk"]].concat()).expect(1);
    assert!(run.stderr.contains("E0503"), "{run:?}");
    assert_eq!(bench.file_names(), before);
}

#[test]
fn a_boot_bundle_says_who_may_sign_the_next() {
    let bench = Bench::with_bundle();
    let args = [
        "sign",
        "--type",
        "boot",
        "--opensbi",
        "fw.bin",
        "--loader",
        "fw.bin",
        "--boot-fdt",
        "virt.dtb",
        "--security-version",
        "1",
        "--key",
        "root.pem",
        "-o",
        "boot.hlk",
        "--force",
        "--json",
    ];
    let trust = ["--trust", "root.pub.pem", "--trust-policy", "all"];
    let json = bench.run(&[&args[..], &trust].concat()).expect(0).json();
    assert_eq!(json["manifest"]["trust"]["policy"], "all");
    assert_eq!(json["manifest"]["trust"]["keys"][0], json["manifest"]["signers"][0]);
    verify(&bench, "boot.hlk", &["--type", "boot"]).expect(0);
    let run = bench.run(&args).expect(1);
    assert_eq!(run.json()["error"]["reason"]["code"], "E0421");
}

#[test]
fn two_runs_give_the_same_bytes_and_the_date_is_the_callers() {
    let bench = Bench::with_bundle();
    let first = bench.read("system.hlk");
    bench.sign(&[]).expect(0);
    assert_eq!(bench.read("system.hlk"), first);
    let dated = |epoch: &str| {
        let mut sign = bench.command();
        sign.args(SIGN_SYSTEM.split(' ')).args(["-o", "dated.hlk"]);
        sign.env("SOURCE_DATE_EPOCH", epoch).output().unwrap().status.code()
    };
    assert_eq!(dated("yesterday"), Some(2));
    assert!(!bench.path("dated.hlk").exists());
    assert_eq!(dated("1700000000"), Some(0));
    let shown = bench.run(&["inspect", "dated.hlk"]).expect(0);
    assert!(shown.stdout.contains("2023-11-14 22:13:20 UTC"), "{shown:?}");
    let second = bench.read("dated.hlk");
    assert_eq!(first[4096..], second[4096..]);
    assert_eq!(first[..40], second[..40]);
    assert_eq!(second[40..48], 1_700_000_000_u64.to_le_bytes());
}

#[test]
fn inspect_shows_and_does_not_believe() {
    let bench = Bench::with_bundle();
    let run = bench.run(&["inspect", "system.hlk"]).expect(0);
    for expected in ["NOT VERIFIED", "system", "qemu-virt", "kernel", "0x82000000", "sha384"] {
        assert!(run.stdout.contains(expected), "{expected}: {run:?}");
    }
    // A forged version is shown as well, because nothing is verified.
    bench.damaged("system.hlk", "forged.hlk", |bytes| bytes[32] = 99);
    let run = bench.run(&["inspect", "forged.hlk"]).expect(0);
    assert!(run.stdout.contains("security version  99"), "{run:?}");
    verify(&bench, "forged.hlk", &[]).expect(1);
}

#[test]
fn inspect_shows_what_is_left_of_a_malformed_bundle() {
    let bench = Bench::with_bundle();
    // The lifecycle mask is empty, and the label contains a sequence that clears the screen.
    bench.damaged("system.hlk", "bad.hlk", |bytes| {
        bytes[48..52].fill(0);
        bytes[128..132].copy_from_slice(b"\x1b[2J");
    });
    let run = bench.run(&["inspect", "bad.hlk"]).expect(1);
    assert!(run.stderr.contains("E0408"), "{run:?}");
    assert!(run.stdout.contains("qemu-virt") && run.stdout.contains("\\x1b[2J"), "{run:?}");
    // The manifest is shown, although a signature block does not belong to its signer.
    let signed_size = u32::from_le_bytes(bench.read("system.hlk")[16..20].try_into().unwrap());
    bench.damaged("system.hlk", "bad.hlk", |bytes| bytes[signed_size as usize + 20] ^= 1);
    let run = bench.run(&["inspect", "bad.hlk"]).expect(1);
    assert!(run.stderr.contains("E0412") && run.stdout.contains("initramfs"), "{run:?}");
    for name in ["linux", "virt.dtb"] {
        let run = bench.run(&["inspect", name]).expect(1);
        assert!(run.stderr.contains("E0102"), "{run:?}");
    }
    bench.write("empty", b"");
    bench.run(&["inspect", "empty"]).expect(1);
    bench.damaged("system.hlk", "cut.hlk", |bytes| bytes.truncate(4000));
    let run = bench.run(&["inspect", "cut.hlk"]).expect(1);
    assert!(run.stderr.contains("E0101") && run.stdout.contains("kernel"), "{run:?}");
}

#[test]
fn explain_knows_every_code() {
    let bench = Bench::new();
    let all = bench.run(&["explain"]).expect(0).stdout;
    // The lines between the codes are titles of groups.
    let codes = || all.lines().filter_map(|line| Some(line.split_once("  ")?.0));
    assert!(codes().count() > 60);
    for code in codes() {
        let run = bench.run(&["explain", code]).expect(0);
        for field in ["why ", "hint ", "fault ", "spec "] {
            assert!(run.stdout.contains(field), "{run:?}");
        }
    }
    for name in ["E0301", "e0301", "301", "SignatureMismatch"] {
        assert!(bench.run(&["explain", name]).expect(0).stdout.starts_with("E0301  "));
    }
}

#[test]
fn the_verifier_of_the_specification_agrees() {
    let bench = Bench::with_bundle();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/verify.py");
    let args = [script, "--key", "root.pub.pem", "system.hlk"];
    let Some(run) = bench.tool("python3", &args) else { return };
    if run.stderr.contains("ModuleNotFoundError") {
        crate::common::skipped(run.stderr.lines().last().unwrap_or_default());
        return;
    }
    assert_eq!(run.code, 0, "{run:?}");
    bench.damaged("system.hlk", "system.hlk", |bytes| bytes[5000] ^= 1);
    assert_eq!(bench.tool("python3", &args).unwrap().code, 1);
}

#[test]
fn a_board_that_is_not_known_is_admitted() {
    let bench = Bench::with_bundle();
    bench.write(
        "other.toml",
        b"type = \"system\"\nsecurity_version = 1\nboard = \"other\"\n\
          [[payload]]\ntype = \"kernel\"\nfile = \"linux\"\nload_address = 0x1000\n\
          [[payload]]\ntype = \"system-fdt\"\nfile = \"virt.dtb\"\nload_address = 0x100000\n",
    );
    bench.run(&["sign", "other.toml", "-k", "root.pem", "-o", "other.hlk"]).expect(0);
    let run = verify(&bench, "other.hlk", &[]).expect(0);
    assert!(run.stdout.contains("unknown     the memory map of board other"), "{run:?}");
    assert!(!verify(&bench, "system.hlk", &[]).expect(0).stdout.contains("unknown"));
    let json = verify(&bench, "other.hlk", &["--json"]).expect(0).json();
    assert_eq!(json["checked"]["placement"], false);
}

#[test]
fn the_kernel_in_an_efi_application_is_what_the_hint_takes_out() {
    let bench = Bench::with_bundle();
    let Some(packed) = bench.tool("gzip", &["-kn", "linux"]) else { return };
    packed.expect(0);
    // The header of such a kernel, the compressed kernel, and what follows it.
    let kernel = bench.read("linux.gz");
    let mut image = b"MZ\0\0zimg".to_vec();
    image.extend([512, kernel.len() as u32].into_iter().flat_map(u32::to_le_bytes));
    image.resize(24, 0);
    image.extend(b"gzip");
    image.resize(512, 0);
    image.extend([&kernel[..], &[0; 100]].concat());
    bench.write("vmlinuz.efi", &image);
    let args = ["sign", "--type", "system", "--security-version", "1", "--system-fdt", "virt.dtb"];
    let more = ["--kernel", "vmlinuz.efi", "--key", "root.pem", "-o", "out.hlk"];
    let refused = bench.run(&[&args[..], &more].concat()).expect(1);
    let (_, hint) = refused.stderr.split_once("hint: ").unwrap();
    let command = hint.split('`').nth(1).unwrap();
    bench.tool("sh", &["-c", command]).unwrap().expect(0);
    assert_eq!(bench.read("Image"), bench.read("linux"), "{command}");
}

/// Runs a command line in bash, with the folder of the bench as working directory and `hartlock` on PATH.
fn bash(bench: &Bench, line: &str) -> crate::common::Run {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_hartlock")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("bash");
    shell.args(["-o", "pipefail", "-c", line]).current_dir(bench.folder()).env("PATH", path);
    shell.env("SOURCE_DATE_EPOCH", "1700000000");
    crate::common::Run::of(shell.output().unwrap())
}

#[test]
fn bundles_and_payloads_are_read_from_pipes() {
    let bench = Bench::with_bundle();
    bench.damaged("system.hlk", "bad.hlk", |bytes| bytes[5000] ^= 1);
    for (line, code) in [
        ("cat system.hlk | hartlock verify - -k root.pub.pem", 0),
        ("hartlock verify - -k root.pub.pem --digests < system.hlk", 0),
        ("cat bad.hlk | hartlock verify - -k root.pub.pem", 1),
        ("hartlock verify <(cat system.hlk) <(cat system.hlk) -k root.pub.pem", 0),
        ("hartlock verify <(cat system.hlk) <(cat bad.hlk) -k root.pub.pem", 1),
        ("hartlock key show <(cat root.pem)", 0),
        ("cat system.hlk | hartlock inspect -", 0),
        ("cat system.hlk | hartlock inspect /dev/stdin --digests", 0),
        ("cat system.hlk | hartlock diff - system.hlk", 0),
        ("cat system.hlk | { hartlock diff <(cat bad.hlk) -; test $? = 1; }", 0),
        (
            "cat system.hlk | hartlock extract - --key root.pub.pem -o all && cmp all/kernel linux",
            0,
        ),
        ("cat bad.hlk | hartlock extract - --key root.pub.pem -o none", 1),
        (
            "cat system.hlk | hartlock resign - --verify-key root.pub.pem -k root.pem -o again.hlk",
            0,
        ),
    ] {
        bash(&bench, line).expect(code);
    }
    let rest = "--system-fdt virt.dtb --bootargs console=ttyS0 --security-version 4 -k root.pem";
    let sign = format!("hartlock sign --type system {rest}");
    bash(&bench, &format!("{sign} --kernel linux --initramfs initrd -o files.hlk")).expect(0);
    let line = format!("cat initrd | {sign} --kernel <(cat linux) --initramfs - -o pipes.hlk");
    bash(&bench, &line).expect(0);
    assert_eq!(bench.read("files.hlk"), bench.read("pipes.hlk"));
    let run = bash(&bench, &format!("{sign} --kernel - --initramfs - -o no.hlk < linux")).expect(2);
    assert!(run.stderr.contains("`-` is given for two inputs"), "{run:?}");
    // In a description `-` is a file like any other.
    bench.write("-", &bench.read("initrd"));
    let payloads =
        ["kernel", "initramfs", "system-fdt"].into_iter().zip(["linux", "-", "virt.dtb"]);
    let payloads = payloads
        .map(|(kind, file)| format!("[[payload]]\ntype = \"{kind}\"\nfile = \"{file}\"\n"))
        .collect::<String>();
    let text = "type = \"system\"\nsecurity_version = 4\nbootargs = \"console=ttyS0\"\n";
    bench.write("dash.toml", format!("{text}{payloads}").as_bytes());
    bash(&bench, "hartlock sign dash.toml -k root.pem -o dash.hlk < /dev/null").expect(0);
    assert_eq!(bench.read("files.hlk"), bench.read("dash.hlk"));
}

#[test]
fn standard_output_gets_a_file_when_it_is_verified() {
    let bench = Bench::with_bundle();
    bench.damaged("system.hlk", "bad.hlk", |bytes| bytes[5000] ^= 1);
    let sign = SIGN_SYSTEM.replace("--kernel linux", "--kernel -");
    let run = bash(&bench, &format!("hartlock {SIGN_SYSTEM} -o file.hlk")).expect(0);
    assert!(run.stdout.starts_with("signed"), "{run:?}");
    let run = bash(&bench, &format!("hartlock {sign} -o - < linux > stream.hlk")).expect(0);
    assert!(run.stderr.starts_with("signed"), "{run:?}");
    assert_eq!(bench.read("file.hlk"), bench.read("stream.hlk"));
    let line = "hartlock extract system.hlk kernel --key root.pub.pem -o - > kernel";
    let run = bash(&bench, line).expect(0);
    assert!(run.stderr.starts_with("kernel"), "{run:?}");
    assert_eq!(bench.read("kernel"), bench.read("linux"));
    for (line, code) in [
        ("hartlock extract bad.hlk kernel --key root.pub.pem -o - > no", 1),
        ("hartlock extract system.hlk --key root.pub.pem -o - > no", 2),
        (
            "hartlock sign --type system --kernel initrd --security-version 1 -k root.pem -o - > no",
            1,
        ),
    ] {
        bash(&bench, line).expect(code);
        assert_eq!(bench.read("no"), b"", "{line}");
    }
}

#[test]
fn a_padded_dump_of_flash_verifies_if_it_is_asked_for() {
    let bench = Bench::with_bundle();
    // More than what is read at once.
    for (name, more) in [
        ("ones", vec![0xff; (1 << 20) + 7]),
        ("zeros", vec![0; 5]),
        ("mixed", [vec![0xff; 1 << 20], vec![0]].concat()),
        ("other", vec![0x55; 8]),
    ] {
        bench.damaged("system.hlk", name, |bytes| bytes.extend(&more));
        let run = verify(&bench, name, &[]).expect(1);
        assert!(run.stderr.contains("E0803") && run.stderr.contains("add `--padded`"), "{run:?}");
    }
    let run = verify(&bench, "ones", &["--padded"]).expect(0);
    let line = "padding     1,048,583 bytes of 0xff after the bundle, which nobody signed";
    assert!(run.stdout.contains(line), "{run:?}");
    let json = verify(&bench, "zeros", &["--padded", "--json"]).expect(0).json();
    assert_eq!(json["padding"], serde_json::json!({ "size": 5, "byte": 0 }));
    let json = verify(&bench, "system.hlk", &["--padded", "--json"]).expect(0).json();
    assert_eq!(json["padding"], serde_json::Value::Null);
    let both = verify(&bench, "zeros", &["ones", "--padded"]).expect(0).stdout;
    assert!(both.contains("(5 bytes of 0x00 after the bundle"), "{both}");
    for name in ["mixed", "other"] {
        let run = verify(&bench, name, &["--padded"]).expect(1);
        assert!(run.stderr.contains("E0803") && run.stderr.contains("neither all 0xff"), "{run:?}");
    }
    // The bundle itself has to be as whole as ever.
    bench.damaged("ones", "changed", |bytes| bytes[5000] ^= 1);
    verify(&bench, "changed", &["--padded"]).expect(1);
    bench.damaged("system.hlk", "short", |bytes| bytes.truncate(5000));
    verify(&bench, "short", &["--padded"]).expect(1);
}

#[test]
fn git_ignores_what_a_workspace_makes() {
    let bench = Bench::new();
    if bench.tool("git", &["init", "--quiet", "."]).is_none() {
        return;
    }
    let run = bench.run(&["init"]).expect(0);
    assert!(run.stdout.contains(".gitignore"), "{run:?}");
    bench.run(&["keygen", "-o", "keys/root.pem"]).expect(0);
    let args = SIGN_SYSTEM.replace("root.pem", "keys/root.pem") + " -o system.hlk";
    bench.run(&args.split_whitespace().collect::<Vec<_>>()).expect(0);
    std::fs::create_dir(bench.path("device")).unwrap();
    bench.write("device/pflash0.img", b"flash");
    let list = bench.tool("git", &["status", "--short", "--untracked-files=all"]).unwrap().stdout;
    let made = [".gitignore", "hartlock.toml", "keys/.gitignore", "keys/root.pub.pem"];
    let payloads = ["fw.bin", "initrd", "linux", "virt.dtb"];
    let mut seen: Vec<_> = list.lines().map(|line| line.trim_start_matches("?? ")).collect();
    seen.retain(|name| !payloads.contains(name));
    assert_eq!(seen, made, "{list}");
    // A file of the user stays as it is, and the report says what to add to it.
    let other = Bench::new();
    other.write(".gitignore", b"mine\n");
    let run = other.run(&["init", "--force"]).expect(0);
    assert!(run.stdout.contains("kept     ./.gitignore; add *.hlk *.hlf /device/"), "{run:?}");
    assert_eq!(other.read(".gitignore"), b"mine\n");
}
