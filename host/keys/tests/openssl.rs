//! Keys and signatures exchanged with the `openssl` command.

use std::fs;
use std::process::{Command, Output};

use crate::common::{MESSAGE, generated, second_opinion, skipped};
use hartlock_image::{Algorithm, Curve, RsaPadding};
use hartlock_keys::{Format, PrivateKey, PublicKey};
use tempfile::TempDir;

/// The `openssl` command in a temporary folder. `HARTLOCK_OPENSSL` names another one than that of
/// the system.
struct OpenSsl {
    folder: TempDir,
}

impl OpenSsl {
    /// Returns `None` if there is no openssl, or only an older one than `least`.
    fn new(least: (u32, u32)) -> Option<Self> {
        let ssl = Self { folder: tempfile::tempdir().unwrap() };
        let output = match ssl.command().arg("version").output() {
            Ok(output) => output,
            Err(error) => {
                skipped(format_args!("`openssl` cannot be run: {error}"));
                return None;
            }
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = text.split_whitespace().nth(1).unwrap_or_default();
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let is_enough = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= least;
        if !is_enough {
            let (major, minor) = least;
            skipped(format_args!("openssl {version} is older than {major}.{minor}"));
        }
        is_enough.then_some(ssl)
    }

    fn command(&self) -> Command {
        let program = std::env::var_os("HARTLOCK_OPENSSL").unwrap_or_else(|| "openssl".into());
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        command
    }

    fn output(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    #[track_caller]
    fn run(&self, args: &[&str]) {
        let output = self.output(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {}: {said}", args.join(" "));
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the option for the hash, and the options for the padding, of an algorithm.
    fn sign_options(algorithm: Algorithm) -> (Option<String>, Vec<String>) {
        match algorithm {
            Algorithm::Rsa { padding, hash, .. } => {
                let options = match padding {
                    RsaPadding::Pss => [
                        "rsa_padding_mode:pss",
                        "rsa_pss_saltlen:digest",
                        &format!("rsa_mgf1_md:{}", hash.name()),
                    ]
                    .map(str::to_string)
                    .to_vec(),
                    RsaPadding::Pkcs1 => vec!["rsa_padding_mode:pkcs1".to_string()],
                };
                (Some(hash.name().to_string()), options)
            }
            Algorithm::Ecdsa(Curve::P256) => (Some("sha256".to_string()), Vec::new()),
            Algorithm::Ecdsa(Curve::P384) => (Some("sha384".to_string()), Vec::new()),
            _ => (None, Vec::new()),
        }
    }

    fn signing(algorithm: Algorithm, what: &[&str]) -> Vec<String> {
        let mut args: Vec<String> = ["pkeyutl", "-rawin", "-in", "message"].map(Into::into).into();
        args.extend(what.iter().map(|arg| (*arg).to_string()));
        let (digest, options) = Self::sign_options(algorithm);
        args.extend(digest.into_iter().flat_map(|digest| ["-digest".to_string(), digest]));
        args.extend(options.into_iter().flat_map(|option| ["-pkeyopt".to_string(), option]));
        args
    }

    /// Signs with openssl and returns the signature in the encoding of bundles.
    fn sign(&self, algorithm: Algorithm, key: &str) -> Vec<u8> {
        self.write("message", MESSAGE);
        let args = Self::signing(algorithm, &["-sign", "-inkey", key, "-out", "signature"]);
        self.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let signature = self.read("signature");
        if matches!(algorithm, Algorithm::Ecdsa(_)) {
            fixed(&signature, algorithm.signature_size().unwrap() / 2)
        } else {
            signature
        }
    }

    fn verifies(&self, algorithm: Algorithm, public: &str, signature: &[u8]) -> bool {
        self.write("message", MESSAGE);
        let is_ecdsa = matches!(algorithm, Algorithm::Ecdsa(_));
        let signature = if is_ecdsa { der(signature) } else { signature.to_vec() };
        self.write("signature", &signature);
        let what = ["-verify", "-pubin", "-inkey", public, "-sigfile", "signature"];
        let args = Self::signing(algorithm, &what);
        self.output(&args.iter().map(String::as_str).collect::<Vec<_>>()).status.success()
    }

    /// Checks that openssl reads one of our keys, writes the same key, verifies our signatures and
    /// signs with it.
    fn takes_our_key(&self, name: &str) {
        let key = generated(name);
        let algorithm = key.algorithm();
        self.write("ours.pem", key.to_pem().unwrap().as_bytes());
        self.write("ours.pub.pem", key.public().to_pem().as_bytes());
        self.run(&["pkey", "-in", "ours.pem", "-pubout", "-out", "again.pub.pem"]);
        let again = String::from_utf8(self.read("again.pub.pem")).unwrap();
        // The file of openssl has no line with the algorithm of RSA keys.
        assert!(key.public().to_pem().ends_with(&again), "{name}");
        self.run(&["pkey", "-in", "ours.pem", "-out", "again.pem"]);
        let again = PrivateKey::decode(&self.read("again.pem"), &[algorithm], None).unwrap();
        assert_eq!(again.public().as_bytes(), key.public().as_bytes(), "{name}");
        for passphrase in ["secret", "geheim und länger"] {
            let locked = key.export(Format::Pem, Some(passphrase.as_bytes())).unwrap();
            self.write("locked.pem", &locked);
            let pass = format!("pass:{passphrase}");
            self.run(&["pkey", "-in", "locked.pem", "-passin", &pass, "-out", "open.pem"]);
            assert_eq!(self.read("open.pem"), self.read("again.pem"), "{name}");
        }
        let signature = key.sign(MESSAGE).unwrap();
        assert!(self.verifies(algorithm, "ours.pub.pem", &signature), "{name}");
        let mut changed = signature.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(!self.verifies(algorithm, "ours.pub.pem", &changed), "{name}");
        assert!(second_opinion(&key.public(), &signature), "{name}");
        assert!(second_opinion(&key.public(), &self.sign(algorithm, "ours.pem")), "{name}");
    }

    /// Checks that we read a key of openssl and that signatures agree; `make` writes `theirs.pem`.
    fn gives_us_keys(&self, name: &str, make: &[&str]) {
        let algorithm = Algorithm::from_name(name).unwrap();
        self.run(&[make, &["-out", "theirs.pem"]].concat());
        self.run(&["pkey", "-in", "theirs.pem", "-pubout", "-out", "theirs.pub.pem"]);
        self.run(&["pkey", "-in", "theirs.pem", "-outform", "DER", "-out", "theirs.der"]);
        let public = PublicKey::decode(&self.read("theirs.pub.pem"), &[algorithm]).unwrap();
        assert_eq!(public.algorithm(), algorithm);
        let theirs = String::from_utf8(self.read("theirs.pub.pem")).unwrap();
        // Our file has one line more for RSA.
        assert!(public.to_pem().ends_with(&theirs), "{name}");
        let decode = |file: &str, passphrase: Option<&[u8]>| {
            PrivateKey::decode(&self.read(file), &[algorithm], passphrase).unwrap()
        };
        let key = decode("theirs.pem", None);
        assert_eq!(key.public(), public, "{name}");
        assert_eq!(decode("theirs.der", None).public(), public, "{name}");
        let ways: [&[&str]; 5] = [
            &["-scrypt"],
            &["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"],
            &["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512", "-iter", "5000"],
            &["-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA384"],
            &[],
        ];
        for way in ways {
            let args = ["pkcs8", "-topk8", "-in", "theirs.pem", "-out", "locked.pem"];
            self.run(&[&args[..], &["-passout", "pass:secret"], way].concat());
            assert_eq!(decode("locked.pem", Some(b"secret")).public(), public, "{name} {way:?}");
        }
        let signature = key.sign(MESSAGE).unwrap();
        assert!(self.verifies(algorithm, "theirs.pub.pem", &signature), "{name}");
        assert!(second_opinion(&public, &self.sign(algorithm, "theirs.pem")), "{name}");
    }
}

/// Converts an ECDSA signature from DER to r and s in their full length.
fn fixed(der: &[u8], size: usize) -> Vec<u8> {
    let number = |bytes: &[u8]| {
        let len = usize::from(bytes[1]);
        let value: Vec<u8> = bytes[2..2 + len].iter().copied().skip_while(|it| *it == 0).collect();
        let mut room = vec![0; size - value.len()];
        room.extend(value);
        (room, 2 + len)
    };
    let start = if der[1] < 0x80 { 2 } else { 3 };
    let (r, len) = number(&der[start..]);
    let (s, _) = number(&der[start + len..]);
    [r, s].concat()
}

/// Converts an ECDSA signature from r and s to DER.
fn der(fixed: &[u8]) -> Vec<u8> {
    let number = |half: &[u8]| {
        let mut value: Vec<u8> = half.iter().copied().skip_while(|byte| *byte == 0).collect();
        if value.first().is_none_or(|first| first & 0x80 != 0) {
            value.insert(0, 0);
        }
        [&[2, value.len() as u8], &value[..]].concat()
    };
    let (r, s) = fixed.split_at(fixed.len() / 2);
    let content = [number(r), number(s)].concat();
    [&[0x30, content.len() as u8], &content[..]].concat()
}

#[test]
fn openssl_takes_our_keys_and_signatures() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    for name in [
        "ed25519",
        "ecdsa-p256",
        "ecdsa-p384",
        "rsa-pss-2048-sha256",
        "rsa-pss-3072-sha384",
        "rsa-pkcs1-2048-sha512",
    ] {
        ssl.takes_our_key(name);
    }
}

#[test]
fn we_take_keys_and_signatures_of_openssl() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    let rsa = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"];
    for hash in ["sha256", "sha384", "sha512"] {
        ssl.gives_us_keys(&format!("rsa-pss-2048-{hash}"), &rsa);
    }
    ssl.gives_us_keys("rsa-pkcs1-2048-sha256", &rsa);
    // A key that is restricted to PSS states its padding, and also its hash if one was given when
    // it was made.
    let pss = ["genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"];
    let said =
        ["md:sha256", "mgf1_md:sha256", "saltlen:32"].map(|it| format!("rsa_pss_keygen_{it}"));
    let said = said.iter().flat_map(|it| ["-pkeyopt", it]);
    ssl.run(&pss.into_iter().chain(said).chain(["-out", "pss.pem"]).collect::<Vec<_>>());
    let key = PrivateKey::read(&ssl.path("pss.pem")).unwrap();
    assert_eq!(key.algorithm().to_string(), "rsa-pss-2048-sha256");
    let larger = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"];
    ssl.gives_us_keys("rsa-pkcs1-3072-sha384", &larger);
    ssl.gives_us_keys("ed25519", &["genpkey", "-algorithm", "ed25519"]);
    for (name, curve) in [("ecdsa-p256", "P-256"), ("ecdsa-p384", "P-384")] {
        let curve = format!("ec_paramgen_curve:{curve}");
        for _ in 0..5 {
            ssl.gives_us_keys(name, &["genpkey", "-algorithm", "EC", "-pkeyopt", &curve]);
        }
    }
}

#[test]
fn we_take_the_older_forms_of_openssl() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    let rsa = [Algorithm::from_name("rsa-pss-2048-sha256").unwrap()];
    let decode = |name: &str| PrivateKey::decode(&ssl.read(name), &rsa, None).unwrap();
    ssl.run(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "sec1.pem"]);
    ssl.run(&["pkcs8", "-topk8", "-nocrypt", "-in", "sec1.pem", "-out", "pkcs8.pem"]);
    ssl.run(&["ec", "-in", "sec1.pem", "-outform", "DER", "-out", "sec1.der"]);
    assert!(ssl.read("sec1.pem").starts_with(b"-----BEGIN EC PRIVATE KEY"));
    assert_eq!(decode("sec1.pem").public(), decode("pkcs8.pem").public());
    assert_eq!(decode("sec1.der").public(), decode("pkcs8.pem").public());
    // The curve is in a separate block before the key.
    ssl.run(&["ecparam", "-name", "secp384r1", "-genkey", "-out", "two.pem"]);
    assert!(ssl.read("two.pem").starts_with(b"-----BEGIN EC PARAMETERS"));
    let key = decode("two.pem");
    assert_eq!(key.algorithm().to_string(), "ecdsa-p384");
    ssl.run(&["ecparam", "-name", "prime256v1", "-out", "other.pem"]);
    let two = String::from_utf8(ssl.read("two.pem")).unwrap();
    let key = &two[two.find("-----BEGIN EC PRIVATE").unwrap()..];
    let swapped = [&ssl.read("other.pem")[..], key.as_bytes()].concat();
    let kind = PrivateKey::decode(&swapped, &[], None).unwrap_err();
    assert_eq!(kind, hartlock_keys::KeyErrorKind::PublicHalfDiffers);
    ssl.run(&["genrsa", "-traditional", "-out", "pkcs1.pem", "2048"]);
    ssl.run(&["pkcs8", "-topk8", "-nocrypt", "-in", "pkcs1.pem", "-out", "pkcs8.pem"]);
    assert!(ssl.read("pkcs1.pem").starts_with(b"-----BEGIN RSA PRIVATE KEY"));
    assert_eq!(decode("pkcs1.pem").public(), decode("pkcs8.pem").public());
    ssl.run(&["rsa", "-in", "pkcs1.pem", "-RSAPublicKey_out", "-out", "pkcs1.pub.pem"]);
    let public = PublicKey::read_for(&ssl.path("pkcs1.pub.pem"), &rsa).unwrap();
    assert_eq!(public, decode("pkcs1.pem").public());
    // A compressed point within a private key is accepted, and one as the public key is refused.
    ssl.run(&["ec", "-in", "sec1.pem", "-conv_form", "compressed", "-out", "short.pem"]);
    assert_eq!(decode("short.pem").public(), decode("sec1.pem").public());
    let args = ["ec", "-in", "sec1.pem", "-pubout", "-conv_form", "compressed"];
    ssl.run(&[&args[..], &["-out", "short.pub.pem"]].concat());
    let error = PublicKey::read(&ssl.path("short.pub.pem")).unwrap_err();
    assert!(error.to_string().contains("compressed"), "{error}");
}

