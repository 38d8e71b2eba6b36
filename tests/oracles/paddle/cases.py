"""The programs of single operators: tiny, and one or more for each that the importer handles."""

from __future__ import annotations

from typing import Any

from tests.oracles.paddle.more_cases import MORE_CASES
from tests.oracles.paddle.programs import Array, Case, ints, random, whole

_PICTURE = (2, 4, 6, 5)
_UNARY = (
    *("abs", "asin", "acos", "asinh", "atan", "ceil", "cos", "cosh", "erf", "exp", "floor", "mish", "relu", "round"),
    *("sigmoid", "sign", "silu", "sin", "sinh", "softsign", "square", "tan", "tanh", "tanh_shrink", "logsigmoid"),
    *("expm1", "trunc"),
)
_POSITIVE = ("log", "log2", "log10", "log1p", "rsqrt", "sqrt", "reciprocal", "acosh")
_SMALL = ("asin", "acos", "atanh")


def _unary() -> list[Case]:
    cases = [Case(op, {"X": random(2, 3, 4)}) for op in _UNARY if op not in _SMALL]
    cases += [Case(op, {"X": random(2, 3, low=1.1, high=4)}) for op in _POSITIVE]
    cases += [Case(op, {"X": random(2, 3, low=-0.9, high=0.9)}) for op in _SMALL]
    x = {"X": random(2, 4, 3, low=-8, high=8)}
    more = {
        "leaky_relu": {"alpha": 0.1},
        "relu6": {"threshold": 6.0},
        "brelu": {"t_min": -1.0, "t_max": 2.0},
        "elu": {"alpha": 0.7},
        "celu": {"alpha": 1.5},
        "selu": {},
        "gelu": {"approximate": False},
        "swish": {"beta": 1.0},
        "hard_sigmoid": {"slope": 0.2, "offset": 0.5},
        "hard_swish": {"threshold": 6.0, "scale": 6.0, "offset": 3.0},
        "softplus": {"beta": 2.0, "threshold": 15.0},
        "softshrink": {"lambda": 0.5},
        "hard_shrink": {"threshold": 0.5},
        "thresholded_relu": {"threshold": 1.0},
        "stanh": {"scale_a": 0.67, "scale_b": 1.7159},
        "clip": {"min": -1.0, "max": 2.5},
        "pow": {"factor": 3.0},
        "scale": {"scale": 2.5, "bias": 0.5, "bias_after_scale": True},
        "softmax": {"axis": -1},
        "log_softmax": {"axis": 1},
        "cumsum": {"axis": 1, "exclusive": False, "reverse": False, "flatten": False},
        "assign": {},
    }
    return [*cases, *(Case(op, x, attributes) for op, attributes in more.items())]  # type: ignore[arg-type]


def _more_unary() -> list[Case]:
    x = {"X": random(2, 4, 3, low=-8, high=8)}
    cases = [
        Case("gelu", x, {"approximate": True}, suffix="tanh"),
        Case("scale", x, {"scale": 2.5, "bias": 0.5, "bias_after_scale": False}, suffix="before"),
        Case("scale", {**x, "ScaleTensor": random(1)}, {"bias": 0.0}, weights=("ScaleTensor",), suffix="tensor"),
        Case(
            "clip",
            {**x, "Min": random(1, low=-1, high=0), "Max": random(1, low=0, high=1)},
            {"min": -9.0, "max": 9.0},
            suffix="tensors",
        ),
        Case("softmax", x, {"axis": 1}, suffix="second"),
        Case("cumsum", x, {"axis": 0, "exclusive": True, "reverse": True, "flatten": False}, suffix="other"),
        Case("cumprod", x, {"dim": 1}),
        Case("maxout", {"X": random(*_PICTURE)}, {"groups": 2, "axis": 1}),
        Case("cast", x, {"in_dtype": 5, "out_dtype": 2}, dtypes={"Out": "int32"}),
        Case(
            "dropout",
            x,
            {"dropout_prob": 0.3, "is_test": True, "dropout_implementation": "downgrade_in_infer"},
            unread=("Mask",),
        ),
        Case(
            "dropout",
            x,
            {"dropout_prob": 0.3, "is_test": True, "dropout_implementation": "upscale_in_train"},
            unread=("Mask",),
            suffix="up",
        ),
        Case("increment", {"X": random(1)}, {"step": 2.0}),
        Case("norm", {"X": random(2, 4, 3)}, {"axis": 1, "epsilon": 1e-10, "is_test": True}, unread=("Norm",)),
        Case("isnan_v2", x, dtypes={"Out": "bool"}),
        Case("isinf_v2", x, dtypes={"Out": "bool"}),
        Case("isfinite_v2", x, dtypes={"Out": "bool"}),
    ]
    slopes = {"all": random(1), "channel": random(4), "element": random(1, 4, 3)}
    cases += [
        Case("prelu", {**x, "Alpha": slope}, {"mode": mode, "data_format": "NCHW"}, ("Alpha",), suffix=mode)
        for mode, slope in slopes.items()
    ]
    return cases


