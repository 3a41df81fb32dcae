//! How a refusal reads, on the console of a device and in a terminal: a line with the code and what happened, and
//! one that says what to do. Two functions: with both texts at hand at once the ROM would grow by 1,100 bytes.

/// The parts of the first line, after who refuses; a code is given as its four digits.
#[inline(always)]
pub const fn refusal_line<'a>(
    [before, who, refused]: [&'a str; 3],
    digits: &'a str,
    title: &'a str,
) -> [&'a str; 7] {
    [before, who, refused, "E", digits, " ", title]
}

/// The parts of the second line, after a margin.
#[inline(always)]
pub const fn hint_line<'a>(margin: &'a str, hint: &'a str) -> [&'a str; 3] {
    [margin, "hint: ", hint]
}
