"""The framework of a model in another Python as the one who gives the right answer: `--reference-python`.

No framework has to live in Lathe's environment. The modules of `workers` are run by the other Python, which needs
NumPy and the framework, and no part of Lathe; arrays go there and back in files.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from buildtool import jail
from buildtool.errors import ConfigError, RunError, UnsupportedError, Where
from buildtool.running.inputs import TensorSpec
from buildtool.running.metrics import Array
from buildtool.running.reference import from_source, to_source

_WORKERS = Path(__file__).resolve().parent / "workers"
_MEMORY_PER_BYTE = 4  # of the model and its inputs
_WITHOUT_FRAMEWORK, _WITHOUT_RESULT = 4, 5  # exit codes of workers/main.py
_EXECUTES = ("pytorch",)  # models of these hold code
_NUMPY = "compare with Lathe's own evaluator: --reference numpy"


def platforms() -> tuple[str, ...]:
    """Those whose framework can be asked."""
    return tuple(sorted(file.stem.removeprefix("with_") for file in _WORKERS.glob("with_*.py")))


class OtherPythonReference:
    """The source model in its own framework, in a process of another Python."""

    def __init__(
        self,
        python: Path,
        platform: str,
        model_file: Path,
        weight_file: Path | None,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        seconds: float,
        *,
        jailed: bool = True,
    ) -> None:
        """`jailed`: whether code in programs of PyTorch runs in a jail; files of other platforms have none."""
        if platform not in platforms():
            raise ConfigError(
                f"no framework of the platform '{platform}' can compute a reference",
                rule=f"--reference-python supports {', '.join(platforms())}",
                remedy=_NUMPY,
            )
        self.name = f"{platform} in {python}"
        self._python = python
        self._platform = platform
        self._model = model_file
        self._weights = weight_file
        self._inputs = inputs
        self._outputs = outputs
        self._seconds = seconds
        self._jailed = jailed and platform in _EXECUTES

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        request = {
            "platform": self._platform,
            "model": str(self._model.resolve()),
            "weights": None if self._weights is None else str(self._weights.resolve()),
            "inputs": [spec.source_name or spec.name for spec in self._inputs],
            "outputs": [spec.source_name or spec.name for spec in self._outputs],
        }
        arrays: dict[str, Any] = {
            str(index): to_source(inputs[spec.name], spec) for index, spec in enumerate(self._inputs)
        }
        with tempfile.TemporaryDirectory(prefix="lathe-reference-") as folder:
            file = Path(folder) / "request.json"
            file.write_text(json.dumps(request), encoding="utf-8")
            np.savez(file.with_name("inputs.npz"), **arrays)
            self._work(file)
            results = self._results(file.with_name("outputs.npz"))
        return {spec.name: from_source(array, spec) for spec, array in zip(self._outputs, results, strict=True)}

    def _work(self, request: Path) -> None:
        try:
            ended = self._started(request)
        except OSError as problem:
            raise RunError(
                f"{self._python} cannot be started: {problem.strerror}",
                rule="--reference-python names the interpreter of an environment: FOLDER/bin/python",
                remedy="correct its path; it needs to be a program that can be started",
            ) from problem
        if ended.exceeded:
            remedy = (
                "raise --timeout, or --trust-model-code if you trust its author" if self._jailed else "raise --timeout"
            )
            raise RunError(f"the reference took more than {ended.exceeded}", remedy=remedy)
        last = ended.last_words or f"it ended with code {ended.code}"
        if ended.code == _WITHOUT_FRAMEWORK:
            raise RunError(f"{self._python} has no {last}, or no numpy", remedy=f"install it there, or {_NUMPY}")
        if ended.code == _WITHOUT_RESULT:
            what = f"the framework cannot run this model: {last}"
            raise UnsupportedError(what, where=Where(file=str(self._model)), remedy=_NUMPY)
        if ended.code:
            raise RunError(f"the reference in {self._python} failed: {last}", remedy=_NUMPY)

    def _started(self, request: Path) -> jail.Ended:
        script, python = _WORKERS / "main.py", str(self._python)
        if not self._jailed:
            return jail.run_unguarded(script, [str(request)], seconds=self._seconds, python=python, flags=())
        inputs, outputs = request.with_name("inputs.npz"), request.with_name("outputs.npz")
        most, size = jail.DEFAULT_LIMITS, self._model.stat().st_size + inputs.stat().st_size
        memory = most.memory + _MEMORY_PER_BYTE * size
        limits = replace(most, processor_seconds=math.ceil(self._seconds), seconds=self._seconds, memory=memory)
        read = [request, inputs, self._model]
        try:
            return jail.run(script, [str(request)], read=read, write=[outputs], limits=limits, python=python, flags=())
        except jail.NoJailError as problem:
            raise UnsupportedError(
                f"PyTorch programs run in a jail, which is not available here: {problem}",
                where=Where(file=str(self._model)),
                remedy=f"--trust-model-code if you trust its author, or {_NUMPY}",
            ) from None

    def _results(self, file: Path) -> list[Array]:
        """What the framework gave, in the element types that users see."""
        try:
            with np.load(file) as stored:
                found = [np.asarray(stored[str(index)]) for index in range(len(self._outputs))]
        except (OSError, KeyError, ValueError) as problem:
            raise RunError(f"{self._python} returned unreadable outputs: {problem}", remedy=_NUMPY) from problem
        return [array.astype(spec.dtype.numpy, copy=False) for array, spec in zip(found, self._outputs, strict=True)]
