"""`lathe debug`: gdb stops in a kernel wherever the library runs, knows the lines, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from buildtool.cli.main import run
from buildtool.devices import qemu
from tests.cli.conftest import EXAMPLE, Lathe
from tests.devices import pretend
from tests.devices.adbd import AdbServer, Phone
from tests.devices.conftest import eventually
from tests.devices.sshd import Sshd, free_port

# Stop in the kernel of the first convolution, and say how it came to that.
TO_THE_KERNEL = ["--batch", "--ex", "break RunConv", "--ex", "continue", "--ex", "backtrace"]
MACHINE = os.uname().machine


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in a folder that all tests of this file build in."""
    folder = tmp_path_factory.mktemp("it's digits")
    for name in ("deploy.yml", "digits.onnx"):
        shutil.copy(EXAMPLE / name, folder / name)
    return folder


Debug = Callable[..., str]


@pytest.fixture
def debug(project: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Debug]:
    """Runs the command, and gives what it and gdb wrote on stdout."""

    def call(*words: object) -> str:
        capfd.readouterr()
        where = [str(project / "deploy.yml"), "--output", str(project / "build")]
        code = run(["debug", *where, *map(str, words)])
        captured = capfd.readouterr()
        assert code == 0, captured.out + captured.err
        return captured.out

    yield call
    assert eventually(lambda: not processes_with(project))


