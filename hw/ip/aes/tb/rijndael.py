"""The judge: AES (FIPS 197) and its modes (SP 800-38A, 38D, 38F), from their definitions.

It shares nothing with the engine: the S-box comes from discrete logarithms, GHASH from whole numbers.
"""

from __future__ import annotations

from functools import cache

BLOCK = 16
# SP 800-38F §6.2.
KW_IV = b"\xa6" * 8


def _tables() -> tuple[bytes, bytes]:
    """3 generates the field's group: the inverse of its power n is the power 255 - n."""
    powers, value = [], 1
    for _ in range(255):
        powers.append(value)
        value ^= (value << 1) ^ (0x11B if value & 0x80 else 0)
    box = bytearray(256)
    inverse = {0: 0} | {power: powers[-n % 255] for n, power in enumerate(powers)}
    for byte, inv in inverse.items():
        twice = inv | inv << 8
        box[byte] = 0x63 ^ inv ^ (twice >> 7 ^ twice >> 6 ^ twice >> 5 ^ twice >> 4) & 0xFF
    back = bytearray(256)
    for byte, out in enumerate(box):
        back[out] = byte
    return bytes(box), bytes(back)


SBOX, INVERSE = _tables()


def xtime(a: int) -> int:
    return a << 1 ^ (0x11B if a & 0x80 else 0)


def times(a: int, factor: int) -> int:
    out = 0
    while factor:
        if factor & 1:
            out ^= a
        a, factor = xtime(a), factor >> 1
    return out


MULTIPLES = {factor: bytes(times(a, factor) for a in range(256)) for factor in (1, 2, 3, 9, 11, 13, 14)}


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=False))


@cache
def schedule(key: bytes) -> list[bytes]:
    """Round keys (§5.2)."""
    count = len(key) // 4
    words = [key[at : at + 4] for at in range(0, len(key), 4)]
    rcon = 1
    for index in range(count, 4 * (count + 7)):
        word = words[-1]
        if index % count == 0:
            word = bytes(SBOX[byte] for byte in word[1:] + word[:1])
            word, rcon = bytes([word[0] ^ rcon]) + word[1:], xtime(rcon)
        elif count == 8 and index % count == 4:
            word = bytes(SBOX[byte] for byte in word)
        words.append(xor(words[-count], word))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def mix(state: bytes, row: tuple[int, ...]) -> bytes:
    tables = [MULTIPLES[factor] for factor in row]
    out = bytearray()
    for column in range(0, 16, 4):
        for r in range(4):
            byte = 0
            for k in range(4):
                byte ^= tables[(k - r) % 4][state[column + k]]
            out.append(byte)
    return bytes(out)


def encrypt(key: bytes, block: bytes) -> bytes:
    keys = schedule(key)
    state = xor(block, keys[0])
    for number, round_key in enumerate(keys[1:], 1):
        state = bytes(SBOX[state[(4 * (at // 4 + at % 4) + at % 4) % 16]] for at in range(16))
        if number < len(keys) - 1:
            state = mix(state, (2, 3, 1, 1))
        state = xor(state, round_key)
    return state


def decrypt(key: bytes, block: bytes) -> bytes:
    keys = schedule(key)
    state = xor(block, keys[-1])
    for number, round_key in enumerate(reversed(keys[:-1]), 1):
        state = bytes(INVERSE[state[(4 * (at // 4 - at % 4) + at % 4) % 16]] for at in range(16))
        state = xor(state, round_key)
        if number < len(keys) - 1:
            state = mix(state, (14, 11, 13, 9))
    return state


def blocks(text: bytes) -> list[bytes]:
    return [text[at : at + BLOCK] for at in range(0, len(text), BLOCK)]


def ecb(key: bytes, text: bytes, is_decryption: bool = False) -> bytes:
    cipher = decrypt if is_decryption else encrypt
    return b"".join(cipher(key, block) for block in blocks(text))


def cbc(key: bytes, iv: bytes, text: bytes, is_decryption: bool = False) -> bytes:
    out = []
    for block in blocks(text):
        if is_decryption:
            out.append(xor(decrypt(key, block), iv))
            iv = block
        else:
            iv = encrypt(key, xor(block, iv))
            out.append(iv)
    return b"".join(out)


def ctr(key: bytes, counter: bytes, text: bytes, width: int = 128) -> bytes:
    """Only the last `width` bits count."""
    out, number = [], int.from_bytes(counter, "big")
    high = number >> width << width
    for index, block in enumerate(blocks(text)):
        value = high | (number + index) % (1 << width)
        out.append(xor(block, encrypt(key, value.to_bytes(16, "big"))))
    return b"".join(out)


def ghash(subkey: bytes, text: bytes) -> bytes:
    """SP 800-38D §6.4, of whole blocks; bit 0 of a block is the highest of the number."""
    h, y = int.from_bytes(subkey, "big"), 0
    for block in blocks(text):
        x, z, v = y ^ int.from_bytes(block, "big"), 0, h
        for bit in range(127, -1, -1):
            z ^= v if x >> bit & 1 else 0
            v = v >> 1 ^ (0xE1 << 120 if v & 1 else 0)
        y = z
    return y.to_bytes(16, "big")


def padded(text: bytes) -> bytes:
    return text + bytes(-len(text) % BLOCK)


def gcm(key: bytes, iv: bytes, aad: bytes, text: bytes, is_decryption: bool = False) -> tuple[bytes, bytes]:
    """The other text, and the tag."""
    h = encrypt(key, bytes(16))
    if len(iv) == 12:
        j0 = iv + b"\0\0\0\1"
    else:
        j0 = ghash(h, padded(iv) + (8 * len(iv)).to_bytes(16, "big"))
    first = (int.from_bytes(j0[12:], "big") + 1) % (1 << 32)
    other = ctr(key, j0[:12] + first.to_bytes(4, "big"), text, 32)
    lengths = (8 * len(aad)).to_bytes(8, "big") + (8 * len(text)).to_bytes(8, "big")
    digest = ghash(h, padded(aad) + padded(text if is_decryption else other) + lengths)
    return other, xor(digest, encrypt(key, j0))


def wrap(key: bytes, secret: bytes) -> bytes:
    """SP 800-38F §6.1."""
    a, parts = KW_IV, [secret[at : at + 8] for at in range(0, len(secret), 8)]
    for step in range(6 * len(parts)):
        out = encrypt(key, a + parts[step % len(parts)])
        a = xor(out[:8], (step + 1).to_bytes(8, "big"))
        parts[step % len(parts)] = out[8:]
    return a + b"".join(parts)


def unwrap(key: bytes, wrapped: bytes) -> bytes | None:
    """Nothing if it is no key that was wrapped with this one."""
    a, *parts = [wrapped[at : at + 8] for at in range(0, len(wrapped), 8)]
    for step in reversed(range(6 * len(parts))):
        out = decrypt(key, xor(a, (step + 1).to_bytes(8, "big")) + parts[step % len(parts)])
        a, parts[step % len(parts)] = out[:8], out[8:]
    return b"".join(parts) if a == KW_IV else None
