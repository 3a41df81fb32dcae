//! The text of a refusal on the console of a device and in a terminal. The first line has the reason code and what
//! happened, the second line a hint. There are two functions, because one function with both texts would make the ROM
//! 1,100 bytes larger.

/// Returns the parts of the first line. `who` is the program that refuses, and `digits` are the four digits of the
/// reason code.
#[inline(always)]
pub const fn refusal_line<'a>(
    [before, who, refused]: [&'a str; 3],
    digits: &'a str,
    title: &'a str,
) -> [&'a str; 7] {
    [before, who, refused, "E", digits, " ", title]
}

/// Returns the parts of the second line, which begins with `margin`.
#[inline(always)]
pub const fn hint_line<'a>(margin: &'a str, hint: &'a str) -> [&'a str; 3] {
    [margin, "hint: ", hint]
}
