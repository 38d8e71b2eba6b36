"""Networks described layer by layer, as TensorLayer has them, with their weights, made into kmodels.

from buildtool.targets.k210 import layers

x = layers.Input((28, 28, 1))
y = layers.Conv2d(16, (3, 3), act="relu", name="conv1")(x)
y = layers.MaxPool2d((2, 2), (2, 2))(y)
y = layers.Dense(10, act="softmax", name="out")(layers.Flatten()(y))
model = layers.Model(x, y, name="digits")
model.load_weights("digits.npz")
layers.save_kmodel(model, "digits.kmodel", pictures, quantiser="kld")
"""

from __future__ import annotations

from buildtool.targets.k210.layers.kinds import (
    Activation,
    Add,
    BatchNorm,
    Concat,
    Conv2d,
    Dense,
    DepthwiseConv2d,
    Dropout,
    Flatten,
    GlobalMaxPool2d,
    GlobalMeanPool2d,
    Input,
    MaxPool2d,
    MeanPool2d,
    Reshape,
    Softmax,
    UpSampling2d,
    ZeroPad2d,
)
from buildtool.targets.k210.layers.model import Model
from buildtool.targets.k210.layers.packing import QUANTISERS, Packed, c_array, pack, save_kmodel
from buildtool.targets.k210.layers.samples import pictures
from buildtool.targets.k210.layers.saved_models import load

__all__ = [
    "QUANTISERS",
    "Activation",
    "Add",
    "BatchNorm",
    "Concat",
    "Conv2d",
    "Dense",
    "DepthwiseConv2d",
    "Dropout",
    "Flatten",
    "GlobalMaxPool2d",
    "GlobalMeanPool2d",
    "Input",
    "MaxPool2d",
    "MeanPool2d",
    "Model",
    "Packed",
    "Reshape",
    "Softmax",
    "UpSampling2d",
    "ZeroPad2d",
    "c_array",
    "load",
    "pack",
    "pictures",
    "save_kmodel",
]
