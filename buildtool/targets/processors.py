"""The processors that libraries are built for, as data."""

from __future__ import annotations

import platform
from collections.abc import Collection
from dataclasses import replace
from types import MappingProxyType

from buildtool.plan.algorithms import ByteCosts, Costs
from buildtool.targets.protocol import AbiCapabilities

# Processors with VNNI multiply bytes faster than what is transformed: they skip the kernels of AVX2.
X86_64 = AbiCapabilities(
    isas=("vnni", "avx512", "avx2", "portable"),
    baseline=("portable",),
    machine="x86_64",
    costs=Costs(bytes=ByteCosts(product=1.1, transform=11.0)),
    byte_transforms="avx2",
)
# By counts of instructions: a vector has four numbers, so that products take longer beside transformations, and larger
# filters are worth more.
_ARM_COSTS = Costs(transform=7.0, weight=6.0, store=2.5, growth=2.2, squares=True)
_ARM_32_COSTS = replace(_ARM_COSTS, bytes=ByteCosts(product=1.2, transform=4.0))
_ARM_64_COSTS = replace(_ARM_COSTS, bytes=ByteCosts(product=1.2, transform=4.0))
AARCH64 = AbiCapabilities(
    isas=("i8mm", "dotprod", "fp16", "neon", "portable"),
    baseline=("neon", "portable"),
    machine="aarch64",
    half="fp16",
    costs=_ARM_64_COSTS,
    dot_products=("i8mm", "dotprod"),
)
# The toolchain compiles everything for NEON and VFPv4.
ARMHF = AbiCapabilities(
    isas=("neonv7", "portable"), baseline=("neonv7", "portable"), machine="armv7l", costs=_ARM_32_COSTS
)
# Libraries are compiled for rv64gc, and what a processor of the ABI may have beside that is found out when they run.
RISCV64 = AbiCapabilities(isas=("rvv", "portable"), baseline=("portable",), machine="riscv64")
# Every processor has NEON; some of the first have no fused sums.
ARM_ANDROID = replace(ARMHF, baseline=("portable",), machine="")

# Modules for browsers and Node. What a module holds, an engine checks before it runs any of it: a module with vectors
# needs an engine with vectors, and no processor is asked.
WASM32 = AbiCapabilities(isas=("portable",), baseline=("portable",), machine="wasm32", object_format="wasm")
WASM32_SIMD = replace(
    WASM32,
    isas=("simd128", "portable"),
    baseline=("simd128", "portable"),
    costs=Costs(bytes=ByteCosts()),
)


def host(machine: str) -> AbiCapabilities:
    """Those of a machine by its architecture alone, so that all machines of one architecture build the same."""
    for known in (X86_64, AARCH64, ARMHF, RISCV64):
        if known.machine == machine:
            return replace(known, machine="")
    return AbiCapabilities(isas=("portable",), baseline=("portable",))


def of_compiler(defined: Collection[str]) -> AbiCapabilities:
    """Those of what a compiler makes, by the macros that it defines."""
    if {"__APPLE__", "__MACH__"} <= set(defined):
        return replace(_processor(defined), object_format="macho")
    return _processor(defined)


def _processor(defined: Collection[str]) -> AbiCapabilities:
    if "__x86_64__" in defined:
        return X86_64
    if "__aarch64__" in defined:
        return AARCH64
    if {"__arm__", "__ANDROID__"} <= set(defined):
        return ARM_ANDROID
    if {"__arm__", "__ARM_NEON", "__ARM_FEATURE_FMA", "__ARM_PCS_VFP"} <= set(defined):
        return ARMHF
    if {"__riscv", "__LP64__", "__clang__"} <= set(defined):  # the kernels need the vectors of Clang
        return RISCV64
    return AbiCapabilities(isas=("portable",), baseline=("portable",))


ABIS = MappingProxyType(
    {
        "host": replace(host(platform.machine()), title="the build machine"),
        "aarch64-linux-gnu": replace(AARCH64, title="64-bit ARM Linux"),
        "arm-linux-gnueabihf": replace(ARMHF, title="32-bit ARM Linux with hardware floating point"),
        "riscv64-linux-gnu": replace(RISCV64, title="64-bit RISC-V Linux"),
        "arm64-v8a": replace(AARCH64, title="64-bit ARM Android"),
        "armeabi-v7a": replace(ARM_ANDROID, title="32-bit ARM Android"),
        "x86_64": replace(X86_64, title="64-bit x86 Android; Linux on such a machine is `host`"),
        "wasm32": replace(WASM32, title="WebAssembly without vectors"),
        "wasm32-simd": replace(WASM32_SIMD, title="WebAssembly with vectors, for browsers and Node"),
        "wasm32-relaxed-simd": replace(WASM32_SIMD, title="WebAssembly with vectors and fused sums"),
        "wasm32-simd-threads": replace(WASM32_SIMD, title="WebAssembly with vectors and threads"),
        "wasm32-relaxed-simd-threads": replace(WASM32_SIMD, title="WebAssembly with vectors, fused sums and threads"),
    }
)
