"""Nodes that say what they must not: a graph or a deliberate error, whatever the framework, and never a defect."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from buildtool.errors import InternalError, ModelFileError, UnsupportedError
from buildtool.importers.assembly import assemble
from tests.importers.healthy_sources import FRAMEWORKS, sources
from tests.importers.hostile_nodes import Hostile, changes

MOST_SECONDS = 5.0
_TRIED = 800  # of each framework, the same ones each time; the sweep tries all
_LEAST_ERRORS = 0.15  # of what is tried: fewer would mean that the changes hurt nobody


def _attempt(hostile: Hostile) -> bool:
    """Whether there is a deliberate error. Anything else that is raised ends the test, with the name of the change."""
    started = time.process_time()
    try:
        assemble(hostile.model, hostile.source.registry, hostile.request)
    except (ModelFileError, UnsupportedError):
        return True
    except InternalError as problem:
        pytest.fail(f"{hostile.name}: {problem}")
    except Exception as problem:
        pytest.fail(f"{hostile.name}: {type(problem).__name__}: {problem}")
    finally:
        assert time.process_time() - started < MOST_SECONDS, hostile.name
    return False


def _share_of_errors(tried: Iterable[Hostile]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        errors = [_attempt(hostile) for hostile in tried]
    return sum(errors) / len(errors)


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_hostile_nodes_give_deliberate_errors(framework: str, tmp_path: Path) -> None:
    everything = list(changes(sources(framework, tmp_path)))
    assert len(everything) > _TRIED
    assert _share_of_errors(random.Random(7).sample(everything, _TRIED)) > _LEAST_ERRORS


@pytest.mark.sweep
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_all_hostile_nodes(framework: str, tmp_path: Path) -> None:
    assert _share_of_errors(changes(sources(framework, tmp_path, every=True), each=3)) > _LEAST_ERRORS


def test_a_defect_is_no_mistake_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried above fails where a handler raises anything that nobody meant."""
    (source,) = islice((one for one in sources("onnx", tmp_path) if one.model.nodes[0].op == "Relu"), 1)
    handlers = source.registry.handlers()
    monkeypatch.setitem(handlers, "Relu", lambda step: step.no_such_accessor)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match=r"Relu: AttributeError: .*no_such_accessor") as caught:
        assemble(source.model, source.registry, source.request)
    assert isinstance(caught.value.__cause__, AttributeError)
    assert caught.value.problems[0].where.node == source.model.nodes[0].name
