"""Exported graphs without their weights, small enough to be kept: weights become a seed, a mean and a deviation.

The structure is what exporters invent and importers get wrong; which random numbers fill it does not matter.
"""

from __future__ import annotations

import json

import numpy as np
import onnx
from onnx import numpy_helper

KEPT_ELEMENTS = 64
_MARK = "lathe.drawn"


def strip(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy whose large tensors of floating-point values are described in its metadata."""
    small = onnx.ModelProto()
    small.CopyFrom(model)
    described = {}
    del small.graph.value_info[:]
    del small.metadata_props[:]
    small.doc_string = ""
    for node in small.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for tensor in small.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.size > KEPT_ELEMENTS:
            described[tensor.name] = [list(values.shape), float(values.mean()), float(values.std())]
            tensor.CopyFrom(onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=[0]))
    small.metadata_props.add(key=_MARK, value=json.dumps(described))
    return small


def fill(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with drawn weights in the place of those that `strip` took out."""
    described = json.loads(next(entry.value for entry in model.metadata_props if entry.key == _MARK))
    drawn = np.random.default_rng(5)
    for tensor in model.graph.initializer:
        if tensor.name in described:
            shape, mean, deviation = described[tensor.name]
            values = drawn.normal(mean, deviation, shape).astype(np.float32)
            if mean > deviation:  # variances and scales stay positive
                values = np.abs(values)
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return model
