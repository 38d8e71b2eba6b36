"""A way to a device by the OpenSSH client: one connection for all commands of a job."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from buildtool.devices.transport import Answer, Execute
from buildtool.errors import ConfigError, DeviceError
from buildtool.settings import DeviceSpec

_WORD = re.compile(r"[A-Za-z0-9_.:%\[\]@][A-Za-z0-9_.:%\[\]@,-]*")
_LONGEST = 60  # of the folder of the socket: the name of a socket has 107 characters at most, and ssh adds 17
_REMEDIES = {
    "Permission denied": "install your key on the device: ssh-copy-id {login}",
    "Host key verification failed": "check the key of the device and accept it once: ssh {login}",
    "REMOTE HOST IDENTIFICATION HAS CHANGED": "if the device was set up anew: ssh-keygen -R {host}",
    "Could not resolve": "check the address of the device",
    "Connection refused": "start the SSH server on the device, and check the port",
    "timed out": "check whether the device is on and in this network",
    "No route to host": "check whether the device is on and in this network",
    "Session open refused": "allow several sessions in the device's sshd_config: MaxSessions 10",
    "administratively prohibited": "allow forwarding on the jump host: AllowTcpForwarding yes",
}


class SshTransport:
    """Commands by `ssh`, which reads the user's configuration, without ever asking for anything."""

    root = "~/.lathe"

    def __init__(self, spec: DeviceSpec) -> None:
        for word in filter(None, (spec.address, spec.username, spec.jump)):
            if not _WORD.fullmatch(word):
                raise ConfigError(
                    f"ssh cannot connect to '{word}'", rule="hosts and users: letters, digits and . _ - :"
                )
        self._spec = spec
        self._host = spec.address
        login = f"{spec.username}@{spec.address}" if spec.username else spec.address
        self._login = f"-p {spec.port} {login}" if spec.port and spec.port != 22 else login
        self.name = spec.name or f"ssh://{login}" + (f":{spec.port}" if spec.port and spec.port != 22 else "")
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def keeping(self, script: str) -> Sequence[str]:
        _sweep()
        place = tempfile.gettempdir()
        self._folder = tempfile.TemporaryDirectory(prefix="lathe-ssh-", dir=place if len(place) < _LONGEST else "/tmp")
        return [*self._client(), "-o", "ControlMaster=yes", "-S", self._socket(), "--", self._host, script]

    def command(self, script: str) -> Sequence[str]:
        # Without the connection there is no way: a second one would know nothing of the job.
        options = [*_OPTIONS, "-o", "ControlMaster=no", "-o", "ProxyCommand=false", "-S", self._socket()]
        return [_ssh(), "-F", "none", *options, "--", self._host, script]

    def asking(self, script: str) -> Sequence[str]:
        return [*self._client(), "-S", "none", "--", self._host, script]

    def send(self, source: Path, path: str, execute: Execute) -> Answer:
        with source.open("rb") as stream:
            return execute(self.command(f"cat >'{path}'"), stream)

    def fetch(self, path: str, execute: Execute) -> Answer:
        return execute(self.command(f"cat '{path}'"), None)

    @contextlib.contextmanager
    def forwarding(self, port: int, execute: Execute) -> Iterator[str]:
        """A socket in the folder of the connection, where nobody else on this machine gets in."""
        assert self._folder is not None, "the device is not open"
        here = f"{self._folder.name}/g"
        way = [*("-O", "forward"), "-S", self._socket(), "-L", f"{here}:127.0.0.1:{port}"]
        answer = execute([_ssh(), "-F", "none", *_OPTIONS, *way, "--", self._host], None)
        if answer.exit_code:
            raise DeviceError(
                f"{self.name} does not allow access to its port {port}: {answer.stderr.strip()}",
                remedy="allow it in the device's sshd_config: AllowTcpForwarding yes",
            )
        yield here

    def by_hand(self, files: Mapping[str, Path], command: str) -> tuple[list[str], str]:
        folder = f"{self.root}/debug"  # the shell there knows ~

        def there(script: str) -> str:
            return shlex.join(["ssh", *self._way(), self._host, script])

        lines = [there(f"mkdir -p {folder}")]
        for name, file in files.items():
            lines.append(f"{there(f'cat >{folder}/{shlex.quote(name)}')} <{shlex.quote(str(file))}")
        return lines, there(f"cd {folder} && chmod 700 * && {command}")

    def remedy(self, said: str) -> str:
        for words, remedy in _REMEDIES.items():
            if words in said:
                return remedy.format(login=self._login, host=self._host)
        return f"connect by hand to see why: ssh {self._login}"

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None

    def _socket(self) -> str:
        assert self._folder is not None, "the device is not open"
        return f"{self._folder.name}/s"

    def _client(self) -> list[str]:
        """The client with everything that leads to the device."""
        return [_ssh(), *_OPTIONS, "-o", "ClearAllForwardings=yes", *self._way()]

    def _way(self) -> list[str]:
        """What the user said of the way."""
        spec = self._spec
        words = ["-F", str(spec.ssh_config)] if spec.ssh_config else []
        words += ["-l", spec.username] if spec.username else []
        words += ["-p", str(spec.port)] if spec.port else []
        words += ["-J", spec.jump] if spec.jump else []
        words += ["-i", str(spec.identity), "-o", "IdentitiesOnly=yes"] if spec.identity else []
        return words


# Nobody is there to answer questions, and a device that has gone must not be waited for.
_OPTIONS = [
    *("-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8", "-o", "ConnectionAttempts=1"),
    *("-o", "ServerAliveInterval=3", "-o", "ServerAliveCountMax=2"),
    *("-o", "ControlPersist=no", "-o", "PermitLocalCommand=no", "-o", "LogLevel=ERROR"),
]


def _ssh() -> str:
    found = shutil.which("ssh")
    if found is None:
        raise DeviceError("the ssh client is missing", remedy="install it: apt-get install openssh-client")
    return found


def _sweep() -> None:
    """Remove the folders of sockets that a killed process left: their connections have ended, and so are empty."""
    for place in {Path(tempfile.gettempdir()), Path("/tmp")}:
        for folder in place.glob("lathe-ssh-*"):
            try:
                if time.time() - folder.stat().st_mtime > 60:
                    folder.rmdir()
            except OSError:
                continue
