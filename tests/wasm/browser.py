"""Pages in headless Chromium: a folder is served to it, and what a page posts to `/answer` comes back."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import functools
import http.server
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
_TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")


def program() -> str | None:
    """Chromium, where it is installed."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class BrowserError(Exception):
    """The page did not answer, or said that something failed."""


class _Handler(http.server.SimpleHTTPRequestHandler):
    answers: queue.Queue[Any]
    folders: Mapping[str, Path]
    isolated: bool

    def end_headers(self) -> None:
        if self.isolated:  # from pages of other origins
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        for prefix, folder in self.folders.items():
            if path.startswith(prefix):
                inside = super().translate_path("/" + path[len(prefix) :])
                return str(folder / Path(inside).relative_to(self.directory))
        return super().translate_path(path)

    def do_POST(self) -> None:
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@contextlib.contextmanager
def served(
    root: Path, folders: Mapping[str, Path] | None = None, *, isolated: bool = False
) -> Iterator[tuple[str, queue.Queue[Any]]]:
    """The address of a folder, and what is posted there. `folders`: others, by the beginning of their paths.

    `isolated`: pages may share memory with their workers.
    """
    answers: queue.Queue[Any] = queue.Queue()
    handler = type(
        "Handler",
        (_Handler,),
        {
            "answers": answers,
            "folders": folders or {},
            "isolated": isolated,
            "extensions_map": {**_Handler.extensions_map, **_TYPES},
        },
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", answers
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def _chromium(words: Sequence[str], hand_over: Callable[[], None] | None = None) -> Iterator[None]:
    found = program()
    assert found is not None, "Chromium is not installed"
    with tempfile.TemporaryDirectory(prefix="lathe-chromium-", ignore_cleanup_errors=True) as profile:
        command = [found, *_FLAGS, "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={profile}"]
        command += words
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            close_fds=hand_over is None,
            preexec_fn=hand_over,
        )
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answer(
    root: Path,
    page: str,
    timeout: float,
    folders: Mapping[str, Path] | None = None,
    flags: Sequence[str] = (),
    *,
    isolated: bool = False,
) -> Any:
    """What a page posts to `/answer`. BrowserError where that takes too long."""
    with served(root, folders, isolated=isolated) as (address, answers), _chromium([*flags, f"{address}/{page}"]):
        try:
            return answers.get(timeout=timeout)
        except queue.Empty as problem:
            raise BrowserError(f"{page} did not answer within {timeout:g} s") from problem


class Page:
    """A page that is controlled: Chromium's debugging protocol, through pipes."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._rest = b""
        self._number = 0
        self._session = ""

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a method; events that come before it are dropped."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        os.write(
            self._send, json.dumps(message | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        while True:
            while b"\0" not in self._rest:
                read = os.read(self._receive, 1 << 16)
                if not read:
                    raise BrowserError(f"Chromium ended before it answered {method}")
                self._rest += read
            text, _, self._rest = self._rest.partition(b"\0")
            said = json.loads(text)
            if said.get("id") == self._number:
                if "error" in said:
                    raise BrowserError(f"{method}: {said['error']['message']}")
                return said["result"]

    def open(self, address: str, width: int, height: int, *, dark: bool = False) -> None:
        """Show a page in a window of this size."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **sizes)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=address)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise BrowserError(done["exceptionDetails"]["exception"].get("description", expression))
        return done["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 30) -> None:
        """Return when the expression is true in the page."""
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise BrowserError(f"not so within {seconds:g} s: {expression}")
            time.sleep(0.1)

    def drag(self, points: Sequence[tuple[float, float]]) -> None:
        """Press the mouse at the first point, and move it over the others."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(points) - 1)]
        for kind, (x, y) in [*zip(kinds, points, strict=True), ("mouseReleased", points[-1])]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def picture(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextlib.contextmanager
def controlled() -> Iterator[Page]:
    """A page of a Chromium of its own."""
    (down_read, down_write), (up_read, up_write) = os.pipe(), os.pipe()

    def hand_over() -> None:  # Chromium reads 3 and writes 4
        high = fcntl.fcntl(down_read, fcntl.F_DUPFD, 10), fcntl.fcntl(up_write, fcntl.F_DUPFD, 10)
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    try:
        with _chromium(["--remote-debugging-pipe"], hand_over):
            yield Page(down_write, up_read)
    finally:
        for handle in (down_read, down_write, up_read, up_write):
            os.close(handle)
