//! Tests of signers that are programs, and of signers on other machines (`spec/signers.md` §3 to §5).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hartlock_keys::PrivateKey;
use serde_json::Value;

use crate::common::{Bench, Run, SIGN_SYSTEM, skipped};
use crate::tokens::Token;

const STAGE: &str = "--form first-stage --code code.bin --board hartlock-soc --security-version 3";

/// Returns the words that describe the system bundle of a bench.
fn system() -> Vec<&'static str> {
    SIGN_SYSTEM.split(' ').skip(1).take_while(|word| *word != "--key").collect()
}

fn keys(bench: &Bench, algorithms: &[&str]) {
    for algorithm in algorithms {
        let file = format!("{algorithm}.pem");
        bench.run(&["keygen", "--algorithm", algorithm, "-o", &file]).expect(0);
    }
}

/// Writes request.json, request.unsigned and raw for these signers.
fn digest(bench: &Bench, signers: &[&str], more: &[&str]) -> Run {
    let files: Vec<_> = signers.iter().map(|name| format!("{name}.pub.pem")).collect();
    let signers = files.iter().flat_map(|file| ["--signer", file]);
    let words = ["digest", "-o", "request.json", "--raw", "raw", "--force"];
    let words: Vec<_> = words.into_iter().chain(signers).chain(more.iter().copied()).collect();
    bench.run(&words)
}

fn attach(bench: &Bench, signatures: &[&str], output: &str) -> Run {
    let signatures = signatures.iter().flat_map(|file| ["--signature", *file]);
    let words = ["attach", "request.json", "-o", output, "--force"];
    bench.run(&words.into_iter().chain(signatures).collect::<Vec<_>>())
}

/// Signs the file `raw` as another program with the key file would.
fn sign_raw(bench: &Bench, key: &str, to: &str) {
    let key = PrivateKey::read(&bench.path(&format!("{key}.pem"))).unwrap();
    bench.write(to, &key.sign(&bench.read("raw")).unwrap());
}

#[track_caller]
fn refused(run: &Run, code: &str) {
    // A program may have written before.
    assert!(run.stderr.contains(&format!("error: {code} ")), "{code}: {run:#?}");
    assert_ne!(run.code, 0);
}

#[test]
fn what_others_sign_is_what_sign_would_have_written() {
    let bench = Bench::new();
    let algorithms = ["ed25519", "ecdsa-p384", "rsa-pkcs1-2048-sha256", "ml-dsa-65"];
    keys(&bench, &algorithms);
    let signer = |name: &str| ["--key".to_string(), format!("{name}.pem")];
    let keys: Vec<_> = algorithms.iter().flat_map(|name| signer(name)).collect();
    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
    bench.run(&[&["sign", "-o", "whole.hlk"], &system()[..], &keys].concat()).expect(0);

    digest(&bench, &algorithms, &system()).expect(0);
    let first = bench.read("request.json");
    digest(&bench, &algorithms, &system()).expect(0);
    assert!(bench.read("request.json") == first, "the same request has other bytes");

    // Every verifier refuses what is not signed.
    let files: Vec<_> = algorithms.iter().map(|name| format!("{name}.pub.pem")).collect();
    let trusted: Vec<_> = files.iter().flat_map(|file| ["--key", file]).collect();
    let run = bench.run(&[&["verify", "request.unsigned"], &trusted[..]].concat()).expect(1);
    refused(&run, "E0205");
    let verifier = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/verify.py");
    if let Some(run) =
        bench.tool("python3", &[&[verifier, "request.unsigned"], &trusted[..]].concat())
    {
        assert_eq!(run.code, 1, "{run:?}");
    }

    // Nothing is written until all have signed; then the order does not matter.
    let signatures: Vec<_> = algorithms.iter().map(|name| format!("{name}.sig")).collect();
    algorithms.iter().zip(&signatures).for_each(|(name, to)| sign_raw(&bench, name, to));
    let mut signatures: Vec<_> = signatures.iter().map(String::as_str).collect();
    for count in 1..signatures.len() {
        refused(&attach(&bench, &signatures[..count], "out.hlk"), "E1622");
        assert!(!bench.path("out.hlk").exists());
    }
    signatures.rotate_left(2);
    attach(&bench, &signatures, "out.hlk").expect(0);
    assert!(bench.read("out.hlk") == bench.read("whole.hlk"), "other bytes than `sign` gives");
    bench.run(&[&["verify", "out.hlk"], &trusted[..]].concat()).expect(0);
}

