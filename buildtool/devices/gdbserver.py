"""What a gdbserver on a device says: on which port it waits, or why it does not."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import TracebackType

from buildtool.errors import DeviceError

OPTIONS = ("--once", "--no-startup-with-shell")  # one gdb may connect; not every device has the shell that it wants
_LISTENING = re.compile(r"Listening on port (\d+)")
_CHATTER = re.compile(r"Process .* created; pid = |Remote debugging from host |Listening on port |Killing process")
_START = 30.0  # seconds until it listens
_NOT_FOUND = 127
_REMEDY = (
    "install it there (apt-get install gdbserver), or give one that runs there with --gdbserver FILE; "
    "NDKs up to r23 have one for each ABI of Android: prebuilt/android-*/gdbserver/gdbserver"
)


def command_line(command: Sequence[str]) -> str:
    """A gdbserver that talks on its standard streams."""
    return shlex.join(["gdbserver", *OPTIONS, "-", *command])


class Following:
    """Reads stderr of a client whose gdbserver runs on a device (program.sh). A context; other words are shown."""

    def __init__(self, process: subprocess.Popen[bytes], token: str, name: str) -> None:
        self._process, self._token, self._name = process, token, name
        self._said: list[str] = []
        self._port = 0
        self._code: int | None = None
        self._known = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Following:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.join(5)

    def port(self) -> int:
        """The port on which it waits. DeviceError where it does not."""
        self._known.wait(_START)
        if self._port:
            return self._port
        if self._code == _NOT_FOUND:
            raise DeviceError(f"{self._name} has no gdbserver", remedy=_REMEDY)
        said = next((line for line in reversed(self._said) if line.strip()), "no reason given")
        raise DeviceError(f"gdbserver does not start on {self._name}: {said.strip()}", remedy=_REMEDY)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for raw in self._process.stderr:
            line = raw.decode("utf-8", errors="replace")
            if found := _LISTENING.search(line):
                self._port = int(found[1])
                self._known.set()
            elif line.startswith(self._token):
                self._code = int(line.split()[1])
                break
            elif self._port and not _CHATTER.match(line):
                sys.stderr.write(line)
            self._said.append(line)
        self._known.set()
