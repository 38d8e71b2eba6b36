"""The sources of kernels for one instruction set, out of native/micro."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool import resources
from buildtool.targets.micro.emitting import calls
from buildtool.targets.micro.network import Defined, Network
from buildtool.targets.micro.processors import Processor

DEFINITION = "definition"  # the header of functions that are made of definitions
PROCEDURES = "procedures"  # which that includes
HEADERS = ("fixed_point", "patch", "depthwise_rows", "dot", "pool_window", "places")


def kernels(networks: Sequence[Network], processor: Processor) -> dict[str, bytes]:
    """By file name: the kernels that networks call, the best of each for the processor, and their headers."""
    wanted = calls.kernels([layer for network in networks for layer in network.layers], processor.sets[0])
    defined = any(isinstance(layer, Defined) for network in networks for layer in network.layers)
    return of_names(wanted, processor, (DEFINITION, PROCEDURES) if defined else ())


def of_names(wanted: Sequence[str], processor: Processor, more: Sequence[str] = ()) -> dict[str, bytes]:
    """The same for kernels by their names; `more`: headers beside those that all have."""
    folder = resources.native_dir() / "micro"
    found = {"lathe_micro.h": (folder / "lathe_micro.h").read_bytes(), "lathe_micro_config.h": _config(processor)}
    headers = [*HEADERS, *more]
    for name, suffix in (*((name, "c") for name in wanted), *((name, "h") for name in headers)):
        for kernel_set in processor.sets:
            tail = "" if kernel_set == "portable" else f"_{kernel_set}"
            file = folder / "ops" / f"{name}{tail}.{suffix}"
            if file.is_file():
                found[f"{name}.{suffix}" if suffix == "h" else f"lathe_{name}.c"] = file.read_bytes()
                break
    return found


def _config(processor: Processor) -> bytes:
    """Which instruction set the kernels and packed weights are for."""
    has = {word: int(word in processor.sets) for word in ("dsp", "mve")}
    lines = [
        f"/* These sources are for {processor.title}. Generated: do not edit. */",
        "#ifndef LATHE_MICRO_CONFIG_H_",
        "#define LATHE_MICRO_CONFIG_H_",
        "",
        f"#define LATHE_MICRO_DSP {has['dsp']}",
        f"#define LATHE_MICRO_MVE {has['mve']}",
    ]
    checks = {"dsp": "__ARM_FEATURE_DSP", "mve": "__ARM_FEATURE_MVE"}
    for word, macro in checks.items():
        if has[word]:
            what = f'"these sources are for {processor.name}: compile with its flags"'
            lines += [f"#if !defined({macro})", f"#error {what}", "#endif"]
    return "\n".join([*lines, "", "#endif /* LATHE_MICRO_CONFIG_H_ */", ""]).encode()
