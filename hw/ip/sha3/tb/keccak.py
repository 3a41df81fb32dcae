"""The judge of what hashlib does not have: Keccak-p[1600] and its sponge (FIPS 202), KMAC (SP 800-185), TurboSHAKE
(RFC 9861). Tests compare it with hashlib and with published examples before they rely on it."""

from __future__ import annotations

MASK = (1 << 64) - 1


def _round_constants() -> list[int]:
    """Bits of a linear feedback shift register (FIPS 202, algorithm 5)."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            constant |= (register & 1) << ((1 << bit) - 1)
            register = register << 1 ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


CONSTANTS = _round_constants()


def rotate(lane: int, by: int) -> int:
    return (lane << by | lane >> (64 - by)) & MASK


def permute(lanes: list[int], rounds: int) -> list[int]:
    """Lane x + 5y of the state, after the last `rounds` of the 24 (FIPS 202 §3.3)."""
    for constant in CONSTANTS[24 - rounds :]:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        sums = [columns[x - 1] ^ rotate(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [lane ^ sums[at % 5] for at, lane in enumerate(lanes)]
        # ρ and π in one walk over the lanes.
        x, y, moved = 1, 0, lanes[1]
        for step in range(1, 25):
            x, y = y, (2 * x + 3 * y) % 5
            lanes[x + 5 * y], moved = rotate(moved, step * (step + 1) // 2 % 64), lanes[x + 5 * y]
        rows = [lanes[at : at + 5] for at in range(0, 25, 5)]
        lanes = [row[x] ^ ~row[(x + 1) % 5] & row[(x + 2) % 5] & MASK for row in rows for x in range(5)]
        lanes[0] ^= constant
    return lanes


def sponge(rate: int, suffix: int, message: bytes, size: int, rounds: int = 24) -> bytes:
    padded = bytearray(message + bytes([suffix]))
    padded += bytes(-len(padded) % rate)
    padded[-1] |= 0x80
    lanes = [0] * 25
    for block in range(0, len(padded), rate):
        for at in range(0, rate, 8):
            lanes[at // 8] ^= int.from_bytes(padded[block + at : block + at + 8], "little")
        lanes = permute(lanes, rounds)
    out = b""
    while True:
        out += b"".join(lane.to_bytes(8, "little") for lane in lanes)[:rate]
        if len(out) >= size:
            return out[:size]
        lanes = permute(lanes, rounds)


def _number(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def left_encode(value: int) -> bytes:
    """SP 800-185 §2.3.1."""
    return bytes([len(_number(value))]) + _number(value)


def right_encode(value: int) -> bytes:
    return _number(value) + bytes([len(_number(value))])


def encode_string(string: bytes) -> bytes:
    return left_encode(8 * len(string)) + string


def bytepad(string: bytes, rate: int) -> bytes:
    padded = left_encode(rate) + string
    return padded + bytes(-len(padded) % rate)


def kmac_header(rate: int, customization: bytes = b"") -> bytes:
    """What cSHAKE puts before the message of KMAC (§3.3, §4.3)."""
    return bytepad(encode_string(b"KMAC") + encode_string(customization), rate)


def kmac(rate: int, key: bytes, message: bytes, size: int, customization: bytes = b"") -> bytes:
    whole = kmac_header(rate, customization) + bytepad(encode_string(key), rate)
    return sponge(rate, 0x04, whole + message + right_encode(8 * size), size)
