"""Networks of the usual sizes through `lathe build`: the simulator, the interpreter and the RISC-V image give the same.

`python -m pytest -s` shows a line of figures for each.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import buildtool
from buildtool.importers.frameworks import import_model
from buildtool.importers.request import ImportRequest
from buildtool.ir.graph import Graph
from tests.native_builds import build as native
from tests.targets.k210.building import (
    as_file,
    by_simulator,
    described,
    mnist,
    nearness,
    on_host,
    on_riscv,
    picture_of,
)
from tests.targets.k210.test_generate import CACHE, cifar, digits, residual, tiny_yolo
from tests.targets.kpu.builds import ROOM
from tests.zoo.networks import cached


def _made(make: Callable[[], Graph]) -> Callable[[Path], Path]:
    return lambda file: as_file(make(), file)


def _zoo(name: str, width: float) -> Callable[[Path], Path]:
    return lambda file: Path(shutil.copy(cached(name, CACHE, size=224, width=width), file))


NETS: dict[str, Callable[[Path], Path]] = {
    "digits": _made(digits),
    "mnist": _made(mnist),
    "cifar": _made(cifar),
    "residual": _made(residual),
    **{f"mobilenet_v1_{width}": _zoo("mobilenet_v1", width / 100) for width in (25, 50, 75, 100)},
    "mobilenet_v2": _zoo("mobilenet_v2", 1.0),
    "tiny_yolo_320x224": _made(lambda: tiny_yolo(224, 320, 1.0)),
    "tiny_yolo_320x240": _made(lambda: tiny_yolo(240, 320, 1.0)),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", NETS)
def test_a_network_of_the_usual_size(name: str, tmp_path: Path) -> None:
    model = NETS[name](tmp_path / f"{name}.onnx")
    file = described({name: model}, tmp_path, samples=2)
    built = buildtool.build(file, options=buildtool.Options(tmp_path / "build", archive=False))
    folder = built.folder / "lib" / "k210"
    (report,) = json.loads((built.folder / "report" / "build.json").read_text())["firmware"][0]["models"]
    figures = {figure["key"]: figure["value"] for figure in report["figures"]}
    kmodel, into = folder / f"{name}.kmodel", tmp_path / "in"
    graph = import_model("onnx", ImportRequest(name, model)).graph
    picture, data = picture_of(graph, report["details"]["input"])
    into.write_bytes(data)
    wanted = by_simulator(kmodel, into)
    runner = native("lathe_kpu_run", source=ROOM) / "lathe_kpu_run"
    host = on_host(runner, kmodel, into, tmp_path)
    said, riscv = on_riscv(folder / f"{name}.elf", tmp_path, into)
    near = nearness(model, picture, wanted)
    print(  # noqa: T201 (shown with -s)
        f"| {name} | {near:.5f} | {figures['kpu_share']:.1%} | {figures['kmodel_bytes']:,} "
        f"| {figures['kpu_ram_bytes']:,} | {figures['main_memory_bytes']:,} | {wanted == host == riscv} |"
    )
    assert host == wanted
    assert riscv == wanted, said
    assert near > 0.98
    assert figures["kpu_share"] > 0.9
