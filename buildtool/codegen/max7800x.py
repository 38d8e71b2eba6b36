"""The generated sources of programs for the MAX78000 and MAX78002."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jinja2

_COLUMNS = 8  # words in a line


def render(template: str, **values: Any) -> bytes:
    """One file from its template."""
    return _environment().get_template(f"{template}.j2").render(**values).encode()


def macro(name: str, values: Sequence[int], digits: int = 8) -> str:
    """A macro that is the initialiser of an array."""
    columns = _COLUMNS * 8 // digits
    lines = [
        ", ".join(f"0x{value:0{digits}x}" for value in values[start : start + columns])
        for start in range(0, len(values), columns)
    ]
    body = ", \\\n  ".join(lines)
    return f"#define {name} {{ \\\n  {body} \\\n}}\n"


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("buildtool.codegen", "templates/max7800x"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["word"] = lambda value: f"0x{value:08x}"
    environment.filters["c_text"] = c_text
    environment.globals["macro"] = macro
    return environment


def c_text(text: str) -> str:
    """Text that is safe in a C string and in a comment."""
    kept = "".join(letter if 32 <= ord(letter) < 127 else "?" for letter in text)
    for letter, safe in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("*/", "* /"), ("??", "? ?")):
        kept = kept.replace(letter, safe)
    return kept
