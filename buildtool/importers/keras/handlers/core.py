"""Dense layers, embeddings, and what leaves its input as it is when a model is used."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.importers.builder import Tensor
from buildtool.importers.einsum import contracted
from buildtool.importers.keras.activation import activated
from buildtool.importers.keras.registry import handler
from buildtool.importers.keras.values import (
    array,
    floating,
    number,
    only,
    optional_weight,
    plus,
    refuse_keywords,
    tensors,
    weight,
)
from buildtool.importers.spatial import NO_ACTIVATION
from buildtool.importers.step import Step
from buildtool.ir.types import DType

_ONLY_TRAINED = (
    "ActivityRegularization",
    "AlphaDropout",
    "AugMix",
    "CutMix",
    "Dropout",
    "Equalization",
    "GaussianDropout",
    "GaussianNoise",
    "Identity",
    "InputLayer",
    "MixUp",
    "RandAugment",
    "RandomBrightness",
    "RandomContrast",
    "RandomColorDegeneration",
    "RandomColorJitter",
    "RandomElasticTransform",
    "RandomErasing",
    "RandomGaussianBlur",
    "RandomGrayscale",
    "RandomHue",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterization",
    "RandomSaturation",
    "RandomSharpness",
    "RandomShear",
    "RandomFlip",
    "RandomHeight",
    "RandomRotation",
    "RandomTranslation",
    "RandomWidth",
    "RandomZoom",
    "Solarization",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "StochasticDepth",
)


@handler(*_ONLY_TRAINED)
def unchanged(step: Step) -> Tensor:
    dict(step.node.attributes)  # whatever they say: they are for training
    return only(step)


@handler("Masking")
def masking(step: Step) -> Tensor:
    """What is masked becomes 0: steps in which every number is the one that stands for nothing."""
    x = floating(step, only(step))
    mask = array(step, number(step, "mask_value", 0.0))
    differs = step.emit("cast", step.emit("logical_not", step.emit("equal", x, mask)), to=x.dtype)
    kept = step.emit("reduce_max", differs, axes=(x.rank - 1,), keepdims=True)
    return step.emit("mul", x, kept)


@handler("Functional", "Model", "Pipeline", "Sequential")
def inner_model(step: Step) -> Sequence[Tensor]:
    """Its nodes precede this one, which gives their results the names of its outputs."""
    return tensors(step)


@handler("Dense")
def dense(step: Step) -> Tensor:
    x, kernel, bias = floating(step, only(step)), weight(step, "kernel"), optional_weight(step, "bias")
    if kernel.rank != 2:
        step.malformed(f"its kernel has rank {kernel.rank}, not 2")
    rest = () if bias is None else (bias,)
    return activated(step, step.emit("fully_connected", x, step.transpose(kernel, (1, 0)), *rest, **NO_ACTIVATION))


@handler("EinsumDense")
def einsum_dense(step: Step) -> Tensor:
    y = contracted(step, step.text("equation"), [floating(step, only(step)), weight(step, "kernel")])
    bias = optional_weight(step, "bias")
    return activated(step, y if bias is None else plus(step, y, bias))


@handler("Embedding")
def embedding(step: Step) -> Tensor:
    return _looked_up(step)


def _looked_up(step: Step) -> Tensor:
    x = only(step)
    places = x if x.dtype in (DType.S32, DType.S64) else step.emit("cast", x, to=DType.S32)
    return step.emit("gather", weight(step, "embeddings"), places, axis=0)


@handler("ReversibleEmbedding")
def reversible_embedding(step: Step) -> Tensor:
    """Called with `reverse` it gives how near its input is to each word."""
    if not step.integer("call.reverse", 0):
        return _looked_up(step)
    x, kernel = floating(step, only(step)), optional_weight(step, "reverse_embeddings")
    rows = weight(step, "embeddings") if kernel is None else step.transpose(kernel, (1, 0))
    y = step.emit("fully_connected", x, rows, **NO_ACTIVATION)
    limit = number(step, "logit_soft_cap", 0.0)
    if not limit:
        return y
    return step.emit("mul", step.emit("tanh", step.emit("mul", y, array(step, 1 / limit))), array(step, limit))


@handler("SpectralNormalization")
def wrapped(step: Step) -> Sequence[Tensor]:
    """The weights in the file are those that training scaled."""
    return step.run_body(step.body("layer"), [only(step)]) or ()


@handler("Activation")
def activation(step: Step) -> Tensor:
    return activated(step, floating(step, only(step)))


@handler("Lambda")
def code(step: Step) -> Tensor:
    refuse_keywords(step)
    step.unsupported(
        "a Lambda layer holds Python code, which is not executed",
        "write it with layers (Rescaling, Reshape, Activation …) or as a layer class of your own with an operator of "
        "that name (op_paths); or save the model for TensorFlow, frozen or as .tflite, where it is operators",
    )


@handler("TFOpLambda", "SlicingOpLambda")
def function(step: Step) -> Tensor:
    step.unsupported(
        f"the function '{step.text('function', '?')}' of TensorFlow is used in the model instead of a layer",
        "write it with layers (Add, Multiply, Rescaling, Reshape …), or save the model for TensorFlow or as .tflite",
    )
