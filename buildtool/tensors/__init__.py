"""Tensors from what people have: pictures and sounds; and pictures from tensors."""