impl OpenSsl {
    /// Runs a command of a hint in a shell without a terminal, so that programs read passphrases from this input. They are
    /// typed as often as a program asks.
    #[track_caller]
    fn follow(&self, hint: &str) -> String {
        let command = hint.split('`').nth(1).unwrap_or_else(|| panic!("no command in: {hint}"));
        let programs = self.path("programs");
        if !programs.exists() {
            fs::create_dir(&programs).unwrap();
            let mut scripts = vec![("ask", "#!/bin/sh\necho secret\n".to_string())];
            if let Ok(program) = std::env::var("HARTLOCK_OPENSSL") {
                scripts.push(("openssl", format!("#!/bin/sh\nexec {program} \"$@\"\n")));
            }
            for (name, text) in scripts {
                let path = programs.join(name);
                fs::write(&path, text).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(&path, mode).unwrap();
            }
        }
        self.write("typed", "secret\n".repeat(4).as_bytes());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [programs.clone()].into_iter().chain(std::env::split_paths(&path));
        let output = Command::new("setsid")
            .args(["-w", "sh", "-ec", command])
            .current_dir(self.folder.path())
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("SSH_ASKPASS", programs.join("ask"))
            .env("SSH_ASKPASS_REQUIRE", "force")
            .stdin(fs::File::open(self.path("typed")).unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {said}");
        // The new file is what the command writes.
        let mut words = command.split([' ', '\'']).filter(|word| !word.is_empty()).rev();
        words.find(|word| word.contains('.') && !word.starts_with('-')).unwrap().to_owned()
    }

    /// Checks that a private key is refused with this code, and that the command of the hint makes a file with the same
    /// key. `-` as the passphrase of the new file means that it has none.
    #[track_caller]
    fn repaired(&self, file: &str, code: &str, expected: &PublicKey, passphrase: Option<&[u8]>) {
        let typed = |_: &std::path::Path| Ok(hartlock_keys::Passphrase::new(b"secret".to_vec()));
        let algorithms = [expected.algorithm()];
        let options = hartlock_keys::ReadOptions {
            algorithms: &algorithms,
            passphrase: Some(&typed),
            any_file_system: false,
        };
        let hartlock_keys::Error::Key(error) =
            PrivateKey::read_with(&self.path(file), options).unwrap_err()
        else {
            panic!("{file}")
        };
        assert_eq!(format!("E{}", error.kind.reason() as u16), code, "{error}");
        assert!(!error.to_string().contains("damaged"), "{error}");
        let new = self.follow(&error.hint());
        let key = PrivateKey::decode(&self.read(&new), &algorithms, passphrase);
        let key = key.unwrap_or_else(|kind| panic!("{file}, {new}: {kind}"));
        assert_eq!(key.public().as_bytes(), expected.as_bytes(), "{file}");
        fs::remove_file(self.path(&new)).unwrap();
    }

    /// The same for a file from which a public key can be taken.
    #[track_caller]
    fn repaired_public(&self, file: &str, code: &str, expected: &PublicKey) {
        let algorithms = [expected.algorithm()];
        let hartlock_keys::Error::Key(error) =
            PublicKey::read_for(&self.path(file), &algorithms).unwrap_err()
        else {
            panic!("{file}")
        };
        assert_eq!(format!("E{}", error.kind.reason() as u16), code, "{error}");
        assert!(!error.to_string().contains("damaged"), "{error}");
        let new = self.follow(&error.hint());
        let key = PublicKey::decode(&self.read(&new), &algorithms);
        assert_eq!(key.unwrap_or_else(|kind| panic!("{file}, {new}: {kind}")), *expected, "{file}");
        fs::remove_file(self.path(&new)).unwrap();
    }

    /// Makes `key.pem` in PKCS#8 with openssl, and returns its public key.
    fn make(&self, name: &str) -> PublicKey {
        let options: &[&str] = match name {
            "ed25519" => &["-algorithm", "ed25519"],
            "ecdsa-p256" => &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            "ecdsa-p384" => &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
            "ml-dsa-65" => &["-algorithm", "ML-DSA-65"],
            "slh-dsa-sha2-128f" => &["-algorithm", "SLH-DSA-SHA2-128f"],
            _ => &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        };
        self.run(&[&["genpkey", "-out", "key.pem"], options].concat());
        let algorithm = Algorithm::from_name(name).unwrap();
        PrivateKey::decode(&self.read("key.pem"), &[algorithm], None).unwrap().public()
    }
}

/// Runs the command of each hint that has one, for each type of keys of which openssl makes such files.
#[test]
fn the_commands_in_hints_make_files_that_are_read() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    for name in ["ed25519", "ecdsa-p256", "ecdsa-p384", "rsa-pss-2048-sha256"] {
        let key = ssl.make(name);
        repair_each_form(&ssl, &key);
    }
}

