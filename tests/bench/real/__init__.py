"""What people run: networks at their usual sizes, exported from PyTorch or taken from packages."""
