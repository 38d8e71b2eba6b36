"""The functions of single elements in C, by the names of NumPy's ufuncs. Floating point is single precision."""

from __future__ import annotations

_FLOATS = {
    **{name: f"{name}f({{0}})" for name in ("exp", "expm1", "log", "log1p", "sqrt", "tanh", "sin", "cos", "tan")},
    **{name: f"{name}f({{0}})" for name in ("sinh", "cosh", "floor", "ceil", "rint", "trunc", "erf", "log2")},
    **{f"arc{name}": f"a{name}f({{0}})" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "absolute": "fabsf({0})",
    "sign": "lm_sign_f({0})",
    "maximum": "lm_max_f({0}, {1})",
    "minimum": "lm_min_f({0}, {1})",
    "fmax": "fmaxf({0}, {1})",
    "fmin": "fminf({0}, {1})",
    "power": "powf({0}, {1})",
    "square": "lm_square_f({0})",
    "reciprocal": "(1.0f / {0})",
    "fmod": "fmodf({0}, {1})",
    "remainder": "lm_mod_f({0}, {1})",
    "mod": "lm_mod_f({0}, {1})",
    "floor_divide": "floorf({0} / {1})",
    "copysign": "copysignf({0}, {1})",
    "logaddexp": "lm_log_add_exp({0}, {1})",
    "isnan": "(isnan({0}) != 0)",
    "isinf": "(isinf({0}) != 0)",
    "isfinite": "(isfinite({0}) != 0)",
    "divide": "({0} / {1})",
    "true_divide": "({0} / {1})",
}
_INTEGERS = {
    "absolute": "lm_abs_i({0})",
    "power": "lm_power_i({0}, {1})",
    "sign": "lm_sign_i({0})",
    "maximum": "lm_max_i({0}, {1})",
    "minimum": "lm_min_i({0}, {1})",
    "square": "({0} * {0})",
    "fmod": "lm_rem_i({0}, {1})",
    "remainder": "lm_mod_i({0}, {1})",
    "mod": "lm_mod_i({0}, {1})",
    "floor_divide": "lm_floor_div_i({0}, {1})",
    "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})",
    "bitwise_xor": "({0} ^ {1})",
    "invert": "(~{0})",
    "left_shift": "lm_shift_left_i({0}, {1})",
    "right_shift": "lm_shift_right_i({0}, {1})",
    "isnan": "(0 * {0})",
    "isfinite": "(1 + 0 * {0})",
    "divide": "((float){0} / (float){1})",
    "true_divide": "((float){0} / (float){1})",
}
_BOTH = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "negative": "(-{0})",
    "positive": "({0})",
    "greater": "({0} > {1})",
    "greater_equal": "({0} >= {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "equal": "({0} == {1})",
    "not_equal": "({0} != {1})",
    "logical_and": "({0} && {1})",
    "logical_or": "({0} || {1})",
    "logical_xor": "(!{0} != !{1})",
    "logical_not": "(!{0})",
}
_TRUTH = {
    "bitwise_and": "({0} & {1})",
    "bitwise_or": "({0} | {1})",
    "bitwise_xor": "({0} ^ {1})",
    "invert": "(!{0})",
    "maximum": "({0} | {1})",
    "minimum": "({0} & {1})",
    "add": "({0} | {1})",
    "multiply": "({0} & {1})",
}
#: By the name of the ufunc and the kind of its operands (of numpy.dtype); empty: any.
CODES: dict[tuple[str, str], str] = {
    **{(name, ""): code for name, code in _BOTH.items()},
    **{(name, "f"): code for name, code in _FLOATS.items()},
    **{(name, "i"): code for name, code in _INTEGERS.items()},
    **{(name, "u"): code for name, code in _INTEGERS.items()},
    **{(name, "b"): code for name, code in _TRUTH.items()},
}
#: Ufuncs that compute in the type of their result, whatever their operands.
RESULTS = frozenset({"divide", "true_divide", "exp", "sqrt", "tanh", "log", "power"})
