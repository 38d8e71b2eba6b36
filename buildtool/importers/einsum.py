"""Einsum out of diagonals, sums, transposes and matrix products, two operands at a time from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from buildtool.importers.builder import Tensor
from buildtool.importers.step import Step
from buildtool.ir.dims import Dim, product


@dataclass(frozen=True)
class _Term:
    """An operand and one label per axis; labels of an ellipsis are numbers counted from its end."""

    tensor: Tensor
    labels: tuple[str, ...]

    def dim(self, label: str) -> Dim:
        return self.tensor.shape[self.labels.index(label)]


def einsum(step: Step) -> Tensor:
    """The node's inputs under its attribute `equation`."""
    return contracted(step, step.text("equation"), step.present())


def contracted(step: Step, equation: str, tensors: Sequence[Tensor]) -> Tensor:
    """Tensors under an equation."""
    terms, result = _parsed(step, equation.replace(" ", ""), tensors)
    terms = [_without_repeats(step, term) for term in terms]
    total = _reduced(step, terms[0], _labels(terms[1:]) | set(result))
    for index, term in enumerate(terms[1:], start=1):
        needed = _labels(terms[index + 1 :]) | set(result)
        right = _reduced(step, term, set(total.labels) | needed)
        total = _product(step, total, right, needed)
    order = [total.labels.index(label) for label in result]
    return step.transpose(total.tensor, order)


def _labels(terms: Sequence[_Term]) -> set[str]:
    return {label for term in terms for label in term.labels}


def _parsed(step: Step, equation: str, tensors: Sequence[Tensor]) -> tuple[list[_Term], tuple[str, ...]]:
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(tensors):
        step.malformed(f"the equation '{equation}' has {len(texts)} terms for {len(tensors)} inputs")
    terms = []
    for text, tensor in zip(texts, tensors, strict=True):
        free = tensor.rank - len(text.replace("...", ""))
        labels = _spelled(text, free)
        if len(labels) != tensor.rank or free < 0:
            step.malformed(f"the term '{text}' does not fit an input of rank {tensor.rank}")
        terms.append(_Term(tensor, labels))
    every = [label for term in terms for label in term.labels]
    longest = max((int(label) for label in every if label.isdigit()), default=0)
    if arrow:
        result = _spelled(right, longest)
    else:
        once = sorted({label for label in every if every.count(label) == 1 and not label.isdigit()})
        result = (*_spelled("...", longest), *once)
    if len(set(result)) != len(result) or not set(result) <= set(every):
        step.malformed(f"the result of the equation '{equation}' repeats a label or has one that no term has")
    return terms, result


def _spelled(text: str, free: int) -> tuple[str, ...]:
    """The labels of a term; an ellipsis stands for `free` axes."""
    before, dots, after = text.partition("...")
    numbers = [str(free - index) for index in range(free)] if dots else []
    return (*before, *numbers, *after)


def _without_repeats(step: Step, term: _Term) -> _Term:
    """Of a label that an operand has twice, the diagonal: every (n + 1)th element of the two axes as one."""
    while len(set(term.labels)) < len(term.labels):
        label = next(one for one in term.labels if term.labels.count(one) > 1)
        first = term.labels.index(label)
        second = term.labels.index(label, first + 1)
        others = [axis for axis in range(len(term.labels)) if axis not in (first, second)]
        side = term.tensor.shape[first]
        if not isinstance(side, int) or term.tensor.shape[second] != side:
            step.unsupported("the diagonal of an operand whose sides differ or are run-time sizes")
        turned = step.transpose(term.tensor, (*others, first, second))
        rest = turned.shape[:-2]
        flat = step.reshape(turned, (*rest, side * side))
        starts, steps = (0,) * flat.rank, (1,) * len(rest) + (side + 1,)
        diagonal = step.emit("slice", flat, starts=starts, steps=steps, sizes=(*rest, side))
        term = _Term(diagonal, (*(term.labels[axis] for axis in others), label))
    return term


def _reduced(step: Step, term: _Term, needed: set[str]) -> _Term:
    """Without the axes that nobody else has."""
    axes = tuple(axis for axis, label in enumerate(term.labels) if label not in needed)
    if not axes:
        return term
    summed = step.emit("reduce_sum", term.tensor, axes=axes, keepdims=False)
    return _Term(summed, tuple(label for label in term.labels if label in needed))


def _product(step: Step, a: _Term, b: _Term, needed: set[str]) -> _Term:
    a, b = _squeezed(step, a, b), _squeezed(step, b, a)
    shared = [label for label in a.labels if label in b.labels]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    only_a = [label for label in a.labels if label not in shared]
    only_b = [label for label in b.labels if label not in shared]
    left = _matrix(step, a, batch, only_a, summed)
    right = _matrix(step, b, batch, summed, only_b)
    y = step.emit("matmul", left, right) if summed else step.emit("mul", left, right)
    dims = [a.dim(label) for label in batch + only_a] + [b.dim(label) for label in only_b]
    return _Term(step.reshape(y, tuple(dims)), (*batch, *only_a, *only_b))


def _squeezed(step: Step, term: _Term, other: _Term) -> _Term:
    """Without axes of one element that are longer in the other operand: these broadcast."""
    kept = [
        axis
        for axis, label in enumerate(term.labels)
        if not (term.tensor.shape[axis] == 1 and label in other.labels and other.dim(label) != 1)
    ]
    shape = tuple(term.tensor.shape[axis] for axis in kept)
    return _Term(step.reshape(term.tensor, shape), tuple(term.labels[axis] for axis in kept))


def _matrix(step: Step, term: _Term, batch: list[str], rows: list[str], columns: list[str]) -> Tensor:
    """[batch..., rows, columns]: the axes of rows and of columns are one each."""
    order = [term.labels.index(label) for label in (*batch, *rows, *columns)]
    turned = step.transpose(term.tensor, order)
    sizes = [product(term.dim(label) for label in labels) for labels in (rows, columns)]
    return step.reshape(turned, (*(term.dim(label) for label in batch), *sizes))
