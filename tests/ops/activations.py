"""Every activation with numbers that make a difference."""

from __future__ import annotations

from typing import Any

ACTIVATED: tuple[dict[str, Any], ...] = (
    {"activation": "relu"},
    {"activation": "clip", "activation_alpha": -0.25, "activation_beta": 0.75},
    {"activation": "sigmoid"},
    {"activation": "tanh"},
    {"activation": "leaky_relu", "activation_alpha": 0.1},
    {"activation": "elu", "activation_alpha": 0.7},
    {"activation": "hard_sigmoid", "activation_alpha": 0.2, "activation_beta": 0.5},
    {"activation": "hard_swish"},
    {"activation": "swish"},
)
