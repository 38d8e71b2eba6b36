"""The zoo: five well-known networks with seeded random weights, made without any framework.

The layouts are those of torchvision (MobileNet v1: of its paper). `size` is the edge of the square input and `width`
scales the channels, so that tests can use small relatives. `python -m tests.zoo.networks OUT [--size N]` writes files.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import onnx

from tests.zoo.builder import GraphBuilder, Value

CLASSES = 1000
_SOURCES = (Path(__file__), Path(__file__).with_name("builder.py"))


class Network:
    """The state of writing one network: the builder, and how wide it gets."""

    def __init__(self, name: str, seed: int, size: int, width: float) -> None:
        self.graph = GraphBuilder(name, seed, (1, 3, size, size))
        self._width = width

    def wide(self, channels: int) -> int:
        """Channels after scaling; multiples of 8, so that halves and groups stay whole."""
        return channels if self._width == 1 else max(8, round(channels * self._width / 8) * 8)

    def conv_bn(self, x: Value, channels: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> Value:
        return self.graph.batch_norm(self.graph.conv(x, channels, kernel, stride, groups))

    def conv_bn_relu(self, x: Value, channels: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> Value:
        return self.graph.relu(self.conv_bn(x, channels, kernel, stride, groups))

    def conv_bn_relu6(self, x: Value, channels: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> Value:
        return self.graph.relu6(self.conv_bn(x, channels, kernel, stride, groups))


def mobilenet_v1(net: Network) -> Value:
    """Depthwise and pointwise convolutions in turn."""
    graph, wide = net.graph, net.wide
    x = net.conv_bn_relu(graph.input, wide(32), 3, 2)
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for channels, stride in plan:
        x = net.conv_bn_relu(x, x.channels, 3, stride, groups=x.channels)
        x = net.conv_bn_relu(x, wide(channels), 1)
    return graph.linear(graph.flatten(graph.global_average_pool(x)), CLASSES)


def mobilenet_v2(net: Network) -> Value:
    """Inverted residuals with ReLU6; flattened by a view."""
    graph, wide = net.graph, net.wide
    x = net.conv_bn_relu6(graph.input, wide(32), 3, 2)
    plan = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, channels, repeats, first_stride in plan:
        for index in range(repeats):
            stride = first_stride if index == 0 else 1
            block, hidden = x, x.channels * expansion
            if expansion != 1:
                block = net.conv_bn_relu6(block, hidden, 1)
            block = net.conv_bn_relu6(block, hidden, 3, stride, groups=hidden)
            block = net.conv_bn(block, wide(channels), 1)
            x = graph.add(x, block) if stride == 1 and block.channels == x.channels else block
    x = net.conv_bn_relu6(x, wide(1280), 1)
    return graph.linear(graph.flatten_by_view(graph.global_average_pool(x)), CLASSES)


def squeezenet_v11(net: Network) -> Value:
    """Fire modules: no batch normalisation, pools that round up."""
    graph, wide = net.graph, net.wide

    def fire(x: Value, squeeze: int, expand: int) -> Value:
        x = graph.relu(graph.conv(x, wide(squeeze), 1, bias=True))
        left = graph.relu(graph.conv(x, wide(expand), 1, bias=True))
        right = graph.relu(graph.conv(x, wide(expand), 3, bias=True))
        return graph.concat([left, right])

    x = graph.relu(graph.conv_padded(graph.input, wide(64), 3, 2, pad=0))
    stages = [[(16, 64), (16, 64)], [(32, 128), (32, 128)], [(48, 192), (48, 192), (64, 256), (64, 256)]]
    for stage in stages:
        x = graph.max_pool(x, ceil_mode=True)
        for squeeze, expand in stage:
            x = fire(x, squeeze, expand)
    x = graph.relu(graph.conv(x, CLASSES, 1, bias=True))
    return graph.flatten(graph.global_average_pool(x))


def resnet18(net: Network) -> Value:
    """Basic blocks with a projection where the shape changes."""
    graph, wide = net.graph, net.wide
    x = graph.max_pool(net.conv_bn_relu(graph.input, wide(64), 7, 2), pad=1)
    for channels, first_stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
        for stride in (first_stride, 1):
            block = net.conv_bn_relu(x, wide(channels), 3, stride)
            block = net.conv_bn(block, wide(channels), 3)
            projects = stride != 1 or x.channels != block.channels
            x = graph.relu(graph.add(block, net.conv_bn(x, wide(channels), 1, stride) if projects else x))
    return graph.linear(graph.flatten(graph.global_average_pool(x)), CLASSES)


def shufflenet_v2(net: Network) -> Value:
    """Channel split and shuffle, both with the shape arithmetic of exporters around them."""
    graph, wide = net.graph, net.wide
    x = graph.max_pool(net.conv_bn_relu(graph.input, wide(24), 3, 2), pad=1)
    for channels, repeats, halve in [
        (116, 4, graph.slice_in_two),
        (232, 8, graph.split_in_two),
        (464, 4, graph.split_in_two),
    ]:
        branch = wide(channels) // 2
        for index in range(repeats):
            stride = 2 if index == 0 else 1
            if stride == 1:
                left, right = halve(x)
            else:
                left, right = net.conv_bn(x, x.channels, 3, 2, groups=x.channels), x
                left = net.conv_bn_relu(left, branch, 1)
            right = net.conv_bn_relu(right, branch, 1)
            right = net.conv_bn(right, branch, 3, stride, groups=branch)
            right = net.conv_bn_relu(right, branch, 1)
            x = _shuffle(graph, graph.concat([left, right]))
    x = net.conv_bn_relu(x, wide(1024), 1)
    return graph.linear(graph.spatial_mean(x), CLASSES)


def _shuffle(graph: GraphBuilder, x: Value) -> Value:
    """`n, c, h, w = x.shape; x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)`."""
    n, c, h, w = (graph.dimension(x, axis) for axis in range(4))
    half = x.channels // 2
    pairs = graph.view(x, [n, 2, graph.integer("Div", c, 2), h, w], (x.shape[0], 2, half, *x.shape[2:]))
    return graph.view(graph.transpose(pairs, (0, 2, 1, 3, 4)), [n, c, h, w], x.shape)


NETWORKS: dict[str, Callable[[Network], Value]] = {
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "squeezenet_v11": squeezenet_v11,
    "resnet18": resnet18,
    "shufflenet_v2": shufflenet_v2,
}


def build(name: str, size: int = 224, width: float = 1.0) -> onnx.ModelProto:
    """One network of the zoo. The same arguments give the same bytes."""
    net = Network(name, seed=1234, size=size, width=width)
    return net.graph.model(NETWORKS[name](net))


def cached(name: str, folder: Path, size: int = 224, width: float = 1.0) -> Path:
    """The file of `build(...)` in `folder`, made on first need. Its name changes with the code that makes it."""
    key = hashlib.sha256(b"\0".join(source.read_bytes() for source in _SOURCES)).hexdigest()[:10]
    path = folder / f"{name}-{size}-{width:g}-{key}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}")  # several test workers may want the same file at once
        aside.write_bytes(build(name, size, width).SerializeToString(deterministic=True))
        aside.replace(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--size", type=int, default=224, help="edge of the input (default: 224)")
    parser.add_argument("--width", type=float, default=1.0, help="multiplies the channels (default: 1)")
    options = parser.parse_args()
    for name in NETWORKS:
        print(cached(name, options.out, options.size, options.width))


if __name__ == "__main__":
    main()
