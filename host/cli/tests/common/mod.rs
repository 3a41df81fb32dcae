//! Runs `hartlock` in a temporary folder.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hartlock_boards::Boards;
use hartlock_handoff::builder::{self, Node};
use serde_json::Value;
use tempfile::TempDir;

/// Command line that signs the payload files of a bench. The caller adds the output.
pub const SIGN_SYSTEM: &str = "sign --type system --kernel linux --initramfs initrd \
                               --system-fdt virt.dtb --bootargs console=ttyS0 \
                               --security-version 4 --key root.pem";

/// Prints that a test could not check everything. It does not use `eprintln!`, because the test harness hides
/// its output if the test passes.
pub fn skipped(why: impl Display) {
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
}

pub struct Bench {
    folder: TempDir,
}

/// The result of a run of a program.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it ended by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        // Every message other than a positive answer has advice for the user.
        if code != 0 {
            let says_what = self.stderr.contains("hint: ") || self.stderr.contains("--help");
            assert!(says_what, "no hint: {self:#?}");
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// Returns a device tree that is right for OpenSBI and for Linux on the default board.
pub fn boot_tree() -> Node {
    let boards = Boards::default();
    let board = boards.default_board().unwrap().map();
    builder::boot_tree(board.hart_count as u32, 0x8000_0000, board.closed)
        .with("#address-cells", &builder::cells(&[2]))
        .with("#size-cells", &builder::cells(&[2]))
        .and(builder::memory_node(0x8000_0000))
}

/// Returns an archive of this length with one file.
pub fn archive(len: usize) -> Vec<u8> {
    let (header, name) = (110, b"x\0");
    let mut numbers = [0; 13];
    (numbers[6], numbers[11]) = (len - header - name.len(), name.len());
    let numbers = numbers.map(|number| format!("{number:08x}")).concat();
    let mut bytes = [b"070701", numbers.as_bytes(), name].concat();
    bytes.resize(len, 0x22);
    bytes
}

impl Bench {
    /// Describes a boot bundle with this device tree in `bundle.toml`, for the board in `mine.toml`. Without `--board` the
    /// board is not known when the bundle is signed, so that nobody looks at the tree.
    pub fn describe_for_unknown_board(&self, tree: &str) {
        let text = format!(
            "type = \"boot\"\nboard = \"mine\"\nsoc = \"virt\"\nsecurity_version = 1\n\
             [trust]\npolicy = \"any\"\nkeys = [\"root.pub.pem\"]\n\
             [[payload]]\ntype = \"opensbi\"\nfile = \"fw.bin\"\nload_address = 0x80000000\n\
             [[payload]]\ntype = \"loader\"\nfile = \"fw.bin\"\nload_address = 0x80200000\n\
             [[payload]]\ntype = \"boot-fdt\"\nfile = \"{tree}\"\nload_address = 0x80400000\n"
        );
        self.write("bundle.toml", text.as_bytes());
        self.write("mine.toml", b"name = \"mine\"\nextends = \"qemu-virt\"\n");
    }

    /// Makes a folder with payload files.
    pub fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let mut linux = vec![0x11; 100_000];
        linux[16..24].copy_from_slice(&102_400_u64.to_le_bytes());
        linux[24..32].fill(0);
        linux[0x38..0x3c].copy_from_slice(b"RSC\x05");
        bench.write("linux", &linux);
        bench.write("initrd", &archive(9000));
        bench.write("virt.dtb", &boot_tree().flatten());
        bench.write("fw.bin", &vec![0x13; 5000]);
        bench
    }

    /// Makes a folder with payload files, keys, and a bundle `system.hlk` of security version 4.
    pub fn with_bundle() -> Self {
        let bench = Self::new();
        bench.run(&["keygen", "-o", "root.pem"]).expect(0);
        bench.sign(&[]).expect(0);
        bench
    }

    pub fn sign(&self, more: &[&str]) -> Run {
        let args = SIGN_SYSTEM.split(' ').chain(["--force", "-o", "system.hlk"]);
        self.run(&args.chain(more.iter().copied()).collect::<Vec<_>>())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Writes a copy of the file `from`, changed by `change`.
    pub fn damaged(&self, from: &str, to: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.read(from);
        change(&mut bytes);
        self.write(to, &bytes);
    }

    pub fn file_names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hartlock"));
        command.current_dir(self.folder()).env_remove("SOURCE_DATE_EPOCH");
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command().args(args).output().unwrap())
    }

    /// Runs another program. Returns `None` and prints a message if the program is missing.
    pub fn tool(&self, program: &str, args: &[&str]) -> Option<Run> {
        match Command::new(program).args(args).current_dir(self.folder()).output() {
            Ok(output) => Some(Run::of(output)),
            Err(error) => {
                skipped(format_args!("`{program}` cannot be run: {error}"));
                None
            }
        }
    }
}
