//! Controls a browser without a window over a pipe, with Chromium's DevTools protocol: JSON with a zero byte after each
//! message. <https://chromedevtools.github.io/devtools-protocol/>

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

/// The names of the browser: of Debian's package, and of others.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The environment variable that names another browser.
const VARIABLE: &str = "HARTLOCK_BROWSER";
/// The message if there is no browser.
pub const MISSING: &str = "there is no chromium for pictures: `sudo apt-get install --no-install-recommends chromium \
                           fonts-dejavu-core` installs it, and HARTLOCK_BROWSER names another one";

/// Returns the path of the installed browser.
///
/// # Errors
/// If none is installed; the message says how to install one.
pub fn find() -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    find_in(env::var_os(VARIABLE), &path).context(MISSING)
}

fn find_in(named: Option<OsString>, path: &OsString) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(PathBuf::from(named)).filter(|it| it.is_file());
    }
    let in_folder = |folder: PathBuf| NAMES.map(|name| folder.join(name));
    env::split_paths(path).flat_map(in_folder).find(|it| it.is_file())
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    last_id: u64,
    session: Option<String>,
    /// The messages that do not answer an order.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// The window size and the colour scheme with which a page is opened.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The width in CSS pixels.
    pub width: u32,
    /// True if the reader's system prefers the dark colour scheme.
    pub is_dark: bool,
}

impl Browser {
    /// Starts the browser. It cannot resolve the name of any host.
    pub fn start(program: &Path) -> Result<Self> {
        let profile = tempfile::tempdir()?;
        // The browser reads orders from file descriptor 3 and writes answers to 4. Its other output is discarded.
        let script = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run"])
            .args([
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--disable-background-networking",
            ])
            .args(["--disable-extensions", "--font-render-hinting=none", "--disable-sync"])
            // The sandbox does not work for root. All pages that are opened are our own.
            .args(["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take().context("the pipe was just made")?;
        let answers = BufReader::new(child.stdout.take().context("the pipe was just made")?);
        let (session, events) = (None, Vec::new());
        let mut browser =
            Self { child, orders, answers, last_id: 0, session, events, _profile: profile };
        let target = browser.order("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.order("Target.attachToTarget", attach)?;
        browser.session = attached["sessionId"].as_str().map(Into::into);
        for domain in ["Page", "Runtime", "Network"] {
            browser.order(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(browser)
    }

    /// Sends an order and waits for its answer.
    fn order(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let mut order = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            order["sessionId"] = session.as_str().into();
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).context("the browser ended")?;
        self.orders.flush()?;
        loop {
            let mut message = self.message()?;
            if message["id"] != self.last_id {
                self.events.push(message);
                continue;
            }
            ensure!(
                message["error"].is_null(),
                "the browser refuses {method}: {}",
                message["error"]
            );
            return Ok(message["result"].take());
        }
    }

    fn message(&mut self) -> Result<Value> {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes)?;
        ensure!(bytes.pop() == Some(0), "the browser ended");
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Opens a page and waits until it is loaded completely. Returns a finding for each file that could not be loaded.
    pub fn open(&mut self, address: &str, view: View) -> Result<Vec<String>> {
        let metrics = json!({
            "width": view.width, "height": 900, "deviceScaleFactor": 1, "mobile": view.width < 600
        });
        self.order("Emulation.setDeviceMetricsOverride", metrics)?;
        let scheme = if view.is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.order("Emulation.setEmulatedMedia", json!({ "features": features }))?;
        // A page that differs from the last one only in its anchor would not be loaded again without this.
        self.order("Page.navigate", json!({ "url": "about:blank" }))?;
        self.events.clear();
        let gone = self.order("Page.navigate", json!({ "url": address }))?;
        if let Some(error) = gone["errorText"].as_str() {
            bail!("{address}: {error}");
        }
        // The new page has begun by now, so the empty one cannot answer this.
        let is_loaded = "new Promise(done => document.readyState === 'complete' ? done(true) \
                         : addEventListener('load', () => done(true)))";
        self.value(is_loaded)?;
        Ok(self.failed_loads())
    }

    /// Returns a finding for each file that could not be loaded.
    fn failed_loads(&self) -> Vec<String> {
        let address = |id: &Value| {
            let request = self.events.iter().find(|it| {
                it["method"] == "Network.requestWillBeSent" && it["params"]["requestId"] == *id
            });
            request.map_or(String::new(), |it| {
                it["params"]["request"]["url"].as_str().unwrap_or_default().to_owned()
            })
        };
        let failed = self.events.iter().filter(|it| it["method"] == "Network.loadingFailed");
        failed
            .map(|it| {
                let address = address(&it["params"]["requestId"]);
                format!("{address} is not loaded: {}", it["params"]["errorText"])
            })
            .collect()
    }

    /// Evaluates an expression on the page, waits if it is a promise, and returns its value.
    pub fn value(&mut self, expression: &str) -> Result<Value> {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.order("Runtime.evaluate", params)?;
        ensure!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        Ok(result["result"]["value"].take())
    }

    /// Takes a picture of the page as PNG. It is as wide as the view, or as its content if `is_fitted`, and as high as
    /// the content, up to `most` pixels.
    pub fn picture(&mut self, most: u64, is_fitted: bool) -> Result<Vec<u8>> {
        let size = self.value(
            "(() => { const e = document.documentElement, b = document.body.getBoundingClientRect(); \
             return [e.clientWidth, Math.ceil(b.right), Math.max(e.scrollHeight, 1), Math.ceil(b.bottom)]; })()",
        )?;
        let number = |index: usize| size[index].as_u64().unwrap_or(1);
        let (width, height) =
            if is_fitted { (number(1), number(3)) } else { (number(0), number(2)) };
        let clip =
            json!({ "x": 0, "y": 0, "width": width, "height": height.min(most), "scale": 1 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let result = self.order("Page.captureScreenshot", params)?;
        from_base64(result["data"].as_str().unwrap_or_default())
            .context("a picture that is no base64")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        let _ = self.order("Browser.close", json!({}));
        let _ = self.child.wait();
    }
}

/// Decodes base64 (RFC 4648 §4); returns nothing if the text is not valid.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for c in group {
            bits = bits << 6 | u32::from(value(*c)?);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // These are test vectors of RFC 4648 §10.
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9vYmE=", "fooba")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(from_base64("Zm\n9"), None);
    }

    #[test]
    fn without_a_browser_the_message_says_how_to_install_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = OsString::from(folder.path());
        assert_eq!(find_in(None, &path), None);
        assert!(MISSING.contains("apt-get install") && MISSING.contains(VARIABLE));
        let program = folder.path().join("chromium");
        std::fs::write(&program, "").unwrap();
        assert_eq!(find_in(None, &path), Some(program));
        assert_eq!(find_in(Some("no/such/browser".into()), &path), None);
    }
}
