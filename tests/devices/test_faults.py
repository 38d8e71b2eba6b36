"""What goes wrong with devices: the error says what; afterwards nothing runs, no folder is left, no lock is held."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from buildtool.devices.transport import Times
from buildtool.errors import DeviceError
from tests.devices import pretend
from tests.devices.adbd import AdbServer
from tests.devices.conftest import AdbDesk, Desk, SshDesk, clients, eventually, nothing_is_left

ROOT = Path(__file__).resolve().parents[2]


def at(moment: Callable[[], object], event: Callable[[], None]) -> threading.Thread:
    """Lets something happen as soon as the moment has come."""

    def watch() -> None:
        if eventually(moment):
            event()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def sleeping(desk: Desk) -> bool:
    return any(path.suffix == ".pid" for job in desk.jobs() for path in job.glob("*.pid"))


def sleepers(desk: Desk, seconds: int) -> list[int]:
    """The programs on the device that sleep so long."""
    found = []
    for process in pretend.running_in(desk.folder):
        with contextlib.suppress(OSError):  # it has gone since
            if Path(f"/proc/{process}/cmdline").read_bytes() == f"sleep\0{seconds}\0".encode():
                found.append(process)
    return found


@pytest.fixture
def large(tmp_path: Path) -> Path:
    file = tmp_path / "large"
    with file.open("wb") as stream:
        stream.truncate(400 << 20)
    return file


@pytest.mark.slow
def test_unplugged_while_a_file_goes_there(desk: Desk, large: Path) -> None:
    device = desk.device()
    device.run(["true"])
    arriving = lambda: any((job / "part").exists() for job in desk.jobs())  # noqa: E731
    thread = at(arriving, desk.unplug)
    with pytest.raises(DeviceError, match="was lost: "):
        device.push(large)
    thread.join()
    device.close()
    assert nothing_is_left(desk)
    assert not list(desk.folder.rglob("*-large"))


def test_unplugged_while_a_program_runs(desk: Desk) -> None:
    device = desk.device()
    unplugged: list[float] = []

    def unplug() -> None:
        unplugged.append(time.monotonic())
        desk.unplug()

    thread = at(lambda: sleepers(desk, 63), unplug)
    with pytest.raises(DeviceError, match="was lost: ") as caught:
        device.run(["sleep", "63"])
    thread.join()
    assert time.monotonic() - unplugged[0] < 10
    assert "lathe devices" in caught.value.problems[0].remedy
    with pytest.raises(DeviceError, match="was lost: "):
        device.run(["true"])
    device.close()
    assert nothing_is_left(desk)


def test_silent_while_a_program_runs(desk: Desk) -> None:
    device = desk.device()
    thread = at(lambda: sleeping(desk), desk.fall_silent)
    with pytest.raises(DeviceError, match=r"was lost: no response for 4 seconds"):
        device.run(["sleep", "64"])
    thread.join()
    device.close()
    assert eventually(lambda: not clients(desk.word))
    assert eventually(lambda: not (desk.jobs() or pretend.running_in(desk.folder)))  # the device has noticed, too


@pytest.mark.slow
def test_a_device_that_falls_silent_is_given_up_within_ten_seconds(ssh_desk: SshDesk) -> None:
    device = ssh_desk.device(Times())
    fell: list[float] = []

    def fall() -> None:
        fell.append(time.monotonic())
        ssh_desk.fall_silent()

    thread = at(lambda: sleeping(ssh_desk), fall)
    with pytest.raises(DeviceError, match="was lost: "):
        device.run(["sleep", "64"])
    assert time.monotonic() - fell[0] < 10
    thread.join()
    device.close()


def test_silent_from_the_start(ssh_desk: SshDesk) -> None:
    with ssh_desk.server.hanging() as spec:
        device = ssh_desk.device_of(spec)
        began = time.monotonic()
        with pytest.raises(DeviceError, match="cannot be reached: "):
            device.run(["true"])
        assert time.monotonic() - began < 20
        device.close()
        assert eventually(lambda: not clients(str(spec.port)))


def test_the_wrong_machine(desk: Desk) -> None:
    device = desk.device()
    with pytest.raises(DeviceError) as caught:
        device.push(Path(sys.executable).resolve())
    (problem,) = caught.value.problems
    assert "this is for x86_64, and " in problem.what
    assert problem.what.endswith(" is aarch64")
    assert problem.rule == "the device runs programs for aarch64, arm"
    assert "--abi" in problem.remedy
    device.close()
    assert nothing_is_left(desk)


def test_a_program_that_the_device_cannot_start(desk: Desk, tmp_path: Path) -> None:
    device = desk.device()
    program = tmp_path / "program"
    program.write_text("#!/no/such/interpreter\n")
    with pytest.raises(DeviceError, match=r"cannot start the program: .*not found"):
        device.run([device.push(program)])
    device.close()


def test_a_program_that_somebody_kills(desk: Desk) -> None:
    device = desk.device()

    def kill() -> None:
        for process in sleepers(desk, 65):
            os.kill(process, signal.SIGKILL)

    thread = at(lambda: sleepers(desk, 65), kill)
    assert device.run(["sleep", "65"]).exit_code == -signal.SIGKILL
    thread.join()
    device.close()
    assert nothing_is_left(desk)


@contextlib.contextmanager
def small_disk(desk: Desk) -> Iterator[None]:
    """The device's files are on a disk of one megabyte: a mounted one, or one that the pretended phone thinks of."""
    if isinstance(desk, AdbDesk):
        desk.phone.room = 1 << 20
        yield
        return
    place = desk.folder / "home" / ".lathe"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "lathe-test", str(place)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk; the disk of the phone is full in another test")
    try:
        yield
    finally:
        subprocess.run(
            ["umount", "--lazy", str(place)], check=True
        )  # a process that ends may still have it as working directory


