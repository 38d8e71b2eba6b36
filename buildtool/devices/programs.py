"""Which machine a program is for, and which machines run it: found out before a device says no in worse words."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_OF_ELF = {
    "EM_AARCH64": "aarch64",
    "EM_ARM": "arm",
    "EM_X86_64": "x86_64",
    "EM_386": "i386",
    "EM_RISCV": "riscv",
    "EM_HEXAGON": "hexagon",
}
_OF_ABI = {
    "aarch64-linux-gnu": "aarch64",
    "arm64-v8a": "aarch64",
    "arm-linux-gnueabihf": "arm",
    "armeabi-v7a": "arm",
    "riscv64-linux-gnu": "riscv",
    "hexagon": "hexagon",
}
_ANDROID = {"arm64-v8a": "aarch64", "armeabi-v7a": "arm", "armeabi": "arm", "x86": "i386", "x86_64": "x86_64"}
_BESIDES = {"aarch64": ("arm",), "x86_64": ("i386",)}  # what 64-bit machines run, too


def machine_of(file: Path) -> str:
    """The machine that a program or library is for; empty where it is neither."""
    try:
        with file.open("rb") as stream:
            name = str(ELFFile(stream)["e_machine"])
    except ELFError:
        return ""
    return _OF_ELF.get(name, name.removeprefix("EM_").lower())


def machine_for(abi: str) -> str:
    """The machine that runs an ABI."""
    return _named(platform.machine()) if abi == "host" else _OF_ABI.get(abi, abi)


def machines_of(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The machines that a device stands for, by what it says of itself; empty where it does not say."""
    if properties.get("abis"):
        return tuple(_ANDROID.get(word, word) for word in properties["abis"].replace(",", " ").split())
    name = _named(properties.get("machine", ""))
    return (name, *_BESIDES.get(name, ())) if name else ()


def _named(uname: str) -> str:
    """The machine by the word of `uname -m`."""
    if uname.startswith("armv"):
        return "arm"
    return {"arm64": "aarch64", "amd64": "x86_64", "i686": "i386"}.get(uname, "riscv" if "riscv" in uname else uname)