def _binary() -> list[Case]:
    a, b = random(2, 3, 4), random(2, 3, 4, low=0.5, high=3, seed=1)
    cases = [
        Case(f"elementwise_{op}", {"X": a, "Y": b}, {"axis": -1})
        for op in ("add", "sub", "mul", "div", "max", "min", "fmax", "fmin", "mod", "floordiv")
    ]
    cases += [
        Case("elementwise_pow", {"X": b, "Y": random(2, 3, 4, seed=2)}, {"axis": -1}),
        Case("elementwise_add", {"X": a, "Y": random(3)}, {"axis": 1}, ("Y",), suffix="axis"),
        Case("elementwise_mul", {"X": a, "Y": random(2, 3)}, {"axis": 0}, suffix="first"),
        Case(
            "elementwise_floordiv",
            {"X": whole(6, low=-9), "Y": whole(6, low=1, seed=1)},
            {"axis": -1},
            dtypes={"Out": "int64"},
            suffix="whole",
        ),
        Case(
            "elementwise_mod",
            {"X": whole(6, low=-9), "Y": whole(6, low=1, seed=1)},
            {"axis": -1},
            dtypes={"Out": "int64"},
            suffix="whole",
        ),
        Case("sum", {"X": [a, b, random(2, 3, 4, seed=5)]}),
        Case("atan2", {"X1": a, "X2": random(2, 3, 4, seed=4)}),
        Case("where", {"Condition": a > 0, "X": a, "Y": b}),
    ]
    numbers = {"X": whole(3, 4, high=3), "Y": whole(3, 4, high=3, seed=1)}
    cases += [
        Case(op, numbers, {"axis": -1}, dtypes={"Out": "bool"})
        for op in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
    ]
    truth = {"X": whole(3, 4, high=2) > 0, "Y": whole(3, 4, high=2, seed=1) > 0}
    cases += [Case(op, truth, dtypes={"Out": "bool"}) for op in ("logical_and", "logical_or", "logical_xor")]
    cases += [Case("logical_not", {"X": truth["X"]}, dtypes={"Out": "bool"})]
    cases += [Case(op, numbers, dtypes={"Out": "int64"}) for op in ("bitwise_and", "bitwise_or", "bitwise_xor")]
    cases += [Case("bitwise_not", {"X": numbers["X"]}, dtypes={"Out": "int64"})]
    channels = {"X": random(*_PICTURE), "Scale": random(4), "Bias": random(4, seed=1)}
    return [*cases, Case("affine_channel", channels, {"data_layout": "NCHW"}, ("Scale", "Bias"))]


def _conv(op: str, picture: tuple[int, ...], filters: tuple[int, ...], suffix: str = "", **attributes: Any) -> Case:
    rank = len(picture) - 2
    given = {"strides": [1] * rank, "paddings": [0] * rank, "dilations": [1] * rank, "groups": 1} | attributes
    given |= {"padding_algorithm": attributes.get("padding_algorithm", "EXPLICIT")}
    given |= {"data_format": attributes.get("data_format", "NCHW" if rank == 2 else "NCDHW")}
    inputs = {"Input": random(*picture), "Filter": random(*filters, low=-1, high=1)}
    return Case(op, inputs, given, ("Filter",), {"Output": 1}, suffix=suffix)


def _pool(suffix: str, **attributes: Any) -> Case:
    given = {"pooling_type": "max", "ksize": [3, 2], "strides": [2, 2], "paddings": [1, 0], "global_pooling": False}
    given |= {"ceil_mode": False, "exclusive": True, "adaptive": False, "padding_algorithm": "EXPLICIT"}
    given |= {"data_format": "NCHW"} | attributes
    picture = (2, 6, 5, 4) if given["data_format"] == "NHWC" else (2, 4, 6, 7)
    return Case("pool2d", {"X": random(*picture)}, given, suffix=suffix)


