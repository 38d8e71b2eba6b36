"""The skeleton of an operator: it works as it stands (y = x), so that its author changes one thing at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from buildtool import resources
from buildtool.errors import ConfigError, UnsupportedError, Where
from buildtool.ops.registry import builtin

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

_MEANING = '''"""{op}: y = x. (Describe the operator in one line.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from buildtool.ir.operator import Array, Operator, OperatorError
from buildtool.ir.types import DType, TensorType


@dataclass(frozen=True)
class {title}(Operator):
    """Input x, f32. (Say what it takes; attributes are fields of this class, such as `alpha: float`.)"""

    name: ClassVar[str] = "{op}"
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    is_elementwise: ClassVar[bool] = True

    def infer(self, inputs: Sequence[TensorType]) -> tuple[TensorType, ...]:
        (x,) = self.operands(inputs)
        if x.dtype is not DType.F32:
            raise OperatorError(f"the input is {{x.dtype.value}}; it must be f32")
        return (TensorType(x.dtype, x.shape),)

    def reference(self, *inputs: Array) -> tuple[Array, ...]:
        (x,) = inputs
        return (x.copy(),)

    def transposed(self, perm: tuple[int, ...], inputs: Sequence[TensorType]) -> Operator | None:
        return self
'''

_KERNEL = """// {op}: y = x. (Describe the operator in one line.)
#include "native/kernel/loops/elementwise.h"

namespace lathe {{
namespace {{

// The state of a node: what `Read` makes of its attributes. It is made once, when the engine is created.
struct {title}Operation : NoAttributes {{
  float operator()(float x) const {{ return x; }}
}};

}}  // namespace
}}  // namespace lathe

LATHE_KERNEL = lathe::UnaryKernel<lathe::{title}Operation>();
"""

_MANIFEST = """op: {op}
kernels:
  - variant: plain
    types: [f32]
    isas: [portable]
    inputs: [type]
    outputs: [type]
    in_place: 0
    tolerance: {{rtol: 1.0e-5, atol: 1.0e-6}}
"""

_EXPORT = '''"""{op}, in operators of ONNX."""

from __future__ import annotations

from buildtool.exporters.onnx.registry import handler
from buildtool.exporters.onnx.step import Step


@handler("{op}")
def {op}(step: Step) -> None:
    (x,) = step.inputs()
    step.give(step.emit("Identity", x))
'''

_CASES = '''"""Cases of {op}."""

from __future__ import annotations

from collections.abc import Iterator

from buildtool.ops.{op} import {title}
from tests.ops.case import OpCase
from tests.ops.inputs import SHAPES, Rng, label, uniform


def cases(rng: Rng) -> Iterator[OpCase]:
    for shape in SHAPES:
        yield OpCase({title}(), (uniform(rng, shape, -4.0, 4.0),), label(shape))
'''


def write(name: str, folder: Path | None = None) -> list[Path]:
    """Write the files of an operator into the source tree, or into a folder of the user's; tells their paths.

    Nothing that exists is touched: the name of an operator that there is, or of a file that there is, is refused.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"'{name}' cannot name an operator",
            rule="words of lower-case letters and digits, joined by underscores",
            remedy=_suggestion(name),
        )
    if name in builtin():
        raise ConfigError(f"the operator '{name}' already exists", remedy="see: lathe inspect ops")
    if folder is None and not resources.in_source_tree():
        raise UnsupportedError(
            "this is an installed package, whose sources must not be changed",
            remedy=f"use your own folder: lathe dev new-op {name} --path my_ops",
        )
    root = folder if folder is not None else resources.root()
    files = {root / path: text for path, text in _files(name, folder is not None).items()}
    existing = [path for path in files if path.exists()]
    if existing:
        raise ConfigError(
            "this file already exists", where=Where(file=str(existing[0])), remedy="remove it, or choose another name"
        )
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


def _files(name: str, outside: bool) -> Mapping[str, str]:
    """The files by path, relative to the root of the tree or of the user's folder."""
    title = "".join(word.capitalize() for word in name.split("_"))
    words = {"op": name, "title": title}
    meaning = f"ops/{name}.py" if outside else f"buildtool/ops/{name}.py"
    files = {
        meaning: _MEANING.format(**words),
        f"native/ops/{name}/op.yaml": _MANIFEST.format(**words),
        f"native/ops/{name}/{name}.cc": _KERNEL.format(**words),
    }
    if not outside:  # a user's folder is validated with its models, and is not exported
        files[f"buildtool/exporters/onnx/handlers/{name}.py"] = _EXPORT.format(**words)
        files[f"tests/ops/cases/{name}.py"] = _CASES.format(**words)
    return files


def next_steps(name: str, folder: Path | None) -> str:
    """What the author does now."""
    if folder is None:
        return f"next: give it a meaning in buildtool/ops/{name}.py, then: pytest tests/ops tests/exporters -k {name}"
    return f"next: give it a meaning in {folder}/ops/{name}.py; in the deployment file: op_paths: [{folder}]"


def _suggestion(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    word = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    return f"write {word}" if _NAME.fullmatch(word) else ""
