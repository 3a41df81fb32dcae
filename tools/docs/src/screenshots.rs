//! `cargo xtask screenshots` takes pictures of everything that a reader sees, so that a person can look at them.
//!
//! The pictures show the site, opened from a copy in another folder and without a network; the page of the demo's
//! boots; and the command in terminals. The program also reports faults that it can find itself: pages that are wider
//! than a phone, files that are not loaded, and a search without a result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use xtask::{Verdict, project, run};

mod browser;
mod terminal;

use browser::{Browser, View};

#[derive(clap::Args)]
pub struct ScreenshotsArgs {
    /// Write the screenshots to this folder
    #[arg(long, value_name = "FOLDER", default_value = "target/screenshots")]
    output: PathBuf,
}

/// The widths of pages: a phone and a screen.
const WIDTHS: [u32; 2] = [390, 1280];
/// The part of a page from its top that is shown, in pixels.
const MOST_HEIGHT: u64 = 6000;
/// The widths of terminals in columns.
const COLUMNS: [u16; 2] = [80, 40];
/// The pages of the site: name of the picture, and file.
const PAGES: [(&str, &str); 3] = [
    ("site-front", "index.html"),
    ("site-results", "results.html"),
    ("site-status", "status.html"),
];
/// An expression that returns the first words of tables that are wider than their page.
const WIDE_TABLES: &str = "[...document.querySelectorAll('.table-wrapper')] \
     .filter(it => it.scrollWidth > it.clientWidth + 1).map(it => it.innerText.slice(0, 60))";
/// The word that is typed into the search box; the site explains it.
const SEARCHED: &str = "anti-rollback";

/// An expression that returns the number of results of the search box. It waits for half a minute at most.
const FOUND: &str = "new Promise(done => { let turns = 0; const look = () => { \
     const found = document.querySelectorAll('[id$=searchresults] li a').length; \
     if (found || ++turns > 300) done(found); else setTimeout(look, 100); }; look(); })";

/// The commands that prepare the folder of the command. [`SHOWN`] has the commands whose output is shown.
const PREPARED: [&str; 4] = [
    "head -c 30000000 /dev/zero | tr '\\0' '\\021' >linux",
    "printf '\\320\\015\\376\\355' >virt.dtb && head -c 700 /dev/zero >>virt.dtb",
    "printf 'type = \"system\"\\nsecurity_version = 4\\nbootargs = \"console=ttyS0\"\\n\\n[[payload]]\\ntype = \"kernel\"\\n\
     file = \"linux\"\\n\\n[[payload]]\\ntype = \"system-fdt\"\\nfile = \"virt.dtb\"\\n' >bundle.toml",
    "sed 's/\"kernel\"/\"kernle\"/' bundle.toml >typo.toml",
];
const SHOWN: [(&str, &str); 9] = [
    ("help", "hartlock --help"),
    ("keygen", "hartlock keygen -o root.pem"),
    ("sign", "hartlock sign bundle.toml --key root.pem --force-type -o system.hlk"),
    ("verify", "hartlock verify system.hlk --key root.pub.pem"),
    ("refused", "hartlock verify system.hlk --key root.pub.pem --floor 6"),
    ("inspect", "hartlock inspect system.hlk"),
    ("explain", "hartlock explain E0603"),
    ("caret", "hartlock sign typo.toml --key root.pem -o new.hlk"),
    ("usage", "hartlock boot --rom rom.bin"),
];

/// Takes the pictures, and prints a line for each finding.
pub fn main(args: &ScreenshotsArgs) -> Result<Verdict> {
    // This check comes first, because nothing else is possible without a browser.
    let program = browser::find()?;
    let root = project::root();
    fs::create_dir_all(&args.output)?;
    let mut camera = Camera {
        browser: Browser::start(&program)?,
        folder: args.output.clone(),
        count: 0,
        findings: Vec::new(),
    };
    let scratch = tempfile::tempdir()?;
    // The copy has another path than the build, with a space, which has to be encoded in addresses.
    let site = scratch.path().join("another folder/site");
    copy(&super::build(&root)?.folder, &site)?;
    for (name, page) in PAGES {
        camera.page(name, &address(&site.join(page)))?;
    }
    camera.search(&site)?;
    let report = project::target_dir().join("demo/report.html");
    if report.is_file() {
        camera.page("timeline", &address(&std::path::absolute(report)?))?;
    } else {
        println!("no page of a timeline: `make demo` makes {}", report.display());
    }
    camera.terminals(&root, scratch.path())?;
    for finding in &camera.findings {
        println!("{finding}");
    }
    println!("{} pictures in {}", camera.count, camera.folder.display());
    Ok(if camera.findings.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Returns the `file:` address of a file.
fn address(path: &Path) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-._".contains(c);
    let mut address = "file://".to_owned();
    for byte in path.display().to_string().bytes() {
        match char::from(byte) {
            c if plain(c) => address.push(c),
            _ => address += &format!("%{byte:02X}"),
        }
    }
    address
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().context("a folder in a folder")?)?;
    run::quietly(Command::new("cp").arg("-r").arg(from).arg(to)).map(drop)
}

struct Camera {
    browser: Browser,
    folder: PathBuf,
    count: usize,
    findings: Vec<String>,
}