def _spatial() -> list[Case]:
    transpose: dict[str, Any] = {"output_size": [], "output_padding": []}
    deformable = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1, "deformable_groups": 1}
    deformable |= {"im2col_step": 1}
    offset = {"Input": random(1, 2, 4, 5), "Offset": random(1, 18, 4, 5, low=-0.9, high=0.9)}
    filters = {"Filter": random(3, 2, 3, 3)}
    return [
        _conv("conv2d", _PICTURE, (3, 4, 3, 3), strides=[2, 1], paddings=[1, 1]),
        _conv("conv2d", _PICTURE, (6, 2, 3, 2), "groups", groups=2, paddings=[1, 0, 2, 1], dilations=[2, 1]),
        _conv("conv2d", _PICTURE, (3, 4, 3, 3), "same", strides=[2, 2], padding_algorithm="SAME"),
        _conv("conv2d", (2, 6, 5, 4), (3, 4, 3, 3), "last", data_format="NHWC"),
        _conv("depthwise_conv2d", _PICTURE, (8, 1, 3, 3), groups=4, paddings=[1, 1]),
        _conv("conv3d", (1, 2, 4, 5, 3), (3, 2, 2, 3, 2), strides=[1, 2, 1], paddings=[1, 0, 1]),
        _conv("conv2d_transpose", (1, 4, 3, 4), (4, 3, 3, 2), strides=[2, 2], paddings=[1, 0], **transpose),
        _conv(
            "conv2d_transpose",
            (1, 4, 3, 4),
            (4, 2, 2, 2),
            "extra",
            strides=[2, 2],
            groups=2,
            output_size=[7, 9],
            output_padding=[],
        ),
        _conv("conv3d_transpose", (1, 2, 3, 2, 3), (2, 3, 2, 2, 3), strides=[2, 1, 1], **transpose),
        _conv("depthwise_conv2d_transpose", (1, 4, 3, 4), (4, 1, 3, 3), groups=4, strides=[2, 2], **transpose),
        Case(
            "deformable_conv",
            {**offset, **filters, "Mask": random(1, 9, 4, 5, low=0, high=1)},
            deformable,
            ("Filter",),
            {"Output": 1},
        ),
    ]


def _pools() -> list[Case]:
    volume: dict[str, Any] = {"pooling_type": "avg", "ksize": [2, 2, 2], "strides": [2, 1, 2], "paddings": [0, 0, 0]}
    volume |= {"global_pooling": False, "ceil_mode": False, "exclusive": True, "adaptive": False}
    volume |= {"padding_algorithm": "EXPLICIT", "data_format": "NCDHW"}
    return [
        _pool("max"),
        _pool("avg", pooling_type="avg"),
        _pool("all", pooling_type="avg", exclusive=False),
        _pool("ceil", ceil_mode=True, ksize=[3, 3], paddings=[0, 0]),
        _pool("ceil-avg", ceil_mode=True, ksize=[3, 3], paddings=[1, 1], pooling_type="avg"),
        _pool("ceil-all", ceil_mode=True, ksize=[3, 3], paddings=[1, 1], pooling_type="avg", exclusive=False),
        _pool("global", global_pooling=True, ksize=[1, 1]),
        _pool("adaptive", adaptive=True, ksize=[1, 1], pooling_type="avg"),
        _pool("adaptive-avg", adaptive=True, ksize=[4, 3], pooling_type="avg"),
        Case(
            "max_pool2d_with_index",
            {"X": random(2, 4, 6, 7)},
            {"ksize": [4, 3], "strides": [1, 1], "paddings": [0, 0], "global_pooling": False, "adaptive": True},
            unread=("Mask",),
            dtypes={"Mask": "int32"},
            suffix="adaptive",
        ),
        _pool("last", data_format="NHWC"),
        Case("pool3d", {"X": random(1, 2, 4, 5, 4)}, volume),
        Case(
            "max_pool2d_with_index",
            {"X": random(2, 3, 4, 6)},
            {"ksize": [2, 2], "strides": [2, 2], "paddings": [0, 0], "global_pooling": False, "adaptive": False},
            outputs={"Out": 1, "Mask": 1},
            dtypes={"Mask": "int32"},
        ),
        Case("temporal_shift", {"X": random(4, 4, 2, 3)}, {"seg_num": 2, "shift_ratio": 0.25, "data_format": "NCHW"}),
    ]


