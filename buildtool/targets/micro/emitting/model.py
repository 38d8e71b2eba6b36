"""The source and header of one model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro.definitions.loops import C_TYPES, literal
from buildtool.targets.micro.emitting import calls
from buildtool.targets.micro.emitting.rows import rows
from buildtool.targets.micro.network import Defined, Layer, Network, Tensor
from buildtool.targets.micro.planning import Plan


@dataclass(frozen=True)
class Border:
    """An input or output as C sees it."""

    name: str  # <model>_input, <model>_output_1
    tensor: Tensor
    offset: int

    @property
    def c_type(self) -> str:
        return C_TYPES[self.tensor.dtype]


def identifier(name: str) -> str:
    """A name as part of an identifier of C."""
    word = re.sub(r"\W", "_", name)
    return word if word[:1].isalpha() else f"m_{word}"


def borders(network: Network, plan: Plan) -> tuple[list[Border], list[Border]]:
    """Inputs and outputs; the first of each has no number."""
    model = identifier(network.name)

    def listed(word: str, tensors: Sequence[Tensor]) -> list[Border]:
        return [
            Border(f"{model}_{word}{f'_{at}' if at else ''}", tensor, plan.offset(network, tensor))
            for at, tensor in enumerate(tensors)
        ]

    return listed("input", network.inputs), listed("output", network.outputs)


def header(network: Network, plan: Plan) -> str:
    """What an application includes."""
    model = identifier(network.name)
    guard = f"{model.upper()}_H_"
    lines = [f"/* The model {network.name}, for applications. Generated: do not edit. */", f"#ifndef {guard}"]
    lines += [f"#define {guard}", "", "#include <stdint.h>", ""]
    inputs, outputs = borders(network, plan)
    for border in (*inputs, *outputs):
        lines += _macros(border)
    lines += [
        f"#define {model.upper()}_ARENA_BYTES {plan.size}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* Where inputs are written to. Running the model may overwrite them. */",
        *(f"extern {border.c_type}* const {border.name};" for border in inputs),
        "",
        "/* Where outputs are, until the model runs again. */",
        *(f"extern const {border.c_type}* const {border.name};" for border in outputs),
        "",
        "/* Runs the model. Not for two threads at a time: the memory is static. */",
        f"void {model}_invoke(void);",
        *_reset_declared(network),
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


def _reset_declared(network: Network) -> list[str]:
    if not network.states:
        return []
    named = ", ".join(each.name for each in network.states).replace("*/", "")
    model = identifier(network.name)
    return [
        "",
        f"/* Sets what the model keeps between runs to its initial value: {named}.",
        " * Call it before the first run, and where a new sequence begins. */",
        f"void {model}_reset(void);",
    ]


def _reset(network: Network, plan: Plan) -> Iterator[str]:
    """A state whose bytes are all equal, as zeros are, has no array."""
    if not network.states:
        return
    lines: list[str] = []
    for number, (state, value) in enumerate(network.states.items()):
        start, content = plan.offset(network, state), value.reshape(-1).view(np.uint8)
        source = str(content[0])
        if np.any(content != content[0]):
            source = f"state{number}[k]"
            yield from ("", *_array(f"state{number}", content))
        lines.append(f"  for (int k = 0; k < {state.bytes}; ++k) arena.bytes[{start} + k] = {source};")
    yield from ("", f"void {identifier(network.name)}_reset(void) {{", *lines, "}")


def _macros(border: Border) -> Iterator[str]:
    name, tensor = border.name.upper(), border.tensor
    yield f"#define {name}_SIZE {tensor.elements}"
    yield f"#define {name}_RANK {len(tensor.shape)}"
    yield f"#define {name}_SHAPE {{{', '.join(str(size) for size in tensor.shape)}}}"
    if tensor.dtype in ("int8", "uint8", "int16"):
        yield f"#define {name}_SCALE {calls.real(tensor.scale)}"
        yield f"#define {name}_ZERO_POINT {tensor.zero}"


def source(network: Network, plan: Plan, kernel_set: str, own: Set[Layer] = frozenset()) -> str:
    """Constants, the arena, and one function that calls kernels. `own`: layers with a kernel of their own."""
    model = identifier(network.name)
    inputs, outputs = borders(network, plan)
    lines = [
        f"/* The model {network.name}: constants, memory and the calls of its kernels. Generated: do not edit. */",
        f'#include "{model}.h"',
        "",
        *(['#include "definition.h"'] if any(isinstance(each, Defined) for each in network.layers) else []),
        *([f'#include "{model}_layers.h"'] if own else []),
        '#include "lathe_micro.h"',
        "",
    ]
    body: list[str] = []
    names = _Names(network)
    arrays: set[str] = set()
    for layer in network.layers:
        known = names.of(layer)
        made = calls.call(layer, _Places(network, plan), known, kernel_set)
        if layer in own:
            body += [f"  /* {_comment(layer)} */", f"  {_own_call(model, made, known[0])}"]
            continue
        for name, array in made.arrays:
            lines += [] if name in arrays else _array(name, array)
            arrays.add(name)
        lines += [] if layer in network.banding.twins else made.structures
        body += [f"  /* {_comment(layer)} */", *(f"  {line}" for line in made.calls)]
    lines += [
        "",
        f"static union {{\n  uint8_t bytes[{plan.size}];\n  uint64_t alignment;\n}} arena;",
        "",
        *(
            f"{each.c_type}* const {each.name} = ({each.c_type}*)(void*)(arena.bytes + {each.offset});"
            for each in inputs
        ),
        *(
            f"const {kind}* const {each.name} = (const {kind}*)(const void*)(arena.bytes + {each.offset});"
            for each in outputs
            for kind in [each.c_type]
        ),
        "",
        f"void {model}_invoke(void) {{",
        "  int8_t* const memory = (int8_t*)arena.bytes;",
        *body,
        "}",
        *_reset(network, plan),
    ]
    return "\n".join(lines) + "\n"


def own_sources(network: Network, plan: Plan, kernel_set: str, own: Set[Layer]) -> dict[str, str]:
    """By file name: each of these layers with its constants and its kernel, which the compiler then knows both."""
    model, names, found = identifier(network.name), _Names(network), dict[str, str]()
    declared: list[str] = []
    for layer in network.layers:
        known = names.of(layer)
        if layer not in own:
            continue
        made, name = calls.call(layer, _Places(network, plan), known, kernel_set), known[0]
        (kernel,) = made.kernels
        head = f"void {model}_{name}(const int8_t* x, int8_t* y, void* scratch)"
        declared.append(f"{head};")
        lines = [
            f"/* A layer of the model {network.name} with code of its own. Generated: do not edit. */",
            f'#include "{model}_layers.h"',
            "",
            '#include "lathe_micro.h"',
            "",
            *(line for array in made.arrays for line in _array(*array)),
            *made.structures,
            "",
            "/* The kernel as it is shared by other layers, compiled for these constants. */",
            "static void kernel(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer);",
            f"#define lm_{kernel} kernel",
            f'#include "lathe_{kernel}.c"',
            "",
            f"{head} {{ kernel(x, y, scratch, &{name}); }}",
        ]
        found[f"{model}_{name}.c"] = "\n".join(lines) + "\n"
    guard = f"{model.upper()}_LAYERS_H_"
    lines = [f"/* Layers of the model {network.name} with code of their own. Generated: do not edit. */"]
    lines += [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdint.h>",
        "",
        *declared,
        "",
        f"#endif /* {guard} */",
    ]
    return {f"{model}_layers.h": "\n".join(lines) + "\n", **found} if found else {}


def _own_call(model: str, made: calls.Call, name: str) -> str:
    (call,) = made.calls
    arguments = call[call.index("(") + 1 :].removesuffix(f", &{name});")
    return f"{model}_{name}({arguments});"


class _Names:
    """Layers are numbered as in the model; the shapes that the bands of one have are numbered, too."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._numbers: dict[Layer, int] = {}
        self._shapes: dict[Layer, int] = {}
        self._known: dict[Layer, tuple[str, str]] = {}

    def of(self, layer: Layer) -> tuple[str, str]:
        """Of its structure, and how those of its arrays begin."""
        twin = self._network.banding.twins.get(layer)
        if isinstance(twin, Layer):
            return self._known[twin]
        origin = self._network.origin(layer)
        number = self._numbers.setdefault(origin, len(self._numbers))
        shape = self._shapes.get(origin, 0)
        self._shapes[origin] = shape + 1
        self._known[layer] = (f"layer{number}_{shape}" if shape else f"layer{number}", f"layer{number}")
        return self._known[layer]


