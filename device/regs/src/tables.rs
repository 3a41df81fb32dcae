//! Macros that turn the tables of the generated modules into types.
//!
//! A table has names, places, types and comments. The code behind them is here, once for each kind of accessor.

/// Defines enumerations: the values of fields, and the way back from bits.
macro_rules! choices {
    ($(
        $(#[$about:meta])*
        $name:ident { $($(#[$what:meta])* $choice:ident = $number:literal,)* }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum $name {
            $($(#[$what])* $choice = $number,)*
        }

        impl $name {
            /// Returns the value with this number, or `None` if it has no name.
            #[must_use]
            pub const fn from_bits(bits: u32) -> Option<Self> {
                match bits {
                    $($number => Some(Self::$choice),)*
                    _ => None,
                }
            }
        }
    )*};
}

/// Defines a map and the type of a block with it. Each register has an offset, a name, the type of its value (or
/// an array of that), and what is allowed.
macro_rules! block {
    (
        $(#[$about:meta])*
        $name:ident: $map:ident, $size:literal bytes {
            $($(#[$what:meta])* $offset:literal $register:ident: $kind:tt $access:ident,)*
        }
    ) => {
        /// Names the map in the type of a block.
        pub struct $map;

        impl $crate::Map for $map {
            const SIZE: usize = $size;
        }

        $(#[$about])*
        pub type $name = $crate::Block<$map>;

        impl $name {
            $(register! { $(#[$what])* $offset $register: $kind $access })*
        }
    };
}

macro_rules! register {
    ($(#[$what:meta])* $offset:literal $register:ident: [$kind:ident; $count:literal] $access:ident) => {
        $(#[$what])*
        #[must_use]
        pub const fn $register(&self) -> $crate::Array<'_, $kind, $crate::$access, $count> {
            self.array::<$offset, _, _, $count>()
        }
    };
    ($(#[$what:meta])* $offset:literal $register:ident: $kind:ident $access:ident) => {
        $(#[$what])*
        #[must_use]
        pub const fn $register(&self) -> $crate::Register<'_, $kind, $crate::$access> {
            self.register::<$offset, _, _>()
        }
    };
}

/// Defines types of what is read from registers or written to them. Each has its value after reset, and for each
/// field the bits, the name of the accessor that reads it, that of the one that sets it, and its type. `_` is an
/// accessor that the field does not have.
macro_rules! values {
    ($(
        $(#[$about:meta])*
        $name:ident: $reset:literal after reset {
            $($(#[$what:meta])* [$($bits:tt)*] $get:tt $set:tt: $kind:ident,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(u32);

        impl $crate::Value for $name {
            fn from_bits(bits: u32) -> Self {
                Self(bits)
            }

            fn to_bits(self) -> u32 {
                self.0
            }
        }

        impl $name {
            /// The value after reset.
            pub const RESET: Self = Self($reset);

            $(
                getter! { $(#[$what])* [$($bits)*] $get: $kind }
                setter! { $(#[$what])* [$($bits)*] $set: $kind }
            )*
        }
    )*};
}

macro_rules! getter {
    ($(#[$what:meta])* [$($bits:tt)*] _: $kind:ident) => {};
    ($(#[$what:meta])* [$bit:literal] $get:ident: bool) => {
        $(#[$what])*
        #[must_use]
        pub const fn $get(self) -> bool {
            self.0 & (1 << $bit) != 0
        }
    };
    ($(#[$what:meta])* [$($bits:tt)*] $get:ident: u8) => {
        getter! { number: $(#[$what])* [$($bits)*] $get: u8 }
    };
    ($(#[$what:meta])* [$($bits:tt)*] $get:ident: u16) => {
        getter! { number: $(#[$what])* [$($bits)*] $get: u16 }
    };
    ($(#[$what:meta])* [$($bits:tt)*] $get:ident: u32) => {
        getter! { number: $(#[$what])* [$($bits)*] $get: u32 }
    };
    ($(#[$what:meta])* [$high:literal: $low:literal] $get:ident: $choices:ident) => {
        $(#[$what])*
        #[must_use]
        pub const fn $get(self) -> Option<$choices> {
            $choices::from_bits((self.0 >> $low) & const { $crate::ones($high - $low + 1) })
        }
    };
    (number: $(#[$what:meta])* [$high:literal: $low:literal] $get:ident: $number:ident) => {
        $(#[$what])*
        #[must_use]
        pub const fn $get(self) -> $number {
            ((self.0 >> $low) & const { $crate::ones($high - $low + 1) }) as $number
        }
    };
}

macro_rules! setter {
    ($(#[$what:meta])* [$($bits:tt)*] _: $kind:ident) => {};
    ($(#[$what:meta])* [$bit:literal] $set:ident: bool) => {
        setter! { $(#[$what])* [$bit: $bit] $set: bool }
    };
    ($(#[$what:meta])* [$high:literal: $low:literal] $set:ident: $kind:ident) => {
        /// Returns the value with another content of this field:
        $(#[$what])*
        #[must_use]
        pub const fn $set(self, value: $kind) -> Self {
            let ones = const { $crate::ones($high - $low + 1) };
            Self((self.0 & !(ones << $low)) | ((value as u32 & ones) << $low))
        }
    };
}
