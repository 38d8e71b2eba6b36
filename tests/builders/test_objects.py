"""The object cache: what decides an object, and what happens when things go wrong."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from buildtool.builders import disks, toolchain
from buildtool.builders.objects import ObjectCache, Unit
from buildtool.builders.process import Processes
from buildtool.builders.toolchain import probe
from buildtool.codegen.native_sources import NativeSources
from buildtool.errors import BuildError, ToolchainError

FILES = {
    "native/ops/a/a.cc": b'#include "native/ops/a/a.h"\nint A() { return kA; }\n',
    "native/ops/a/a.h": b'#pragma once\n#include "deep.h"\n',
    "native/ops/a/deep.h": b"#pragma once\nconstexpr int kA = 1;\nint A();\n",
    "native/ops/b/b.cc": b"#include <stddef.h>\nint B();\nint B() { return 2; }\n",
    "native/ops/b/unused.h": b"\n",
}
UNITS = [Unit("native/ops/a/a.cc"), Unit("native/ops/b/b.cc")]


def tree(**changes: bytes) -> NativeSources:
    names = {name.replace("/", "_").replace(".", "_"): name for name in FILES}
    return NativeSources.of_tree(FILES | {names[key]: value for key, value in changes.items()})


def test_objects_are_compiled_once(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    first = cache.objects(probe("host"), tree(), UNITS)
    assert (len(first.compiled), first.reused) == (2, 0)
    assert all(path.read_bytes().startswith(b"\x7fELF") for path in first.paths.values())
    second = cache.objects(probe("host"), tree(), UNITS)
    assert (second.compiled, second.reused, second.paths) == ((), 2, first.paths)
    changed = cache.objects(probe("host"), tree(native_ops_a_deep_h=b"constexpr int kA = 3;\nint A();\n"), UNITS)
    assert (changed.compiled, changed.reused) == (("native/ops/a/a.cc",), 1)
    assert changed.paths[UNITS[0]].read_bytes() != first.paths[UNITS[0]].read_bytes()


@pytest.mark.slow
def test_a_precompiled_header_changes_no_object(tmp_path: Path) -> None:
    """One is made where several units of an instruction set are compiled at once."""
    text = b"#include <immintrin.h>\n__m256 %s(__m256 x);\n__m256 %s(__m256 x) { return _mm256_mul_ps(x, x); }\n"
    names = [f"native/units/f{i}/f{i}__avx2.cc" for i in range(3)]
    sources = NativeSources.of_tree({name: text.replace(b"%s", Path(name).stem[:2].encode()) for name in names})
    units = [Unit(name) for name in names]
    alone = ObjectCache(tmp_path / "alone").objects(probe("host"), sources, units[:1])
    together = ObjectCache(tmp_path / "together").objects(probe("host"), sources, units)
    assert together.paths[units[0]].read_bytes() == alone.paths[units[0]].read_bytes()
    log = next((tmp_path / "together").rglob(".ninja_log")).read_text()
    assert "library_avx2.dir/cmake_pch" in log and not list((tmp_path / "together").rglob("cmake_pch.*ch"))


def test_the_key_depends_on_source_headers_kind_and_compiler_only(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    host = probe("host")
    key = cache.key(host, tree(), UNITS[0])
    assert cache.key(host, tree(native_ops_b_unused_h=b"// changed\n"), UNITS[0]) == key
    assert cache.key(host, tree(native_ops_a_deep_h=b"// changed\n"), UNITS[0]) != key
    assert cache.key(host, tree(), Unit(UNITS[0].path, "tool")) != key
    assert cache.key(host, tree(), Unit(UNITS[0].path, "silent")) != key
    from dataclasses import replace

    assert cache.key(replace(host, identity="another compiler"), tree(), UNITS[0]) != key


def test_a_compiler_error_is_shown_with_its_command(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    broken = tree(native_ops_b_b_cc=b"int B() { return nonsense; }\n")
    with pytest.raises(BuildError) as caught:
        cache.objects(probe("host"), broken, UNITS)
    text = str(caught.value)
    assert "compiling for host failed" in text
    assert "nonsense" in text
    assert "b.cc" in text
    assert not list((tmp_path / "objects").rglob("*"))
    assert len(cache.objects(probe("host"), tree(), UNITS).compiled) == 2


def test_warnings_are_errors(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="unused variable"):
        ObjectCache(tmp_path).objects(probe("host"), tree(native_ops_b_b_cc=b"void B(){int unused;}\n"), UNITS)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_is_one_error_and_leaves_no_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail(source: object, target: str) -> None:
        Path(target).write_bytes(b"half")
        raise OSError(code, os.strerror(code), str(target))

    monkeypatch.setattr(shutil, "copyfile", fail)
    with pytest.raises(BuildError) as caught:
        ObjectCache(tmp_path).objects(probe("host"), tree(), UNITS)
    assert ("free space on the disk" in str(caught.value)) is (code == errno.ENOSPC)
    assert not [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]


def _build_in_child(folder: Path, results: multiprocessing.Queue[int]) -> None:
    results.put(len(ObjectCache(folder).objects(probe("host"), tree(), UNITS).compiled))


@pytest.mark.slow
def test_builds_at_the_same_time_share_the_work(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results: multiprocessing.Queue[int] = context.Queue()
    children = [context.Process(target=_build_in_child, args=(tmp_path, results)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert sum(results.get() for _ in children) == 2
    assert len(list((tmp_path / "objects").rglob("*.o"))) == 2


# --- toolchains -------------------------------------------------------------------------------------------------------


def test_a_missing_compiler_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for abi, package in (("host", "g++"), ("aarch64-linux-gnu", "g++-aarch64-linux-gnu")):
        with pytest.raises(ToolchainError) as caught:
            probe(abi)
        for part in (f"'{package if abi == 'host' else abi + '-g++'}' is missing", "lathe doctor --install", package):
            assert part in str(caught.value)


def test_clang_and_the_c_library_for_riscv_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"'clang\+\+-19' is missing(.|\n)*apt-get install clang-19"):
        probe("riscv64-linux-gnu")
    (tmp_path / "clang++-19").write_text("#!/bin/sh\n")
    (tmp_path / "clang++-19").chmod(0o755)
    with pytest.raises(ToolchainError, match="apt-get install g\\+\\+-riscv64-linux-gnu") as caught:
        probe("riscv64-linux-gnu")
    assert "riscv64-linux-gnu is built with Clang and the GNU tools" in str(caught.value)


def test_cxx_names_the_compiler_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolchainError, match="'no-such-compiler' is missing"):
        probe("host")
    monkeypatch.setenv("CXX", "ccache g++")
    with pytest.raises(ToolchainError, match="more than one word"):
        probe("host")
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("CC", "/usr/bin/gcc")
    assert probe("host").cxx.name == "g++"


def test_a_compiler_that_fails_is_an_error_of_the_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "c++"
    program.write_text("#!/bin/sh\necho broken licence; exit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("CXX", str(program))
    with pytest.raises(ToolchainError, match="broken licence"):
        probe("host")


@pytest.mark.arm
def test_toolchains_of_other_machines() -> None:
    identities = {probe(abi).identity for abi in ("host", "aarch64-linux-gnu", "arm-linux-gnueabihf")}
    assert len(identities) == 3
    assert probe("aarch64-linux-gnu").machine.startswith("aarch64")


def test_cmake_and_ninja_are_found() -> None:
    assert Processes().run([toolchain.cmake_program(), "--version"], doing="asking")
    assert Processes().run([toolchain.ninja_program(), "--version"], doing="asking")


# --- processes --------------------------------------------------------------------------------------------------------


def test_the_end_of_the_output_is_shown() -> None:
    with pytest.raises(BuildError) as caught:
        Processes().run(["sh", "-c", "seq 1000; exit 7"], doing="counting")
    text = str(caught.value)
    assert "counting failed" in text
    assert "1000" in text
    assert " 900\n" not in text


def test_commands_are_echoed_and_noted() -> None:
    said: list[str] = []
    processes = Processes(echo=said.append)
    processes.run(["echo", "a b"], doing="talking", cwd=Path("/"))
    assert processes.commands == ["cd / && echo 'a b'"]
    assert said == ["$ cd / && echo 'a b'", "a b"]


def test_a_program_that_cannot_start() -> None:
    with pytest.raises(ToolchainError, match="cannot be started"):
        Processes().run(["/no/such/program"], doing="starting")


def test_interrupting_ends_the_program_and_its_children(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = f"sh -c 'echo $$ > {mark}; exec sleep 100' & wait"

    def interrupt() -> None:
        for _ in range(200):
            if mark.exists() and mark.read_text().strip():
                break
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        Processes().run(["sh", "-c", script], doing="sleeping")
    for _ in range(100):
        if not Path(f"/proc/{mark.read_text().strip()}").exists():
            break
        time.sleep(0.02)
    else:
        pytest.fail("the child still runs")


def test_a_full_disk_in_a_compiler_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tree(native_ops_b_b_cc=b'#error "as if the assembler had failed"\n')
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    with pytest.raises(BuildError) as caught:
        ObjectCache(tmp_path).objects(probe("host"), broken, UNITS)
    assert f"compiling for host failed: {disks.file_system(tmp_path)} is full" in str(caught.value)
    assert "LATHE_CACHE_DIR" in str(caught.value)
