"""What mistakes are answered with, as whole texts in a file: `== name`, then the text.

`LATHE_UPDATE_GOLDEN=1 pytest tests/training` writes the files again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from buildtool.errors import LatheError

Cases = Mapping[str, Callable[[Path], object]]


def answers(cases: Cases, folder: Path) -> dict[str, str]:
    """The text of each mistake, without the folder. A case that passes has none."""
    found: dict[str, str] = {}
    for name, case in cases.items():
        own = folder / str(len(found))
        own.mkdir()
        try:
            case(own)
        except LatheError as error:
            found[name] = error.render().replace(f"{own}/", "").strip()
        else:
            found[name] = "nothing is wrong"
    return found


def compare(file: Path, found: Mapping[str, str]) -> None:
    text = "".join(f"== {name}\n{told}\n\n" for name, told in found.items())
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text
    assert all("error: " in told for told in found.values())
