"""Tables on a terminal: at most as wide as it is, and nothing is lost."""

from __future__ import annotations

import random
import re

import pytest

from buildtool.reports.fitting import fitted, wrapped
from buildtool.reports.table import Table

WORDS = ("digits", "aarch64-linux-gnu", "passed", "", "conv2d_f32_direct__avx2", "build/a_long/path/to/some.file.npy")


def drawn(seed: int) -> Table:
    """A table as commands might have it."""
    draw = random.Random(seed)
    columns = [
        f"{draw.choice(('model', 'max diff', 'milliseconds', 'what'))}{index}" for index in range(draw.randint(1, 18))
    ]
    right = frozenset(name for name in columns if draw.random() < 0.5)
    table = Table(columns, title="A title", right=right, optional=tuple(columns[-3:]))
    for _ in range(draw.randint(1, 6)):
        cells = (f"{draw.uniform(0, 1e6):,.3f}" if name in right else draw.choice(WORDS) for name in columns)
        table.add(*cells)
    return table


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    for seed in range(150):
        table = drawn(seed)
        text = table.render(width=width)
        assert max(map(len, text.splitlines())) <= width, text
        hidden = set(re.findall(r"\w[\w ]*\d+", " ".join(text.partition("without room for:")[2].split())))
        squeezed = re.sub(r"\s", "", text)
        for name, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True):
            if name not in hidden:
                assert all(len(cell) > 12 or cell in squeezed for cell in cells), (name, text)


def test_what_fits_is_as_in_a_file() -> None:
    table = Table(["abi", "bytes"], right=frozenset({"bytes"}))
    table.add("host", "91,432")
    assert table.render(width=80) == table.render()


def test_columns_that_say_the_same_become_a_line() -> None:
    table = Table(["model", "output", "cosine", "result"], right=frozenset({"cosine"}), optional=["cosine"])
    for number in range(2):
        table.add("mobilenet_v1_of_someone", f"a_rather_long_output_{number}", "0.999999", "passed")
    assert fitted(table, 60) == (
        "model: mobilenet_v1_of_someone\n"
        "output                    cosine  result\n"
        "a_rather_long_output_0  0.999999  passed\n"
        "a_rather_long_output_1  0.999999  passed\n"
    )


def test_names_and_paths_break_behind_their_marks() -> None:
    assert wrapped("build/digits/report/index.html", 14) == ["build/digits/", "report/", "index.html"]
    assert wrapped("aaaaaaaaaa", 4) == ["aaaa", "aaaa", "aa"]
    assert wrapped("", 4) == [""]


def test_states_are_coloured_in_wrapped_tables() -> None:
    table = Table(["what", "state"])
    table.add("x" * 70, "failed")
    assert "\033[1;31mfailed" in table.render(colour=True, width=40)
