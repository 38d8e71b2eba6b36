"""The page of licences names every package that an installation of Lathe brings."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "licences.md"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def _installed(names: list[str]) -> set[str]:
    """These packages and all that they need, as far as this machine has them."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # another system needs it
        if name not in found:
            found.add(name)
            waiting += _needed(needs)
    return found


def _needed(requirements: list[str]) -> list[str]:
    matches = (_NAME.match(line) for line in requirements if "extra ==" not in line)
    return [match.group() for match in matches if match is not None]


def test_the_page_names_every_package() -> None:
    installed = _installed(_needed(importlib.metadata.requires("lathe-build") or []))
    assert "numpy" in installed
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.+?) \| .+ \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for name, licence in rows if licence}
    assert installed <= named, installed - named
