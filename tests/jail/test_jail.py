"""The jail: small scripts that try to leave it, on the kernel of this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from buildtool import jail
from buildtool.jail import Ended, Limits, NoJailError, system_calls
from tests.jail.available import needs_jail

LIMITS = Limits(processor_seconds=5, seconds=20, memory=256 << 20, written=1 << 20)
Run = Callable[..., Ended]


pytestmark = needs_jail


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the lines of a script; what it raises is the last word."""

    def started(lines: str, *arguments: str, limits: Limits = LIMITS, **files: list[Path]) -> Ended:
        folder = tmp_path / "script"
        folder.mkdir(exist_ok=True)
        script = folder / "script.py"
        script.write_text(lines)
        return jail.run(script, arguments, read=files.get("read", []), write=files.get("write", []), limits=limits)

    return started


def test_a_script_reads_and_writes_what_it_is_given(run: Run, tmp_path: Path) -> None:
    given, made = tmp_path / "given", tmp_path / "made"
    given.write_text("text")
    made.write_text("what was there before is gone")
    ended = run(
        "import sys; open(sys.argv[2], 'w').write(open(sys.argv[1]).read() * 2)",
        str(given), str(made), read=[given], write=[made],
    )  # fmt: skip
    assert ended == Ended(0, "") and made.read_text() == "texttext"


def test_python_works_inside(run: Run) -> None:
    """Modules of the library, packages with libraries of their own, threads, and files in memory."""
    ended = run(
        """
import concurrent.futures, hashlib, io, json, threading, zipfile
import numpy
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert list(pool.map(lambda n: n * n, range(8))) == [n * n for n in range(8)]
assert numpy.ones((300, 300)).dot(numpy.ones((300, 300)))[0, 0] == 300
zipfile.ZipFile(io.BytesIO(), "w").writestr("a", b"b")
"""
    )
    assert ended.code == 0, ended


def test_a_failure_is_the_last_word(run: Run) -> None:
    assert run("raise ValueError('so it is')") == Ended(1, "ValueError: so it is")
    assert run("import sys; sys.exit(3)").code == 3
    assert run("raise ValueError('\\x1b[2Jred\\x07')").last_words == "ValueError: ?[2Jred?"


ESCAPES = {
    "reading": "open({secret!r}).read()",
    "reading what links to it": "open('/proc/self/root' + {secret!r}).read()",
    "listing": "__import__('os').listdir({folder!r})",
    "writing": "open({folder!r} + '/mark', 'w')",
    "writing over": "open({secret!r}, 'w')",
    "emptying": "__import__('os').open({secret!r}, 0o1000)",
    "emptying what it may read": "__import__('os').open(__file__, 0o1000)",
    "truncating": "__import__('os').truncate({secret!r}, 0)",
    "removing": "__import__('os').remove({secret!r})",
    "renaming": "__import__('os').rename({secret!r}, {folder!r} + '/mark')",
    "linking": "__import__('os').symlink({secret!r}, 'link')",
    "linking hard": "__import__('os').link({secret!r}, 'link')",
    "changing modes": "__import__('os').chmod({secret!r}, 0o777)",
    "changing owners": "__import__('os').chown({secret!r}, 0, 0)",
    "changing times": "__import__('os').utime({secret!r}, (0, 0))",
    "changing attributes": "__import__('os').setxattr({secret!r}, 'user.mark', b'1')",
    "a new file in its folder": "open('mark', 'w')",
    "a new folder": "__import__('os').mkdir('mark')",
    "a pipe with a name": "__import__('os').mkfifo('mark')",
    "memory of others": "open('/proc/{parent}/mem', 'rb').read(1)",
    "environment of others": "open('/proc/{parent}/environ', 'rb').read(1)",
    "shell": "__import__('subprocess').check_call(['/bin/sh', '-c', 'true'])",
    "fork": "__import__('os').fork()",
    "another program": "__import__('os').execv('/bin/true', ['true'])",
    "killing": "__import__('os').kill({parent}, 0)",
    "internet": "__import__('socket').socket()",
    "connecting": "__import__('socket').create_connection(('127.0.0.1', {port}))",
    "local socket": "__import__('socket').socket(__import__('socket').AF_UNIX)",
    "raising limits": "(r := __import__('resource')).setrlimit(r.RLIMIT_CPU, (900, 900))",
    "shared memory": "__import__('mmap').mmap(-1, 1 << 20)",
    "shared memory by name": "__import__('multiprocessing.shared_memory').shared_memory.SharedMemory(None, True, 9)",
    "memory file": "__import__('os').memfd_create('mark')",
    "terminal": "open('/dev/tty', 'w')",
    "namespaces": "__import__('ctypes').CDLL(None).unshare(0x10000000) and open('/proc/none/unshared')",
}


