"""The size check sees what it should: a rule that never fires protects nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_sizes import check_file, native_functions, python_functions


def test_long_python_function_is_found(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("def f():\n" + "    x = 1\n" * 60)
    assert [problem.partition(": ")[2] for problem in check_file(file)] == ["f has 61 lines; at most 60"]


def test_long_file_and_nameless_drawer_are_found(tmp_path: Path) -> None:
    file = tmp_path / "utils.py"
    file.write_text("\n" * 601)
    problems = list(check_file(file))
    assert len(problems) == 2
    assert "601 lines" in problems[1]


def test_methods_and_nested_functions_are_measured() -> None:
    text = "class A:\n    def f(self):\n        def g():\n            pass\n        return g\n"
    assert {(function.name, function.length) for function in python_functions(text)} == {("f", 4), ("g", 2)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f() {\n  return 1;\n}\n", [("f", 1, 3)]),
        ("namespace a {\nvoid g(int x)\n{\n}\n}\n", [("g", 2, 3)]),
        ("struct S {\n  S() : a{1}, b{2} {\n    f();\n  }\n  int a, b;\n};\n", [("S", 2, 3)]),
        ("const int table[] = {\n 1, 2,\n 3};\n", []),
        ("template <typename T>\nT f(T x) {\n  if (x) {\n    g();\n  }\n}\n", [("f", 1, 6)]),
        ('void f() {\n  g("}");  // }\n#define X }\n  /* } */\n}\n', [("f", 1, 5)]),
        ('extern "C" {\nvoid f(void) {\n}\n}\n', [("f", 2, 2)]),
        ("struct P f(void) {\n}\n", [("f", 1, 2)]),
        ("void A::f() const {\n  auto x = [](int y) {\n    return y;\n  };\n}\nint z;\n", [("A::f", 1, 5)]),
        ("enum class E : uint8_t { kA = F(1), kB };\n", []),
    ],
)
def test_native_functions(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert [(function.name, function.line, function.length) for function in native_functions(text)] == expected