impl Camera {
    /// Takes pictures of a page for phone and screen, in the light and in the dark colour scheme.
    fn page(&mut self, name: &str, address: &str) -> Result<()> {
        for width in WIDTHS {
            for is_dark in [false, true] {
                let scheme = if is_dark { "dark" } else { "light" };
                let what = format!("{name}-{width}-{scheme}");
                self.open(&what, address, View { width, is_dark })?;
                self.take(&what, false)?;
            }
        }
        Ok(())
    }

    /// Opens a page, and records the files that it lacks and whether it is too wide.
    fn open(&mut self, what: &str, address: &str, view: View) -> Result<()> {
        let failed = self.browser.open(address, view)?;
        self.findings.extend(failed.into_iter().map(|failed| format!("{what}: {failed}")));
        let wide = self.browser.value("document.documentElement.scrollWidth")?;
        if wide.as_u64().is_none_or(|wide| wide > u64::from(view.width)) {
            let finding = format!("{what}: the page is {wide} pixels wide: it moves sideways");
            self.findings.push(finding);
        }
        let tables = self.browser.value(WIDE_TABLES)?;
        for table in tables.as_array().into_iter().flatten() {
            self.findings.push(format!("{what}: a table moves sideways: {table}"));
        }
        Ok(())
    }

    fn take(&mut self, what: &str, is_fitted: bool) -> Result<()> {
        let picture = self.browser.picture(MOST_HEIGHT, is_fitted)?;
        ensure!(picture.starts_with(b"\x89PNG"), "{what} is no picture");
        let file = self.folder.join(format!("{what}.png"));
        fs::write(&file, picture).with_context(|| file.display().to_string())?;
        self.count += 1;
        Ok(())
    }

    /// Searches for a word in the search box of the site, and records a search without a result.
    fn search(&mut self, site: &Path) -> Result<()> {
        for width in WIDTHS {
            let what = format!("site-search-{width}");
            let address = format!("{}?search={SEARCHED}", address(&site.join("index.html")));
            self.open(&what, &address, View { width, is_dark: false })?;
            let count = self.browser.value(FOUND)?;
            if count.as_u64().unwrap_or(0) == 0 {
                self.findings.push(format!("{what}: a search for {SEARCHED} finds nothing"));
            }
            self.take(&what, false)?;
        }
        Ok(())
    }

    /// Takes pictures of the command in terminals.
    fn terminals(&mut self, root: &Path, scratch: &Path) -> Result<()> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--locked", "--quiet", "--bin", "hartlock"]).current_dir(root);
        run::quietly(&mut cargo)?;
        let programs = std::path::absolute(project::target_dir())?.join("debug");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([programs].into_iter().chain(std::env::split_paths(&path)))?;
        for columns in COLUMNS {
            let folder = scratch.join(format!("terminal-{columns}"));
            fs::create_dir_all(&folder)?;
            let shell = |line: &str| {
                let mut shell = Command::new("sh");
                shell.args(["-c", line]).current_dir(&folder).env("PATH", &path);
                shell
            };
            for line in PREPARED {
                run::quietly(&mut shell(line))?;
            }
            for (name, line) in SHOWN {
                let printed = terminal::run(&mut shell(line), columns)?;
                let page = folder.join("page.html");
                fs::write(&page, terminal::page(line, &printed, columns))?;
                let what = format!("terminal-{name}-{columns}");
                self.browser.open(&address(&page), View { width: 1280, is_dark: true })?;
                self.take(&what, true)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_encoded() {
        assert_eq!(address(Path::new("/a b/ü.html")), "file:///a%20b/%C3%BC.html");
    }

    #[test]
    fn a_page_that_is_too_wide_or_lacks_a_file_is_found() {
        let Ok(program) = browser::find() else {
            // A macro such as `eprintln!` would be captured by the test harness, and the line would not be shown.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "SKIPPED: {}", browser::MISSING);
            return;
        };
        let scratch = tempfile::tempdir().unwrap();
        let page = scratch.path().join("a page.html");
        let mut camera = Camera {
            browser: Browser::start(&program).unwrap(),
            folder: scratch.path().to_owned(),
            count: 0,
            findings: Vec::new(),
        };
        fs::write(&page, "<meta name=viewport content=width=device-width><p>short").unwrap();
        camera.page("good", &address(&page)).unwrap();
        assert_eq!((camera.count, camera.findings.len()), (4, 0), "{:?}", camera.findings);
        fs::write(
            &page,
            "<meta name=viewport content='width=device-width,minimum-scale=1'><img src=gone.png>\
             <p style='width: 600px'>long<div class=table-wrapper style='overflow: auto; width: 9px'>of figures",
        )
        .unwrap();
        camera.open("bad", &address(&page), View { width: 390, is_dark: true }).unwrap();
        let [gone, wide, table] = &camera.findings[..] else { panic!("{:?}", camera.findings) };
        assert!(gone.contains("gone.png is not loaded"), "{gone}");
        assert!(wide.contains("page is 6") && wide.contains("moves sideways"), "{wide}");
        assert!(table.contains("a table moves sideways: \"of figures\""), "{table}");
    }
}
