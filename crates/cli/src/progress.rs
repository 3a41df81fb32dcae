//! A progress bar on standard error, if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Below this a bar would only flicker.
const LEAST_BYTES: u64 = 64 << 20;

/// A bar that appears when there is something to wait for.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    verb: &'static str,
}

impl Progress {
    /// A bar that says `verb` in front.
    pub const fn new(verb: &'static str) -> Self {
        Self { bar: None, verb }
    }

    /// Shows that `done` of `total` bytes are done.
    pub fn show(&mut self, done: u64, total: u64) {
        if total < LEAST_BYTES {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            // It hides itself where standard error is no terminal, and has no colours.
            let style = ProgressStyle::with_template(
                "{msg} [{bar:40}] {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}",
            );
            let bar = ProgressBar::new(total).with_message(self.verb);
            match style {
                Ok(style) => bar.with_style(style.progress_chars("=> ")),
                Err(_) => bar,
            }
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    /// Leaves the terminal as it was before anything else is printed.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
