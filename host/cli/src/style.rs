//! Styles for text on a terminal. Colours only repeat what the words say. `anstream` removes them if the
//! output is not a terminal or `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

/// Style of errors.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Style of success.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Style of warnings.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Style of headings and names.
pub const BOLD: Style = Style::new().bold();
/// Style of less important text.
pub const DIM: Style = Style::new().dimmed();
