//! The calls, and the ranges of memory that they name.

/// Closed memory.
pub struct Place {
    pub name: &'static str,
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
}

/// How a range lies to a closed place. Of each range at least one byte is closed, or it is empty and starts in the
/// place, or nothing is there.
#[derive(Clone, Copy)]
pub enum Shape {
    Inside,
    Last,
    AcrossLowerEdge,
    AcrossUpperEdge,
    PageAcrossLowerEdge,
    Around,
    Whole,
    Empty,
    Unaligned,
    WrapsToStart,
    WrapsToEnd,
    Huge,
    Hole,
    AcrossEndOfMemory,
    LastOfAll,
}

/// An address of memory that is open, above all closed places.
const OPEN_ABOVE: u64 = 0x8100_0000;
/// An address where nothing is.
const HOLE: u64 = 0x7000_0000;
const END_OF_MEMORY: u64 = 0xc000_0000;

impl Shape {
    pub const ALL: [Self; 15] = [
        Self::Inside,
        Self::Last,
        Self::AcrossLowerEdge,
        Self::AcrossUpperEdge,
        Self::PageAcrossLowerEdge,
        Self::Around,
        Self::Whole,
        Self::Empty,
        Self::Unaligned,
        Self::WrapsToStart,
        Self::WrapsToEnd,
        Self::Huge,
        Self::Hole,
        Self::AcrossEndOfMemory,
        Self::LastOfAll,
    ];

    /// Returns the address and the length of a range.
    pub const fn range(self, place: &Place) -> (u64, u64) {
        let Place { start, end, .. } = *place;
        match self {
            Self::Inside => (start, 16),
            Self::Last => (end - 16, 16),
            Self::AcrossLowerEdge => (start - 8, 16),
            Self::AcrossUpperEdge => (end - 8, 16),
            Self::PageAcrossLowerEdge => (start - 4096, 8192),
            Self::Around => (start - 64, end - start + 128),
            Self::Whole => (start, end - start),
            Self::Empty => (start, 0),
            Self::Unaligned => (start + 1, 3),
            Self::WrapsToStart => (OPEN_ABOVE, start.wrapping_add(8).wrapping_sub(OPEN_ABOVE)),
            Self::WrapsToEnd => (OPEN_ABOVE, end.wrapping_sub(OPEN_ABOVE)),
            Self::Huge => (start - 64, 1 << 62),
            Self::Hole => (HOLE, 16),
            Self::AcrossEndOfMemory => (END_OF_MEMORY - 8, 16),
            Self::LastOfAll => (u64::MAX - 7, 16),
        }
    }

    /// Returns true if the first address of the range is closed, or if nothing is there.
    pub const fn begins_closed(self) -> bool {
        matches!(
            self,
            Self::Inside
                | Self::Last
                | Self::AcrossUpperEdge
                | Self::Whole
                | Self::Empty
                | Self::Unaligned
                | Self::Hole
                | Self::LastOfAll
        )
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Last => "last",
            Self::AcrossLowerEdge => "across-lower-edge",
            Self::AcrossUpperEdge => "across-upper-edge",
            Self::PageAcrossLowerEdge => "page-across-lower-edge",
            Self::Around => "around",
            Self::Whole => "whole",
            Self::Empty => "empty",
            Self::Unaligned => "unaligned",
            Self::WrapsToStart => "wraps-to-start",
            Self::WrapsToEnd => "wraps-to-end",
            Self::Huge => "huge",
            Self::Hole => "hole",
            Self::AcrossEndOfMemory => "across-end-of-memory",
            Self::LastOfAll => "last-of-all",
        }
    }
}

/// An argument of a call.
#[derive(Clone, Copy)]
enum Argument {
    /// The address of the range.
    Address,
    /// Its length in bytes.
    Length,
    /// Memory that is open.
    Open,
    /// This number.
    Number(u64),
}

use Argument::{Address, Length, Number, Open};

type Form = [Argument; 6];

