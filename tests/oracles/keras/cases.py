"""Small models, one per layer and way of setting it, and some that are put together in every way that Keras has.

Each function gets a Keras (that of version 2 or 3) and makes models with it; it knows no other framework.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_FUNCTIONS = (
    "elu exponential gelu hard_sigmoid linear relu relu6 selu sigmoid softmax softplus softsign swish tanh mish"
)
_NEWER = """
celu glu hard_shrink hard_silu hard_tanh leaky_relu log_sigmoid log_softmax silu soft_shrink sparse_plus sparse_sigmoid
squareplus tanh_shrink
"""


@dataclass(frozen=True)
class Case:
    """`make` gets the layers of Keras and gives what is called with the inputs."""

    name: str
    shapes: Sequence[tuple[int | None, ...]]
    make: Callable[..., Callable[[Any], Any]]  # of the layers; further parameters have defaults
    versions: tuple[int, ...] = (2, 3)
    dtype: str = "float32"
    fed: Sequence[tuple[int, ...]] = ()  # the shapes that are fed, where the model leaves some open

    def model(self, keras: Any) -> Any:
        inputs = [keras.Input(shape, dtype=self.dtype, name=f"input{index}") for index, shape in enumerate(self.shapes)]
        made = self.make(keras.layers)
        return keras.Model(inputs, made(inputs if len(inputs) > 1 else inputs[0]), name="model")


CASES = [
    # -- convolutions
    Case("conv1d", [(9, 3)], lambda L: L.Conv1D(4, 3, strides=2, activation="relu")),
    Case("conv1d-same", [(9, 3)], lambda L: L.Conv1D(4, 4, strides=2, padding="same")),
    Case("conv1d-causal", [(9, 3)], lambda L: L.Conv1D(4, 3, padding="causal", dilation_rate=2)),
    Case("conv2d", [(8, 7, 3)], lambda L: L.Conv2D(4, (3, 2), activation="tanh")),
    Case("conv2d-same", [(8, 7, 3)], lambda L: L.Conv2D(4, 3, strides=2, padding="same", use_bias=False)),
    Case("conv2d-dilated", [(9, 8, 2)], lambda L: L.Conv2D(3, 3, dilation_rate=(2, 1), padding="same")),
    Case("conv2d-groups", [(6, 5, 4)], lambda L: L.Conv2D(6, 3, groups=2)),
    Case("conv2d-open", [(None, None, 2)], lambda L: L.Conv2D(3, 3, padding="same"), fed=[(5, 6, 2)]),
    Case("conv3d", [(5, 6, 4, 2)], lambda L: L.Conv3D(3, (2, 3, 2), strides=(1, 2, 1), padding="same")),
    Case("dwconv2d", [(8, 7, 3)], lambda L: L.DepthwiseConv2D(3, strides=2, padding="same", depth_multiplier=2)),
    Case("dwconv1d", [(9, 3)], lambda L: L.DepthwiseConv1D(3, depth_multiplier=2)),
    Case("separable1d", [(9, 3)], lambda L: L.SeparableConv1D(4, 3, depth_multiplier=2)),
    Case("separable2d", [(7, 6, 3)], lambda L: L.SeparableConv2D(4, 3, padding="same", activation="relu")),
    Case("deconv1d", [(5, 3)], lambda L: L.Conv1DTranspose(4, 3, strides=2, padding="same")),
    Case("deconv2d", [(5, 4, 3)], lambda L: L.Conv2DTranspose(4, 3, strides=2)),
    Case("deconv2d-same", [(5, 4, 3)], lambda L: L.Conv2DTranspose(2, 4, strides=2, padding="same")),
    Case("deconv2d-wide", [(4, 4, 2)], lambda L: L.Conv2DTranspose(2, 2, strides=3, padding="same")),
    Case("deconv2d-wide-valid", [(4, 4, 2)], lambda L: L.Conv2DTranspose(2, 2, strides=3)),
    Case(
        "deconv2d-extra",
        [(4, 4, 2)],
        lambda L: L.Conv2DTranspose(2, 3, strides=2, padding="same", output_padding=1),
    ),
    Case("deconv3d", [(3, 4, 2, 2)], lambda L: L.Conv3DTranspose(2, 3, strides=2, padding="same")),
    # -- pools
    Case("maxpool1d", [(9, 3)], lambda L: L.MaxPooling1D(3, strides=2, padding="same")),
    Case("maxpool2d", [(8, 7, 3)], lambda L: L.MaxPooling2D((3, 2), strides=2)),
    Case("maxpool2d-same", [(8, 7, 3)], lambda L: L.MaxPooling2D(3, strides=2, padding="same")),
    Case("maxpool3d", [(6, 5, 4, 2)], lambda L: L.MaxPooling3D(2, padding="same")),
    Case("avgpool1d", [(9, 3)], lambda L: L.AveragePooling1D(3, strides=2, padding="same")),
    Case("avgpool2d", [(8, 7, 3)], lambda L: L.AveragePooling2D(2)),
    Case("avgpool2d-same", [(8, 7, 3)], lambda L: L.AveragePooling2D(3, strides=2, padding="same")),
    Case("avgpool3d", [(6, 5, 4, 2)], lambda L: L.AveragePooling3D((3, 2, 3), padding="same")),
    Case("gap1d", [(9, 3)], lambda L: L.GlobalAveragePooling1D()),
    Case("gap2d", [(4, 5, 3)], lambda L: L.GlobalAveragePooling2D(keepdims=True)),
    Case("gap3d", [(4, 5, 3, 2)], lambda L: L.GlobalAveragePooling3D()),
    Case("gmp1d", [(9, 3)], lambda L: L.GlobalMaxPooling1D()),
    Case("gmp2d", [(4, 5, 3)], lambda L: L.GlobalMaxPooling2D()),
    Case("gmp3d", [(4, 5, 3, 2)], lambda L: L.GlobalMaxPooling3D()),
    # -- dense and elementwise
    Case("dense", [(5,)], lambda L: L.Dense(4, activation="softmax")),
    Case("dense-rank3", [(3, 5)], lambda L: L.Dense(4, use_bias=False)),
    Case("embedding", [(6,)], lambda L: L.Embedding(7, 4), dtype="int32"),
    Case("relu-all", [(4, 5)], lambda L: L.ReLU(max_value=0.6, negative_slope=0.1, threshold=0.2)),
    Case("relu-six", [(4, 5)], lambda L: L.ReLU(6.0)),
    Case("leaky", [(4, 5)], lambda L: L.LeakyReLU()),
    Case("elu-layer", [(4, 5)], lambda L: L.ELU(0.7)),
    Case("prelu", [(4, 5, 3)], lambda L: L.PReLU()),
    Case("prelu-shared", [(4, 5, 3)], lambda L: L.PReLU(shared_axes=[1, 2])),
    Case("softmax-axes", [(4, 5)], lambda L: L.Softmax(axis=[1, 2])),
    Case("softmax-axis", [(4, 5)], lambda L: L.Softmax(axis=1)),
    Case("thresholded", [(4, 5)], lambda L: L.ThresholdedReLU(0.3), versions=(2,)),
    Case("activation-layer", [(6,)], lambda L: L.Dense(3, activation=L.LeakyReLU()), versions=(3,)),
    *(Case(f"act-{name}", [(3, 6)], lambda L, name=name: L.Activation(name)) for name in _FUNCTIONS.split()),
    *(Case(f"act-{name}", [(3, 6)], lambda L, name=name: L.Activation(name), versions=(3,)) for name in _NEWER.split()),
    # -- normalisations
    Case("batchnorm", [(4, 5, 3)], lambda L: L.BatchNormalization(epsilon=0.01)),
    Case("batchnorm-plain", [(4, 3)], lambda L: L.BatchNormalization(scale=False, center=False)),
    Case("batchnorm-axis", [(4, 5, 3)], lambda L: L.BatchNormalization(axis=1)),
    Case("layernorm", [(4, 5)], lambda L: L.LayerNormalization()),
    Case("layernorm-axes", [(4, 5)], lambda L: L.LayerNormalization(axis=[1, 2], center=False)),
    Case("layernorm-beta", [(4, 5)], lambda L: L.LayerNormalization(scale=False)),
    Case("groupnorm", [(4, 5, 6)], lambda L: L.GroupNormalization(groups=3)),
    Case("instancenorm", [(4, 5, 6)], lambda L: L.GroupNormalization(groups=-1, scale=False)),
    Case("rmsnorm", [(4, 5)], lambda L: L.RMSNormalization(), versions=(3,)),
    Case("unitnorm", [(4, 5)], lambda L: L.UnitNormalization()),
    Case("normalization", [(4, 3)], lambda L: L.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5])),
    Case("normalization-learnt", [(4, 3)], lambda L: L.Normalization()),
    Case("normalization-back", [(4, 3)], lambda L: L.Normalization(mean=0.5, variance=2.0, invert=True)),
    # -- shapes
    Case("flatten", [(4, 5, 3)], lambda L: L.Flatten()),
    Case("flatten-first", [(4, 5, 3)], lambda L: L.Flatten(data_format="channels_first")),
    Case("reshape", [(4, 6)], lambda L: L.Reshape((3, -1, 2))),
    Case("permute", [(4, 5, 3)], lambda L: L.Permute((3, 1, 2))),
    Case("repeat", [(4,)], lambda L: L.RepeatVector(3)),
    Case("pad1d", [(4, 3)], lambda L: L.ZeroPadding1D((1, 2))),
    Case("pad2d", [(4, 5, 3)], lambda L: L.ZeroPadding2D(((1, 0), (2, 3)))),
    Case("pad2d-pair", [(4, 5, 3)], lambda L: L.ZeroPadding2D((1, 2))),
    Case("pad3d", [(4, 5, 3, 2)], lambda L: L.ZeroPadding3D(1)),
    Case("crop1d", [(6, 3)], lambda L: L.Cropping1D((1, 2))),
    Case("crop2d", [(6, 5, 3)], lambda L: L.Cropping2D(((1, 0), (2, 1)))),
    Case("crop3d", [(6, 5, 4, 2)], lambda L: L.Cropping3D(1)),
    Case("centercrop", [(7, 6, 3)], lambda L: L.CenterCrop(4, 3)),
    # -- sizes
    Case("up1d", [(4, 3)], lambda L: L.UpSampling1D(3)),
    Case("up2d", [(4, 5, 3)], lambda L: L.UpSampling2D((2, 3))),
    Case("up2d-linear", [(4, 5, 3)], lambda L: L.UpSampling2D(2, interpolation="bilinear")),
    Case("up2d-cubic", [(4, 5, 3)], lambda L: L.UpSampling2D(2, interpolation="bicubic")),
    Case("up3d", [(2, 3, 2, 2)], lambda L: L.UpSampling3D((2, 3, 1))),
    Case("resizing", [(7, 5, 3)], lambda L: L.Resizing(4, 9)),
    Case("resizing-nearest", [(7, 5, 3)], lambda L: L.Resizing(4, 9, interpolation="nearest")),
    Case("resizing-cubic", [(7, 5, 3)], lambda L: L.Resizing(4, 9, interpolation="bicubic")),
    Case("resizing-crop", [(7, 5, 3)], lambda L: L.Resizing(4, 6, crop_to_aspect_ratio=True)),
    Case("rescaling", [(4, 5, 3)], lambda L: L.Rescaling(1 / 127.5, offset=-1)),
    Case("rescaling-rows", [(4, 5, 3)], lambda L: L.Rescaling([1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0])),
    Case("rescaling-bytes", [(4, 5, 3)], lambda L: L.Rescaling(1 / 255), dtype="uint8"),
    # -- several tensors
    *(
        Case(f"merge-{name.lower()}", [(4, 3), (4, 3), (4, 3)], lambda L, name=name: getattr(L, name)())
        for name in ("Add", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")
    ),
    Case("subtract", [(4, 3), (1, 3)], lambda L: L.Subtract()),
    Case("add-ranks", [(4, 3), (3,)], lambda L: L.Add()),
    Case("concat-axis", [(4, 3), (2, 3)], lambda L: L.Concatenate(axis=1)),
    Case("dot", [(4, 3), (5, 3)], lambda L: L.Dot(axes=2)),
    Case("dot-axes", [(4, 3), (3, 5)], lambda L: L.Dot(axes=(2, 1), normalize=True)),
    Case("dot-rows", [(4,), (4,)], lambda L: L.Dot(axes=1)),
    # -- sequences
    Case("lstm", [(5, 3)], lambda L: L.LSTM(4)),
    Case("lstm-sequence", [(5, 3)], lambda L: L.LSTM(4, return_sequences=True, go_backwards=True, use_bias=False)),
    Case("lstm-state", [(5, 3)], lambda L: L.LSTM(4, return_state=True, recurrent_activation="hard_sigmoid")),
    Case("lstm-given", [(5, 3), (4,), (4,)], lambda L: lambda x: L.LSTM(4)(x[0], initial_state=x[1:])),
    Case("gru", [(5, 3)], lambda L: L.GRU(4, return_sequences=True)),
    Case("gru-before", [(5, 3)], lambda L: L.GRU(4, reset_after=False)),
    Case("rnn", [(5, 3)], lambda L: L.SimpleRNN(4, return_sequences=True, activation="relu")),
    Case("rnn-cell", [(5, 3)], lambda L: L.RNN(L.LSTMCell(4))),
    *(
        Case(f"both-{mode}", [(5, 3)], lambda L, mode=mode: L.Bidirectional(L.GRU(4), merge_mode=mode))
        for mode in ("concat", "sum", "mul", "ave")
    ),
    Case("both-sequence", [(5, 3)], lambda L: L.Bidirectional(L.LSTM(4, return_sequences=True))),
    Case(
        "both-apart",
        [(5, 3)],
        lambda L: L.Bidirectional(
            L.LSTM(2, return_state=True), backward_layer=L.LSTM(2, return_state=True, go_backwards=True)
        ),
    ),
    Case("each-dense", [(4, 3)], lambda L: L.TimeDistributed(L.Dense(2, activation="relu"))),
    Case("each-conv", [(3, 5, 6, 2)], lambda L: L.TimeDistributed(L.Conv2D(3, 3))),
    Case("each-norm", [(3, 4)], lambda L: L.TimeDistributed(L.BatchNormalization())),
    Case("attention-heads", [(5, 6)], lambda L: lambda x: L.MultiHeadAttention(2, 3)(x, x)),
    Case(
        "attention-causal",
        [(5, 6), (4, 3)],
        lambda L: (
            lambda x: L.MultiHeadAttention(2, 3, value_dim=4, output_shape=5, use_bias=False)(
                x[0], x[1], use_causal_mask=True
            )
        ),
    ),
    Case(
        "attention-groups",
        [(5, 6), (4, 6)],
        lambda L: lambda x: L.GroupQueryAttention(3, 4, 2)(*x, use_causal_mask=True),
        versions=(3,),
    ),
    Case("attention-sums", [(5, 6), (4, 6)], lambda L: L.AdditiveAttention()),
    Case("attention-joined", [(5, 6), (4, 6)], lambda L: L.Attention(use_scale=True, score_mode="concat")),
    Case("einsum", [(5, 6)], lambda L: L.EinsumDense("abc,cd->adb", (4, 5), bias_axes="d", activation="relu")),
    Case("einsum-open", [(5, 6)], lambda L: L.EinsumDense("...x,xy->...y", 4)),
    Case("attention", [(5, 6), (4, 6)], lambda L: L.Attention(use_scale=True)),
    # -- channels first, which TensorFlow computes on a CPU for these
    Case("first-pad", [(3, 4, 5)], lambda L: L.ZeroPadding2D(1, data_format="channels_first")),
    Case("first-gap", [(3, 4, 5)], lambda L: L.GlobalAveragePooling2D(data_format="channels_first")),
    Case("first-up", [(3, 4, 5)], lambda L: L.UpSampling2D(2, data_format="channels_first")),
    # -- layers that do nothing when a model is used
    *(
        Case(f"idle-{name.lower()}", [(3, 4)], lambda L, name=name: getattr(L, name)(0.2))
        for name in ("Dropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "ActivityRegularization")
    ),
    # -- recurrent layers that convolve, and cells one on another
    Case("convlstm1d", [(4, 6, 2)], lambda L: L.ConvLSTM1D(3, 3, strides=2, return_sequences=True)),
    Case(
        "convlstm2d",
        [(3, 5, 6, 2)],
        lambda L: L.ConvLSTM2D(3, (3, 2), padding="same", return_state=True, go_backwards=True),
    ),
    Case(
        "convlstm2d-plain",
        [(3, 6, 5, 2)],
        lambda L: L.ConvLSTM2D(2, 3, dilation_rate=2, use_bias=False, recurrent_activation="hard_sigmoid"),
    ),
    Case("convlstm3d", [(2, 4, 3, 4, 2)], lambda L: L.ConvLSTM3D(2, 2, padding="same", activation="relu")),
    Case("rnn-stack", [(4, 3)], lambda L: L.RNN([L.LSTMCell(4), L.GRUCell(3), L.LSTMCell(2)], return_sequences=True)),
    # -- numbers, sounds and pictures before a network
    Case("bins", [(4,)], lambda L: L.Discretization(bin_boundaries=[-0.5, 0.25, 1.0])),
    Case("bins-marked", [(4,)], lambda L: L.Discretization(bin_boundaries=[-0.5, 0.25], output_mode="multi_hot")),
    *(
        Case(f"categories-{mode}", [(shape,)], lambda L, mode=mode: L.CategoryEncoding(7, mode), dtype="int32")
        for mode, shape in (("one_hot", 1), ("multi_hot", 4), ("count", 4))
    ),
    *(
        Case(
            f"spectrum-{mode}",
            [(20, 2)],
            lambda L, mode=mode: L.STFTSpectrogram(mode, 6, 4, 8, padding="same", expand_dims=mode == "psd"),
            versions=(3,),
        )
        for mode in ("real", "imag", "stft", "psd", "magnitude", "log")
    ),
    *(
        Case(
            f"mel-{window}",
            [(40,)],
            lambda L, window=window, settings=settings: L.MelSpectrogram(
                16, 8, 12, window, 8000, 5, 20.0, mag_exp=2 if window == "hann" else 1, **settings
            ),
            versions=(3,),
        )
        for window, settings in (("hann", {}), ("hamming", {"power_to_db": False}))
    ),
    Case("contrast", [(4, 5, 3)], lambda L: L.AutoContrast(value_range=(-1, 1)), versions=(3,)),
    # -- what came later
    *(
        Case(
            f"adaptive-{kind.lower()}{rank}d",
            [(*(7, 6, 5)[:rank], 2)],
            lambda L, kind=kind, rank=rank: getattr(L, f"Adaptive{kind}Pooling{rank}D")((3, 4, 2)[:rank]),
            versions=(3,),
        )
        for kind in ("Average", "Max")
        for rank in (1, 2, 3)
    ),
    Case("spectral", [(5, 6, 2)], lambda L: L.SpectralNormalization(L.Conv2D(3, 3))),
    Case("reversible", [(6,)], lambda L: L.ReversibleEmbedding(7, 4), dtype="int32", versions=(3,)),
    Case(
        "reversible-back",
        [(3, 4)],
        lambda L: lambda x: L.ReversibleEmbedding(7, 4, logit_soft_cap=2.0)(x, reverse=True),
        versions=(3,),
    ),
    Case(
        "reversible-apart",
        [(3, 4)],
        lambda L: lambda x: L.ReversibleEmbedding(7, 4, tie_weights=False)(x, reverse=True),
        versions=(3,),
    ),
    Case("pipeline", [(4, 5, 3)], lambda L: L.Pipeline([L.RandomFlip(), L.Rescaling(0.5)]), versions=(3,)),
    *(
        Case(f"idle-{name.lower()}", [(6, 5, 3)], lambda L, make=make: make(L), versions=(3,))
        for name, make in (
            ("AugMix", lambda L: L.AugMix((-2, 2))),
            ("CutMix", lambda L: L.CutMix()),
            ("MixUp", lambda L: L.MixUp()),
            ("RandAugment", lambda L: L.RandAugment((-2, 2))),
            ("RandomElasticTransform", lambda L: L.RandomElasticTransform(value_range=(-2, 2))),
            ("Solarization", lambda L: L.Solarization(value_range=(-2, 2))),
        )
    ),
    # -- functions
    Case("functions", [(4, 3), (4, 3)], lambda L: lambda x: (x[0] * 2.0 + x[1]) / 3.0 - x[0], versions=(3,)),
]


def structures(keras: Any) -> Iterator[tuple[str, Any]]:
    """Models in models, layers that are shared, several inputs and outputs, and all ways of writing Sequential."""
    L = keras.layers
    deep = keras.Input((4,), name="deep")
    t = L.Dense(3, name="d")(deep)
    t = L.BatchNormalization(name="n")(t)
    t = L.Dense(2, name="e", trainable=False)(t)
    inner = keras.Model(deep, [t, L.ReLU(name="r")(t)], name="inner")
    a, b = keras.Input((4,), name="a"), keras.Input((5, 4), name="b")
    shared = L.Dense(4, name="shared")
    p, q = inner(shared(shared(a)))
    s, _ = inner(a)
    state = L.GRU(3, return_state=True, name="g")(L.Dropout(0.5)(b))
    yield "nested", keras.Model([a, b], [L.Concatenate(name="c")([p, q, s, state[1]]), state[0]], name="outer")

    chain = keras.Sequential([keras.Input((6, 6, 2)), L.Conv2D(3, 3, name="one"), L.BatchNormalization()], name="base")
    head = [L.Flatten(), L.Dense(3, activation="softmax", name="last")]
    whole = keras.Sequential([chain, *head], name="whole")
    whole.build((None, 6, 6, 2))
    yield "transfer", whole
    frozen = keras.Sequential(
        [keras.Input((6, 6, 2)), L.Conv2D(3, 3), L.BatchNormalization(), L.Conv2D(2, 1)], name="f"
    )
    frozen.trainable = False
    frames = L.TimeDistributed(frozen, name="frames")
    yield "frames", keras.Sequential([keras.Input((2, 6, 6, 2)), frames, L.Flatten(), L.Dense(2)], name="video")
    late = keras.Sequential([L.Dense(3, activation="relu", name="first"), L.Dense(2, name="second")], name="late")
    late.build((None, 5))
    yield "late", late
    x = keras.Input((4, 4, 2), name="x")
    y = L.Conv2D(2, 3, padding="same", name="c1")(x)
    yield "residual", keras.Model(x, L.Add(name="sum")([x, L.Activation("relu", name="act")(y)]), name="residual")
    if hasattr(L, "GroupQueryAttention"):  # Keras 3
        x = keras.Input((5, 6), name="x")
        gated = L.MultiHeadAttention(2, 3, value_dim=4, use_gate=True, name="gated")(x, x)
        near = L.MultiHeadAttention(2, 3, sliding_window=2, name="near")(gated, gated, use_causal_mask=True)
        grouped = L.GroupQueryAttention(3, 4, 2, use_gate=True, sliding_window=3, name="grouped")(near, x)
        yield "windows", keras.Model(x, grouped, name="windows")
