"""Operators: their references against onnxruntime, and the cases that kernels are tested with."""
