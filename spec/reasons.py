"""The reasons of errors.toml that a verifier of bundles can give."""

from __future__ import annotations

import json
import re
from enum import Enum
from pathlib import Path


class Reason(Enum):
    """The reasons that a verifier of files can give: code = name, as in errors.toml."""

    E0101 = "Truncated"
    E0102 = "UnknownTag"
    E0103 = "WrongBundleType"
    E0104 = "SignedSizeOutOfRange"
    E0105 = "SignaturesSizeOutOfRange"
    E0106 = "CodeSizeOutOfRange"
    E0201 = "SignatureBlockTruncated"
    E0202 = "SignatureBlockSizes"
    E0203 = "SignatureBlockPadding"
    E0204 = "TooManySignatureBlocks"
    E0205 = "SignatureAlgorithmZero"
    E0206 = "FirstStageAlgorithm"
    E0301 = "SignatureMismatch"
    E0302 = "PublicKeyInvalid"
    E0303 = "SignatureNotCanonical"
    E0304 = "NoTrustedSigner"
    E0305 = "PolicyAllNotMet"
    E0306 = "PolicyHybridNotMet"
    E0307 = "TrustedAlgorithmMissing"
    E0308 = "SignatureIndexOutOfRange"
    E0309 = "SignatureParametersDiffer"
    E0310 = "PublicKeyUnsupported"
    E0401 = "ReservedNotZero"
    E0402 = "SignerCountOutOfRange"
    E0403 = "PayloadCountOutOfRange"
    E0404 = "SignedSizeMismatch"
    E0405 = "BoardNameInvalid"
    E0406 = "SocNameInvalid"
    E0407 = "LabelInvalid"
    E0408 = "LifecycleMaskInvalid"
    E0409 = "DuplicateSigner"
    E0410 = "SignatureBlockMissing"
    E0411 = "SignatureBlockExtra"
    E0412 = "SignerMismatch"
    E0413 = "ExtensionsSizeOutOfRange"
    E0420 = "PolicyUnknown"
    E0421 = "TrustedKeyCountOutOfRange"
    E0422 = "DuplicateTrustedKey"
    E0423 = "PolicyUnsatisfiable"
    E0424 = "TrustedKeyNotCarried"
    E0425 = "NextKeyInvalid"
    E0430 = "BootargsTooLong"
    E0431 = "BootargsInvalid"
    E0432 = "BootargsPadding"
    E0440 = "ExtensionUnknown"
    E0441 = "ExtensionOrder"
    E0442 = "ExtensionLength"
    E0443 = "IdentityRepeated"
    E0444 = "BootVersionZero"
    E0445 = "CipherUnknown"
    E0446 = "EncryptionOrder"
    E0501 = "PayloadTypeUnknown"
    E0502 = "PayloadOrder"
    E0503 = "PayloadMissing"
    E0504 = "HashUnknown"
    E0505 = "ModeUnknown"
    E0506 = "BlockSizeNotAllowed"
    E0507 = "DigestPadding"
    E0508 = "PayloadOffset"
    E0509 = "PayloadSizeOutOfRange"
    E0510 = "LoadRangeForm"
    E0511 = "LoadRangeWraps"
    E0512 = "LoadRangesOverlap"
    E0513 = "EntryOutsidePayload"
    E0514 = "BundleSizeMismatch"
    E0515 = "HashModeNotAllowed"
    E0516 = "EncryptionWithoutPayload"
    E0517 = "ContentKeyInvalid"
    E0601 = "WrongBoard"
    E0602 = "WrongSoc"
    E0603 = "RollbackBelowFloor"
    E0604 = "LifecycleNotAllowed"
    E0605 = "BootVersionTooOld"
    E0606 = "ClassKeyMissing"
    E0701 = "OutsideMemory"
    E0702 = "OverlapsLiveRegion"
    E0703 = "WrongLoadAddress"
    E0801 = "PayloadDigestMismatch"
    E0802 = "PaddingNotZero"
    E0803 = "TrailingBytes"
    E0908 = "DeviceTreeUnusable"
    E0920 = "PayloadUnusable"
    E1001 = "SignerWithoutKey"
    E1002 = "OutsideProfile"
    E1204 = "PayloadLooksOther"
    E1401 = "MemoryNotClosed"


def load_texts(path: Path) -> dict[str, dict[str, str]]:
    """The string fields of errors.toml by code (tomllib is not in every supported Python)."""
    texts: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        field = re.fullmatch(r'(\w+)\s*=\s*(".*")\s*', line)
        if line.strip() == "[[reason]]":
            current = {}
        elif field:
            current[field[1]] = json.loads(field[2])
            if field[1] == "code":
                texts[current["code"]] = current
    return texts
