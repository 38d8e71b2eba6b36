"""clang-tidy's reports are passed on, and sources of single instruction sets are left out."""

from __future__ import annotations

from pathlib import Path

from scripts import run_clang_tidy as tidy


def _program(folder: Path, script: str) -> str:
    program = folder / "clang-tidy"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_sources_are_those_of_all_machines() -> None:
    names = {path.relative_to(tidy.ROOT).as_posix() for path in tidy.sources()}
    assert {"native/runtime/engine.cc", "native/kernel/check.cc", "native/kernel/gemm/packing.cc"} <= names
    assert not [name for name in names if "__" in name or name.startswith("native/tests/")]


def test_a_report_is_passed_on(tmp_path: Path) -> None:
    program = _program(tmp_path, 'echo "$2:1:1: error: bad"; echo "1 warning generated." >&2; exit 1')
    assert tidy.check(program, Path("a.cc")) == "a.cc:1:1: error: bad\n"


def test_a_clean_file_says_nothing(tmp_path: Path) -> None:
    assert tidy.check(_program(tmp_path, 'echo "12 warnings generated." >&2'), Path("a.cc")) == ""


def test_a_program_that_breaks_is_a_problem(tmp_path: Path) -> None:
    program = _program(tmp_path, "echo 'no such option' >&2; exit 2")
    assert tidy.check(program, Path("a.cc")) == f"a.cc: {program} answered 2\nno such option\n"
