"""The rooms in which faults are planted: their sources, and what tests them."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from buildtool.plan import manifest
from buildtool.targets.cpu import TARGET
from tests.mutants import native_source, python_source
from tests.mutants.mutation import Mutation

FRAMEWORKS = ("caffe", "keras", "onnx", "paddle", "tensorflow", "tflite")
#: Ten families of kernels.
FAMILIES = (
    *("conv2d", "dwconv2d", "fully_connected", "matmul", "softmax"),
    *("max_pool2d", "reduce_mean", "resize2d", "gather", "requantize"),
)
#: The programs that test the runtime, by the variant of the build. Kernels are tested under the same sanitizers.
PROGRAMS = {
    "asan": ("core_test", "hostile_model_test", "cpp_api_test", "cores_test", "faults_test"),
    "": ("threads_test", "schedules_test", "allocation_test"),
}

#: Kernels of other processors: what changes there shows in nothing that a computer compiles.
_OTHERS = ("__hvx", "__hexagon", "__dotprod", "__opencl")


@functools.cache
def _of_others() -> frozenset[str]:
    """Sources of kernels that are compiled for other processors only."""
    isas: dict[str, set[str]] = defaultdict(set)
    for kernel in manifest.load():
        isas[kernel.code].add(kernel.isa)
    own = set(TARGET.capabilities.abis["host"].isas)
    return frozenset(code for code, found in isas.items() if code and not found & own)


@dataclass(frozen=True)
class Room:
    """`tests`: folders of tests for Python. `operator`: whose cases test a kernel."""

    name: str
    sources: tuple[str, ...]  # patterns
    tests: tuple[str, ...] = ()
    operator: str = ""

    @property
    def is_native(self) -> bool:
        return not self.tests

    def files(self, root: Path) -> list[Path]:
        found = {file for pattern in self.sources for file in root.glob(pattern)}
        found = {file for file in found if file.name != "__init__.py" and not file.stem.endswith(_OTHERS)}
        return sorted(file for file in found if str(file.relative_to(root)) not in _of_others())

    def mutations(self) -> Callable[[str], list[Mutation]]:
        return native_source.mutations if self.is_native else python_source.mutations


ROOMS: dict[str, Room] = {
    room.name: room
    for room in (
        Room("ir", ("buildtool/ir/*.py",), ("tests/ir",)),
        Room("passes", ("buildtool/passes/*.py",), ("tests/passes",)),
        Room("plan", ("buildtool/plan/*.py",), ("tests/plan",)),
        *(
            Room(
                f"importers/{name}/handlers",
                (f"buildtool/importers/{name}/handlers/*.py",),
                (f"tests/importers/{name}",),
            )
            for name in FRAMEWORKS
        ),
        Room("native/runtime", ("native/runtime/*.cc",)),
        *(Room(f"native/ops/{name}", (f"native/ops/{name}/*.cc",), operator=name) for name in FAMILIES),
    )
}
