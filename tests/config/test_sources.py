"""Model files from the disk and from a server that is not always kind."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.config import FileRef, resolve_model_file
from buildtool.errors import ModelFileError, Where

CONTENT = b"not really a model" * 1000
SHA = hashlib.sha256(CONTENT).hexdigest()
PLACE = Where("deploy.yml", 4, 22)


class Handler(BaseHTTPRequestHandler):
    """Answers by path; counts the requests it gets."""

    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/").replace("SELF", self.headers["Host"]))
            self.end_headers()
        elif self.path == "/gone.onnx":
            self.send_error(404)
        elif self.path == "/garbage.onnx":
            self.wfile.write(b"no HTTP at all\r\n\r\n")
        elif self.path == "/chunked.onnx":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"ff\r\nends too early")
        else:
            length = len(CONTENT) * (2 if self.path.startswith("/truncated") else 1)
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(CONTENT)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    handler = type("CountingHandler", (Handler,), {"requests": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def address(server: ThreadingHTTPServer, path: str = "/net.onnx") -> str:
    return f"http://127.0.0.1:{server.server_address[1]}{path}"


def requests_of(server: ThreadingHTTPServer) -> list[str]:
    return server.RequestHandlerClass.requests  # type: ignore[attr-defined, no-any-return]


def left_in(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob("*") if path.is_file()]


def test_download_is_verified_and_kept(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    ref = FileRef(address(server), SHA, PLACE)
    path = resolve_model_file(ref, cache_dir=tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == CONTENT and path.name == "net.onnx"
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert resolve_model_file(ref, cache_dir=tmp_path) == path
    assert requests_of(server) == ["/net.onnx"]


def test_damaged_cache_is_fetched_again(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    ref = FileRef(address(server), SHA, PLACE)
    path = resolve_model_file(ref, cache_dir=tmp_path)
    path.write_bytes(b"damaged")
    assert resolve_model_file(ref, cache_dir=tmp_path).read_bytes() == CONTENT
    assert len(requests_of(server)) == 2


def test_wrong_checksum_leaves_nothing(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        resolve_model_file(FileRef(address(server), "0" * 64, PLACE), cache_dir=tmp_path)
    problem = caught.value.problems[0]
    assert problem.where == PLACE and SHA in problem.rule and caught.value.exit_code == 3
    assert left_in(tmp_path) == []


def test_address_without_checksum(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    ref = FileRef(address(server), "", PLACE)
    with pytest.raises(ModelFileError, match="has no checksum"):
        resolve_model_file(ref, cache_dir=tmp_path)
    assert requests_of(server) == []
    for _ in range(2):
        assert resolve_model_file(ref, cache_dir=tmp_path, allow_unverified=True).read_bytes() == CONTENT
    assert len(requests_of(server)) == 2  # what nobody verified is not trusted a second time


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/truncated.onnx", f"ended after {len(CONTENT)} of {2 * len(CONTENT)} bytes"),
        ("/chunked.onnx", "cannot fetch"),
        ("/garbage.onnx", "cannot fetch"),
        ("/gone.onnx", "404 'Not Found'"),
        ("/to/file:///etc/passwd", "redirects to 'file:///etc/passwd'"),
        ("/to/ftp://127.0.0.1/net.onnx", "redirects to 'ftp://127.0.0.1/net.onnx'"),
        ("/to/file:/etc/passwd", "redirects to"),
        ("/to/data:,hello", "redirects to"),
        ("/to/http://SELF/gone.onnx", "404"),
    ],
)
def test_unkind_server(server: ThreadingHTTPServer, tmp_path: Path, path: str, words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        resolve_model_file(FileRef(address(server, path), SHA, PLACE), cache_dir=tmp_path)
    assert words in caught.value.render()
    assert left_in(tmp_path) == []


def test_redirection_is_followed(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    ref = FileRef(address(server, "/to/http://SELF/net.onnx"), SHA, PLACE)
    assert resolve_model_file(ref, cache_dir=tmp_path).read_bytes() == CONTENT


def test_endless_redirection_ends(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError):
        resolve_model_file(FileRef(address(server, "/to//to/" * 5), SHA, PLACE), cache_dir=tmp_path)


def test_too_large(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="too large"):
        resolve_model_file(FileRef(address(server), SHA, PLACE), cache_dir=tmp_path, max_bytes=100)
    assert left_in(tmp_path) == []


def test_interruption_leaves_nothing(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resolve_model_file(FileRef(address(server), SHA, PLACE), cache_dir=tmp_path, progress=interrupt)
    assert left_in(tmp_path) == []


def test_nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    ref = FileRef("http://me:secret@127.0.0.1:9/net.onnx?token=secret", SHA, PLACE)
    with pytest.raises(ModelFileError, match="cannot fetch") as caught:
        resolve_model_file(ref, cache_dir=tmp_path, timeout=2)
    assert "secret" not in caught.value.render()


def test_cache_that_cannot_be_used(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, no folder")
    with pytest.raises(ModelFileError, match="LATHE_CACHE_DIR"):
        resolve_model_file(FileRef(address(server), SHA, PLACE), cache_dir=tmp_path / "cache")


def test_local_files(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(CONTENT)
    assert resolve_model_file(FileRef(str(path), "", PLACE)) == path
    assert resolve_model_file(FileRef(str(path), SHA, PLACE)) == path
    with pytest.raises(ModelFileError, match="does not match its checksum"):
        resolve_model_file(FileRef(str(path), "0" * 64, PLACE))
    with pytest.raises(ModelFileError, match="there is no file"):
        resolve_model_file(FileRef(str(tmp_path / "none"), "", PLACE))
    with pytest.raises(ModelFileError, match="is not a file"):
        resolve_model_file(FileRef(str(tmp_path), SHA, PLACE))


def test_the_path_of_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LATHE_CACHE_DIR", "/somewhere")
    assert resources.cache_dir() == Path("/somewhere")
    monkeypatch.delenv("LATHE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert resources.cache_dir() == Path("/caches/lathe")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert resources.cache_dir() == Path.home() / ".cache/lathe"
