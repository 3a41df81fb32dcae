//! The loops that models are asked about, and the cores that have a model for them.

use super::cut::Cut;

pub const OURS: &str = "hartlock";
pub const OPENSSL: &str = "openssl";

/// The file that a loop is cut out of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The linked bench.
    Bench,
    /// OpenSSL's hashes, compiled for a hart of `lab/src/peers/libraries.rs`.
    Hashes(&'static str),
    /// OpenSSL's ciphers.
    Ciphers,
}

/// A loop of a kernel.
pub struct Loop {
    pub code: Code,
    /// The algorithm, and the extension that the kernel uses. Loops of different projects with the same name do the same
    /// work.
    pub name: &'static str,
    pub cut: Cut,
    /// Bytes that a turn processes. Vector registers have 128 bits, as those of the cores have.
    pub bytes: f64,
    pub cores: &'static [&'static str],
    /// True if instructions of Zknh are replaced by rotations: no model has costs for them.
    pub has_stand_in: bool,
}

impl Loop {
    pub fn who(&self) -> &'static str {
        if self.code == Code::Bench { OURS } else { OPENSSL }
    }
}

/// Cores without Zbb.
const SCALAR: &[&str] = &["rocket-rv64", "sifive-u74"];
/// Cores with Zbb.
const ZBB: &[&str] = &["sifive-p550", "spacemit-x60", "tt-ascalon-d8", "xiangshan-nanhu"];
/// The only core that has Zbkb and Zbkc together with a model for them.
const ZBKC: &[&str] = &["xiangshan-nanhu"];
/// Cores whose models have vector crypto.
const VECTOR_CRYPTO: &[&str] = &["sifive-p470", "sifive-p670", "sifive-p870"];

/// Cores without a model of a loop: the core, the loop, and the reason. That the analyser refuses them is checked,
/// with every extension switched on.
pub const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("sifive-x280", "SHA-256, Zvknha", NO_VECTOR_CRYPTO),
    ("sifive-x390", "SHA-256, Zvknha", NO_VECTOR_CRYPTO),
    ("sifive-x280", "Keccak, Zvbb", NO_ROTATION),
    ("sifive-x390", "Keccak, Zvbb", NO_ROTATION),
    ("andes-ax45mpv", "SHA-256, Zvknha", NO_VECTOR_CRYPTO),
    ("andes-ax45mpv", "Keccak, Zvbb", NO_ROTATION),
    ("spacemit-x60", "SHA-256, Zvknha", NO_VECTOR_CRYPTO),
    ("spacemit-x60", "Keccak, Zvbb", NO_ROTATION),
    ("tt-ascalon-d8", "SHA-256, Zvknha", NO_VECTOR_CRYPTO),
    ("tt-ascalon-d8", "Keccak, Zvbb", NO_ROTATION),
    ("xiangshan-kunminghu", "SHA-256, Zbb", NO_MODEL),
    ("veyron-v1", "SHA-256, Zbb", NO_MODEL),
    ("xiangshan-nanhu", ZKNH_256, NO_ZKNH),
    ("xiangshan-nanhu", "AES-256-CTR, Zkne", NO_ZKNE),
];

const NO_VECTOR_CRYPTO: &str = "left out: its model has no vector crypto";
const NO_ROTATION: &str = "left out: its model has no rotation of vector elements";
const NO_MODEL: &str = "left out: the core has a name in LLVM and no model";
const NO_ZKNH: &str = "left out: no model has costs of Zknh, so the other rows of this loop have rotations in place of \
     its instructions";
const NO_ZKNE: &str = "left out: no model has costs of Zkne";

/// The end of the name of a loop that has rotations in place of Zknh.
pub const STAND_IN: &str = " as rotations";
const ZKNH_256: &str = "SHA-256, Zknh as rotations";
const ZKNH_512: &str = "SHA-512, Zknh as rotations";