const ZERO: Argument = Number(0);
const ONE: Argument = Number(1);

/// The orders of arguments in which extensions take an address: alone, in two halves with flags, after a length, after
/// a number, with a second address, and after two numbers. `Number(1)` as the upper half names memory that no board
/// has.
const FORMS: [Form; 12] = [
    [Address, ZERO, ZERO, ZERO, ZERO, ZERO],
    [Address, Length, ZERO, ZERO, ZERO, ZERO],
    [Address, ZERO, Length, ZERO, ZERO, ZERO],
    [Address, ONE, ZERO, ZERO, ZERO, ZERO],
    [Length, Address, ZERO, ZERO, ZERO, ZERO],
    [Length, Address, ONE, ZERO, ZERO, ZERO],
    [ONE, Address, Open, ZERO, ZERO, ZERO],
    [ZERO, Address, ZERO, ZERO, ZERO, ZERO],
    [ZERO, Open, Address, Length, ZERO, ZERO],
    [ZERO, ZERO, ONE, Address, ZERO, ZERO],
    [ONE, ZERO, ONE, Address, ZERO, Length],
    [Open, Address, Length, Address, Length, Address],
];

/// The forms of a call that does something with every argument. None ends the machine or stops the hart.
const RESET: [Form; 2] =
    [[Address, ZERO, ZERO, ZERO, ZERO, ZERO], [ZERO, Address, ZERO, ZERO, ZERO, ZERO]];
const FENCE: [Form; 4] = [
    [ONE, ZERO, Address, Length, ZERO, ZERO],
    [ONE, ZERO, Length, Address, Address, ZERO],
    // The hart mask is all ones with the base -1, which stands for all harts (SBI v2.0 §3.1).
    [Number(u64::MAX), Number(u64::MAX), Address, Length, ONE, ZERO],
    [Address, Length, Address, Length, ONE, ZERO],
];
/// A suspension from which the hart returns at the address (SBI v2.0 §9.4).
const SUSPEND: [Form; 1] = [[Number(0x8000_0000), Address, Length, ZERO, ZERO, ZERO]];

/// A kind of call: the functions of one or several extensions.
pub struct Call {
    pub name: &'static str,
    extensions: (u64, u64),
    functions: (u64, u64),
    forms: Forms,
    /// True if a success means that M-mode used memory of the range, or starts a hart in it.
    pub takes_memory: bool,
    /// True if only the address counts, and not the bytes after it.
    is_one_address: bool,
}

