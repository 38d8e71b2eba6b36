"""The faults that `make mutants` plants: they change what they should, and only that."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants import native_source, python_source
from tests.mutants.equivalents import EQUIVALENT
from tests.mutants.mutation import Mutation
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.running import Runner

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
#if defined(__HVX__)
  total = total + 4711;
#else
  WakeAll(&total);
#endif
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
    assert not [one for one in made if "kLimit" in one or "//" in one or '"a <= b"' in one or "4711" in one]


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


def test_equivalent_faults_can_be_planted() -> None:
    """What is listed and no longer stands in a source would hide another fault there."""
    for (name, change), why in EQUIVALENT.items():
        source = (ROOT / name).read_text(encoding="utf-8")
        mutations = native_source.mutations if name.startswith("native/") else python_source.mutations
        assert change in _made(source, mutations(source)), name
        assert why


_TESTED = """def first(x):
    if x:
        return (
            1 +
            x)
    return 0

def second(x):
    def inner():
        return x - 1
    return inner()

def third(x):
    return x + 1
"""
_TESTS = """import pytest

@pytest.mark.parametrize("x", range(100))
def test_many(x):
    import buildtool.tested
    assert buildtool.tested.first(x) == (1 + x if x else 0)

def test_second():
    from buildtool.tested import second
    assert second(3) == 2

def test_that_fails_without_a_fault():
    from buildtool.tested import third
    assert third(3) == 5
"""


def test_faults_are_found_in_a_process_that_has_loaded_the_tests(tmp_path: Path) -> None:
    source = tmp_path / "buildtool" / "tested.py"
    for file, text in ((source, _TESTED), (tmp_path / "tests" / "tested" / "test_tested.py", _TESTS)):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    for package in ("buildtool", "tests"):
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "tests" / "mutants").symlink_to(ROOT / "tests" / "mutants")
    runner = Runner(Room("tested", ("buildtool/tested.py",), ("tests/tested",)), tmp_path)
    runner.check()

    def found(old: str, new: str) -> bool | None:
        start = _TESTED.index(old)
        return runner.finds(source, _TESTED, Mutation(start, start + len(old), new, "a fault"))

    assert found("1 +", "1 -") is True
    assert found("return 0", "return 1") is True
    assert found("x - 1", "x - 2") is True, "a function in a function"
    assert found("x + 1", "x + 7") is False, "no test that passes executes it"
    assert found("if x:", "if x != 0:") is False
    assert found("def first", "def  first") is None, "the same code"
    runner.end()
    assert source.read_text() == _TESTED
