"""Builds the programs of all cases with Paddle, runs them, and writes them with their results to `expected`.

Each case is a program of Paddle 2; Paddle's own translator makes one of Paddle 3 out of it, where it can.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["FLAGS_enable_pir_api"] = "0"  # noqa: SIM112 that is its name

import numpy as np
import paddle
from paddle.base import core

from tests.oracles.paddle import control_flow
from tests.oracles.paddle.archive import EXPECTED, Archive
from tests.oracles.paddle.cases import CASES
from tests.oracles.paddle.networks import NETWORKS, Network
from tests.oracles.paddle.programs import Case


def main() -> None:
    paddle.enable_static()
    EXPECTED.mkdir(exist_ok=True)
    with Archive(EXPECTED / "operators.zip") as archive:
        for case in CASES:
            _compute(case, archive)
    with Archive(EXPECTED / "blocks.zip") as archive:
        control_flow.save_blocks(archive, _without_callstack, _translated)
    with Archive(EXPECTED / "searches.zip") as archive:
        control_flow.save_searches(archive, _without_callstack)
    with Archive(EXPECTED / "networks.zip") as archive:
        for network in NETWORKS:
            _run(network, archive)
    environment = {**os.environ, "FLAGS_enable_pir_api": "1"}
    subprocess.run([sys.executable, "-m", "tests.oracles.paddle.layers"], check=True, env=environment)
    versions = {"paddlepaddle": paddle.__version__, "numpy": np.__version__}
    (EXPECTED / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")


def _compute(case: Case, archive: Archive) -> None:
    program, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    fed, fetched, feeds, held = [], [], {}, {}
    with paddle.static.program_guard(program, startup), paddle.static.scope_guard(scope):
        block = program.global_block()
        slots: dict[str, list] = {}
        for slot, arrays in case.tensors().items():
            for number, array in enumerate(arrays):
                name = f"{slot}_{number}"
                persistable = slot in case.weights
                variable = block.create_var(
                    name=name,
                    shape=array.shape,
                    dtype=str(array.dtype),
                    persistable=persistable,
                    need_check_feed=not persistable,
                    is_data=not persistable,
                )
                slots.setdefault(slot, []).append(variable)
                if persistable:
                    held[name] = array
                    scope.var(name).get_tensor().set(array, paddle.CPUPlace())
                else:
                    fed.append(variable)
                    feeds[name] = array
        made = {}
        for slot, count in {**case.outputs, **dict.fromkeys(case.unread, 1)}.items():
            dtype = case.dtypes.get(slot, "float32")
            made[slot] = [block.create_var(name=f"{slot}_out_{index}", dtype=dtype) for index in range(count)]
        for slot, source in case.aliases.items():
            made[slot] = slots[source]
        block.append_op(type=case.op, inputs=slots, outputs=made, attrs=dict(case.attributes))
        fetched = [variable for slot in case.outputs for variable in made[slot]]
        executor = paddle.static.Executor(paddle.CPUPlace())
        # Results of older operators carry lengths of sequences, with which they are no arrays.
        results = executor.run(program, feed=feeds, fetch_list=fetched, return_numpy=False)
        for variable, result in zip(fetched, results, strict=True):
            archive.put_array(f"{case.name}/{variable.name}.npy", np.array(result))
        normal = paddle.static.normalize_program(program, fed, fetched)
        archive.put(f"{case.name}/model.pdmodel", _without_callstack(normal.desc.serialize_to_string()))
        if held:
            archive.put(
                f"{case.name}/model.pdiparams",
                paddle.static.serialize_persistables(fed, fetched, executor, program=program),
            )
        _translated(case.name, normal, archive)


def _without_callstack(data: bytes) -> bytes:
    from paddle.base.proto import framework_pb2

    program = framework_pb2.ProgramDesc.FromString(data)
    program.ClearField("op_version_map")
    for block in program.blocks:
        for operator in block.ops:
            kept = [one for one in operator.attrs if not one.name.startswith("op_")]
            del operator.attrs[:]
            operator.attrs.extend(kept)
    return program.SerializeToString()


def _translated(name: str, program: paddle.static.Program, archive: Archive) -> None:
    """The program of Paddle 3; nothing where the translator does not know the operator."""
    try:
        translated = paddle.pir.translate_to_pir(program.desc)
    except Exception as problem:
        sys.stderr.write(f"{name}: no program of Paddle 3: {str(problem).strip().splitlines()[-1][:120]}\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        core.serialize_pir_program(translated, str(file), 1, True, False, True)
        archive.put(f"{name}/model.json", file.read_bytes())


def _run(network: Network, archive: Archive) -> None:
    executor = paddle.static.Executor(paddle.CPUPlace())
    program, names, fetched = paddle.static.load_inference_model(str(network.files()[0].with_suffix("")), executor)
    (result,) = executor.run(program, feed={names[0]: network.picture()}, fetch_list=fetched)
    archive.put_array(f"{network.name}.npy", network.sample(np.asarray(result)).astype(np.float32))


if __name__ == "__main__":
    main()
