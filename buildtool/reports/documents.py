"""What a build and its runs tell about themselves, as data: written to `report/`, read back, printed with --json."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from buildtool.errors import BuildError, Where

#: Where the manifest of a build is, in its output folder.
MANIFEST = "report/manifest.json"


@dataclass(frozen=True)
class ModelReport:
    """One model of a library: how large it came in, and what the passes and planners made of it."""

    name: str
    platform: str
    source_nodes: int
    nodes: int
    macs: int
    data_bytes: int
    operators: dict[str, int]
    passes: tuple[dict[str, Any], ...] = ()  # name, nodes before and after
    plans: tuple[dict[str, Any], ...] = ()  # abi, arena_size, lower_bound, kernels

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "passes": list(self.passes), "plans": list(self.plans)}


@dataclass(frozen=True)
class LibraryReport:
    """The library of one ABI. Paths are relative to the folder of the build."""

    abi: str
    shared: str
    static: str  # empty where there is none
    bytes_stripped: int
    bytes_static: int
    kernels: tuple[str, ...]
    exported: tuple[str, ...]
    needed: tuple[str, ...]
    glibc: str
    sizes: dict[str, Any]
    compiled: int = 0
    reused: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        lists = {key: list(getattr(self, key)) for key in ("kernels", "exported", "needed")}
        return {**vars(self), **lists}


@dataclass(frozen=True)
class FirmwareReport:
    """The firmware for one chip. Paths are relative to the folder of the build."""

    abi: str
    compiler: str  # empty where nothing was compiled
    files: dict[str, int]  # what lies in lib/<abi>, with its bytes
    images: dict[str, int]  # by the name of the file: what it takes up of the chip's memory
    models: tuple[dict[str, Any], ...]  # name, figures: key, words, value, unit; details
    flash: tuple[dict[str, Any], ...] = ()  # of a package: name, address, bytes
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "models": list(self.models), "flash": list(self.flash)}


# What differs between two builds of the same things. It is printed, but not stored: equal inputs give equal files.
_FLEETING = ("seconds", "compiled", "reused")


@dataclass(frozen=True)
class BuildReport:
    """A whole build: `<folder>/report/build.json`."""

    library: str
    identifier: str
    version: str
    graph_format: str  # file, code
    data_format: str
    fingerprint: str  # of everything that decides what is built
    models: tuple[ModelReport, ...]
    libraries: tuple[LibraryReport, ...] = ()
    firmware: tuple[FirmwareReport, ...] = ()
    folder: Path = field(default=Path())
    archive: str = ""
    emitted: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def format(self) -> str:
        """One word for how models reach the library."""
        return self.graph_format if self.graph_format == self.data_format else f"{self.graph_format}/{self.data_format}"

    def is_whole(self) -> bool:
        """Whether all files of the build are still there."""
        files = (name for item in self.libraries for name in (item.shared, item.static) if name)
        return all((self.folder / name).is_file() for name in files)

    def file_of(self, abi: str, kind: str) -> Path:
        """The library of an ABI, shared or static."""
        found = self.library_for(abi)
        if kind == "static" and not found.static:
            raise BuildError(
                f"there is no static library for '{abi}'",
                where=Where(file=str(self.folder)),
                rule="a WebAssembly module is one file that nothing is linked with",
                remedy="choose the shared one",
            )
        return self.folder / (found.shared if kind == "shared" else found.static)

    def runs_on_gpus(self, abi: str) -> bool:
        """Whether the library of an ABI has kernels for GPUs."""
        return any(kernel.endswith("__opencl") for kernel in self.library_for(abi).kernels)

    @property
    def dsp_programs(self) -> tuple[Path, ...]:
        """The programs that run on Qualcomm's DSP, one for each version of it."""
        return tuple(sorted((self.folder / "lib").glob("hexagon-*/*.so")))

    def library_for(self, abi: str) -> LibraryReport:
        """The library of an ABI; BuildError where it was not built."""
        for library in self.libraries:
            if library.abi == abi:
                return library
        raise BuildError(
            f"the library was not built for '{abi}'",
            where=Where(file=str(self.folder)),
            remedy=f"build it: lathe build --target-abis {abi}",
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "identifier": self.identifier,
            "version": self.version,
            "model_graph_format": self.graph_format,
            "model_data_format": self.data_format,
            "fingerprint": self.fingerprint,
            "folder": str(self.folder),
            "archive": str(self.folder / self.archive) if self.archive else "",
            "seconds": round(self.seconds, 3),
            "models": [model.as_json() for model in self.models],
            "libraries": [library.as_json() for library in self.libraries],
            **({"firmware": [firmware.as_json() for firmware in self.firmware]} if self.firmware else {}),
            "emitted": [str(self.folder / name) for name in self.emitted],
        }

    def text(self) -> str:
        """The contents of build.json: the same bytes for the same build in any folder at any time."""
        data = self.as_json()
        for key in ("folder", "archive", "seconds", "emitted"):
            del data[key]
        for library in data["libraries"]:
            for key in _FLEETING:
                del library[key]
        for firmware in data.get("firmware", ()):
            del firmware["seconds"]
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def read_build(folder: Path) -> BuildReport | None:
    """The report of the build in a folder; None where there is none that this version wrote."""
    try:
        data = json.loads((folder / "report" / "build.json").read_text(encoding="utf-8"))
        archive = f"{data['library']}.tar.gz"
        return BuildReport(
            library=data["library"],
            identifier=data["identifier"],
            version=data["version"],
            graph_format=data["model_graph_format"],
            data_format=data["model_data_format"],
            fingerprint=data["fingerprint"],
            models=tuple(
                ModelReport(**{**model, "passes": tuple(model["passes"]), "plans": tuple(model["plans"])})
                for model in data["models"]
            ),
            libraries=tuple(_library(item) for item in data["libraries"]),
            firmware=tuple(
                FirmwareReport(**{**item, "models": tuple(item["models"]), "flash": tuple(item["flash"])})
                for item in data.get("firmware", ())
            ),
            folder=folder,
            archive=archive if (folder / archive).is_file() else "",
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _library(data: dict[str, Any]) -> LibraryReport:
    lists = {key: tuple(data[key]) for key in ("kernels", "exported", "needed")}
    return LibraryReport(**{**data, **lists})


@dataclass(frozen=True)
class RunReport:
    """The runs of `lathe run`."""

    library: str
    folder: Path
    runs: tuple[dict[str, Any], ...]

    def as_json(self) -> dict[str, Any]:
        return {"library": self.library, "folder": str(self.folder), "runs": list(self.runs)}


@dataclass(frozen=True)
class ValidationReport:
    """The comparisons of `lathe validate`: `<folder>/report/validation.json` holds the last ones."""

    library: str
    folder: Path
    reference: str
    results: tuple[dict[str, Any], ...]

    @property
    def file(self) -> Path:
        """Where the last validation of a build is kept."""
        return self.folder / "report" / "validation.json"

    def text(self) -> str:
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"

    @property
    def passed(self) -> bool:
        return all(result["passed"] for result in self.results)

    def as_json(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "folder": str(self.folder),
            "reference": self.reference,
            "passed": self.passed,
            "results": list(self.results),
        }
