"""Checksums of files, which may be larger than memory."""

from __future__ import annotations

import errno
import hashlib
import stat
from pathlib import Path

_PIECE = 1 << 20


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal. OSError for devices and pipes: they may have no end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "this is a device or a pipe, not a file", str(path))
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