/// Bytes that SHA3-256 absorbs by a permutation, and rounds of a permutation.
const RATE: f64 = 136.0;
const KECCAK_ROUNDS: f64 = 24.0;

const fn new(
    code: Code,
    name: &'static str,
    bytes: f64,
    cores: &'static [&'static str],
    cut: Cut,
) -> Loop {
    Loop { code, name, cut, bytes, cores, has_stand_in: false }
}

/// A loop with vectors.
const fn vector(
    code: Code,
    name: &'static str,
    bytes: f64,
    vtype: &'static str,
    (label, branch): (&'static str, usize),
    work: (&'static str, usize),
) -> Loop {
    let cut = Cut { label, branch, inner: None, work, vtype };
    new(code, name, bytes, VECTOR_CRYPTO, cut)
}

/// A block of SHA-2 by our scalar kernels: a loop of 16 rounds with schedule in it, and 16 rounds after that.
const fn block(
    name: &'static str,
    label: &'static str,
    bytes: f64,
    turns: usize,
    work: (&'static str, usize),
    cores: &'static [&'static str],
) -> Loop {
    let cut = Cut { label, branch: 1, inner: Some((0, turns)), work, vtype: "" };
    new(Code::Bench, name, bytes, cores, cut)
}

/// A scalar loop without a loop inside.
const fn scalar(
    code: Code,
    name: &'static str,
    bytes: f64,
    label: &'static str,
    work: (&'static str, usize),
    cores: &'static [&'static str],
) -> Loop {
    new(code, name, bytes, cores, Cut { label, branch: 0, inner: None, work, vtype: "" })
}

const fn with_stand_in(it: Loop) -> Loop {
    Loop { has_stand_in: true, ..it }
}

/// Work that shows how much a turn does: SHA-256 has 6 rotations a round and 4 in each of 48 steps of the schedule, SHA-512
/// the same in 80 rounds and 64 steps, Keccak 29 a round. Zvknh has two rounds in an instruction. AES-256 has 13 inner
/// rounds, for as many blocks as a group of registers holds.
pub const LOOPS: &[Loop] = &[
    block("SHA-256, rv64", "hartlock_sha256_rv64", 64.0, 3, ("srliw", 96), SCALAR),
    scalar(
        Code::Hashes("zvknh-128"),
        "SHA-256, rv64",
        64.0,
        "sha256_block_data_order_riscv64",
        ("srliw", 672),
        SCALAR,
    ),
    scalar(
        Code::Bench,
        "Keccak, rv64",
        4.0 * RATE / KECCAK_ROUNDS,
        "hartlock_keccak_rv64",
        ("slli", 116),
        SCALAR,
    ),
    block("SHA-256, Zbb", "hartlock_sha256_rv64_zbb", 64.0, 3, ("roriw", 576), ZBB),
    scalar(
        Code::Hashes("zvknh-128"),
        "SHA-256, Zbb",
        64.0,
        "sha256_block_data_order_zbb",
        ("roriw", 576),
        ZBB,
    ),
    block("SHA-512, Zbb", "hartlock_sha512_rv64_zbb", 128.0, 4, ("rori", 736), ZBB),
    scalar(
        Code::Hashes("zvknh-128"),
        "SHA-512, Zbb",
        128.0,
        "sha512_block_data_order_zbb",
        ("rori", 736),
        ZBB,
    ),
    scalar(
        Code::Bench,
        "Keccak, Zbb",
        4.0 * RATE / KECCAK_ROUNDS,
        "hartlock_keccak_rv64_zbb",
        ("rori", 116),
        ZBB,
    ),
    scalar(
        Code::Hashes("zbb"),
        "Keccak, Zbb",
        2.0 * RATE / KECCAK_ROUNDS,
        "KeccakF1600",
        ("rori", 58),
        ZBB,
    ),
    with_stand_in(block(ZKNH_256, "hartlock_sha256_rv64_zknh", 64.0, 3, ("sha256", 224), ZBB)),
    with_stand_in(block(ZKNH_512, "hartlock_sha512_rv64_zknh", 128.0, 4, ("sha512", 288), ZBB)),
    scalar(Code::Bench, "GHASH, Zbkc", 16.0, "hartlock_ghash_rv64_zbkc", ("clmul", 10), ZBKC),
    scalar(Code::Ciphers, "GHASH, Zbkc", 16.0, "gcm_ghash_rv64i_zbc__zbkb", ("clmul", 12), ZBKC),
    // No model has this one. It is cut for the row that says so.
    new(
        Code::Bench,
        "AES-256-CTR, Zkne",
        64.0,
        &[],
        Cut {
            label: "hartlock_aes_ctr_rv64_zkne",
            branch: 1,
            inner: None,
            work: ("aes64esm", 104),
            vtype: "",
        },
    ),
    vector(
        Code::Bench,
        "SHA-256, Zvknha",
        64.0,
        "e32, m1",
        ("hartlock_sha256_rv64_zvknha", 0),
        ("vsha2c", 32),
    ),
    vector(
        Code::Hashes("zvknh-128"),
        "SHA-256, Zvknha",
        64.0,
        "e32, m1",
        ("sha256_block_data_order_zvkb_zvknha_or_zvknhb", 0),
        ("vsha2c", 32),
    ),
    vector(
        Code::Bench,
        "SHA-512, Zvknhb",
        128.0,
        "e64, m2",
        ("hartlock_sha512_rv64_zvknhb", 0),
        ("vsha2c", 40),
    ),
    vector(
        Code::Hashes("zvknh-128"),
        "SHA-512, Zvknhb",
        128.0,
        "e64, m2",
        ("sha512_block_data_order_zvkb_zvknhb_zvl128", 0),
        ("vsha2c", 40),
    ),
    // Two lanes of 64 bits.
    vector(
        Code::Bench,
        "Keccak, Zvbb",
        2.0 * 2.0 * RATE / KECCAK_ROUNDS,
        "e64, m1",
        ("hartlock_keccak_rv64_zvbb", 0),
        ("vror.vi", 58),
    ),
    vector(
        Code::Bench,
        "AES-256-CTR, Zvkned",
        128.0,
        "e32, m4",
        ("hartlock_aes_ctr_rv64_zvkned", 0),
        ("vaesem.vs", 26),
    ),
    vector(
        Code::Ciphers,
        "AES-256-CTR, Zvkned",
        64.0,
        "e32, m4",
        ("ctr32_encrypt_blocks_256", 0),
        ("vaesem.vs", 13),
    ),
    vector(
        Code::Bench,
        "AES-256-GCM, Zvkg",
        64.0,
        "e32, m4",
        ("hartlock_aes_gcm_rv64_zvkg", 1),
        ("vaesem.vs", 13),
    ),
    vector(
        Code::Ciphers,
        "AES-256-GCM, Zvkg",
        64.0,
        "e32, m4",
        ("aes_gcm_dec_blocks_256", 0),
        ("vaesem.vs", 13),
    ),
    vector(
        Code::Bench,
        "GHASH, Zvkg",
        64.0,
        "e32, m4",
        ("hartlock_ghash_rv64_zvkg", 1),
        ("vghsh.vv", 1),
    ),
    vector(
        Code::Ciphers,
        "GHASH, Zvkg",
        16.0,
        "e32, m1",
        ("gcm_ghash_rv64i_zvkg", 0),
        ("vghsh.vv", 1),
    ),
    // A group of four blocks, with two products of each half; a block, by four products that are not reduced and more.
    vector(
        Code::Bench,
        "GHASH, Zvbc",
        64.0,
        "e64, m4",
        ("hartlock_ghash_rv64_zvbc", 1),
        ("vclmul", 6),
    ),
    vector(
        Code::Ciphers,
        "GHASH, Zvbc",
        16.0,
        "e64, m1",
        ("gcm_ghash_rv64i_zvkb_zvbc", 0),
        ("vclmul", 7),
    ),
];
