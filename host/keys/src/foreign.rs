//! Forms of other tools that are recognised and not read, each with the command that makes a key file of it.

use super::KeyReason;

/// A file in a form that is not read. `FILE` in a text stands for its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignForm {
    /// No bytes, or white space alone.
    Empty,
    /// PEM in UTF-16, as a shell of Windows writes it. The value is true if the file has no byte order mark.
    Utf16(bool),
    /// PEM in one line, with `\n` as two characters where a line ended.
    Escaped,
    /// A certificate; true if it is in DER.
    Certificate(bool),
    /// A request of a certificate; true if it is in DER.
    CertificateRequest(bool),
    /// A PKCS#12 container (RFC 7292), in DER or BER.
    Pkcs12,
    /// The parameters of a curve, without a key.
    CurveAlone,
    /// A class key, which decrypts payloads and signs nothing.
    ClassKey,
    /// Another key, where a class key is expected.
    NoClassKey,
    /// A private EC key whose curve is given by its numbers and not by its name.
    PrivateCurveInNumbers,
    /// A public EC key of that kind.
    PublicCurveInNumbers,
    /// A private key of OpenSSH with a passphrase.
    LockedOpenSsh,
    /// A key that is in a security key (FIDO), for OpenSSH.
    SecurityKey,
    /// A certificate of OpenSSH.
    OpenSshCertificate,
    /// A line or a private key of OpenSSH that breaks the rules of its form.
    BrokenOpenSsh,
}

impl ForeignForm {
    /// Returns the reason code.
    pub(crate) const fn reason(self) -> KeyReason {
        match self {
            Self::Empty | Self::Utf16(_) | Self::Escaped => KeyReason::NotPem,
            Self::Certificate(_)
            | Self::CertificateRequest(_)
            | Self::Pkcs12
            | Self::CurveAlone
            | Self::ClassKey
            | Self::NoClassKey
            | Self::PrivateCurveInNumbers
            | Self::PublicCurveInNumbers => KeyReason::WrongLabel,
            Self::LockedOpenSsh
            | Self::SecurityKey
            | Self::OpenSshCertificate
            | Self::BrokenOpenSsh => KeyReason::OpenSsh,
        }
    }

    /// Returns what the file is, as the continuation of a sentence that begins with its name.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Empty => "is empty",
            Self::Utf16(_) => "is text in UTF-16, and PEM is read in UTF-8",
            Self::Escaped => "is PEM with `\\n` as two characters in the place of line ends",
            Self::Certificate(_) => "is a certificate, and no key",
            Self::CertificateRequest(_) => "is a request of a certificate, and no key",
            Self::Pkcs12 => "is a PKCS#12 container, which is not read",
            Self::CurveAlone => "names a curve, and has no key",
            Self::ClassKey => "is a class key, which encrypts payloads, and no key for signatures",
            Self::NoClassKey => "holds no class key",
            Self::PrivateCurveInNumbers | Self::PublicCurveInNumbers => {
                "has an EC key whose curve is given in numbers, and not by its name"
            }
            Self::LockedOpenSsh => "is a private key of OpenSSH with a passphrase",
            Self::SecurityKey => "is a key in a security key, which signs for OpenSSH only",
            Self::OpenSshCertificate => "is a certificate of OpenSSH, and no key",
            Self::BrokenOpenSsh => "is a key of OpenSSH that breaks a rule of its form",
        }
    }

    /// Returns the advice of what to do.
    pub(crate) const fn hint(self) -> &'static str {
        match self {
            Self::Empty => {
                "check that this is the file that you mean, and that what wrote it has ended"
            }
            Self::Utf16(false) => {
                "convert it: `umask 077; iconv -f UTF-16 -t UTF-8 FILE > converted.pem`"
            }
            Self::Utf16(true) => {
                "convert it: `umask 077; iconv -f UTF-16LE -t UTF-8 FILE > converted.pem`"
            }
            Self::Escaped => {
                "put the line ends back: `umask 077; printf '%b' \"$(cat FILE)\" > converted.pem`"
            }
            Self::Certificate(false) => {
                "take the public key out of it: `openssl x509 -in FILE -noout -pubkey > cert.pub.pem`"
            }
            Self::Certificate(true) => {
                "take the public key out of it: `openssl x509 -inform DER -in FILE -noout -pubkey > cert.pub.pem`"
            }
            Self::CertificateRequest(false) => {
                "take the public key out of it: `openssl req -in FILE -noout -pubkey > request.pub.pem`"
            }
            Self::CertificateRequest(true) => {
                "take the public key out of it: `openssl req -inform DER -in FILE -noout -pubkey > request.pub.pem`"
            }
            Self::Pkcs12 => {
                "take the private key out of it: `openssl pkcs12 -in FILE -nocerts -nodes -out unpacked.pem`; a container with \
                 an old encryption needs `-legacy` too"
            }
            Self::CurveAlone => {
                "give the file with the key: this one has only the name of its curve"
            }
            Self::ClassKey => {
                "give a class key to `--encrypt` or `--decrypt-with`, and here the key that signs"
            }
            Self::NoClassKey => "give a file that `hartlock keygen --class` wrote",
            Self::PrivateCurveInNumbers => {
                "name the curve: `openssl pkey -in FILE -ec_param_enc named_curve -out named.pem`"
            }
            Self::PublicCurveInNumbers => {
                "name the curve: `openssl pkey -pubin -in FILE -ec_param_enc named_curve -pubout -out named.pub.pem`"
            }
            Self::LockedOpenSsh => {
                "make a copy without the passphrase, `install -m 600 FILE unlocked.key && ssh-keygen -p -N '' -f \
                 unlocked.key`, encrypt it with `hartlock key convert unlocked.key --encrypt -o key.pem`, and remove \
                 the copy"
            }
            Self::SecurityKey => {
                "give a key in a file: `hartlock keygen --help` names the algorithms"
            }
            Self::OpenSshCertificate => {
                "give the public key that it is about: the file of the same name without `-cert`"
            }
            Self::BrokenOpenSsh => "give one whole line of the file, or the whole private key",
        }
    }
}
