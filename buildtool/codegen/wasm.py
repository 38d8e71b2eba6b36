"""What stands around the WebAssembly modules of a library: ES modules, their types, and an npm package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from buildtool import version
from buildtool.codegen.library import render
from buildtool.ir.graph import Graph
from buildtool.ir.types import DType

_ARRAYS = {
    DType.F32: "Float32Array",
    DType.F64: "Float64Array",
    DType.F16: "Uint16Array",
    DType.BF16: "Uint16Array",
    DType.S8: "Int8Array",
    DType.U8: "Uint8Array",
    DType.BOOL: "Uint8Array",
    DType.S16: "Int16Array",
    DType.U16: "Uint16Array",
    DType.S32: "Int32Array",
    DType.U32: "Uint32Array",
    DType.S64: "BigInt64Array",
    DType.U64: "BigUint64Array",
}


@dataclass(frozen=True)
class WasmLibrary:
    """A library for one ABI of WebAssembly."""

    name: str
    identifier: str
    stem: str
    abi: str
    models: Mapping[str, Graph]
    in_files: bool = True  # whether files beside the library have the models, or at least their weights
    pages: int = 0  # of the memory that a module with threads shares with its workers; 0 for others


def module_files(library: WasmLibrary) -> dict[str, bytes]:
    """The files of `lib/<abi>/` beside the module itself."""
    context = _context(library)
    files = {
        f"{library.stem}.mjs": render("wasm/module.mjs", context),
        f"{library.stem}.d.ts": render("wasm/module.d.ts", context),
    }
    if library.pages:
        files[f"{library.stem}.worker.mjs"] = render("wasm/worker.mjs", context)
    return files


def package_files(libraries: Sequence[WasmLibrary]) -> dict[str, bytes]:
    """The files of the output folder that make it an npm package.

    The package's name means its one ABI, or an index, which chooses among several when it is loaded.
    """
    forms = sorted(libraries, key=_rank, reverse=True)
    best = forms[0]
    entries = {library.abi: _entry(library) for library in libraries}
    files: dict[str, bytes] = {}
    whole = _entry(best)
    if len(forms) > 1:
        whole = {"types": "./index.d.ts", "default": "./index.mjs"}
        choices = [{"abi": form.abi, "needs": _needs(form), "file": _entry(form)["default"]} for form in forms]
        context = _context(best) | {"package": best.name.lower(), "best": choices[0]["file"], "forms": choices}
        files["index.mjs"] = render("wasm/index.mjs", context)
        files["index.d.ts"] = render("wasm/module.d.ts", context | {"several": True})
    document = {
        "name": best.name.lower(),
        "version": "1.0.0",
        "description": f"{best.name}: a neural network library that Lathe {version()} made",
        "type": "module",
        "sideEffects": False,
        "main": whole["default"],
        "types": whole["types"],
        "exports": {".": whole, **{f"./{abi}": entry for abi, entry in entries.items()}},
        "files": [*files, *(name for abi in entries for name in (f"lib/{abi}", f"model/{abi}"))],
    }
    return files | {"package.json": (json.dumps(document, indent=2) + "\n").encode()}


def _needs(library: WasmLibrary) -> list[str]:
    """What an engine needs for an ABI, by the words of its name."""
    return library.abi.split("-")[1:]


def _rank(library: WasmLibrary) -> list[bool]:
    return [need in _needs(library) for need in ("threads", "relaxed", "simd")]


def _context(library: WasmLibrary) -> dict[str, Any]:
    return {
        "library": library.name,
        "identifier": library.identifier,
        "stem": library.stem,
        "abi": library.abi,
        "version": version(),
        "models": list(library.models),
        "files": list(library.models) if library.in_files else [],
        "interfaces": _interfaces(library.models),
        "pages": library.pages,
        "several": False,
    }


def _entry(library: WasmLibrary) -> dict[str, str]:
    stem = f"./lib/{library.abi}/{library.stem}"
    return {"types": f"{stem}.d.ts", "default": f"{stem}.mjs"}


def _interfaces(models: Mapping[str, Graph]) -> list[dict[str, Any]]:
    taken: dict[str, int] = {}
    found = []
    for name, graph in models.items():
        word = _word(name)
        taken[word] = taken.get(word, 0) + 1
        found.append(_interface(name, graph, word if taken[word] == 1 else f"{word}{taken[word]}"))
    return found


def _word(name: str) -> str:
    """A model's name as TypeScript writes types."""
    words = "".join(character if character.isascii() and character.isalnum() else " " for character in name).split()
    word = "".join(word[:1].upper() + word[1:] for word in words)
    return word if word and not word[0].isdigit() else f"Model{word}"


def _interface(name: str, graph: Graph, word: str) -> dict[str, Any]:
    tensors = {"inputs": graph.inputs, "outputs": graph.outputs}
    lists = {key: [{"name": v.name, "array": _ARRAYS[v.type.dtype]} for v in values] for key, values in tensors.items()}
    return {"name": name, "type": word, **lists}
