"""docs/how-to/later-models.md: a library with all operators runs a model that it does not know, if it is signed."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import buildtool
from buildtool.plan import manifest
from buildtool.runtime import Library
from buildtool.targets.registry import all_targets
from tests.examples.test_documented_commands import shell

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "later-models"
PAGE = ROOT / "docs" / "how-to" / "later-models.md"


def later(folder: Path) -> None:
    """A network of operators that the digits have not: a GRU, a sorted choice, an error function."""
    random = np.random.default_rng(7)
    weights: dict[str, np.ndarray[Any, Any]] = {
        "w": random.standard_normal((1, 9, 4)).astype(np.float32),
        "r": random.standard_normal((1, 9, 3)).astype(np.float32),
        "k": np.array([2], np.int64),
        "one": np.full((5, 1, 4), 0.5, np.float32),
    }
    nodes = [
        helper.make_node("Add", ["x", "one"], ["y"]),
        helper.make_node("GRU", ["y", "w", "r"], ["", "last"], hidden_size=3),
        helper.make_node("Erf", ["last"], ["e"]),
        helper.make_node("TopK", ["e", "k"], ["best", "places"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 1, 4])
    best = helper.make_tensor_value_info("best", TensorProto.FLOAT, [1, 1, 2])
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "later", [x], [best], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "later.onnx")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "served").mkdir()
    handler = functools.partial(_Quiet, directory=str(tmp_path / "served"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is missing: the program downloads with it")
def test_the_commands_of_the_page(tmp_path: Path, served: str) -> None:
    here = tmp_path / "later-models"
    shutil.copytree(EXAMPLE, here)
    (tmp_path / "digits").mkdir()
    shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", tmp_path / "digits")
    later(here)
    build, convert, run = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    shell(build + convert, here)
    for ending in ("pb", "data", "pb.sig", "data.sig"):
        shutil.copy(here / "converted" / "later" / "model" / f"later.{ending}", tmp_path / "served")
    local = run.replace("./app ", "./app --insecure-http ").replace("https://models.example.com", served)
    name, *words = shell(local, here).split()
    options = buildtool.Options(tmp_path / "own", archive=False)
    with buildtool.load(buildtool.build(here / "later.yml", options=options)) as model:
        expected = model.run({"x": np.zeros((5, 1, 4), np.float32)})["best"].ravel()
    assert name == "best:"
    assert [float.fromhex(word) for word in words] == [float(value) for value in expected]
    for ending in ("pb", "data", "pb.sig"):
        file = tmp_path / "served" / f"later.{ending}"
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert "the signature does not fit" in failure(local, here)
        file.write_bytes(whole)
    (tmp_path / "served" / "later.data.sig").unlink()
    assert "later.data: cannot be downloaded" in failure(local, here)
    assert "cannot be downloaded" in failure(run.replace("https://models.example.com", served), here)  # http is refused


def failure(command: str, folder: Path) -> str:
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


def test_the_library_has_every_kernel_that_its_processor_may_run(tmp_path: Path) -> None:
    overrides = buildtool.Overrides(("host",), all_ops=True)
    written = tmp_path / "build"
    options = buildtool.Options(written, emit=frozenset({"source"}), archive=False)
    report = buildtool.build(ROOT / "examples" / "digits" / "deploy.yml", overrides, options)
    kernels = set(Library(report.file_of("host", "shared")).kernels)
    isas = all_targets()["cpu"].capabilities.abis["host"].isas  # type: ignore[union-attr]
    assert kernels == {kernel.name for kernel in manifest.load() if kernel.isa in isas}
