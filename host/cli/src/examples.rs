//! The text at the end of `--help`: examples of each verb, and the file formats that it reads.

pub const HARTLOCK: &str = r#"Examples:
  hartlock keygen -o root.pem
  hartlock key show root.pem
  hartlock sign bundle.toml --key root.pem -o system.hlk
  hartlock verify system.hlk --key root.pub.pem
  hartlock inspect system.hlk
  hartlock explain E0603

Exit code:
  0 success, 1 refused, 2 could not decide (for example, a file cannot be read)

Environment:
  NO_COLOR             no colours, not even on a terminal
  COLUMNS              width of text that does not go to a terminal
  HARTLOCK_QEMU        QEMU program for `hartlock boot` and `hartlock kat`
  HARTLOCK_BENCH       program that `hartlock kat` runs on a board
  SOURCE_DATE_EPOCH    date in new bundles, in seconds since 1970-01-01"#;

pub const INIT: &str = "Examples:
  hartlock init
  hartlock init --board qemu-virt-iommu product
  hartlock init --board my-board.toml      # a description of your own

Result:
  hartlock.toml, a folder keys whose .gitignore admits only public keys, and
  a .gitignore for bundles and devices, unless there is one.
  Commands look for hartlock.toml in the working directory and the folders above
  it, and print a line on standard error when they use it.";

pub const KEYGEN: &str = "Examples:
  hartlock keygen -o root.pem       # Ed25519, and root.pub.pem
  hartlock keygen -o keys/2026.pem --algorithm ml-dsa-65 --encrypt
  hartlock keygen -o root.der --format der --algorithm ecdsa-p384
  hartlock keygen -o lms.pem --algorithm lms-sha256-h10-w4

Algorithms:
  ed25519, ecdsa-p256, ecdsa-p384
  rsa-pss-3072-sha384         # rsa-pss or rsa-pkcs1; 2048, 3072 or 4096;
                              # sha256, sha384 or sha512
  ml-dsa-44, ml-dsa-65, ml-dsa-87
  slh-dsa-sha2-128s           # sha2 or shake; 128, 192 or 256; s or f
  lms-sha256-h10-w4           # sha256 or sha256-192; h5, h10, h15, h20 or h25;
                              # w1, w2, w4 or w8
  hss-l2-sha256-h10-w4        # l2 to l8; the rest as for lms
  xmss-sha2-10-256            # sha2 or shake256; 10, 16 or 20; 256 or 192
  xmssmt-sha2-20-2-256        # sha2 or shake256; 20-2, 20-4, 40-2, 40-4, 40-8,
                              # 60-3, 60-6 or 60-12; 256 or 192

  A private key for lms, hss, xmss or xmssmt counts its signatures, and can make
  a limited number of them: 1,024 for h10. Never copy it, and keep it out of
  backups and snapshots. With height 20, making the key takes minutes, and so
  does signing; with height 25, hours.";

pub const KEY: &str = "Examples:
  hartlock key show root.pem
  hartlock key convert root.pem --encrypt -o locked.pem
  hartlock key convert locked.pem --decrypt -o open.pem
  hartlock key convert root.pem --public -o root.pub.pem
  hartlock key convert root.pub.pem --format der -o root.pub.der

Result:
  Keys are read as PKCS#8, PKCS#1, SEC 1 and SPKI, in PEM or DER, with a
  passphrase or without. They are written as PKCS#8 and SPKI.";

pub const SIGN: &str = r#"Examples:
  hartlock sign bundle.toml --key root.pem -o system.hlk
  hartlock sign bundle.toml --key root.pem --dry-run
  hartlock sign bundle.toml -o system.hlk \
    --key 'pkcs11:token=Release;object=root?module-path=/FILE.so'
  hartlock sign bundle.toml -o system.hlk \
    --key exec:/opt/kms-sign?public=/etc/root.pub.pem
  hartlock sign bundle.toml --key a.pem --key b.pem -o system.hlk
  hartlock sign bundle.toml --key rsa.pem --algorithm rsa-pkcs1-3072-sha256 \
    --passphrase-file secret -o system.hlk
  hartlock sign --type system --security-version 1 --key root.pem \
    --kernel Image --system-fdt board.dtb -o system.hlk
  hartlock sign --type boot --security-version 1 --key root.pem \
    --trust root.pub.pem --opensbi fw_dynamic.bin --loader loader.bin \
    --boot-fdt boot.dtb -o boot.hlk
  hartlock sign --form first-stage --code stage.bin --key xmss.pem \
    --board hartlock-soc --security-version 1 -o stage.hlf
  gzip -dc Image.gz | hartlock sign bundle.toml --key root.pem --kernel - \
    -o system.hlk