def _norms() -> list[Case]:
    x, c, one = random(*_PICTURE), random(4), random(4, low=0.5, high=2, seed=3)
    both = {"Scale": one, "Bias": c}
    stored = {**both, "Mean": random(4, seed=2), "Variance": random(4, low=0.5, high=2, seed=1)}
    batch = {"epsilon": 1e-5, "is_test": True, "data_layout": "NCHW", "use_global_stats": False, "momentum": 0.9}
    rest = ("SavedMean", "SavedVariance")
    same = {"MeanOut": "Mean", "VarianceOut": "Variance"}
    rows = {"X": random(2, 3, 4, 2), "Scale": random(8), "Bias": random(8, seed=1)}
    unread = ("Mean", "Variance")
    return [
        Case("batch_norm", {"X": x, **stored}, batch, tuple(stored), {"Y": 1}, rest, aliases=same),
        Case(
            "batch_norm",
            {"X": random(3, 4), **stored},
            batch,
            tuple(stored),
            {"Y": 1},
            rest,
            aliases=same,
            suffix="rows",
        ),
        Case(
            "instance_norm",
            {"X": x, **both},
            {"epsilon": 1e-5},
            ("Scale", "Bias"),
            {"Y": 1},
            ("SavedMean", "SavedVariance"),
        ),
        Case(
            "group_norm",
            {"X": x, **both},
            {"epsilon": 1e-5, "groups": 2, "data_layout": "NCHW"},
            ("Scale", "Bias"),
            {"Y": 1},
            unread,
        ),
        Case(
            "layer_norm",
            rows,
            {"epsilon": 1e-5, "begin_norm_axis": 2},
            ("Scale", "Bias"),
            {"Y": 1, "Mean": 1, "Variance": 1},
        ),
        Case(
            "lrn",
            {"X": random(1, 7, 3, 2)},
            {"n": 5, "k": 2.0, "alpha": 0.1, "beta": 0.75, "data_format": "NCHW"},
            unread=("MidOut",),
        ),
    ]


def _products() -> list[Case]:
    a, b = random(2, 3, 4), random(2, 4, 5)
    return [
        Case("matmul_v2", {"X": a, "Y": b}, {"trans_x": False, "trans_y": False}),
        Case("matmul_v2", {"X": a, "Y": random(5, 4)}, {"trans_x": False, "trans_y": True}, ("Y",), suffix="turned"),
        Case("matmul_v2", {"X": random(4), "Y": b}, {"trans_x": False, "trans_y": False}, suffix="row"),
        Case("matmul_v2", {"X": a, "Y": random(4)}, {"trans_x": False, "trans_y": False}, suffix="column"),
        Case("bmm", {"X": a, "Y": b}),
        Case("mv", {"X": random(3, 4), "Vec": random(4)}),
        Case("dot", {"X": random(3, 4), "Y": random(3, 4, seed=1)}),
        Case("addmm", {"Input": random(3, 5), "X": random(3, 4), "Y": random(4, 5)}, {"Alpha": 0.5, "Beta": 2.0}),
        Case("mul", {"X": a, "Y": random(12, 5)}, {"x_num_col_dims": 1, "y_num_col_dims": 1}, ("Y",)),
        Case(
            "fc",
            {"Input": a, "W": random(4, 5), "Bias": random(5)},
            {"in_num_col_dims": 2, "activation_type": "relu"},
            ("W", "Bias"),
        ),
    ]


def _reductions() -> list[Case]:
    x = {"X": random(2, 3, 4)}
    cases = [
        Case(f"reduce_{op}", x, {"dim": [1], "keep_dim": keep, "reduce_all": False}, suffix="keep" if keep else "")
        for op in ("sum", "mean", "max", "min", "prod")
        for keep in (False, True)
    ]
    cases += [Case("reduce_sum", x, {"dim": [0, 1, 2], "keep_dim": False, "reduce_all": True}, suffix="all")]
    truth = {"X": x["X"] > -1.5}
    cases += [
        Case(f"reduce_{op}", truth, {"dim": [2], "keep_dim": False, "reduce_all": False}, dtypes={"Out": "bool"})
        for op in ("all", "any")
    ]
    cases += [
        Case(
            op,
            x,
            {"axis": 1, "keepdims": keep, "flatten": False, "dtype": 3},
            dtypes={"Out": "int64"},
            suffix="keep" if keep else "",
        )
        for op in ("arg_max", "arg_min")
        for keep in (False, True)
    ]
    return [
        *cases,
        Case("mean", x),
        Case("logsumexp", x, {"axis": [1], "keepdim": False, "reduce_all": False}),
        Case("p_norm", x, {"porder": 2.0, "axis": 1, "epsilon": 1e-12, "keepdim": True, "asvector": False}),
        Case(
            "p_norm", x, {"porder": 3.0, "axis": 2, "epsilon": 1e-12, "keepdim": False, "asvector": False}, suffix="3"
        ),
        Case("frobenius_norm", x, {"dim": [1, 2], "keep_dim": False, "reduce_all": False}),
        Case("squared_l2_norm", x),
        Case("is_empty", x, dtypes={"Out": "bool"}),
    ]


