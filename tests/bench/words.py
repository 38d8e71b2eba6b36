"""Lists on a command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def listed(allowed: Sequence[str], text: str) -> list[str]:
    """Words with commas between them, each one of those that are allowed; an error of argparse otherwise."""
    found = [word for word in text.split(",") if word]
    for word in found:
        if word not in allowed:
            raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(allowed)}")
    return found
