//! Shows a progress bar on the standard error, if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use crate::page::error_width;

/// Minimum number of bytes for which a bar is shown. With fewer bytes it would disappear at once.
const LEAST_BYTES: u64 = 64 << 20;
const LEAST_LEAVES: u64 = 1 << 12;

/// Minimum width in columns of a terminal in which numbers are shown next to the bar.
const NUMBER_COLUMNS: usize = 80;

const OF_BYTES: &str =
    "{msg} [{bar:40}] {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}";
const OF_LEAVES: &str = "{msg} [{bar:40}] {human_pos} of {human_len} leaves, {eta} left";
const NARROW: &str = "{msg} [{wide_bar}] {percent} %";

/// A progress bar that is shown only if the operation takes long enough.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    verb: &'static str,
    least: u64,
    template: &'static str,
}

impl Progress {
    /// Makes a bar that counts bytes, with `verb` in front.
    pub const fn new(verb: &'static str) -> Self {
        Self { bar: None, verb, least: LEAST_BYTES, template: OF_BYTES }
    }

    /// Makes a bar that counts tree leaves, with `verb` in front.
    pub const fn of_leaves(verb: &'static str) -> Self {
        Self { bar: None, verb, least: LEAST_LEAVES, template: OF_LEAVES }
    }

    /// Shows that `done` of `total` bytes or leaves are done.
    pub fn show(&mut self, done: u64, total: u64) {
        if total < self.least {
            return;
        }
        let is_narrow = error_width().is_some_and(|width| width < NUMBER_COLUMNS);
        let template = if is_narrow { NARROW } else { self.template };
        let bar = self.bar.get_or_insert_with(|| {
            // The bar is not drawn where the standard error is not a terminal, and it has no colours.
            let style = ProgressStyle::with_template(template);
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
    /// Removes the bar before anything else is printed.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
