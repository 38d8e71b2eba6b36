"""Two builds beside each other: what became larger, faster, or other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from buildtool.builders import package
from buildtool.errors import ConfigError, Where
from buildtool.reports import benchmark, graph_page, html_page, size
from buildtool.reports.build_page import PAGE
from buildtool.reports.documents import BuildReport, read_build
from buildtool.reports.table import Table, byte_count, number

TimedBeside: TypeAlias = Callable[[Sequence[Mapping[str, Any]], Mapping[str, Any]], list[dict[str, Any]]]
_SLOWEST = 10  # nodes whose time changed most
_LEAST = 0.1  # per cent
_VALIDATION = Path("report/validation.json")


def compare(before: Path, after: Path, timed_beside: TimedBeside) -> dict[str, Any]:
    """The document of two folders of builds. ConfigError where one is none.

    `timed_beside`: what compares measurements with those of an earlier document.
    """
    old, new = _build(before), _build(after)
    models = _paired([model.name for model in old.models], [model.name for model in new.models])
    earlier = _renamed(_read(before / benchmark.FILE), {was: is_ for is_, was in models.items()})
    timed = _read(after / benchmark.FILE).get("measurements", [])
    speed = [row for row in timed_beside(timed, earlier) if row["found"]]
    return {
        "kind": "comparison",
        "before": str(before),
        "after": str(after),
        "figures": list(_figures((old, new), models, speed)),
        "sizes": {abi: _pair(*sizes) for abi, sizes in _sizes(old, new).items()},
        "kernels": _kernels(old, new),
        "operators": {
            name: _pair(*(_model(build, title).operators for build, title in ((old, was), (new, name))))
            for name, was in models.items()
        },
        "speed": speed,
    }


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """It for people: what is equal in both is left out, but for the figures."""
    shown: list[str | Table] = [f"before: {document['before']}\nafter:  {document['after']}"]
    table = Table(["", "before", "after", "change"], right=frozenset({"before", "after", "change"}))
    for figure in document["figures"]:
        was, now = figure["before"], figure["after"]
        table.add(figure["what"], _amount(was, figure["unit"]), _amount(now, figure["unit"]), _change(was, now))
    shown.append(table)
    for abi, pair in document["sizes"].items():
        difference = size.difference(*_sides(pair))
        difference.title = f"{abi}: bytes by operator"
        shown += [difference] if difference.rows else []
    for abi, kernels in document["kernels"].items():
        shown += [f"{abi}: {word} {', '.join(names)}" for word, names in kernels.items() if names]
    for model, pair in document["operators"].items():
        difference = size.difference(*_sides(pair))
        difference.title = f"{model}: nodes by operator"
        shown += [difference] if difference.rows else []
    for row in document["speed"]:
        nodes = Table(["node", "operator", "before", "after"], right=frozenset({"before", "after"}))
        nodes.title = f"{row['model']} on {row['abi']}, {row['device']}: nodes whose cost changed most"
        for node in row["nodes"][:_SLOWEST]:
            nodes.add(node["name"], node["op"], *(_amount(node[key], _unit(row)) for key in ("before", "after")))
        shown += [nodes, f"{row['model']} on {row['abi']}, {row['device']}: {row['verdict']}"]
    if not document["speed"]:
        shown.append("times: none in both builds; measure them: lathe bench")
    return shown


def write_page(file: Path, document: Mapping[str, Any]) -> None:
    """The page, with the graphs of both builds side by side."""
    before, after = Path(document["before"]), Path(document["after"])
    graphs = {}
    for name, was in _paired(list(old := _graphs(before)), list(new := _graphs(after))).items():
        graphs[name] = graph_page.beside(name, {"before": old[was].encode(), "after": new[name].encode()}).decode()
    data = {**document, "graphs": graphs}
    package.write_file(file, html_page.render("comparison_page", after.name, data, ("graph_page",)))


def _build(folder: Path) -> BuildReport:
    found = read_build(folder)
    if found is None or not all(size.is_whole(item.sizes) for item in found.libraries):
        raise ConfigError(
            "this folder does not contain a build of this version",
            where=Where(file=str(folder)),
            rule="--compare takes two folders of builds, which have report/build.json",
            remedy="build again: lathe build",
        )
    return found


def _paired(before: list[str], after: list[str]) -> dict[str, str]:
    """Models of the later build with those of the earlier one: of one name, or the only ones."""
    if len(before) == len(after) == 1:
        return {after[0]: before[0]}
    return {name: name for name in after if name in before}


def _figures(
    builds: tuple[BuildReport, BuildReport], models: Mapping[str, str], speed: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    old, new = builds
    for abi in _common(old, new):
        one, other = old.library_for(abi), new.library_for(abi)
        yield _figure(f"library for {abi}", "bytes", one.bytes_stripped, other.bytes_stripped)
        yield _figure(f"static library for {abi}", "bytes", one.bytes_static, other.bytes_static)
        yield _figure(f"kernels for {abi}", "", len(one.kernels), len(other.kernels))
    for name, was in models.items():
        first, second = _model(old, was), _model(new, name)
        yield _figure(f"{name}: nodes", "", first.nodes, second.nodes)
        yield _figure(f"{name}: MACs", "", first.macs, second.macs)
        yield _figure(f"{name}: weights", "bytes", first.data_bytes, second.data_bytes)
        arenas = ({plan["abi"]: plan["arena_size"] for plan in model.plans} for model in (first, second))
        for abi, (least, most) in _pair(*arenas).items():
            if least is not None and most is not None:
                yield _figure(f"{name}: arena for {abi}", "bytes", least, most)
    for row in speed:
        yield _figure(f"{row['model']} on {row['abi']}, {row['device']}", _unit(row), row["before"], row["after"])
    ends = [_agreement(build.folder) for build in builds]
    for key in ends[1]:
        if key in ends[0]:
            yield _figure(f"{key}: cosine", "", ends[0][key], ends[1][key])


def _figure(what: str, unit: str, before: float, after: float) -> dict[str, Any]:
    return {"what": what, "unit": unit, "before": before, "after": after}


def _unit(row: Mapping[str, Any]) -> str:
    return "ms" if row["unit"] == "seconds" else "instructions"


def _agreement(folder: Path) -> dict[str, float]:
    """The least cosine of each output on each ABI."""
    found: dict[str, float] = {}
    for result in _read(folder / _VALIDATION).get("results", ()):
        key = f"{result['output']} on {result['abi']}"
        found[key] = min(found.get(key, 1.0), result["cosine"])
    return found


def _sizes(old: BuildReport, new: BuildReport) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    return {
        abi: (old.library_for(abi).sizes["operators"], new.library_for(abi).sizes["operators"])
        for abi in _common(old, new)
    }


def _kernels(old: BuildReport, new: BuildReport) -> dict[str, dict[str, list[str]]]:
    found = {}
    for abi in _common(old, new):
        one, other = (set(build.library_for(abi).kernels) for build in (old, new))
        found[abi] = {"added": sorted(other - one), "removed": sorted(one - other)}
    return found


def _common(old: BuildReport, new: BuildReport) -> list[str]:
    known = [item.abi for item in old.libraries]
    return [item.abi for item in new.libraries if item.abi in known]


def _model(build: BuildReport, name: str) -> Any:
    return next(model for model in build.models if model.name == name)


def _pair(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, list[int | None]]:
    return {name: [before.get(name), after.get(name)] for name in dict.fromkeys((*before, *after))}


def _sides(pair: Mapping[str, list[int | None]]) -> tuple[dict[str, int], dict[str, int]]:
    before, after = ({name: both[side] or 0 for name, both in pair.items()} for side in (0, 1))
    return before, after


def _amount(value: float, unit: str) -> str:
    if unit == "ms":
        return f"{number(value, 4)} ms" if value >= 0.1 else f"{number(1000 * value, 4)} µs"
    return byte_count(int(value)) if isinstance(value, int) or unit else number(value, 7)


def _change(before: float, after: float) -> str:
    if before == after:
        return "="
    change = 100 * (after / before - 1) if before else 0.0
    return "new" if not before else f"{change:+.1f} %" if abs(change) >= _LEAST else f"below {_LEAST} %"


def _graphs(folder: Path) -> dict[str, str]:
    """The pages of the graphs inside of the page of a build; none where that is not there, or not ours."""
    try:
        pages = html_page.data_of((folder / PAGE).read_bytes())["pages"]["graphs"]
        return {name: page for name, page in pages.items() if page}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _renamed(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    items = document.get("measurements", ())
    return {"measurements": [{**item, "model": names.get(item["model"], item["model"])} for item in items]}
