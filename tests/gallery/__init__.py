"""Real architectures, made from code with random weights: exported, built, compared with PyTorch. `make gallery`."""
