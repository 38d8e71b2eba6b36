"""Tests that need torch, which is a gigabyte, run by `make test-train`."""

from __future__ import annotations

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["with_torch"]
