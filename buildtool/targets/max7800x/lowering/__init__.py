"""Optimised graphs become networks of the accelerator: layers, scales, bits."""
