"""What handlers answer to nodes that are odd or wrong: the words of an error, or a graph and what it computes.

The answers of each framework are in a book, `tests/importers/<framework>/answers.txt`, so that a change of any of them
is seen: a limit that moved by one, a default that is another, a check that went away. No other program is the oracle
here: the book says what Lathe answered when it was written. `python -m tests.importers.answers` writes it anew, for
somebody to read the differences.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from buildtool.errors import InternalError, LatheError
from buildtool.importers.assembly import assemble
from buildtool.ir.dims import DimExpr
from buildtool.ir.evaluate import evaluate
from buildtool.ir.graph import Graph, Value
from buildtool.ir.operator import Array
from tests.importers.healthy_sources import FRAMEWORKS, sources
from tests.importers.hostile_nodes import Hostile, Source, attributes, changes, of_node

_FOLDER = Path(__file__).parent
_LONGEST = 120  # letters of an answer
_LARGEST = 1e5  # above it a number says more about the order of additions than about the network
_SECONDS = 0.03  # what takes longer has no place in the book
_COMPUTES = " computes "
_MOST_ELEMENTS = 2**16  # of a tensor of a graph that is evaluated
_MOST_NODES = 60  # of a model
_EACH = 2  # nodes of an operator that are changed
_MOST = 60  # answers of one operator
_MOST_OF_A_KIND = 2  # graphs of one handler for the values of one attribute


def book(framework: str) -> Path:
    return _FOLDER / framework / "answers.txt"


def _small(framework: str, folder: Path) -> list[Source]:
    """Healthy models that take no time."""
    return [source for source in sources(framework, folder) if len(source.model.nodes) <= _MOST_NODES]


def differences(framework: str, folder: Path) -> list[str]:
    """What is answered now that is not what the book says."""
    expected: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for line in book(framework).read_text(encoding="utf-8").splitlines():
        operator, number, change, answer = line.split("\t")
        expected[operator, int(number)][change] = answer
    found: list[str] = []
    seen: Counter[str] = Counter()
    healthy = _small(framework, folder)
    others = attributes(healthy)
    for source in healthy:
        for place, node in enumerate(source.model.nodes):
            wanted = expected.pop((node.title, seen[node.title]), None)
            if wanted is not None:
                found += _of_node(list(of_node(source, place, seen[node.title], others)), wanted)
            seen[node.title] += 1
    return found + [f"no node {number} of {operator} any more" for operator, number in expected]


def _of_node(hostiles: Sequence[Hostile], wanted: dict[str, str]) -> Iterator[str]:
    left = dict(wanted)
    for hostile in hostiles:
        expected = left.pop(hostile.change, None)
        if expected is not None and not _agree(answer := ask(hostile), expected):
            yield f"{hostile.operator} {hostile.number}, {hostile.change}: {answer}, not {expected}"
    yield from (
        f"{hostiles[0].operator} {hostiles[0].number}: there is no change '{change}' any more" for change in left
    )


def _agree(answer: str, expected: str) -> bool:
    """Whether two answers are the same but for rounding."""
    (one, _, mine), (other, _, theirs) = answer.partition(_COMPUTES), expected.partition(_COMPUTES)
    first, second = ([float(number) for number in text.split()] for text in (mine, theirs))
    return one == other and len(first) == len(second) and np.allclose(first, second, 1e-3, 1e-3)


def ask(hostile: Hostile) -> str:
    """The answer, in one line."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            graph = assemble(hostile.model, hostile.source.registry, hostile.request).graph
        except InternalError:
            raise  # a defect
        except LatheError as problem:
            message = problem.problems[0].what.replace(hostile.model.where.file or "no file", "FILE")
            return " ".join(f"{type(problem).__name__}: {message}".split())[:_LONGEST]
        operators = Counter(node.op.name for node in graph.walk())
        made = ", ".join(name if count == 1 else f"{count} {name}" for name, count in operators.items())
        types = " ".join(str(value.type) for value in graph.outputs)
        return f"{made[:_LONGEST] or 'nothing'} -> {types[:_LONGEST]}{_computed(graph)}"


