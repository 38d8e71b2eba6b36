"""Runs Bazel on the example app, away from the source tree and with a Lathe that was installed from a wheel.

Debian's Bazel 4 works without a network where the repositories that it would download have stand-ins.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.packaging.conftest import ROOT, Environment

APP = ROOT / "examples" / "bazel-app"
MOST_CACHED_BYTES = 256 * 2**20
_SECONDS = 900

_JAVA_RULES = (
    *("binary", "import", "library", "lite_proto_library", "package_configuration", "plugin", "proto_library"),
    *("runtime", "test", "toolchain"),
)
_CC_RULES = ("binary", "import", "library", "proto_library", "test", "toolchain", "toolchain_suite")


@dataclass(frozen=True)
class Action:
    """A process of a build: what kind it was, and whether its result came from the cache."""

    mnemonic: str
    cached: bool


@dataclass(frozen=True)
class Bazel:
    """An app, and the folder of one Bazel server with all that it builds."""

    app: Path
    root: Path
    options: tuple[str, ...] = ()

    def run(self, command: str, *arguments: str, fails: bool = False) -> str:
        """Run a command to the end; what it said."""
        words = ["bazel", "--nohome_rc", f"--output_user_root={self.root}"]
        words += ["--max_idle_secs=120", "--host_jvm_args=-Xmx1g", command, *arguments]
        hidden = ("PYTHONPATH", "CC", "CXX", "BAZEL_CXXOPTS", "LATHE_PYTHON")
        settings = {key: value for key, value in os.environ.items() if key not in hidden}
        done = subprocess.run(
            words,
            cwd=self.app,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert bool(done.returncode) == fails, done.stdout[-6000:]
        return done.stdout

    def actions(self, command: str, *arguments: str) -> list[Action]:
        """Build or test, and say which processes that took."""
        log = self.root / "actions.json"
        log.unlink(missing_ok=True)
        self.run(command, f"--execution_log_json_file={log}", "--jobs=2", *self.options, *arguments)
        return [Action(item["mnemonic"], bool(item.get("remoteCacheHit"))) for item in _documents(log.read_text())]

    def output(self, path: str) -> Path:
        return self.app / "bazel-bin" / path


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """JSON documents that stand one behind the other."""
    decoder, position = json.JSONDecoder(), 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        document, position = decoder.raw_decode(text, position)
        yield document


@contextmanager
def bazel_app(environment: Environment, folder: Path, *options: str) -> Iterator[Bazel]:
    """A copy of the example app, set up as its README says, and a server that does not outlive the tests."""
    app = folder / "app"
    shutil.copytree(APP, app)
    resources = environment.packages / "buildtool" / "_resources"
    with bazel_in(app, folder / "bazel", resources, environment.python, *options) as bazel:
        yield bazel


@contextmanager
def bazel_in(app: Path, root: Path, lathe: Path, python: Path, *options: str) -> Iterator[Bazel]:
    """A server for an app, in a folder of its own, with the rules in the folder `lathe` and a Python that has Lathe."""
    stand_ins = _stand_ins(root.parent / "repositories")
    lines = [f"--override_repository=lathe={lathe}", f"--repo_env=LATHE_PYTHON={python}"]
    lines += [f"--override_repository={name}={path}" for name, path in stand_ins.items()]
    lines += ["--nosandbox_debug"]  # Debian sets it; it keeps the folders of all actions
    (app / ".bazelrc.user").write_text("".join(f"build {line}\n" for line in lines))
    bazel = Bazel(app, root, options)
    bazel.root.mkdir()
    try:
        yield bazel
    finally:
        bazel.run("shutdown")
        # What Bazel makes is read-only, folders included.
        subprocess.run(["chmod", "-R", "u+w", bazel.root], check=False)
        shutil.rmtree(bazel.root, ignore_errors=True)


def _stand_ins(folder: Path) -> dict[str, Path]:
    """Of the rules that Bazel 4 has built in, and of the coverage tools, which nothing here runs."""
    files = {
        "rules_cc/cc/defs.bzl": _forwarding([f"cc_{rule}" for rule in _CC_RULES] + ["objc_import", "objc_library"]),
        "rules_java/java/defs.bzl": _forwarding([f"java_{rule}" for rule in _JAVA_RULES]),
        "remote_coverage_tools/none.sh": "#!/bin/sh\n",
    }
    binaries = [
        f'sh_binary(name = "{name}", srcs = ["none.sh"])\n' for name in ("coverage_report_generator", "lcov_merger")
    ]
    files["remote_coverage_tools/BUILD"] = "".join(
        ['package(default_visibility = ["//visibility:public"])\n', *binaries]
    )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        (path.parent / "BUILD").touch()
        (folder / Path(name).parts[0] / "WORKSPACE").touch()
    return {path.name: path for path in folder.iterdir()}


def _forwarding(rules: list[str]) -> str:
    return "".join(f"def {rule}(**attributes):\n    native.{rule}(**attributes)\n\n" for rule in rules)


class CacheServer(ThreadingHTTPServer):
    """Bazel's HTTP cache: what is PUT under a path comes back by GET. It holds so many bytes and no more."""

    daemon_threads = True
    #: Bazel opens a connection for every object; one that is refused counts as an object that is not there.
    request_queue_size = 1024

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _CacheHandler)
        self.contents: dict[str, bytes] = {}
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def keep(self, path: str, body: bytes) -> bool:
        with self.lock:
            fits = sum(map(len, self.contents.values())) + len(body) <= MOST_CACHED_BYTES
            if fits:
                self.contents[path] = body
            return fits


class _CacheHandler(BaseHTTPRequestHandler):
    server: CacheServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.server.contents.get(self.path)
        self._answer(404 if body is None else 200, body or b"")

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(204 if self.server.keep(self.path, body) else 507, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def cache_server() -> Iterator[CacheServer]:
    """A cache on this machine."""
    server = CacheServer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
