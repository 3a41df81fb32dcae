"""Reads public test vectors of signature algorithms for ../test_signatures.py.

They are no part of this repository. HARTLOCK_VECTORS names their folder, and its README says where each file is
from. Every file becomes a list of cases: what to call, and which answers are right under the rules of the modules here. Those
rules are narrower than the standards, so that a vector can be valid and its key unsupported.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

from . import ecdsa, hss, ml_dsa, rsa, slh_dsa, xmss
from .faults import Fault
from .sample_signatures import der, der_integer, rsa_key

Answer = Optional[Fault]
Right = frozenset[Answer]

VALID: Right = frozenset([None])
INVALID: Right = frozenset(Fault)
UNSUPPORTED: Right = frozenset([Fault.KEY_UNSUPPORTED])
MISMATCH: Right = frozenset([Fault.MISMATCH])


class Case(NamedTuple):
    """One vector; those of a kind have the same file and stratum."""

    file: str
    number: str
    stratum: str
    answer: Callable[[], Answer]
    right: Right


class Missing(Exception):
    """There is no folder of vectors."""


def find_folder() -> Path:
    """The folder that was named, which has to exist."""
    named = os.environ.get("HARTLOCK_VECTORS")
    if named is None:
        raise Missing("HARTLOCK_VECTORS names no folder")
    folder = Path(named)
    if not folder.is_dir():
        raise NotADirectoryError(f"HARTLOCK_VECTORS names no folder: {folder}")
    return folder


def _verdict(valid: bool) -> Right:
    return VALID if valid else INVALID


def _unhex(text: str) -> bytes:
    return bytes.fromhex(text.strip().strip('"'))


def _records(text: str) -> Iterator[dict[str, str]]:
    """Lines "key = value"; a key that comes again starts the next record, "[…]" is a section."""
    record: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        key, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("["):
            section = line.strip("[] ")
        elif equals and not line.startswith("#"):
            if key in record:
                yield record
                record = {}
            record.setdefault("section", section)
            record[key] = value
    if record:
        yield record


def _read_records(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for number, record in enumerate(_records(file.read_text(encoding="utf-8"))):
        yield str(number), record


def _read_groups(file: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each group with each of its tests (NIST's and Wycheproof's JSON)."""
    for group in json.loads(file.read_text(encoding="utf-8"))["testGroups"]:
        for test in group["tests"]:
            yield group, test


# ----------------------------------------------------------------------
# RSA
# ----------------------------------------------------------------------

_RSA_HASHES = {
    name + digits: f"sha{digits}" for name in ("SHA-", "SHA2-") for digits in ("256", "384", "512")
}


def _rsa_right(n: int, e: int, fits: bool, valid: bool) -> Right:
    """`fits`: the signature was made with the mask and the salt that the rules ask for."""
    if n.bit_length() not in rsa.MODULUS_BITS or e != rsa.EXPONENT:
        return UNSUPPORTED
    if valid:
        return VALID if fits else MISMATCH
    return frozenset([Fault.LENGTH, Fault.ENCODING, Fault.MISMATCH])


