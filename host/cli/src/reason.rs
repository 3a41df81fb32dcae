//! Reasons of all lists: those that boot stages know too, those of key files, those of other files, and those of requests to a
//! root of trust.

use hartlock_bundle::CommandReason;
use hartlock_image::{Fault, Reason, RequestReason};
use hartlock_keys::KeyReason;

/// A reason code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyReason {
    /// Against a bundle, or of a device.
    Bundle(Reason),
    /// Against a key file. No boot stage carries its texts.
    Key(KeyReason),
    /// Against a file of the command.
    Command(CommandReason),
    /// Against a request of a host. The root of trust answers with its number.
    Request(RequestReason),
}

/// Asks whichever list it is of.
macro_rules! of_either {
    ($any:expr, $accessor:ident) => {
        match $any {
            AnyReason::Bundle(reason) => reason.$accessor(),
            AnyReason::Key(reason) => reason.$accessor(),
            AnyReason::Command(reason) => reason.$accessor(),
            AnyReason::Request(reason) => reason.$accessor(),
        }
    };
}

impl AnyReason {
    /// Every reason, in the order of the codes.
    pub fn all() -> impl Iterator<Item = Self> {
        let bundles = Reason::ALL.iter().copied().map(Self::Bundle);
        let keys = KeyReason::ALL.iter().copied().map(Self::Key);
        let commands = CommandReason::ALL.iter().copied().map(Self::Command);
        let requests = RequestReason::ALL.iter().copied().map(Self::Request);
        bundles.chain(keys).chain(commands).chain(requests)
    }

    /// The code without its `E`.
    pub const fn number(self) -> u16 {
        match self {
            Self::Bundle(reason) => reason as u16,
            Self::Key(reason) => reason as u16,
            Self::Command(reason) => reason as u16,
            Self::Request(reason) => reason as u16,
        }
    }

    /// `E` and four digits.
    pub fn code(self) -> String {
        format!("E{:04}", self.number())
    }

    /// What happened, in one sentence.
    pub const fn title(self) -> &'static str {
        of_either!(self, title)
    }

    /// What to do about it.
    pub const fn hint(self) -> &'static str {
        of_either!(self, hint)
    }

    /// Why that is refused.
    pub const fn why(self) -> &'static str {
        of_either!(self, why)
    }

    /// The name of the variant.
    pub const fn name(self) -> &'static str {
        of_either!(self, name)
    }

    /// Where the rule is specified.
    pub const fn spec(self) -> &'static str {
        of_either!(self, spec)
    }

    /// Who has to act.
    pub const fn fault(self) -> Fault {
        of_either!(self, fault)
    }
}

impl From<Reason> for AnyReason {
    fn from(reason: Reason) -> Self {
        Self::Bundle(reason)
    }
}

impl From<KeyReason> for AnyReason {
    fn from(reason: KeyReason) -> Self {
        Self::Key(reason)
    }
}

impl From<CommandReason> for AnyReason {
    fn from(reason: CommandReason) -> Self {
        Self::Command(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_are_one_in_the_order_of_the_codes() {
        let numbers: Vec<_> = AnyReason::all().map(AnyReason::number).collect();
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
        let of_files = KeyReason::ALL.len() + CommandReason::ALL.len();
        assert_eq!(numbers.len(), Reason::ALL.len() + of_files + RequestReason::ALL.len());
    }
}
