"""Encrypted model files: what `native/include/lathe/decrypt.h` reads. That header says how such a file looks.

The nonce is made from key and contents, so that equal files encrypt to equal bytes and no two different ones share it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from buildtool.builders.disks import writing_to
from buildtool.builders.package import write_file
from buildtool.errors import ConfigError, ModelFileError, Where

SUFFIX = ".enc"
KEY_SIZE = 32
_MAGIC = b"LATHEENC"
_HEAD = 64  # bytes; the contents stay aligned behind it
_KNOWN = 36  # of which are authenticated: magic, version, zero, size, nonce
_TAG = 16
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{64}")


def encrypt(contents: bytes, key: bytes) -> bytes:
    """A whole encrypted file."""
    nonce = hmac.digest(key, hashlib.sha256(contents).digest(), "sha256")[:12]
    known = _MAGIC + (1).to_bytes(4, "little") + bytes(4) + len(contents).to_bytes(8, "little") + nonce
    sealed = ChaCha20Poly1305(key).encrypt(nonce, contents, known)
    return (known + sealed[-_TAG:]).ljust(_HEAD, b"\0") + sealed[:-_TAG]


def is_encrypted(contents: bytes) -> bool:
    return contents.startswith(_MAGIC)


def decrypt(contents: bytes, key: bytes, name: str) -> bytes:
    """The contents of an encrypted file. ModelFileError where it is none, was changed, or has another key."""
    known, tag = contents[:_KNOWN], contents[_KNOWN : _KNOWN + _TAG]
    if len(contents) < _HEAD or not is_encrypted(contents) or contents[8:16] != (1).to_bytes(8, "little"):
        raise ModelFileError("this is not a file that `lathe encrypt` wrote", where=Where(file=name))
    try:
        if any(contents[_KNOWN + _TAG : _HEAD]):
            raise InvalidTag
        return ChaCha20Poly1305(key).decrypt(known[24:], contents[_HEAD:] + tag, known)
    except InvalidTag:
        raise ModelFileError(
            "the encrypted file does not fit this key",
            where=Where(file=name),
            rule="the key is incorrect, or the file was modified after encryption",
            remedy="pass the key that it was encrypted with",
        ) from None


def read_key(file: Path) -> bytes:
    """The key in a file: 32 bytes, or 64 hexadecimal digits."""
    with writing_to(file):
        text = file.read_bytes() if file.is_file() else None
    if text is None:
        raise ConfigError(
            "the key file does not exist",
            where=Where(str(file)),
            remedy="create one with --new-key, and keep it secret",
        )
    if len(text) == KEY_SIZE:
        return text
    words = text.decode("ascii", "replace").strip()
    if not _HEXADECIMAL.fullmatch(words):
        raise ConfigError(
            f"this is not a key: the file has {len(text)} bytes",
            where=Where(str(file)),
            rule=f"a key is {KEY_SIZE} bytes, or {2 * KEY_SIZE} hexadecimal digits",
            remedy="create one with --new-key",
        )
    return bytes.fromhex(words)


def new_key(file: Path) -> bytes:
    """Write a new key."""
    key = os.urandom(KEY_SIZE)
    write_key(file, key)
    return key


def write_key(file: Path, key: bytes) -> None:
    """Write a secret that only the user may read. ConfigError where the file exists: it may be the only copy."""
    with writing_to(file):
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise ConfigError(
                "this file already exists", where=Where(str(file)), remedy="remove --new-key to use its key"
            ) from None
        with os.fdopen(handle, "w", encoding="ascii") as to:
            to.write(key.hex() + "\n")


def encrypt_files(things: list[Path], key: bytes, output: Path | None) -> list[Path]:
    """Encrypt model files, or all of a build; what is written: `<file>.enc` beside each, or below `output`."""
    sources = [(file, root) for thing in things for file, root in _files_of(thing)]
    written = []
    for file, root in sources:
        with writing_to(file):
            contents = file.read_bytes()
        if is_encrypted(contents):
            raise ConfigError("this file is already encrypted", where=Where(str(file)))
        target = (output / file.relative_to(root) if output else file).with_name(file.name + SUFFIX)
        write_file(target, encrypt(contents, key))
        written.append(target)
    return written


def _files_of(thing: Path) -> list[tuple[Path, Path]]:
    """The files to encrypt, each with the folder below which its path is kept."""
    if thing.is_dir():
        models = thing / "model" if (thing / "model").is_dir() else thing
        found = sorted(path for path in models.rglob("*") if path.suffix in (".pb", ".data") and path.is_file())
        if found:
            return [(path, models) for path in found]
        raise ConfigError(
            "no model files are in this folder",
            where=Where(str(thing)),
            rule="a build stores them in model/, as .pb and .data",
            remedy="build with model_graph_format: file, or name the files",
        )
    if not thing.is_file():
        raise ConfigError("there is no such file", where=Where(str(thing)), remedy="name a build or its model files")
    return [(thing, thing.parent)]
