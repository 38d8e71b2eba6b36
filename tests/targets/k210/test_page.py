"""The Python examples of docs/k210.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.quant import range_files
from buildtool.quant.ranges import between
from buildtool.targets.k210.kmodel import read, write
from tests.targets.k210.generating import prepared
from tests.targets.k210.samples import planes_between_memories
from tests.zoo.networks import cached

PAGE = Path(__file__).resolve().parents[3] / "docs" / "k210.md"
CACHE = PAGE.parents[1] / "build" / "test-zoo"


def example(number: int) -> str:
    """One of the two examples."""
    making, running = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return str((making, running)[number])


def test_the_example_that_makes_a_kmodel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = cached("mobilenet_v1", CACHE, size=32, width=0.25)
    Path("net.onnx").write_bytes(file.read_bytes())
    graph = prepared(import_model("onnx", ImportRequest("net", file)).graph)
    quants = {value: graph.range_of(value) for value in graph.values()}
    known = {
        name: between(quant) for value, quant in quants.items() if quant for name in (value.name, *value.source_names)
    }
    Path("net.ranges").write_text(range_files.text(known))
    exec(compile(example(0), str(PAGE), "exec"), {})
    shown = capsys.readouterr().out
    assert "% of the multiplications on the KPU" in shown
    assert "(3, 32, 32): byte = real / 0.00" in shown
    assert len(read(Path("net.kmodel").read_bytes()).layers) > 27


def test_the_example_that_runs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.kmodel").write_bytes(write(planes_between_memories()))
    names: dict[str, object] = {}
    exec(compile(example(1), str(PAGE), "exec"), names)
    assert [len(output) for output in names["outputs"]] == [1440, 900, 180]  # type: ignore[attr-defined]
