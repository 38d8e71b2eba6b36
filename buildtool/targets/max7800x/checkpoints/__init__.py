"""Checkpoints of PyTorch, without PyTorch: read, written, quantised, with batch norms folded."""
