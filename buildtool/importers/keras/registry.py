"""The handlers of Keras, by the names of its layer classes; functions of `keras.ops` are `ops.Name`."""

from __future__ import annotations

from buildtool.importers.registry import Registry

#: What only training looks at.
_TRAINING = frozenset(
    {"call.training", "dropout", "implementation", "init_values", "momentum", "optional", "power_iterations", "ragged"}
    | {"recurrent_dropout", "renorm", "renorm_momentum", "renorm_clipping", "sparse", "stateful", "synchronized"}
    | {"unit_forget_bias", "unroll"}
)
#: What the shapes of the weights say, or who reads the weights has used.
_WEIGHTS = frozenset(
    {"axis", "center", "depth_multiplier", "filters", "input_dim", "input_length", "kernel_size", "num_heads"}
    | {"num_key_value_heads", "num_query_heads", "output_dim", "output_shape", "projection_dim", "quantizer"}
    | {"quantizer.per_axis", "quantizer.symmetric", "scale", "shared_axes", "tie_weights", "units", "use_bias"}
    | {"use_scale", "value_dim"}
)
#: How the layer is called: `keywords` and `weights` name its inputs, and masks are checked for the model as a whole.
_CALLS = frozenset({"call.mask", "keywords", "mask_zero", "softmax_robust_masking", "weights", "zero_output_for_mask"})
_MEL = frozenset({"min_power", "ref_power", "top_db"})  # of decibels, if there are to be some
_WINDOW = frozenset({"fft_length", "frame_length", "periodic", "scaling", "window"})  # the weights have it

#: Convolutions that Keras has in one group only.
_UNGROUPED = (
    *("DepthwiseConv1D", "DepthwiseConv2D", "Conv1DTranspose", "Convolution1DTranspose", "Conv2DTranspose"),
    *("Convolution2DTranspose", "Deconvolution2D", "Deconv2D", "Conv3DTranspose", "Convolution3DTranspose"),
    *("SeparableConv1D", "SeparableConvolution1D", "SeparableConv2D", "SeparableConvolution2D"),
)

REGISTRY = Registry(
    "keras",
    "buildtool.importers.keras.handlers",
    settled={
        "": _TRAINING | _WEIGHTS | _CALLS,
        **dict.fromkeys(_UNGROUPED, frozenset({"groups"})),
        "Discretization": frozenset({"epsilon"}),
        "EinsumDense": frozenset({"bias_axes"}),
        "MelSpectrogram": _MEL,
        "Resizing": frozenset({"fill_mode", "fill_value"}),
        "STFTSpectrogram": _WINDOW,
    },
)
handler = REGISTRY.handler
