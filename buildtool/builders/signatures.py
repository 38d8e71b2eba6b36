"""Signatures of files, which `native/include/lathe/verify.h` and OpenSSL verify: Ed25519 of the whole file, 64 bytes in
`<file>.sig`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from buildtool.builders.disks import writing_to
from buildtool.builders.encryption import write_key
from buildtool.builders.package import write_file
from buildtool.errors import ConfigError, ModelFileError, Problem, Where

SUFFIX = ".sig"
_PUBLIC = ".pub"
_KEY_SIZE = 32
_HEXADECIMAL = re.compile(rb"\s*([0-9a-fA-F]{64})\s*")
_MODELS = (".pb", ".data")


def new_key(file: Path) -> Ed25519PrivateKey:
    """Write a new key, and the public one to `<file>.pub`."""
    key = Ed25519PrivateKey.generate()
    write_key(file, key.private_bytes_raw())
    with writing_to(file):
        public_file(file).write_text(key.public_key().public_bytes_raw().hex() + "\n", encoding="ascii")
    return key


def public_file(file: Path) -> Path:
    return file.with_name(file.name + _PUBLIC)


def private_key(file: Path) -> Ed25519PrivateKey:
    """The key in a file: 64 hexadecimal digits, or PEM as OpenSSL writes it."""
    text = _text_of(file, "create one with --new-key, and keep it secret")
    if digits := _HEXADECIMAL.fullmatch(text):
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(digits[1].decode()))
    try:
        key = serialization.load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(file, "a private key", text)
    return key


def public_key(file: Path) -> Ed25519PublicKey:
    """The same of the public key, which everybody may have."""
    text = _text_of(file, "it is the file <key>.pub that `lathe sign --new-key` wrote")
    if digits := _HEXADECIMAL.fullmatch(text):
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(digits[1].decode()))
    try:
        key = serialization.load_pem_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(file, "a public key", text)
    return key


def sign(things: Sequence[Path], key: Ed25519PrivateKey) -> list[Path]:
    """Write `<file>.sig` beside each file, or each of a build; what was written."""
    written = []
    for file in _files_of(things):
        with writing_to(file):
            contents = file.read_bytes()
        written.append(file.with_name(file.name + SUFFIX))
        write_file(written[-1], key.sign(contents))
    return written


def verify(things: Sequence[Path], key: Ed25519PublicKey) -> list[Path]:
    """The files whose signatures are right: all of them. ModelFileError names every other one."""
    files, wrong = _files_of(things), []
    for file in files:
        signature = file.with_name(file.name + SUFFIX)
        if not signature.is_file():
            wrong.append(
                Problem("this file has no signature", Where(str(file)), remedy=f"sign it: lathe sign {file} --key KEY")
            )
            continue
        with writing_to(file):
            contents, signed = file.read_bytes(), signature.read_bytes()
        try:
            key.verify(signed, contents)
        except InvalidSignature:
            rule = "the file or the signature was modified, or another key signed it"
            wrong.append(Problem("the signature does not fit this file", Where(str(file)), rule=rule))
    if wrong:
        raise ModelFileError(wrong)
    return files


def _text_of(file: Path, remedy: str) -> bytes:
    with writing_to(file):
        if file.is_file():
            return file.read_bytes()
    raise ConfigError("the key file does not exist", where=Where(str(file)), remedy=remedy)


def _no_key(file: Path, what: str, text: bytes) -> ConfigError:
    return ConfigError(
        f"this is not {what}: the file has {len(text)} bytes",
        where=Where(str(file)),
        rule=f"a key is {2 * _KEY_SIZE} hexadecimal digits, or an Ed25519 key as PEM without a password",
        remedy="create a pair of keys: lathe sign THING --key FILE --new-key",
    )


def _files_of(things: Sequence[Path]) -> list[Path]:
    """Files as named; of a build its libraries and models."""
    files: list[Path] = []
    for thing in things:
        if thing.is_dir():
            found = [path for path in (thing / "lib").rglob("*") if path.suffix != SUFFIX]
            found += [path for path in (thing / "model").rglob("*") if path.suffix in _MODELS]
            found = sorted(path for path in found if path.is_file())
            if not found:
                raise ConfigError(
                    "no libraries or models are in this folder",
                    where=Where(str(thing)),
                    rule="a build stores them in lib/ and model/",
                    remedy="name a build, or the files themselves",
                )
            files += found
        elif thing.is_file():
            files.append(thing)
        else:
            raise ConfigError("there is no such file", where=Where(str(thing)), remedy="name a build, or a file of it")
    return files
