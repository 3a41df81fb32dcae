//! Tests of keys in tokens (`spec/signers.md` §2), with SoftHSM.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Bench, Run, SIGN_SYSTEM, skipped};

const PIN: &str = "482913";
const MODULES: [&str; 2] =
    ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so"];

/// A folder with payloads and an initialized token.
pub struct Token {
    pub bench: Bench,
    pub module: &'static str,
}

impl Token {
    /// Returns `None` and prints a message if SoftHSM is missing.
    pub fn new() -> Option<Self> {
        let module = MODULES.into_iter().find(|it| Path::new(it).exists());
        let Some(module) = module else {
            skipped("SoftHSM is not installed: keys in tokens were not tested");
            return None;
        };
        let token = Self { bench: Bench::new(), module };
        fs::create_dir(token.bench.path("tokens")).unwrap();
        let folder = token.bench.path("tokens").display().to_string();
        let text = format!("directories.tokendir = {folder}\nlog.level = ERROR\n");
        token.bench.write("softhsm.conf", text.as_bytes());
        token.initialize()?;
        Some(token)
    }

    /// Makes another token, which has the same label.
    fn initialize(&self) -> Option<()> {
        let words = ["--init-token", "--free", "--label", "Release", "--so-pin", "000000"];
        let run = self.tool("softhsm2-util", &[&words[..], &["--pin", PIN]].concat())?;
        assert_eq!(run.code, 0, "{run:?}");
        Some(())
    }

    fn with_environment(&self, mut command: Command) -> Command {
        command.env("SOFTHSM2_CONF", self.bench.path("softhsm.conf"));
        command.env("TOKEN_PIN", PIN).current_dir(self.bench.folder());
        command
    }

    pub fn command(&self) -> Command {
        self.with_environment(self.bench.command())
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args).args(["--pin-env", "TOKEN_PIN"]).output().unwrap())
    }

    /// Runs another program. Returns `None` and prints a message if it is missing.
    pub fn tool(&self, program: &str, args: &[&str]) -> Option<Run> {
        match self.with_environment(Command::new(program)).args(args).output() {
            Ok(output) => Some(Run::of(output)),
            Err(error) => {
                skipped(format_args!("`{program}` cannot be run: {error}"));
                None
            }
        }
    }

    pub fn uri(&self, key: &str) -> String {
        format!("pkcs11:token=Release;{key}?module-path={}", self.module)
    }

    /// Makes a key in the token, and NAME.pub.pem.
    pub fn keygen(&self, name: &str, algorithm: &str) {
        let (uri, public) = (self.uri(&format!("object={name}")), format!("{name}.pub.pem"));
        let words = ["keygen", "--algorithm", algorithm, "-o", &uri, "--public", &public];
        let run = self.run(&words).expect(0);
        assert!(!run.stdout.contains("module-path"), "{run:?}");
    }

    /// Makes a key file, and imports it into the token.
    fn import(&self, name: &str, id: &str, more: &[&str]) -> Option<()> {
        let file = format!("{name}-{id}.pem");
        self.bench.run(&["keygen", "--algorithm", "ecdsa-p256", "-o", &file]).expect(0);
        let words = ["--import", &file, "--token", "Release", "--label", name, "--id", id];
        let run = self.tool("softhsm2-util", &[&words[..], &["--pin", PIN], more].concat())?;
        assert_eq!(run.code, 0, "{run:?}");
        Some(())
    }

    fn sign(&self, keys: &[&str], more: &[&str]) -> Run {
        self.run(&sign_words(keys, more))
    }
}

/// Returns the words of a command that signs a system bundle with these keys.
fn sign_words<'a>(keys: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let words = SIGN_SYSTEM.split(' ').take_while(|word| *word != "--key");
    let keys = keys.iter().flat_map(|key| ["--key", *key]);
    let words = words.chain(["--force", "-o", "system.hlk"]).chain(keys);
    words.chain(more.iter().copied()).collect()
}

#[track_caller]
fn refused(run: Run, code: &str) -> Run {
    let run = run.expect(2);
    assert!(run.stderr.starts_with(&format!("error: {code} ")), "{code}: {}", run.stderr);
    // No secret is in a message.
    assert!(!run.stderr.contains(PIN) && !run.stdout.contains(PIN), "{run:?}");
    run
}

