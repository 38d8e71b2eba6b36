"""Device files."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.config import DeviceConfig, load_devices
from buildtool.errors import ConfigError


def load(folder: Path, text: str) -> dict[str, DeviceConfig]:
    (folder / "devices.yml").write_text(text)
    return load_devices(folder / "devices.yml", environment={"SECRET": "hush"})


def test_all_keys(tmp_path: Path) -> None:
    devices = load(
        tmp_path,
        """\
devices:
  nano:
    target_abis: [arm64, armhf]
    target_socs: RK3399
    models: A Board M4
    address: 10.0.0.2
    username: user
  berry:
    target_abis: armv7l, armhf
    address: berry.local
    username: pi
    password: ${SECRET}
    port: 2222
""",
    )
    nano, berry = devices["nano"], devices["berry"]
    assert nano.target_abis == ("aarch64-linux-gnu", "arm-linux-gnueabihf")
    assert (nano.target_socs, nano.models, nano.port, nano.password) == (("RK3399",), ("A Board M4",), 22, "")
    assert berry.target_abis == ("arm-linux-gnueabihf",)
    assert (berry.password, berry.port) == ("hush", 2222)
    assert "hush" not in repr(berry)


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(
            tmp_path,
            """\
devices:
  berry:
    target_abis: [armv71]
    address: berry.local
    user: pi
  second:
    port: 0
  third: 3
""",
        )
    error = caught.value
    assert [(problem.where.line, problem.what) for problem in error.problems] == [
        (3, "'target_abis' cannot be 'armv71'"),
        (5, "unknown key 'user'"),
        (6, "the key 'target_abis' is missing"),
        (6, "the key 'address' is missing"),
        (6, "the key 'username' is missing"),
        (7, "'port' cannot be '0'"),
        (8, "'third' must be a mapping"),
    ]
    remedies = [problem.remedy for problem in error.problems]
    assert remedies[:2] == ["did you mean 'armv7l'?", "did you mean 'username'?"]
