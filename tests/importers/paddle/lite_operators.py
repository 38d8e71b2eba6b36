"""The operators that Paddle-Lite 2.6 lists: those that its library always has, and those of `build_extra`."""

from __future__ import annotations

from pathlib import Path

import yaml

_LISTS = Path(__file__).resolve().parents[3] / "scripts" / "source_operators.yml"
_PADDLE = yaml.safe_load(_LISTS.read_text(encoding="utf-8"))["paddle"]
BASIC, EXTRA = (frozenset(_PADDLE[f"the {name} list of Paddle-Lite"].split()) for name in ("basic", "extra"))