@pytest.mark.parametrize("way", ESCAPES)
def test_there_is_no_way_out(way: str, run: Run, tmp_path: Path) -> None:
    """Each attempt fails with an error inside, and outside nothing has changed."""
    folder = tmp_path / "outside"
    folder.mkdir()
    secret = folder / "secret"
    secret.write_text("secret")
    before = secret.stat()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attempt = ESCAPES[way].format(secret=str(secret), folder=str(folder), parent=os.getpid(), port=port)
        ended = run(f"try:\n    {attempt}\nexcept (OSError, ValueError) as e:\n    raise SystemExit(7) from e\n")
    assert ended.code == 7, (attempt, ended)
    assert [file.name for file in folder.iterdir()] == ["secret"]
    after = secret.stat()
    assert secret.read_text() == "secret" and not list((tmp_path / "script").glob("mark"))
    assert (after.st_mode, after.st_uid, after.st_mtime, after.st_nlink) == (
        before.st_mode, before.st_uid, before.st_mtime, before.st_nlink,
    )  # fmt: skip


def test_the_attempts_would_work_outside(tmp_path: Path) -> None:
    """Some of them, so that the test above can fail."""
    (tmp_path / "secret").write_text("secret")
    for way in ("reading", "listing", "writing", "emptying", "changing modes", "fork", "internet", "shared memory"):
        attempt = ESCAPES[way].format(secret=str(tmp_path / "secret"), folder=str(tmp_path))
        subprocess.run([sys.executable, "-I", "-c", attempt], check=True)
    assert (tmp_path / "mark").exists() and (tmp_path / "secret").read_text() == ""