#[test]
fn a_token_signs_with_each_algorithm_that_it_has() {
    let Some(token) = Token::new() else { return };
    for (name, of_key, schemes) in [
        ("p256", "ecdsa-p256", &[][..]),
        ("p384", "ecdsa-p384", &[]),
        ("ed25519", "ed25519", &[]),
        ("r2048", "rsa-pss-2048-sha256", &["rsa-pss-2048-sha256", "rsa-pkcs1-2048-sha256"]),
        ("r3072", "rsa-pss-3072-sha384", &["rsa-pss-3072-sha384", "rsa-pkcs1-3072-sha384"]),
        ("r4096", "rsa-pss-4096-sha512", &["rsa-pss-4096-sha512", "rsa-pkcs1-4096-sha512"]),
    ] {
        token.keygen(name, of_key);
        let uri = token.uri(&format!("object={name}"));
        let public = format!("{name}.pub.pem");
        let plain: [&[&str]; 1] = [&[]];
        let given: Vec<_> = schemes.iter().map(|scheme| ["--algorithm", scheme]).collect();
        let given: Vec<&[&str]> = given.iter().map(|it| &it[..]).collect();
        for scheme in if schemes.is_empty() { &plain[..] } else { &given[..] } {
            token.sign(&[&uri], scheme).expect(0);
            // The token's public half has the same id, whatever file is compared.
            let show = [&["key", "show", &uri, "--json"], *scheme].concat();
            let shown = token.run(&show).expect(0).json()["key_id"].clone();
            let bundle = token.bench.run(&["inspect", "system.hlk", "--json"]).expect(0).json();
            let signer = &bundle["manifest"]["signers"][0];
            assert_eq!(signer["key_id"], shown, "{bundle}");
            if scheme.iter().all(|it| !it.contains("pkcs1")) {
                token.bench.run(&["verify", "system.hlk", "--key", &public]).expect(0);
                let verifier = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/verify.py");
                let words = [verifier, "--key", &public, "system.hlk"];
                if let Some(run) = token.tool("python3", &words) {
                    assert_eq!(run.code, 0, "{name}: {run:?}");
                }
            }
        }
    }
}

#[test]
fn a_key_that_is_made_in_a_token_never_leaves_it() {
    let Some(token) = Token::new() else { return };
    token.keygen("root", "rsa-pss-2048-sha256");
    let words = ["--token-label", "Release", "--login", "--pin", PIN, "--list-objects"];
    let words = [&["--module", token.module, "--type", "privkey"], &words[..]].concat();
    if let Some(run) = token.tool("pkcs11-tool", &words) {
        assert!(run.stdout.contains("Usage:      sign\n"), "{run:?}");
        assert!(run.stdout.contains("sensitive, always sensitive, never extractable"), "{run:?}");
    }
    // Neither label nor id is given to a second key, and no file is replaced.
    let uri = token.uri("object=root");
    let keygen = |uri: &str, public| token.run(&["keygen", "-o", uri, "--public", public]);
    refused(keygen(&uri, "again.pub.pem"), "E1623");
    assert!(!token.bench.path("again.pub.pem").exists());
    keygen(&token.uri("object=two"), "root.pub.pem").expect(2);
    keygen(&token.uri("object=two;id=%01"), "two.pub.pem").expect(0);
    refused(keygen(&token.uri("object=three;id=%01"), "three.pub.pem"), "E1623");
    refused(token.run(&["keygen", "-o", "exec:/bin/true?public=/a", "--public", "p"]), "E1601");
    let lms = ["keygen", "--algorithm", "lms-sha256-h5-w8", "--public", "lms.pub.pem"];
    refused(token.run(&[&lms[..], &["-o", &token.uri("object=lms")]].concat()), "E1613");
    token.run(&["keygen", "-o", &uri]).expect(2);
    token.run(&["keygen", "-o", "file.pem", "--public", "file.pub.pem"]).expect(2);
}

