"""`report/index.html`: everything that is known of a build, in one page.

What a build makes of equal inputs is equal in every byte. What is measured later is written into that page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from buildtool.builders import package
from buildtool.reports import benchmark, graph_page, html_page, memory_map, size
from buildtool.reports.documents import MANIFEST, BuildReport
from buildtool.targets.protocol import TargetProgram

PAGE = Path("report/index.html")
_INNER = ("graph_page", "size_page")
_MEASURED = {"validation": Path("report/validation.json"), "benchmark": benchmark.FILE}


def files(
    report: BuildReport,
    programs: Sequence[TargetProgram],
    contents: Mapping[str, bytes | Path],
    live: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, bytes]:
    """The page of a build. `contents`: everything else that the build writes. `live`: a WebAssembly module with the
    models, and its script, for a page that runs them."""
    build = json.loads(report.text())
    for library in build["libraries"]:
        del library["sizes"]  # they are a page of their own
    for model in build["models"]:
        del model["passes"]
    graphs = {model.name: _text(contents.get(f"model/{model.name}_index.html")) for model in report.models}
    manifest = contents.get(MANIFEST)
    data = {
        "build": build,
        "memory": [memory_map.of_model(model) for program in programs for model in program.models],
        "pages": {"graphs": graphs, "sizes": _sizes(report)},
        "manifest": json.loads(manifest) if isinstance(manifest, bytes) else {},
        **dict.fromkeys(_MEASURED),
        **({"live": dict(live)} if live else {}),
        "layers": [],
    }
    return {PAGE.as_posix(): _page(data)}


def refresh(folder: Path) -> None:
    """Write what was measured since into the page of a build. A page that is not there, or not ours, stays as it is."""
    file = folder / PAGE
    try:
        data = html_page.data_of(file.read_bytes())
        data.update((key, _measured(folder / path)) for key, path in _MEASURED.items())
        data["layers"] = _layers(folder)
        data["pages"]["graphs"] = _with_results(data)
        page = _page(data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    package.write_file(file, page)


def _page(data: Mapping[str, Any]) -> bytes:
    script = data.get("live", {}).get("script", "")
    return html_page.render("build_page", data["build"]["library"], data, _INNER, script)


def _sizes(report: BuildReport) -> str:
    sizes = {library.abi: library.sizes for library in report.libraries}
    return size.page(report.library, report.version, sizes).decode() if sizes else ""


def _text(page: bytes | Path | None) -> str:
    return page.decode("utf-8") if isinstance(page, bytes) else ""


def _with_results(data: Mapping[str, Any]) -> dict[str, str]:
    """The pages of the graphs with what was measured of each model."""
    measurements = data["benchmark"]["measurements"] if data["benchmark"] else []
    return {
        name: graph_page.with_results(
            page.encode(),
            [item for item in measurements if item["model"] == name],
            [item for item in data["layers"] if item["model"] == name],
        ).decode()
        for name, page in data["pages"]["graphs"].items()
        if page
    }


def _layers(folder: Path) -> list[Any]:
    """What `lathe validate --layers` has found, of every model, ABI and device."""
    files = sorted((folder / "report" / "layers").glob("*/*/layers.json"))
    return [found for file in files if (found := _measured(file)) is not None]


def _measured(file: Path) -> Any:
    """A result without the places where it lies: the page may be looked at anywhere."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {key: value for key, value in document.items() if key not in ("folder", "file")}
