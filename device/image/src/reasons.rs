//! The macro that turns the tables of reasons into enums.

/// Who has to act on a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The party that built or transported the bundle.
    Image,
    /// The party that maintains the device.
    Device,
    /// The caller of the tool.
    Caller,
}

/// Defines an enum of reasons. The table has for each reason its name, number, who has to act, where the rule is
/// specified, then title, reason of the rule, and hint.
///
/// An attribute of a reason is a condition for its title and hint. Where the condition is not met, both are empty, so that
/// a ROM has only the texts that it can print.
#[macro_export]
macro_rules! reasons {
    (
        $(#[$about:meta])*
        $name:ident;
        $(
            $(#[$condition:meta])?
            $reason:ident = $number:literal, $fault:ident, $spec:literal,
                $title:literal, $why:literal, $hint:literal;
        )*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum $name {
            $(#[doc = $title] $reason = $number,)*
        }

        impl $name {
            /// Every reason, in the order of the codes.
            pub const ALL: &'static [$name] = &[$($name::$reason,)*];

            /// The numbers of the reasons whose title and hint this build has.
            const WITH_TEXT: &'static [u16] = &[$($(#[$condition])? $number,)*];

            /// The event, in one sentence.
            pub fn title(self) -> &'static str {
                $crate::packed!(Self::WITH_TEXT, &[$($(#[$condition])? $title,)*]).get(self as u16)
            }

            /// The remedy, in one sentence.
            pub fn hint(self) -> &'static str {
                $crate::packed!(Self::WITH_TEXT, &[$($(#[$condition])? $hint,)*]).get(self as u16)
            }

            /// Why that is refused.
            pub const fn why(self) -> &'static str {
                match self {
                    $($name::$reason => $why,)*
                }
            }

            /// The name of the variant, as in `spec/errors.toml`.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$reason => stringify!($reason),)*
                }
            }

            /// Where the rule is specified.
            pub const fn spec(self) -> &'static str {
                match self {
                    $($name::$reason => $spec,)*
                }
            }

            /// Who has to act.
            pub const fn fault(self) -> $crate::Fault {
                match self {
                    $($name::$reason => $crate::Fault::$fault,)*
                }
            }
        }
    };
}