#[test]
fn a_request_says_what_boots_and_what_is_signed() {
    let bench = Bench::new();
    keys(&bench, &["ecdsa-p256", "ml-dsa-44"]);
    digest(&bench, &["ecdsa-p256", "ml-dsa-44"], &system()).expect(0);
    let request: Value = serde_json::from_slice(&bench.read("request.json")).unwrap();
    assert_eq!(request["form"], "hartlock/sign-request-v1");
    let contents = request["contents"].as_array().unwrap();
    let first = "system bundle for qemu-virt (virt), security version 4";
    assert_eq!(contents[0], first);
    assert!(contents.iter().any(|line| line.as_str().unwrap().starts_with("kernel at 0x")));
    assert!(contents.iter().any(|line| line == "bootargs console=ttyS0"));
    let [ecdsa, lattice] = [0, 1].map(|at| &request["signers"][at]);
    assert_eq!(ecdsa["hash"], "sha256");
    assert_eq!(lattice["digest"], Value::Null);
    assert_eq!(lattice["external_mu"].as_str().unwrap().len(), 128);
    if let Some(run) = bench.tool("sha256sum", &["raw"]) {
        assert!(run.stdout.starts_with(ecdsa["digest"].as_str().unwrap()), "{run:?}");
    }
    let signed = request["signed"].as_str().unwrap();
    bench.write("base64", signed.as_bytes());
    if let Some(run) = bench.tool("sh", &["-c", "base64 -d base64 | cmp - raw"]) {
        assert_eq!(run.code, 0, "{run:?}");
    }

    // The value that key services sign is that of the request; it is for one signer.
    let mu = ["--external-mu", "mu"];
    digest(&bench, &["ecdsa-p256", "ml-dsa-44"], &[&system()[..], &mu].concat()).expect(2);
    digest(&bench, &["ecdsa-p256"], &[&system()[..], &mu].concat()).expect(2);
    digest(&bench, &["ml-dsa-44"], &[&system()[..], &mu].concat()).expect(0);
    let request: Value = serde_json::from_slice(&bench.read("request.json")).unwrap();
    let hex: String = bench.read("mu").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(request["signers"][0]["external_mu"], hex);
}

