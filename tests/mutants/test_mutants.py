"""The faults that `make mutants` plants: they change what they should, and only that."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import native_source, python_source
from tests.mutants.covering import Covering
from tests.mutants.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[2]
_PYTHON = '''"""A module."""
LIMIT = 3


def area(sizes, wide=True):
    """The area: 1 + 1."""
    total = 1
    for size in sizes:
        if size < 0:
            return -1
        total *= size + 1
    if not wide and total in (2, 3):
        raise ValueError(f"{total + 1} is 4")
    sizes.append(total)
    return total
'''
_NATIVE = """// a < b
static const int kLimit = 3;
int Area(const int* sizes, size_t count) {
  // a + b
  int total = 1;
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] == 0) return 0;
    total = total * static_cast<int64_t>(sizes[i]);
  }
  WakeAll(&total);
  Print("a < b", total);
  return total;
}
"""


def _made(source: str, mutations: list[python_source.Mutation]) -> set[str]:
    return {one.shown(source) for one in mutations}


def test_faults_of_python() -> None:
    made = _made(_PYTHON, python_source.mutations(_PYTHON))
    assert {
        "if size < 0:  ->  if size <= 0:",
        "if size < 0:  ->  if size < 1:",
        "if size < 0:  ->  if False:",
        "return -1  ->  return (1)",
        "total *= size + 1  ->  total *= size - 1",
        "total *= size + 1  ->  pass",
        "if not wide and total in (2, 3):  ->  if not wide or total in (2, 3):",
        "if not wide and total in (2, 3):  ->  if not wide and total not in (2, 3):",
        "if not wide and total in (2, 3):  ->  if (wide) and total in (2, 3):",
        "sizes.append(total)  ->  pass",
        "total = 1  ->  total = 2",
    } <= made
    assert not [one for one in made if "LIMIT" in one or "The area" in one or "ValueError" in one or "wide=" in one]


def test_faults_of_native_code() -> None:
    made = _made(_NATIVE, native_source.mutations(_NATIVE))
    assert {
        "for (size_t i = 0; i < count; ++i) {  ->  for (size_t i = 0; i <= count; ++i) {",
        "if (sizes[i] == 0) return 0;  ->  if (sizes[i] != 0) return 0;",
        "total = total * static_cast<int64_t>(sizes[i]);  ->  total = total * static_cast<uint16_t>(sizes[i]);",
        "total = total * static_cast<int64_t>(sizes[i]);  ->  total = total + static_cast<int64_t>(sizes[i]);",
        "int total = 1;  ->  int total = 2;",
    } <= made
    left_out = [one for one in native_source.mutations(_NATIVE) if one.text == ""]
    assert {_NATIVE[one.start : one.end].strip() for one in left_out} == {
        "if (sizes[i] == 0) return 0;",
        "total = total * static_cast<int64_t>(sizes[i]);",
        "WakeAll(&total);",
        'Print("a < b", total);',
    }
    assert not [one for one in made if "kLimit" in one or "//" in one or '"a <= b"' in one]


@pytest.mark.parametrize("name", [name for name, room in ROOMS.items() if not room.is_native])
def test_python_with_a_fault_is_still_python(name: str) -> None:
    room = ROOMS[name]
    file = max(room.files(ROOT), key=lambda file: file.stat().st_size)
    source = file.read_text(encoding="utf-8")
    made = room.mutations()(source)
    assert made
    for mutation in made[::10]:
        planted = mutation.planted(source)
        assert planted != source
        ast.parse(planted)


def test_every_room_has_sources_and_tests() -> None:
    for room in ROOMS.values():
        assert room.files(ROOT), room.name
        assert all((ROOT / folder).is_dir() for folder in room.tests)


_TESTED = """def first(x):
    if x:
        return (
            1 +
            x)
    return 0
"""
_TESTS = """import pytest, tested

@pytest.mark.parametrize("x", range(100))
def test_many(x):
    assert tested.first(x) == (1 + x if x else 0)

def test_zero():
    assert tested.first(0) == 0
"""


def test_tests_that_execute_a_line_are_found(tmp_path: Path) -> None:
    source = tmp_path / "tested.py"
    source.write_text(_TESTED)
    (tmp_path / "test_tested.py").write_text(_TESTS)
    data = tmp_path / "coverage"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cov=tested", "--cov-context=test"]
    environment = {**os.environ, "COVERAGE_FILE": str(data), "PYTHONPATH": str(tmp_path)}
    subprocess.run([*command, "--cov-report="], cwd=tmp_path, env=environment, check=True, capture_output=True)
    covering = Covering(data)
    assert set(covering.tests(source, _TESTED, 6)) == {"test_tested.py::test_many[0]", "test_tested.py::test_zero"}
    for line in (3, 4, 5):
        spread = covering.tests(source, _TESTED, line)
        assert 20 <= len(spread) <= 40
        assert not {"test_tested.py::test_many[0]", "test_tested.py::test_zero"} & set(spread)
    assert Covering(data).tests(tmp_path / "other.py", _TESTED, 6) == []
