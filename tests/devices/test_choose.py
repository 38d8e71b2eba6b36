"""Which devices a run goes to: by the words of the command line, the ABI and the chip."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.cli.device_words import chosen
from buildtool.cli.output import Output
from buildtool.devices.choose import devices_for
from buildtool.devices.programs import machine_of, machines_of
from buildtool.devices.survey import everything, survey
from buildtool.errors import ConfigError, DeviceError
from buildtool.settings import DeviceSpec, RunSettings
from tests.devices.adbd import AdbServer, Phone
from tests.devices.sshd import Sshd

FILE = """\
devices:
  nano:
    target_abis: [arm64, armhf]
    target_socs: RK3399
    address: 10.0.0.2
    username: pi
    password: hush
    identity: keys/nano
    jump: me@gateway
  berry:
    target_abis: armhf
    address: berry.local
    username: pi
    port: 2222
"""


@pytest.fixture
def device_file(tmp_path: Path) -> Path:
    file = tmp_path / "devices.yml"
    file.write_text(FILE)
    return file


def test_words_of_the_command_line(device_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["local", "qemu:cortex-a53", "adb", "adb:R58M", "ssh://pi@[fe80::1]:2022", "ssh://host", "nano", "nano"]
    specs = chosen(words, device_file, Output())
    assert specs == (
        DeviceSpec("local"),
        DeviceSpec("qemu", cpu="cortex-a53"),
        DeviceSpec("adb"),
        DeviceSpec("adb", address="R58M"),
        DeviceSpec("ssh", address="fe80::1", username="pi", port=2022),
        DeviceSpec("ssh", address="host"),
        DeviceSpec(
            "ssh",
            name="nano",
            address="10.0.0.2",
            username="pi",
            port=22,
            jump="me@gateway",
            identity=device_file.parent / "keys" / "nano",
            target_abis=("aarch64-linux-gnu", "arm-linux-gnueabihf"),
            target_socs=("RK3399",),
        ),
    )
    said = capsys.readouterr().err
    assert f"{device_file}:2:3: note: the password of 'nano' is not used" in said
    assert "ssh-copy-id -p 22 pi@10.0.0.2" in said
    assert "hush" not in said
    assert [spec.name for spec in chosen([], device_file, Output())] == ["nano", "berry"]


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("berri", "there is no device 'berri'"),
        ("local:x", "there is no device 'local:x'"),
        ("qemu:", "there is no device 'qemu:'"),
        ("ssh://", "--device cannot be 'ssh://'"),
        ("ssh://host:port", "--device cannot be 'ssh://host:port'"),
        ("ssh://host/folder", "--device cannot be 'ssh://host/folder'"),
        ("ssh://pi:hush@host", "a password cannot be given here"),
    ],
)
def test_words_that_are_no_devices(word: str, what: str, device_file: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        chosen([word], device_file, Output())
    (problem,) = caught.value.problems
    assert problem.what.startswith(what)
    assert "ssh://USER@HOST[:PORT]" in problem.rule


def names(abi: str, *devices: DeviceSpec, socs: tuple[str, ...] = ()) -> list[str]:
    return [device.name for device in devices_for(abi, RunSettings(devices=devices, target_socs=socs))]


def test_the_abi_and_the_chip_choose(device_file: Path) -> None:
    nano, berry = chosen([], device_file, Output())
    assert names("arm-linux-gnueabihf", nano, berry) == ["nano", "berry"]
    assert names("aarch64-linux-gnu", nano, berry) == ["nano"]
    assert names("arm-linux-gnueabihf", nano, berry, socs=("random",)) == ["nano"]
    assert names("arm-linux-gnueabihf", nano, berry, socs=("all",)) == ["nano", "berry"]
    assert names("aarch64-linux-gnu", nano, socs=("rk3399",)) == ["nano"]
    assert names("host", DeviceSpec("local"), nano) == ["local"]
    with pytest.raises(DeviceError, match="none of the chosen devices runs programs for 'host'") as caught:
        names("host", nano, berry, DeviceSpec("qemu"))
    assert caught.value.problems[0].rule == "chosen: nano, berry, qemu"


def test_a_chip_that_no_device_has(device_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nano, berry = chosen([], device_file, Output())
    with pytest.raises(
        DeviceError, match="no device with the chip RK3398 runs programs for 'aarch64-linux-gnu'"
    ) as caught:
        names("aarch64-linux-gnu", nano, berry, socs=("RK3398",))
    (problem,) = caught.value.problems
    assert problem.rule.endswith("there are: nano (RK3399)")
    assert problem.remedy.startswith("did you mean 'RK3399'?")
    monkeypatch.setenv("PATH", str(tmp_path))  # without adb
    with pytest.raises(DeviceError, match="no device with the chip SM8450") as caught:
        names("arm-linux-gnueabihf", socs=("SM8450",))
    assert caught.value.problems[0].rule.endswith("there are: none")
    assert "--target-socs all" in caught.value.problems[0].remedy


def test_this_machine_and_emulators_have_no_chip() -> None:
    assert names("host", socs=("SM8450",)) == ["local"]
    assert names("host", DeviceSpec("local"), socs=("SM8450",)) == ["local"]
    assert names("aarch64-linux-gnu", DeviceSpec("qemu"), socs=("SM8450",)) == ["qemu-user (max)"]
    for any_chip in (("all",), ("random",)):
        assert names("aarch64-linux-gnu", socs=any_chip) == ["qemu-user (max)"]


def test_chips_of_the_command_line_go_before_those_of_the_deployment() -> None:
    assert RunSettings().on_chips(("SM8450",)).target_socs == ("SM8450",)
    assert RunSettings(target_socs=("all",)).on_chips(("SM8450",)).target_socs == ("all",)
    assert RunSettings().on_chips(()) == RunSettings()


def test_a_chip_that_is_missing_beside_others_is_told(device_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    nano, _ = chosen([], device_file, Output())
    assert names("aarch64-linux-gnu", nano, socs=("RK3399", "SM8450")) == ["nano"]
    assert [record.getMessage() for record in caplog.records] == ["no device has the chip SM8450 of target_socs"]


def test_several_phones_by_abi_and_chip(tmp_path: Path, adb_server: AdbServer) -> None:
    with Phone(tmp_path / "one") as one, Phone(tmp_path / "two", soc="MT6893", abis="armeabi-v7a") as two:
        adb_server.connect(one)
        adb_server.connect(two)
        every = DeviceSpec("adb")
        first, second = sorted((f"adb:{one.serial}", f"adb:{two.serial}"))
        assert names("armeabi-v7a", every) == [first, second]
        assert names("arm64-v8a", every) == [f"adb:{one.serial}"]
        assert names("armeabi-v7a", every, socs=("mt6893",)) == [f"adb:{two.serial}"]
        assert names("armeabi-v7a", socs=("MT6893",)) == [f"adb:{two.serial}"]  # a chip alone: of all that adb knows
        assert names("arm64-v8a", DeviceSpec("adb", address=two.serial)) == [f"adb:{two.serial}"]  # pushing says no
        found = {item.name: item for item in survey(everything([]))}
        assert found[f"adb:{two.serial}"].properties["soc"] == "MT6893"
        assert int(found["local"].properties["cores"]) >= 1
        with pytest.raises(DeviceError, match="adb knows no device 'X1'") as caught:
            names("arm64-v8a", DeviceSpec("adb", address="X1"))
        assert one.serial in caught.value.problems[0].rule
        two.unplug()


def test_a_survey_waits_for_nobody_and_can_clear(tmp_path: Path) -> None:
    with Sshd(tmp_path / "board") as server:
        kept = server.home / ".lathe" / "cache" / "library"
        kept.parent.mkdir(parents=True)
        kept.write_text("x")
        nowhere = DeviceSpec("ssh", name="nowhere", address="127.0.0.1", port=1)
        board, missing = survey([server.spec, nowhere], clear=True)
        assert (board.name, board.properties["machine"], board.problem) == ("board", "aarch64", None)
        assert not kept.parent.exists()
        assert missing.problem is not None
        assert missing.as_json()["reachable"] is False


def test_machines_of_programs_and_of_devices(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n")
    assert machine_of(text) == ""
    assert machines_of({"machine": "armv7l"}) == ("arm",)
    assert machines_of({"machine": "aarch64"}) == ("aarch64", "arm")
    assert machines_of({"machine": "aarch64", "abis": "arm64-v8a,armeabi-v7a"}) == ("aarch64", "arm")
    assert machines_of({}) == ()