#[test]
fn a_request_that_is_answered_for_something_else_is_refused() {
    let bench = Bench::new();
    keys(&bench, &["ed25519", "ecdsa-p256"]);
    bench.run(&["keygen", "-o", "other.pem"]).expect(0);
    // The answer to a request for another version.
    let mut later = system();
    *later.iter_mut().find(|word| **word == "4").unwrap() = "5";
    digest(&bench, &["ed25519", "ecdsa-p256"], &later).expect(0);
    sign_raw(&bench, "ed25519", "later.sig");
    bench.damaged("request.json", "later.json", |_| ());
    // The answer of the same signer in a set of one.
    digest(&bench, &["ed25519"], &system()).expect(0);
    sign_raw(&bench, "ed25519", "alone.sig");
    bench.damaged("request.json", "alone.json", |_| ());

    digest(&bench, &["ed25519", "ecdsa-p256"], &system()).expect(0);
    sign_raw(&bench, "ed25519", "a.sig");
    sign_raw(&bench, "ecdsa-p256", "b.sig");
    sign_raw(&bench, "other", "other.sig");
    bench.damaged("a.sig", "short.sig", |bytes| bytes.truncate(63));
    bench.damaged("a.sig", "flipped.sig", |bytes| bytes[10] ^= 1);
    bench.write("empty.sig", b"");
    for wrong in ["later.sig", "alone.sig", "other.sig", "short.sig", "flipped.sig", "empty.sig"] {
        refused(&attach(&bench, &[wrong, "b.sig"], "out.hlk"), "E1621");
    }
    refused(&attach(&bench, &["a.sig", "a.sig", "b.sig"], "out.hlk"), "E1621");
    refused(&attach(&bench, &["a.sig"], "out.hlk"), "E1622");
    for other in ["later.json", "alone.json"] {
        let words = ["attach", other, "--unsigned", "request.unsigned", "-o", "out.hlk"];
        let run =
            bench.run(&[&words[..], &["--signature", "a.sig", "--signature", "b.sig"]].concat());
        refused(&run, "E1620");
    }
    assert!(!bench.path("out.hlk").exists());

    // A request that was changed on its way.
    let text = String::from_utf8(bench.read("request.json")).unwrap();
    let whole = |text: &str| {
        bench.write("request.json", text.as_bytes());
        attach(&bench, &["a.sig", "b.sig"], "out.hlk")
    };
    for (from, to, code) in [
        ("sign-request-v1", "sign-request-v2", "E1619"),
        ("\"contents\"", "\"content\"", "E1619"),
        ("{\n  \"form\"", "{\n  \"form\": \"a\",\n  \"form\"", "E1619"),
        ("BEGIN PUBLIC KEY", "BEGIN KEY", "E1619"),
        ("security version 4", "security version 5", "E1620"),
        ("\"hash\": \"sha256\"", "\"hash\": \"sha384\"", "E1620"),
        ("console=ttyS0", "console=ttyS1", "E1620"),
    ] {
        assert!(text.contains(from), "{from}");
        refused(&whole(&text.replacen(from, to, 1)), code);
    }
    refused(&whole(&text[..text.len() / 2]), "E1619");

    // A payload that was changed after the request was made.
    bench.damaged("request.unsigned", "request.unsigned", |bytes| *bytes.last_mut().unwrap() ^= 1);
    let run = whole(&text);
    assert!(run.stderr.contains("error: E08"), "{run:?}");
    assert!(!bench.path("out.hlk").exists());
    // A bundle that is signed is no unsigned one.
    digest(&bench, &["ed25519", "ecdsa-p256"], &system()).expect(0);
    attach(&bench, &["a.sig", "b.sig"], "out.hlk").expect(0);
    let words = ["attach", "request.json", "--unsigned", "out.hlk", "-o", "again.hlk"];
    let run = bench.run(&[&words[..], &["--signature", "a.sig", "--signature", "b.sig"]].concat());
    refused(&run, "E1620");
}

#[test]
fn a_first_stage_is_signed_elsewhere() {
    let bench = Bench::new();
    bench.write("code.bin", &[0x13; 1000]);
    keys(&bench, &["slh-dsa-sha2-128s", "ed25519"]);
    let words: Vec<_> = STAGE.split(' ').collect();
    let key = ["--key", "slh-dsa-sha2-128s.pem", "-o", "whole.hlf"];
    bench.run(&[&["sign"], &words[..], &key].concat()).expect(0);
    digest(&bench, &["slh-dsa-sha2-128s"], &words).expect(0);
    let verify = |file| bench.run(&["verify", file, "--key", "slh-dsa-sha2-128s.pub.pem"]);
    verify("request.unsigned").expect(1);
    sign_raw(&bench, "slh-dsa-sha2-128s", "stage.sig");
    attach(&bench, &["stage.sig"], "stage.hlf").expect(0);
    assert!(bench.read("stage.hlf") == bench.read("whole.hlf"));
    verify("stage.hlf").expect(0);
    // Of another stage, and of an algorithm that hardware does not have.
    bench.write("code.bin", &[0x14; 1000]);
    digest(&bench, &["slh-dsa-sha2-128s"], &words).expect(0);
    refused(&attach(&bench, &["stage.sig"], "other.hlf"), "E1621");
    digest(&bench, &["ed25519"], &words).expect(1);
}

