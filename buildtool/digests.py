"""Checksums of files, which may be larger than memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

_PIECE = 1 << 20


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