bundle.toml:
  type = "system"               # or boot
  board = "qemu-virt"           # default; or "board.toml", a description
  soc = "virt"                  # default
  label = "Debian installer"    # optional
  security_version = 1
  lifecycle = ["development", "production"]   # default
  bootargs = "console=ttyS0"    # system only
  hash = "sha384"               # default of all payloads
  block_size = 81920            # default of payloads in blocks
  profile = "default"           # optional: allow only its algorithms;
                                # or cnsa2, all

  [[payload]]
  type = "kernel"               # initramfs, system-fdt; boot: opensbi,
                                # loader, boot-fdt
  file = "linux"                # relative to bundle.toml
  # optional: load_address, memory_size, entry, hash, block_size,
  #           mode = "flat", "blocks", or "parallelhash" (NIST SP 800-185,
  #           with hash shake128 or shake256)

  [trust]                       # boot only: who may sign the system bundle
  policy = "any"                # or all, hybrid
  keys = ["root.pub.pem"]
  algorithms = ["rsa-pkcs1-3072-sha256"]   # optional: schemes of RSA keys

First stage:
  Code that hardware verifies before a core runs. It is signed with one key of
  lms, hss, xmss or xmssmt with SHA-256, or of slh-dsa-sha2-128s. `hartlock key
  show` prints the digest of the key, which the hardware holds.

Result:
  The bundle has a date only if SOURCE_DATE_EPOCH is set. The same input gives
  the same bytes, except with keys that count their signatures. The bundle is
  verified before the output file appears; if signing fails, none is written.
  A payload may be a pipe, such as <(gzip -dc Image.gz); it is read once, up to
  4 GiB. One may be `-`, which is standard input. With `-o -` the bundle goes to
  standard output when it is verified, and the report to standard error."#;

pub const VERIFY: &str = "Examples:
  hartlock verify system.hlk --key root.pub.pem
  hartlock verify system.hlk --key a.pub.pem --key b.pub.pem
  hartlock verify boot.hlk system.hlk --key root.pub.pem
  hartlock verify system.hlk --key root.pub.pem --board qemu-virt --soc virt \\
    --floor 6 --lifecycle production     # all that a bundle states
  hartlock verify system.hlk --key root.pub.pem --profile cnsa2
  hartlock verify system.hlk --key root.pub.pem --digests  # as sha384sum
  hartlock verify stage.hlf --key xmss.pub.pem --board hartlock-soc --floor 1
  xz -dc system.hlk.xz | hartlock verify - --key root.pub.pem
  hartlock verify flash.bin --key root.pub.pem --padded    # a dump of flash

Profiles:
  default                    # Ed25519, ECDSA, LMS, ML-DSA; SHA-384, SHA3-256
  cnsa2                      # LMS, XMSS, ML-DSA-87; SHA-384, SHA-512
  all                        # everything that the format supports";

pub const DIGEST: &str = "Examples:
  hartlock digest bundle.toml --signer root.pub.pem -o release.json
  hartlock digest bundle.toml --signer a.pem --signer b.pem -o release.json
  hartlock digest bundle.toml --signer root.pub.pem -o r.json --raw release.bin
  openssl pkeyutl -sign -rawin -inkey root.pem -in release.bin -out root.sig

Result:
  release.json, the request: what boots, the signed bytes, and for each signer
  its algorithm, key and digest. Its bytes are the same on every run.
  release.unsigned, the bundle without signatures, which every verifier refuses.
  `hartlock attach` makes the bundle of both and the signatures.";

pub const ATTACH: &str = "Examples:
  hartlock attach release.json --signature root.sig -o system.hlk
  hartlock attach release.json --signature b.sig --signature a.sig -o system.hlk

Signatures:
  As bytes, in DER for ECDSA, or either in base64. Each is verified with the
  keys of the request before anything is written.";

pub const RESIGN: &str = "Examples:
  hartlock resign old.hlk --verify-key old.pub.pem --key new.pem -o new.hlk
  hartlock resign old.hlk --verify-key old.pub.pem --key a.pem --dry-run

Result:
  The same bytes as from `hartlock sign` with these payloads, settings and keys,
  and with the date of the old bundle or SOURCE_DATE_EPOCH.";

