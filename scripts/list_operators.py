"""Makes the page of operators from the operators themselves; mkdocs calls it when it builds the site.

What an operator computes is the first line of its module, what it takes is the text of its class, its attributes are
the fields of the class, and its kernels are in its op.yaml. So an operator is documented where it is written, and no
page has to be kept up with it. Run by hand, the script prints the page.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from buildtool.ir.attributes import AttrKind
from buildtool.ir.operator import Operator
from buildtool.ops._activation import ACTIVATIONS, ActivatedOperator
from buildtool.ops.registry import builtin
from buildtool.plan import manifest, units

PAGE = "reference/operators.md"
_KINDS = {
    AttrKind.BOOL: "bool",
    AttrKind.INT: "int",
    AttrKind.FLOAT: "float",
    AttrKind.STRING: "word",
    AttrKind.DTYPE: "element type",
    AttrKind.INTS: "ints",
    AttrKind.FLOATS: "floats",
    AttrKind.STRINGS: "words",
    AttrKind.DIMS: "dims",
}
_ACT = ("activation", "activation_alpha", "activation_beta")
_HEAD = f"""# Operators

The operators of Lathe's graph. Each is one class in `buildtool/ops/<operator>.py`, from which
`scripts/list_operators.py` generates this page.

- Spatial operators use the channels-last layout: activations `NHWC`, filters `OHWI`.
- A `?` marks optional inputs; only trailing inputs are optional. *Broadcast* is NumPy's rule.
- All attributes are stored explicitly. Axes are not negative. A *dim* can be a dimension that is known at run time.
- `act` denotes the three attributes `activation`, `activation_alpha` and `activation_beta`. The activation is one of
  {", ".join(f"`{name}`" for name in ACTIVATIONS)}; `clip` is alpha..beta, `leaky_relu` and `elu` take alpha,
  `hard_sigmoid` is max(0, min(1, alpha * x + beta)).
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: adds the page to those of the folder."""
    files.append(File.generated(config, PAGE, content=page()))
    return files


def page() -> str:
    """The text of the page."""
    kernels, device = manifest.load(), units.load()
    return "\n".join([_HEAD, *(line for operator in _sorted() for line in _entry(operator, kernels, device))]) + "\n"


def _sorted() -> list[type[Operator]]:
    return [operator for _, operator in sorted(builtin().items())]


def _entry(operator: type[Operator], kernels: manifest.Manifests, device: units.DeviceUnits) -> Iterator[str]:
    """The part of one operator."""
    name = operator.name
    meaning = (inspect.getmodule(operator).__doc__ or "").strip().removeprefix(f"{name}:").strip()
    yield f"## {name}\n"
    yield f"{_escaped(meaning)}\n"
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(operator.__doc__ or "")):
        yield f"{paragraph if _is_code(paragraph) else _escaped(paragraph)}\n"
    attributes = ", ".join(_attributes(operator))
    yield f"Attributes: {attributes}.\n" if attributes else "No attributes.\n"
    known = kernels.of(name)
    if known:
        yield f"Kernels: {', '.join(f'`{kernel.name}`' for kernel in known)}.\n"
    if on_gpu := device.of(name):
        yield f"On GPUs: {'; '.join(_unit(unit) for unit in on_gpu)}.\n"


def _unit(unit: units.UnitInfo) -> str:
    condition = str(unit.when)
    return f"`{unit.name}`" + (f" where `{condition}`" if condition else "")


def _attributes(operator: type[Operator]) -> Iterator[str]:
    hidden = _ACT if issubclass(operator, ActivatedOperator) else ()
    for name, kind in operator.attribute_kinds().items():
        if name not in hidden:
            yield f"`{name}` ({_KINDS[kind]})"
    if hidden:
        yield "act"


def _is_code(paragraph: str) -> bool:
    """Formulas of several lines are indented."""
    return all(line.startswith("    ") for line in paragraph.split("\n"))


def _escaped(text: str) -> str:
    """The text as it stands: brackets and stars of shapes and products are no markup. Words in backticks stay code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_\[\]<>|])", r"\\\1", part) for part in parts)


if __name__ == "__main__":
    print(page(), end="")