def test_secrets_of_the_environment_stay_outside(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    assert run("import os; assert 'TOKEN' not in os.environ").code == 0
    assert run("assert b'TOKEN' not in open('/proc/self/environ', 'rb').read()").code == 0


def test_time_of_the_processor_ends(run: Run) -> None:
    limits = Limits(processor_seconds=1, seconds=60)
    ended = run("while True: pass", limits=limits)
    assert (ended.code, ended.exceeded) == (-signal.SIGXCPU, "1 seconds of processor time")


@pytest.mark.slow
def test_a_process_that_ignores_signals_is_killed(run: Run) -> None:
    lines = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    ended = run(lines, limits=Limits(processor_seconds=1, seconds=60))
    assert (ended.code, ended.exceeded) == (
        -signal.SIGKILL,
        "1 seconds of processor time, or the memory of this machine",
    )


def test_threads_share_the_time(run: Run) -> None:
    lines = """
import hashlib, threading
def work():
    while True: hashlib.sha256(bytes(1 << 20))
for _ in range(4): threading.Thread(target=work).start()
"""
    ended = run(lines, limits=Limits(processor_seconds=1, seconds=60))
    assert ended.exceeded == "1 seconds of processor time"


def test_sleeping_ends(run: Run) -> None:
    start = time.monotonic()
    ended = run("import time\ntime.sleep(600)", limits=Limits(seconds=2))
    assert ended.exceeded == "2 seconds" and time.monotonic() - start < 30


def test_memory_ends(run: Run) -> None:
    ended = run("held = bytearray(3 << 30)")
    assert (ended.code, ended.exceeded) == (1, "256 MiB of memory")
    ended = run("held = []\nwhile True: held.append(b'x' * (1 << 20))")
    assert ended.exceeded == "256 MiB of memory"
    ended = run("import mmap\nheld = [mmap.mmap(-1, 1 << 24, mmap.MAP_PRIVATE) for _ in range(100)]")
    assert ended.exceeded == "256 MiB of memory"


def test_files_end(run: Run, tmp_path: Path) -> None:
    made = tmp_path / "made"
    ended = run("import sys\nopen(sys.argv[1], 'wb').write(bytes(2 << 20))", str(made), write=[made])
    assert "File too large" in ended.last_words and made.stat().st_size <= LIMITS.written
    ended = run("import sys\nopen(sys.argv[1], 'wb').truncate(2 << 40)", str(made), write=[made])
    assert "File too large" in ended.last_words and made.stat().st_size <= LIMITS.written


def test_words_without_an_end_are_not_kept(run: Run) -> None:
    ended = run("import sys\nwhile True: sys.stderr.write('x' * 1000 + '\\n'); sys.stderr.flush()")
    assert ended.code and len(ended.last_words) <= 1000


def test_nobody_is_left_behind(tmp_path: Path) -> None:
    """Who is killed takes the jail along."""
    script = tmp_path / "script.py"
    made = tmp_path / "made"
    script.write_text("import os, sys, time\nopen(sys.argv[1], 'w').write(str(os.getpid()))\ntime.sleep(600)")
    order = (
        "import sys; from pathlib import Path; from buildtool import jail\n"
        "jail.run(Path(sys.argv[1]), [sys.argv[2]], read=[], write=[Path(sys.argv[2])])"
    )
    with subprocess.Popen([sys.executable, "-c", order, str(script), str(made)]) as outer:
        until = time.monotonic() + 30
        while not (made.exists() and made.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        inner = int(made.read_text())
        outer.kill()
    until = time.monotonic() + 10
    while Path(f"/proc/{inner}").exists() and time.monotonic() < until:
        state = Path(f"/proc/{inner}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{inner}").exists()


def test_without_a_lock_the_script_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, mark = tmp_path / "script.py", tmp_path / "mark"
    script.write_text(f"open({str(mark)!r}, 'w')")
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("inside.py", "system_calls.py"):
        text = (Path(jail.__file__).parent / name).read_text()
        (inside / name).write_text(text.replace('"x86_64"', '"x"').replace('"aarch64"', '"y"'))
    monkeypatch.setattr(jail, "_INSIDE", inside / "inside.py")
    with pytest.raises(NoJailError, match=r"the system call numbers of .* are unknown"):
        jail.run(script, [], read=[], write=[mark])
    assert mark.read_text() == ""


def test_a_lock_that_does_not_hold_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    text = (Path(jail.__file__).parent / "inside.py").read_text()
    (inside / "inside.py").write_text(text.replace("    _lock_files(", "    _ = (lambda *_: None)("))
    (inside / "system_calls.py").write_text((Path(jail.__file__).parent / "system_calls.py").read_text())
    monkeypatch.setattr(jail, "_INSIDE", inside / "inside.py")
    with pytest.raises(NoJailError, match="Landlock does not prevent reading the root folder"):
        jail.run(Path(__file__).with_name("nothing.py"), [], read=[], write=[])


def test_all_machines_have_a_filter_that_the_kernel_could_take() -> None:
    for machine in ("x86_64", "aarch64"):
        filters = system_calls.program(machine, 1)
        assert filters is not None and len(filters) % 8 == 0 and len(filters) // 8 < 4096
    assert system_calls.program("sparc", 1) is None
