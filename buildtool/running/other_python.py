"""The framework of a model in another Python as the one who gives the right answer: `--reference-python`.

No framework has to live in Lathe's environment. The modules of `workers` are run by the other Python, which needs
NumPy and the framework, and no part of Lathe; arrays go there and back in files.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from buildtool.errors import ConfigError, RunError, UnsupportedError, Where
from buildtool.running.inputs import TensorSpec
from buildtool.running.metrics import Array
from buildtool.running.reference import from_source, to_source

_WORKERS = Path(__file__).resolve().parent / "workers"
_WITHOUT_FRAMEWORK, _WITHOUT_RESULT = 4, 5  # exit codes of workers/main.py
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
    ) -> None:
        if platform not in platforms():
            raise ConfigError(
                f"no framework of the platform '{platform}' can be asked",
                rule=f"--reference-python asks those of {', '.join(platforms())}",
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
        command = [str(self._python), str(_WORKERS / "main.py"), str(request)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=self._seconds, check=False
            )
        except OSError as problem:
            raise RunError(
                f"{self._python} cannot be started: {problem.strerror}",
                rule="--reference-python names the interpreter of an environment: FOLDER/bin/python",
            ) from problem
        except subprocess.TimeoutExpired as problem:
            raise RunError(
                f"the reference took more than {self._seconds:g} seconds", remedy="raise --timeout"
            ) from problem
        lines = done.stderr.strip().splitlines()
        last = lines[-1] if lines else f"it ended with code {done.returncode}"
        if done.returncode == _WITHOUT_FRAMEWORK:
            raise RunError(f"{self._python} has no {last}, or no numpy", remedy=f"install it there, or {_NUMPY}")
        if done.returncode == _WITHOUT_RESULT:
            what = f"the framework cannot run this model: {last}"
            raise UnsupportedError(what, where=Where(file=str(self._model)), remedy=_NUMPY)
        if done.returncode:
            raise RunError(f"the reference in {self._python} broke off: {last}", remedy=_NUMPY)

    def _results(self, file: Path) -> list[Array]:
        """What the framework gave, in the element types that users see."""
        try:
            with np.load(file) as stored:
                found = [np.asarray(stored[str(index)]) for index in range(len(self._outputs))]
        except (OSError, KeyError, ValueError) as problem:
            raise RunError(f"{self._python} gave no outputs that can be read: {problem}", remedy=_NUMPY) from problem
        return [array.astype(spec.dtype.numpy, copy=False) for array, spec in zip(found, self._outputs, strict=True)]
