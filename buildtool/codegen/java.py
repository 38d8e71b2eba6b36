"""The sources of a library's Java classes, and the texts that an Android archive (AAR) has beside them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass

import jinja2

CLASSES = ("DataType", "LatheException", "Model", "Native", "TensorInfo")
#: Those of Paddle-Lite's Java interface, over Model.
PADDLE_CLASSES = (
    "ConfigBase",
    "CxxConfig",
    "Elements",
    "MobileConfig",
    "ModelFiles",
    "PaddleLiteInitializer",
    "PaddlePredictor",
    "Place",
    "PowerMode",
    "Tensor",
)
PADDLE_PACKAGE = "com.baidu.paddle.lite"
ANDROID_ABIS = ("arm64-v8a", "armeabi-v7a", "x86", "x86_64")  # as Android calls them

_WORDS = """
abstract assert boolean break byte case catch char class const continue default do double else enum extends false
final finally float for goto if implements import instanceof int interface long native new null package private
protected public return short static strictfp super switch synchronized this throw throws transient true try void
volatile while _
"""
_KEYWORDS = frozenset(_WORDS.split())


@dataclass(frozen=True)
class JavaLibrary:
    """What Java sees of a library."""

    name: str
    identifier: str
    stem: str  # lib<stem>.so
    paddle: bool = False  # with the classes of Paddle-Lite's interface

    @property
    def package(self) -> str:
        """Each library has its own, so that an app may have several of them."""
        last = f"{self.identifier}_" if self.identifier in _KEYWORDS else self.identifier
        return f"lathe.{last}"

    @property
    def folder(self) -> str:
        """That of the package."""
        return self.package.replace(".", "/")


def sources(library: JavaLibrary) -> dict[str, bytes]:
    """The classes, by their paths."""
    found = {f"{library.folder}/{name}.java": _render(f"{name}.java", library) for name in CLASSES}
    if library.paddle:
        folder = PADDLE_PACKAGE.replace(".", "/")
        found.update((f"{folder}/{name}.java", _render(f"paddle/{name}.java", library)) for name in PADDLE_CLASSES)
    return found


def manifest(library: JavaLibrary, level: int) -> bytes:
    """AndroidManifest.xml. `level`: the least API level."""
    return _render("AndroidManifest.xml", library, level=level)


def keep_rules(library: JavaLibrary) -> bytes:
    """What an app that shrinks its code must leave alone."""
    return _render("proguard.txt", library, classes=PADDLE_PACKAGE if library.paddle else "")


def prefab(library: JavaLibrary, levels: Mapping[str, tuple[int, int]]) -> dict[str, bytes]:
    """The descriptions of the native library for builds of native code, by their paths in the archive.

    `levels`: by ABI the least API level and the major version of the NDK. The keys are those of Prefab's schema 2, and
    no others, for its reader refuses what it does not know.
    """
    module = f"prefab/modules/{library.name}"
    documents: dict[str, object] = {
        "prefab/prefab.json": {"schema_version": 2, "name": library.name, "dependencies": []},
        f"{module}/module.json": {"export_libraries": [], "library_name": f"lib{library.stem}"},
    }
    for abi, (level, ndk) in levels.items():
        facts = {"abi": abi, "api": level, "ndk": ndk, "stl": "none", "static": False}
        documents[f"{module}/libs/android.{abi}/abi.json"] = facts
    return {path: (json.dumps(document, indent=2) + "\n").encode() for path, document in documents.items()}


def _render(template: str, library: JavaLibrary, **more: object) -> bytes:
    context = {
        "library": library.name,
        "package": library.package,
        "stem": library.stem,
        "paddle": PADDLE_PACKAGE,
        **more,
    }
    return _templates().get_template(f"java/{template}.j2").render(context).encode()


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("buildtool.codegen"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
