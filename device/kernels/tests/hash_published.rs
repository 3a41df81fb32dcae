//! Tests with the examples that are published with FIPS 180-4, FIPS 202, SP 800-185 and RFC 9861, and with cases for
//! the padding.

use hartlock_kernels::Hash;
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::parallelhash::{Root128, Root256, left_encode, right_encode};
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};

fn finish<H: Hash>(hash: H) -> String {
    let digest = hash.finalize();
    assert_eq!(digest.as_ref().len(), H::OUTPUT_LEN);
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks messages with their published digests.
fn published<H: Hash>(cases: [(&[u8], &str); 3]) {
    for (message, expected) in cases {
        let mut hash = H::new();
        hash.update(message);
        assert_eq!(finish(hash), expected, "{} bytes", message.len());
    }
}

const EMPTY: &[u8] = b"";
const ABC: &[u8] = b"abc";
/// A message that has two blocks of SHA-256 after padding.
const ALPHABET_448: &[u8] = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
/// A message that has two blocks of SHA-512 after padding.
const ALPHABET_896: &[u8] = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                              hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

#[test]
fn sha2_digests_are_the_published_ones() {
    published::<Sha256>([
        (EMPTY, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (ABC, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (ALPHABET_448, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ]);
    published::<Sha384>([
        (
            EMPTY,
            "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
        ),
        (
            ABC,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            ALPHABET_896,
            "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039",
        ),
    ]);
    published::<Sha512>([
        (
            EMPTY,
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        ),
        (
            ABC,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (
            ALPHABET_896,
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
        ),
    ]);
}

#[test]
fn sha3_digests_are_the_published_ones() {
    published::<Sha3_256>([
        (EMPTY, "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
        (ABC, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (ALPHABET_448, "41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376"),
    ]);
    published::<Sha3_384>([
        (
            EMPTY,
            "0c63a75b845e4f7d01107d852e4c2485c51a50aaaa94fc61995e71bbee983a2ac3713831264adb47fb6bd1e058d5f004",
        ),
        (
            ABC,
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
        ),
        (
            ALPHABET_896,
            "79407d3b5916b59c3e30b09822974791c313fb9ecc849e406f23592d04f625dc8c709b98b43b3852b337216179aa7fc7",
        ),
    ]);
    published::<Sha3_512>([
        (
            EMPTY,
            "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a615b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26",
        ),
        (
            ABC,
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
        (
            ALPHABET_896,
            "afebb2ef542e6579c50cad06d2e578f9f8dd6881d7dc824d26360feebf18a4fa73e3261122948efcfd492e74e82e2189ed0fb440d187f382270cb455f21dd185",
        ),
    ]);
}

#[test]
fn a_million_letters_in_uneven_pieces_give_the_published_digests() {
    fn check<H: Hash>(expected: &str) {
        let mut hash = H::new();
        let mut left = 1_000_000;
        let mut piece = 1;
        while left > 0 {
            let now = piece.min(left);
            hash.update(&vec![b'a'; now]);
            left -= now;
            piece = piece % 997 + 61;
        }
        assert_eq!(finish(hash), expected);
    }
    check::<Sha256>("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    check::<Sha384>(
        "9d0e1809716474cb086e834e310a4a1ced149e9c00f248527972cec5704c2a5b07b8b3dc38ecc4ebae97ddd87f3d8985",
    );
    check::<Sha512>(
        "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973ebde0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
    );
    check::<Sha3_256>("5c8875ae474a3634ba4fd55ec85bffd661f32aca75c6d699d0cdcb6c115891c1");
    check::<Sha3_384>(
        "eee9e24d78c1855337983451df97c8ad9eedf256c6334f8e948d252d5e0e76847aa0774ddb90a842190d2c558b4b8340",
    );
    check::<Sha3_512>(
        "3c3a876da14034ab60627c077bb98f7e120a2a5370212dffb3385a18d4f38859ed311d0a9d5141ce9cc5c66ee689b266a8aa18ace8282a0e0db596c90b0a7b87",
    );
}

/// Returns the repeated pattern 00 01 .. FA of RFC 9861 §5.
fn pattern(len: usize) -> Vec<u8> {
    (0..=0xfa).cycle().take(len).collect()
}

/// The examples are those of RFC 9861 §5 with an empty customization string and 32 bytes of output.
#[test]
fn kt128_digests_are_the_published_ones() {
    for (exponent, expected) in [
        (None, "1ac2d450fc3b4205d19da7bfca1b37513c0803577ac7167f06fe2ce1f0ef39e5"),
        (Some(0), "2bda92450e8b147f8a7cb629e784a058efca7cf7d8218e02d345dfaa65244a1f"),
        (Some(1), "6bf75fa2239198db4772e36478f8e19b0f371205f6a9a93a273f51df37122888"),
        (Some(2), "0c315ebcdedbf61426de7dcf8fb725d1e74675d7f5327a5067f367b108ecb67c"),
        (Some(3), "cb552e2ec77d9910701d578b457ddf772c12e322e4ee7fe417f92c758f0d59d0"),
        (Some(4), "8701045e22205345ff4dda05555cbb5c3af1a771c2b89baef37db43d9998b9fe"),
        (Some(5), "844d610933b1b9963cbdeb5ae3b6b05cc7cbd67ceedf883eb678a0a8e0371682"),
        (Some(6), "3c390782a8a4e89fa6367f72feaaf13255c8d95878481d3cd8ce85f58e880af8"),
    ] {
        let mut hash = Kt128::new();
        hash.update(&pattern(exponent.map_or(0, |it| 17usize.pow(it))));
        assert_eq!(finish(hash), expected, "17^{exponent:?} bytes");
    }
    for (len, expected) in [
        (8191, "1b577636f723643e990cc7d6a659837436fd6a103626600eb8301cd1dbe553d6"),
        (8192, "48f256f6772f9edfb6a8b661ec92dc93b95ebd05a08a17b39ae3490870c926c3"),
    ] {
        let mut hash = Kt128::new();
        hash.update(&pattern(len));
        assert_eq!(finish(hash), expected, "{len} bytes");
    }
}

/// Computes ParallelHash (SP 800-185 §6.3) from its leaves.
fn parallelhash<Leaf: Hash, Root: Hash>(message: &[u8], block_size: usize) -> String {
    let mut root = Root::new();
    root.update(left_encode(block_size as u64).as_ref());
    for block in message.chunks(block_size) {
        let mut leaf = Leaf::new();
        leaf.update(block);
        root.update(leaf.finalize().as_ref());
    }
    root.update(right_encode(message.len().div_ceil(block_size) as u64).as_ref());
    root.update(right_encode(8 * Root::OUTPUT_LEN as u64).as_ref());
    finish(root)
}

/// The examples are sample 1 of each strength from NIST's examples for SP 800-185, which have an empty customization
/// string.
#[test]
fn parallelhash_digests_are_the_published_ones() {
    let message: Vec<u8> = (0..3).flat_map(|row| 16 * row..16 * row + 8).collect();
    assert_eq!(
        parallelhash::<Shake128, Root128>(&message, 8),
        "ba8dc1d1d979331d3f813603c67f72609ab5e44b94a0b8f9af46514454a2b4f5"
    );
    assert_eq!(
        parallelhash::<Shake256, Root256>(&message, 8),
        "bc1ef124da34495e948ead207dd9842235da432d2bbc54b4c110e64c451105531b7f2a3e0ce055c02805e7c2de1fb746af97a1dd01f43b824e31b87612410429"
    );
}

#[test]
fn integers_are_encoded_as_sp_800_185_says() {
    for (value, digits) in [
        (0, &[0][..]),
        (1, &[1]),
        (255, &[255]),
        (256, &[1, 0]),
        (65_536, &[1, 0, 0]),
        (u64::MAX, &[255; 8]),
    ] {
        let len = [digits.len() as u8];
        assert_eq!(left_encode(value).as_ref(), [&len, digits].concat());
        assert_eq!(right_encode(value).as_ref(), [digits, &len].concat());
    }
}

#[test]
fn every_self_test_passes() {
    assert!(Sha256::self_test());
    assert!(Sha384::self_test());
    assert!(Sha512::self_test());
    assert!(Sha3_256::self_test());
    assert!(Sha3_384::self_test());
    assert!(Sha3_512::self_test());
    assert!(Shake128::self_test());
    assert!(Shake256::self_test());
    assert!(Kt128::self_test());
}
