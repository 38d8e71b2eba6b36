"""The faults that can be planted in a C or C++ source, line by line. What does not compile is no fault."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutants.mutation import Mutation

#: What is replaced, by what, and the kind of fault.
_PIECES: tuple[tuple[str, str, str], ...] = (
    (r" < ", " <= ", "off by one"),
    (r" <= ", " < ", "off by one"),
    (r" > ", " >= ", "off by one"),
    (r" >= ", " > ", "off by one"),
    (r" == ", " != ", "another comparison"),
    (r" != ", " == ", "another comparison"),
    (r" && ", " || ", "and for or"),
    (r" \|\| ", " && ", "or for and"),
    (r" \+ ", " - ", "another operator"),
    (r" - ", " + ", "another operator"),
    (r" \* ", " + ", "another operator"),
    (r" / ", " * ", "another operator"),
    (r" % ", " / ", "another operator"),
    (r" \+= ", " -= ", "another operator"),
    (r"\btrue\b", "false", "true for false"),
    (r"\bfalse\b", "true", "false for true"),
    (r"\bstatic_cast<(?:u?int64_t|size_t|ptrdiff_t)>", "static_cast<uint16_t>", "a cast that loses bits"),
)
_NUMBER = re.compile(r"(?<![\w.'])(\d{1,4})(?![\w.'])")
#: Statements of one line that can be left out: calls, waits, frees, checks.
_STATEMENT = re.compile(
    r"^\s*(?!return|break|const|auto|using|static|case|default|goto|else|struct|class|#)[^=]*\)\s*;$"
)
_CHECK = re.compile(r"^\s*(?:LATHE_TRY\(.*\)|if \(.*\) (?:return|continue|break)\b.*);$")
_ASSIGNED = re.compile(r"^\s*[\w>.\-\[\]]+ (?:\+|-|\||&)?= [^;]*;$")
_SKIPPED = re.compile(r"^\s*(?://|#|\*|/\*|static_assert|template|using|namespace|LATHE_KERNEL|class|struct|enum)")
#: Conditions that hold on no computer that this is for.
_FOREIGN = re.compile(r"#(?:el)?if defined\(__(?:HVX|hexagon|ARM|aarch64|arm|riscv|wasm)\w*\)")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|//.*$')


def mutations(source: str) -> list[Mutation]:
    """All faults, in the order of the source; those in functions, as far as indentation tells."""
    found: list[Mutation] = []
    start = 0
    foreign: list[bool] = []  # whether what stands in each of the conditions around a line is for other processors
    for line in source.splitlines(keepends=True):
        bare = line.rstrip("\n")
        if bare.startswith("#if"):
            foreign.append(bool(_FOREIGN.match(bare)))
        elif bare.startswith(("#else", "#elif")):
            foreign[-1] = bool(_FOREIGN.match(bare))
        elif bare.startswith("#endif"):
            foreign.pop()
        if bare.startswith("  ") and not _SKIPPED.match(bare) and not any(foreign):
            found += _in_line(bare, start)
        start += len(line)
    return found


def _in_line(line: str, start: int) -> Iterator[Mutation]:
    covered = _TEXT.sub(lambda match: " " * len(match.group()), line)
    for pattern, text, what in _PIECES:
        for match in re.finditer(pattern, covered):
            yield Mutation(start + match.start(), start + match.end(), text, what)
    for match in _NUMBER.finditer(covered):
        yield Mutation(start + match.start(), start + match.end(), str(int(match.group()) + 1), "off by one")
    for whole, what in ((_STATEMENT, "a call left out"), (_CHECK, "a check left out"), (_ASSIGNED, "a value kept")):
        if whole.match(covered.rstrip()):
            yield Mutation(start, start + len(line), "", what)
            break  # a checked call is both
