"""The signature algorithms of image-format.md §2.2: sizes, families, and who verifies them (§5.2)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from reasons import Reason
from reference import ecdsa, ed25519, hss, ml_dsa, rsa, slh_dsa, xmss
from reference.faults import Fault

Check = Callable[[bytes, bytes, bytes], Reason | None]
CLASSICAL, POST_QUANTUM = "classical", "post-quantum"

REASONS: dict[Fault, Reason] = {
    Fault.KEY: Reason.E0302,
    Fault.KEY_UNSUPPORTED: Reason.E0310,
    Fault.CONTEXT: Reason.E0303,  # no bundle has a context
    Fault.LENGTH: Reason.E0202,
    Fault.PARAMETERS: Reason.E0309,
    Fault.INDEX: Reason.E0308,
    Fault.ENCODING: Reason.E0303,
    Fault.MISMATCH: Reason.E0301,
}


class Algorithm(NamedTuple):
    """A row of the table; signature_size is None where it follows from the signature."""

    family: str
    public_key_size: int
    signature_size: int | None
    check: Check  # public key, signature, message


def _check_ed25519(public_key: bytes, signature: bytes, message: bytes) -> Reason | None:
    """The strict rule of §5.2; None if the signature verifies."""
    fault = ed25519.check(public_key, signature, message)
    return None if fault is None else _ED25519_REASONS[fault]


_ED25519_REASONS: dict[ed25519.Fault, Reason] = {
    ed25519.Fault.KEY: Reason.E0302,
    ed25519.Fault.ENCODING: Reason.E0303,
    ed25519.Fault.MISMATCH: Reason.E0301,
}


def _check(verify: Callable[[bytes, bytes, bytes], Fault | None], prefix: bytes = b"") -> Check:
    """A check by a verifier of the modules beside this file; `prefix` is what the key begins with."""

    def check(public_key: bytes, signature: bytes, message: bytes) -> Reason | None:
        if not public_key.startswith(prefix):
            return Reason.E0302
        fault = verify(public_key, message, signature)
        return None if fault is None else REASONS[fault]

    return check


def _rsa() -> dict[tuple[int, int], Algorithm]:
    rows: dict[tuple[int, int], Algorithm] = {}
    for number, verify in ((2, rsa.verify_pss), (3, rsa.verify_pkcs1)):
        for bits in rsa.MODULUS_BITS:
            for hash_number, name in ((1, "sha256"), (2, "sha384"), (3, "sha512")):

                def with_hash(
                    key: bytes,
                    message: bytes,
                    signature: bytes,
                    verify: Callable[..., Fault | None] = verify,
                    name: str = name,
                ) -> Fault | None:
                    return verify(name, key, message, signature)

                parameters = bits << 16 | hash_number
                rows[number, parameters] = Algorithm(
                    CLASSICAL, bits // 8 + 14, bits // 8, _check(with_hash)
                )
    return rows


def _ecdsa() -> dict[tuple[int, int], Algorithm]:
    rows: dict[tuple[int, int], Algorithm] = {}
    for parameters, curve in ((1, ecdsa.P256), (2, ecdsa.P384)):

        def on_curve(
            key: bytes, message: bytes, signature: bytes, curve: ecdsa.Curve = curve
        ) -> Fault | None:
            return ecdsa.verify(curve, key, message, signature)

        rows[4, parameters] = Algorithm(
            CLASSICAL, 1 + 2 * curve.size, 2 * curve.size, _check(on_curve)
        )
    return rows


def _hss() -> dict[tuple[int, int], Algorithm]:
    rows: dict[tuple[int, int], Algorithm] = {}
    for levels in hss.LEVELS:
        for lms_type, lms in hss.LMS_TYPES.items():
            for ots_type, ots in hss.LM_OTS_TYPES.items():
                if lms.m != ots.n:
                    continue
                size = 8 + ots.signature_size + 4 + lms.h * lms.m if levels == 1 else None
                prefix = struct.pack(">3I", levels, lms_type, ots_type)
                rows[16, levels << 16 | ots_type << 8 | lms_type] = Algorithm(
                    POST_QUANTUM, 28 + lms.m, size, _check(hss.verify, prefix)
                )
    return rows


def _xmss() -> dict[tuple[int, int], Algorithm]:
    rows: dict[tuple[int, int], Algorithm] = {}
    for number, sets, verify in ((17, xmss.XMSS, xmss.verify), (18, xmss.XMSS_MT, xmss.verify_mt)):
        for oid, parameters in sets.items():
            check = _check(verify, struct.pack(">I", oid))
            key_size = 4 + 2 * parameters.n
            rows[number, oid] = Algorithm(POST_QUANTUM, key_size, parameters.signature_size, check)
    return rows


def _ml_dsa() -> dict[tuple[int, int], Algorithm]:
    rows: dict[tuple[int, int], Algorithm] = {}
    for number in (44, 65, 87):
        parameters = ml_dsa.PARAMETERS[f"ML-DSA-{number}"]

        def pure(
            key: bytes,
            message: bytes,
            signature: bytes,
            parameters: ml_dsa.Parameters = parameters,
        ) -> Fault | None:
            return ml_dsa.verify(parameters, key, message, signature)

        rows[19, number] = Algorithm(
            POST_QUANTUM, parameters.public_key_size, parameters.signature_size, _check(pure)
        )
    return rows


def _slh_dsa() -> dict[tuple[int, int], Algorithm]:
    rows: dict[tuple[int, int], Algorithm] = {}
    names = [
        f"SLH-DSA-{family}-{strength}{form}"
        for strength in (128, 192, 256)
        for form in "sf"
        for family in ("SHA2", "SHAKE")
    ]
    for number, name in enumerate(names, start=1):
        parameters = slh_dsa.PARAMETERS[name]

        def pure(
            key: bytes,
            message: bytes,
            signature: bytes,
            parameters: slh_dsa.Parameters = parameters,
        ) -> Fault | None:
            return slh_dsa.verify(parameters, key, message, signature)

        rows[20, number] = Algorithm(
            POST_QUANTUM, parameters.public_key_size, parameters.signature_size, _check(pure)
        )
    return rows


ALGORITHMS: dict[tuple[int, int], Algorithm] = {
    (1, 0): Algorithm(CLASSICAL, 32, 64, _check_ed25519),
    **_rsa(),
    **_ecdsa(),
    **_hss(),
    **_xmss(),
    **_ml_dsa(),
    **_slh_dsa(),
}