#[test]
fn what_does_not_name_one_usable_key_is_refused() {
    let Some(token) = Token::new() else { return };
    token.keygen("root", "ed25519");
    let root = token.uri("object=root");
    let uri = |text: &str| format!("{text}?module-path={}", token.module);
    for (key, code) in [
        (uri("pkcs11:object=root;slot-id=1"), "E1601"),
        (uri("pkcs11:object=%z"), "E1601"),
        (format!("{root}&pin-value={PIN}"), "E1602"),
        ("pkcs11:object=root?module-path=/missing.so".to_string(), "E1603"),
        // A library that is no module.
        (
            format!("pkcs11:object=root?module-path={}", token.bench.path("linux").display()),
            "E1603",
        ),
        (uri("pkcs11:token=Other;object=root"), "E1604"),
        (uri("pkcs11:serial=00;object=root"), "E1604"),
        (uri("pkcs11:model=x;object=root"), "E1604"),
        (token.uri("object=roo"), "E1606"),
        (token.uri("object=root;id=%01"), "E1606"),
    ] {
        refused(token.sign(&[&key], &[]), code);
        refused(token.run(&["key", "show", &key]), code);
    }
    if token.import("twin", "01", &[]).and(token.import("twin", "02", &[])).is_some() {
        refused(token.sign(&[&token.uri("object=twin")], &[]), "E1607");
        token.sign(&[&token.uri("object=twin;id=%02")], &[]).expect(0);
    }
    if token.import("alone", "03", &["--no-public-key"]).is_some() {
        let alone = token.uri("object=alone");
        refused(token.sign(&[&alone], &[]), "E1608");
        let named = |file: &str| format!("{alone}&public={file}");
        token.sign(&[&named("alone-03.pub.pem")], &[]).expect(0);
        // A file with another key is found out before anything is written.
        fs::remove_file(token.bench.path("system.hlk")).unwrap();
        refused(token.sign(&[&named("twin-01.pub.pem")], &[]), "E1616");
        assert!(!token.bench.path("system.hlk").exists());
    }
    token.initialize().unwrap();
    refused(token.sign(&[&root], &[]), "E1605");
}

#[test]
fn a_pin_comes_from_a_descriptor_a_file_or_the_environment() {
    let Some(token) = Token::new() else { return };
    token.keygen("root", "ed25519");
    let root = token.uri("object=root");
    token.bench.write("pin", format!("{PIN}\n").as_bytes());
    fs::set_permissions(
        token.bench.path("pin"),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    let run = |key: &str, more: &[&str]| {
        Run::of(token.command().args(sign_words(&[key], more)).output().unwrap())
    };
    run(&root, &["--pin-file", "pin"]).expect(0);
    run(&root, &["--passphrase-env", "TOKEN_PIN"]).expect(0);
    let source = |file: &Path| format!("{root}&pin-source=file:{}", file.display());
    run(&source(&token.bench.path("pin")), &[]).expect(0);
    run(&source(&token.bench.path("none")), &[]).expect(2);
    let words = sign_words(&[&root], &["--pin-file", "/dev/fd/3"]);
    let words =
        [&["-c", "exec 3< pin; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_hartlock")], &words[..]];
    assert_eq!(token.tool("sh", &words.concat()).unwrap().code, 0);
    // A session of its own has no terminal to ask.
    let words = [&["-w", env!("CARGO_BIN_EXE_hartlock")], &sign_words(&[&root], &[])[..]].concat();
    if let Some(run) = token.tool("setsid", &words) {
        refused(run, "E1609");
    }
}

/// Compiles the module that puts faults into SoftHSM. Returns `None` if there is no compiler.
fn faulty(token: &Token) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/token_faults.c");
    let module = token.bench.path("faulty.so");
    let words = ["-shared", "-fPIC", "-std=gnu11", "-o", "faulty.so", source];
    let run = token.tool("cc", &words)?;
    assert_eq!(run.code, 0, "{run:?}");
    Some(module)
}

#[test]
fn each_fault_of_a_token_has_its_number() {
    let Some(token) = Token::new() else { return };
    token.keygen("one", "ed25519");
    token.keygen("two", "ecdsa-p256");
    token.keygen("three", "rsa-pss-2048-sha256");
    let Some(module) = faulty(&token) else { return };
    let uri = |name| format!("pkcs11:object={name}?module-path={}", module.display());
    let (one, two, three) = (uri("one"), uri("two"), uri("three"));
    let run = |fault: &str, pin: &str, keys: &[&str]| {
        fs::write(token.bench.path("logins"), "").unwrap();
        let mut command = token.command();
        command.env("HARTLOCK_FAULT", fault).env("HARTLOCK_MODULE", token.module);
        command.env("HARTLOCK_LOGINS", token.bench.path("logins")).env("TOKEN_PIN", pin);
        let more = ["--algorithm", "rsa-pss-2048-sha256", "--pin-env", "TOKEN_PIN"];
        let more = if keys.contains(&&*three) { &more[..] } else { &more[2..] };
        let run = Run::of(command.args(sign_words(keys, more)).output().unwrap());
        (run, token.bench.read("logins").len())
    };
    // Without a fault it signs; one log-in is enough for all keys.
    let (good, logins) = run("none", PIN, &[&one, &two]);
    good.expect(0);
    assert_eq!(logins, 1);
    let before = token.bench.read("system.hlk");
    // A wrong PIN is tried once, even if two keys want it.
    let (wrong, logins) = run("none", "111111", &[&one, &two]);
    refused(wrong, "E1610");
    assert_eq!(logins, 1);
    for (fault, keys, code) in [
        ("locked", &[&one][..], "E1611"),
        ("locked-flag", &[&one], "E1611"),
        ("may-not-sign", &[&one], "E1612"),
        ("not-permitted", &[&one], "E1612"),
        ("no-mechanism", &[&one], "E1613"),
        ("removed", &[&one], "E1614"),
        ("session-lost", &[&one, &two], "E1614"),
        ("error", &[&one], "E1615"),
        ("other-bytes", &[&one], "E1616"),
        ("other-bytes", &[&two], "E1616"),
        ("other-bytes", &[&three], "E1616"),
        ("flipped", &[&one], "E1616"),
        ("empty", &[&one], "E1616"),
    ] {
        let keys: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
        let (run, logins) = run(fault, PIN, &keys);
        refused(run, code);
        // A token that says that it is locked is not asked again.
        assert_eq!(logins, usize::from(fault != "locked-flag"), "{fault}");
        assert!(token.bench.read("system.hlk") == before, "{fault}");
    }
}

