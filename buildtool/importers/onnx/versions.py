"""Brings a model to an opset that the handlers know.

The handlers know the meaning of their operators in every opset from 7 to 28. Older models are upgraded, newer ones go
through the converter of the onnx package; local functions are inlined, since no handler knows them.
"""

from __future__ import annotations

import onnx
import onnx.version_converter
from onnx import ModelProto

from buildtool.errors import LatheError, ModelFileError, UnsupportedError, Where
from buildtool.importers.onnx import oldest_versions
from buildtool.importers.onnx.functions import inlined
from buildtool.importers.onnx.tensors import text_of

OLDEST_OPSET = oldest_versions.TARGET
NEWEST_OPSET = 28
_DEFAULT = ("", "ai.onnx")
_KALDI = "kaldi"  # in the name of the converter, and in its domains
KALDI_DOMAIN = "ai.kaldi.dnn"


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
    oldest = opset < OLDEST_OPSET
    target = OLDEST_OPSET if oldest else NEWEST_OPSET
    try:
        onnx.checker.check_model(model)  # what follows trusts what it is given
        if oldest:
            return oldest_versions.upgrade(model, _DEFAULT, where)
        return onnx.version_converter.convert_version(model, target)
    except LatheError:
        raise
    except Exception as problem:  # the package raises its own and built-in errors alike
        raise UnsupportedError(
            f"the model uses operator set {opset}, and converting it to {target} failed: {_first_line(problem)}",
            where=where,
            rule=f"operator sets {OLDEST_OPSET} to {NEWEST_OPSET} are known",
            remedy=f"export the model with an operator set from {OLDEST_OPSET} to {NEWEST_OPSET}",
        ) from problem


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
