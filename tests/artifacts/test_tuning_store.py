"""The figures of `lathe tune`: how they are gathered, kept, and dropped where they are of other things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from buildtool.artifacts import tuning_store
from buildtool.artifacts.tuning_store import Log, Tuning
from buildtool.devices.runner import NodeTime

RUN: dict[str, Any] = {"model": "net", "abi": "host", "device": "here", "threads": 1, "rounds": 2, "outputs": []}


def filled() -> Log:
    log = Log()
    for shift in (5, 0, 9):
        log.add(RUN, "", [NodeTime("a", "conv2d", "conv2d_f32_gemm__avx2", 100 + shift), time("b", 7)])
        log.add(RUN, "winograd2", [NodeTime("a", "conv2d", "conv2d_f32_winograd2__avx2", 80 + shift), time("b", 3)])
    return log


def time(name: str, nanoseconds: int) -> NodeTime:
    return NodeTime(name, "relu", "relu_f32_simple__avx2", nanoseconds)


def test_the_least_time_counts_and_layers_without_choice_do_not() -> None:
    (measured,) = filled().measured()
    assert measured.nodes == {"0 a": {"": 100, "winograd2": 80}}
    assert (measured.model, measured.abi, measured.device, measured.rounds) == ("net", "host", "here", 2)


def test_figures_are_kept_for_the_same_things(tmp_path: Path) -> None:
    known = Tuning("0123", filled().measured())
    assert known.identity != "0123"
    for name, data in known.files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert tuning_store.read(tmp_path, "0123") == known
    assert tuning_store.read(tmp_path, "0124") == Tuning("0124")
    assert Tuning("0124").identity == "0124" and Tuning("0124").files() == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"fingerprint": "0"}',
        '{"fingerprint": "0", "measured": [{"nodes": 3}]}',
        '{"fingerprint": "0", "measured": 1}',
    ],
)
def test_a_file_that_is_no_such_file_says_nothing(tmp_path: Path, text: str) -> None:
    tuning_store.path(tmp_path).parent.mkdir()
    tuning_store.path(tmp_path).write_text(text)
    assert tuning_store.read(tmp_path, "0") == Tuning("0")
