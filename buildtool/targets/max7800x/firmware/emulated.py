"""Images of generated programs for QEMU's board with a Cortex-M4, with the model of the accelerator behind them."""

from __future__ import annotations

from collections.abc import Mapping

from buildtool import resources
from buildtool.codegen.source_tree import Image
from buildtool.targets.max7800x.devices import Device

MACHINE = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
_ROOM = "native/max7800x"
_STARTUP, _SCRIPT = f"{_ROOM}/emulator/startup.c", f"{_ROOM}/emulator/mps2.ld"
_COMPILE = (
    *MACHINE,
    *("-std=c99", "-O2", "-ffunction-sections", "-fdata-sections", "-Wall", f"-I{_ROOM}", f"-I{_ROOM}/headers"),
)
_LINK = (
    *("--specs=rdimon.specs", "-nostartfiles", f"-Wl,-T,{_SCRIPT}", "-Wl,--gc-sections", "-Wl,--build-id=none"),
    "-Wl,--no-warn-rwx-segments",
)


def files() -> dict[str, bytes]:
    """What images are compiled of beside their programs."""
    native = resources.native_dir() / "max7800x"
    found = [*native.glob("*.[ch]"), *native.glob("headers/*.h"), *native.glob("emulator/*")]
    own = {path for path in found if path.name not in ("simulator.c", "simulator.h")}
    return {f"{_ROOM}/{path.relative_to(native).as_posix()}": path.read_bytes() for path in sorted(own)}


def images(name: str, folder: str, project: Mapping[str, bytes], device: Device) -> tuple[Image, ...]:
    """An image of a program whose project lies in a folder; none where the RISC-V core runs the network."""
    if any(path.startswith("riscv/") for path in project):
        return ()
    own = tuple(f"{folder}/{path}" for path in sorted(project) if path.endswith(".c"))
    model = tuple(sorted(path for path in files() if path.endswith(".c") and path != _STARTUP))
    flags = (*_COMPILE, f"-DTARGET_NUM={device.name.removeprefix('max')}", f"-I{folder}")
    return (Image(f"{name}_emulated", (*own, *model, _STARTUP), flags, _LINK),)
