"""Threads of the DSP: the bytes of one thread, whatever number the system gives, and none is left behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from buildtool.runtime import DeviceKind
from tests.targets.hexagon.network import small_library, small_network

pytestmark = pytest.mark.slow


def _counts(log: Path) -> list[tuple[int, ...]]:
    """Of each call: the threads that the program has made, and what it holds of them and of blocks of memory."""
    return [tuple(int(word) for word in line.split()[4:7]) for line in log.read_text().splitlines()]


@pytest.mark.parametrize(
    ("asked", "limit", "made"),
    [(1, 64, 0), (2, 64, 1), (4, 64, 3), (32, 64, 3), (4, 2, 2), (4, 0, 0)],
    ids=["1", "2", "4", "more_than_it_uses", "the_system_gives_fewer", "the_system_has_none"],
)
def test_equal_bytes(asked: int, limit: int, made: int, tmp_path: Path) -> None:
    network, library, log = small_network(), small_library(), tmp_path / "log"
    with library.on_simulator(log=str(log), threads=str(limit)):
        engine = library.engine(network.model, DeviceKind.DSP, asked)
        session = engine.session()
        for _ in range(4):
            network.check(session.run(network.inputs))
        del session, engine
    counts = _counts(log)
    assert [(count[0], count[1]) for count in counts[1:-1]] == [(made, made)] * (len(counts) - 2)
    assert counts[-1] == (made, 0, 0), "threads or memory are kept"


@pytest.mark.parametrize("vectors", [0, 1, 2])
def test_few_have_the_vectors(vectors: int, tmp_path: Path) -> None:
    """Workers wait for them, or go without jobs, and the end waits for no worker for ever."""
    network, library, log = small_network(), small_library(), tmp_path / "log"
    with library.on_simulator(log=str(log), vectors=str(vectors)):
        for _ in range(3):
            session = library.engine(network.model, DeviceKind.DSP, 4).session()
            for _ in range(4):
                network.check(session.run(network.inputs))
            del session
    closed = [counts for counts in _counts(log) if counts[1] == 0]
    assert closed[1::2] == [(3, 0, 0)] * 3


def test_sessions_share_them(tmp_path: Path) -> None:
    """Two programs with four threads each, and two sessions of each; every value is kept in one of them."""
    network, library = small_network(), small_library()

    def run_often(number: int) -> None:
        session = engines[number % 2].session(keep_all=number == 0)
        for _ in range(8):
            network.check(session.run(network.inputs))

    with library.on_simulator(), ThreadPoolExecutor(4) as callers:
        engines = [library.engine(network.model, DeviceKind.DSP, 4) for _ in range(2)]
        for done in [callers.submit(run_often, number) for number in range(4)]:
            done.result()