#[test]
fn openssl_signs_a_request() {
    let bench = Bench::new();
    keys(&bench, &["ed25519", "ecdsa-p256", "rsa-pss-3072-sha384"]);
    let signers = ["ed25519", "ecdsa-p256", "rsa-pss-3072-sha384"];
    digest(&bench, &signers, &system()).expect(0);
    for script in [
        "openssl pkeyutl -sign -rawin -inkey ed25519.pem -in raw -out 1.sig",
        "openssl dgst -sha256 -binary -out digest raw && \
         openssl pkeyutl -sign -inkey ecdsa-p256.pem -in digest -out 2.sig",
        "openssl dgst -sha384 -binary -out digest raw && \
         openssl pkeyutl -sign -inkey rsa-pss-3072-sha384.pem -in digest -pkeyopt digest:sha384 \
         -pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:digest | base64 > 3.sig",
    ] {
        let Some(run) = bench.tool("sh", &["-c", script]) else { return };
        if run.code == 127 {
            return skipped("`openssl` is not installed");
        }
        assert_eq!(run.code, 0, "{run:?}");
    }
    attach(&bench, &["3.sig", "1.sig", "2.sig"], "out.hlk").expect(0);
}

#[test]
fn a_token_signs_a_request_through_pkcs11_tool() {
    let Some(token) = Token::new() else { return };
    token.keygen("root", "rsa-pss-2048-sha256");
    digest(&token.bench, &["root"], &system()).expect(0);
    let words = ["--token-label", "Release", "--login", "--pin", "env:TOKEN_PIN", "--sign"];
    let more = ["--mechanism", "SHA256-RSA-PKCS-PSS", "--label", "root", "-i", "raw", "-o", "sig"];
    let words = [&["--module", token.module], &words[..], &more].concat();
    let Some(run) = token.tool("pkcs11-tool", &words) else { return };
    assert_eq!(run.code, 0, "{run:?}");
    attach(&token.bench, &["sig"], "out.hlk").expect(0);
}

/// A program that signs, and the URI that names it.
fn program(bench: &Bench, public: &str, script: &str) -> String {
    bench.write("signer", script.as_bytes());
    fs::set_permissions(bench.path("signer"), fs::Permissions::from_mode(0o700)).unwrap();
    uri(&bench.path("signer"), &bench.path(public))
}

fn uri(program: &Path, public: &Path) -> String {
    format!("exec:{}?public={}", program.display(), public.display())
}

fn sign_with(bench: &Bench, uri: &str, more: &[(&str, &str)]) -> Run {
    let mut command = bench.command();
    command.args(["sign", "-o", "out.hlk", "--force", "--key", uri]).args(system());
    Run::of(command.envs(more.iter().copied()).output().unwrap())
}

#[test]
fn a_program_signs_or_is_refused() {
    let bench = Bench::new();
    keys(&bench, &["ed25519", "ecdsa-p256"]);
    bench.run(&["keygen", "-o", "other.pem"]).expect(0);
    let sign = "#!/bin/sh\ncat > request\nsed -n 's/^  \"signed\": \"\\(.*\\)\"$/\\1/p' request |\
                base64 -d > bytes\nopenssl pkeyutl -sign -rawin -inkey KEY -in bytes";
    if bench.tool("openssl", &["version"]).is_none() {
        return;
    }
    let good = program(&bench, "ed25519.pub.pem", &sign.replace("KEY", "ed25519.pem"));
    sign_with(&bench, &good, &[]).expect(0);
    bench.run(&["verify", "out.hlk", "--key", "ed25519.pub.pem"]).expect(0);
    // The request is that of `digest` for this signer.
    digest(&bench, &["ed25519"], &system()).expect(0);
    assert_eq!(bench.read("request"), bench.read("request.json"));
    fs::remove_file(bench.path("out.hlk")).unwrap();
    let other = program(&bench, "ed25519.pub.pem", &sign.replace("KEY", "other.pem"));
    refused(&sign_with(&bench, &other, &[]), "E1616");
    for (script, code) in [
        ("#!/bin/sh\n", "E1616"),
        ("#!/bin/sh\necho text", "E1616"),
        ("#!/bin/sh\nexit 1", "E1617"),
        ("#!/nonexistent\n", "E1617"),
        ("#!/bin/sh\nexec head -c 400000 /dev/zero", "E1617"),
    ] {
        let uri = program(&bench, "ed25519.pub.pem", script);
        refused(&sign_with(&bench, &uri, &[]), code);
    }
    let missing = uri(&bench.path("missing"), &bench.path("ed25519.pub.pem"));
    refused(&sign_with(&bench, &missing, &[]), "E1617");
    // There is no shell between the command and the program.
    refused(&sign_with(&bench, "exec:/bin/sh%20-c%20true?public=ed25519.pub.pem", &[]), "E1617");
    refused(&sign_with(&bench, "exec:signer?public=ed25519.pub.pem", &[]), "E1601");
    assert!(!bench.path("out.hlk").exists());
    let run = bench.run(&["key", "show", &good]).expect(0);
    assert!(run.stdout.contains("ed25519"), "{run:?}");
}

