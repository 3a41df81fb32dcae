"""An encoder of bundles for the tests of verify.py, right ones and ones with a fault.

"§" is a section of image-format.md. The signing keys are those of RFC 8032 §7.1, and no secret.
"""

from __future__ import annotations

import base64
import hashlib
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reference import ed25519, keccak
from verify import KeyRecord

# ----------------------------------------------------------------------
# Ed25519, the signer's side (RFC 8032 §5.1.5, §5.1.6)
# ----------------------------------------------------------------------

# secret key, public key, message, signature (RFC 8032 §7.1: TEST 1, 2, 3, SHA(abc))
RFC8032 = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970"
        "1cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613"
        "d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760"
        "984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c6"
        "6431e0303dca179c138ac17ad9bef1177331a704",
    ),
]


class Signer:
    """An Ed25519 key pair."""

    def __init__(self, seed: bytes) -> None:
        digest = hashlib.sha512(seed).digest()
        scalar = int.from_bytes(digest[:32], "little")
        self.scalar = scalar & ((1 << 254) - 8) | (1 << 254)
        self.prefix = digest[32:]
        self.public = ed25519.encode_point(ed25519.multiply(self.scalar, ed25519.BASE))

    def sign(self, message: bytes) -> bytes:
        r = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % ed25519.L
        encoded = ed25519.encode_point(ed25519.multiply(r, ed25519.BASE))
        k = int.from_bytes(hashlib.sha512(encoded + self.public + message).digest(), "little")
        return encoded + ((r + k * self.scalar) % ed25519.L).to_bytes(32, "little")

    @property
    def record(self) -> KeyRecord:
        return KeyRecord.of(1, 0, self.public)

    @property
    def pem(self) -> str:
        der = bytes.fromhex("302a300506032b6570032100") + self.public
        body = base64.b64encode(der).decode()
        return f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"


A, B, C, D = (Signer(bytes.fromhex(vector[0])) for vector in RFC8032)
E = Signer(b"\x05" * 32)


# ----------------------------------------------------------------------
# Encoder
# ----------------------------------------------------------------------

Edit = Callable[[bytearray], None]
HASH_NAMES = ["", "sha256", "sha384", "sha512", "sha3_256", "sha3_384", "sha3_512"]


