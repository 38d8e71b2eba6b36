"""A device somewhere else: files go into a cache by their content, programs run in the folder of a job."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import secrets
import shlex
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from buildtool.devices import probe
from buildtool.devices.device import DEFAULT_TIMEOUT, NO_VARIABLES, Arguments, Completed, Gate
from buildtool.devices.gdbserver import OPTIONS, Following, command_line
from buildtool.devices.lease import Lease, kill, remedy_for
from buildtool.devices.programs import machine_of, machines_of
from buildtool.devices.transport import Answer, Times, Transport
from buildtool.digests import sha256_of
from buildtool.errors import DeviceError, Where

_KEEPER = Path(__file__).with_name("keeper.sh").read_text(encoding="utf-8")
_PROGRAM = Path(__file__).with_name("program.sh").read_text(encoding="utf-8")
_QUESTION = 20.0  # seconds that an answer outside of a job may take
_HAS = 'f=$1; [ -f "$f" ] && [ "$(($(wc -c <"$f")))" = "$2" ] && touch "$f"'
_KEEP = '[ "$(($(wc -c <"$1")))" = "$2" ] && chmod 700 "$1" && mv "$1" "$3"'
_STOP = ': >"$1.stop"; [ -s "$1.pid" ] && p=$(cat "$1.pid") && { kill -KILL "-$p" || kill -KILL "$p"; } 2>/dev/null'


def script(text: str, *arguments: object) -> str:
    """The words that run a script of `sh` with arguments, as any shell reads them."""
    return shlex.join(["sh", "-c", text, "lathe", *map(str, arguments)])


class RemoteDevice:
    """A device by whatever way leads to it. It is opened by the first thing that needs it."""

    def __init__(
        self,
        abi: str,
        transport: Transport,
        times: Times = Times(),  # noqa: B008 (frozen)
        waiting: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.abi = abi
        self.name = transport.name
        self._transport = transport
        self._times = times
        self._waiting = waiting
        self._lease: Lease | None = None
        self._there: dict[str, PurePosixPath] = {}
        self._runs = 0
        self._machines: tuple[str, ...] = ()
        self._properties: dict[str, str] = {}

    def push(self, source: Path, name: str = "", *, lasting: bool = True) -> PurePosixPath:
        where = Where(file=str(source))
        try:
            digest, size = sha256_of(source), source.stat().st_size
        except OSError as problem:
            raise DeviceError(
                f"this file cannot be read: {problem.strerror}", where=where, remedy="build the library again"
            ) from problem
        lease = self._opened()
        self._refuse_other_machines(source)
        folder = PurePosixPath(lease.folder)
        name = name or source.name
        path = folder.parents[1] / "cache" / f"{digest[:32]}-{name}" if lasting else folder / name
        if path.name in self._there:
            return self._there[path.name]
        if not lasting or self._ask(script(_HAS, path, size)).exit_code:
            part = str(folder / "part")
            self._succeed(self._transport.send(source, part, self._execute), f"cannot receive {source.name}", where)
            kept = self._ask(script(_KEEP, part, size, path))
            self._succeed(kept, f"did not store {source.name} ({size} bytes)", where)
        if lasting:
            self._there[path.name] = path
        return path

    def push_folder(self, source: Path) -> PurePosixPath:
        folder = self.path(f"folder{self._runs}")
        with tempfile.TemporaryDirectory(prefix="lathe-push-") as place:
            archive = Path(place) / "files.tar"
            with tarfile.open(archive, "w") as files:
                files.add(source, ".")
            there = self.push(archive, lasting=False)
        unpacked = self._ask(script('mkdir "$2" && tar -xf "$1" -C "$2" && rm "$1"', there, folder))
        self._succeed(unpacked, f"cannot unpack {source.name}", Where(file=str(source)))
        return folder

    def path(self, name: str) -> PurePosixPath:
        return PurePosixPath(self._opened().folder) / name

    def keeping(self, folder: Path) -> PurePosixPath:
        return PurePosixPath(self._opened().folder).parents[1] / "cache"

    def run(
        self,
        command: Sequence[str | PurePosixPath],
        timeout: float = DEFAULT_TIMEOUT,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> Completed:
        lease = self._opened()
        self._runs += 1
        words, token, began = tuple(map(str, command)), f"lathe-{secrets.token_hex(8)}", time.monotonic()
        name = f"run{self._runs}"
        exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in variables.items())
        line = script(exports + _PROGRAM, lease.folder, name, token, *words)
        try:
            answer = self._execute(self._transport.command(line), None, timeout)
        except subprocess.TimeoutExpired as problem:
            with contextlib.suppress(DeviceError):
                self._ask(script(_STOP, f"{lease.folder}/{name}"))
            raise DeviceError(
                f"the program did not end within {timeout:g} seconds on {self.name}",
                where=Where(file=words[0]),
                remedy="give it more time with --timeout, or fewer rounds",
            ) from problem
        stderr, marked, code = answer.stderr.rpartition(f"{token} ")
        if not marked:
            raise self._unreachable(answer)
        exit_code = int(code.split()[0])
        if exit_code in (126, 127):
            raise self._cannot_start(words[0], stderr, exit_code)
        if exit_code > 128 and exit_code - 128 in {item.value for item in signal.Signals}:
            exit_code = 128 - exit_code
        stdout = answer.stdout.decode("utf-8", errors="replace")
        return Completed(words, exit_code, stdout, stderr, time.monotonic() - began)

    @contextlib.contextmanager
    def debugging(self, arguments: Arguments, server: Path | None = None) -> Iterator[Gate]:
        """By a gdbserver, whose port is brought here. The device itself gives gdb the files of its system."""
        lease = self._opened()
        self._runs += 1
        command = arguments(lambda file, lasting: self.push(file, lasting=lasting))
        program = self.push(server) if server is not None else PurePosixPath("gdbserver")
        name, token = f"run{self._runs}", f"lathe-{secrets.token_hex(8)}"
        words = [program, *OPTIONS, "127.0.0.1:0", *command]  # its system chooses a port that is free
        line = script(_PROGRAM, lease.folder, name, token, *words)
        process = _started(self._transport.command(line), None, shown=True)
        try:
            with lease.guarding(process), Following(process, token, self.name) as following:
                try:
                    with self._transport.forwarding(following.port(), self._execute) as here:
                        yield Gate(tuple(map(str, command)), here, "target:")
                finally:
                    with contextlib.suppress(DeviceError):
                        self._ask(script(_STOP, f"{lease.folder}/{name}"))
                if lease.gone:
                    raise self._unreachable(Answer(1, b"", ""))
        finally:
            _finish(process)

    def by_hand(self, arguments: Arguments) -> tuple[Gate, list[str]]:
        files: dict[str, Path] = {}

        def put(file: Path, lasting: bool) -> str:
            files[file.name] = file
            return f"./{file.name}"

        command = tuple(map(str, arguments(put)))
        lines, server = self._transport.by_hand(files, command_line(command))
        return Gate(command, f"| {server}", "target:"), lines

    def pull(self, path: PurePosixPath, destination: Path) -> Path:
        where = Where(file=str(path))
        self._opened()
        if self._ask(script('[ -f "$1" ]', path)).exit_code:
            raise DeviceError("the program did not write this file", where=where)
        answer = self._transport.fetch(str(path), self._execute)
        self._succeed(answer, f"did not return {path.name}", where)
        destination.write_bytes(answer.stdout)
        return destination

    def properties(self) -> Mapping[str, str]:
        if not self._properties:
            self._opened()
            self._properties = probe.properties(self._ask(script(probe.SCRIPT)).stdout.decode("utf-8", "replace"))
        return {"device": self.name, "abi": self.abi, **self._properties}

    def survey(self) -> Mapping[str, str]:
        """The properties without a job: it takes nobody's time, and waits for nobody."""
        answer = self._question(script(probe.SCRIPT))
        return {"device": self.name, **probe.properties(answer.stdout.decode("utf-8", "replace"))}

    def clear(self) -> None:
        """Remove the cache."""
        self._question(
            script('case $1 in "~"/*) r=$HOME/${1#??};; *) r=$1;; esac; rm -rf "$r/cache"', self._transport.root)
        )

    def close(self) -> None:
        if self._lease is not None:
            self._lease.close()
        self._lease = None
        self._there.clear()
        self._transport.close()

    def _opened(self) -> Lease:
        if self._lease is None:
            self._lease = lease = Lease(
                self._transport.keeping(
                    script(
                        _KEEPER,
                        self._transport.root,
                        secrets.token_hex(6),
                        f"{_user()}@{platform.node()} (process {os.getpid()}) since {time.strftime('%H:%M:%S')}",
                        int(self._times.patience),
                        self._times.silence / 3,
                    )
                ),
                self.name,
                self._times,
                self._waiting,
            )
            try:
                lease.wait()
                if not lease.folder:
                    raise self._unreachable(Answer(1, b"", lease.said()))
            except BaseException:
                self.close()
                raise
        return self._lease

    def _refuse_other_machines(self, source: Path) -> None:
        machine = machine_of(source)
        if machine and not self._machines:
            self._machines = machines_of(self.properties())
        if machine and self._machines and machine not in self._machines:
            raise DeviceError(
                f"this is for {machine}, and {self.name} is {self._machines[0]}",
                where=Where(file=str(source)),
                rule=f"the device runs programs for {', '.join(self._machines)}",
                remedy="choose the ABI of the device with --abi, or another device with --device",
            )

    def _ask(self, line: str) -> Answer:
        """Run a line of shell there, inside the job. DeviceError where it got lost on the way."""
        try:
            answer = self._execute(self._transport.command(f"{line}; echo lathe $? >&2"), None)
        except subprocess.TimeoutExpired as problem:
            raise DeviceError(
                f"{self.name} does not answer", remedy="check whether it is on: lathe devices"
            ) from problem
        said, marked, code = answer.stderr.rpartition("lathe ")
        if not marked:
            raise self._unreachable(answer)
        return Answer(int(code), answer.stdout, said)

    def _question(self, line: str) -> Answer:
        """The answer to a line of shell there, without a job. DeviceError where there is none."""
        process = _started(self._transport.asking(line), None)
        try:
            stdout, stderr = process.communicate(timeout=_QUESTION)
        except subprocess.TimeoutExpired as problem:
            raise DeviceError(f"{self.name} does not answer within {_QUESTION:g} seconds") from problem
        finally:
            _finish(process)
        answer = Answer(process.returncode, stdout, stderr.decode("utf-8", errors="replace"))
        if answer.exit_code:
            raise self._unreachable(answer)
        return answer

    def _execute(self, command: Sequence[str], stdin: IO[bytes] | None, timeout: float = DEFAULT_TIMEOUT) -> Answer:
        """Run a command of this machine that needs the device, for as long as the device is there."""
        lease = self._opened()
        if lease.gone:
            raise self._unreachable(Answer(1, b"", ""))
        process = _started(command, stdin)
        try:
            with lease.guarding(process):
                stdout, stderr = process.communicate(timeout=timeout)
        finally:
            _finish(process)
        return Answer(process.returncode, stdout, stderr.decode("utf-8", errors="replace"))

    def _succeed(self, answer: Answer, what: str, where: Where) -> None:
        if answer.exit_code == 0:
            return
        said = _last_line(answer.stderr)
        helps = remedy_for(answer.stderr)
        if not helps and self._lease is not None and self._lease.lost():
            raise self._unreachable(answer)
        raise DeviceError(f"{self.name} {what}" + (f": {said}" if said else ""), where=where, remedy=helps)

    def _cannot_start(self, program: str, said: str, exit_code: int) -> DeviceError:
        rules = {
            126: "the device must allow this user to run programs of its ABI",
            127: "the device needs the C library of the program's ABI",
        }
        return DeviceError(
            f"{self.name} cannot start the program: {_last_line(said) or 'no reason given'}",
            where=Where(file=program),
            rule=f"{rules[exit_code]} ({self.abi})",
            remedy="choose the ABI of the device with --abi, or another device with --device",
        )

    def _unreachable(self, answer: Answer) -> DeviceError:
        """The error of a device that is lost, or was never found."""
        lease = self._lease
        gone = lease.lost() if lease is not None else ""
        said = (lease.said() if lease is not None else "") or answer.stderr.strip()
        if lease is not None and lease.folder:
            what = f"{self.name} was lost: {gone or _last_line(said) or 'the connection ended'}"
            return DeviceError(
                what,
                rule="a device without a sign of life for "
                f"{self._times.silence:g} seconds is given up; it ends what ran for us, and removes it",
                remedy="check whether it is on and connected: lathe devices",
            )
        last = _last_line(said) or gone or f"exit code {answer.exit_code}"
        return DeviceError(f"{self.name} cannot be reached: {last}", remedy=self._transport.remedy(said))


def _started(command: Sequence[str], stdin: IO[bytes] | None, *, shown: bool = False) -> subprocess.Popen[bytes]:
    """A client of the device. `shown`: what it writes goes where ours goes."""
    try:
        return subprocess.Popen(
            list(command),
            stdin=stdin or subprocess.DEVNULL,
            stdout=None if shown else subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as problem:
        raise DeviceError(f"'{command[0]}' cannot be started: {problem.strerror or problem}") from problem


def _finish(process: subprocess.Popen[bytes]) -> None:
    """Leave neither the process nor its pipes. Their other end may be open still, in ssh's process for all commands."""
    kill(process)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
