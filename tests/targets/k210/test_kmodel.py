"""kmodel files: what is written is read back, and what is damaged is told layer by layer."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable

import numpy as np
import pytest

from buildtool.errors import LatheError, ModelFileError, UnsupportedError
from buildtool.targets.k210.format import cpu_layers, kmodel, registers
from buildtool.targets.k210.format.arguments import ConvShape, layer_argument
from buildtool.targets.k210.format.bodies import BODIES
from buildtool.targets.k210.format.kmodel import Kmodel, Output, read, write
from buildtool.targets.k210.format.kpu_layers import Conv
from buildtool.targets.k210.format.layer import LayerType
from buildtool.targets.k210.format.registers import FIELDS, LayerArgument
from buildtool.targets.k210.format.tables import Activation, BatchNorm, Segment, decode_activation, decode_batch_norms
from buildtool.targets.k210.generation import checks
from buildtool.targets.k210.simulation.simulator import Simulator, simulate
from tests.targets.k210.samples import Drawn, draw, models, on_bytes, on_floats, one_convolution, samples

MODELS = dict(models())


def small() -> Kmodel:
    """One convolution of 8 bits."""
    return one_convolution(Drawn(ConvShape((3, 5, 6), 10, 3), channels_per_load=3), 1)


def with_argument(**fields: int) -> Kmodel:
    """Its convolution with other registers, and as many weights as these ask for."""
    model = small()
    layer = model.layers[0]
    assert isinstance(layer, Conv)
    argument = dataclasses.replace(layer.argument, **fields)
    weights = layer.weights[: checks.weight_bytes(argument, wide=False)]
    return dataclasses.replace(model, layers=(dataclasses.replace(layer, argument=argument, weights=weights),))


def raw(model: Kmodel, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The file of a model that breaks a rule."""
    with monkeypatch.context() as patch:
        patch.setattr(kmodel, "read", lambda data, name: None)
        return write(model)


# -- whole files -----------------------------------------------------------------------------------------------------
def test_there_is_a_sample_of_every_layer() -> None:
    found = {layer.TYPE for model in MODELS.values() for layer in model.layers}
    assert found == set(BODIES)


@pytest.mark.parametrize("name", MODELS)
def test_reading_gives_what_was_written(name: str) -> None:
    model = MODELS[name]
    file = write(model)
    loaded = read(file, name)
    assert loaded == model
    assert write(loaded) == file
    assert [(offset + size) % 8 for offset, size in loaded.places] == [0] * len(model.layers)
    end = 28 + 8 * (len(model.outputs) + len(model.layers))
    for (offset, size), layer in zip(loaded.places, loaded.layers, strict=True):
        assert offset == end
        end += size
        if isinstance(layer, Conv):
            offsets = (layer.layer_off, layer.weights_off, layer.bn_off, layer.act_off)
            assert [place % to for place, to in zip(offsets, (8, 128, 128, 256), strict=True)] == [0] * 4
    assert end == len(file)


def test_samples_are_the_same_each_time() -> None:
    assert list(samples()) == list(samples())


def test_the_last_padding_may_be_cut_off_and_bytes_may_follow() -> None:
    tail = cpu_layers.QFlatten(1, 0, 256, 7, 6, 5)
    model = on_bytes([tail, cpu_layers.Concat(1, 480, 1, ((0, 3),))], 256, 227)
    file = write(model)
    assert len(cpu_layers.Concat(1, 480, 1, ((0, 3),)).encode()) == 20
    assert read(file[:-4]) == model
    assert read(file + b"anything") == model
    with pytest.raises(ModelFileError, match="too short"):
        read(file[:-5])
    with pytest.raises(ModelFileError, match="exceeds the file"):
        read(file[:-8])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (struct.pack("<2I", 4, 0) + bytes(40), "version 4, which nncase 0.2 writes"),
        (struct.pack("<2I", 5, 0) + bytes(40), "version 5, which nncase 1.x writes"),
        (b"KMDL" + struct.pack("<I", 4) + bytes(40), "version 4"),
        (b"LDMK" + struct.pack("<I", 5) + bytes(40), "version 5"),
        (struct.pack("<7I", 3, 1, 1, 0, 0, 0, 0), "arch in the header is 1"),
    ],
)
def test_other_formats_have_names(data: bytes, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        read(data, "net.kmodel")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are not a kmodel"),
        (b"\x03\0\0\0", "4 bytes are not a kmodel"),
        (b"hello, this is no model at all", "the file starts with"),
        (struct.pack("<7I", 3, 1, 0, 1 << 31, 0, 0, 1 << 31), "2147483648 outputs and 2147483648 layers"),
        (struct.pack("<7I", 3, 1, 0, 0, 0, 0, 0), "no layers"),
    ],
)
def test_damaged_kmodels_are_errors(data: bytes, message: str) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        read(data, "net.kmodel")
    assert caught.value.problems[0].where.file == "net.kmodel"


