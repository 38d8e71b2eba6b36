"""One convolution of the KPU in loops over whole numbers of Python, taken from the bytes of a file by hand.

It shares no code with the package: bit fields, layouts and arithmetic are written once more, to be compared with.
"""

from __future__ import annotations

import struct


def bits(words: tuple[int, ...], word: int, low: int, count: int, signed: bool = False) -> int:
    value = words[word] >> low & ((1 << count) - 1)
    return value - (1 << count) if signed and value >= 1 << (count - 1) else value


def byte_place(unit: int, width: int, height: int, channel: int, y: int, x: int) -> int:
    """Where a byte of planes lies in the KPU's RAM."""
    if width <= 16:
        group, pitch, rows = 4, 16, 1
    elif width <= 32:
        group, pitch, rows = 2, 32, 1
    else:
        group, pitch, rows = 1, 0, (width + 63) // 64
    channel_start = (channel // group) * rows * height * 64 + (channel % group) * pitch
    return unit * 64 + channel_start + y * rows * 64 + x


class SlowConvolution:
    """The layer whose body begins at an offset of a file."""

    def __init__(self, file: bytes, body: int) -> None:
        self.flags, self.main_out, layer, weights, norms, act = struct.unpack_from("<6I", file, body)
        words = struct.unpack_from("<12Q", file, layer)
        self.depthwise = bits(words, 0, 3, 1)
        self.src, self.dst = bits(words, 1, 0, 15), bits(words, 1, 32, 15)
        self.ic, self.oc = bits(words, 2, 0, 10) + 1, bits(words, 2, 32, 10) + 1
        per_load = bits(words, 2, 48, 10) + 1
        self.w, self.h = bits(words, 3, 0, 10) + 1, bits(words, 3, 10, 9) + 1
        self.out_w, self.out_h = bits(words, 3, 32, 10) + 1, bits(words, 3, 42, 9) + 1
        self.k = 3 if bits(words, 4, 0, 3) else 1
        self.pool, self.pad_value = bits(words, 4, 4, 4), bits(words, 4, 24, 8)
        self.loads, para_size = bits(words, 5, 1, 6) + 1, bits(words, 5, 15, 17)
        self.shr_w, self.shr_x = bits(words, 9, 0, 4), bits(words, 9, 4, 4)
        self.arg_w, self.arg_x = bits(words, 9, 8, 24, True), bits(words, 9, 32, 24, True)
        self.arg_add = bits(words, 10, 0, 40, True)
        size, letter = (1, "B") if struct.unpack_from("<I", file, 4)[0] & 1 else (2, "H")
        sources = 1 if self.depthwise else self.ic
        count = sources * self.k * self.k
        self.weights = []
        for channel in range(self.oc):  # load by load, as the KPU fetches them
            start = weights + channel // per_load * para_size + channel % per_load * count * size
            self.weights.append(struct.unpack_from(f"<{count}{letter}", file, start))
        self.norms = struct.unpack_from(f"<{self.oc}Q", file, norms)
        self.segments = struct.unpack_from("<16Q", file, act)
        self.biases = file[act + 128 : act + 144]

    def accumulate(self, x: list[list[list[int]]], channel: int, y: int, column: int) -> int:
        """Step 1. `x` is [channel][row][column]."""
        total, kernel = 0, self.k * self.k
        for place, source in enumerate([channel] if self.depthwise else range(self.ic)):
            sum_x = sum_w = 0
            for ky in range(self.k):
                for kx in range(self.k):
                    row, at = y + ky - self.k // 2, column + kx - self.k // 2
                    inside = 0 <= row < self.h and 0 <= at < self.w
                    value = x[source][row][at] if inside else self.pad_value
                    weight = self.weights[channel][place * kernel + ky * self.k + kx]
                    total += value * weight
                    sum_x += value
                    sum_w += weight
            total += (self.arg_x * sum_x) // (1 << self.shr_x)
            total += (self.arg_w * sum_w) // (1 << self.shr_w)
            total += self.arg_add
        return total

    def batch_norm(self, channel: int, acc: int) -> int:
        """Step 2."""
        word = (self.norms[channel],)
        mul, add, shift = bits(word, 0, 0, 24, True), bits(word, 0, 24, 32, True), bits(word, 0, 56, 4)
        return acc * mul // (1 << shift) + add

    def activate(self, value: int) -> int:
        """Step 3: the last segment that starts at or below the value."""
        chosen = 0
        for index in range(16):
            if bits(self.segments, index, 24, 36, True) <= value:
                chosen = index
        start = bits(self.segments, chosen, 24, 36, True)
        mul, shift = bits(self.segments, chosen, 8, 16, True), bits(self.segments, chosen, 0, 8)
        exact = (value - start) * mul
        nearest = (2 * exact + (1 << shift)) // (2 << shift)
        return max(0, min(255, nearest + self.biases[chosen]))

    def pooled(self, plane: list[list[int]], y: int, x: int) -> int:
        """Step 4, for one plane of the convolution's own size."""
        edge, stride = {0: (1, 1), 3: (4, 4), 4: (4, 4), 7: (4, 4), 8: (2, 1), 9: (2, 1)}.get(self.pool, (2, 2))
        top, left = y * stride, x * stride
        if self.pool in (5, 7):
            return plane[top][left]
        if self.pool == 6:
            return plane[top][left + 1]
        window = [
            plane[min(top + dy, self.h - 1)][min(left + dx, self.w - 1)] for dy in range(edge) for dx in range(edge)
        ]
        return sum(window) // len(window) if self.pool in (2, 4, 8) else max(window)

    def run(self, data: bytes) -> bytes:
        """Planes in, planes out; channels first, without the gaps of the KPU's RAM."""
        size = self.h * self.w
        x = [
            [list(data[c * size + y * self.w : c * size + (y + 1) * self.w]) for y in range(self.h)]
            for c in range(self.ic)
        ]
        result = bytearray()
        for channel in range(self.oc):
            plane = [
                [
                    self.activate(self.batch_norm(channel, self.accumulate(x, channel, y, column)))
                    for column in range(self.w)
                ]
                for y in range(self.h)
            ]
            result += bytes(self.pooled(plane, y, column) for y in range(self.out_h) for column in range(self.out_w))
        return bytes(result)
