"""Keeps files and functions short enough to be read: part of `make lint`.

A file has at most 600 lines, a function at most 60 (from its signature to its last line), and no file is a drawer
without a label (`utils`). Python is measured with `ast`; C and C++ with a scanner of braces that knows strings,
comments and preprocessor lines, which is enough for code that clang-format has laid out.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
NATIVE_SUFFIXES = {".c", ".cc", ".cl", ".cpp", ".h", ".hpp"}
MEASURED_SUFFIXES = NATIVE_SUFFIXES | {".S", ".bzl", ".cmake", ".j2", ".proto", ".py", ".sh"}
BANNED_STEMS = {"util", "utils"}


@dataclass(frozen=True)
class Function:
    """One function: where it starts (1-based) and how many lines it takes."""

    name: str
    line: int
    length: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="default: all files that git knows or would add")
    files = parser.parse_args().files or _files_of_the_tree()
    problems = [problem for file in files for problem in check_file(file)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def check_file(file: Path) -> Iterator[str]:
    """One line of text per broken rule."""
    if file.stem in BANNED_STEMS:
        yield f"{file}:1: a file named '{file.name}' collects what belongs elsewhere; name it after what it holds"
    if file.suffix not in MEASURED_SUFFIXES and file.name != "CMakeLists.txt":
        return
    text = file.read_text(encoding="utf-8")
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{file}:1: {lines} lines; at most {MAX_FILE_LINES}: split it by what changes together"
    functions: Iterator[Function] = iter(())
    if file.suffix == ".py":
        functions = python_functions(text)
    elif file.suffix in NATIVE_SUFFIXES:
        functions = native_functions(text)
    for function in functions:
        if function.length > MAX_FUNCTION_LINES:
            yield f"{file}:{function.line}: {function.name} has {function.length} lines; at most {MAX_FUNCTION_LINES}"


def python_functions(text: str) -> Iterator[Function]:
    """All functions and methods, nested ones too; decorators do not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1)


def native_functions(text: str) -> Iterator[Function]:
    """All functions outside other functions. A lambda counts as a part of the function around it."""
    text = _blank_comments_strings_and_directives(text)
    head_start = 0  # start of what stands before the next brace
    depth = 0  # of braces inside the current function; 0 outside any
    start = body = 0
    for match in re.finditer(r"[{};]", text):
        mark, at = match.group(), match.start()
        if depth:
            depth += {"{": 1, "}": -1, ";": 0}[mark]
            if depth:
                continue
            if re.match(r"\s*[,{]", text[at + 1 :]):  # it was a member initialiser: `A() : a{1}, b{2} {`
                continue
            first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, at) + 1
            yield Function(_function_name(text[start:body]), first, last - first + 1)
        elif mark == "{" and _is_function_head(text[head_start:at]):
            depth = 1
            start, body = head_start + _leading_space(text[head_start:at]), at
            continue
        head_start = at + 1


def _leading_space(text: str) -> int:
    return len(text) - len(text.lstrip())


def _is_function_head(head: str) -> bool:
    head = head.strip()
    if "(" not in head or head.endswith(("=", ",", "(")):
        return False
    return re.match(r"(typedef\s+)?(namespace|struct|class|union|enum)\b(?!.*\)\s*(const|noexcept)?$)", head) is None


def _function_name(head: str) -> str:
    match = re.search(r"([\w:~]+|operator\W+)\s*\(", head)
    return match.group(1) if match else "a function"


def _blank_comments_strings_and_directives(text: str) -> str:
    """Replace what may hold misleading braces by spaces; lines stay where they are."""
    pattern = re.compile(
        r"//[^\n]*"
        r"|/\*.*?\*/"
        r'|R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"'
        r'|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
        r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
        re.DOTALL | re.MULTILINE,
    )
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _files_of_the_tree() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted({path for name in names if name and (path := Path(name)).is_file()})


if __name__ == "__main__":
    sys.exit(main())
