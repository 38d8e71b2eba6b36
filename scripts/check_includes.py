"""Checks that native includes go one way: operators use native/kernel, and that the kernel interface of the runtime.

Run by `make lint`. `LAYERS` says for each part of native/ what it may include besides itself and the public headers.
Includes have no order: no header reads a macro that the file around it defines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_INCLUDE = re.compile(r'^\s*#\s*include\s*"(native/[^"]+)"', re.MULTILINE)

# All of the runtime that kernels may know.
KERNEL_INTERFACE = ("native/runtime/kernel.h", "native/runtime/span.h", "native/runtime/half.h")
# The longest matching folder counts.
LAYERS: dict[str, tuple[str, ...]] = {
    "native/runtime/": (),
    "native/kernel/": KERNEL_INTERFACE,
    "native/ops/": ("native/kernel/", *KERNEL_INTERFACE),
    "native/ops/device_region/": (
        "native/kernel/",
        "native/opencl/region.h",
        "native/hexagon/region.h",
        *KERNEL_INTERFACE,
    ),
    "native/hexagon/": ("native/runtime/",),
    "native/hexagon/program/": (
        "native/hexagon/fastrpc.h",
        "native/hexagon/power_request.h",
        "native/hexagon/protocol.h",
        "native/runtime/",
    ),
    "native/hexagon/simulator/": ("native/hexagon/fastrpc.h", "native/hexagon/power_request.h"),
    "native/opencl/": ("native/kernel/", "native/runtime/"),
    "native/opencl/ops/": ("native/kernel/", "native/opencl/", *KERNEL_INTERFACE),
    "native/vision/": ("native/kernel/math/math.h", "native/runtime/"),
    "native/kpu/": (),
    "native/max7800x/": (),
}
_PUBLIC = "native/include/"
# What generated units define in front of everything; headers have a value for files that are no units.
_OF_UNITS = ("LATHE_ISA",)


def main() -> int:
    problems = [
        problem for file in _files() for problem in problems_of(file, (ROOT / file).read_text(encoding="utf-8"))
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def problems_of(file: str, text: str) -> Iterator[str]:
    """One line for each include that goes against the order."""
    layer = max((name for name in LAYERS if file.startswith(name)), key=len, default=None)
    if layer is None:
        return
    macros = (match for match in _DEFINE.finditer(text) if not match[1].endswith("_H_") and match[1] not in _OF_UNITS)
    defined = next(macros, None)
    for match in _INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        if defined is not None and defined.start() < match.start():
            rule = f"includes come before {defined[1]} is defined: a header depends on nothing in front of it"
            yield f"{file}:{line}: includes {match[1]}\n  rule: {rule}\n  fix:  define it in the header that reads it"
        header = match[1]
        if header.startswith((layer, _PUBLIC, *LAYERS[layer])):
            continue
        rule = f"files of {layer} include their own, {', '.join((*LAYERS[layer], _PUBLIC))}"
        yield f"{file}:{line}: includes {header}\n  rule: {rule}\n  fix:  move what both need into native/kernel/"


def _files() -> Iterator[str]:
    for path in sorted((ROOT / "native").rglob("*")):
        if path.suffix in (".h", ".cc", ".c"):
            yield path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    sys.exit(main())