def processes_with(folder: Path) -> list[str]:
    """The processes that were told of this folder, as a program under gdb is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has gone since
            line = (process / "cmdline").read_bytes().decode(errors="replace")
            if str(folder) in line:
                found.append(line)
    return found


def stood_in_the_kernel(said: str) -> bool:
    """Whether gdb names the kernel with its line, and all functions from there to `main`."""
    lines = re.findall(r"^#\d+ .*", said, re.MULTILINE)
    functions = [re.sub(r"^#\d+ +(0x\w+ in )?", "", line) for line in lines]
    assert functions[0].startswith("lathe::(anonymous namespace)::RunConv (context="), said
    assert re.search(r" at native/(ops/conv2d/conv2d_gemm\.cc|runtime/kernel\.h):\d+$", lines[0]), said
    chain = ["lathe::Session::RunNode ", "lathe::Session::Run ", "lathe::api::Run ", "lathe_run::Main "]
    places = [next((i for i, text in enumerate(functions) if text.startswith(name)), -1) for name in chain]
    return -1 not in places and places == sorted(places)


@pytest.mark.slow
def test_on_this_machine(debug: Debug) -> None:
    said = debug("--abi", "host", *TO_THE_KERNEL, "--ex", "info source")
    assert stood_in_the_kernel(said)
    assert "Temporary breakpoint 1, lathe_api_digits () at abi/host/registry.cc:" in said
    assert "LATHE_DEFINE_API(digits" in said  # the generated source is found


@pytest.mark.slow
def test_the_code_is_that_of_the_usual_library(debug: Debug, project: Path) -> None:
    debug("--abi", "host", "--print")
    assert run(["build", str(project / "deploy.yml"), "--output", str(project / "build"), "--abi", "host"]) == 0
    usual, debuggable = (project / "build" / name for name in ("digits", "variants/debug/digits"))
    shipped = "lib/host/libdigits.so"
    assert (usual / shipped).read_bytes() == (debuggable / shipped).read_bytes()


@pytest.mark.slow
@pytest.mark.arm
@pytest.mark.parametrize(("abi", "cpu"), [("arm64", "cortex-a53"), ("armhf", "cortex-a15")])
def test_in_an_emulator(debug: Debug, abi: str, cpu: str) -> None:
    assert stood_in_the_kernel(debug("--abi", abi, "--cpu", cpu, *TO_THE_KERNEL))


@pytest.mark.slow
def test_on_a_device_behind_ssh(debug: Debug, tmp_path: Path) -> None:
    with Sshd(tmp_path / "board", MACHINE) as board:
        device = ["--device-yml", board.device_file("host")]
        said = debug("--abi", "host", *device, *TO_THE_KERNEL)
        assert stood_in_the_kernel(said)
        assert eventually(lambda: not (board.jobs() or pretend.running_in(board.folder)))
        finished = debug("--abi", "host", *device, "--batch", "--ex", "continue")
        assert "exited normally" in finished
        assert "1 runs, median" in finished  # what the program writes over there


@pytest.mark.slow
def test_a_session_that_is_terminated_leaves_nothing(project: Path, tmp_path: Path) -> None:
    with Sshd(tmp_path / "board", MACHINE) as board:
        lathe = Path(sys.executable).with_name("lathe")
        command: list[str | Path] = [
            lathe,
            "debug",
            project / "deploy.yml",
            "--output",
            project / "build",
            "--abi",
            "host",
        ]
        with subprocess.Popen(
            [*command, "--device-yml", board.device_file("host")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        ) as process:
            waits_in_gdb = lambda: any("gdbserver" in line for line in processes_with(board.folder))  # noqa: E731
            try:
                assert eventually(waits_in_gdb)
            finally:
                process.terminate()
            assert process.wait(60) == 143
        assert eventually(lambda: not (board.jobs() or pretend.running_in(board.folder) or processes_with(project)))


@pytest.mark.slow
def test_on_a_phone(debug: Debug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adb").mkdir()
    with AdbServer(tmp_path / "adb") as server, Phone(tmp_path / "phone", abis=MACHINE, machine=MACHINE) as phone:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        server.connect(phone)
        assert stood_in_the_kernel(debug("--abi", "host", "--device", f"adb:{phone.serial}", *TO_THE_KERNEL))
        assert eventually(lambda: not (phone.jobs() or pretend.running_in(phone.folder)))
        assert server.adb("forward", "--list").strip() == ""


def by_hand(lines: str) -> str:
    """What a shell makes of the commands."""
    done = subprocess.run(
        ["bash", "-e", "-c", f"{lines}\nwait"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.arm
def test_by_hand_in_an_emulator(debug: Debug, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "GDB_PORT", free_port())
    assert stood_in_the_kernel(by_hand(debug("--abi", "arm64", "--print", *TO_THE_KERNEL)))


@pytest.mark.slow
def test_by_hand_on_devices(debug: Debug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Sshd(tmp_path / "board", MACHINE) as board:
        lines = debug("--abi", "host", "--device-yml", board.device_file("host"), "--dry-run", *TO_THE_KERNEL)
        assert not board.jobs()
        assert stood_in_the_kernel(by_hand(lines))
    (tmp_path / "adb").mkdir()
    with AdbServer(tmp_path / "adb") as server, Phone(tmp_path / "phone", abis=MACHINE, machine=MACHINE) as phone:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        server.connect(phone)
        lines = debug("--abi", "host", "--device", f"adb:{phone.serial}", "--dry-run", *TO_THE_KERNEL)
        assert stood_in_the_kernel(by_hand(lines))


@pytest.mark.slow
def test_a_device_without_gdbserver(lathe: Lathe, project: Path, tmp_path: Path) -> None:
    words = ["debug", project / "deploy.yml", "--output", project / "build", "--abi", "host", "--batch"]
    with Sshd(tmp_path / "board", MACHINE) as board:
        absent = board.folder / "bin" / "gdbserver"  # stands before the machine's own, and says what a shell says
        absent.write_text("#!/bin/sh\necho 'sh: 1: exec: gdbserver: not found' >&2; exit 127\n")
        absent.chmod(0o755)
        words += ["--device-yml", board.device_file("host")]
        missing = lathe(*words)
        assert missing.code == 10
        assert "board has no gdbserver" in missing.stderr
        assert "--gdbserver FILE" in missing.stderr
        broken = tmp_path / "server"
        broken.write_text("#!/bin/sh\necho 'bad version' >&2; exit 1\n")
        said = lathe(*words, "--gdbserver", broken).stderr
        assert "gdbserver does not start on board: bad version" in said
        given = shutil.which("gdbserver")
        assert given, "apt-get install gdbserver"
        assert lathe(*words, "--gdbserver", given, "--ex", "info sharedlibrary").code == 0
        assert eventually(lambda: not (board.jobs() or pretend.running_in(board.folder)))


def test_no_gdb_that_knows_the_processor(lathe: Lathe, digits: Path, tmp_path: Path) -> None:
    fake = tmp_path / "gdb"
    fake.write_text("#!/bin/sh\necho 'Undefined item'\n")
    fake.chmod(0o755)
    result = lathe("debug", digits, "--abi", "host", "--gdb", fake)
    assert result.code == 6
    assert "is not a gdb that supports" in result.stderr


def test_without_any_gdb(lathe: Lathe, digits: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = lathe("debug", digits, "--abi", "host")
    assert result.code == 6
    assert "apt-get install gdb-multiarch" in result.stderr


def test_one_of_each(lathe: Lathe, digits: Path) -> None:
    several = lathe("debug", digits)
    assert several.code == 2
    assert "one of 3 ABIs: host, aarch64-linux-gnu, arm-linux-gnueabihf" in several.stderr
    assert "choose it with --abi" in several.stderr
    devices = lathe("debug", digits, "--abi", "arm64", "--device", "qemu:cortex-a53", "--device", "qemu")
    assert "one of 2 devices" in devices.stderr
    assert "remove --json, or add --print" in lathe("debug", digits, "--abi", "host", "--json").stdout
    assert "no such file" in lathe("debug", digits, "--abi", "host", "--gdbserver", "nowhere").stderr