#[test]
#[ignore = "takes 60 seconds"]
fn a_program_that_never_answers_is_ended() {
    let bench = Bench::new();
    keys(&bench, &["ed25519"]);
    let uri = program(&bench, "ed25519.pub.pem", "#!/bin/sh\nexec sleep 600");
    refused(&sign_with(&bench, &uri, &[]), "E1618");
}

fn integration(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/signers").join(name)
}

#[test]
fn the_script_for_key_services_signs_with_a_stand_in() {
    let bench = Bench::new();
    keys(&bench, &["ecdsa-p256", "ed25519"]);
    if bench.tool("openssl", &["version"]).is_none() {
        return;
    }
    // The stand-in takes a digest, and answers as such services do: DER in Base64.
    let service =
        "#!/bin/sh\nopenssl pkeyutl -sign -inkey ecdsa-p256.pem -in /dev/stdin | base64 -w 0";
    program(&bench, "ecdsa-p256.pub.pem", service);
    let service = bench.path("signer").display().to_string();
    let uri = |key| uri(&integration("kms-sign").canonicalize().unwrap(), &bench.path(key));
    let more = [("HARTLOCK_KMS", &*service), ("HARTLOCK_KMS_LOG", "log")];
    sign_with(&bench, &uri("ecdsa-p256.pub.pem"), &more).expect(0);
    assert!(bench.read("log").starts_with(b"{\n  \"form\": \"hartlock/sign-request-v1\""));
    refused(&sign_with(&bench, &uri("ecdsa-p256.pub.pem"), &[]), "E1617");
    let run = sign_with(&bench, &uri("ed25519.pub.pem"), &more);
    refused(&run, "E1617");
}

/// A software TPM, which is ended when this value is dropped.
struct Tpm(Child);

impl Drop for Tpm {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_tpm_signs_by_a_script() {
    let bench = Bench::new();
    let program = "swtpm";
    if bench.tool("tpm2_sign", &["--version"]).is_none() {
        return;
    }
    fs::create_dir(bench.path("tpm")).unwrap();
    let path = bench.path("tpm");
    let socket = |name| path.join(name).display().to_string();
    let mut command = Command::new(program);
    command.args(["socket", "--tpm2", "--flags", "not-need-init,startup-clear"]);
    command.arg("--tpmstate").arg(format!("dir={}", path.display()));
    command.arg("--server").arg(format!("type=unixio,path={}", socket("server")));
    command.arg("--ctrl").arg(format!("type=unixio,path={}", socket("server.ctrl")));
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(child) = child else { return skipped("`swtpm` is not installed") };
    let _tpm = Tpm(child);
    let tcti = format!("swtpm:path={}", socket("server"));
    let ready = "for i in $(seq 100); do [ -S tpm/server ] && exit 0; sleep 0.1; done; exit 1";
    assert_eq!(bench.tool("sh", &["-c", ready]).unwrap().code, 0);
    let script = "tpm2_createprimary -C o -g sha256 -G ecc256:ecdsa-sha256 \
                  -a 'sign|fixedtpm|fixedparent|sensitivedataorigin|userwithauth' -c primary.ctx && \
                  tpm2_evictcontrol -C o -c primary.ctx 0x81010002 && \
                  tpm2_readpublic -c 0x81010002 -f pem -o tpm.pub.pem";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(bench.folder()).env("TPM2TOOLS_TCTI", &tcti);
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, 0, "{run:?}");
    let uri = uri(&integration("tpm2-sign").canonicalize().unwrap(), &bench.path("tpm.pub.pem"));
    let more = [("HARTLOCK_TPM_KEY", "0x81010002"), ("TPM2TOOLS_TCTI", &*tcti)];
    sign_with(&bench, &uri, &more).expect(0);
    bench.run(&["verify", "out.hlk", "--key", "tpm.pub.pem"]).expect(0);
}
