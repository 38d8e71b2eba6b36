"""A fixed share of the random models of `make strangers`, and the machinery around them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest

from buildtool.plan import manifest
from buildtool.runtime import Library
from tests.native_builds import full_library
from tests.strangers import onnx_models, shrinking, stored
from tests.strangers.__main__ import Findings
from tests.strangers.drawing import Model
from tests.strangers.exclusions import reason
from tests.strangers.judge import Verdict, difference, judge_model
from tests.strangers.pool import Worker, judge_all

MODELS = range(40)


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(full_library())


@pytest.fixture
def _manifests_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "load", functools.cache(manifest.load))


@pytest.mark.slow
@pytest.mark.usefixtures("_manifests_once")
def test_random_models_compute_what_onnxruntime_computes(library: Library) -> None:
    verdicts = {seed: judge_model(onnx_models.draw(seed), library) for seed in MODELS}
    found = {seed: verdict for seed, verdict in verdicts.items() if verdict.kind != "right" and not reason(verdict)}
    wrong = {seed: verdict for seed, verdict in found.items() if verdict.kind != "refused"}
    assert wrong == {}
    assert len(found) <= 0.1 * len(MODELS), found


def test_a_seed_draws_the_same_model_each_time() -> None:
    first, again = (onnx_models.draw(5).proto.SerializeToString() for _ in range(2))
    assert first == again != onnx_models.draw(6).proto.SerializeToString()


def test_shrinking_keeps_the_node_at_fault(tmp_path: Path) -> None:
    def has_pool(model: Model) -> bool:
        stored.write_model(model, tmp_path / "model.onnx")
        return any("Pool" in node.op_type for node in stored.read_model(tmp_path / "model.onnx").proto.graph.node)

    seed = next(seed for seed in range(100) if has_pool(onnx_models.draw(seed)))
    small = shrinking.shrink(onnx_models.draw(seed), has_pool)
    assert [node.op_type for node in small.proto.graph.node if "Pool" not in node.op_type] == []
    assert len(small.proto.graph.node) == 1


def test_families_count_at_the_same_time(tmp_path: Path) -> None:
    file = tmp_path / "strangers.json"
    families = [Findings(f"family {index}", tmp_path / "models", None, file) for index in range(4)]
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(family.store) for family in families for _ in range(20)]:
            done.result()
    assert json.loads(file.read_text()).keys() == {family.family for family in families}


def test_what_rounds_less_than_the_framework_is_right() -> None:
    real, rounded = np.array([1.0, 2.0, 3.0]), np.array([1.3, 2.0, 2.6])
    assert difference(rounded, np.array([1.0, 2.0, 3.1]), 0, 0.05) == "is off by 0.5, above 0.05"
    assert not difference(rounded, np.array([1.0, 2.0, 3.1]), 0, 0.05, real)
    assert difference(rounded, np.array([1.0, 2.2, 3.0]), 0, 0.05, real) == "is off by 0.2, above 0.05"


def test_a_value_of_few_bits_that_a_step_turns_over_is_right() -> None:
    """One of 300 values may be as far from the real one as the framework is at its worst, not two, and not farther."""
    real = np.arange(300, dtype=np.float32)
    rounded = real.copy()
    rounded[7] += 1
    found = real.copy()
    found[100] += 1
    assert not difference(rounded, found, 0, 0.05, real)
    found[100] += 1
    assert difference(rounded, found, 0, 0.05, real) == "is off by 2, above 0.05"
    found[100:102] = real[100:102] + 1
    assert difference(rounded, found, 0, 0.05, real) == "is off by 1, above 0.05"


def test_what_rounding_decides_is_not_wrong(library: Library, tmp_path: Path) -> None:
    """The largest of sums that are all 1 but for rounding: seed 2000559, shrunk."""
    graph = """<ir_version: 9, opset_import: ["" : 17]> g (float[N0,2,4,L1] x) => (y) {
  pooled = AveragePool<auto_pad = "VALID", count_include_pad = 1, kernel_shape = [1, 4], strides = [1, 3]>(x)
  shares = Softmax<axis = -2>(pooled)
  sums = ReduceL1<axes = [-2], keepdims = 0>(shares)
  y = Hardmax<axis = -2>(sums)
}"""
    model = Model(onnx.parser.parse_model(graph), {"N0": (3, 1, 2), "L1": (8, 4, 5)}, 2000559)
    verdict = judge_model(model, library)
    assert verdict.kind == "right", verdict


@pytest.mark.slow
def test_an_interrupted_run_keeps_its_counts(tmp_path: Path) -> None:
    """Two of a hundred models are judged before the interrupt; those of another family stay."""
    broken, file = tmp_path / "broken.so", tmp_path / "strangers.json"
    broken.write_bytes(b"no library")
    file.write_text('{"torch": {"run": 7}}')
    findings = Findings("onnx", tmp_path / "onnx", None, file)

    def found(job: Mapping[str, Any], verdict: Verdict, worker: Worker) -> None:
        findings.add(job, Verdict("right", "", ""), worker)
        if job["seed"] == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_all(({"seed": seed} for seed in range(100)), broken, 1, found)
    stored_counts = json.loads(file.read_text())
    assert stored_counts["torch"] == {"run": 7}
    assert stored_counts["onnx"]["run"] == 2


def test_a_process_that_dies_is_a_finding(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    verdicts = []
    judge_all([{"seed": 1}], broken, 1, lambda job, verdict, worker: verdicts.append(verdict))
    assert [verdict.kind for verdict in verdicts] == ["crashed"]
    assert all("it ended with" in verdict.what for verdict in verdicts)
    Worker(broken).end()
