"""MACE Micro's C++ interface to a model: a header beside micro.h."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool import resources
from buildtool.targets.micro.emitting.model import Border, borders, identifier
from buildtool.targets.micro.network import Network
from buildtool.targets.micro.planning import Plan


def headers(networks: Sequence[tuple[Network, Plan]]) -> dict[str, bytes]:
    """By file name."""
    found = {"micro.h": (resources.native_dir() / "micro" / "mace" / "micro.h").read_bytes()}
    for network, plan in networks:
        found[f"micro_{identifier(network.name)}.h"] = _engine(network, plan).encode()
    return found


def _engine(network: Network, plan: Plan) -> str:
    model = identifier(network.name)
    inputs, outputs = borders(network, plan)
    guard = f"MICRO_{model.upper()}_H_"
    lines = [
        f"// MACE Micro's interface to the model {network.name}. Generated: do not edit.",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f'#include "{model}.h"',
        '#include "micro.h"',
        "",
        f"namespace micro {{\nnamespace {model} {{",
        "",
        "inline MaceStatus GetMicroEngineSingleton(MaceMicroEngine** engine) {",
        *_table("inputs", inputs),
        *_table("outputs", outputs),
        f"  static MaceMicroEngine singleton({model}_invoke, inputs, {len(inputs)}, outputs, {len(outputs)});",
        "  *engine = &singleton;",
        "  return MACE_SUCCESS;",
        "}",
        "",
        f"}}  // namespace {model}\n}}  // namespace micro",
        "",
        f"#endif  // {guard}",
    ]
    return "\n".join(lines) + "\n"


def _table(name: str, found: Sequence[Border]) -> list[str]:
    dims = [
        f"  static const int32_t {name}_dims_{at}[] = {{{', '.join(map(str, border.tensor.shape))}}};"
        for at, border in enumerate(found)
    ]
    rows = ", ".join(
        f"{{const_cast<void*>(static_cast<const void*>({border.name})), {border.tensor.bytes}, {name}_dims_{at}, "
        f"{len(border.tensor.shape)}}}"
        for at, border in enumerate(found)
    )
    return [*dims, f"  static const Border {name}[] = {{{rows}}};"]
