"""Runs Qualcomm's own clients with Qualcomm's own programs through the stand-in for the DSP, which has to carry them.

    git clone https://github.com/quic/fastrpc
    python scripts/check_fastrpc_pairs.py fastrpc

The pairs are `test/linux/lib<name>.so`, for aarch64, and `test/v68/lib<name>_skel.so`. Both run unchanged, in qemu.
Needs g++-aarch64-linux-gnu and qemu-user. Nothing of theirs is kept: the work happens in a folder that is removed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from buildtool.builders import hexagon
from buildtool.builders.objects import ObjectCache

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ("calculator", "multithreading")
_COMPUTE, _UNSIGNED, _SECONDS = 3, 1, 120
_RUNNER = f"""
#include <dlfcn.h>
#include <stdio.h>
int main(int, char** words) {{
  void* client = dlopen(words[1], RTLD_LAZY);
  if (client == nullptr) return puts(dlerror()), 1;
  auto run_test = reinterpret_cast<int (*)(int, bool)>(dlsym(client, "run_test"));
  return run_test == nullptr || run_test({_COMPUTE}, {_UNSIGNED}) != 0;
}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fastrpc", type=Path, help="a checkout of github.com/quic/fastrpc")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="fastrpc-pairs-") as folder:
        work = Path(folder)
        prepare(work)
        worked = [run(pair, options.fastrpc / "test", work) for pair in PAIRS]
    return 0 if all(worked) else 1


def prepare(work: Path) -> None:
    """The program that calls a client, and the stand-in for aarch64."""
    (work / "runner.cc").write_text(_RUNNER)
    compiler = ["aarch64-linux-gnu-g++", "-std=c++17", "-O2"]
    subprocess.run([*compiler, "-o", work / "runner", work / "runner.cc", "-ldl"], check=True)
    source, library = ROOT / "native/hexagon/simulator/rpc.cc", work / "libcdsprpc.so.1"
    flags = ["-fPIC", "-shared", "-fvisibility=hidden", f"-I{ROOT}", f"-Wl,-soname,{library.name}"]
    subprocess.run([*compiler, *flags, "-o", library, source], check=True)


def run(pair: str, test: Path, work: Path) -> bool:
    """Whether a pair says that it works; prints all that both sides say."""
    variables = hexagon.simulator(ObjectCache()).environment(test / "v68")
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", f"LD_LIBRARY_PATH={work}:{test / 'linux'}"]
    for name, value in variables.items():
        command += ["-E", f"{name}={value}"]
    command += [str(work / "runner"), str(test / "linux" / f"lib{pair}.so")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    sys.stdout.write(
        f"== {pair} ==\n{done.stdout}{done.stderr}{pair}: {'works' if done.returncode == 0 else 'FAILS'}\n"
    )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
