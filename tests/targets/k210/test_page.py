"""The Python example of docs/k210.md runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from buildtool.targets.k210.kmodel import write
from tests.targets.k210.samples import planes_between_memories

PAGE = Path(__file__).resolve().parents[3] / "docs" / "k210.md"


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.kmodel").write_bytes(write(planes_between_memories()))
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    assert [len(output) for output in names["outputs"]] == [1440, 900, 180]  # type: ignore[attr-defined]
