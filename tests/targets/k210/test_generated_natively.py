"""Generated kmodels on the interpreter, to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtool.targets.k210.simulation.simulator import simulate
from tests.native_builds import build, command
from tests.targets.k210.generating import generated, given, pictures
from tests.targets.k210.test_generate import NETS
from tests.targets.k210.test_spread import GRAPHS
from tests.targets.kpu.builds import ROOM


@pytest.fixture(scope="module")
def runner() -> Path:
    """Runs kmodels under sanitizers."""
    return build("lathe_kpu_run", variant="asan", source=ROOM) / "lathe_kpu_run"


@pytest.mark.parametrize("name", [*NETS, *GRAPHS])
def test_the_interpreter_gives_the_bytes_of_the_simulator(runner: Path, name: str, tmp_path: Path) -> None:
    graph = {**NETS, **GRAPHS}[name]()
    made = generated(graph)
    data = given(made, next(iter(pictures(graph, 1)[0].values())))
    (tmp_path / "net.kmodel").write_bytes(made.data)
    (tmp_path / "in").write_bytes(data)
    command([runner, tmp_path / "net.kmodel", tmp_path / "in", tmp_path / "out"])
    for index, wanted in enumerate(simulate(made.model, data)):
        assert (tmp_path / f"out{index}").read_bytes() == wanted
