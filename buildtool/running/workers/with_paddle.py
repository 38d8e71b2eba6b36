"""Models of Paddle; their weights stand beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

NEEDS = ("paddle",)


def prepare(request: Mapping[str, Any]) -> None:
    """Newer versions of Paddle read older programs only where that is set before they are loaded."""
    if request["model"].endswith(".pdmodel"):
        os.environ["FLAGS_enable_pir_api"] = "0"  # noqa: SIM112 that is its name


def compute(paddle: Any, request: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    paddle.enable_static()
    executor = paddle.static.Executor(paddle.CPUPlace())
    prefix = str(Path(request["model"]).with_suffix(""))
    program, _, targets = paddle.static.load_inference_model(prefix, executor)
    fed = dict(zip(request["inputs"], inputs, strict=True))
    by_name = {target.name: target for target in targets}
    asked = [by_name.get(name, name) for name in request["outputs"]]
    return list(executor.run(program, feed=fed, fetch_list=asked))