class _Places:
    """Expressions of C for where things are."""

    def __init__(self, network: Network, plan: Plan) -> None:
        self._network, self._plan = network, plan

    def tensor(self, tensor: Tensor) -> str:
        offset = self._plan.offset(self._network, tensor)
        place = f"memory + {offset}" if offset else "memory"
        kind = C_TYPES[tensor.dtype]
        return place if kind in ("int8_t", "uint8_t") else f"({kind}*)(void*)({place})"

    def work(self, layer: Layer) -> str:
        offset = self._plan.scratch.get(layer)
        return "0" if offset is None else f"memory + {offset}"


def _comment(layer: Layer) -> str:
    name = re.split(r"[;*]", layer.name)[0][-60:].replace("*/", "")
    shapes = " ".join("x".join(str(size) for size in tensor.shape) for tensor in layer.inputs)
    return f"{layer.kind} {shapes} -> {'x'.join(str(size) for size in layer.output.shape)}: {name}"


def _array(name: str, array: NDArray[Any]) -> Iterator[str]:
    """A constant array. 32-bit alignment lets kernels read words."""
    kind = C_TYPES[str(array.dtype)]
    aligned = " __attribute__((aligned(4)))" if array.dtype == np.int8 and array.size > 3 else ""
    yield f"static const {kind} {name}[{array.size}]{aligned} = {{"
    yield from rows(literal(number, kind) for number in array.tolist())
    yield "};"