def test_a_full_disk(desk: Desk, tmp_path: Path) -> None:
    device, file = desk.device(), tmp_path / "library.so"
    file.write_bytes(bytes(3 << 20))
    with small_disk(desk):
        with pytest.raises(DeviceError, match=r"cannot receive library\.so: .*No space left on device") as caught:
            device.push(file)
        assert "lathe devices --clear" in caught.value.problems[0].remedy
        file.write_bytes(b"small")
        assert device.run(["cat", device.push(file)]).stdout == "small"
        device.close()
    assert nothing_is_left(desk)


_CRASH = """
import sys
from pathlib import Path
from tests.devices.conftest import QUICK, ABI
from buildtool.devices.{kind} import {transport}
from buildtool.devices.remote import RemoteDevice
from buildtool.settings import DeviceSpec
RemoteDevice(ABI, {transport}({argument}), QUICK).run(["sleep", "66"])
"""


def test_our_own_process_is_killed(desk: Desk) -> None:
    if isinstance(desk, SshDesk):
        spec = repr(desk.server.spec).replace("PosixPath", "Path")
        text = _CRASH.format(kind="ssh", transport="SshTransport", argument=spec)
    else:
        text = _CRASH.format(kind="adb", transport="AdbTransport", argument=repr(desk.word))
    process = subprocess.Popen([sys.executable, "-c", text], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        assert eventually(lambda: sleeping(desk))
    finally:
        process.kill()
        process.wait()
    assert nothing_is_left(desk)
    device = desk.device()
    assert device.run(["echo", "free"]).stdout == "free\n"
    device.close()


def test_folders_of_jobs_that_died_on_the_device_are_removed(desk: Desk) -> None:
    left = desk.folder / ("home/.lathe" if isinstance(desk, SshDesk) else "files/lathe") / "jobs/dead"
    left.mkdir(parents=True)
    process = subprocess.Popen(["sleep", "67"], cwd=left, start_new_session=True)
    (left / "run1.pid").write_text(f"{process.pid}\n")
    other = subprocess.Popen(["sleep", "68"], start_new_session=True)
    (left / "run2.pid").write_text(f"{other.pid}\n")  # a number that has become that of somebody else
    device = desk.device()
    try:
        device.run(["true"])
        assert process.wait(60) == -signal.SIGKILL
        assert not left.exists()
        assert other.poll() is None
    finally:
        for started in (process, other):
            started.kill()
            started.wait()
        device.close()
    assert nothing_is_left(desk)


def test_a_phone_that_is_not_there_or_not_allowed(adb_server: AdbServer, tmp_path: Path) -> None:
    from buildtool.devices.choose import transports
    from buildtool.settings import DeviceSpec

    with pytest.raises(DeviceError, match=r"adb knows no device 'X1'") as caught:
        transports(DeviceSpec("adb", address="X1"))
    assert "adb connect" in caught.value.problems[0].remedy
