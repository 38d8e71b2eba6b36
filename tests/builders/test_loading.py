"""Libraries that load others when they run, as those do that find OpenCL: what they need, and of which glibc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from buildtool import resources
from buildtool.builders import elf
from buildtool.errors import BuildError

COMPILERS = {
    "host": "g++",
    "aarch64-linux-gnu": "aarch64-linux-gnu-g++",
    "arm-linux-gnueabihf": "arm-linux-gnueabihf-g++",
}
SOURCE = """
#include "native/opencl/loader.h"
extern "C" __attribute__((visibility("default"))) const char* lathe_api_loading() {
  lathe::opencl::ClApi api;
  lathe::opencl::Reason reason;
  static_cast<void>(lathe::opencl::Load(&api, &reason));
  return lathe::opencl::ErrorName(static_cast<int>(reason.empty()));
}
"""
NOTE = r"""
__asm__(
    ".section .note.lathe, \"a\", %note\n"
    ".long 6, 12, 1\n"
    ".ascii \"Lathe\\0\\0\\0opencl relu\\n\"\n"
    ".previous");
"""


def _library(folder: Path, compiler: str, source: str) -> Path:
    root = resources.native_dir().parent
    (folder / "loading.cc").write_text(source)
    command = [
        compiler,
        "-std=c++17",
        "-Os",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-exceptions",
        "-nostdinc++",
        "-shared",
    ]
    command += ["-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-nostdlib", f"-I{root}"]
    command += [f"-I{root / 'native' / 'include'}", "-o", str(folder / "loading.so"), str(folder / "loading.cc")]
    command += [str(root / "native" / "opencl" / "loader.cc"), "-Wl,--no-as-needed", "-l:libdl.so.2", "-lc", "-lgcc"]
    subprocess.run(command, check=True)
    return folder / "loading.so"


@pytest.mark.parametrize(
    "abi", [pytest.param(abi, marks=[] if abi == "host" else [pytest.mark.arm]) for abi in COMPILERS]
)
def test_they_need_libdl_of_any_glibc(abi: str, tmp_path: Path) -> None:
    made = _library(tmp_path, COMPILERS[abi], SOURCE + NOTE)
    elf.check_library(made, "lathe_api_loading", "2.17")
    assert sorted(elf.inspect_library(made).needed) == ["libc.so.6", "libdl.so.2"]


def test_others_do_not_need_it(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        elf.check_library(_library(tmp_path, "g++", SOURCE), "lathe_api_loading", "2.17")
    assert "the library needs libdl.so.2" in str(caught.value)