/// `cargo xtask test` runs this test with a version of openssl that is new enough.
#[test]
fn the_commands_in_hints_work_for_newer_keys() {
    let Some(ssl) = OpenSsl::new((3, 5)) else { return };
    for name in ["ml-dsa-65", "slh-dsa-sha2-128f"] {
        let key = ssl.make(name);
        repair_each_form(&ssl, &key);
    }
}

fn repair_each_form(ssl: &OpenSsl, key: &PublicKey) {
    let algorithm = key.algorithm();
    let is_ec = matches!(algorithm, Algorithm::Ecdsa(_));
    let is_rsa = matches!(algorithm, Algorithm::Rsa { .. });
    let subject = ["-subj", "/CN=demo"];
    // Certificates, their requests, and containers with both, in PEM and DER.
    let certificate = ["req", "-x509", "-key", "key.pem", "-days", "30"];
    ssl.run(&[&certificate[..], &subject, &["-out", "cert.pem"]].concat());
    ssl.run(&["x509", "-in", "cert.pem", "-outform", "DER", "-out", "cert.der"]);
    let request = ["req", "-new", "-key", "key.pem", "-out", "request.pem"];
    ssl.run(&[&request[..], &subject].concat());
    ssl.run(&["req", "-in", "request.pem", "-outform", "DER", "-out", "request.der"]);
    for file in ["cert.pem", "cert.der", "request.pem", "request.der"] {
        ssl.repaired_public(file, "E1103", key);
    }
    let container = ["pkcs12", "-export", "-inkey", "key.pem", "-in", "cert.pem", "-out", "k.p12"];
    ssl.run(&[&container[..], &["-passout", "pass:secret"]].concat());
    ssl.repaired("k.p12", "E1103", key, None);

    // Text that editors and shells changed.
    let text = String::from_utf8(ssl.read("key.pem")).unwrap();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    ssl.write("utf16.pem", &utf16);
    ssl.write("marked.pem", &[&[0xff, 0xfe], &utf16[..]].concat());
    ssl.write("escaped.pem", text.replace('\n', "\\n").as_bytes());
    // The path of a file is quoted for the shell.
    ssl.write("it's a key.pem", &utf16);
    for file in ["utf16.pem", "marked.pem", "escaped.pem", "it's a key.pem"] {
        ssl.repaired(file, "E1102", key, None);
    }

    // Encryption that is not read.
    let weak = ["pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:secret"];
    for way in [
        &["-v1", "PBE-SHA1-3DES"][..],
        &["-v2", "des3"],
        &["-v2", "aes256", "-v2prf", "hmacWithSHA1"],
    ] {
        for format in ["PEM", "DER"] {
            ssl.run(&[&weak[..], way, &["-outform", format, "-out", "weak"]].concat());
            ssl.repaired("weak", "E1111", key, Some(b"secret"));
        }
    }
    if is_ec || is_rsa {
        let old = ["pkey", "-in", "key.pem", "-traditional", "-aes256", "-passout", "pass:secret"];
        ssl.run(&[&old[..], &["-out", "old.pem"]].concat());
        ssl.repaired("old.pem", "E1110", key, Some(b"secret"));
    }
    if is_ec {
        for (format, file) in [("PEM", "numbers.pem"), ("DER", "numbers.der")] {
            let explicit = ["-param_enc", "explicit", "-outform", format, "-out", file];
            ssl.run(&[&["ec", "-in", "key.pem"], &explicit[..]].concat());
            ssl.repaired(file, "E1103", key, None);
            ssl.run(
                &[&["pkey", "-in", "key.pem", "-ec_param_enc", "explicit"], &explicit[2..]]
                    .concat(),
            );
            ssl.repaired(file, "E1103", key, None);
            ssl.run(&[&["ec", "-in", "key.pem", "-pubout"], &explicit[..]].concat());
            ssl.repaired_public(file, "E1103", key);
            let short = ["-conv_form", "compressed", "-outform", format, "-out", file];
            ssl.run(&[&["ec", "-in", "key.pem", "-pubout"], &short[..]].concat());
            ssl.repaired_public(file, "E1116", key);
        }
    }
}

