//! Colours. They repeat what the words say, and only a terminal sees them: `anstream` removes
//! them otherwise and if `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

/// What went wrong.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What went well.
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What must not be overlooked.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// What comes first.
pub const BOLD: Style = Style::new().bold();
/// What is there for completeness.
pub const DIM: Style = Style::new().dimmed();
