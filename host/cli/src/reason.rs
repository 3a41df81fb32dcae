//! The reason codes of all lists: those of bundles, of key files, of other files, of requests to a root
//! of trust, of calls of the C library, and of signers that are not key files.

use hartlock_bundle::CommandReason;
use hartlock_image::{CallReason, Fault, Reason, RequestReason};
use hartlock_keys::{KeyReason, SignerReason};

/// A reason code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyReason {
    /// A reason to refuse a bundle, or a state of the device.
    Bundle(Reason),
    /// A reason to refuse a key file. Boot stages do not contain the texts of this list.
    Key(KeyReason),
    /// A reason to refuse another file of the command.
    Command(CommandReason),
    /// A reason to refuse a request of a host. The root of trust answers with its number.
    Request(RequestReason),
    /// A reason to refuse a call of the C library.
    Call(CallReason),
    /// A reason for which a token, a program or another person did not sign.
    Signer(SignerReason),
}

/// Calls an accessor of the list that the reason belongs to.
macro_rules! of_either {
    ($any:expr, $accessor:ident) => {
        match $any {
            AnyReason::Bundle(reason) => reason.$accessor(),
            AnyReason::Key(reason) => reason.$accessor(),
            AnyReason::Command(reason) => reason.$accessor(),
            AnyReason::Request(reason) => reason.$accessor(),
            AnyReason::Call(reason) => reason.$accessor(),
            AnyReason::Signer(reason) => reason.$accessor(),
        }
    };
}

impl AnyReason {
    /// Iterates over all reasons, in the order of their codes.
    pub fn all() -> impl Iterator<Item = Self> {
        // The last groups of bundles come after those of the command and of requests.
        let later = Reason::ALL.partition_point(|reason| (*reason as u16) < 1100);
        let (bundles, contents) = Reason::ALL.split_at(later);
        let [bundles, contents] =
            [bundles, contents].map(|it| it.iter().copied().map(Self::Bundle));
        let keys = KeyReason::ALL.iter().copied().map(Self::Key);
        let commands = CommandReason::ALL.iter().copied().map(Self::Command);
        let requests = RequestReason::ALL.iter().copied().map(Self::Request);
        let calls = CallReason::ALL.iter().copied().map(Self::Call);
        let signers = SignerReason::ALL.iter().copied().map(Self::Signer);
        let of_others = requests.chain(contents).chain(calls).chain(signers);
        bundles.chain(keys).chain(commands).chain(of_others)
    }

    /// Returns the code without its `E`.
    pub const fn number(self) -> u16 {
        match self {
            Self::Bundle(reason) => reason as u16,
            Self::Key(reason) => reason as u16,
            Self::Command(reason) => reason as u16,
            Self::Request(reason) => reason as u16,
            Self::Call(reason) => reason as u16,
            Self::Signer(reason) => reason as u16,
        }
    }

    /// Returns the code: `E` and four digits.
    pub fn code(self) -> String {
        format!("E{:04}", self.number())
    }

    /// Returns a description of the fault, in one sentence.
    pub fn title(self) -> &'static str {
        of_either!(self, title)
    }

    /// Returns advice for the user.
    pub fn hint(self) -> &'static str {
        of_either!(self, hint)
    }

    /// Returns the purpose of the rule that was broken.
    pub const fn why(self) -> &'static str {
        of_either!(self, why)
    }

    /// Returns the name of the enum variant.
    pub const fn name(self) -> &'static str {
        of_either!(self, name)
    }

    /// Returns the specification and the section of the rule.
    pub const fn spec(self) -> &'static str {
        of_either!(self, spec)
    }

    /// Returns the party that has to act.
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

impl From<SignerReason> for AnyReason {
    fn from(reason: SignerReason) -> Self {
        Self::Signer(reason)
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
        let of_others = RequestReason::ALL.len() + CallReason::ALL.len() + SignerReason::ALL.len();
        assert_eq!(numbers.len(), Reason::ALL.len() + of_files + of_others);
    }
}
