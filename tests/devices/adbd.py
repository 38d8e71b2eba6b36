"""What the real adb client talks to in tests: the device's side of its protocol, over TCP, in threads of this process.

A message is a head of six numbers and a body. Streams carry one service each: a command of the shell (version 2, with
numbered channels and an exit code), or file transfers. A phone can be unplugged, fall silent and have a full disk.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tests.devices import pretend
from tests.devices.sshd import free_port

_HEAD = struct.Struct("<4s5I")
_VERSION, _LARGEST = 0x01000001, 1 << 18
_STDIN, _STDOUT, _STDERR, _EXIT, _END_OF_STDIN = range(5)
_FILES = "/data/local/tmp"


class Closed(Exception):  # noqa: N818 (nothing went wrong)
    """The other side has ended the stream."""


class Stream:
    """One service of one connection."""

    def __init__(self, link: Link, number: int, theirs: int) -> None:
        self._link, self._number, self._theirs = link, number, theirs
        self._changed = threading.Condition()
        self._arrived = bytearray()
        self._credit = 0
        self._closed = False

    def feed(self, data: bytes) -> None:
        with self._changed:
            self._arrived += data
            self._changed.notify_all()

    def acknowledge(self) -> None:
        with self._changed:
            self._credit += 1
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def read(self, count: int) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: len(self._arrived) >= count or self._closed)
            if len(self._arrived) < count:
                raise Closed
            data = bytes(self._arrived[:count])
            del self._arrived[:count]
            return data

    def read_some(self) -> bytes:
        """What has arrived, at least a byte."""
        with self._changed:
            self._changed.wait_for(lambda: self._arrived or self._closed)
            if not self._arrived:
                raise Closed
            data = bytes(self._arrived)
            self._arrived.clear()
            return data

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), _LARGEST):
            self._link.send(b"WRTE", self._number, self._theirs, data[start : start + _LARGEST])
            with self._changed:
                self._changed.wait_for(lambda: self._credit > 0 or self._closed)
                if self._closed:
                    raise Closed
                self._credit -= 1

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._link.send(b"CLSE", self._number, self._theirs)


class Link:
    """One connection of the adb server to the phone."""

    def __init__(self, phone: Phone, connection: socket.socket) -> None:
        self._phone, self._connection = phone, connection
        self._sending = threading.Lock()
        self._streams: dict[int, Stream] = {}

    def send(self, command: bytes, first: int, second: int, body: bytes = b"") -> None:
        number = int.from_bytes(command, "little")
        head = _HEAD.pack(command, first, second, len(body), sum(body) & 0xFFFFFFFF, number ^ 0xFFFFFFFF)
        with self._sending:
            self._phone.awake.wait()
            self._connection.sendall(head + body)

    def serve(self) -> None:
        try:
            while True:
                command, first, second, size, _, _ = _HEAD.unpack(self._exactly(_HEAD.size))
                body = self._exactly(size)
                self._phone.awake.wait()
                self._take(command, first, second, body)
        except (OSError, Closed):
            pass
        for stream in self._streams.values():
            stream.end()

    def drop(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _take(self, command: bytes, first: int, second: int, body: bytes) -> None:
        if command == b"CNXN":
            self.send(b"CNXN", _VERSION, _LARGEST, b"device::ro.product.name=pretended;features=shell_v2,cmd\0")
        elif command == b"OPEN":
            number = len(self._streams) + 1
            stream = self._streams[number] = Stream(self, number, first)
            self.send(b"OKAY", number, first)
            service = body.rstrip(b"\0").decode()
            threading.Thread(target=self._phone.serve, args=(stream, service), daemon=True).start()
        elif second in self._streams:
            stream = self._streams[second]
            if command == b"WRTE":
                stream.feed(body)
                self.send(b"OKAY", second, first)
            elif command == b"OKAY":
                stream.acknowledge()
            elif command == b"CLSE":
                stream.end()

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self._connection.recv(count - len(data))
            if not part:
                raise Closed
            data += part
        return data


class Phone:
    """A pretended phone. A context."""

    def __init__(
        self, folder: Path, soc: str = "SM8450", abis: str = "arm64-v8a,armeabi-v7a", machine: str = "aarch64"
    ) -> None:
        self.folder = folder
        self.room = 1 << 40  # bytes that fit on the disk
        self.awake = threading.Event()
        self.awake.set()
        self.files = folder / "files"
        self.files.mkdir(parents=True)
        properties = {"ro.product.model": "Pretended", "ro.soc.model": soc, "ro.product.cpu.abilist": abis}
        self._variables = pretend.make(folder, machine, properties)
        self._variables["TMPDIR"] = "/nowhere"  # a phone has none
        self._links: list[Link] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.serial = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._accepting = _thread(self._accept)

    def jobs(self) -> list[Path]:
        return sorted((self.files / "lathe" / "jobs").glob("*"))

    def unplug(self) -> None:
        """The cable is pulled."""
        with contextlib.suppress(OSError):  # closing it would leave a thread that waits for one more connection
            self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()
        for link in self._links:
            link.drop()

    def serve(self, stream: Stream, service: str) -> None:
        with contextlib.suppress(Closed, OSError):
            if service.startswith("sync:"):
                self._transfer(stream)
            elif service.startswith("tcp:"):
                self._connect(stream, int(service.partition(":")[2]))
            else:
                self._shell(stream, service.partition(":")[2])
        stream.close()

    def __enter__(self) -> Phone:
        return self

    def __exit__(self, *_: object) -> None:
        self.awake.set()
        self.unplug()
        for process in pretend.running_in(self.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._links.append(Link(self, connection))
                threading.Thread(target=self._links[-1].serve, daemon=True).start()

    def _here(self, path: str) -> Path:
        return Path(path.replace(_FILES, str(self.files)))

    def _shell(self, stream: Stream, command: str) -> None:
        process = subprocess.Popen(
            ["sh", "-c", command.replace(_FILES, str(self.files))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **self._variables},
            cwd=self.files,
        )
        assert process.stdin and process.stdout and process.stderr
        pumps = [
            _thread(self._pump, stream, channel, pipe)
            for channel, pipe in ((_STDOUT, process.stdout), (_STDERR, process.stderr))
        ]
        _thread(self._fill, stream, process.stdin)
        code = process.wait()
        for pump in pumps:
            pump.join()
        stream.write(struct.pack("<BIB", _EXIT, 1, code if code >= 0 else 128 - code))

    def _pump(self, stream: Stream, channel: int, pipe: IO[bytes]) -> None:
        with contextlib.suppress(Closed, OSError), pipe:
            while data := os.read(pipe.fileno(), 1 << 15):
                stream.write(struct.pack("<BI", channel, len(data)) + data)

    def _fill(self, stream: Stream, pipe: IO[bytes]) -> None:
        with contextlib.suppress(Closed, OSError), pipe:
            while True:
                channel, size = struct.unpack("<BI", stream.read(5))
                data = stream.read(size)
                if channel == _END_OF_STDIN:
                    return
                if channel == _STDIN:
                    pipe.write(data)
                    pipe.flush()

    def _connect(self, stream: Stream, port: int) -> None:
        """One of the device's ports, for whoever connects to its counterpart on the other machine."""
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.settimeout(None)
            answers = _thread(self._answers, stream, connection)
            with contextlib.suppress(Closed, OSError):
                while True:
                    connection.sendall(stream.read_some())
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            answers.join()

    def _answers(self, stream: Stream, connection: socket.socket) -> None:
        with contextlib.suppress(Closed, OSError):
            while data := connection.recv(1 << 15):
                stream.write(data)
        stream.close()
        stream.end()

    def _transfer(self, stream: Stream) -> None:
        services: dict[bytes, Callable[[Stream, str], None]] = {
            b"STAT": self._stat,
            b"SEND": self._receive,
            b"RECV": self._give,
        }
        while True:
            word, size = struct.unpack("<4sI", stream.read(8))
            if word not in services:
                return
            services[word](stream, stream.read(size).decode())

    def _stat(self, stream: Stream, path: str) -> None:
        with contextlib.suppress(OSError):
            found = self._here(path).stat()
            stream.write(struct.pack("<4s3I", b"STAT", found.st_mode, found.st_size & 0xFFFFFFFF, int(found.st_mtime)))
            return
        stream.write(struct.pack("<4s3I", b"STAT", 0, 0, 0))

    def _receive(self, stream: Stream, path_and_mode: str) -> None:
        file = self._here(path_and_mode.rpartition(",")[0])
        problem, written = "", 0
        with file.open("wb") as output:
            while True:
                word, size = struct.unpack("<4sI", stream.read(8))
                if word == b"DONE":
                    break
                data = stream.read(size)
                if written + size > self.room:
                    problem = "No space left on device"
                else:
                    output.write(data)
                    written += size
        answer = struct.pack("<4sI", b"FAIL", len(problem)) + problem.encode() if problem else b"OKAY\0\0\0\0"
        stream.write(answer)

    def _give(self, stream: Stream, path: str) -> None:
        data = self._here(path).read_bytes()
        for start in range(0, len(data), 1 << 16):
            part = data[start : start + (1 << 16)]
            stream.write(struct.pack("<4sI", b"DATA", len(part)) + part)
        stream.write(b"DONE\0\0\0\0")


