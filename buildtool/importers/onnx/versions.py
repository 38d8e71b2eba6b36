"""Brings a model to an opset that the handlers know.

The handlers know the meaning of their operators in every opset from 7 to 28. Models of other opsets are converted with
the converter of the onnx package; local functions are inlined, since no handler knows them.
"""

from __future__ import annotations

import onnx
import onnx.inliner
import onnx.version_converter
from onnx import ModelProto

from buildtool.errors import ModelFileError, UnsupportedError, Where

OLDEST_OPSET = 7
NEWEST_OPSET = 28


def adjust(model: ModelProto, where: Where) -> ModelProto:
    """The model with an opset that the handlers know and without local functions."""
    if model.functions:
        model = _inlined(model, where)
    opsets = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if len(opsets) > 1:
        raise ModelFileError("the model imports the default operator set twice", where=where, remedy="export it again")
    if not opsets or opsets[0] < 1:
        raise ModelFileError(
            "the model does not say which operator set it uses",
            where=where,
            remedy="the file is damaged or was not made by an ONNX exporter: export it again",
        )
    if OLDEST_OPSET <= opsets[0] <= NEWEST_OPSET:
        return model
    return _converted(model, opsets[0], where)


def _inlined(model: ModelProto, where: Where) -> ModelProto:
    try:
        return onnx.inliner.inline_local_functions(model)
    except Exception as problem:  # the package raises its own and built-in errors alike
        raise ModelFileError(
            f"the functions of the model cannot be put in place: {_first_line(problem)}",
            where=where,
            remedy="export the model without local functions",
        ) from problem


def _converted(model: ModelProto, opset: int, where: Where) -> ModelProto:
    target = OLDEST_OPSET if opset < OLDEST_OPSET else NEWEST_OPSET
    try:
        onnx.checker.check_model(model)  # the converter trusts what it is given
        return onnx.version_converter.convert_version(model, target)
    except Exception as problem:  # the package raises its own and built-in errors alike
        raise UnsupportedError(
            f"the model uses operator set {opset}, and converting it to {target} failed: {_first_line(problem)}",
            where=where,
            rule=f"operator sets {OLDEST_OPSET} to {NEWEST_OPSET} are known",
            remedy=f"export the model with an operator set from {OLDEST_OPSET} to {NEWEST_OPSET}",
        ) from problem


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