def up(x: int, n: int) -> int:
    return -(-x // n) * n


def key_record(record: KeyRecord) -> bytes:
    return struct.pack("<II", record.algorithm, record.parameters) + record.key_id + bytes(8)


def block(algorithm: int, parameters: int, public: bytes, signature: bytes) -> bytes:
    head = struct.pack("<4I", algorithm, parameters, len(public), len(signature))
    public = public.ljust(up(len(public), 8), b"\0")
    return head + public + signature.ljust(up(len(signature), 8), b"\0")


@dataclass
class Item:
    """A payload to pack."""

    type: int
    data: bytes
    load: int
    entry: int = 0
    hash: int = 2
    block_size: int = 0
    memory: int | None = None
    mode: int | None = None

    def record(self, offset: int) -> bytes:
        mode = self.mode or (2 if self.block_size else 1)
        memory = up(len(self.data), 4096) if self.memory is None else self.memory
        rec = struct.pack("<4I", self.type, self.hash, mode, self.block_size)
        rec += struct.pack("<6Q", offset, len(self.data), self.load, memory, self.entry, 0)

        def h(*parts: bytes) -> bytes:
            if self.hash > 6:
                return keccak.kt128(parts)
            return hashlib.new(HASH_NAMES[self.hash], b"".join(parts)).digest()

        if mode == 1:
            digest = h(self.data)
        elif mode == 3:
            strength, size = (128, 32) if self.hash == 8 else (256, 64)
            digest = keccak.parallelhash(strength, self.data, self.block_size, size)
        else:
            step = self.block_size
            parts = [self.data[i : i + step] for i in range(0, len(self.data), step)]
            leaves = [h(b"HLKleaf0", struct.pack("<Q", i), part) for i, part in enumerate(parts)]
            sizes = struct.pack("<3Q", len(parts), len(self.data), step)
            digest = h(b"HLKroot0", sizes, h(b"HLKrec_0", rec), *leaves)
        return rec + digest.ljust(64, b"\0")


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def boot_items() -> list[Item]:
    return [
        Item(1, noise(5000), 0x8000_0000, entry=0x8000_0000, memory=0x4_0000),
        Item(2, noise(4096), 0x8020_0000, entry=0x8020_0000, hash=4),
        Item(3, noise(3000), 0x8040_0000, hash=1),
    ]


def system_items() -> list[Item]:
    return [
        Item(16, noise(9001), 0x8120_0000, entry=0x8120_0000, block_size=2048),
        Item(17, noise(4097), 0x8200_0000, block_size=1024, hash=6),
        Item(18, noise(2000), 0x8300_0000, hash=3),
    ]


def extension(type_: int, value: bytes) -> bytes:
    return struct.pack("<2I", type_, len(value)) + value


def names(board: bytes, soc: bytes) -> bytes:
    return board.ljust(32, b"\0") + soc.ljust(32, b"\0")


def trust(policy: int, records: Sequence[KeyRecord], carried: int = 2) -> bytes:
    return struct.pack("<2IQ", policy, len(records), carried) + b"".join(map(key_record, records))


def command_line(text: bytes) -> bytes:
    return struct.pack("<2I", len(text), 0) + text.ljust(up(len(text), 8), b"\0")


@dataclass
class Bundle:
    """Everything that goes into a bundle; the edits run before signing, after it, and last."""

    kind: str = "system"
    items: list[Item] = field(default_factory=system_items)
    signers: Sequence[Signer] = (A,)
    listed: Sequence[KeyRecord] | None = None  # signers of the manifest, if others
    extensions: bytes = b""
    closing: bytes = command_line(b"console=ttyS0")
    board: bytes = b"qemu-virt"
    extra_blocks: tuple[bytes, ...] = ()
    edit_region: Edit | None = None
    edit_area: Edit | None = None
    edit_file: Edit | None = None

    def build(self) -> bytes:
        listed = [s.record for s in self.signers] if self.listed is None else self.listed
        rest = self.extensions + self.closing
        signed_size = 256 + 64 * len(listed) + 128 * len(self.items) + len(rest)
        signatures_size = 112 * len(self.signers) + sum(map(len, self.extra_blocks))
        end = signed_size + signatures_size
        records, tail = b"", b""
        for item in self.items:
            offset = up(end, 4096)
            records += item.record(offset)
            tail += bytes(offset - end) + item.data
            end = offset + len(item.data)
        tail += bytes(up(end, 4096) - end)
        region = bytearray(b"HARTLOCK-BOOT-v1" if self.kind == "boot" else b"HARTLOCK-SYST-v1")
        region += struct.pack("<2I3Q", signed_size, signatures_size, up(end, 4096), 7, 1700000000)
        region += struct.pack("<4I", 0b011, len(listed), len(self.items), len(self.extensions))
        region += self.board.ljust(32, b"\0") + b"virt".ljust(32, b"\0")
        region += b"test bundle 1".ljust(64, b"\0") + bytes(64)
        region += b"".join(map(key_record, listed)) + records + rest
        assert len(region) == signed_size
        if self.edit_region:
            self.edit_region(region)
        message = bytes(region)
        blocks = [block(1, 0, s.public, s.sign(message)) for s in self.signers]
        area = bytearray(b"".join(blocks) + b"".join(self.extra_blocks))
        if self.edit_area:
            self.edit_area(area)
        whole = region + area + tail
        if self.edit_file:
            self.edit_file(whole)
        return bytes(whole)


def boot(**changes: object) -> Bundle:
    base = {"kind": "boot", "items": boot_items(), "closing": trust(1, [B.record, C.record])}
    return Bundle(**{**base, **changes})  # type: ignore[arg-type]


def put(offset: int, data: bytes) -> Edit:
    def edit(target: bytearray) -> None:
        at = offset if offset >= 0 else len(target) + offset
        target[at : at + len(data)] = data

    return edit


def put32(offset: int, value: int) -> Edit:
    return put(offset, struct.pack("<I", value))


def put64(offset: int, value: int) -> Edit:
    return put(offset, struct.pack("<Q", value))
