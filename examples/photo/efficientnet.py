"""EfficientNet-Lite0 as an ONNX model, from the weights of a PyTorch checkpoint: PyTorch itself is not needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from buildtool.targets.max7800x.checkpoints import torch_archive

SIZE, CLASSES = 224, 1000
#: Of each stage: the stride of its first block, and blocks.
STAGES = ((1, 1), (2, 2), (2, 2), (2, 3), (1, 3), (2, 4), (1, 1))
EPSILON = 1e-3


class Network:
    """Nodes that are appended one after the other; `value` is the output of the last one."""

    def __init__(self, weights: dict[str, npt.NDArray[np.float32]]) -> None:
        self.weights, self.nodes, self.value = weights, list[onnx.NodeProto](), "image"
        self.used: dict[str, npt.NDArray[np.float32]] = {"zero": np.float32(0), "six": np.float32(6)}  # type: ignore[dict-item]

    def add(self, kind: str, parameters: list[str], others: tuple[str, ...] = (), **attributes: object) -> None:
        self.used |= {name: self.weights[name] for name in parameters}
        result = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self.value, *parameters, *others], [result], result, **attributes))
        self.value = result

    def convolution(self, name: str, norm: str, stride: int = 1, limited: bool = True) -> None:
        """With batch normalisation, and with a limit of 0 and 6 where asked for."""
        outputs, _, height, width = self.weights[f"{name}.weight"].shape
        sizes = {"kernel_shape": [height, width], "strides": [stride, stride], "auto_pad": "SAME_UPPER"}
        depthwise = "_depthwise" in name
        self.add("Conv", [f"{name}.weight"], group=outputs if depthwise else 1, **sizes)
        kinds = ("weight", "bias", "running_mean", "running_var")
        self.add("BatchNormalization", [f"{norm}.{kind}" for kind in kinds], epsilon=EPSILON)
        if limited:
            self.add("Clip", [], ("zero", "six"))

    def block(self, name: str, stride: int) -> None:
        """Expansion (but for the first block), a convolution per channel, projection; a sum where shapes allow it."""
        before = self.value
        if f"{name}._expand_conv.weight" in self.weights:
            self.convolution(f"{name}._expand_conv", f"{name}._bn0")
        self.convolution(f"{name}._depthwise_conv", f"{name}._bn1", stride)
        self.convolution(f"{name}._project_conv", f"{name}._bn2", limited=False)
        expand = self.weights.get(f"{name}._expand_conv.weight")
        if stride == 1 and expand is not None and expand.shape[1] == len(self.weights[f"{name}._project_conv.weight"]):
            self.add("Add", [], (before,))


def write_model(checkpoint: Path, file: Path) -> None:
    weights = {name: np.asarray(array) for name, array in torch_archive.read(checkpoint).items()}
    network = Network(weights)
    network.convolution("_conv_stem", "_bn0", 2)
    number = 0
    for first_stride, blocks in STAGES:
        for index in range(blocks):
            network.block(f"_blocks.{number}", first_stride if index == 0 else 1)
            number += 1
    network.convolution("_conv_head", "_bn1")
    network.add("GlobalAveragePool", [])
    network.add("Flatten", [], axis=1)
    network.add("Gemm", ["_fc.weight", "_fc.bias"], transB=1)
    network.add("Softmax", [], axis=1)
    graph = helper.make_graph(
        [*network.nodes, helper.make_node("Identity", [network.value], ["probabilities"])],
        "efficientnet_lite0",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in network.used.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
