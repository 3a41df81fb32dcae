"""How the verifiers of signature algorithms beside this file refuse.

Each returns None for a signature that verifies and else the first fault that it found. Keys,
messages and signatures of any length and content get such an answer and never an exception.
"""

from __future__ import annotations

from enum import Enum, auto


class Fault(Enum):
    """Why a signature is refused."""

    KEY = auto()  # not a key: wrong length, not encoded the one way, or a value that no key has
    KEY_UNSUPPORTED = auto()  # well formed, and of a kind that is not supported
    CONTEXT = auto()  # the context string is longer than 255 bytes
    LENGTH = auto()  # the signature is shorter or longer than it has to be
    PARAMETERS = auto()  # the signature is of another parameter set than the key
    INDEX = auto()  # the signature names a leaf that the tree does not have
    ENCODING = auto()  # a value of the signature is out of range or not encoded the one way
    MISMATCH = auto()  # well formed, but not a signature of this message under this key
