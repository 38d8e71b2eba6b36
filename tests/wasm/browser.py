"""Pages in headless Chromium: a folder is served to it, and what a page posts to `/answer` comes back."""

from __future__ import annotations

import contextlib
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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
_TYPES = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm", ".pb": "application/octet-stream"}


def program() -> str | None:
    """Chromium, where it is installed."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class BrowserError(Exception):
    """The page did not answer, or said that something failed."""


class _Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **_TYPES}
    answers: queue.Queue[Any]
    folders: Mapping[str, Path]

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

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextlib.contextmanager
def served(root: Path, folders: Mapping[str, Path] | None = None) -> Iterator[tuple[str, queue.Queue[Any]]]:
    """The address of a folder, and what is posted there. `folders`: others, by the beginning of their paths."""
    answers: queue.Queue[Any] = queue.Queue()
    handler = type("Handler", (_Handler,), {"answers": answers, "folders": folders or {}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", answers
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def _chromium(words: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    found = program()
    assert found is not None, "Chromium is not installed"
    with tempfile.TemporaryDirectory(prefix="lathe-chromium-", ignore_cleanup_errors=True) as profile:
        command = [found, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += ["--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={profile}", *words]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answer(
    root: Path, page: str, timeout: float, folders: Mapping[str, Path] | None = None, flags: Sequence[str] = ()
) -> Any:
    """What a page posts to `/answer`. BrowserError where that takes too long."""
    with served(root, folders) as (address, answers), _chromium([*flags, f"{address}/{page}"]):
        try:
            return answers.get(timeout=timeout)
        except queue.Empty as problem:
            raise BrowserError(f"{page} did not answer within {timeout:g} s") from problem


def screenshot(
    root: Path, page: str, file: Path, width: int, height: int, *, dark: bool = False, milliseconds: int = 20000
) -> None:
    """A picture of a page, when it has done what it does by itself."""
    words = [f"--screenshot={file}", f"--window-size={width},{height}", f"--virtual-time-budget={milliseconds}"]
    if dark:
        words += ["--blink-settings=preferredColorScheme=0"]
    with served(root) as (address, _), _chromium([*words, f"{address}/{page}"]) as process:
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired as problem:
            raise BrowserError(f"no picture of {page}") from problem