#[test]
fn keys_of_openssh_are_read_or_named_with_a_command_that_works() {
    let Some(ssl) = OpenSsl::new((3, 0)) else { return };
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        return skipped("`ssh-keygen` cannot be run");
    }
    for (name, options) in [
        ("ed25519", &["-t", "ed25519"][..]),
        ("ecdsa-p256", &["-t", "ecdsa", "-b", "256"]),
        ("ecdsa-p384", &["-t", "ecdsa", "-b", "384"]),
        ("rsa-pss-2048-sha256", &["-t", "rsa", "-b", "2048"]),
    ] {
        let algorithms = [Algorithm::from_name(name).unwrap()];
        for passphrase in ["", "secret"] {
            for file in ["id", "id.pub"] {
                let _ = fs::remove_file(ssl.path(file));
            }
            let mut command = Command::new("ssh-keygen");
            command.current_dir(ssl.folder.path()).args(["-q", "-f", "id", "-N", passphrase]);
            assert!(command.args(options).status().unwrap().success());
            let public = PublicKey::read_for(&ssl.path("id.pub"), &algorithms).unwrap();
            if passphrase.is_empty() {
                let key = PrivateKey::decode(&ssl.read("id"), &algorithms, None).unwrap();
                assert_eq!(key.public(), public, "{name}");
                assert!(second_opinion(&public, &key.sign(MESSAGE).unwrap()), "{name}");
            } else {
                ssl.repaired("id", "E1135", &public, None);
            }
        }
    }
}

