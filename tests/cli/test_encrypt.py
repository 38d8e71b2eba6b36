"""Encrypted model files: what is written, and what is refused."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from buildtool.builders.encryption import decrypt, encrypt
from buildtool.errors import ModelFileError
from tests.cli.conftest import Lathe

KEY = bytes(range(32))
# native/tests/decrypt_test.cc reads the same bytes.
SEALED = bytes.fromhex(
    "4c41544845454e4301000000000000000700000000000000f35815c8ff2cbe57e12cd10dfdd5b4975e73a9f00e81145c886c2097"
    "0000000000000000000000004bafbfafbdbc80"
)


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    for name in ("model/x.pb", "model/x.data", "model/host/x.pb", "model/x.pb_txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_equal_contents_give_equal_bytes() -> None:
    assert encrypt(b"a model", KEY) == SEALED
    assert encrypt(b"a modem", KEY)[24:36] != SEALED[24:36]  # another nonce
    assert decrypt(SEALED, KEY, "x") == b"a model"


def test_changed_files_and_wrong_keys_are_refused() -> None:
    for at in range(len(SEALED)):
        for flipped in (1, 0x80, 0xFF):
            with pytest.raises(ModelFileError):
                decrypt(SEALED[:at] + bytes([SEALED[at] ^ flipped]) + SEALED[at + 1 :], KEY, "x")
    for broken, key in ((SEALED[:-1], KEY), (SEALED[:40], KEY), (SEALED, bytes(32)), (b"", KEY)):
        with pytest.raises(ModelFileError):
            decrypt(broken, key, "x")


def test_a_whole_build(lathe: Lathe, build: Path, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    result = lathe("encrypt", build, "--key", key, "--new-key", "-o", tmp_path / "sealed", "--json")
    assert result.code == 0, result.stderr
    sealed = tmp_path / "sealed"
    assert result.document["written"] == [str(sealed / name) for name in ("host/x.pb.enc", "x.data.enc", "x.pb.enc")]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    secret = bytes.fromhex(key.read_text())
    assert decrypt((sealed / "host" / "x.pb.enc").read_bytes(), secret, "x") == b"model/host/x.pb"
    assert lathe("encrypt", build / "model" / "x.pb", "--key", key).code == 0
    assert decrypt((build / "model" / "x.pb.enc").read_bytes(), secret, "x") == b"model/x.pb"


def test_mistakes(lathe: Lathe, build: Path, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    assert "create one with --new-key" in lathe("encrypt", build, "--key", key).stderr
    key.write_text("too short")
    assert "a key is 32 bytes" in lathe("encrypt", build, "--key", key).stderr
    assert "already exists" in lathe("encrypt", build, "--key", key, "--new-key").stderr
    key.write_bytes(KEY)
    (tmp_path / "empty").mkdir()
    assert "no model files" in lathe("encrypt", tmp_path / "empty", "--key", key).stderr
    assert "no such file" in lathe("encrypt", tmp_path / "lost.pb", "--key", key).stderr
    lathe("encrypt", build / "model" / "x.pb", "--key", key)
    assert "already encrypted" in lathe("encrypt", build / "model" / "x.pb.enc", "--key", key).stderr
