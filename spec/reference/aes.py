"""AES-256 in counter mode and AES key wrap, written from FIPS 197, SP 800-38A §6.5 and RFC 3394. Slow, and not in
constant time: for the judgement of files on a workstation.
"""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 14


def _times(a: int, b: int) -> int:
    """The product in GF(2^8) (FIPS 197 §4.2)."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
    return product


def _substitution() -> bytes:
    """The table of SubBytes (FIPS 197 §5.1.1): the inverse, then the affine map."""
    table = bytearray(256)
    for value in range(256):
        inverse = next((it for it in range(256) if _times(value, it) == 1), 0)
        rotated = [inverse << k | inverse >> 8 - k for k in range(5)]
        table[value] = (rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63) & 0xFF
    return bytes(table)


S = _substitution()
S_BACK = bytes(S.index(value) for value in range(256))
MIX = [bytes(_times(value, factor) for value in range(256)) for factor in (2, 3)]
MIX_BACK = [bytes(_times(value, factor) for value in range(256)) for factor in (14, 11, 13, 9)]
# Where byte i of a state comes from (FIPS 197 §5.1.2, §5.3.1): row i mod 4 of four columns.
SHIFT = [(i + 4 * (i % 4)) % 16 for i in range(16)]
SHIFT_BACK = [(i - 4 * (i % 4)) % 16 for i in range(16)]


def expand(key: bytes) -> list[bytes]:
    """The round keys of a key of 32 bytes (FIPS 197 §5.2)."""
    if len(key) != 32:
        raise ValueError("a key of AES-256 has 32 bytes")
    words = [key[at : at + 4] for at in range(0, 32, 4)]
    constant = 1
    for i in range(8, 4 * (ROUNDS + 1)):
        word = words[-1]
        if i % 8 == 0:
            word = bytes(S[it] for it in word[1:] + word[:1])
            word = bytes((word[0] ^ constant,)) + word[1:]
            constant = _times(constant, 2)
        elif i % 8 == 4:
            word = bytes(S[it] for it in word)
        words.append(_xor(words[-8], word))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def encrypt(keys: Sequence[bytes], block: bytes) -> bytes:
    """One block (FIPS 197 §5.1)."""
    two, three = MIX
    state = _xor(block, keys[0])
    for key in keys[1:-1]:
        s = [S[state[at]] for at in SHIFT]
        mixed = bytearray()
        for c in range(0, 16, 4):
            a, b, d, e = s[c : c + 4]
            mixed += bytes(
                (two[a] ^ three[b] ^ d ^ e, a ^ two[b] ^ three[d] ^ e)
                + (a ^ b ^ two[d] ^ three[e], three[a] ^ b ^ d ^ two[e])
            )
        state = _xor(mixed, key)
    return _xor(bytes(S[state[at]] for at in SHIFT), keys[-1])


def decrypt(keys: Sequence[bytes], block: bytes) -> bytes:
    """One block (FIPS 197 §5.3)."""
    state = _xor(block, keys[-1])
    for key in reversed(keys[1:-1]):
        s = _xor(bytes(S_BACK[state[at]] for at in SHIFT_BACK), key)
        mixed = bytearray(16)
        for i in range(16):
            column = i - i % 4
            for k, factor in enumerate(MIX_BACK):
                mixed[i] ^= factor[s[column + (i + k) % 4]]
        state = bytes(mixed)
    return _xor(bytes(S_BACK[state[at]] for at in SHIFT_BACK), keys[0])


def counter_mode(key: bytes, data: bytes) -> bytes:
    """Encrypts or decrypts with a counter of 16 bytes that begins at 0 (SP 800-38A §6.5)."""
    keys = expand(key)
    stream = (encrypt(keys, number.to_bytes(16, "big")) for number in range((len(data) + 15) // 16))
    return _xor(data, b"".join(stream)[: len(data)])


def unwrap(key: bytes, wrapped: bytes) -> bytes | None:
    """The key that was wrapped (RFC 3394 §2.2.2), or None if it was not wrapped by this one."""
    keys = expand(key)
    check, parts = wrapped[:8], [wrapped[at : at + 8] for at in range(8, len(wrapped), 8)]
    for j in reversed(range(6)):
        for i in reversed(range(len(parts))):
            step = (len(parts) * j + i + 1).to_bytes(8, "big")
            block = decrypt(keys, _xor(check, step) + parts[i])
            check, parts[i] = block[:8], block[8:]
    return b"".join(parts) if check == b"\xa6" * 8 else None
