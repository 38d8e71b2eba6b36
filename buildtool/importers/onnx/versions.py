"""Brings a model to an opset that the handlers know.

The handlers know the meaning of their operators in every opset from 7 to 28. Models of other opsets are converted with
the converter of the onnx package; local functions are inlined, since no handler knows them.
"""

from __future__ import annotations

import onnx
import onnx.version_converter
from onnx import ModelProto

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.onnx.functions import inlined
from buildtool.importers.onnx.tensors import text_of

OLDEST_OPSET = 7
NEWEST_OPSET = 28
_DEFAULT = ("", "ai.onnx")
_KALDI = "kaldi"  # in the name of the converter, and in its domains
KALDI_DOMAIN = "ai.kaldi.dnn"
#: Marks a PRelu of the operator sets before 7, where a row of slopes has one for each channel. The converter of the
#: package leaves them as they are; from 7 on such a row lies along the last axis.
SLOPE_PER_CHANNEL = "lathe_slope_per_channel"


def adjust(model: ModelProto, where: Where) -> ModelProto:
    """The model with an opset that the handlers know and without local functions."""
    if model.functions:
        model = inlined(model, where)
    _say_that_nodes_are_kaldis(model)
    opsets = [entry.version for entry in model.opset_import if entry.domain in _DEFAULT]
    if len(opsets) > 1:
        raise ModelFileError("the model imports the default operator set twice", where=where, remedy="export it again")
    if not opsets and (model.ir_version < 3 or all(node.domain not in _DEFAULT for node in model.graph.node)):
        # The oldest models say nothing, and mean the first one; others need none, where all operators are of vendors.
        opsets = [1 if model.ir_version < 3 else NEWEST_OPSET]
        model.opset_import.add(domain="", version=opsets[0])
    if not opsets or opsets[0] < 1:
        raise ModelFileError(
            "the model does not say which operator set it uses",
            where=where,
            remedy="the file is damaged or was not made by an ONNX exporter: export it again",
        )
    if OLDEST_OPSET <= opsets[0] <= NEWEST_OPSET:
        return model
    return _converted(model, opsets[0], where)


def _say_that_nodes_are_kaldis(model: ModelProto) -> None:
    """The first kaldi-onnx wrote its nodes without a domain: only the model says whose operators they are."""
    names = (model.producer_name, *(entry.domain for entry in model.opset_import))
    if not any(_KALDI in text_of(name) for name in names) or any(node.domain for node in model.graph.node):
        return
    for node in model.graph.node:
        node.domain = KALDI_DOMAIN
    others = [entry for entry in model.opset_import if entry.domain not in _DEFAULT]
    del model.opset_import[:]
    model.opset_import.extend(others)


def _converted(model: ModelProto, opset: int, where: Where) -> ModelProto:
    target = OLDEST_OPSET if opset < OLDEST_OPSET else NEWEST_OPSET
    try:
        onnx.checker.check_model(model)  # the converter trusts what it is given
        converted = onnx.version_converter.convert_version(model, target)
    except Exception as problem:  # the package raises its own and built-in errors alike
        raise UnsupportedError(
            f"the model uses operator set {opset}, and converting it to {target} failed: {_first_line(problem)}",
            where=where,
            rule=f"operator sets {OLDEST_OPSET} to {NEWEST_OPSET} are known",
            remedy=f"export the model with an operator set from {OLDEST_OPSET} to {NEWEST_OPSET}",
        ) from problem
    if opset < OLDEST_OPSET:
        for node in converted.graph.node:
            if node.op_type == "PRelu" and node.domain in _DEFAULT:
                node.attribute.append(onnx.helper.make_attribute(SLOPE_PER_CHANNEL, 1))
    return converted


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
