"""Every invalid description gives exactly the error that is written down with it.

LATHE_UPDATE_GOLDEN=1 writes the texts anew; read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildtool.errors import ConfigError
from tests.targets.max7800x.description.refused import FILE, Case, Description, cases

CASES = cases()


def error_of(case: Case, folder: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        case.described().read(folder)
    return caught.value.render().replace(f"{folder}/", "")


def test_the_base_is_valid(tmp_path: Path) -> None:
    found = Description().read(tmp_path)
    assert [layer.out_channels for layer in found.network.layers] == [8, 16, 16, 4, 10]


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 150
    assert len({case.name for case in CASES}) == len({case.changes for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_error_is_the_golden_one(case: Case, tmp_path: Path) -> None:
    text = error_of(case, tmp_path)
    if os.environ.get("LATHE_UPDATE_GOLDEN"):
        written = [Case(one.name, one.changes, text if one == case else one.error) for one in cases()]
        FILE.write_text("".join(one.written() for one in written), encoding="utf-8")
    assert text == next(one.error for one in cases() if one.name == case.name)
    assert all(line.isprintable() for line in text.split("\n"))