pub const REPLACE: &str = "Examples:
  hartlock replace old.hlk --verify-key root.pub.pem --kernel Image \\
    --security-version 7 --key root.pem -o new.hlk

Result:
  The same bytes as from `hartlock sign` with the new payload, and with
  everything else from the old bundle.";

pub const DIFF: &str = "Examples:
  hartlock diff old.hlk new.hlk
  hartlock diff old.hlk new.hlk --json

Exit code:
  0 no difference for a device, 1 different, 2 could not decide";

pub const EXTRACT: &str = "Examples:
  hartlock extract system.hlk --verify-key root.pub.pem -o parts
  hartlock extract system.hlk kernel --verify-key root.pub.pem -o parts
  hartlock extract system.hlk kernel --verify-key root.pub.pem -o - \\
    > Image
  hartlock extract system.hlk --unverified -o parts";

pub const INSPECT: &str = "Examples:
  hartlock inspect system.hlk
  hartlock inspect system.hlk --hexdump
  xz -dc system.hlk.xz | hartlock inspect -
  hartlock inspect system.hlk --json";

pub const EXPLAIN: &str = "Examples:
  hartlock explain           # all codes
  hartlock explain E0603
  hartlock explain 603";

pub const BOOT: &str = "Examples:
  hartlock boot --rom rom.bin --root-key root.pub.pem \\
    --boot-bundle boot.hlk --system system.hlk
  hartlock boot --rom rom.bin --root-key root.pub.pem \\
    --boot-bundle boot.hlk --system system.hlk --state device \\
    --provision-system-floor 6 --lifecycle production
  hartlock boot --rom rom.bin --root-key root.pub.pem \\
    --boot-bundle boot.hlk --system system.hlk --quiet --report boot.html";

pub const KAT: &str = r#"Examples:
  hartlock kat cases.jsonl
  hartlock kat - --implementation lanes
  hartlock kat cases.jsonl --target qemu:rv64
  hartlock kat cases.jsonl --target qemu:zvknh-256 --implementation zvknh

Lines (all fields are described in the specification, spec/kat.md):
  {"id":"1","op":"digest","alg":"sha256","message":"616263"}
  {"id":"1","result":"ok","output":"ba7816bf8f01cfea414140de5dae2223…"}

Environment:
  HARTLOCK_BENCH    program for the board; `cargo xtask firmware` builds it
  HARTLOCK_QEMU     QEMU program

Exit code:
  0 every line was answered, whatever the answer; 2 some lines were not"#;

pub const COMPLETIONS: &str = "Examples:
  hartlock completions bash > hartlock.bash     # then: source hartlock.bash
  hartlock completions fish > ~/.config/fish/completions/hartlock.fish
  hartlock completions zsh > ~/.zfunc/_hartlock     # with ~/.zfunc in $fpath";

pub const MAN: &str = "Examples:
  hartlock man -o ~/.local/share/man/man1     # then: man hartlock-sign";

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use crate::Cli;

    /// Returns the command lines in a text: lines and parts of pipelines that begin with `hartlock`, joined with the
    /// lines that a `\` continues, without the redirections and comments for the shell.
    fn command_lines(text: &str) -> Vec<Vec<String>> {
        let joined = text.replace("\\\n", " ");
        let parts = joined.lines().flat_map(|line| line.split(" | ")).map(str::trim);
        let lines = parts.filter(|line| line.starts_with("hartlock "));
        let is_for_hartlock = |word: &&str| !["#", ">"].contains(word);
        lines
            .map(|line| line.split_whitespace().take_while(is_for_hartlock).map(Into::into))
            .map(Iterator::collect)
            .collect()
    }

    #[test]
    fn every_verb_has_examples_that_it_understands() {
        let mut command = Cli::command();
        command.build();
        let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
        for verb in verbs.chain([&command]) {
            let name = verb.get_name();
            let text = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let lines = command_lines(&text);
            assert!(!lines.is_empty(), "{name} has no example");
            for words in lines {
                if let Err(error) = Cli::try_parse_from(&words) {
                    panic!("{name}: {words:?}\n{error}");
                }
            }
        }
    }

    #[test]
    fn help_fits_80_columns() {
        let mut command = Cli::command();
        command.build();
        for verb in command.get_subcommands().chain([&command]) {
            let text = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", verb.get_name());
            }
        }
    }
}
