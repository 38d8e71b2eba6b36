"""Finds whole C++ programs in pages of Paddle-Lite's documentation, which are text without marks of code."""

from __future__ import annotations

import re

_START = re.compile(r"^#include <", re.MULTILINE)


def programs(page: str) -> list[str]:
    """From the first #include to the brace that closes `main`, where `paddle_api.h` is among the headers."""
    found = []
    at = 0
    while start := _START.search(page, at):
        main = re.compile(r"^int main\(.*$", re.MULTILINE).search(page, start.start())
        end = re.compile(r"^\}\n", re.MULTILINE).search(page, main.end()) if main else None
        if end is None:
            break
        text = page[start.start() : end.end()]
        at = end.end()
        if '"paddle_api.h"' in text:
            found.append(text)
    return found
