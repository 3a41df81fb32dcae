//! The list of measured algorithms and harts.

/// An algorithm with the parameters with which it is measured.
#[derive(Debug)]
pub struct Algorithm {
    /// Name in the image format (§2.2), or in known-answer cases (spec/kat.md).
    pub name: &'static str,
    /// Name that is shown to readers.
    pub title: &'static str,
    /// Feature of this project's program; `None` if `verif/programs/footprint/src/algorithm.rs`
    /// does not have the algorithm.
    pub feature: Option<&'static str>,
    /// Features of `lab/signatures/peers`, which are implementations of other projects. Names that
    /// begin with `openssl`, `wolfssl` or `aws-lc` are C libraries.
    pub peers: &'static [&'static str],
}

/// All algorithms in the order of the table.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "ed25519",
        title: "Ed25519",
        feature: Some("ed25519"),
        peers: &[
            "ed25519-dalek",
            "ed25519-compact",
            "openssl-ed25519",
            "wolfssl-ed25519",
            "aws-lc-ed25519",
        ],
    },
    Algorithm {
        name: "ed25519-key-pair",
        title: "Ed25519, key pair",
        feature: Some("ed25519-key-pair"),
        peers: &[],
    },
    Algorithm {
        name: "ed25519-sign",
        title: "Ed25519, key pair, signature and its verification",
        feature: Some("ed25519-sign"),
        peers: &[],
    },
    Algorithm {
        name: "ecdsa-p256",
        title: "ECDSA P-256",
        feature: Some("ecdsa-p256"),
        peers: &["p256", "openssl-p256", "wolfssl-p256", "aws-lc-p256"],
    },
    Algorithm {
        name: "ecdsa-p384",
        title: "ECDSA P-384",
        feature: Some("ecdsa-p384"),
        peers: &["p384", "openssl-p384", "wolfssl-p384", "aws-lc-p384"],
    },
    Algorithm {
        name: "rsa-pss-3072-sha384",
        title: "RSA-PSS-3072, SHA-384",
        feature: Some("rsa"),
        peers: &["rsa", "openssl-rsa", "wolfssl-rsa", "aws-lc-rsa"],
    },
    Algorithm {
        name: "lms-sha256-h10-w4",
        title: "LMS-SHA256 H10/W4",
        feature: Some("lms"),
        peers: &["hbs-lms", "openssl-lms", "wolfssl-lms"],
    },
    Algorithm {
        name: "xmss-sha2-10-256",
        title: "XMSS-SHA2_10_256",
        feature: Some("xmss"),
        peers: &["wolfssl-xmss"],
    },
    Algorithm {
        name: "ml-dsa-44",
        title: "ML-DSA-44",
        feature: Some("ml-dsa"),
        peers: &[
            "ml-dsa-44",
            "fips204-44",
            "libcrux-ml-dsa-44",
            "openssl-ml-dsa-44",
            "wolfssl-ml-dsa-44",
            "aws-lc-ml-dsa-44",
        ],
    },
    Algorithm {
        name: "ml-dsa-65",
        title: "ML-DSA-65",
        feature: Some("ml-dsa"),
        peers: &[
            "ml-dsa-65",
            "fips204-65",
            "libcrux-ml-dsa-65",
            "openssl-ml-dsa-65",
            "wolfssl-ml-dsa-65",
            "aws-lc-ml-dsa-65",
        ],
    },
    Algorithm {
        name: "ml-dsa-87",
        title: "ML-DSA-87",
        feature: Some("ml-dsa"),
        peers: &[
            "ml-dsa-87",
            "fips204-87",
            "libcrux-ml-dsa-87",
            "openssl-ml-dsa-87",
            "wolfssl-ml-dsa-87",
            "aws-lc-ml-dsa-87",
        ],
    },
    Algorithm {
        name: "slh-dsa-sha2-128s",
        title: "SLH-DSA-SHA2-128s",
        feature: Some("slh-dsa"),
        peers: &["slh-dsa", "fips205", "openssl-slh-dsa", "wolfssl-slh-dsa"],
    },
];

/// Harts of `cargo xtask kernels` on which instructions are counted. Bounds and growth are checked
/// on each; peers run on the first.
pub const HARTS: &[&str] = &["rv64", "zknh", "zvbb-128", "zvknh-128"];