#[derive(Clone, Copy)]
enum Forms {
    These(&'static [Form]),
    /// Starts this hart.
    Start(u64),
}

/// The last function that is tried of an extension; none of the specification has more.
const LAST_FUNCTION: u64 = 10;

/// The calls of one extension, from function `first` on, that a monitor with few extensions does not have.
const fn other(name: &'static str, extension: u64, first: u64) -> Call {
    absent(name, (extension, extension), (first, LAST_FUNCTION))
}

const fn absent(name: &'static str, extensions: (u64, u64), functions: (u64, u64)) -> Call {
    let forms = Forms::These(&FORMS);
    Call { name, extensions, functions, forms, takes_memory: true, is_one_address: false }
}

/// A call that takes no address of memory: numbers, hart masks, or virtual addresses that are only forgotten.
const fn harmless(
    name: &'static str,
    extension: u64,
    functions: (u64, u64),
    forms: &'static [Form],
) -> Call {
    let extensions = (extension, extension);
    let forms = Forms::These(forms);
    Call { name, extensions, functions, forms, takes_memory: false, is_one_address: false }
}

const BASE: u64 = 0x10;
const TIME: u64 = 0x5449_4d45;
const IPI: u64 = 0x73_5049;
const RFENCE: u64 = 0x5246_4e43;
const HSM: u64 = 0x48_534d;
const SRST: u64 = 0x5352_5354;
const HARTLOCK: u64 = 0x0a00_0001;

const fn one(extension: u64) -> (u64, u64) {
    (extension, extension)
}

/// Returns all calls; `target` is a hart that is stopped.
pub const fn all(target: u64) -> [Call; 35] {
    [
        harmless("base", BASE, (0, 6), &FORMS),
        harmless("time", TIME, (0, 0), &FORMS),
        harmless("ipi", IPI, (0, 0), &FORMS),
        harmless("rfence", RFENCE, (0, 6), &FENCE),
        harmless("hsm-status", HSM, (2, 2), &FORMS),
        harmless("srst", SRST, (0, 0), &RESET),
        Call {
            name: "hsm-start",
            extensions: one(HSM),
            functions: (0, 0),
            forms: Forms::Start(target),
            takes_memory: true,
            is_one_address: true,
        },
        Call {
            name: "hsm-suspend",
            extensions: one(HSM),
            functions: (3, 3),
            forms: Forms::These(&SUSPEND),
            takes_memory: true,
            is_one_address: true,
        },
        other("base-others", BASE, 7),
        other("time-others", TIME, 1),
        other("ipi-others", IPI, 1),
        other("rfence-others", RFENCE, 7),
        other("hsm-others", HSM, 4),
        other("srst-others", SRST, 1),
        // Number 8 of the legacy extensions switches the machine off.
        absent("legacy", (0, 7), (0, 0)),
        other("dbcn", 0x4442_434e, 0),
        other("susp", 0x5355_5350, 0),
        other("pmu", 0x50_4d55, 0),
        other("sta", 0x53_5441, 0),
        other("nacl", 0x4e41_434c, 0),
        other("sse", 0x53_5345, 0),
        other("fwft", 0x4657_4654, 0),
        other("mpxy", 0x4d50_5859, 0),
        other("cppc", 0x4350_5043, 0),
        other("dbtr", 0x4442_5452, 0),
        absent("experimental-first", (0x0800_0000, 0x0800_0001), (0, 1)),
        absent("experimental-last", one(0x08ff_ffff), (0, 1)),
        absent("vendor-first", (0x0900_0000, 0x0900_0001), (0, 1)),
        absent("vendor-sifive", one(0x0900_0489), (0, 1)),
        absent("vendor-last", one(0x09ff_ffff), (0, 1)),
        // The call of this project takes no argument, and has succeeded once before.
        absent("system-map", one(HARTLOCK), (0, 0)),
        other("hartlock-others", HARTLOCK, 1),
        absent("firmware-first", one(0x0a00_0000), (0, 1)),
        absent("firmware-second", one(0x0a00_0002), (0, 1)),
        absent("firmware-last", one(0x0aff_ffff), (0, 1)),
    ]
}

impl Call {
    /// Passes a0 to a7 of every call of this kind for a range of memory to `make`. Does nothing if the range begins in
    /// memory that is open and the call looks at the address alone.
    pub fn each(&self, shape: Shape, place: &Place, open: u64, mut make: impl FnMut(&[u64; 8])) {
        if self.is_one_address && !shape.begins_closed() {
            return;
        }
        let range = shape.range(place);
        for extension in self.extensions.0..=self.extensions.1 {
            for function in self.functions.0..=self.functions.1 {
                match self.forms {
                    Forms::These(forms) => forms.iter().for_each(|form| {
                        make(&arguments(form, range, open, function, extension));
                    }),
                    Forms::Start(hart) => {
                        let form = [Number(hart), Address, Length, ZERO, ZERO, ZERO];
                        make(&arguments(&form, range, open, function, extension));
                    }
                }
            }
        }
    }
}

fn arguments(form: &Form, range: (u64, u64), open: u64, function: u64, extension: u64) -> [u64; 8] {
    let [a0, a1, a2, a3, a4, a5] = form.map(|argument| match argument {
        Address => range.0,
        Length => range.1,
        Open => open,
        Number(number) => number,
    });
    [a0, a1, a2, a3, a4, a5, function, extension]
}
