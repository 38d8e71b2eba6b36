"""What a library was made of: a manifest for those who build it again, a bill of materials for those who ship it, and a
statement of where it comes from for those who check that.

They say nothing of when, where or by whom, so that equal builds write equal bytes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from buildtool.builders.built import BuiltLibrary
from buildtool.digests import sha256_of
from buildtool.reports.documents import MANIFEST

SBOM = "report/sbom.cdx.json"
PROVENANCE = "report/provenance.intoto.json"
_BUILD_TYPE = "urn:lathe:build:1"
_SPACE = uuid.UUID("5b1f6c0e-6f0e-5d0a-9c55-2f1d9c1b7a53")  # for names of the documents that are made here
_DISTRIBUTION = "lathe-build"
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Input:
    """A file that decides what a build makes."""

    role: str  # deployment, model, weights, operator
    name: str  # within its folder
    path: Path

    def as_json(self) -> dict[str, Any]:
        return {"role": self.role, "name": self.name, **_content(self.path)}


@dataclass(frozen=True)
class Origin:
    """Where a library comes from."""

    library: str
    version: str  # of Lathe
    fingerprint: str
    inputs: tuple[Input, ...]


def inputs_of(deployment: Path, models: Iterable[Sequence[Path]], op_paths: Iterable[Path]) -> list[Input]:
    """The files that a build reads; `models`: of each its file, then others that belong to it. A folder counts with all
    files in it.
    """
    found = [Input("deployment", deployment.name, deployment)]
    for model, *others in models:
        found += _below("model", model)
        for other in others:
            found += _below("weights", other)
    for folder in op_paths:
        found += [item for item in _below("operator", folder) if "__pycache__" not in item.path.parts]
    return found


def files(
    origin: Origin,
    libraries: Sequence[BuiltLibrary],
    outputs: Mapping[str, bytes | Path],
    compilers: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, bytes]:
    """The documents of a build with these libraries, which ships `outputs`; `compilers`: of firmware, by ABI."""
    manifest = _manifest(origin, libraries, outputs, compilers)
    return {MANIFEST: _text(manifest), SBOM: _text(_bill(manifest)), PROVENANCE: _text(_provenance(manifest))}


def _manifest(
    origin: Origin,
    libraries: Sequence[BuiltLibrary],
    outputs: Mapping[str, bytes | Path],
    compilers: Mapping[str, str],
) -> dict[str, Any]:
    shipped = sorted(path for path in outputs if not path.startswith(("report/", "debug/")))
    return {
        "format": 1,
        "library": origin.library,
        "fingerprint": origin.fingerprint,
        "tools": {
            "lathe": origin.version,
            "python": platform.python_version(),
            "packages": _packages(),
            "compilers": {library.abi: library.compiler for library in libraries} | dict(compilers),
        },
        "inputs": [item.as_json() for item in origin.inputs],
        "libraries": [
            {
                "abi": library.abi,
                "file": f"lib/{library.abi}/{library.shared.name}",
                "bytes_stripped": library.info.bytes_stripped,
                "bytes_static": library.archive.stat().st_size if library.archive else 0,
                "kernels": list(library.info.kernels),
                "exported": list(library.info.exported),
                "needed": list(library.info.needed),
                "glibc": library.info.glibc,
            }
            for library in libraries
        ],
        "outputs": [{"path": path, **_content(outputs[path])} for path in shipped],
    }


def _bill(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A CycloneDX document: the library, the models inside it, and the tools that made it."""
    library = manifest["library"]
    tools = manifest["tools"]
    parts = [
        {
            "type": "machine-learning-model" if item["role"] in ("model", "weights") else "file",
            "bom-ref": f"{item['role']}/{number}/{item['name']}",
            "name": item["name"],
            "hashes": [{"alg": "SHA-256", "content": item["sha256"]}],
            "properties": [{"name": "lathe:role", "value": item["role"]}],
        }
        for number, item in enumerate(manifest["inputs"])
    ]
    runtime = {"type": "library", "bom-ref": "lathe", "name": "lathe-runtime", "version": tools["lathe"]}
    makers = [{"type": "application", "name": "lathe", "version": tools["lathe"]}]
    makers += [{"type": "library", "name": name, "version": found} for name, found in tools["packages"].items()]
    makers += [
        {"type": "application", "name": f"compiler for {abi}", "version": found}
        for abi, found in tools["compilers"].items()
    ]
    files = [
        {
            "type": "file",
            "bom-ref": f"file/{item['path']}",
            "name": item["path"],
            "hashes": [{"alg": "SHA-256", "content": item["sha256"]}],
        }
        for item in manifest["outputs"]
    ]
    serial = uuid.uuid5(_SPACE, json.dumps(manifest, sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "tools": {"components": makers},
            "component": {"type": "library", "bom-ref": "library", "name": library, "components": files},
        },
        "components": [runtime, *parts],
        "dependencies": [
            {"ref": "library", "dependsOn": ["lathe", *(part["bom-ref"] for part in parts)]},
            *({"ref": part["bom-ref"]} for part in (runtime, *parts)),
        ],
    }


def _provenance(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """An in-toto statement with the provenance of SLSA 1.0: which files were made from which, by what.

    Who vouches for it signs it.
    """
    tools = manifest["tools"]
    deployment = next((item["name"] for item in manifest["inputs"] if item["role"] == "deployment"), "")
    versions = {**{f"compiler {abi}": found for abi, found in tools["compilers"].items()}, **tools["packages"]}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": item["path"], "digest": {"sha256": item["sha256"]}} for item in manifest["outputs"]],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"deployment": deployment, "library": manifest["library"]},
                "internalParameters": {"fingerprint": manifest["fingerprint"]},
                "resolvedDependencies": [
                    {
                        "name": item["name"],
                        "digest": {"sha256": item["sha256"]},
                        "annotations": {"role": item["role"]},
                    }
                    for item in manifest["inputs"]
                ],
            },
            "runDetails": {
                "builder": {
                    "id": "urn:lathe:builder:local",
                    "version": {"lathe": tools["lathe"], "python": tools["python"], **versions},
                }
            },
        },
    }


def _packages() -> dict[str, str]:
    """The Python packages that Lathe works with, by name: their versions may decide about a build."""
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        return {}
    names = {matched[0] for line in required if "extra ==" not in line and (matched := _REQUIREMENT.match(line))}
    found = {}
    for name in sorted(names):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # a marker says that this machine needs none
    return found


def _below(role: str, path: Path) -> list[Input]:
    if not path.is_dir():
        return [Input(role, path.name, path)]
    inside = sorted(part for part in path.rglob("*") if part.is_file())
    return [Input(role, f"{path.name}/{part.relative_to(path).as_posix()}", part) for part in inside]


def _content(item: bytes | Path) -> dict[str, Any]:
    if isinstance(item, bytes):
        return {"bytes": len(item), "sha256": hashlib.sha256(item).hexdigest()}
    return {"bytes": item.stat().st_size, "sha256": sha256_of(item)}


def _text(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()
