"""Finds places for layers: processors, offsets, kernels and rings; and checks what anybody found."""
