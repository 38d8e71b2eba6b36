"""The page that shows what costs how many bytes: it holds all parts, and hostile names stay text."""

from __future__ import annotations

import json
import re
from typing import Any

from buildtool.builders.built import SizePart, SizeReport
from buildtool.reports.size import is_whole, page, tables

HOSTILE = "</script><img src=x onerror=alert(1)>"


def sizes() -> dict[str, Any]:
    parts = (
        SizePart("kernels", "relu_f32_simple__portable", "relu", code=300, constants=20),
        SizePart("kernels", HOSTILE, "relu", code=100),
        SizePart("core", "model.cc", code=250, relocations=24),
        SizePart("file", "padding", rest=6),
    )
    return SizeReport(parts).as_json()


def test_the_page_holds_every_part_and_needs_nothing_else() -> None:
    text = page(HOSTILE, "1.0", {"host": sizes(), "aarch64-linux-gnu": sizes()}).decode()
    assert HOSTILE not in text
    assert not re.search(r"(src|href)=['\"]", text.partition("<script type")[0])
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    libraries = json.loads(data)["libraries"]
    assert [item["abi"] for item in libraries] == ["host", "aarch64-linux-gnu"]
    assert libraries[0]["parts"] == sizes()["parts"]
    assert libraries[0]["total"] == 700
    assert text.count("sha256-") == 2


def test_the_tables_sum_up() -> None:
    *_, operators, total = tables("host", sizes())
    assert not isinstance(operators, str)
    assert not isinstance(total, str)
    assert operators.rows == [("relu", "420")]
    assert {row[0]: row[1] for row in total.rows} == {
        "kernels": "420",
        "runtime": "274",
        "file format": "6",
        "total": "700",
    }


def test_files_that_are_no_reports_are_recognised() -> None:
    assert is_whole(sizes())
    damaged: list[Any] = [
        None,
        [],
        {},
        {**sizes(), "parts": [{}]},
        {**sizes(), "total": "7"},
        {**sizes(), "operators": []},
    ]
    for broken in damaged:
        assert not is_whole(broken)