def _moving() -> list[Case]:
    x: dict[str, Array] = {"X": random(2, 3, 4)}
    picture = {"X": random(*_PICTURE)}
    blocks = {"X": random(1, 8, 4, 6)}
    shaped = ("XShape",)
    unfold = {"kernel_sizes": [2, 3], "strides": [1, 2], "paddings": [1, 0, 1, 0], "dilations": [1, 1]}
    fold = {**unfold, "output_sizes": [4, 5], "paddings": [0, 0, 0, 0], "strides": [1, 1]}
    return [
        Case("reshape2", x, {"shape": [0, -1, 2]}, unread=shaped),
        Case(
            "reshape2",
            {**x, "ShapeTensor": [ints(4), ints(6)]},
            {"shape": [4, 6]},
            ("ShapeTensor",),
            unread=shaped,
            suffix="tensor",
        ),
        Case("flatten2", x, {"axis": 2}, unread=shaped),
        Case("flatten_contiguous_range", picture, {"start_axis": 1, "stop_axis": 2}, unread=shaped),
        Case("squeeze2", {"X": random(2, 1, 3, 1)}, {"axes": [1]}, unread=shaped),
        Case("squeeze2", {"X": random(2, 1, 3, 1)}, {"axes": []}, unread=shaped, suffix="all"),
        Case("unsqueeze2", x, {"axes": [1, -1]}, unread=shaped),
        Case("transpose2", x, {"axis": [2, 0, 1]}, unread=shaped),
        Case("concat", {"X": [random(2, 3), random(2, 1), random(2, 2)]}, {"axis": -1}),
        Case("stack", {"X": [random(2, 3), random(2, 3, seed=1)]}, {"axis": 1}, outputs={"Y": 1}),
        Case("unstack", x, {"axis": 1, "num": 3}, outputs={"Y": 3}),
        Case("unbind", x, {"axis": 0}, outputs={"Out": 2}),
        Case("split", x, {"axis": 2, "num": 2, "sections": []}, outputs={"Out": 2}),
        Case("split", x, {"axis": 2, "num": 0, "sections": [1, 3]}, outputs={"Out": 2}, suffix="sections"),
        Case("tile", x, {"repeat_times": [2, 1, 2]}),
        Case("expand_v2", {"X": random(2, 1, 3)}, {"shape": [4, -1, 5, 3]}),
        Case("expand_as_v2", {"X": random(1, 3), "Y": random(2, 2, 3)}, {"target_shape": [2, 2, 3]}),
        Case("meshgrid", {"X": [random(3), random(2)]}, outputs={"Out": 2}),
        Case("broadcast_tensors", {"X": [random(3, 1), random(1, 2)]}, outputs={"Out": 2}),
        Case("flip", x, {"axis": [0, 2]}),
        Case("roll", x, {"axis": [1, 2], "shifts": [1, -2]}),
        Case("shuffle_channel", picture, {"group": 2}),
        Case("channel_shuffle", picture, {"groups": 2, "data_format": "NCHW"}),
        Case("pixel_shuffle", blocks, {"upscale_factor": 2, "data_format": "NCHW"}),
        Case("pixel_unshuffle", blocks, {"downscale_factor": 2, "data_format": "NCHW"}),
        Case("tril_triu", x, {"lower": True, "diagonal": 1}),
        Case("tril_triu", x, {"lower": False, "diagonal": 0}, suffix="upper"),
        Case("pad", x, {"paddings": [0, 0, 1, 2, 0, 1], "pad_value": 0.5}),
        Case(
            "pad3d",
            {"X": random(1, 2, 3, 2, 3)},
            {"paddings": [1, 0, 2, 1, 0, 1], "mode": "constant", "value": 0.5, "data_format": "NCDHW"},
        ),
        Case("crop", {"X": random(3, 4)}, {"shape": [2, 2], "offsets": [1, 1]}),
        Case("crop_tensor", {"X": random(3, 4)}, {"shape": [2, -1], "offsets": [1, 1]}),
        Case("unfold", picture, unfold, outputs={"Y": 1}),
        Case("fold", {"X": random(1, 12, 9)}, fold, outputs={"Y": 1}),
    ]


CASES: tuple[Case, ...] = (
    *_unary(),
    *_more_unary(),
    *_binary(),
    *_spatial(),
    *_pools(),
    *_norms(),
    *_products(),
    *_reductions(),
    *_moving(),
    *MORE_CASES,
)
