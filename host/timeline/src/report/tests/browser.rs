//! Tests of the pages in a browser, if one is available: no element overflows or is cut off, all
//! text is readable, and nothing is fetched from outside.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::pages;

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// The widths of a phone and of a desktop, in CSS pixels.
const WIDTHS: [u32; 2] = [390, 1280];
/// The timeout, which only ends a browser that hangs.
const HANG: Duration = Duration::from_secs(120);

/// The script that checks every frame once all are loaded, and writes its findings into the
/// document.
const LOOK: &str = include_str!("look.js");

#[test]
fn a_browser_shows_the_pages_as_they_are_meant() {
    let Some(browser) = Browser::find() else {
        // This does not use `eprintln!`, whose output the test harness hides if the test passes.
        let _ = writeln!(io::stderr(), "SKIPPED: no Chromium that runs: pages were not rendered");
        return;
    };
    for is_dark in [false, true] {
        let found = browser.look(is_dark);
        let frames = found.as_array().unwrap();
        assert_eq!(frames.len(), pages().len() * WIDTHS.len());
        for frame in frames {
            let scheme = if is_dark { "dark" } else { "light" };
            let name = format!("{} at {} pixels, {scheme}", frame["page"], frame["width"]);
            assert_eq!(frame["dark"], is_dark, "{name}");
            assert_eq!(frame["requests"], 0, "{name}: it asks for something");
            assert_eq!(frame["wide"], Value::Array(vec![]), "{name}: sticks out");
            assert_eq!(frame["cut"], Value::Array(vec![]), "{name}: is cut off");
            assert_eq!(frame["faint"], Value::Array(vec![]), "{name}: too little contrast");
            assert_eq!(frame["small"], Value::Array(vec![]), "{name}: too small");
            // The script must have seen text.
            assert!(frame["texts"].as_u64().unwrap() > 10, "{name}");
        }
    }
}

struct Browser {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Browser {
    /// Finds the first program that renders a page. A browser that cannot start here is ignored.
    fn find() -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let probe = folder.path().join("probe.html");
        fs::write(&probe, "<p id='there'></p>").ok()?;
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let mut programs = std::env::split_paths(&paths)
            .flat_map(|folder| PROGRAMS.map(|program| folder.join(program)));
        let program = programs.find(|program| {
            program.is_file()
                && render(program, folder.path(), &probe, false)
                    .is_some_and(|page| page.contains("there"))
        })?;
        Some(Self { program, folder })
    }

    /// Renders every page in frames of every width, and returns the findings.
    fn look(&self, is_dark: bool) -> Value {
        let mut html = "<!DOCTYPE html><html><body>".to_owned();
        for (name, page) in pages() {
            let page = page.replace('&', "&amp;").replace('"', "&quot;");
            for width in WIDTHS {
                // Frames have no border, so that their full size is available to the page.
                html += &format!(
                    "<iframe name=\"{name}\" width=\"{width}\" height=\"900\" style=\"border:0\" \
                     srcdoc=\"{page}\"></iframe>"
                );
            }
        }
        html += &format!("<pre id=\"found\"></pre><script>{LOOK}</script></body></html>");
        let file = self.folder.path().join("pages.html");
        fs::write(&file, html).unwrap();
        let page = render(&self.program, self.folder.path(), &file, is_dark).unwrap();
        let found =
            page.split("<pre id=\"found\">").nth(1).unwrap().split("</pre>").next().unwrap();
        let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&found).unwrap_or_else(|error| panic!("{error}: {found}"))
    }
}

/// Returns the document after its scripts have run; `None` if the browser fails or hangs.
fn render(program: &Path, folder: &Path, file: &Path, is_dark: bool) -> Option<String> {
    let output = folder.join("output");
    let mut command = Command::new(program);
    // The pages are trusted, and tests often run as root, for whom Chromium has no sandbox.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.args(["--disable-dev-shm-usage", "--no-first-run", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let scheme = if is_dark { 0 } else { 1 };
    command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    command.arg(format!("file://{}", file.display()));
    command.stdin(Stdio::null()).stderr(Stdio::null()).stdout(File::create(&output).ok()?);
    let mut child = command.spawn().ok()?;
    let until = Instant::now() + HANG;
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return status.success().then(|| fs::read_to_string(&output).ok())?;
        }
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
