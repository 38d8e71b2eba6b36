"""Devices on the desk of a test: one behind a real ssh server, one behind the real adb client."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from buildtool.devices.adb import AdbTransport
from buildtool.devices.remote import RemoteDevice
from buildtool.devices.ssh import SshTransport
from buildtool.devices.transport import Times
from buildtool.settings import DeviceSpec
from tests.devices import pretend
from tests.devices.adbd import AdbServer, Phone
from tests.devices.sshd import Sshd

QUICK = Times(beat=0.3, silence=4.0, patience=0)
ABI = "aarch64-linux-gnu"
Waiting = Callable[[str], None]


def silently(text: str) -> None:
    pass


class Desk(Protocol):
    """A device that a test may open, and what can happen to it."""

    folder: Path
    word: str  # in the output for its clients

    def device(self, times: Times = QUICK, waiting: Waiting = silently) -> RemoteDevice: ...
    def jobs(self) -> list[Path]: ...
    def unplug(self) -> None: ...
    def fall_silent(self) -> None: ...


class SshDesk:
    def __init__(self, server: Sshd) -> None:
        self.server, self.folder, self.word = server, server.folder, str(server.port)

    def device(self, times: Times = QUICK, waiting: Waiting = silently) -> RemoteDevice:
        return self.device_of(self.server.spec, times, waiting)

    def device_of(self, spec: DeviceSpec, times: Times = QUICK, waiting: Waiting = silently) -> RemoteDevice:
        return RemoteDevice(ABI, SshTransport(spec), times, waiting)

    def jobs(self) -> list[Path]:
        return self.server.jobs()

    def unplug(self) -> None:
        self.server.signal(signal.SIGKILL)

    def fall_silent(self) -> None:
        self.server.signal(signal.SIGSTOP)


class AdbDesk:
    def __init__(self, phone: Phone) -> None:
        self.phone, self.folder, self.word = phone, phone.folder, phone.serial

    def device(self, times: Times = QUICK, waiting: Waiting = silently) -> RemoteDevice:
        return RemoteDevice(ABI, AdbTransport(self.phone.serial), times, waiting)

    def jobs(self) -> list[Path]:
        return self.phone.jobs()

    def unplug(self) -> None:
        self.phone.unplug()

    def fall_silent(self) -> None:
        self.phone.awake.clear()


@pytest.fixture
def ssh_desk(tmp_path: Path) -> Iterator[SshDesk]:
    with Sshd(tmp_path / "board") as server:
        yield SshDesk(server)


@pytest.fixture
def adb_server(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[AdbServer]:
    with AdbServer(tmp_path_factory.mktemp("adb")) as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def adb_desk(tmp_path: Path, adb_server: AdbServer) -> Iterator[AdbDesk]:
    with Phone(tmp_path / "phone") as phone:
        adb_server.connect(phone)
        yield AdbDesk(phone)


@pytest.fixture(params=["ssh", "adb"])
def desk(request: pytest.FixtureRequest) -> Desk:
    found: Desk = request.getfixturevalue(f"{request.param}_desk")
    return found


def eventually(check: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether it becomes true in this time, which is long for the sake of busy machines."""
    until = time.monotonic() + seconds
    while not check():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def clients(word: str) -> list[str]:
    """The ssh and adb clients of this machine that were told this word, but for adb's server."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if (
            Path(words[0]).name in ("ssh", "adb")
            and any(word in other for other in words)
            and "fork-server" not in words
        ):
            found.append(" ".join(words))
    return found


def nothing_is_left(desk: Desk) -> bool:
    """Whether neither the device nor this machine holds on to a job."""
    return eventually(lambda: not (desk.jobs() or pretend.running_in(desk.folder) or clients(desk.word)))