def _computed(graph: Graph) -> str:
    """A number for each output that other elements, and the same ones in another order, would make another."""
    if any(isinstance(dim, DimExpr) for value in graph.inputs for dim in value.type.shape):
        return ""
    if any(math.prod(_sizes(value)) > _MOST_ELEMENTS for value in graph.values()):
        return ", too large to be evaluated"
    try:
        results = evaluate(graph, {value.name: _fed(value, place) for place, value in enumerate(graph.inputs)})
    except LatheError:
        return ", which cannot be evaluated"
    return _COMPUTES + " ".join(_number(results[value.name]) for value in graph.outputs)


def _fed(value: Value, place: int) -> Array:
    drawn = np.random.default_rng(place).uniform(0.1, 1, _sizes(value))
    dtype = value.type.dtype
    if dtype.is_float:
        return np.asarray(drawn, dtype.numpy)
    return np.asarray(drawn * 3, dtype.numpy) if dtype.numpy != np.bool_ else np.asarray(drawn > 0.5)


def _sizes(value: Value) -> tuple[int, ...]:
    return tuple(dim for dim in value.type.shape if isinstance(dim, int))


def _number(array: Array) -> str:
    flat = np.asarray(array, np.float64).reshape(-1)
    if not flat.size:
        return "0"
    if not np.abs(flat).max() <= _LARGEST:
        return "inf"
    return f"{float(flat @ np.cos(np.arange(flat.size))) / np.sqrt(flat.size):.5g}"


# -- writing ----------------------------------------------------------------------------------------------------------
class _TooSlow(BaseException):
    """A loop of a hostile graph may have any number of rounds. No handler of errors takes this for one of its own."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def end(_signal: int, _frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, 20 * _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class _Ways:
    """Which ways through the handlers were gone: from one line to the next, and where each way ended."""

    def __init__(self, framework: str) -> None:
        self._part = f"/importers/{framework}/handlers/"
        self._ours: dict[CodeType, bool] = {}
        self.gone: set[Any] = set()

    def __enter__(self) -> _Ways:
        self.gone = set()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if code not in self._ours:
            self._ours[code] = self._part in code.co_filename
        return self._follow(code) if self._ours[code] else None

    def _follow(self, code: CodeType) -> Any:
        last = 0

        def trace(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal last
            if event in ("line", "return", "exception"):
                self.gone.add((code, last, event if event == "exception" else frame.f_lineno))
                last = frame.f_lineno
            return trace

        return trace


def write(framework: str) -> int:
    """Keeps the changes that go a new way through the handlers or, for some of each kind, get a new answer."""
    gone: set[Any] = set()
    kept: Counter[str] = Counter()
    accepted: dict[tuple[Any, str], set[str]] = defaultdict(set)
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        healthy = _small(framework, Path(folder))
        for hostile in changes(healthy, _EACH, attributes(healthy)):
            if kept[hostile.operator] >= _MOST:
                continue
            started = time.process_time()
            try:
                with _limited(), _Ways(framework) as ways:
                    answer = ask(hostile)
            except _TooSlow:
                continue
            except InternalError as problem:
                sys.stdout.write(f"a defect: {hostile.name}: {problem}\n")
                continue
            slow = time.process_time() - started > 10 * _SECONDS
            is_graph = " -> " in answer
            new = {(way, is_graph) for way in ways.gone} - gone
            others = accepted[hostile.source.registry.handlers().get(hostile.operator), _kind(hostile.change)]
            another = is_graph and _is_small(hostile.change) and answer not in others and len(others) < _MOST_OF_A_KIND
            if slow or not (new or another):
                continue
            started = time.process_time()
            if not _agree(ask(hostile), answer) or time.process_time() - started > _SECONDS:
                continue
            gone |= new
            kept[hostile.operator] += 1
            others.add(answer)
            lines.append(f"{hostile.operator}\t{hostile.number}\t{hostile.change}\t{answer}\n")
    book(framework).write_text("".join(lines), encoding="utf-8")
    return len(lines)


def _is_small(change: str) -> bool:
    """Whether limits and defaults show by it."""
    return "=" in change or change.startswith("without ") or change.endswith((" absent", " of ones", " of rank 1"))


def _kind(change: str) -> str:
    """What is changed: an attribute or a tensor."""
    return change.partition("=")[0] if "=" in change else change.removesuffix(change.partition(" of ")[2])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.importers.answers", description=__doc__)
    parser.add_argument("frameworks", nargs="*", default=list(FRAMEWORKS))
    frameworks = parser.parse_args().frameworks
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    for framework in frameworks:
        sys.stdout.write(f"{book(framework)}: {write(framework)} answers\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