# -- damaged layers --------------------------------------------------------------------------------------------------
def broken_models() -> list[tuple[str, Callable[[], Kmodel], str, str]]:
    """Name, model, and what the error says: fact and rule."""
    table = bytes(256)
    return [
        ("first", lambda: Kmodel(1, 8, (), (cpu_layers.Softmax(1, 0, 0, 2),)), "it is the first", "K210_CONV or an FC"),
        ("memory", lambda: on_bytes([cpu_layers.Requantize(1, 0, 256, 400, table)], 256, 8), "writes 400 bytes at 256",
         "main memory has 264 bytes"),
        ("floats", lambda: on_bytes([cpu_layers.Dequantize(1, 0, 258, 9, 1, 0)], 256, 200), "at 258 of main memory",
         "multiple of 4"),
        ("output", lambda: dataclasses.replace(small(), outputs=(Output(200, 105),)), "output 0 of 105 bytes", "bytes"),
        ("shift", lambda: on_bytes([cpu_layers.QAdd(1, 0, 0, 256, 8, 0, 1, 64, 0, 1, 0, 0, 1, 0)], 256, 8),
         "a_shift is 64", "0 to 63"),
        ("window", lambda: on_bytes([cpu_layers.QMaxPool(1, 0, 256, 7, 6, 5, 4, 3, 5, 3, 2, 3, 2, 1, 0)], 256, 60),
         "along w, kernel 3, stride 3", "at least one element"),
        ("stride", lambda: on_bytes([cpu_layers.QMaxPool(1, 0, 256, 7, 6, 5, 4, 3, 5, 3, 2, 0, 2, 1, 0)], 256, 60),
         "a size along w is 0", "at least 1"),
        ("act", lambda: on_floats([dataclasses.replace(FC, act=3)], 320, 8), "act is 3", "relu6"),
        ("scale", lambda: on_floats([cpu_layers.Quantize(1, 64, 320, 9, 0.0, 0.0)], 320, 9), "scale is 0.0", "finite"),
        ("mean", lambda: on_floats([cpu_layers.Gap(1, 64, 320, 0, 9)], 320, 36), "kernel_size is 0", "one element"),
        ("resize", lambda: on_floats([cpu_layers.ResizeNn(1, 64, 320, 0, 4, 3, 1, 1, 0)], 320, 12), "a size is 0",
         "one row"),
        ("kernel", lambda: with_argument(kernel=2), "kernel is 2", "3x3"),
        ("bypass", lambda: with_argument(bypass=1), "bypass of its argument is 1", "0 is what"),
        ("load_act", lambda: with_argument(load_act=0), "load_act of its argument is 0", "1 is what"),
        ("low", lambda: with_argument(in_h=3, out_h=3), "in_h is 3", "4 to 256"),
        ("wide", lambda: with_argument(in_w=513, out_w=513), "in_w is 513", "4 to 512"),
        ("pool", lambda: with_argument(pool=10), "pool is 10", "0 to 9"),
        ("stride 2", lambda: with_argument(pool=1), "out_w is 6, in_w is 6", "stride 2"),
        ("row", lambda: with_argument(row_switch=2), "row_switch of its argument is 2", "need 1"),
        ("group", lambda: with_argument(wb_group=2), "wb_group of its argument is 2", "need 4"),
        ("loads", lambda: with_argument(load_times=3), "3 loads of 3 channels make 10", "the last is not empty"),
        ("para", lambda: with_argument(para_size=80), "para_size is 80", "81 bytes"),
        ("ram", lambda: with_argument(src=32765), "reads 5 units of 64 bytes at unit 32765", "32768 units"),
        ("cover", lambda: on_kpu(dst=4), "writes to unit 4", "does not cover"),
        ("ram end", lambda: on_kpu(dst=32755), "writes 15 units of 64 bytes at unit 32755", "32768 units"),
        ("dma", lambda: with_argument(total_bytes=299), "sends 299 bytes", "300 bytes, 30 per channel"),
        ("depthwise", lambda: with_argument(depthwise=1), "from 3 channels to 10", "keeps the number"),
        ("huge", lambda: dataclasses.replace(small(), main_memory=1 << 30), "main memory has 1073741824", "at most"),
    ]  # fmt: skip


