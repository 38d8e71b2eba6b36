"""Writes a program of PyTorch as ONNX. Run as a script by `exporting`: it imports PyTorch, and nothing of Lathe.

The argument is a JSON object: `file`, `kind` (exported, script), `target` and, for scripts, `inputs`, each with `name`,
`shape`, `dtype` and the axes that are `bounded`. Inputs are called as the arguments of `forward`, outputs `output`, or
`output_0` and so on. What goes wrong is the last line on stderr, and the exit code is 1.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any


def main() -> int:
    order: dict[str, Any] = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    try:
        (_from_program if order["kind"] == "exported" else _from_script)(order)
    except Exception as problem:  # the process that started this one reports whatever PyTorch raises
        cause: BaseException = problem
        while cause.__cause__ is not None:  # PyTorch wraps what happened in advice about its own stages
            cause = cause.__cause__
        sys.stderr.write(f"{type(cause).__name__}: {told(str(cause))}\n")
        return 1
    return 0


def told(message: str) -> str:
    """The line that tells what happened: the first one, or the last one below the call stack of a script."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [""]
    return lines[-1 if any(line.startswith("Traceback of TorchScript") for line in lines) else 0]


def _from_program(order: dict[str, Any]) -> None:
    import torch

    program = torch.export.load(order["file"])
    names = _output_names(len(program.graph_signature.user_outputs))
    exported = torch.onnx.export(program, (), dynamo=True, output_names=names, verbose=False)
    exported.save(order["target"])


def _from_script(order: dict[str, Any]) -> None:
    import torch

    script = torch.jit.load(order["file"], map_location="cpu").eval()
    known = [argument.name for argument in script.forward.schema.arguments[1:]]
    given = {item["name"]: item for item in order["inputs"]}
    if unknown := sorted(given.keys() - set(known)):
        raise ValueError(f"forward has no argument {', '.join(unknown)}: its arguments are {', '.join(known)}")
    names = [name for name in known if name in given]
    generator = torch.Generator().manual_seed(0)
    examples = tuple(_example(given[name], generator) for name in names)
    with torch.no_grad():
        outputs = script(*examples)
    count = len(outputs) if isinstance(outputs, (tuple, list)) else 1
    torch.onnx.export(
        script,
        examples,
        order["target"],
        dynamo=False,
        input_names=names,
        output_names=_output_names(count),
        dynamic_axes={name: {axis: f"{name}_{axis}" for axis in given[name]["bounded"]} for name in names},
    )


def _output_names(count: int) -> list[str]:
    return ["output"] if count == 1 else [f"output_{number}" for number in range(count)]


def _example(item: dict[str, Any], generator: Any) -> Any:
    import torch

    dtype = getattr(torch, item["dtype"])
    if dtype.is_floating_point:
        return torch.rand(item["shape"], generator=generator).to(dtype)
    return torch.zeros(item["shape"], dtype=dtype)


if __name__ == "__main__":
    sys.exit(main())