/// `cargo xtask test` runs this test with a version of openssl that is new enough.
#[test]
fn a_newer_openssl_and_we_agree_on_ml_dsa_and_slh_dsa() {
    let Some(ssl) = OpenSsl::new((3, 5)) else { return };
    for (name, theirs) in [
        ("ml-dsa-44", "ML-DSA-44"),
        ("ml-dsa-65", "ML-DSA-65"),
        ("ml-dsa-87", "ML-DSA-87"),
        ("slh-dsa-sha2-128f", "SLH-DSA-SHA2-128f"),
        ("slh-dsa-sha2-192f", "SLH-DSA-SHA2-192f"),
        ("slh-dsa-shake-256f", "SLH-DSA-SHAKE-256f"),
        ("slh-dsa-shake-128s", "SLH-DSA-SHAKE-128s"),
    ] {
        ssl.takes_our_key(name);
        ssl.gives_us_keys(name, &["genpkey", "-algorithm", theirs]);
    }
    // The private-key formats of ML-DSA that openssl can write.
    for form in ["seed-only", "priv-only", "seed-priv", "bare-seed", "bare-priv"] {
        let provider = format!("ml-dsa.output_formats={form}");
        let args = ["genpkey", "-algorithm", "ML-DSA-65", "-provparam", &provider];
        ssl.run(&[&args[..], &["-out", "form.pem"]].concat());
        let read = PrivateKey::read(&ssl.path("form.pem"));
        // The bare forms come from drafts, and are read as well.
        assert!(read.is_ok(), "{form}: {read:?}");
    }
}
