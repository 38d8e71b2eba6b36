"""What layers read: blobs of the network, blobs of weights, axes, and sizes along height and width."""

from __future__ import annotations

from buildtool.importers.builder import Tensor
from buildtool.importers.caffe.reading import BOTTOMS
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product
from buildtool.ir.operator import Array

SPATIAL = (2, 3)


def bottoms(step: Step) -> list[Tensor]:
    """The blobs of the network that a layer reads, at least one."""
    tensors = [step.input(index) for index in range(step.integer(BOTTOMS))]
    if not tensors:
        step.malformed("it has no bottom")
    return tensors


def two_bottoms(step: Step) -> tuple[Tensor, Tensor]:
    """The blobs of a layer that reads two."""
    found = bottoms(step)
    if len(found) != 2:
        step.malformed(f"it has {len(found)} bottoms instead of 2")
    return found[0], found[1]


def picture(step: Step, index: int = 0) -> Tensor:
    """A bottom [N, C, H, W]."""
    if index >= step.integer(BOTTOMS):
        step.malformed(f"bottom {index} is missing")
    tensor = step.input(index)
    if tensor.rank != 4:
        step.unsupported(f"its bottom {index} has rank {tensor.rank}, not batch, channels, height and width")
    return tensor


def blob_count(step: Step) -> int:
    return len(step.inputs) - step.integer(BOTTOMS)


def blob(step: Step, index: int, what: str) -> Tensor:
    """A blob of weights."""
    if index >= blob_count(step):
        step.malformed(f"blob {index}, its {what}, is missing: does weight_file_path belong to this network?")
    return step.input(step.integer(BOTTOMS) + index)


def row(step: Step, index: int, what: str, count: int) -> Tensor:
    """A blob of weights with one number for each of `count` channels, whatever shape it has in the file."""
    tensor = blob(step, index, what)
    if product(tensor.shape) != count:
        step.malformed(f"its {what} {list(tensor.shape)} does not have {count} elements")
    return step.reshape(tensor, (count,))


def numbers(step: Step, index: int, what: str) -> Array:
    """The content of a blob of weights, flat."""
    return content_of(step, blob(step, index, what), what).reshape(-1)


def content_of(step: Step, tensor: Tensor, what: str) -> Array:
    """The content of a tensor that has to be stored in the weights."""
    if tensor.content is None:
        step.malformed(f"its {what} is not stored in the weights")
    return tensor.content


def axis_of(step: Step, tensor: Tensor, name: str = "axis", default: int = 1, old: str = "") -> int:
    """An axis from 0; `old` is what the field was called in the beginning."""
    value = step.integer(old) if old and not step.has(name) and step.has(old) else step.integer(name, default)
    return step.axis(value, tensor.rank)


def known_sizes(step: Step, sizes: tuple[Dim, ...], what: str) -> tuple[int, ...]:
    """Sizes that have to be numbers."""
    found = tuple(size for size in sizes if isinstance(size, int))
    if len(found) < len(sizes):
        step.unsupported(f"{what} {list(map(str, sizes))} with a run-time dimension", "fix the input shapes")
    return found


def sides(step: Step, name: str, stem: str, default: int | None, least: int) -> tuple[int, int]:
    """A number for height and width each: in fields of their own, in a list, or one for both."""
    if step.has(f"{stem}_h") or step.has(f"{stem}_w"):
        fallback = default if least == 0 else None
        pair = step.integer(f"{stem}_h", fallback), step.integer(f"{stem}_w", fallback)
    else:
        value = step.attribute(name)
        if isinstance(value, tuple):
            value = value if value else None
            listed = step.integers(name) if value else ()
        else:
            listed = () if value is None else (step.integer(name),)
        if not listed:
            if default is None:
                step.malformed(f"the field '{name}' is missing")
            listed = (default,)
        if len(listed) > 2:
            step.unsupported(f"{len(listed)} numbers in '{name}'", "up to 2 spatial axes are supported")
        pair = listed[0], listed[-1]
    if min(pair) < least:
        step.malformed(f"'{name}' is {list(pair)}, which is below {least}")
    return pair