def _rsa_wycheproof(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        hash_name = _RSA_HASHES.get(group["sha"])
        if hash_name is None:
            continue
        numbers = group.get("publicKey") or group["privateKey"]
        n, e = int(numbers["modulus"], 16), int(numbers["publicExponent"], 16)
        is_pss = group["type"] == "RsassaPssVerify"
        fits = not is_pss or (
            (group["mgfSha"], group["sLen"]) == (group["sha"], hashlib.new(hash_name).digest_size)
        )
        flags = ",".join(test["flags"])
        # "acceptable" is without the NULL, or has a key that is not supported.
        fits = fits and "MissingNull" not in flags
        verify = rsa.verify_pss if is_pss else rsa.verify_pkcs1
        key = _unhex(group.get("publicKeyAsn") or group["keyAsn"])
        message, signature = _unhex(test["msg"]), _unhex(test["sig"])
        right = _rsa_right(n, e, fits, test["result"] != "invalid")
        stratum = f"{group['keySize']} {e} {group['sha']} {test['result']} {flags}"
        answer = partial(verify, hash_name, key, message, signature)
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


def _rsa_acvp(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        hash_name = _RSA_HASHES.get(group["hashAlg"])
        is_pss = group["sigType"] == "pss"
        if hash_name is None or group["sigType"] not in ("pss", "pkcs1v1.5"):
            continue
        n, e = int(group["n"], 16), int(group["e"], 16)
        fits = not is_pss or group["saltLen"] == hashlib.new(hash_name).digest_size
        verify = rsa.verify_pss if is_pss else rsa.verify_pkcs1
        message, signature = _unhex(test["message"]), _unhex(test["signature"])
        answer = partial(verify, hash_name, rsa_key(n, e), message, signature)
        right = _rsa_right(n, e, fits, test["testPassed"])
        stratum = f"{group['sigType']} {group['modulo']} {test['reason']}"
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


def _rsa_botan(file: Path) -> Iterator[Case]:
    for number, record in _read_records(file):
        padding, _, hash_name = record["section"].rstrip(")").partition("(")
        padding, hash_name = padding or "PSS", hash_name or record.get("Hash", "")
        if padding not in ("PSS", "PKCS1v15") or hash_name not in _RSA_HASHES:
            continue
        if "N" in record:
            n = int(record["N"], 0)
        else:
            n = int(record["P"], 0) * int(record["Q"], 0)
        e, name = int(record["E"], 0), _RSA_HASHES[hash_name]
        salt = record.get("Nonce")
        fits = salt is None or len(_unhex(salt)) == hashlib.new(name).digest_size
        valid = "Signature" in record
        signature = _unhex(record["Signature" if valid else "InvalidSignature"])
        verify = rsa.verify_pss if padding == "PSS" else rsa.verify_pkcs1
        answer = partial(verify, name, rsa_key(n, e), _unhex(record["Msg"]), signature)
        stratum = f"{padding} {hash_name} {n.bit_length()} {e}"
        yield Case(file.name, number, stratum, answer, _rsa_right(n, e, fits, valid))


# ----------------------------------------------------------------------
# ECDSA
# ----------------------------------------------------------------------

_ECDSA_HASHES = {"SHA-256": ecdsa.P256, "SHA2-256": ecdsa.P256, "SHA-384": ecdsa.P384}
_CURVES = {
    "secp256r1": ecdsa.P256,
    "P-256": ecdsa.P256,
    "secp384r1": ecdsa.P384,
    "P-384": ecdsa.P384,
}


def _from_der(data: bytes, size: int) -> bytes | None:
    """r and s of a DER signature; None if it is not DER or they do not fit."""
    parts = re.fullmatch(rb"0(?:.|\x81.)\x02(.)(.*)", data, re.DOTALL)
    if parts is None:
        return None
    r_size = parts[1][0]
    r = int.from_bytes(parts[2][:r_size], "big")
    s = int.from_bytes(parts[2][r_size + 2 :], "big")
    # Whatever is not the one encoding is not what comes out again.
    if der(0x30, der_integer(r) + der_integer(s)) != data:
        return None
    if max(r, s).bit_length() > 8 * size:
        return None
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def _ecdsa_wycheproof(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        curve = _CURVES[group["publicKey"]["curve"]]
        if _ECDSA_HASHES.get(group["sha"]) is not curve:
            continue
        key, signature = _unhex(group["publicKey"]["uncompressed"]), _unhex(test["sig"])
        if "P1363" not in group["type"]:
            decoded = _from_der(signature, curve.size)
            if decoded is None:
                continue
            signature = decoded
        answer = partial(ecdsa.verify, curve, key, _unhex(test["msg"]), signature)
        right = _verdict(test["result"] == "valid")
        if "SignatureSize" in test["flags"]:
            right = frozenset([Fault.LENGTH])
        stratum = test["result"] + ",".join(test["flags"])
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


def _ecdsa_acvp(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        curve = _CURVES[group["curve"]]
        if _ECDSA_HASHES.get(group["hashAlg"]) is not curve:
            continue
        size = 2 * curve.size
        qx, qy, r, s = (_unhex(test[name].zfill(size)) for name in ("qx", "qy", "r", "s"))
        answer = partial(ecdsa.verify, curve, b"\4" + qx + qy, _unhex(test["message"]), r + s)
        right = _verdict(test["testPassed"])
        yield Case(file.name, str(test["tcId"]), test["reason"], answer, right)


# ----------------------------------------------------------------------
# LMS and HSS
# ----------------------------------------------------------------------


def _lms_case(file: Path, number: str, fields: tuple[str, str, str], valid: bool) -> Case:
    """Key, message and signature; an LMS key has no count of levels in front."""
    key, message, signature = (_unhex(field) for field in fields)
    is_hss = len(key) in (52, 60)
    verify = hss.verify if is_hss else hss.verify_lms
    lms_type = int.from_bytes(key[4:8] if is_hss else key[:4], "big")
    # The others are sets with SHAKE.
    right = _verdict(valid) if lms_type in hss.LMS_TYPES else UNSUPPORTED
    return Case(file.name, number, number, partial(verify, key, message, signature), right)


def _lms_acvp(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        fields = group["publicKey"], test["message"], test["signature"]
        yield _lms_case(file, str(test["tcId"]), fields, test["testPassed"])


def _lms_botan(file: Path) -> Iterator[Case]:
    for number, record in _read_records(file):
        valid = "Signature" in record
        signature = record["Signature" if valid else "InvalidSignature"]
        yield _lms_case(file, number, (record["PublicKey"], record["Msg"], signature), valid)


def _lms_liboqs(file: Path) -> Iterator[Case]:
    for number, record in _read_records(file):
        yield _lms_case(file, number, (record["pk"], record["msg"], record["sm"]), True)


def _lms_bouncy_castle(file: Path) -> Iterator[Case]:
    key = message = ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
        name, _, value = line.partition(": ")
        if name == "HSSPublicKey":
            key = value
        elif name == "Message":
            message = value
        elif name == "Signature":
            yield _lms_case(file, str(number), (key, message, value), True)


def _lms_rfc(file: Path) -> Iterator[Case]:
    text = file.read_text(encoding="utf-8")
    _, *parts = re.split(r"^!.*Test Case 1.*$", text, flags=re.MULTILINE)
    key, message, signature = ("".join(re.findall(r"\$([0-9a-f]+)", part)) for part in parts)
    yield _lms_case(file, "1", (key, message, signature), True)


# ----------------------------------------------------------------------
# XMSS
# ----------------------------------------------------------------------

_XMSS_FAULTS = {
    "truncated by 1": Fault.LENGTH,
    "extended by 1": Fault.LENGTH,
    "empty signature": Fault.LENGTH,
    "public key short": Fault.KEY,
    "idx >= 2^h aliasing the same leaf": Fault.INDEX,
}


def _xmss_case(
    file: Path, number: str, fields: tuple[str, str, str], is_mt: bool, comment: str | None
) -> Case:
    """Key, message and signature; the comment of a negative case says what is wrong."""
    key, message, signature = (_unhex(field) for field in fields)
    verify, sets = (xmss.verify_mt, xmss.XMSS_MT) if is_mt else (xmss.verify, xmss.XMSS)
    if int.from_bytes(key[:4], "big") not in sets:
        right = UNSUPPORTED
    elif comment is None:
        right = VALID
    else:
        right = frozenset([_XMSS_FAULTS.get(comment, Fault.MISMATCH)])
    stratum = f"{key[:4].hex()} {comment}"
    return Case(file.name, number, stratum, partial(verify, key, message, signature), right)


def _xmss_botan(file: Path) -> Iterator[Case]:
    for number, record in _read_records(file):
        fields = record["PublicKey"], record["Msg"], record["Signature"]
        yield _xmss_case(file, number, fields, False, None)


def _xmss_liboqs(file: Path) -> Iterator[Case]:
    for number, record in _read_records(file):
        fields = record["pk"], record["msg"], record["sm"]
        yield _xmss_case(file, number, fields, "XMSSMT" in file.name, None)


def _xmss_derived(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        key = test.get("publicKeyOverride", group["publicKey"])
        is_mt = group["type"] == "XmssMtVerify"
        fields = key, test["msg"], test["sig"]
        yield _xmss_case(file, str(test["tcId"]), fields, is_mt, test["comment"])


# ----------------------------------------------------------------------
# ML-DSA and SLH-DSA
# ----------------------------------------------------------------------

# The last byte of the object identifier of a hash (FIPS 204 §5.4, FIPS 205 §10.2), its name in
# hashlib, and the bytes that are taken of it.
_PREHASHES = {
    "SHA2-256": (1, "sha256", 32),
    "SHA2-384": (2, "sha384", 48),
    "SHA2-512": (3, "sha512", 64),
    "SHA2-224": (4, "sha224", 28),
    "SHA2-512/224": (5, "sha512_224", 28),
    "SHA2-512/256": (6, "sha512_256", 32),
    "SHA3-224": (7, "sha3_224", 28),
    "SHA3-256": (8, "sha3_256", 32),
    "SHA3-384": (9, "sha3_384", 48),
    "SHA3-512": (10, "sha3_512", 64),
    "SHAKE-128": (11, "shake_128", 32),
    "SHAKE-256": (12, "shake_256", 64),
}


def _prehashed(name: str, context: bytes, message: bytes) -> bytes:
    """M' of the pre-hash variants, which the rules do not have; it tests the steps after it."""
    last, hash_name, size = _PREHASHES[name]
    hasher: Any = hashlib.new(hash_name, message)
    digest: bytes = hasher.digest(size) if "shake" in hash_name else hasher.digest()
    oid = bytes.fromhex("06096086480165030402") + bytes([last])
    return bytes([1, len(context)]) + context + oid + digest


_ML_DSA_FLAGS = {
    "IncorrectPublicKeyLength": Fault.KEY,
    "InvalidContext": Fault.CONTEXT,
    "IncorrectSignatureLength": Fault.LENGTH,
    "InvalidHintsEncoding": Fault.ENCODING,
    "InfinityNormViolation": Fault.ENCODING,
}


def _ml_dsa_wycheproof(file: Path) -> Iterator[Case]:
    parameters = ml_dsa.PARAMETERS["ML-DSA-" + file.name.split("_")[1]]
    for group, test in _read_groups(file):
        key, message = _unhex(group["publicKey"]), _unhex(test["msg"])
        signature, context = _unhex(test["sig"]), _unhex(test.get("ctx", ""))
        right = _verdict(test["result"] == "valid")
        for flag in test["flags"]:
            if flag in _ML_DSA_FLAGS:
                right = frozenset([_ML_DSA_FLAGS[flag]])
        answer = partial(ml_dsa.verify, parameters, key, message, signature, context)
        stratum = test["result"] + ",".join(test["flags"])
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


def _ml_dsa_acvp(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        parameters = ml_dsa.PARAMETERS[group["parameterSet"]]
        key = _unhex(test["pk"] if "pk" in test else group["pk"])
        signature = _unhex(test["signature"])
        answer = (
            partial(ml_dsa.verify_mu, parameters, key, _unhex(test["mu"]), signature)
            if group.get("externalMu")
            else _answer(ml_dsa, parameters, key, group.get("preHash", "none"), test)
        )
        stratum = " ".join(str(group.get(name)) for name in ("parameterSet", "preHash"))
        stratum += f" {group.get('externalMu')} {test['reason']}"
        right = _verdict(test["testPassed"])
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


def _answer(
    module: Any, parameters: Any, key: bytes, kind: str, test: dict[str, Any]
) -> Callable[[], Answer]:
    """Pure with a context, pre-hashed, or of an encoded message (`kind` is none)."""
    message = _unhex(test["message"] if "message" in test else test["msg"])
    signature = _unhex(test["signature"] if "signature" in test else test["sig"])
    if kind == "pure":
        context = _unhex(test["context"])
        return partial(module.verify, parameters, key, message, signature, context)
    if kind != "none":
        name = test["hashAlg"] if kind == "preHash" else kind
        message = _prehashed(name, _unhex(test["context"]), message)
    return partial(module.verify_internal, parameters, key, message, signature)


def _ml_dsa_kat(file: Path) -> Iterator[Case]:
    _, _, size, _, kind = file.stem.split("_")
    parameters = ml_dsa.PARAMETERS[f"ML-DSA-{size}"]
    prehash = {"44": "SHA2-256", "65": "SHA2-384", "87": "SHA2-512"}[size]
    for number, record in _read_records(file):
        signed, message = _unhex(record["sm"]), _unhex(record["msg"])
        signature = signed[: len(signed) - len(message)]
        test = {"msg": record["msg"], "sig": signature.hex(), "context": record.get("ctx", "")}
        name = {"raw": "none", "pure": "pure", "hashed": prehash}[kind]
        answer = _answer(ml_dsa, parameters, _unhex(record["pk"]), name, test)
        yield Case(file.name, number, kind, answer, VALID)


def _slh_dsa_acvp(file: Path) -> Iterator[Case]:
    for group, test in _read_groups(file):
        parameters = slh_dsa.PARAMETERS[group["parameterSet"]]
        answer = _answer(slh_dsa, parameters, _unhex(test["pk"]), "none", test)
        right = _verdict(test["testPassed"])
        if "too large" in test["reason"] or "too small" in test["reason"]:
            right = frozenset([Fault.LENGTH])
        stratum = f"{group['parameterSet']} {test['reason']}"
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


def _slh_dsa_bouncy_castle(file: Path) -> Iterator[Case]:
    """A record without a context is of an encoded message, one of a pre-hash gives that message."""
    family, size, *prehash = file.stem[3:].split("-")
    parameters = slh_dsa.PARAMETERS[f"SLH-DSA-{family.upper()}-{size}"]
    for number, record in _read_records(file):
        test = {"msg": record["msg"], "sig": record["sm"]}
        kind = "none"
        if prehash:
            test["msg"] = record["message_prime"]
        elif record["context"] != "none":
            kind = "pure"
            test["context"] = record["context"].replace("zero_length", "")
        answer = _answer(slh_dsa, parameters, _unhex(record["pk"]), kind, test)
        yield Case(file.name, number, kind, answer, VALID)


def _slh_dsa_derived(file: Path) -> Iterator[Case]:
    for test in json.loads(file.read_text(encoding="utf-8"))["tests"]:
        parameters = slh_dsa.PARAMETERS[test["parameterSet"]]
        answer = _answer(slh_dsa, parameters, _unhex(test["pk"]), test["preHash"], test)
        is_length = test["comment"] in ("truncated", "extended")
        right = frozenset([Fault.LENGTH]) if is_length else MISMATCH
        stratum = f"{test['parameterSet']} {test['preHash']} {test['comment']}"
        yield Case(file.name, str(test["tcId"]), stratum, answer, right)


# ----------------------------------------------------------------------
# Files
# ----------------------------------------------------------------------

Reader = Callable[[Path], Iterator[Case]]

READERS: dict[str, dict[str, Reader | None]] = {
    "rsa": {
        "rsa/RSA-SigVer-*.json": _rsa_acvp,
        "rsa/botan_*.vec": _rsa_botan,
        "rsa/RSA-SignaturePrimitive-2.0.json": None,  # without padding
        "rsa/rsa_raw_512_1024.json": None,
        "wycheproof/rsa_*.json": _rsa_wycheproof,
    },
    "ecdsa": {
        "ecdsa/*.json": _ecdsa_acvp,
        "wycheproof/ecdsa_*.json": _ecdsa_wycheproof,
    },
    "lms": {
        "lms/*.json": _lms_acvp,
        "lms/botan_hss_lms_sig.vec": None,  # no public keys
        "lms/botan_hss_lms_[iv]*.vec": _lms_botan,
        "lms/liboqs_*.rsp": _lms_liboqs,
        "lms/bc_*.txt": _lms_bouncy_castle,
        "lms/rfc8554_*.txt": _lms_rfc,
    },
    "xmss": {
        "xmss/botan_*.vec": _xmss_botan,
        "xmss/liboqs_*.rsp": _xmss_liboqs,
        "xmss/*.json": _xmss_derived,
    },
    "ml-dsa": {
        "ml-dsa/*.json": _ml_dsa_acvp,
        "ml-dsa/kat_*.rsp": _ml_dsa_kat,
        "wycheproof/mldsa_*.json": _ml_dsa_wycheproof,
    },
    "slh-dsa": {
        "slh-dsa/SLH-DSA-*.json": _slh_dsa_acvp,
        "slh-dsa/derived_*.json": _slh_dsa_derived,
        "slh-dsa/bc_*.rsp": _slh_dsa_bouncy_castle,
    },
}


def cases(folder: Path, algorithm: str) -> Iterator[Case]:
    """All cases of an algorithm that the rules cover."""
    for pattern, reader in READERS[algorithm].items():
        files = sorted(folder.glob(pattern))
        if not files:
            raise FileNotFoundError(f"{folder / pattern}")
        for file in files:
            if reader is not None:
                yield from reader(file)
