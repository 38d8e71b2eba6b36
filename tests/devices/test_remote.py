"""A device by ssh and by adb: files and exit codes come back, the cache saves the way, nothing stays behind."""

from __future__ import annotations

import dataclasses
import shutil
import time
from pathlib import Path

import pytest

from buildtool.devices.remote import RemoteDevice
from buildtool.devices.ssh import SshTransport
from buildtool.devices.transport import Times
from buildtool.errors import ConfigError, DeviceError
from buildtool.settings import DeviceSpec
from tests.devices.conftest import ABI, QUICK, Desk, SshDesk, nothing_is_left


def test_files_go_there_programs_run_and_results_come_back(desk: Desk, tmp_path: Path) -> None:
    device = desk.device()
    source = tmp_path / "it's a file"
    source.write_bytes(bytes(range(256)) * 500)
    there = device.push(source)
    done = device.run(["sh", "-c", 'cat "$0" "$0" >twice; echo "$1"; echo err >&2; exit 3', there, "a 'b' $c\n*"])
    assert (done.exit_code, done.stdout, done.stderr) == (3, "a 'b' $c\n*\n", "err\n")
    assert device.pull(device.path("twice"), tmp_path / "back").read_bytes() == source.read_bytes() * 2
    assert device.run(["sh", "-c", "kill -SEGV $$"]).exit_code == -11
    with pytest.raises(DeviceError, match="did not write"):
        device.pull(device.path("nothing"), tmp_path / "back")
    said = device.properties()
    assert (said["machine"], said["abi"]) == ("aarch64", ABI)
    assert int(said["cores"]) >= 1
    device.close()
    assert nothing_is_left(desk)


def test_files_that_were_pushed_are_not_sent_again(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, passing = tmp_path / "library.so", tmp_path / "input.npy"
    source.write_bytes(b"library")
    passing.write_bytes(b"input")
    first = desk.device()
    there = first.push(source)
    assert first.push(passing, lasting=False).parent == first.path("x").parent
    first.close()
    second = desk.device()
    with monkeypatch.context() as patch:
        patch.setattr(type(second._transport), "send", lambda *_: pytest.fail("sent again"))
        assert second.push(source) == there
    Path(there).write_bytes(b"libr")  # as a device leaves it that lost power
    second.close()
    third = desk.device()
    assert third.run(["cat", third.push(source)]).stdout == "library"
    third.close()
    third.clear()
    assert not Path(there).exists()


def test_a_program_that_does_not_end_is_killed_there(desk: Desk) -> None:
    device = desk.device()
    with pytest.raises(DeviceError, match=r"within 0\.5 seconds on"):
        device.run(["sh", "-c", "sleep 61 & sleep 62"], timeout=0.5)
    assert device.run(["echo", "on"]).stdout == "on\n"
    device.close()
    assert nothing_is_left(desk)


def test_the_second_user_waits(desk: Desk) -> None:
    first, told = desk.device(), []

    def waiting(text: str) -> None:
        told.append(text)
        first.close()

    second = desk.device(Times(0.3, 4.0, 60), waiting)
    first.run(["true"])
    with pytest.raises(DeviceError, match=r"is in use by \w+@.*\(process \d+\) since") as caught:
        desk.device().run(["true"])
    assert "--timeout" in caught.value.problems[0].remedy
    assert second.run(["echo", "mine"]).stdout == "mine\n"
    assert len(told) == 1
    second.close()
    assert nothing_is_left(desk)


def reach(desk: SshDesk, **changes: object) -> str:
    """What is said of a device that cannot be reached."""
    spec = dataclasses.replace(desk.server.spec, **changes)  # type: ignore[arg-type]
    device = RemoteDevice(ABI, SshTransport(spec), QUICK)
    began = time.monotonic()
    with pytest.raises(DeviceError) as caught:
        device.run(["true"])
    assert time.monotonic() - began < 10
    device.close()
    return caught.value.render()


def test_a_login_that_fails_says_what_to_do(ssh_desk: SshDesk, tmp_path: Path) -> None:
    shutil.copy(ssh_desk.folder / "host_key", tmp_path / "other")
    port = ssh_desk.server.port
    denied = reach(ssh_desk, identity=tmp_path / "other")
    assert "board cannot be reached: " in denied
    assert "Permission denied" in denied
    assert f"ssh-copy-id -p {port} " in denied
    strange = tmp_path / "config"
    strange.write_text(f"UserKnownHostsFile {tmp_path}/none\n")
    assert "accept it once: ssh -p" in reach(ssh_desk, ssh_config=strange)
    assert "start the SSH server" in reach(ssh_desk, port=1)
    assert "check the address" in reach(ssh_desk, address="no-such-host.invalid")


def test_words_that_are_no_hosts_never_reach_ssh() -> None:
    for spec in (DeviceSpec("ssh", address="-oProxyCommand=x"), DeviceSpec("ssh", address="h", username="a b")):
        with pytest.raises(ConfigError, match="ssh cannot connect"):
            SshTransport(spec)


def test_another_host_leads_to_the_device(ssh_desk: SshDesk) -> None:
    server = ssh_desk.server
    with (server.folder / "ssh_config").open("a") as config:
        config.write(f"IdentityFile {server.folder}/key\n")
    spec = dataclasses.replace(server.spec, jump=f"{server.spec.username}@localhost:{server.port}")
    device = RemoteDevice(ABI, SshTransport(spec), QUICK)
    assert device.run(["echo", "there"]).stdout == "there\n"
    assert len(server.sessions()) >= 2
    device.close()
    assert nothing_is_left(ssh_desk)
