"""Every layer against what Keras gave, in files of Keras 2 and 3, before and after all passes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from buildtool.importers.keras import supported_operators
from buildtool.ir.operator import Array
from buildtool.passes.pipeline import optimise
from tests.importers.keras.harness import archive, expected, healthy, models, run

#: Other names of layers that have a case, and layers that do nothing when a model is used, like Dropout.
_MORE_NAMES = """
AlphaDropout AvgPool1D AvgPool2D AvgPool3D Convolution1D Convolution1DTranspose
Convolution3DTranspose Equalization SeparableConvolution1D
Convolution2D Convolution2DTranspose Convolution3D Deconv2D
Deconvolution2D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D
Identity MaxPool1D MaxPool2D MaxPool3D Model RandomBrightness RandomColorDegeneration
RandomColorJitter RandomContrast RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHeight RandomHue
RandomInvert RandomPerspective RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear
RandomTranslation RandomWidth RandomZoom SeparableConvolution2D SpatialDropout2D SpatialDropout3D
SyncBatchNormalization
"""
#: Tested with models of their own, in test_reading.py and test_applications.py.
_ELSEWHERE = frozenset({"GetItem", "LayerScale", "Masking", "QuantizeWrapper", "QuantizeWrapperV2", "StochasticDepth"})
#: TensorFlow reads the weights of its cubic resize from a table of 1024 places.
_COARSE = {"resizing-cubic-keras2.h5": 1e-3, "resizing-cubic-keras3.keras": 1e-3}


def _compare(found: Sequence[Array], wanted: Sequence[Array], atol: float) -> None:
    assert len(found) == len(wanted)
    for result, array in zip(found, wanted, strict=True):
        assert result.shape == array.shape
        assert result.dtype == array.dtype
        np.testing.assert_allclose(result, array, rtol=2e-5, atol=atol)


@pytest.mark.parametrize("name", models())
def test_results(name: str, tmp_path: Path) -> None:
    given, wanted = expected(name)
    graph = healthy(name, tmp_path).graph
    atol = _COARSE.get(name, 5e-6)
    _compare(run(graph, given), wanted, atol)
    optimise(graph)
    _compare(run(graph, given), wanted, atol)


def test_every_layer_has_a_case() -> None:
    """Descriptions stand in the files as plain text."""
    tested = {
        found.decode() for name in models() for found in re.findall(rb'"class_name": "(?:\w+>)?(\w+)"', archive()[name])
    }
    layers = {name for name in supported_operators() if not name.startswith("ops.")}
    assert sorted(layers - tested - _ELSEWHERE - set(_MORE_NAMES.split())) == []
