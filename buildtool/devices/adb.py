"""A way to Android devices by the `adb` client."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from buildtool.devices.transport import Answer, Execute
from buildtool.errors import DeviceError

_LISTING = 15.0  # seconds that listing may take: it starts adb's server where there is none
_STATES = {
    "unauthorized": "unlock the device and allow debugging by this computer",
    "offline": "unplug the device and plug it in again, or: adb reconnect",
    "no permissions": "give this user access to the device (udev rules: "
    "https://developer.android.com/studio/run/device)",
    "recovery": "let the device start its system",
    "bootloader": "let the device start its system",
}


@dataclass(frozen=True)
class Phone:
    """A device that adb knows."""

    serial: str
    state: str  # `device` where it can be used

    def refusal(self) -> DeviceError:
        return DeviceError(
            f"adb:{self.serial} cannot be used: it is {self.state}",
            remedy=next((remedy for state, remedy in _STATES.items() if state in self.state), "see: adb devices"),
        )


def phones() -> list[Phone]:
    """All devices that adb knows, in the order of their serials."""
    try:
        done = subprocess.run(
            [_adb(), "devices"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_LISTING, check=False
        )
    except subprocess.TimeoutExpired as problem:
        raise DeviceError(
            f"adb does not answer within {_LISTING:g} seconds", remedy="start its server again: adb kill-server"
        ) from problem
    if done.returncode:
        said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        raise DeviceError(
            f"adb cannot list its devices: {said[-1] if said else done.returncode}", remedy="see: adb devices"
        )
    lines = done.stdout.decode("utf-8", errors="replace").splitlines()
    pairs = [line.split("\t", 1) for line in lines if "\t" in line]
    return sorted((Phone(serial, state.strip()) for serial, state in pairs), key=lambda phone: phone.serial)


def is_here() -> bool:
    return shutil.which("adb") is not None


class AdbTransport:
    """Commands by `adb shell`, files by `adb push` and `adb pull`."""

    root = "/data/local/tmp/lathe"

    def __init__(self, serial: str) -> None:
        self.name = f"adb:{serial}"
        self._client = [_adb(), "-s", serial]

    def keeping(self, script: str) -> Sequence[str]:
        return [*self._client, "shell", script]

    def command(self, script: str) -> Sequence[str]:
        return [*self._client, "shell", "-n", script]

    asking = command

    def send(self, source: Path, path: str, execute: Execute) -> Answer:
        return _complaining(execute([*self._client, "push", str(source), path], None))

    def fetch(self, path: str, execute: Execute) -> Answer:
        with tempfile.TemporaryDirectory(prefix="lathe-adb-") as folder:
            file = Path(folder) / "file"
            answer = _complaining(execute([*self._client, "pull", path, str(file)], None))
            content = file.read_bytes() if file.is_file() else b""
        return Answer(answer.exit_code, content, answer.stderr)

    @contextlib.contextmanager
    def forwarding(self, port: int, execute: Execute) -> Iterator[str]:
        """A port of this machine alone; adb chooses one that is free."""
        answer = execute([*self._client, "forward", "tcp:0", f"tcp:{port}"], None)
        here = answer.stdout.decode("utf-8", errors="replace").strip()
        if answer.exit_code or not here.isdecimal():
            raise DeviceError(f"{self.name} does not allow access to its port {port}: {_complaining(answer).stderr}")
        try:
            yield f"127.0.0.1:{here}"
        finally:
            with contextlib.suppress(DeviceError):  # of a device that was lost, the port has gone with it
                execute([*self._client, "forward", "--remove", f"tcp:{here}"], None)

    def by_hand(self, files: Mapping[str, Path], command: str) -> tuple[list[str], str]:
        folder = f"{self.root}/debug"

        def adb(*words: str) -> str:
            return shlex.join(["adb", *self._client[1:], *words])

        sending = [adb("push", str(file), f"{folder}/{name}") for name, file in files.items()]
        starting = adb("shell", "-T", f"cd {folder} && chmod 700 * && {command}")  # terminals change what is said
        return [adb("shell", f"mkdir -p {folder}"), *sending], starting

    def remedy(self, said: str) -> str:
        return next(
            (remedy for state, remedy in _STATES.items() if state in said), "check whether it is connected: adb devices"
        )

    def close(self) -> None:
        pass


def _complaining(answer: Answer) -> Answer:
    """The answer with its complaints where one looks for them: adb mixes them with figures, on either stream."""
    lines = [*answer.stdout.decode("utf-8", errors="replace").splitlines(), *answer.stderr.splitlines()]
    errors = [line for line in lines if "error" in line]
    return Answer(answer.exit_code, b"", "\n".join(errors or lines))


def _adb() -> str:
    found = shutil.which("adb")
    if found is None:
        raise DeviceError("adb is missing", remedy="install it: apt-get install adb")
    return found