def _thread(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


class AdbServer:
    """A server of the real adb for these tests alone. A context; `variables` lead every client to it."""

    def __init__(self, folder: Path) -> None:
        assert shutil.which("adb"), "apt-get install adb"
        self.variables = {"ANDROID_ADB_SERVER_PORT": str(free_port())}
        self._own = {"HOME": str(folder), "TMPDIR": str(folder)}  # where it keeps its key and its log

    def adb(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["adb", *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=check,
            env={**os.environ, **self.variables, **self._own},
        )
        return done.stdout + done.stderr

    def connect(self, phone: Phone) -> None:
        assert _tried(lambda: "connected to" in self.adb("connect", phone.serial, check=False)), phone.serial
        self.adb("-s", phone.serial, "wait-for-device")

    def __enter__(self) -> AdbServer:
        assert _tried(self._started), "adb's server does not start"
        return self

    def __exit__(self, *_: object) -> None:
        self.adb("kill-server", check=False)

    def _started(self) -> bool:
        """Whether it has started on this port; where another one had it already, the next try is on another port."""
        if "started successfully" in self.adb("start-server", check=False):
            return True
        self.variables["ANDROID_ADB_SERVER_PORT"] = str(free_port())
        return False


def _tried(what: Callable[[], bool], times: int = 5) -> bool:
    """Whether it succeeds at last: ports may be taken, and a busy machine lets adb wait for too long."""
    return any(what() for _ in range(times))
