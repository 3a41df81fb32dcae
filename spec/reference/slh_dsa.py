"""SLH-DSA verification (FIPS 205), for verify.py and its tests.

:func:`verify` is the pure variant with a context, :func:`verify_internal` takes the message already
encoded. Algorithms and names are those of FIPS 205; lg_w is 4 in all twelve sets, so that len_2 is
3. A public key is PK.seed and PK.root, and every string of the right length is one.

The order of the faults: KEY, CONTEXT, LENGTH, MISMATCH.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from .faults import Fault
from .rsa import mgf1

W, LG_W, LEN_2 = 16, 4, 3

# Types of address (§4.2).
WOTS_HASH, WOTS_PK, TREE, FORS_TREE, FORS_ROOTS = range(5)


class Parameters(NamedTuple):
    """A row of Table 2, with the family of hashes."""

    family: str
    n: int
    h: int
    d: int
    a: int
    k: int

    @property
    def h_prime(self) -> int:
        return self.h // self.d

    @property
    def len_1(self) -> int:
        return 8 * self.n // LG_W

    @property
    def len(self) -> int:
        return self.len_1 + LEN_2

    @property
    def digest_parts(self) -> tuple[int, int, int]:
        """Bytes of the digest that go to FORS, to the tree index and to the leaf index; m in all
        (Algorithm 20, lines 9 to 11)."""
        md = (self.k * self.a + 7) // 8
        return md, (self.h - self.h_prime + 7) // 8, (self.h_prime + 7) // 8

    @property
    def public_key_size(self) -> int:
        return 2 * self.n

    @property
    def signature_size(self) -> int:
        return (1 + self.k * (1 + self.a) + self.h + self.d * self.len) * self.n


PARAMETERS: dict[str, Parameters] = {
    f"SLH-DSA-{family}-{name}": Parameters(family, *numbers)
    for family in ("SHA2", "SHAKE")
    for name, numbers in {
        "128s": (16, 63, 7, 12, 14),
        "128f": (16, 66, 22, 6, 33),
        "192s": (24, 63, 7, 14, 17),
        "192f": (24, 66, 22, 8, 33),
        "256s": (32, 64, 8, 14, 22),
        "256f": (32, 68, 17, 9, 35),
    }.items()
}


class Address(NamedTuple):
    """ADRS (§4.2). The last three words mean different things by type."""

    layer: int
    tree: int
    type: int
    first: int  # key pair address, or padding
    second: int = 0  # chain address, or tree height
    third: int = 0  # hash address, or tree index

    def encode(self) -> bytes:
        words = (self.type, self.first, self.second, self.third)
        tail = b"".join(word.to_bytes(4, "big") for word in words)
        return self.layer.to_bytes(4, "big") + self.tree.to_bytes(12, "big") + tail

    def compress(self) -> bytes:
        """ADRS^c (§11.2)."""
        adrs = self.encode()
        return adrs[3:4] + adrs[8:16] + adrs[19:20] + adrs[20:32]


class Hasher(NamedTuple):
    """The functions of §11 for a parameter set and a PK.seed."""

    parameters: Parameters
    seed: bytes

    def h_msg(self, r: bytes, root: bytes, message: bytes) -> bytes:
        m = sum(self.parameters.digest_parts)
        if self.parameters.family == "SHAKE":
            return hashlib.shake_256(r + self.seed + root + message).digest(m)
        name = "sha256" if self.parameters.n == 16 else "sha512"
        inner = hashlib.new(name, r + self.seed + root + message).digest()
        return mgf1(name, r + self.seed + inner, m)

    def f(self, address: Address, m_1: bytes) -> bytes:
        """F, of one value of n bytes."""
        if self.parameters.family == "SHAKE":
            return self._shake(address, m_1)
        return self._sha2("sha256", 64, address, m_1)

    def h_or_t(self, address: Address, m_2: bytes) -> bytes:
        """H and T_l, of several values of n bytes."""
        if self.parameters.family == "SHAKE":
            return self._shake(address, m_2)
        if self.parameters.n == 16:  # security category 1 (§11.2.1), 3 and 5 (§11.2.2)
            return self._sha2("sha256", 64, address, m_2)
        return self._sha2("sha512", 128, address, m_2)

    def _shake(self, address: Address, data: bytes) -> bytes:
        return hashlib.shake_256(self.seed + address.encode() + data).digest(self.parameters.n)

    def _sha2(self, name: str, block_size: int, address: Address, data: bytes) -> bytes:
        """The seed fills a whole block of the hash."""
        front = self.seed.ljust(block_size, b"\0") + address.compress()
        return hashlib.new(name, front + data).digest()[: self.parameters.n]


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def base_2b(x: bytes, b: int, out_len: int) -> list[int]:
    """The first digits of b bits, the most significant first (Algorithm 4)."""
    value, bits = int.from_bytes(x, "big"), 8 * len(x)
    return [value >> (bits - b * (i + 1)) & (2**b - 1) for i in range(out_len)]


def wots_digits(parameters: Parameters, message: bytes) -> list[int]:
    """The digits of a message of n bytes and of its checksum (Algorithm 8, lines 1 to 7)."""
    msg = base_2b(message, LG_W, parameters.len_1)
    csum = sum(W - 1 - digit for digit in msg)
    csum <<= (8 - LEN_2 * LG_W % 8) % 8
    return msg + base_2b(csum.to_bytes((LEN_2 * LG_W + 7) // 8, "big"), LG_W, LEN_2)


def wots_pk_from_sig(hasher: Hasher, sig: list[bytes], message: bytes, adrs: Address) -> bytes:
    """Algorithm 8. `adrs` is of type WOTS_HASH."""
    tmp = b""
    for i, start in enumerate(wots_digits(hasher.parameters, message)):
        value = sig[i]
        for j in range(start, W - 1):  # chain (Algorithm 5)
            value = hasher.f(adrs._replace(second=i, third=j), value)
        tmp += value
    return hasher.h_or_t(adrs._replace(type=WOTS_PK), tmp)


def xmss_pk_from_sig(
    hasher: Hasher, idx: int, sig_xmss: list[bytes], message: bytes, layer: int, tree: int
) -> bytes:
    """Algorithm 11."""
    length = hasher.parameters.len
    sig, auth = sig_xmss[:length], sig_xmss[length:]
    node = wots_pk_from_sig(hasher, sig, message, Address(layer, tree, WOTS_HASH, idx))
    for k in range(hasher.parameters.h_prime):
        index = idx >> k
        pair = auth[k] + node if index % 2 else node + auth[k]
        node = hasher.h_or_t(Address(layer, tree, TREE, 0, k + 1, index // 2), pair)
    return node


def ht_root(
    hasher: Hasher, message: bytes, sig_ht: list[bytes], idx_tree: int, idx_leaf: int
) -> bytes:
    """The root to which a hypertree signature leads (Algorithm 13, before its comparison)."""
    h_prime = hasher.parameters.h_prime
    size = h_prime + hasher.parameters.len
    node = message
    for j in range(hasher.parameters.d):
        sig_xmss = sig_ht[size * j : size * (j + 1)]
        node = xmss_pk_from_sig(hasher, idx_leaf, sig_xmss, node, j, idx_tree)
        idx_leaf = idx_tree % 2**h_prime
        idx_tree >>= h_prime
    return node


def fors_pk_from_sig(hasher: Hasher, sig_fors: list[bytes], md: bytes, adrs: Address) -> bytes:
    """Algorithm 17. `adrs` is of type FORS_TREE."""
    k, a = hasher.parameters.k, hasher.parameters.a
    roots = b""
    for i, index in enumerate(base_2b(md, a, k)):
        sk, *auth = sig_fors[(a + 1) * i : (a + 1) * (i + 1)]
        tree_index = (i << a) + index
        node = hasher.f(adrs._replace(third=tree_index), sk)
        for j in range(a):
            pair = auth[j] + node if tree_index % 2 else node + auth[j]
            tree_index //= 2
            node = hasher.h_or_t(adrs._replace(second=j + 1, third=tree_index), pair)
        roots += node
    return hasher.h_or_t(adrs._replace(type=FORS_ROOTS), roots)


def verify(
    parameters: Parameters,
    public_key: bytes,
    message: bytes,
    signature: bytes,
    context: bytes = b"",
) -> Fault | None:
    """slh_verify (Algorithm 24)."""
    if len(public_key) != parameters.public_key_size:
        return Fault.KEY
    if len(context) > 255:
        return Fault.CONTEXT
    m_prime = bytes([0, len(context)]) + context + message
    return verify_internal(parameters, public_key, m_prime, signature)


def verify_internal(
    parameters: Parameters, public_key: bytes, m_prime: bytes, signature: bytes
) -> Fault | None:
    """slh_verify_internal (Algorithm 20) of an encoded message."""
    if len(public_key) != parameters.public_key_size:
        return Fault.KEY
    if len(signature) != parameters.signature_size:
        return Fault.LENGTH
    n = parameters.n
    seed, root = public_key[:n], public_key[n:]
    hasher = Hasher(parameters, seed)
    r, *values = _pieces(signature, n)
    fors_size = parameters.k * (1 + parameters.a)
    digest = hasher.h_msg(r, root, m_prime)
    md_size, tree_size, _leaf_size = parameters.digest_parts
    md, tail = digest[:md_size], digest[md_size:]
    idx_tree = int.from_bytes(tail[:tree_size], "big") % 2 ** (parameters.h - parameters.h_prime)
    idx_leaf = int.from_bytes(tail[tree_size:], "big") % 2**parameters.h_prime
    adrs = Address(0, idx_tree, FORS_TREE, idx_leaf)
    pk_fors = fors_pk_from_sig(hasher, values[:fors_size], md, adrs)
    computed = ht_root(hasher, pk_fors, values[fors_size:], idx_tree, idx_leaf)
    return None if computed == root else Fault.MISMATCH
