"""A real ssh server on this machine whose sessions are a pretended device."""

from __future__ import annotations

import contextlib
import dataclasses
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from buildtool.settings import DeviceSpec
from tests.devices import pretend

_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile {folder}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
LogLevel ERROR
SetEnv HOME={folder}/home
ForceCommand env {variables} sh -c "$SSH_ORIGINAL_COMMAND"
"""


class Sshd:
    """A server with its own keys, on a port of its own. A context."""

    def __init__(self, folder: Path, machine: str = "aarch64") -> None:
        self.folder = folder
        variables = pretend.make(folder, machine)
        self.home = Path(variables["HOME"])
        for name in ("host_key", "key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(command, check=True)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        assert program, "apt-get install openssh-server"
        words = " ".join(shlex.quote(f"{name}={value}") for name, value in variables.items())
        self.port = self._start(program, words)
        host_key = (folder / "host_key.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port},[localhost]:{self.port} {' '.join(host_key)}\n")
        (folder / "ssh_config").write_text(f"UserKnownHostsFile {folder}/known_hosts\nUser {getpass.getuser()}\n")
        self.spec = DeviceSpec(
            "ssh",
            name="board",
            address="127.0.0.1",
            username=getpass.getuser(),
            port=self.port,
            identity=folder / "key",
            ssh_config=folder / "ssh_config",
        )

    def _start(self, program: str, variables: str) -> int:
        """Start the server on a free port; on another one, where somebody else was faster."""
        for _ in range(5):
            port = free_port()
            config = self.folder / "sshd_config"
            config.write_text(_CONFIG.format(port=port, folder=self.folder, variables=variables))
            command = [program, "-D", "-f", str(config), "-E", str(self.folder / "log")]
            self._process = subprocess.Popen(command, start_new_session=True)
            if self._listens():
                return port
            self._stop()
        raise AssertionError("sshd does not start: " + (self.folder / "log").read_text())

    def _listens(self, seconds: float = 60.0) -> bool:
        """Whether it waits for connections, which is when it writes down its number."""
        until = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < until:
            if (self.folder / "sshd.pid").is_file():
                return True
            time.sleep(0.05)
        return False

    def _stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def device_file(self, abi: str = "arm64", **keys: str) -> Path:
        """A device file with this device in it."""
        lines = ["devices:", "  board:", f"    target_abis: [{abi}]", "    address: 127.0.0.1"]
        lines += [f"    username: {getpass.getuser()}", f"    port: {self.port}", "    identity: key"]
        lines += ["    ssh_config: ssh_config", *(f"    {key}: {value}" for key, value in keys.items())]
        file = self.folder / "devices.yml"
        file.write_text("\n".join(lines) + "\n")
        return file

    def sessions(self) -> list[int]:
        """The processes of the server that serve a connection."""
        children: dict[int, list[int]] = {}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
                children.setdefault(int(parent), []).append(int(process.name))
        below = list(children.get(self._process.pid, ()))
        for pid in below:
            below += children.get(pid, ())
        return [pid for pid in below if _name(pid) == "sshd"]

    def signal(self, number: int) -> None:
        """Stop, continue or kill what serves connections, as a network does that goes away."""
        for process in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    @contextlib.contextmanager
    def hanging(self) -> Iterator[DeviceSpec]:
        """A way to a server that takes connections and never says a word."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            yield dataclasses.replace(self.spec, port=listener.getsockname()[1])

    def jobs(self) -> list[Path]:
        return sorted((self.home / ".lathe" / "jobs").glob("*"))

    def __enter__(self) -> Sshd:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
        finally:
            self._stop()
        for process in pretend.running_in(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _name(pid: int) -> str:
    """What a process is called; nothing where it has gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
