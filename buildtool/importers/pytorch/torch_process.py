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

#: Tried one after the other as examples of numbers: counts, factors, and rates of audio.
_NUMBERS = (1, 2, 16, 8000, 16000, 0)


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
    given = [name for name in program.graph_signature.user_inputs if isinstance(name, str)]
    inputs = exported.model.graph.inputs
    if len(inputs) == len(given):  # the exporter renames an input that is an output, too
        for value, name in zip(inputs, given, strict=True):
            value.name = name
    exported.save(order["target"])


def _from_script(order: dict[str, Any]) -> None:
    import torch

    script = torch.jit.load(order["file"], map_location="cpu").eval()
    known = {argument.name: argument.type for argument in script.forward.schema.arguments[1:]}
    given = {item["name"]: item for item in order["inputs"]}
    if unknown := sorted(given.keys() - set(known)):
        raise ValueError(f"forward has no argument {', '.join(unknown)}: its arguments are {', '.join(known)}")
    names = [name for name in known if name in given]
    generator = torch.Generator().manual_seed(0)
    numbers = {name: kind for name in names if (kind := _kind_of_number(known[name]))}
    if numbers or len(names) < len(known):
        script = _called_with_tensors(script, names, numbers)
    examples, outputs = _examples(script, [given[name] for name in names], numbers, generator)
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


def _kind_of_number(type_: Any) -> str:
    """The Python type of an argument that is a number; empty where it is none."""
    kind = str(type_).removeprefix("Optional[").removesuffix("]")
    return kind if kind in ("int", "float", "bool") else ""


def _called_with_tensors(script: Any, names: list[str], numbers: dict[str, str]) -> Any:
    """A program that takes tensors of one element where `script` takes numbers; arguments not named keep defaults."""
    import torch

    class Called(torch.jit.ScriptModule):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.inner = script

    given = [f"{name}={numbers[name]}({name}.flatten()[0])" if name in numbers else f"{name}={name}" for name in names]
    called = Called()
    called.define(f"def forward({', '.join(['self', *names])}):\n    return self.inner({', '.join(given)})\n")
    return called.eval()


def _examples(script: Any, inputs: list[dict[str, Any]], numbers: dict[str, str], generator: Any) -> tuple[Any, Any]:
    """Examples that the program accepts, and what it gives: which numbers make sense is not in the file."""
    import torch

    tried = _NUMBERS if numbers else _NUMBERS[:1]
    for place, number in enumerate(tried):
        examples = tuple(_example(item, generator) for item in inputs)
        for item, example in zip(inputs, examples, strict=True):
            if item["name"] in numbers:
                example.fill_(number)
        try:
            with torch.no_grad():
                return examples, script(*examples)
        except Exception:  # whatever the program raises
            if place == len(tried) - 1:
                raise
    raise AssertionError


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
