"""Names of files."""

from __future__ import annotations

import re


def folder_name(name: str) -> str:
    """The folder of an architecture."""
    return re.sub(r"\W+", "_", name).strip("_").lower()
