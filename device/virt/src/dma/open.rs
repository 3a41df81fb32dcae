//! A board on which devices can access all memory.

use hartlock_image::Reason;

/// Does nothing.
///
/// # Errors
/// None.
pub const fn close() -> Result<(), Reason> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// None.
pub const fn guard() -> Result<(), Reason> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// None.
pub const fn open_system() -> Result<(), Reason> {
    Ok(())
}
