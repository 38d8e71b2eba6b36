"""What the conformance suite asks for and Lathe leaves out on purpose, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from tests.conformance.cases import ConformanceCase

_TRAINING = "training"
_RANDOM = "random numbers"
_SEQUENCES = "sequences"
_OPTIONALS = "optional values"
_STRINGS = "strings"
_NARROW = "element types of 8-bit floats or below 8 bits"
_IMAGES = "decoding of image files"
_PREVIEW = "operators of preview and traditional machine learning domains"

_OPERATORS = {
    **dict.fromkeys(
        ("Adagrad", "Adam", "Gradient", "Momentum", "SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"), _TRAINING
    ),
    **dict.fromkeys(
        ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"), _RANDOM
    ),
    **dict.fromkeys(("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer"), _STRINGS),
    **dict.fromkeys(("Optional", "OptionalGetElement", "OptionalHasElement"), _OPTIONALS),
    "ImageDecoder": _IMAGES,
}
_DOMAINS = {
    "ai.onnx.preview.training": _TRAINING,
    "ai.onnx.preview": _PREVIEW,
    "ai.onnx.ml": _PREVIEW,
}
_KINDS = {"sequence_type": _SEQUENCES, "optional_type": _OPTIONALS, "sparse_tensor_type": "sparse tensors"}


def reason(case: ConformanceCase) -> str:
    """Why a case is left out; empty where it is not."""
    return next(_reasons(case), "")


def _reasons(case: ConformanceCase) -> Iterator[str]:
    for node in case.model.graph.node:
        if node.op_type in _OPERATORS:
            yield _OPERATORS[node.op_type]
        if node.domain in _DOMAINS:
            yield _DOMAINS[node.domain]
        if "Sequence" in node.op_type and node.op_type != "ReverseSequence":
            yield _SEQUENCES
        if node.op_type == "Dropout" and len(node.input) > 2 and "training" in case.name:
            yield _TRAINING
    # Losses are written out as functions in the expanded cases: the names of the cases tell.
    if case.name.startswith(("test_sce_", "test_nllloss_", "test_training_")):
        yield _TRAINING
    if case.name.startswith("test_bernoulli"):
        yield _RANDOM
    for value in (*case.model.graph.input, *case.model.graph.output):
        yield from _of_type(value.type)


def _of_type(kind: onnx.TypeProto) -> Iterator[str]:
    which = kind.WhichOneof("value")
    if which in _KINDS:
        yield _KINDS[which]
    if which == "tensor_type":
        name = onnx.TensorProto.DataType.Name(kind.tensor_type.elem_type)
        if name == "STRING":
            yield _STRINGS
        if name.startswith("FLOAT8") or name in ("INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1"):
            yield _NARROW
        if name.startswith("COMPLEX"):
            yield "complex numbers"