#[test]
fn tokens_are_named_wherever_files_are() {
    let Some(token) = Token::new() else { return };
    token.keygen("root", "ed25519");
    token.keygen("stage", "ecdsa-p384");
    let root = token.uri("object=root");
    fs::create_dir(token.bench.path("keys")).unwrap();
    fs::rename(token.bench.path("root.pub.pem"), token.bench.path("keys/root.pub.pem")).unwrap();
    let settings =
        format!("sign = [\"root\"]\nverify = [\"root\"]\n[signers]\nroot = \"{root}\"\n");
    token.bench.write("hartlock.toml", settings.as_bytes());
    let run = token.sign(&[], &[]).expect(0);
    assert!(run.stderr.contains("pkcs11:token=Release;object=root, as set"), "{run:?}");
    token.bench.run(&["verify", "system.hlk"]).expect(0);
    token.sign(&["root", &token.uri("object=stage")], &[]).expect(0);
    // With a key file, too.
    token.bench.run(&["keygen", "--algorithm", "ml-dsa-44", "-o", "file.pem"]).expect(0);
    token.sign(&["root", "file.pem"], &[]).expect(0);
    let words = ["verify", "system.hlk", "--key", "keys/root.pub.pem", "--key", "file.pub.pem"];
    token.bench.run(&words).expect(0);
    // Signing again with the key of the token.
    let resign = ["resign", "system.hlk", "-o", "again.hlk", "--key", &root];
    let keys = ["--verify-key", "keys/root.pub.pem", "--verify-key", "file.pub.pem"];
    token.run(&[&resign[..], &keys].concat()).expect(0);

    let text = "type = \"system\"\nboard = \"qemu-virt\"\nsoc = \"virt\"\nsecurity_version = 4\n\
                payload = [{ type = \"kernel\", file = \"linux\" }, \
                { type = \"system-fdt\", file = \"virt.dtb\" }]\n";
    token.bench.write("bundle.toml", text.as_bytes());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../integrations/ci/hartlock-release");
    let tool = Path::new(env!("CARGO_BIN_EXE_hartlock")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let mut command = token.with_environment(Command::new("sh"));
    command.args([script, "bundle.toml", "release.hlk"]).env("PATH", path);
    command.env("HARTLOCK_KEY", &root).env("HARTLOCK_PASSPHRASE", PIN);
    command.env("HARTLOCK_PUBLIC_KEY", "keys/root.pub.pem");
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!run.stdout.contains(PIN) && !run.stderr.contains(PIN), "{run:?}");
}

#[test]
fn eight_commands_sign_at_once() {
    let Some(token) = Token::new() else { return };
    token.keygen("root", "ed25519");
    let root = token.uri("object=root");
    let names: Vec<_> = (0..8).map(|at| format!("{at}.hlk")).collect();
    let start = |name: &String| {
        let words = sign_words(&[&root], &["--pin-env", "TOKEN_PIN"]);
        let words = words.iter().map(|word| if *word == "system.hlk" { name } else { *word });
        token.command().args(words).stdout(Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = names.iter().map(start).collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    // Ed25519 has one signature for the same bytes.
    assert!(names.iter().all(|name| token.bench.read(name) == token.bench.read("0.hlk")));
}