FC = cpu_layers.FullyConnected(1, 0, 320, 2, 1, 0, bytes(8), bytes(4))


def on_kpu(dst: int) -> Kmodel:
    layer = draw(Drawn(ConvShape((3, 5, 6), 10, 3), dst=dst, main_out=None), np.random.default_rng(0))
    return Kmodel(1, 8, (), (layer,))


@pytest.mark.parametrize(("model", "fact", "rule"), [pytest.param(*row[1:], id=row[0]) for row in broken_models()])
def test_damaged_layers_are_told(
    model: Callable[[], Kmodel], fact: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises((ModelFileError, UnsupportedError)) as caught:
        broken = model()
        try:
            write(broken)
        except UnsupportedError:
            raise
        except ModelFileError:
            read(raw(broken, monkeypatch), "net.kmodel")
    text = str(caught.value)
    assert fact in text and rule in text and "fix:" in text
    if "output 0" not in fact and isinstance(caught.value, ModelFileError):
        assert "net.kmodel, node 'layer " in text and ", body at offset " in text and "type " in text


def test_all_damages_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = dataclasses.replace(with_argument(bypass=1, pool=12), outputs=(Output(1 << 20, 1),))
    with pytest.raises(ModelFileError) as caught:
        read(raw(model, monkeypatch))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("kind", [0, 3, 10, 19, 1000, 1003, 26, 1 << 31])
def test_layers_that_nothing_runs_are_named(kind: int) -> None:
    file = bytearray(write(small()))
    struct.pack_into("<I", file, 28 + 8, kind)
    known = kind in {int(item) for item in LayerType}
    with pytest.raises(ModelFileError, match=f"layer 0, type {kind} .{LayerType(kind).name if known else 'unknown'}"):
        read(bytes(file))


@pytest.mark.parametrize(("field", "offset", "message"), [
    (2, 1 << 20, "its argument of 96 bytes is at offset 1048576"), (2, 60, "its argument is at offset 60"),
    (3, 64, "its weights is at offset 64"), (3, 1 << 20, "its weights of 270 bytes"),
    (4, 130, "its batch norm is at"), (4, 1 << 31, "its batch norm of 80 bytes"),
    (5, 64, "its activation is at"), (5, (1 << 32) - 128, "its activation of 144 bytes"),
])  # fmt: skip
def test_offsets_of_convolutions(field: int, offset: int, message: str) -> None:
    file = bytearray(write(small()))
    (body, _) = read(bytes(file)).places[0]
    struct.pack_into("<I", file, body + 4 * field, offset)
    with pytest.raises(ModelFileError, match=message):
        read(bytes(file))


def test_models_that_do_not_fit_the_format_are_not_written() -> None:
    model = small()
    layer = model.layers[0]
    assert isinstance(layer, Conv)
    for change, message in (
        ({"weights": layer.weights[1:]}, "269 bytes of weights"),
        ({"batch_norm": layer.batch_norm[1:]}, "9 batch norms"),
        ({"batch_norm": (BatchNorm(1 << 23), *layer.batch_norm[1:])}, "mul of a batch norm is 8388608"),
        ({"activation": Activation(layer.activation.segments[1:])}, "15 segments"),
        ({"activation": Activation((Segment(bias=256), *layer.activation.segments[1:]))}, "bias of a segment is 256"),
        (
            {"argument": dataclasses.replace(layer.argument, in_channels=1025)},
            "in_channels of a KPU layer is 1025|bytes of weights",
        ),
        ({"main_out": -1}, "does not fit"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            write(dataclasses.replace(model, layers=(dataclasses.replace(layer, **change),)))


def test_mutated_files_end_in_errors_or_in_models_that_run() -> None:
    """500 files with some bytes, words or the end changed; a model that is read can also be simulated."""
    rng = np.random.default_rng(3)
    names = list(MODELS)
    refused = 0
    for index in range(500):
        file = bytearray(write(MODELS[names[index % len(names)]]))
        for _ in range(int(rng.integers(1, 4))):
            choice = int(rng.integers(0, 4))
            at = int(rng.integers(0, min(len(file), 4096)))
            if choice == 0:
                file[at] = int(rng.integers(0, 256))
            elif choice == 1:
                value = int(rng.choice([0, 1, 7, 255, 65535, 1 << 31, (1 << 32) - 1, 1 << 20]))
                struct.pack_into("<I", file, min(at & ~3, len(file) - 4), value)
            elif choice == 2:
                struct.pack_into("<I", file, min(at % 256 & ~3, len(file) - 4), int(rng.integers(0, 300)))
            else:
                del file[max(40, at) :]
        try:
            model = read(bytes(file), "mutated.kmodel")
        except LatheError:
            refused += 1
            continue
        simulate(model, bytes(model.input_bytes))
    assert 100 < refused < 500


# -- registers and tables --------------------------------------------------------------------------------------------
def test_counts_are_stored_as_one_less() -> None:
    argument = layer_argument(ConvShape((3, 5, 6), 10, 3, pool=1), src=7, dst=9, channels_per_load=4)
    words = argument.words()
    assert words[1] == 7 | 9 << 32
    assert words[2] == 2 | 9 << 32 | 3 << 48
    assert words[3] == 5 | 4 << 10 | 2 << 32 | 1 << 42
    assert words[4] == 1 | 1 << 4 | 1 << 10 | 15 << 16
    assert words[5] == 1 | 2 << 1 | 4 * 27 << 15
    assert words[7] == 5 | 1 << 16 | 4 << 28 | 1 << 31
    assert words[8] == 2 | 1 << 16 | 4 << 20
    assert words[11] == 5 << 16 | 59 << 32
    assert registers.decode(argument.encode()) == argument


def test_every_field_reaches_its_limits_and_no_further() -> None:
    used: dict[int, int] = {}
    for name, place in FIELDS.items():
        mask = (1 << place.width) - 1 << place.lsb
        assert used.setdefault(place.word, 0) & mask == 0, f"{name} lies over another field"
        used[place.word] |= mask
        for value in (place.lowest, place.highest):
            argument = dataclasses.replace(LayerArgument(), **{name: value})
            assert getattr(registers.decode(argument.encode()), name) == value
        for value in (place.lowest - 1, place.highest + 1):
            with pytest.raises(UnsupportedError, match=f"{name} of a KPU layer is {value}"):
                dataclasses.replace(LayerArgument(), **{name: value}).encode()


def test_random_words_decode_and_encode() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        data = rng.integers(0, 256, 96, np.uint8).tobytes()
        argument = registers.decode(data)
        named = [
            sum((1 << place.width) - 1 << place.lsb for place in FIELDS.values() if place.word == word)
            for word in range(12)
        ]
        assert argument.words() == tuple(
            word & mask for word, mask in zip(struct.unpack("<12Q", data), named, strict=True)
        )


def test_tables_round_trip() -> None:
    norms = (BatchNorm(-(1 << 23), -(1 << 31), 15), BatchNorm((1 << 23) - 1, (1 << 31) - 1, 0))
    assert decode_batch_norms(b"".join(norm.encode() for norm in norms)) == norms
    assert norms[0].encode() == struct.pack("<Q", 1 << 23 | 1 << 55 | 15 << 56)
    segments = tuple(Segment(-(1 << 35) + index, -(1 << 15) + index, 255 - index, index * 17) for index in range(16))
    encoded = Activation(segments).encode()
    assert len(encoded) == 144 and encoded[128:] == bytes(range(0, 256, 17))
    assert struct.unpack_from("<Q", encoded)[0] == 255 | 1 << 23 | 1 << 59
    assert decode_activation(encoded) == Activation(segments)


def test_planes_behind_the_end_of_the_ram_are_in_main_memory() -> None:
    """Converters round the last rows of planes down; the output is whole."""
    shape = ConvShape((3, 7, 10), 30)
    inside = one_convolution(Drawn(shape, dst=20000), 2)
    outside = one_convolution(Drawn(shape, dst=32768 - 52), 2)
    data = bytes(range(210))
    assert simulate(read(write(outside)), data) == simulate(inside, data)


def test_inputs_have_one_size() -> None:
    with pytest.raises(LatheError, match="90 bytes"):
        Simulator(small()).run(bytes(91))
