"""Scripts that measure accuracy: a class of the user's that turns samples into inputs, and outputs into figures.

Lathe's own form works sample by sample, so that samples can be computed in any order and on several machines:

    class Accuracy:
        thresholds = {"top1": 0.98}                        # optional: what is needed to pass
        def __len__(self): ...                             # how many samples there are
        def preprocess(self, sample): ...                  # the inputs by name
        def postprocess(self, sample, outputs): ...        # what to keep of it: anything that JSON takes
        def metrics(self, records): ...                    # figures by name, from all that was kept, in order

MACE's `AccuracyValidator` works, too: its outputs are kept, and go through its `postprocess` in order at the end.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from buildtool.errors import ConfigError, Where
from buildtool.running.metrics import Array

_T = TypeVar("_T")
_OWN, _MACE = ("preprocess", "postprocess", "metrics", "__len__"), "AccuracyValidator"
_RULE = f"the script has one class with {', '.join(_OWN)}, or MACE's class {_MACE}"
_FIGURE = re.compile(r"^\s*([^:=\n]+?)\s*[:=]\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(%?)\s*$", re.MULTILINE)


class Plugin:
    """A script that was loaded. Its samples are computed in units: of one sample, or of MACE's batches."""

    def __init__(self, file: Path) -> None:
        self.file = file
        module = self._call(lambda: _load(file))
        self._is_mace = hasattr(module, _MACE)
        kind = getattr(module, _MACE, None) or _own_class(module, file)
        self._object: Any = self._call(kind)
        self.samples = int(self._call(lambda: self._object.sample_size() if self._is_mace else len(self._object)))
        self._batch = int(self._call(self._object.batch_size)) if self._is_mace else 1
        if self.samples < 1 or self._batch < 1:
            raise ConfigError("the script has no samples", where=Where(file=str(file)))

    @property
    def units(self) -> int:
        return -(-self.samples // self._batch)

    @property
    def thresholds(self) -> dict[str, float]:
        """The least figures that pass."""
        wanted = getattr(self._object, "thresholds", {})
        return self._call(lambda: {str(name): float(least) for name, least in dict(wanted).items()})

    def inputs(self, unit: int) -> Mapping[str, Any]:
        """What the network gets for a unit."""
        first, last = self._range(unit)
        call: Callable[[], Any] = (
            (lambda: self._object.preprocess(first, last)) if self._is_mace else lambda: self._object.preprocess(first)
        )
        made = self._call(call)
        if not isinstance(made, Mapping):
            raise ConfigError(
                f"preprocess returned {type(made).__name__}",
                where=Where(file=str(self.file)),
                rule="it returns the inputs by name",
            )
        return made

    def record(self, unit: int, outputs: Mapping[str, Array]) -> str:
        """What is kept of a unit, as JSON on one line."""
        if self._is_mace:
            return json.dumps({name: _packed(array) for name, array in outputs.items()})
        kept = self._call(lambda: self._object.postprocess(unit, dict(outputs)))
        try:
            return json.dumps(kept, default=_plain)
        except (TypeError, ValueError) as problem:
            raise ConfigError(
                f"the result of postprocess for sample {unit} cannot be saved: {problem}",
                where=Where(file=str(self.file)),
                rule="numbers, texts, lists and dictionaries of them, arrays",
            ) from problem

    def figures(self, records: Sequence[str]) -> dict[str, float]:
        """The figures, from the records of all units in order."""
        kept = [json.loads(record) for record in records]
        made = self._call(lambda: self._result(kept) if self._is_mace else self._object.metrics(kept))
        if not isinstance(made, Mapping) or not made:
            raise ConfigError(
                "the script returned no figures", where=Where(file=str(self.file)), rule="figures by name"
            )
        return {str(name): float(value) for name, value in made.items()}

    def _result(self, kept: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
        """What MACE's class says in the end: figures that it gives, or prints as `name: number`."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for unit, outputs in enumerate(kept):
                self._object.postprocess(*self._range(unit), {name: _unpacked(item) for name, item in outputs.items()})
            given = self._object.result()
        if isinstance(given, Mapping):
            return given
        found = _FIGURE.findall(printed.getvalue())
        return {name: float(number) / (100 if percent else 1) for name, number, percent in found}

    def _range(self, unit: int) -> tuple[int, int]:
        return unit * self._batch, min((unit + 1) * self._batch, self.samples)

    def _call(self, function: Callable[[], _T]) -> _T:
        """Code of the user: errors name its line."""
        try:
            return function()
        except Exception as problem:
            frames = traceback.extract_tb(problem.__traceback__)
            own = [frame.lineno or 0 for frame in frames if Path(frame.filename) == self.file]
            line = own[-1] if own else getattr(problem, "lineno", 0) or 0
            what = f"{type(problem).__name__}: {problem}"
            raise ConfigError(what, where=Where(file=str(self.file), line=line), rule=_RULE) from problem


def _load(file: Path) -> ModuleType:
    """Compiled here: Python's cache takes two files of one size and one second for the same."""
    module = ModuleType(f"lathe_accuracy_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    return module


def _own_class(module: ModuleType, file: Path) -> type[Any]:
    classes = [
        item
        for item in vars(module).values()
        if isinstance(item, type)
        and item.__module__ == module.__name__
        and all(callable(getattr(item, name, None)) for name in _OWN)
    ]
    if len(classes) != 1:
        what = f"{len(classes)} classes of this script measure accuracy"
        raise ConfigError(what, where=Where(file=str(file)), rule=_RULE)
    return classes[0]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _packed(array: Array) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _unpacked(item: Mapping[str, Any]) -> Array:
    array: Array = np.frombuffer(base64.b64decode(item["data"]), item["dtype"]).reshape(item["shape"])
    return array
