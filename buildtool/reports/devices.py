"""Devices, and the tests that ran on one, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.errors import Problem
from buildtool.reports.table import Table

_SHOWN = ("soc", "cores", "memory", "free", "governor", "thermal")


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The table of the document of `lathe devices`, and what is wrong with those that did not answer."""
    table = Table(["device", "state", "runs", *_SHOWN], right=frozenset({"cores", "memory", "free"}))
    problems: list[str | Table] = []
    for device in document["devices"]:
        said = device["properties"]
        runs = ", ".join(device["abis"]) or said.get("abis", "") or said.get("machine", "")
        state = "ok" if device["reachable"] else "missing"
        table.add(device["name"], state, runs, *(said.get(name, "") for name in _SHOWN))
        if not device["reachable"]:
            told = {key: value for key, value in device["problem"].items() if key != "where"}
            problems.append(Problem(**told).render(device["name"]))
    return [table, *problems]


def test_parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The table of the document of `lathe test`, and the failures."""
    table = Table(
        ["device", "program", "passed", "failed", "skipped", "seconds", "result"],
        right=frozenset({"passed", "failed", "skipped", "seconds"}),
    )
    failures: list[str | Table] = []
    for item in document["tests"]:
        failed = item["failed"]
        result = "failed" if failed else "passed"
        figures = (item["passed"], len(failed), item["skipped"], f"{item['seconds']:.1f}")
        table.add(item["device"], item["program"], *figures, result)
        failures += [f"{name}\n  {text.splitlines()[-1] if text else ''}" for name, text in failed.items()]
    return [table, *failures]
